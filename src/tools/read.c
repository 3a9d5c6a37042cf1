/* SPDX-License-Identifier: MIT */
/* read: a text file, whole or by lines, or an image. */

#include <sys/stat.h>
#include <unistd.h>

#include "base/human.h"
#include "base/io.h"
#include "base/own.h"
#include "base/utf8.h"
#include "tools/kept.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "workspace/magic.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

struct read_args {
	struct str path;
	int64_t offset, limit;
	int64_t encoding;
};

static const struct arg read_table[] = {
	A_STR(struct read_args, path, "path", REQUIRED | NONBLANK, "File to read"),
	A_INT(struct read_args, offset, "offset", 1, 1, INT64_MAX, "First line, from 1"),
	A_INT(struct read_args, limit, "limit", 0, 0, INT64_MAX, "Number of lines; 0 for all"),
	A_CHOICE(struct read_args, encoding, "encoding", 0, CALL_UTF8, call_encodings,
		 "How the answer has the content; base64 for all bytes of any file"),
	A_END,
};

static const char *const text_type[] = { "text", NULL };
static const char *const image_type[] = { "image", NULL };
static const char *const bytes_type[] = { "bytes", NULL };

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

static const struct field bytes_fields[] = {
	{ "type", "All bytes of a file, for encoding base64", FIELD_STR, .choices = bytes_type },
	{ "data", "The file in base64", FIELD_STR },
	{ "bytes", "Its size", FIELD_INT },
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

/* Read all bytes of a file into the arena. */
static int read_bytes(struct call *c, int fd, const struct stat *st, struct str *ret, struct err *e)
{
	char *bytes = arena_alloc(c->arena, (size_t)st->st_size + 1);

	if (!bytes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the file, try again");
	const ssize_t n = io_read_full(fd, bytes, (size_t)st->st_size);
	if (n < 0)
		return err_errno(e, "Cannot read the file");
	*ret = (struct str){ bytes, (size_t)n };
	return 0;
}

/* Read an image, or with type NULL any file, as bytes. */
static int read_image(struct call *c, const char *type, struct result *ret, struct err *e)
{
	const struct stat *st = &ret->file.st;

	if (st->st_size > LIMIT_IMAGE_BYTES)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "%s is %lld bytes, the largest that can be read is %d",
			       type ? "Image" : "File", (long long)st->st_size, LIMIT_IMAGE_BYTES);
	ret->kind = RESULT_IMAGE;
	ret->image = (struct image){ .type = type };
	return read_bytes(c, ret->file.fd, st, &ret->image.bytes, e);
}

static int read_text(struct call *c, const struct read_args *a, struct result *ret, struct err *e)
{
	const struct text_want want = {
		.size = ret->file.st.st_size,
		.first = a->offset,
		.count = a->limit > 0 ? a->limit : TEXT_ALL,
		.max_lines = LIMIT_HEAD_LINES,
		.max_bytes = LIMIT_HEAD_BYTES,
		.may_go_on = call_may_go_on,
		.arg = c,
		.deadline_ms = call_deadline(c),
	};
	struct page *p = &ret->page;

	ret->kind = RESULT_PAGE;
	*p = (struct page){ .name = a->path, .first = a->offset };
	if (text_read(ret->file.fd, &want, c->arena, &p->text, e) < 0)
		return -1;
	if (p->text.total_lines < a->offset)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Offset %lld is beyond end of file (%lld lines total)",
			       (long long)a->offset, (long long)p->text.total_lines);
	p->all_lines = p->text.total_lines;
	return 0;
}

static int read_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct read_args *a = args;
	const char *image = image_by_name(a->path);
	struct result_file *f = &ret->file;

	const bool whole = image || a->encoding == CALL_BASE64;

	if (!whole && a->offset < 1) /* an image has no lines: offset and limit are ignored */
		return err_set(e, ERR_INVALID_ARGUMENTS, "Offset must be >= 1");
	if (call_path(c, a->path, &f->path, e) < 0)
		return -1;
	f->fd = ws_open_file(c->shared->ws, &f->path, &f->st, e);
	if (f->fd < 0 || call_before_bytes(c, f->st.st_size, e) < 0)
		return -1;
	return whole ? read_image(c, a->encoding == CALL_BASE64 ? NULL : image, ret, e)
		     : read_text(c, a, ret, e);
}

const struct tool tool_read = {
	.name = "read",
	.about = "Read a text file, whole or by lines, or an image.",
	.args = read_table,
	.args_size = sizeof(struct read_args),
	.fields = text_fields,
	.other = { image_fields, bytes_fields },
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
	{ "truncated",
	  "Whether the selected lines did not fit into the answer. Whether the file has more than "
	  "the selected lines: compare start_line + lines - 1 with total_lines",
	  FIELD_BOOL },
	{ "next_start_line", "If they did not: start_line for the next call", FIELD_INT,
	  FIELD_OPTIONAL },
	F_END,
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
	if (a->start_line || a->end_line || c->size.bytes || st->st_size <= LIMIT_READ_FILE)
		return 0;
	if (text_read(fd, &start, c->arena, &t, e) < 0)
		return -1;
	(void)err_set(e, ERR_FILE_TOO_LARGE, "File is %lld bytes (max %d).", (long long)st->st_size,
		      LIMIT_READ_FILE);
	return err_advise(e, "Use start_line/end_line to read a range.");
}

/* A line that is too long for an answer is shown by its beginning. */
static int read_long_line(int fd, struct text_want want, struct arena *arena, struct page *p,
			  struct err *e)
{
	const int64_t total = p->text.total_lines;

	want.count = 1;
	want.max_bytes = want.max_bytes < LIMIT_LONG_LINE ? want.max_bytes : LIMIT_LONG_LINE;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(e, "Cannot read the file");
	if (text_read(fd, &want, arena, &p->text, e) < 0)
		return -1;
	/* The file may have changed: then the line is whole. */
	if (p->text.first_too_long) {
		p->text.content = p->text.first;
		p->text.out_lines = 1;
		p->left_out = p->text.bytes - (int64_t)utf8_replaced_length(p->text.content);
	}
	p->text.total_lines = total;
	p->next = p->first < total ? p->first + 1 : 0;
	return 0;
}

/* How many lines a person sees: a final newline does not begin another one. */
static int64_t lines_seen(const struct page *p, int fd, const struct stat *st)
{
	char last;

	return p->text.total_lines - (p->text.total_lines > 1 &&
				      pread(fd, &last, 1, st->st_size - 1) == 1 && last == '\n');
}

/* Read the page that was asked for: at most as much as an answer holds. */
static int read_page(struct call *c, int fd, const struct stat *st, const struct read_file_args *a,
		     struct page *p, struct err *e)
{
	const int64_t room = call_room(c);
	const struct text_want want = {
		.size = st->st_size,
		.first = p->first,
		.count = a->end_line ? a->end_line - p->first + 1 : TEXT_ALL,
		.max_lines = c->size.lines ? c->size.lines - 2 : INT64_MAX,
		.max_bytes = room < LIMIT_READ_FILE ? room : LIMIT_READ_FILE,
		.may_go_on = call_may_go_on,
		.arg = c,
		.deadline_ms = call_deadline(c),
	};

	if (text_read(fd, &want, c->arena, &p->text, e) < 0)
		return -1;
	p->all_lines = lines_seen(p, fd, st);
	if (p->text.first_too_long && !c->size.bytes) {
		(void)err_set(e, ERR_FILE_TOO_LARGE, "Line %lld alone is larger than %d bytes.",
			      (long long)p->first, LIMIT_READ_FILE);
		return err_advise(e, "Use run_command with cut or head -c to see a part of it.");
	}
	if (p->text.first_too_long)
		return read_long_line(fd, want, c->arena, p, e);
	if (p->text.cut != TEXT_WHOLE)
		p->next = p->first + p->text.out_lines;
	return 0;
}

static int read_file_text(struct call *c, int fd, const struct stat *st,
			  const struct read_file_args *a, struct result *ret, struct err *e)
{
	const struct result_file *f = &ret->file;
	char shown[2 * PATH_MAX];

	if (check_range(c, a, st, fd, e) < 0)
		return -1;
	call_limit(c, a->max_bytes);
	ret->kind = RESULT_PAGE;
	ret->page = (struct page){
		.name = f->fd < 0 ? a->path
				  : arena_dup(c->arena, ws_display(c->shared->ws, &f->path, shown)),
		.first = a->start_line ? a->start_line : 1,
		.last = a->end_line,
		.numbered = a->line_numbers,
	};
	return read_page(c, fd, st, a, &ret->page, e);
}

/* An image goes to the model as such. Returns 1 if the file is not one. */
static int read_file_image(struct call *c, struct result *ret, struct err *e)
{
	const struct result_file *f = &ret->file;
	char head[16], size[HUMAN_SIZE], most[HUMAN_SIZE];
	const ssize_t got = pread(f->fd, head, sizeof head, 0);
	const struct magic *const kind = magic_of((struct str){ head, got > 0 ? (size_t)got : 0 });

	if (!kind->image)
		return 1;
	(void)human_bytes(f->st.st_size, size);
	if (f->st.st_size > LIMIT_MODEL_IMAGE) {
		(void)err_set(e, ERR_BINARY_FILE, "%s of %s cannot be shown: the most is %s.",
			      kind->what, size, human_bytes(LIMIT_MODEL_IMAGE, most));
		e->mime = kind->mime;
		e->size = f->st.st_size;
		return err_advise(e, "Make a smaller copy of it with run_command.");
	}
	ret->kind = RESULT_IMAGE;
	ret->image = (struct image){ .type = kind->mime };
	if (read_bytes(c, f->fd, &f->st, &ret->image.bytes, e) < 0)
		return -1;
	if (!magic_image_size(ret->image.bytes, &ret->image.width, &ret->image.height))
		ret->image.width = 0;
	return 0;
}

static int read_file_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct read_file_args *a = args;
	struct result_file *f = &ret->file;

	if (c->kept && kept_is_name(a->path)) {
		struct stat st;
		AUTO_FD kept = kept_open(c->kept, c->session, a->path, &st, e);
		if (kept < 0 || call_before_bytes(c, st.st_size, e) < 0)
			return -1;
		return read_file_text(c, kept, &st, a, ret, e);
	}
	if (call_path(c, a->path, &f->path, e) < 0)
		return -1;
	f->fd = ws_open_file(c->shared->ws, &f->path, &f->st, e);
	if (f->fd < 0 || call_before_bytes(c, f->st.st_size, e) < 0)
		return -1;
	const int image = c->for_reader ? read_file_image(c, ret, e) : 1;
	return image < 1 ? image : read_file_text(c, f->fd, &f->st, a, ret, e);
}

const struct tool tool_read_file = {
	.name = "read_file",
	.title = "Read file",
	.about = "Read a text file, or some of its lines. Use it instead of cat, head and sed.",
	.about_reader =
		"Read a text file, or some of its lines, or an image. Use it instead of cat, "
		"head and sed.",
	.args = read_file_table,
	.args_size = sizeof(struct read_file_args),
	.fields = read_file_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_READ_ONLY | TOOL_IDEMPOTENT,
	.run = read_file_run,
};
