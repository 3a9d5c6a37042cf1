/* SPDX-License-Identifier: MIT */
/* read: a text file, whole or by lines; or an image. */

#include <sys/stat.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "tools/tool.h"
#include "workspace/magic.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

static bool cancelled(void *arg)
{
	return call_cancelled(arg);
}

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

static int read_text(struct call *c, int fd, const struct stat *st, const struct read_args *a,
		     struct err *e)
{
	const struct text_want want = {
		.size = st->st_size,
		.first = a->offset,
		.count = a->limit > 0 ? a->limit : TEXT_ALL,
		.max_lines = LIMIT_HEAD_LINES,
		.max_bytes = LIMIT_HEAD_BYTES,
		.cancelled = cancelled,
		.arg = c,
	};
	struct text t;

	if (text_read(fd, &want, c->arena, &t, e) < 0)
		return -1;
	if (t.total_lines < a->offset)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Offset %lld is beyond end of file (%lld lines total)",
			       (long long)a->offset, (long long)t.total_lines);
	jw_str(c->out, "type", STR("text"));
	jw_str(c->out, "content", t.content);
	jw_int(c->out, "totalLines", t.total_lines);
	jw_bool(c->out, "hasMore", t.cut != TEXT_WHOLE || a->offset - 1 + t.lines < t.total_lines);
	if (t.cut != TEXT_WHOLE)
		text_write_truncation(c->out, "truncation", &t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}

static int read_run(struct call *c, const void *args, struct err *e)
{
	const struct read_args *a = args;
	const char *image = magic_image(a->path);
	struct path path;
	struct stat st;

	if (a->offset < 1)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Offset must be >= 1");
	if (call_path(c, a->path, &path, e) < 0)
		return -1;
	AUTO_FD fd = ws_open_file(c->ws, &path, &st, e);
	if (fd < 0)
		return -1;
	return image ? read_image(c, fd, &st, image, e) : read_text(c, fd, &st, a, e);
}

const struct tool tool_read = {
	.name = "read",
	.about = "Read a text file, whole or by lines, or an image.",
	.args = read_table,
	.args_size = sizeof(struct read_args),
	.flags = TOOL_WIRE,
	.run = read_run,
};
