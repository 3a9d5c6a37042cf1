/* SPDX-License-Identifier: MIT */
/* door: accept a connection, look who it is, give it a slot. */

#include "api/door.h"

#include <errno.h>
#include <sys/socket.h>

#include "api/auth.h"
#include "api/routes.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"

enum { NO_FILES_MS = 20 }; /* pause when no descriptor is left for a new connection */

void door_refuse(struct http *h, int status, const char *sentence)
{
	AUTO_BUF body = { .max = 1024 };

	routes_error_body(&body, sentence, ERR_NONE);
	log_event(LOG_WARN, "request refused", LOG_INT("status", status),
		  LOG_STR("error", str_of(sentence)));
	http_refuse_with(h, status, auth_extra(status), buf_str(&body));
}

static bool uid_allowed(const struct door *d, uid_t uid)
{
	for (size_t i = 0; i < d->uid_count; i++)
		if (d->uids[i] == uid)
			return true;
	return d->uid_count == 0;
}

/* Too many connections, or one that may not be: an answer, and gone. */
static void turn_away(const struct door *d, int fd, int status, const char *sentence)
{
	struct http h;

	http_init(&h, fd, d->budget);
	door_refuse(&h, status, sentence);
	http_done(&h);
}

struct slot *door_open(const struct door *d, const struct listener *l)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof peer;
	const int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		/* The listener stays readable: without a pause this would spin. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			io_sleep_ms(NO_FILES_MS);
		return NULL;
	}
	if (!l->tcp)
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	struct slot *c = slots_take(d->slots);
	if (!c) {
		turn_away(d, fd, 503, "Too many connections, try again later");
		return NULL;
	}
	c->tcp = l->tcp;
	c->uid = peer.uid;
	c->pid = peer.pid;
	http_init(&c->http, fd, d->budget);
	if (!l->tcp && !uid_allowed(d, peer.uid)) {
		log_event(LOG_WARN, "connection refused: uid not allowed", LOG_INT("uid", peer.uid),
			  LOG_INT("pid", peer.pid));
		door_refuse(&c->http, 403, "Forbidden: this user may not connect");
	}
	return c;
}
