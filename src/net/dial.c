/* SPDX-License-Identifier: MIT */
/* dial: one attempt to connect, and what its failure means. */

#include "net/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/address.h"
#include "base/io.h"
#include "base/own.h"

/* Connect before the deadline. 0, or -1 with errno (ECANCELED, ETIMEDOUT …). */
static int connect_by(int fd, const struct sockaddr *address, socklen_t size, struct cancel *cancel,
		      int64_t deadline_ms)
{
	int error = 0;
	socklen_t n = sizeof error;

	if (connect(fd, address, size) == 0)
		return 0;
	if (errno != EINPROGRESS && errno != EINTR)
		return -1;
	switch (io_wait_or(fd, POLLOUT, cancel, deadline_ms)) {
	case 0:
		errno = ETIMEDOUT;
		return -1;
	case IO_CANCELLED:
		errno = ECANCELED;
		return -1;
	default:
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0)
			return -1;
		errno = error;
		return error ? -1 : 0;
	}
}

static int make_blocking(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

static int refuse_unix(const char *path, int error, enum dial_failure *failure, struct err *e)
{
	struct stat st = { 0 };
	const bool found = stat(path, &st) == 0;

	*failure = error == ENOENT || error == ECONNREFUSED ? DIAL_ABSENT : DIAL_REFUSED;
	if (error == ENOENT)
		return err_set(e, ERR_NOT_READY, "%s", "");
	/* The kernel answers the same for a socket without a server and for any other file. */
	if (error == EPROTOTYPE || (found && !S_ISSOCK(st.st_mode))) {
		*failure = DIAL_NEVER;
		return err_set(e, ERR_NOT_READY, "%s exists, but is not a sidecar's socket", path);
	}
	if (error == ECONNREFUSED)
		return err_set(e, ERR_NOT_READY, "no server listens on the socket");
	if (error == EACCES && found)
		return err_set(
			e, ERR_NOT_READY,
			"permission denied: the socket is for user %u and group %u (mode %04o)",
			(unsigned)st.st_uid, (unsigned)st.st_gid, (unsigned)st.st_mode & 07777);
	if (error == EACCES)
		return err_set(e, ERR_NOT_READY,
			       "permission denied: this user may not enter the socket's directory");
	if (error == EAGAIN)
		return err_set(e, ERR_NOT_READY, "the socket takes no more connections");
	return err_set(e, ERR_NOT_READY, "%s", strerrordesc_np(error));
}

static int dial_unix(const char *path, enum dial_failure *failure, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
	    make_blocking(fd) < 0)
		return refuse_unix(path, errno, failure, e);
	return TAKE(fd, -1);
}

/* A connection to one address, or -1 with errno. */
static int dial_address(const struct sockaddr *address, socklen_t size, struct cancel *cancel,
			int64_t deadline_ms)
{
	const int on = 1;

	AUTO_FD fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect_by(fd, address, size, cancel, deadline_ms) < 0 ||
	    make_blocking(fd) < 0)
		return -1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return TAKE(fd, -1);
}

#ifdef SIDECAR_STATIC
/* Looking up names needs parts of the C library that cannot be linked statically. */
static int dial_name(const struct dial_target *t, struct cancel *cancel, int64_t deadline_ms,
		     struct err *e)
{
	(void)cancel;
	(void)deadline_ms;
	return err_set(e, ERR_NOT_READY, "this program takes addresses, not names such as %s",
		       t->host);
}
#else
/* Connect to the first of a name's addresses that answers. -1 with errno, or, if the name has no
 * address, with *e set. */
static int dial_name(const struct dial_target *t, struct cancel *cancel, int64_t deadline_ms,
		     struct err *e)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list;
	char port[16];
	int fd = -1;

	(void)snprintf(port, sizeof port, "%d", t->port);
	const int rc = getaddrinfo(t->host, port, &hints, &list);
	if (rc != 0)
		return err_set(e, ERR_NOT_READY, "the name is not known (%s)", gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = dial_address(a->ai_addr, a->ai_addrlen, cancel, deadline_ms);
		if (fd < 0 && errno == ECANCELED)
			break;
	}
	const int error = errno;
	freeaddrinfo(list);
	errno = error;
	return fd;
}
#endif

static int dial_tcp(const struct dial_target *t, struct cancel *cancel, int64_t deadline_ms,
		    enum dial_failure *failure, struct err *e)
{
	struct sockaddr_storage address;
	struct err why = { .code = ERR_NONE };

	const socklen_t size = address_parse(t->host, t->port, &address);
	const int fd =
		size ? dial_address((const struct sockaddr *)&address, size, cancel, deadline_ms)
		     : dial_name(t, cancel, deadline_ms, &why);
	const int error = errno;
	if (fd >= 0)
		return fd;
	if (why.code != ERR_NONE)
		return err_set(e, why.code, "%s", why.msg);
	if (error == ECANCELED)
		return err_set(e, ERR_CANCELLED, "The call was cancelled");
	if (error == ECONNREFUSED) {
		*failure = DIAL_ABSENT;
		return err_set(e, ERR_NOT_READY, "no server listens on the port");
	}
	return err_set(e, ERR_NOT_READY, "%s", strerrordesc_np(error));
}

int dial(const struct dial_target *target, struct cancel *cancel, int64_t deadline_ms,
	 enum dial_failure *failure, struct err *e)
{
	*failure = DIAL_REFUSED;
	return target->path ? dial_unix(target->path, failure, e)
			    : dial_tcp(target, cancel, deadline_ms, failure, e);
}
