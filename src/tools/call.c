/* SPDX-License-Identifier: MIT */
/* call: what all tools ask of the call they carry out. */

#include "tools/call.h"

#include "base/base64.h"
#include "base/io.h"
#include "exec/proc.h"
#include "scrub/scrub.h"
#include "workspace/workspace.h"

int call_linger(const struct call *c, struct err *e)
{
	if (!c->linger || c->linger(c->linger_arg))
		return 0;
	return err_set(e, ERR_TOO_BUSY, "Too many calls take long already, try again later");
}

int call_may_go_on(void *call, struct err *e)
{
	const struct call *c = call;

	if (call_linger(c, e) < 0)
		return -1;
	return cancel_asked(c->cancel) ? err_set(e, ERR_EXECUTION_ERROR, "The call was cancelled")
				       : 0;
}

int64_t call_deadline(const struct call *c)
{
	return c->search_ms > 0 ? io_now_ms() + c->search_ms : 0;
}

int call_path(const struct call *c, struct str requested, struct path *ret, struct err *e)
{
	return ws_resolve(c->ws, requested, c->policy, ret, e);
}

int call_may_run(const struct call *c, struct err *e)
{
	if (c->runner)
		return 0;
	if (c->read_only)
		return err_set(e, ERR_READ_ONLY,
			       "Commands are refused in read-only mode here: %.*s",
			       STR_FMT(c->no_commands));
	return err_set(e, ERR_SPAWN_FAILED, "%.*s", STR_FMT(c->no_commands));
}

struct proc_request call_command(const struct call *c)
{
	static const struct proc_limits none;

	return (struct proc_request){
		.umask = 022,
		.keep_survivors = c->keep_survivors,
		.limits = c->limits ? *c->limits : none,
	};
}

struct str call_shown_command(const struct call *c, const char *command, size_t size)
{
	const struct str text = str_of(command);

	/* Up to three bytes of a broken character are left out already. */
	if (!c->scrub || text.n + 4 < size)
		return text;
	return str_upto(text, scrub_decided(c->scrub, text));
}

const char *const call_encodings[] = { [CALL_UTF8] = "utf-8", [CALL_BASE64] = "base64", NULL };

int call_decode(const struct call *c, const char *name, struct str text, int64_t encoding,
		struct str *ret, struct err *e)
{
	if (encoding != CALL_BASE64) {
		*ret = text;
		return 0;
	}
	char *bytes = arena_alloc(c->arena, base64_room(text.n) + 1);
	if (!bytes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	const ptrdiff_t n = base64_decode(text, bytes);
	if (n < 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid %s", name);
	*ret = (struct str){ bytes, (size_t)n };
	return 0;
}

int call_may_change(const struct call *c, struct err *e)
{
	if (!c->read_only)
		return 0;
	return err_set(e, ERR_READ_ONLY,
		       "The workspace is read-only: nothing can be written, edited or created");
}

int call_may_write(const struct call *c, struct str content, struct str old, struct err *e)
{
	if (!c->scrub || !scrub_mark_added(content, old))
		return 0;
	return err_set(
		e, ERR_REDACTED_CONTENT,
		"The content carries a [REDACTED:...] mark, which stands for a secret you were not "
		"shown: writing it would destroy the secret. Leave those lines out of the change.");
}
