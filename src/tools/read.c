/* SPDX-License-Identifier: MIT */
/* read: a text file, whole or by lines, or an image. */

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/human.h"
#include "base/io.h"
#include "base/own.h"
#include "base/utf8.h"
#include "tools/kept.h"
#include "tools/limits.h"
#include "tools/seen.h"
#include "tools/tool.h"
#include "workspace/magic.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

struct read_args {
	struct str path;
	int64_t offset, limit;
};

static const struct arg read_table[] = {
	A_STR(struct read_args, path, "path", REQUIRED | NONBLANK, "File to read"),
	A_INT(struct read_args, offset, "offset", 1, 1, INT64_MAX, "First line, from 1"),
	A_INT(struct read_args, limit, "limit", 0, 0, INT64_MAX, "Number of lines; 0 for all"),
	A_END,
};

static const char *const text_type[] = { "text", NULL };
static const char *const image_type[] = { "image", NULL };

static const struct field text_fields[] = {
	{ "type", "A text", FIELD_STR, .choices = text_type },
	{ "content", "The selected lines; bytes that are not UTF-8 appear as U+FFFD", FIELD_STR },
	{ "totalLines", "Lines in the file; a final newline counts as one more, empty line",
	  FIELD_INT },
	{ "hasMore", "Whether the file continues after them", FIELD_BOOL },
	{ "truncation", "What was left out, if anything", FIELD_OBJECT, FIELD_OPTIONAL,
	  truncation_fields },
	F_END,
};

static const struct field image_fields[] = {
	{ "type", "An image", FIELD_STR, .choices = image_type },
	{ "data", "The file in base64", FIELD_STR },
	{ "mimeType", "What kind of image, by the file's name", FIELD_STR },
	F_END,
};

static const struct {
	struct str extension;
	const char *type;
} images[] = {
	{ STR(".jpg"), "image/jpeg" }, { STR(".jpeg"), "image/jpeg" }, { STR(".png"), "image/png" },
	{ STR(".gif"), "image/gif" },  { STR(".webp"), "image/webp" },
};

/* The media type of an image by its file name; NULL if it is not one. */
static const char *image_by_name(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		const struct str want = images[i].extension;
		if (name.n > want.n && str_eq_nocase(str_from(name, name.n - want.n), want))
			return images[i].type;
	}
	return NULL;
}

static int read_image(struct call *c, int fd, const struct stat *st, const char *type,
		      struct err *e)
{
	if (st->st_size > LIMIT_IMAGE_BYTES)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "Image is %lld bytes, the largest that can be read is %d",
			       (long long)st->st_size, LIMIT_IMAGE_BYTES);
	char *bytes = arena_alloc(c->arena, (size_t)st->st_size + 1);
	if (!bytes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the image, try again");
	const ssize_t n = io_read_full(fd, bytes, (size_t)st->st_size);
	if (n < 0)
		return err_errno(e, "Cannot read the image");
	jw_str(c->out, "type", STR("image"));
	jw_base64(c->out, "data", (struct str){ bytes, (size_t)n });
	jw_str(c->out, "mimeType", str_of(type));
	return 0;
}

static int read_text(struct call *c, int fd, const struct path *path, const struct stat *st,
		     const struct read_args *a, struct err *e)
{
	const struct text_want want = {
		.size = st->st_size,
		.first = a->offset,
		.count = a->limit > 0 ? a->limit : TEXT_ALL,
		.max_lines = LIMIT_HEAD_LINES,
		.max_bytes = LIMIT_HEAD_BYTES,
		.may_go_on = call_may_go_on,
		.arg = c,
		.deadline_ms = call_deadline(c),
	};
	struct text t;

	if (text_read(fd, &want, c->arena, &t, e) < 0)
		return -1;
	if (t.total_lines < a->offset)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Offset %lld is beyond end of file (%lld lines total)",
			       (long long)a->offset, (long long)t.total_lines);
	if (c->tracker)
		seen_read(c, path, fd, st, (struct str){ NULL, 0 },
			  &(struct tracker_lines){ a->offset, a->offset + t.out_lines - 1,
						   t.total_lines });
	jw_str(c->out, "type", STR("text"));
	jw_str(c->out, "content", t.content);
	jw_int(c->out, "totalLines", t.total_lines);
	jw_bool(c->out, "hasMore", t.cut != TEXT_WHOLE || a->offset - 1 + t.lines < t.total_lines);
	if (t.cut != TEXT_WHOLE)
		call_write_truncation(c, &t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}

static int read_run(struct call *c, const void *args, struct err *e)
{
	const struct read_args *a = args;
	const char *image = image_by_name(a->path);
	struct path path UNINITIALISED;
	struct stat st;

	if (!image && a->offset < 1) /* an image has no lines: offset and limit are ignored */
		return err_set(e, ERR_INVALID_ARGUMENTS, "Offset must be >= 1");
	if (call_path(c, a->path, &path, e) < 0)
		return -1;
	AUTO_FD fd = ws_open_file(c->ws, &path, &st, e);
	if (fd < 0 || call_before_bytes(c, st.st_size, e) < 0)
		return -1;
	return image ? read_image(c, fd, &st, image, e) : read_text(c, fd, &path, &st, a, e);
}

const struct tool tool_read = {
	.name = "read",
	.about = "Read a text file, whole or by lines, or an image.",
	.args = read_table,
	.args_size = sizeof(struct read_args),
	.fields = text_fields,
	.other = image_fields,
	.flags = TOOL_WIRE | TOOL_READ_ONLY,
	.run = read_run,
};

struct read_file_args {
	struct str path;
	int64_t start_line, end_line, max_bytes;
	bool line_numbers;
};

static const struct arg read_file_table[] = {
	A_STR(struct read_file_args, path, "path", REQUIRED | NONBLANK,
	      "File in the workspace, or output:<n>"),
	A_INT(struct read_file_args, start_line, "start_line", 0, 1, INT64_MAX,
	      "First line, from 1"),
	A_INT(struct read_file_args, end_line, "end_line", 0, 1, INT64_MAX, "Last line"),
	A_BOOL(struct read_file_args, line_numbers, "line_numbers", false, "Number the lines"),
	A_INT_FLAGS(struct read_file_args, max_bytes, "max_bytes", RARE, 0, LIMIT_RESULT_LEAST,
		    LIMIT_RESULT_MOST, "Largest result"),
	A_END,
};

static const struct field read_file_fields[] = {
	{ "content", "The text; bytes that are not UTF-8 appear as U+FFFD", FIELD_STR },
	{ "lines", "Lines returned; a final newline counts as one more, empty line", FIELD_INT },
	{ "path", "The file, relative to the workspace", FIELD_STR },
	{ "total_lines", "Lines in the file", FIELD_INT },
	{ "truncated", "Whether the selected lines did not fit into the answer", FIELD_BOOL },
	{ "next_start_line", "If they did not: start_line for the next call", FIELD_INT,
	  FIELD_OPTIONAL },
	F_END,
};

/* What is shown of a file: lines, or the beginning of one that is too long. */
struct page {
	struct text text;
	int64_t first;	  /* number of the first line */
	int64_t next;	  /* where to continue; 0: everything that was asked for is shown */
	int64_t left_out; /* bytes of the only line that are not shown */
	bool whole;	  /* the file is shown from its start to its end */
};

static int check_range(const struct call *c, const struct read_file_args *a, const struct stat *st,
		       int fd, struct err *e)
{
	/* A binary file is refused as such: no range would help. */
	const struct text_want start = { .size = 1, .first = 1, .count = 1, .max_lines = 1 };
	struct text t;

	if (a->start_line && a->end_line && a->end_line < a->start_line)
		return err_set(e, ERR_INVALID_ARGUMENTS, "end_line %lld is before start_line %lld",
			       (long long)a->end_line, (long long)a->start_line);
	/* If the size of results is limited, the first page is shown instead. */
	if (a->start_line || a->end_line || c->max_bytes || st->st_size <= LIMIT_READ_FILE)
		return 0;
	if (text_read(fd, &start, c->arena, &t, e) < 0)
		return -1;
	(void)err_set(e, ERR_FILE_TOO_LARGE, "File is %lld bytes (max %d).", (long long)st->st_size,
		      LIMIT_READ_FILE);
	return err_advise(e, "Use start_line/end_line to read a range.");
}

/* Providers' own tools number lines as cat -n does. */
static int number_width(const struct call *c, int64_t number)
{
	enum { CAT_WIDTH = 6 };
	char text[32];
	const int width = snprintf(text, sizeof text, "%lld", (long long)number);

	return c->native && width < CAT_WIDTH ? CAT_WIDTH : width;
}

/* The bytes that a page takes in the answer; 0 if there is no limit to compare them with. */
static int64_t page_bytes(const struct call *c, const struct read_file_args *a,
			  const struct page *p)
{
	const int64_t numbers =
		a->line_numbers
			? p->text.out_lines * (number_width(c, p->first + p->text.out_lines) + 1)
			: 0;

	if (!c->max_bytes)
		return 0;
	return numbers +
	       (c->text ? p->text.out_bytes : (int64_t)jw_escaped_length(p->text.content));
}

/* Leave lines out until the page fits into the answer. */
static void fit(const struct call *c, const struct read_file_args *a, struct page *p)
{
	const struct str all = p->text.content;
	const struct text whole = p->text;
	int64_t room = call_room(c), bytes = p->text.out_bytes, taken;

	while (p->text.out_lines > 1 && (taken = page_bytes(c, a, p)) > room) {
		bytes = (int64_t)((double)bytes * (double)room / (double)taken) - 1;
		text_cut_head(all, INT64_MAX, bytes > 1 ? bytes : 1, &p->text);
		if (p->text.out_lines == 0)
			text_cut_head(all, 1, INT64_MAX, &p->text);
		p->text.total_lines = whole.total_lines;
		p->text.lines = whole.lines;
		p->text.cut = TEXT_CUT_BYTES;
	}
}

/* A line that does not fit is shown by its beginning. */
static int read_long_line(struct call *c, int fd, struct text_want want, struct page *p,
			  struct err *e)
{
	const int64_t total = p->text.total_lines, room = call_room(c);

	want.count = 1;
	want.max_bytes = room < LIMIT_LONG_LINE ? room : LIMIT_LONG_LINE;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(e, "Cannot read the file");
	if (text_read(fd, &want, c->arena, &p->text, e) < 0)
		return -1;
	/* The file may have changed: then the line is whole. */
	if (p->text.first_too_long) {
		p->text.content = p->text.first;
		while (!c->text && (int64_t)jw_escaped_length(p->text.content) > room)
			p->text.content.n =
				utf8_whole(str_upto(p->text.content, p->text.content.n / 2));
		p->left_out = p->text.bytes - (int64_t)utf8_replaced_length(p->text.content);
		p->text.out_lines = 1;
	}
	p->text.total_lines = total;
	p->next = p->first < total ? p->first + 1 : 0;
	return 0;
}

static int beyond_end(int64_t line, int64_t lines, struct err *e)
{
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "start_line %lld is beyond the end of the file (%lld lines)",
		       (long long)line, (long long)lines);
}

/* How many lines a person sees: a final newline does not begin another one. */
static int64_t lines_seen(const struct page *p, int fd, const struct stat *st)
{
	char last;

	return p->text.total_lines - (p->text.total_lines > 1 &&
				      pread(fd, &last, 1, st->st_size - 1) == 1 && last == '\n');
}

/* Read the page that was asked for. */
static int read_page(struct call *c, int fd, const struct stat *st, const struct read_file_args *a,
		     struct page *ret, struct err *e)
{
	struct page p = { .first = a->start_line ? a->start_line : 1 };
	const int64_t room = call_room(c);
	const struct text_want want = {
		.size = st->st_size,
		.first = p.first,
		.count = a->end_line ? a->end_line - p.first + 1 : TEXT_ALL,
		.max_lines = c->max_lines ? c->max_lines - 2 : INT64_MAX,
		.max_bytes = room < LIMIT_READ_FILE ? room : LIMIT_READ_FILE,
		.may_go_on = call_may_go_on,
		.arg = c,
		.deadline_ms = call_deadline(c),
	};

	if (text_read(fd, &want, c->arena, &p.text, e) < 0)
		return -1;
	if (p.text.total_lines < p.first)
		return beyond_end(p.first, c->text ? lines_seen(&p, fd, st) : p.text.total_lines,
				  e);
	if (p.text.first_too_long && !c->max_bytes) {
		(void)err_set(e, ERR_FILE_TOO_LARGE, "Line %lld alone is larger than %d bytes.",
			      (long long)p.first, LIMIT_READ_FILE);
		return err_advise(e, "Use run_command with cut or head -c to see a part of it.");
	}
	fit(c, a, &p);
	if (p.text.first_too_long || page_bytes(c, a, &p) > room) {
		if (read_long_line(c, fd, want, &p, e) < 0)
			return -1;
	} else if (p.text.cut != TEXT_WHOLE) {
		p.next = p.first + p.text.out_lines;
	}
	p.whole = p.first == 1 && !p.next && !p.left_out && p.text.out_lines == p.text.total_lines;
	*ret = p;
	return 0;
}

/* Put their numbers before the lines. */
static struct str number_lines(const struct call *c, const struct page *p)
{
	const int width = number_width(c, p->first + p->text.out_lines - 1);
	struct buf out = { 0 };
	struct str rest = p->text.content, line;
	const size_t size = rest.n + (size_t)p->text.out_lines * (size_t)(width + 1);
	char *room = arena_alloc(c->arena, size + 1);

	if (!room)
		return (struct str){ NULL, 0 };
	out = buf_over(room, size + 1);
	for (int64_t i = 0; i < p->text.out_lines; i++) {
		(void)str_cut(rest, '\n', &line, &rest);
		/* After the final newline there is no line to be numbered. */
		if (c->text && p->whole && i > 0 && i + 1 == p->text.out_lines && line.n == 0) {
			buf_addc(&out, '\n');
			break;
		}
		buf_addf(&out, "%s%*lld\t", i ? "\n" : "", width, (long long)p->first + i);
		buf_add(&out, line);
	}
	return buf_str(&out);
}

static void write_page_text(const struct call *c, const struct page *p, struct str content,
			    int64_t total)
{
	const int64_t end = p->first + p->text.out_lines - 1, last = end < total ? end : total;
	char range[64], more[64] = "", room[HUMAN_SIZE];

	buf_add(c->text->text, content);
	if (p->whole && content.n == 0)
		call_note(c, "empty file");
	if (p->left_out)
		call_note(c, "line %lld goes on for %s bytes%s", (long long)p->first,
			  human_count(p->left_out, room),
			  c->native ? "" : ": run_command with cut -c shows a part");
	if (p->first == 1 && last == total)
		return;
	(void)snprintf(range, sizeof range, p->first == last ? "line %lld" : "lines %lld-%lld",
		       (long long)p->first, (long long)last);
	if (last < total)
		(void)snprintf(more, sizeof more,
			       c->native ? "; next: view_range [%lld, -1]"
					 : "; next: start_line=%lld",
			       (long long)last + 1);
	call_note(c, "%s of %lld%s", range, (long long)total, more);
}

/* `path` is NULL for what is not a file of the workspace. */
static int read_file_text(struct call *c, int fd, const struct path *path, const struct stat *st,
			  const struct read_file_args *a, struct err *e)
{
	char shown[2 * PATH_MAX];
	struct page p = { 0 };

	call_limit(c, a->max_bytes);
	if (read_page(c, fd, st, a, &p, e) < 0)
		return -1;
	const int64_t seen = lines_seen(&p, fd, st);
	if (c->text && p.first > 1 && p.first > seen)
		return beyond_end(p.first, seen, e);
	const struct str content =
		a->line_numbers && p.text.content.n ? number_lines(c, &p) : p.text.content;
	if (!content.p && p.text.content.n)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the file, try again");
	const struct tracker_lines lines = {
		.first = p.first,
		.last = p.left_out ? 0 : p.first + p.text.out_lines - 1,
		.total = seen,
	};
	if (path)
		seen_read(c, path, fd, st, p.whole ? p.text.content : (struct str){ NULL, 0 },
			  &lines);
	if (c->text) {
		write_page_text(c, &p, content, seen);
		return 0;
	}
	jw_str(c->out, "content", content);
	jw_int(c->out, "lines", p.text.out_lines);
	jw_str(c->out, "path", path ? ws_display(c->ws, path, shown) : a->path);
	jw_int(c->out, "total_lines", p.text.total_lines);
	jw_bool(c->out, "truncated", p.text.cut != TEXT_WHOLE || p.left_out);
	if (p.next)
		jw_int(c->out, "next_start_line", p.next);
	return 0;
}

/* An image goes to the model as such. Returns 1 if the file is not one. */
static int read_file_image(struct call *c, int fd, const struct path *path, const struct stat *st,
			   struct err *e)
{
	char head[16], size[HUMAN_SIZE], pixels[48] = "";
	uint32_t width, height;
	const ssize_t got = pread(fd, head, sizeof head, 0);
	const struct magic *const kind = magic_of((struct str){ head, got > 0 ? (size_t)got : 0 });

	if (!kind->image)
		return 1;
	(void)human_bytes(st->st_size, size);
	if (st->st_size > LIMIT_MODEL_IMAGE) {
		(void)err_set(e, ERR_BINARY_FILE, "%s of %s cannot be shown: the most is %d MB.",
			      kind->what, size, LIMIT_MODEL_IMAGE / 1000000);
		e->mime = kind->mime;
		e->size = st->st_size;
		return err_advise(e, "Make a smaller copy of it with run_command.");
	}
	char *const bytes = arena_alloc(c->arena, (size_t)st->st_size);
	if (!bytes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the image, try again");
	const ssize_t n = io_read_full(fd, bytes, (size_t)st->st_size);
	if (n < 0)
		return err_errno(e, "Cannot read the image");
	c->text->image = (struct str){ bytes, (size_t)n };
	c->text->image_type = kind->mime;
	if (magic_image_size(c->text->image, &width, &height))
		(void)snprintf(pixels, sizeof pixels, ", %" PRIu32 "\u00d7%" PRIu32, width, height);
	call_note(c, "%s%s, %s", kind->mime, pixels, size);
	seen_read(c, path, fd, st, c->text->image, NULL);
	return 0;
}

static int read_file_run(struct call *c, const void *args, struct err *e)
{
	const struct read_file_args *a = args;
	const bool kept = c->kept && kept_is_name(a->path);
	struct path path;
	struct stat st;

	if (!kept && call_path(c, a->path, &path, e) < 0)
		return -1;
	AUTO_FD fd = kept ? kept_open(c->kept, c->session, a->path, &st, e)
			  : ws_open_file(c->ws, &path, &st, e);
	if (fd < 0 || call_before_bytes(c, st.st_size, e) < 0)
		return -1;
	const int shown = c->text && !kept ? read_file_image(c, fd, &path, &st, e) : 1;
	if (shown < 1)
		return shown;
	if (check_range(c, a, &st, fd, e) < 0)
		return -1;
	return read_file_text(c, fd, kept ? NULL : &path, &st, a, e);
}

const struct tool tool_read_file = {
	.name = "read_file",
	.title = "Read file",
	.about = "Read a text file, or some of its lines, or an image. Use it instead of cat, head "
		 "and sed.",
	.args = read_file_table,
	.args_size = sizeof(struct read_file_args),
	.fields = read_file_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_READ_ONLY | TOOL_IDEMPOTENT,
	.run = read_file_run,
};
