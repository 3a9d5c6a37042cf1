/* SPDX-License-Identifier: MIT */
/* edit: replace a text that occurs exactly once in a file. */

#include "base/buf.h"
#include "base/limits.h"
#include "tools/edit_text.h"
#include "tools/tool.h"
#include "workspace/diff.h"
#include "workspace/replace.h"

struct edit_args {
	struct str path, old_text, new_text;
};

static const struct arg edit_table[] = {
	A_STR(struct edit_args, path, "path", REQUIRED | NONBLANK, "File to edit"),
	A_STR(struct edit_args, old_text, "oldText", REQUIRED,
	      "Text to replace, exactly as it stands"),
	A_STR(struct edit_args, new_text, "newText", REQUIRED, "Text to put in its place"),
	A_END,
};

static int edit_run(struct call *c, const void *args, struct err *e)
{
	const struct edit_args *a = args;
	const struct edit edit = { .old_text = a->old_text, .new_text = a->new_text };
	struct path path;
	AUTO_REPLACE r = { .at = { .dir = -1 }, .old = -1 };
	AUTO_BUF old = { .max = LIMIT_EDIT_BYTES };
	AUTO_BUF new = { .max = LIMIT_EDIT_BYTES };
	AUTO_BUF diff = { .max = LIMIT_ANSWER };

	if (a->old_text.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid oldText");
	if (call_may_change(c, e) < 0 || call_path(c, a->path, &path, e) < 0)
		return -1;
	/* The file stays locked from reading to writing: no other edit comes between. */
	if (replace_begin(c->ws, &path, REPLACE_MUST_EXIST | (c->sync ? REPLACE_SYNC : 0), &r, e) <
	    0)
		return -1;
	if (replace_read(&r, &old, e) < 0)
		return -1;
	if (edit_apply(&edit, a->path, buf_str(&old), c->arena, &new, e) < 0)
		return -1;
	if (diff_lines(buf_str(&old), buf_str(&new), c->arena, &diff, e) < 0)
		return -1;
	jw_bool(c->out, "ok", true);
	jw_str(c->out, "path", a->path);
	jw_str(c->out, "diff", buf_str(&diff));
	/* The change comes last: an answer that cannot be given must not hide that it was made. */
	if (c->out->out->failed)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The change is too large to be shown: write the whole file instead");
	return replace_commit(&r, buf_str(&new), e);
}

const struct tool tool_edit = {
	.name = "edit",
	.about = "Replace a text that occurs exactly once in a file.",
	.args = edit_table,
	.args_size = sizeof(struct edit_args),
	.flags = TOOL_WIRE,
	.run = edit_run,
};
