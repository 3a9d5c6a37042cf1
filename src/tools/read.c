/* SPDX-License-Identifier: MIT */
/* read: a text file, whole or by lines; for the wire also an image. */

#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "tools/seen.h"
#include "tools/tool.h"
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
	{ "hasMore", "Whether the file goes on behind them", FIELD_BOOL },
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
	seen_read(c, path, fd, st, (struct str){ NULL, 0 });
	jw_str(c->out, "type", STR("text"));
	jw_str(c->out, "content", t.content);
	jw_int(c->out, "totalLines", t.total_lines);
	jw_bool(c->out, "hasMore", t.cut != TEXT_WHOLE || a->offset - 1 + t.lines < t.total_lines);
	call_write_truncation(c, &t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}

static int read_run(struct call *c, const void *args, struct err *e)
{
	const struct read_args *a = args;
	const char *image = text_image(a->path);
	struct path path UNINITIALISED;
	struct stat st;

	if (!image && a->offset < 1) /* an image has no lines: offset and limit are ignored */
		return err_set(e, ERR_INVALID_ARGUMENTS, "Offset must be >= 1");
	if (call_path(c, a->path, &path, e) < 0)
		return -1;
	AUTO_FD fd = ws_open_file(c->ws, &path, &st, e);
	if (fd < 0)
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
	.flags = TOOL_WIRE,
	.run = read_run,
};

struct read_file_args {
	struct str path;
	int64_t start_line, end_line;
	bool line_numbers;
};

static const struct arg read_file_table[] = {
	A_STR(struct read_file_args, path, "path", REQUIRED | NONBLANK,
	      "File, relative to the workspace"),
	A_INT(struct read_file_args, start_line, "start_line", 0, 1, INT64_MAX,
	      "First line, from 1"),
	A_INT(struct read_file_args, end_line, "end_line", 0, 1, INT64_MAX, "Last line, inclusive"),
	A_BOOL_FLAGS(struct read_file_args, line_numbers, "line_numbers", RARE, false,
		     "Put its number and a tab before each line"),
	A_END,
};

static const struct field read_file_fields[] = {
	{ "content", "The text; bytes that are not UTF-8 appear as U+FFFD", FIELD_STR },
	{ "lines", "Lines returned; a final newline counts as one more, empty line", FIELD_INT },
	{ "path", "The file, relative to the workspace", FIELD_STR },
	{ "total_lines", "Lines in the file", FIELD_INT },
	{ "truncated", "Whether the selected lines did not fit into the answer", FIELD_BOOL },
	F_END,
};

static int check_range(const struct read_file_args *a, const struct stat *st, int fd,
		       struct arena *arena, struct err *e)
{
	/* A binary file is refused as such: no range would help. */
	const struct text_want start = { .size = 1, .first = 1, .count = 1, .max_lines = 1 };
	struct text t;

	if (a->start_line && a->end_line && a->end_line < a->start_line)
		return err_set(e, ERR_INVALID_ARGUMENTS, "end_line %lld is before start_line %lld",
			       (long long)a->end_line, (long long)a->start_line);
	if (a->start_line || a->end_line || st->st_size <= LIMIT_READ_FILE)
		return 0;
	if (text_read(fd, &start, arena, &t, e) < 0)
		return -1;
	return err_set(e, ERR_FILE_TOO_LARGE,
		       "File is %lld bytes (max %d). Use start_line/end_line to read a range.",
		       (long long)st->st_size, LIMIT_READ_FILE);
}

static void write_numbered(struct jw *w, struct str content, int64_t first, int64_t count)
{
	char number[32], last[32];
	const int width = snprintf(last, sizeof last, "%lld", (long long)first + count - 1);

	jw_open_str(w, "content");
	for (int64_t i = 0; i < count; i++) {
		struct str line;
		(void)str_cut(content, '\n', &line, &content);
		(void)snprintf(number, sizeof number, "%s%*lld\t", i ? "\n" : "", width,
			       (long long)first + i);
		jw_piece(w, str_of(number));
		jw_piece(w, line);
	}
	jw_close_str(w);
}

static int read_file_text(struct call *c, int fd, const struct path *path, const struct stat *st,
			  const struct read_file_args *a, struct err *e)
{
	const int64_t first = a->start_line ? a->start_line : 1;
	const struct text_want want = {
		.size = st->st_size,
		.first = first,
		.count = a->end_line ? a->end_line - first + 1 : TEXT_ALL,
		.max_lines = INT64_MAX,
		.max_bytes = LIMIT_READ_FILE,
		.may_go_on = call_may_go_on,
		.arg = c,
		.deadline_ms = call_deadline(c),
	};
	char shown[2 * PATH_MAX];
	struct text t;

	if (text_read(fd, &want, c->arena, &t, e) < 0)
		return -1;
	if (t.total_lines < first)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "start_line %lld is beyond the end of the file (%lld lines)",
			       (long long)first, (long long)t.total_lines);
	if (t.first_too_long)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "Line %lld alone is larger than %d bytes. Use run_command with cut "
			       "or head -c to see a part of it.",
			       (long long)first, LIMIT_READ_FILE);
	const bool whole = first == 1 && t.lines == t.total_lines && t.cut == TEXT_WHOLE;
	seen_read(c, path, fd, st, whole ? t.content : (struct str){ NULL, 0 });
	if (a->line_numbers)
		write_numbered(c->out, t.content, first, t.out_lines);
	else
		jw_str(c->out, "content", t.content);
	jw_int(c->out, "lines", t.out_lines);
	jw_str(c->out, "path", ws_display(c->ws, path, shown));
	jw_int(c->out, "total_lines", t.total_lines);
	jw_bool(c->out, "truncated", t.cut != TEXT_WHOLE);
	return 0;
}

static int read_file_run(struct call *c, const void *args, struct err *e)
{
	const struct read_file_args *a = args;
	struct path path;
	struct stat st;

	if (call_path(c, a->path, &path, e) < 0)
		return -1;
	AUTO_FD fd = ws_open_file(c->ws, &path, &st, e);
	if (fd < 0 || check_range(a, &st, fd, c->arena, e) < 0)
		return -1;
	return read_file_text(c, fd, &path, &st, a, e);
}

const struct tool tool_read_file = {
	.name = "read_file",
	.title = "Read file",
	.about = "Read a text file of up to 1 MiB, or a range of lines of a file of any size.",
	.args = read_file_table,
	.args_size = sizeof(struct read_file_args),
	.fields = read_file_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_READ_ONLY | TOOL_IDEMPOTENT,
	.run = read_file_run,
};
