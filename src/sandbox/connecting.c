/* SPDX-License-Identifier: MIT */
/* connecting: copy, take, resolve, judge, connect. */

#include "sandbox/connecting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

/* An address that was copied once. */
union address {
	struct sockaddr any;
	struct sockaddr_storage room;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un local;
};

struct peer_address {
	union address at;
	socklen_t size;
};

/* Connect with the rights of the command, until it is done or not wanted any more. 0 or an errno.
 */
static int connect_to(const struct connecting *c, int sock, const struct peer_address *t)
{
	const struct bounds_rights rights = bounds_lower(denials_bounds(c->denials));
	int error = EACCES;

	if (!rights.failed) {
		c->interrupt(c->arg, true);
		do
			error = connect(sock, &t->at.any, t->size) < 0 ? errno : 0;
		while (error == EINTR && c->is_wanted(c->arg));
		c->interrupt(c->arg, false);
	}
	bounds_raise(&rights);
	return error;
}

static int refuse(const struct connecting *c, enum denial_by by, const char *path)
{
	const struct denial d = { .verb = INTENT_CONNECT, .by = by, .path = path };

	denials_add(c->denials, &d);
	return EACCES;
}

/* Is the other end a sidecar, by the words of its command? */
static bool leads_to_sidecar(int sock)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	char path[64], words[PATH_MAX] = "";

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	(void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)peer.pid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, words, sizeof words - 1);
	const char *slash = strrchr(words, '/'), *program = slash ? slash + 1 : words;
	const char *verb = words + strlen(words) + 1;
	return n > verb - words && strcmp(program, "sidecar") == 0 &&
	       (strcmp(verb, "serve") == 0 || strcmp(verb, "mcp") == 0);
}

/* Connect to the file that is open, and to no other; but to no sidecar. The command can send
 * something before it is known whose socket it is. So the command's socket gets a name first:
 * sidecars take no connection from one that has a name (api/workers.c). */
static int connect_to_file(const struct connecting *c, int sock, int file, const char *name)
{
	struct peer_address t = { .at.local.sun_family = AF_UNIX };

	if (bind(sock, &t.at.any, sizeof t.at.any.sa_family) < 0)
		return errno;
	(void)snprintf(t.at.local.sun_path, sizeof t.at.local.sun_path, "/proc/self/fd/%d", file);
	t.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(t.at.local.sun_path) +
			     1);
	const int error = connect_to(c, sock, &t);
	if (error || !leads_to_sidecar(sock))
		return error;
	(void)shutdown(sock, SHUT_RDWR);
	return refuse(c, DENIED_BY_SECCOMP, name);
}

/* C libraries ask these for names of users and hosts first, and do without. */
static bool is_needed_by_none(const char *name)
{
	static const char *const services[] = { "/run/nscd/", "/var/run/nscd/",
						"/run/systemd/userdb/", "/run/systemd/resolve/",
						"/var/lib/sss/pipes/" };

	for (size_t i = 0; i < ARRAY_LEN(services); i++)
		if (strncmp(name, services[i], strlen(services[i])) == 0)
			return true;
	return false;
}

/* The caller's path is in `path`. Everything is opened before it is judged. */
static int connect_by_path(const struct connecting *c, const struct stopped_call *s, int sock,
			   const char *path)
{
	const struct bounds *b = denials_bounds(c->denials);
	struct stopped_path way;
	char name[PATH_MAX];
	struct stat st;
	struct statvfs mount;

	AUTO_FD proc = stopped_proc(s);
	if (proc < 0 || stopped_absolute(proc, AT_FDCWD, path, &way) < 0)
		return errno == EPERM ? EACCES : errno;
	AUTO_FD root = stopped_root(proc);
	if (root < 0)
		return EACCES;
	const struct bounds_rights rights = bounds_lower(b);
	AUTO_FD file = rights.failed ? -1 : bounds_open_listed(b, way.text);
	const bool listed = file >= 0;
	if (!rights.failed && !listed)
		file = stopped_open(root, way.text, 0);
	const int error = rights.failed || errno == EXDEV || errno == EPERM ? EACCES : errno;
	bounds_raise(&rights);
	if (file < 0)
		return error;
	if (fstat(file, &st) < 0 || fstatvfs(file, &mount) < 0 || !stopped_name(file, name) ||
	    !supervisor_is_waiting(s))
		return EACCES;
	if (!S_ISSOCK(st.st_mode))
		return ECONNREFUSED; /* as the kernel does */
	if (bounds_is_own(b, &st) ||
	    (!listed && !bounds_may_connect(b, name, mount.f_flag & ST_RDONLY)))
		return is_needed_by_none(name) ? EACCES : refuse(c, DENIED_BY_SECCOMP, name);
	return connect_to_file(c, sock, file, name);
}

/* "@name", with dots for what cannot be shown. */
static int refuse_abstract(const struct connecting *c, const struct peer_address *t)
{
	char shown[sizeof t->at.local.sun_path + 1];
	const size_t n = t->size - offsetof(struct sockaddr_un, sun_path);

	for (size_t i = 0; i < n; i++) {
		const char b = t->at.local.sun_path[i];
		shown[i] = b > ' ' && b < 127 ? b : '.';
	}
	shown[0] = '@';
	shown[n] = '\0';
	return refuse(c, DENIED_BY_SECCOMP, shown);
}

static int connect_locally(const struct connecting *c, const struct stopped_call *s, int sock,
			   const struct peer_address *t)
{
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	char path[sizeof t->at.local.sun_path + 1] = "";

	if (t->size <= head || t->size > sizeof t->at.local)
		return EINVAL;
	memcpy(path, t->at.local.sun_path, t->size - head);
	return *path ? connect_by_path(c, s, sock, path) : refuse_abstract(c, t);
}

/* The address in words. */
enum { SHOWN = INET6_ADDRSTRLEN + 16 };
static void describe(const struct peer_address *t, char text[SHOWN])
{
	const bool six = t->at.any.sa_family == AF_INET6;
	char ip[INET6_ADDRSTRLEN] = "";

	(void)inet_ntop(six ? AF_INET6 : AF_INET,
			six ? (const void *)&t->at.six.sin6_addr : &t->at.four.sin_addr, ip,
			sizeof ip);
	/* The port is at the same place in both families. */
	(void)snprintf(text, SHOWN, six ? "[%s]:%u" : "%s:%u", ip, ntohs(t->at.four.sin_port));
}

/* Is it an address of the network outside, not of the loopback? */
static bool is_outside(const struct peer_address *t)
{
	const struct in6_addr *a = &t->at.six.sin6_addr;
	const uint32_t number = ntohl(t->at.four.sin_addr.s_addr);

	if (t->at.any.sa_family == AF_INET && t->size >= sizeof t->at.four)
		return number >> 24 != IN_LOOPBACKNET && number != INADDR_ANY;
	return t->at.any.sa_family == AF_INET6 && t->size >= sizeof t->at.six &&
	       !IN6_IS_ADDR_LOOPBACK(a) && !IN6_IS_ADDR_UNSPECIFIED(a) &&
	       !(IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == IN_LOOPBACKNET);
}

static void note_network(struct denials *d, enum intent_verb verb, const struct peer_address *t)
{
	char text[SHOWN];
	const struct denial denial = { .verb = verb, .by = DENIED_BY_NETWORK, .path = text };

	if (!denials_bounds(d)->config.no_network || !is_outside(t))
		return;
	describe(t, text);
	denials_add(d, &denial);
}

static bool is_own_port(const struct sandbox_config *c, in_port_t port)
{
	for (size_t i = 0; i < SANDBOX_PORTS && c->ports[i]; i++)
		if (htons(c->ports[i]) == port)
			return true;
	return false;
}

/* Does the server listen there? It may do so at every address of this machine, and those are the
 * ones that can be bound. A network of its own has other ones. */
static bool is_own(const struct connecting *c, int sock, const struct peer_address *t)
{
	const struct sandbox_config *config = &denials_bounds(c->denials)->config;
	struct peer_address local = *t;
	int type = SOCK_STREAM;
	socklen_t n = sizeof type;

	(void)getsockopt(sock, SOL_SOCKET, SO_TYPE, &type, &n);
	if (config->no_network || type != SOCK_STREAM || !is_own_port(config, t->at.four.sin_port))
		return false;
	AUTO_FD probe = socket(t->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	local.at.four.sin_port = 0;
	return bind(probe, &local.at.any, local.size) == 0 || errno != EADDRNOTAVAIL;
}

static int refuse_own(const struct connecting *c, const struct peer_address *t)
{
	char text[SHOWN];
	const struct denial d = {
		.verb = INTENT_CONNECT, .by = DENIED_BY_SECCOMP, .own = true, .path = text
	};

	describe(t, text);
	denials_add(c->denials, &d);
	return EACCES;
}

/* Copy the address of a call. 0 or an errno. */
static int copy_address(const struct stopped_call *s, uint64_t address, uint64_t size,
			struct peer_address *t)
{
	if ((int)size < 0 || (unsigned)size > sizeof t->at.room)
		return EINVAL;
	t->size = (socklen_t)size;
	if (stopped_read(s, address, &t->at, t->size) < 0)
		return errno == EPERM ? EACCES : EFAULT;
	return 0;
}

static int connect_taken(const struct connecting *c, const struct stopped_call *s, int sock,
			 const struct peer_address *t)
{
	int domain;
	socklen_t n = sizeof domain;

	if (getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0)
		return errno;
	if (domain == AF_UNIX && t->size >= sizeof t->at.any.sa_family &&
	    t->at.any.sa_family == AF_UNIX)
		return connect_locally(c, s, sock, t);
	if (is_own(c, sock, t))
		return refuse_own(c, t);
	const int error = connect_to(c, sock, t);
	if (error == ENETUNREACH || error == EHOSTUNREACH || error == EADDRNOTAVAIL)
		note_network(c->denials, INTENT_CONNECT, t);
	return error;
}

int connecting_make(const struct connecting *c, const struct stopped_call *s)
{
	struct peer_address t = { .size = 0 };
	AUTO_FD sock = stopped_take(s, (int)s->args[0]);

	if (sock < 0)
		return errno == EBADF ? EBADF : EACCES;
	const int error = copy_address(s, s->args[1], s->args[2], &t);
	if (error)
		return error;
	/* Until here the number could have become another process's. */
	if (!supervisor_is_waiting(s))
		return EINTR;
	return connect_taken(c, s, sock, &t);
}

void connecting_note_send(struct denials *d, const struct stopped_call *s)
{
	struct peer_address t = { .size = 0 };

	if (copy_address(s, s->args[4], s->args[5], &t) == 0 && supervisor_is_waiting(s))
		note_network(d, INTENT_SEND, &t);
}
