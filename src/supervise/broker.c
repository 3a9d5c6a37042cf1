/* SPDX-License-Identifier: MIT */
/* broker: threads that wait for a connect, copy, take, resolve, judge, connect and answer. */

#include "supervise/broker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/thread.h"
#include "config/registry.h"
#include "supervise/limits.h"
#include "supervise/resolver.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* One thread that makes connections. */
struct connector {
	struct broker *broker;
	pthread_t thread;
	pthread_cond_t given;
	bool started;
	bool busy; /* `call` is under way */
	struct stopped_call call;
	timer_t timer; /* interrupts the thread while it connects */
};

struct broker {
	struct denials *denials;
	pthread_mutex_t lock; /* protects the rest */
	bool ending;
	struct connector connectors[LIMIT_CONNECTORS];
};

/* The signal that interrupts a connect of this process: one that the program does not use. It is
 * sent to threads of brokers alone, and its handler does nothing. */
static int interruption;

static void on_interruption(int signal)
{
	(void)signal;
}

static void choose_interruption(void)
{
	/* Without SA_RESTART: the call ends with EINTR. */
	const struct sigaction action = { .sa_handler = on_interruption };
	struct sigaction old;

	for (int n = SIGRTMAX - 1; n > SIGRTMIN && !interruption; n--)
		if (sigaction(n, NULL, &old) == 0 && old.sa_handler == SIG_DFL &&
		    sigaction(n, &action, NULL) == 0)
			interruption = n;
}

static bool has_interruption(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, choose_interruption);
	return interruption != 0;
}

bool broker_is_possible(const char **why)
{
	char self[PATH_MAX];

	*why = "no signal is free";
	if (!has_interruption())
		return false;
	*why = "there is no /proc";
	if (readlink("/proc/self/exe", self, sizeof self) < 0)
		return false;
	*why = "openat2 is refused";
	if (syscall(SYS_openat2, -1, NULL, NULL, (size_t)0) == 0 || errno == ENOSYS ||
	    errno == EPERM)
		return false;
	*why = "";
	return true;
}

struct broker *broker_new(struct denials *d)
{
	struct broker *k = has_interruption() ? mem_new(1, sizeof *k) : NULL;

	if (!k)
		return NULL;
	k->denials = d;
	(void)pthread_mutex_init(&k->lock, NULL);
	return k;
}

/* From now on, or not any more, a signal interrupts now and then what blocks. */
static void interrupt(const struct connector *c, bool on)
{
	const struct timespec each = { .tv_nsec = on ? LIMIT_CONNECTOR_LOOK_MS * 1000000L : 0 };
	const struct itimerspec times = { each, each };

	(void)timer_settime(c->timer, 0, &times, NULL);
}

/* Interrupted: is the connection still wanted? */
static bool is_wanted(const struct connector *c)
{
	(void)pthread_mutex_lock(&c->broker->lock);
	const bool ending = c->broker->ending;
	(void)pthread_mutex_unlock(&c->broker->lock);
	return !ending && stopped_is_waiting(&c->call) && !stopped_is_signalled(&c->call);
}

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
static int connect_to(const struct connector *c, int sock, const struct peer_address *t)
{
	const struct bounds_rights rights = bounds_lower(denials_bounds(c->broker->denials));
	int error = EACCES;

	if (!rights.failed) {
		interrupt(c, true);
		do
			error = connect(sock, &t->at.any, t->size) < 0 ? errno : 0;
		while (error == EINTR && is_wanted(c));
		interrupt(c, false);
	}
	bounds_raise(&rights);
	return error;
}

static int refuse(const struct connector *c, enum denial_by by, const char *path)
{
	const struct denial d = { .verb = INTENT_CONNECT, .by = by, .path = path };

	denials_add(c->broker->denials, &d);
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
static int connect_to_file(const struct connector *c, int sock, int file, const char *name)
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
static bool is_optional(const char *name)
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
static int connect_by_path(const struct connector *c, int sock, const char *path)
{
	const struct bounds *b = denials_bounds(c->broker->denials);
	struct resolver r UNINITIALISED;
	struct caller_file f UNINITIALISED;
	struct statvfs mount;

	resolver_init(&r, NULL);
	resolver_begin(&r, &c->call);
	resolver_give(&r, INTENT_CONNECT, path);
	const int error = resolver_open(&r, b, &f);
	resolver_done(&r);
	AUTO_FD file = f.file;
	if (error)
		return error == EXDEV || error == EPERM ? EACCES : error;
	if (fstatvfs(file, &mount) < 0)
		return EACCES;
	if (!S_ISSOCK(f.is.st_mode))
		return ECONNREFUSED; /* as the kernel does */
	if (bounds_is_own(b, &f.is) ||
	    (!f.listed && !bounds_may_connect(b, f.name, mount.f_flag & ST_RDONLY)))
		return is_optional(f.name) ? EACCES : refuse(c, DENIED_BY_SECCOMP, f.name);
	return connect_to_file(c, sock, file, f.name);
}

/* "@name", with dots for what cannot be shown. */
static int refuse_abstract(const struct connector *c, const struct peer_address *t)
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

static int connect_locally(const struct connector *c, int sock, const struct peer_address *t)
{
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	char path[sizeof t->at.local.sun_path + 1] = "";

	if (t->size <= head || t->size > sizeof t->at.local)
		return EINVAL;
	memcpy(path, t->at.local.sun_path, t->size - head);
	return *path ? connect_by_path(c, sock, path) : refuse_abstract(c, t);
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

/* Does this server or another one of the user listen there? It may do so at every address of this
 * machine, and those are the ones that can be bound. A network of its own has other ones. */
static bool is_of_sidecar(const struct connector *c, int sock, const struct peer_address *t)
{
	const struct sandbox_config *config = &denials_bounds(c->broker->denials)->config;
	struct peer_address local = *t;
	int type = SOCK_STREAM;
	socklen_t n = sizeof type;

	(void)getsockopt(sock, SOL_SOCKET, SO_TYPE, &type, &n);
	if (config->no_network || type != SOCK_STREAM)
		return false;
	AUTO_FD probe = socket(t->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	local.at.four.sin_port = 0;
	if (bind(probe, &local.at.any, local.size) < 0 && errno == EADDRNOTAVAIL)
		return false;
	return is_own_port(config, t->at.four.sin_port) ||
	       registry_serves(ntohs(t->at.four.sin_port));
}

static int refuse_sidecar(const struct connector *c, const struct peer_address *t)
{
	char text[SHOWN];
	const struct denial d = {
		.verb = INTENT_CONNECT, .by = DENIED_BY_SECCOMP, .sidecar = true, .path = text
	};

	describe(t, text);
	denials_add(c->broker->denials, &d);
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

static int connect_taken(const struct connector *c, int sock, const struct peer_address *t)
{
	int domain;
	socklen_t n = sizeof domain;

	if (getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0)
		return errno;
	if (domain == AF_UNIX && t->size >= sizeof t->at.any.sa_family &&
	    t->at.any.sa_family == AF_UNIX)
		return connect_locally(c, sock, t);
	if (is_of_sidecar(c, sock, t))
		return refuse_sidecar(c, t);
	const int error = connect_to(c, sock, t);
	if (error == ENETUNREACH || error == EHOSTUNREACH || error == EADDRNOTAVAIL)
		note_network(c->broker->denials, INTENT_CONNECT, t);
	return error;
}

/* Perform the connect, from its copied address to its answer. 0, or the errno value with which the
 * call fails. */
static int make_connection(const struct connector *c)
{
	const struct stopped_call *s = &c->call;
	struct peer_address t = { .size = 0 };
	AUTO_FD sock = stopped_take(s, (int)s->args[0]);

	if (sock < 0)
		return errno == EBADF ? EBADF : EACCES;
	const int error = copy_address(s, s->args[1], s->args[2], &t);
	if (error)
		return error;
	/* Until here the number could have become another process's. */
	if (!stopped_is_waiting(s))
		return EINTR;
	return connect_taken(c, sock, &t);
}

/* A datagram is about to be sent to an address, where there is no network: name it. */
static void note_send(struct denials *d, const struct stopped_call *s)
{
	struct peer_address t = { .size = 0 };

	if (copy_address(s, s->args[4], s->args[5], &t) == 0 && stopped_is_waiting(s))
		note_network(d, INTENT_SEND, &t);
}

static bool prepare(struct connector *c)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = interruption };
	sigset_t all;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	(void)sigfillset(&all);
	(void)sigdelset(&all, interruption);
	(void)pthread_sigmask(SIG_SETMASK, &all, NULL);
	return timer_create(CLOCK_MONOTONIC, &event, &c->timer) == 0;
}

static void *make_connections(void *arg)
{
	struct connector *c = arg;
	struct broker *k = c->broker;
	const bool ready = prepare(c);

	(void)pthread_mutex_lock(&k->lock);
	while (c->busy || !k->ending) {
		if (!c->busy) {
			(void)pthread_cond_wait(&c->given, &k->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&k->lock);
		stopped_answer(&c->call, 0, ready ? make_connection(c) : EACCES);
		(void)pthread_mutex_lock(&k->lock);
		c->busy = false;
	}
	(void)pthread_mutex_unlock(&k->lock);
	if (ready)
		(void)timer_delete(c->timer);
	return NULL;
}

/* Give the call to a thread that waits, or to a new one. */
static bool give(struct broker *k, const struct stopped_call *s)
{
	struct connector *c = k->connectors;

	while (c < k->connectors + LIMIT_CONNECTORS && c->started && c->busy)
		c++;
	if (c == k->connectors + LIMIT_CONNECTORS)
		return false;
	c->call = *s;
	c->busy = true;
	if (c->started) {
		(void)pthread_cond_signal(&c->given);
		return true;
	}
	c->broker = k;
	(void)pthread_cond_init(&c->given, NULL);
	c->started = thread_start(make_connections, c, LIMIT_CONNECTOR_STACK, &c->thread);
	if (c->started)
		return true;
	(void)pthread_cond_destroy(&c->given);
	c->busy = false;
	return false;
}

/* The kind of socket is in the call itself: nothing can be exchanged. */
static int refuse_socket(const struct broker *k, const struct stopped_call *s)
{
	const bool local = (int)s->args[0] == AF_UNIX;
	const struct denial d = { .verb = INTENT_SOCKET,
				  .by = local ? DENIED_BY_SECCOMP : DENIED_BY_NETWORK,
				  .path = local ? "a datagram Unix socket" : "an Internet socket" };

	denials_add(k->denials, &d);
	return local ? EACCES : EPERM;
}

static int judge(void *arg, struct resolver *r)
{
	struct broker *k = arg;

	switch (r->call->number) {
	case SYS_socket:
	case SYS_socketpair:
		return refuse_socket(k, r->call);
	case SYS_sendto:
		/* There is no network, so it need not be held; only the address is noted. */
		note_send(k->denials, r->call);
		return JUDGE_PASSES;
	case SYS_connect:
		break;
	default:
		return JUDGE_PASSES;
	}
	(void)pthread_mutex_lock(&k->lock);
	const bool given = give(k, r->call);
	(void)pthread_mutex_unlock(&k->lock);
	return given ? JUDGE_KEEPS : EAGAIN;
}

struct judge broker_judge(struct broker *k)
{
	return (struct judge){ .look = judge, .arg = k };
}

void broker_free(struct broker *k)
{
	if (!k)
		return;
	(void)pthread_mutex_lock(&k->lock);
	k->ending = true;
	for (size_t i = 0; i < LIMIT_CONNECTORS && k->connectors[i].started; i++) {
		(void)pthread_cond_signal(&k->connectors[i].given);
		(void)pthread_kill(k->connectors[i].thread, interruption);
	}
	(void)pthread_mutex_unlock(&k->lock);
	for (size_t i = 0; i < LIMIT_CONNECTORS && k->connectors[i].started; i++) {
		(void)pthread_join(k->connectors[i].thread, NULL);
		(void)pthread_cond_destroy(&k->connectors[i].given);
	}
	(void)pthread_mutex_destroy(&k->lock);
	mem_free(k);
}
