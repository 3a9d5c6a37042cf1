/* SPDX-License-Identifier: MIT */
/* listen: create Unix and TCP listeners, take over activated ones, notify the service manager. */

#include "net/listen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/address.h"
#include "base/io.h"
#include "base/own.h"
#include "net/limits.h"

/* The directory of a private server, before its six random characters; and what is in it. */
#define PRIVATE	       "coding-sidecar-"
#define PRIVATE_SOCKET "/s"

enum {
	BACKLOG = 1024,
	ACTIVATION_FIRST = 3, /* SD_LISTEN_FDS_START */
	SOCKET_PATH_SIZE = sizeof(((struct sockaddr_un *)0)->sun_path),
};

static int new_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Make the directories of the socket. *made counts them. */
static int make_directories(const char *path, int *made, struct err *e)
{
	char dir[SOCKET_PATH_SIZE];

	(void)snprintf(dir, sizeof dir, "%s", path);
	for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(dir, 0755) == 0)
			(*made)++;
		else if (errno != EEXIST && access(dir, F_OK) < 0)
			return err_errno(e,
					 "Cannot make the directory %s for the socket (--socket "
					 "PATH puts it elsewhere)",
					 dir);
		*slash = '/';
	}
	return 0;
}

/* Remove the innermost directories again: a failed start changes nothing. */
static void unmake_directories(const char *path, int made)
{
	char dir[SOCKET_PATH_SIZE];

	(void)snprintf(dir, sizeof dir, "%s", path);
	for (char *slash; made-- > 0 && (slash = strrchr(dir, '/')) && slash != dir;) {
		*slash = '\0';
		(void)rmdir(dir);
	}
}

/* Whether a server listens there: 1 or 0, or -1 with errno. */
static int is_listened_on(const struct sockaddr_un *address)
{
	AUTO_FD probe = new_socket(AF_UNIX);

	if (probe < 0)
		return -1;
	if (connect(probe, (const struct sockaddr *)address, sizeof *address) == 0 ||
	    errno == EAGAIN || errno == EINPROGRESS)
		return 1;
	return errno == ECONNREFUSED || errno == ENOENT ? 0 : -1;
}

/* The same, but with patience for a server that was killed this moment: a process that it was just
 * starting holds its descriptors until it executes its program. */
static int is_still_listened_on(const struct sockaddr_un *address)
{
	const int64_t deadline = io_now_ms() + LIMIT_STALE_MS;
	int listened;

	while ((listened = is_listened_on(address)) == 1 && io_now_ms() < deadline)
		io_sleep_ms(10);
	return listened;
}

/* Remove a socket file on which no server answers; leave everything else alone. */
static int remove_stale(const struct sockaddr_un *address, struct err *e)
{
	struct stat st;
	const char *path = address->sun_path;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(e, "Cannot look at %s", path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(
			e, ERR_IO_ERROR,
			"%s exists and is not a socket: remove it or choose another SOCKET_PATH",
			path);
	const int listened = is_still_listened_on(address);
	if (listened == 1)
		return err_set(e, ERR_IO_ERROR,
			       "Another server is listening on %s: stop it or choose another "
			       "SOCKET_PATH",
			       path);
	if (listened < 0)
		return err_errno(e, "Cannot tell whether a server listens on %s", path);
	if (unlink(path) < 0 && errno != ENOENT)
		return err_errno(e, "Cannot remove the stale socket %s", path);
	return 0;
}

static int listen_at(const char *path, mode_t mode, struct listener *ret, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct listener l = { .fd = -1, .local = true };
	struct stat st;

	memcpy(address.sun_path, path, strlen(path) + 1);
	if (remove_stale(&address, e) < 0)
		return -1;
	AUTO_FD fd = new_socket(AF_UNIX);
	if (fd < 0)
		return err_errno(e, "Cannot make a socket");
	const mode_t before = umask(0777 & ~mode);
	const int bound = bind(fd, (const struct sockaddr *)&address, sizeof address);
	(void)umask(before);
	if (bound < 0)
		return err_errno(e, "Cannot create the socket %s (--socket PATH puts it elsewhere)",
				 path);
	/* Listen at once: clients that wait for the file connect as soon as it appears. */
	if (listen(fd, BACKLOG) < 0 || chmod(path, mode) < 0 || lstat(path, &st) < 0) {
		(void)err_errno(e, "Cannot listen on %s", address.sun_path);
		(void)unlink(path);
		return -1;
	}
	memcpy(l.path, address.sun_path, sizeof l.path);
	l.mode = st.st_mode;
	l.made = true;
	l.dev = st.st_dev;
	l.ino = st.st_ino;
	l.fd = TAKE(fd, -1);
	*ret = l;
	return 0;
}

int listen_unix(const char *path, mode_t mode, struct listener *ret, struct err *e)
{
	int made = 0;

	if (!*path)
		return err_set(e, ERR_INVALID_PATH, "SOCKET_PATH is empty");
	if (strlen(path) >= SOCKET_PATH_SIZE)
		return err_set(
			e, ERR_INVALID_PATH,
			"SOCKET_PATH is %zu bytes long, a Unix socket's path has at most %d: %s",
			strlen(path), SOCKET_PATH_SIZE - 1, path);
	if (make_directories(path, &made, e) == 0 && listen_at(path, mode, ret, e) == 0)
		return 0;
	unmake_directories(path, made);
	return -1;
}

/* The port is at the same place in both families. */
static uint16_t port_of(const struct sockaddr_storage *address)
{
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

/* Remove what private servers of this user have left that were killed with the program that held
 * them: a directory that a socket is alone in, on which nobody listens. */
static void tidy_private(const char *base)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	DIR *d = opendir(base);
	struct stat st;

	for (const struct dirent *one; d && (one = readdir(d));) {
		const int n = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s", base, one->d_name);
		if (strncmp(one->d_name, PRIVATE, strlen(PRIVATE)) != 0 ||
		    n >= (int)(sizeof at.sun_path - strlen(PRIVATE_SOCKET)) ||
		    lstat(at.sun_path, &st) < 0 || st.st_uid != geteuid() ||
		    st.st_mode != (S_IFDIR | 0700))
			continue;
		memcpy(at.sun_path + n, PRIVATE_SOCKET, sizeof PRIVATE_SOCKET);
		if (lstat(at.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode) || is_listened_on(&at))
			continue;
		(void)unlink(at.sun_path);
		unmake_directories(at.sun_path, 1);
	}
	if (d)
		(void)closedir(d);
}

int listen_private(struct listener *ret, struct err *e)
{
	const char *base = getenv("TMPDIR");
	char made[SOCKET_PATH_SIZE], path[SOCKET_PATH_SIZE];

	if (!base || base[0] != '/')
		base = "/tmp";
	tidy_private(base);
	const int n = snprintf(made, sizeof made, "%s/." PRIVATE "XXXXXX", base);
	if (n >= (int)(sizeof made - strlen(PRIVATE_SOCKET)))
		return err_set(e, ERR_INVALID_PATH,
			       "The name in TMPDIR is too long for a socket's path: %s", base);
	if (!mkdtemp(made))
		return err_errno(e, "Cannot make a directory for the socket in %s", base);
	(void)snprintf(path, sizeof path, "%s/%s", base, strrchr(made, '/') + 2);
	memcpy(made + n, PRIVATE_SOCKET, sizeof PRIVATE_SOCKET);
	if (listen_at(made, 0600, ret, e) < 0) {
		unmake_directories(made, 1);
		return -1;
	}
	ret->alone = true;
	/* It has its name only when it can be connected to: see tidy_private. */
	made[n] = '\0';
	if (rename(made, path) < 0) {
		(void)err_errno(e, "Cannot make %s", path);
		listener_done(ret);
		return -1;
	}
	memcpy(path + n - 1, PRIVATE_SOCKET, sizeof PRIVATE_SOCKET);
	memcpy(ret->path, path, sizeof path);
	return 0;
}

int listen_tcp(const char *host, int64_t *port, struct listener *ret, struct err *e)
{
	struct sockaddr_storage address;
	const int on = 1;

	if (*port < 0 || *port > 65535)
		return err_set(e, ERR_INVALID_ARGUMENTS, "TCP_PORT must be from 0 to 65535");
	socklen_t size = address_parse(host, *port, &address);
	if (size == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "TCP_HOST must be a numeric address such as 127.0.0.1, not \"%s\"",
			       host);
	AUTO_FD fd = new_socket(address.ss_family);
	if (fd < 0)
		return err_errno(e, "Cannot make a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	/* Inherited by every accepted connection. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (bind(fd, (const struct sockaddr *)&address, size) < 0 || listen(fd, BACKLOG) < 0)
		return err_errno(e, "Cannot listen on %s port %lld", host, (long long)*port);
	size = sizeof address;
	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return err_errno(e, "Cannot read the listener's address");
	*port = port_of(&address);
	*ret = (struct listener){ .fd = TAKE(fd, -1),
				  .port = (uint16_t)*port,
				  .tcp = true,
				  .local = address_is_loopback(&address) };
	return 0;
}

static bool env_int(const char *name, int64_t *ret)
{
	return str_int(str_of(getenv(name)), ret);
}

int listen_activated(int i, struct listener *ret, struct err *e)
{
	struct sockaddr_storage address = { 0 };
	const struct sockaddr_un *local = (const struct sockaddr_un *)&address;
	socklen_t size = sizeof address;
	struct stat st;
	int64_t pid, count;
	int listening = 0;
	socklen_t listening_size = sizeof listening;

	if (!env_int("LISTEN_PID", &pid) || !env_int("LISTEN_FDS", &count) ||
	    pid != (int64_t)getpid() || i >= count)
		return 0;
	const int fd = ACTIVATION_FIRST + i;
	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &listening_size) < 0 ||
	    !listening)
		return err_set(e, ERR_IO_ERROR, "Activated descriptor %d is not a listening socket",
			       fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return err_errno(e, "Cannot use activated descriptor %d", fd);
	const bool tcp = address.ss_family != AF_UNIX;
	*ret = (struct listener){ .fd = fd,
				  .port = tcp ? port_of(&address) : 0,
				  .tcp = tcp,
				  .local = !tcp || address_is_loopback(&address) };
	if (!tcp && *local->sun_path == '/' && stat(local->sun_path, &st) == 0) {
		memcpy(ret->path, local->sun_path, sizeof ret->path - 1);
		ret->mode = st.st_mode;
	}
	return 1;
}

void listen_forget_activation(void)
{
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
}

void listener_done(struct listener *l)
{
	struct stat st;

	fd_closep(&l->fd);
	if (l->made && lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		(void)unlink(l->path);
	if (l->alone)
		unmake_directories(l->path, 1);
	l->path[0] = '\0';
}

void listen_notify(const char *message)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");

	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path)
		return;
	memcpy(address.sun_path, path, strlen(path));
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		(void)sendto(fd, message, strlen(message), MSG_NOSIGNAL,
			     (const struct sockaddr *)&address,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
}
