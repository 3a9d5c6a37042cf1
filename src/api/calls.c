/* SPDX-License-Identifier: MIT */
/* calls: from an exchange to a call, and from its end to the log. */

#include "api/calls.h"

#include <poll.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"

static struct str session_of(const struct json *object)
{
	const struct json *v = json_get(object, STR("sessionId"));

	return v && v->type == JSON_STRING ? v->string : STR("");
}

struct call calls_begin(struct exchange *x, const struct call *kind, const struct tool *t,
			const struct json *object)
{
	struct call c = *kind;

	c.arena = x->arena;
	/* A copy: once the answer is sent the request's buffer is gone, and the log comes after. */
	c.session = arena_dup(x->arena, session_of(object));
	c.cancelled = x->cancelled;
	c.cancel_fd = x->http->fd;
	/* A Unix socket tells a client that left (HUP) from one that only stopped sending; TCP
	 * shows both alike until something is sent, and a command must not outlive its client. */
	c.cancel_events = x->tcp ? POLLRDHUP : POLLERR;
	if (t->flags & TOOL_SLOW)
		x->slow(x->slow_arg);
	return c;
}

void calls_log(struct exchange *x, struct str name, struct str session, int64_t began_ms,
	       enum err_code code)
{
	const int64_t id = ++x->service->requests;

	log_event(LOG_INFO, "call", LOG_STR("tool", name),
		  LOG_STR("session", str_upto(session, LIMIT_LOG_SESSION)),
		  LOG_INT("request_id", id), LOG_INT("uid", x->tcp ? -1 : (int64_t)x->uid),
		  LOG_INT("pid", x->pid), LOG_INT("duration_ms", io_now_ms() - began_ms),
		  LOG_BOOL("success", code == ERR_NONE), LOG_STR("code", str_of(err_name(code))));
}
