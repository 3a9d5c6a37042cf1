/* SPDX-License-Identifier: MIT */
/* calls: from an exchange to a call, and from its end to the counters and the log. */

#include "api/calls.h"

#include <poll.h>
#include <sys/epoll.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"

/* Readable when the answer is not waited for any more; -1 when that cannot be had.
 * A Unix socket tells a client that left (HUP) from one that only stopped sending; TCP shows both
 * alike until something is sent, and a command must not outlive its client. */
static int watch_for_end(const struct exchange *x)
{
	struct epoll_event client = { .events = x->tcp ? EPOLLRDHUP : 0 };
	struct epoll_event ending = { .events = EPOLLIN };
	AUTO_FD fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, x->http->fd, &client) < 0 ||
	    epoll_ctl(fd, EPOLL_CTL_ADD, x->ending, &ending) < 0)
		return -1;
	return TAKE(fd, -1);
}

struct call calls_begin(struct exchange *x, const struct call *kind, const struct tool *t,
			const struct json *object)
{
	struct call c = *kind;

	x->began_us = io_now_us();
	c.arena = x->arena;
	/* A copy: once the answer is sent the request's buffer is gone, and the log comes after. */
	c.session = arena_dup(x->arena, json_text(object, STR("sessionId")));
	c.cancelled = x->cancelled;
	c.cancel_fd = x->http->fd;
	c.cancel_events = x->tcp ? POLLRDHUP : POLLERR;
	if (!tool_is_slow(t, object))
		return c;
	c.too_busy = !x->slow(x->slow_arg);
	if (c.too_busy)
		return c;
	fd_closep(&x->unwanted);
	x->unwanted = watch_for_end(x);
	if (x->unwanted >= 0) {
		c.cancel_fd = x->unwanted;
		c.cancel_events = POLLIN;
	}
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
	fd_closep(&x->unwanted);
	calls_note(x->service, x->tcp ? -1 : (int64_t)x->uid, x->pid, name, session, us, code);
}
