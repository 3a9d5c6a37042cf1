/* SPDX-License-Identifier: MIT */
/* calls: from an exchange to a call, and from its end to the counters and the log. */

#include "api/calls.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"

struct call calls_begin(struct exchange *x, const struct call *kind, const struct tool *t,
			const struct json *object)
{
	(void)t;
	struct call c = *kind;

	x->began_us = io_now_us();
	c.arena = x->arena;
	/* A copy: once the answer is sent the request's buffer is gone, and the log comes after. */
	c.session = arena_dup(x->arena, json_text(object, STR("sessionId")));
	c.cancel = x->cancel;
	c.linger = x->slow;
	c.linger_arg = x->slow_arg;
	return c;
}

void calls_note(struct service *s, int64_t uid, int64_t pid, struct str name, struct str session,
		int64_t us, enum err_code code)
{
	const int64_t id = ++s->requests;

	metrics_count(&s->metrics, name, code, us);
	log_event(LOG_INFO, "call", LOG_STR("tool", name),
		  LOG_STR("session", str_upto(session, LIMIT_LOG_SESSION)),
		  LOG_INT("request_id", id), LOG_INT("uid", uid), LOG_INT("pid", pid),
		  LOG_INT("duration_ms", us / 1000), LOG_BOOL("success", code == ERR_NONE),
		  LOG_STR("code", str_of(err_name(code))));
}

void calls_log(struct exchange *x, struct str name, struct str session, enum err_code code)
{
	/* What was refused before it was begun took no time. */
	const int64_t us = x->began_us ? io_now_us() - x->began_us : 0;

	x->began_us = 0;
	calls_note(x->service, x->tcp ? -1 : (int64_t)x->uid, x->pid, name, session, us, code);
}
