/* SPDX-License-Identifier: MIT */
/* write: a whole file, atomically. */

#include "tools/tool.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

struct write_args {
	struct str path, content;
};

static const struct arg write_table[] = {
	A_STR(struct write_args, path, "path", REQUIRED | NONBLANK, "File to write"),
	A_STR(struct write_args, content, "content", REQUIRED, "Its whole new content"),
	A_END,
};

static int write_run(struct call *c, const void *args, struct err *e)
{
	const struct write_args *a = args;
	char shown[2 * PATH_MAX];
	struct path path;
	AUTO_REPLACE r = { .at = { .dir = -1 }, .old = -1 };

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &path, e) < 0)
		return -1;
	if (replace_begin(c->ws, &path, REPLACE_MAKE_DIRS | (c->sync ? REPLACE_SYNC : 0), &r, e) <
	    0)
		return -1;
	if (replace_commit(&r, a->content, e) < 0)
		return -1;
	jw_bool(c->out, "ok", true);
	jw_str(c->out, "path", ws_display(c->ws, &path, shown));
	jw_int(c->out, "bytes", (int64_t)a->content.n);
	return 0;
}

const struct tool tool_write = {
	.name = "write",
	.about = "Write a whole file; missing directories are made.",
	.args = write_table,
	.args_size = sizeof(struct write_args),
	.flags = TOOL_WIRE,
	.run = write_run,
};
