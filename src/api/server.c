/* SPDX-License-Identifier: MIT */
/* server: listen, build the service, say what is in force; then signals by descriptor, a tick while
 * there is something to look after, an orderly end. */

#include "api/server.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "api/feed.h"
#include "api/limits.h"
#include "api/mcp.h"
#include "api/workers.h"
#include "base/io.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "base/utc.h"
#include "config/config.h"
#include "config/registry.h"
#include "exec/tree.h"
#include "net/listen.h"
#include "sandbox/canonical.h"
#include "sandbox/sandbox.h"
#include "service/health.h"
#include "service/service.h"
#include "workspace/workspace.h"

struct server_options {
	struct workers_options serve;
	void (*child_ended)(void);  /* as process 1: wait for orphans; or NULL */
	void (*hung_up)(void *arg); /* on SIGHUP; NULL: the signal has its usual effect */
	void *arg;
	int64_t grace_ms; /* how long running calls may take after a signal to stop */
	int lifeline;	  /* its end stops the server like a signal; -1: there is none */
};

/* A call could not be ended: its thread still uses what the service points to, so the process must
 * end without taking anything down. */
enum { SERVER_STUCK = 1 };

enum {
	TICK_MS = 250,
	AWAKE_TICKS = 8, /* stay awake this long without connections: clients come back soon */
};

struct server {
	const struct server_options *o;
	struct workers workers;
	int signals;	     /* signalfd */
	int64_t watchdog_ms; /* how often the service manager wants to hear from us; 0: never */
};

static int open_signals(struct server *s, struct err *e)
{
	sigset_t set;
	int64_t usec;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	if (s->o->child_ended)
		(void)sigaddset(&set, SIGCHLD);
	if (s->o->hung_up)
		(void)sigaddset(&set, SIGHUP);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return err_errno(e, "Cannot wait for signals");
	if (str_int(str_of(getenv("WATCHDOG_USEC")), &usec) && usec > 0)
		s->watchdog_ms = usec / 2000 > 0 ? usec / 2000 : 1;
	return 0;
}

/* Whether a (further) signal to stop has come. */
static bool signalled(const struct server *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			s->o->child_ended();
		else if (info.ssi_signo == SIGHUP)
			s->o->hung_up(s->o->arg);
		else
			return true;
	}
	return false;
}

/* Whether the lifeline has ended: nobody has its other end any more. What is written to it says
 * nothing. */
static bool is_left_alone(const struct server *s)
{
	const int fd = s->o->lifeline;
	char ignored[256];

	if (fd < 0 || io_wait(fd, POLLIN, 0) <= 0)
		return false;
	const ssize_t n = read(fd, ignored, sizeof ignored);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Wait for a signal, a tick, or the first connection after a pause. Without connections there is no
 * tick, so that an idle server costs nothing. `idle` is how many ticks there have been none. */
static void wait_for_tick(struct server *s, int idle)
{
	struct workers *w = &s->workers;
	struct pollfd p[] = { { .fd = s->signals, .events = POLLIN },
			      { .fd = w->wake, .events = POLLIN },
			      { .fd = s->o->lifeline, .events = POLLIN } };
	int timeout = TICK_MS;
	uint64_t count;

	if (idle > AWAKE_TICKS) {
		w->asleep = true;
		/* A connection may have come before the flag could be seen. */
		timeout = w->slots.used ? TICK_MS : -1;
	}
	if (s->watchdog_ms && (timeout < 0 || timeout > s->watchdog_ms))
		timeout = (int)s->watchdog_ms;
	(void)poll(p, ARRAY_LEN(p), timeout);
	w->asleep = false;
	(void)!read(w->wake, &count, sizeof count);
}

static void watch(struct server *s)
{
	int64_t told_ms = io_now_ms();

	for (int idle = 0;;) {
		idle = s->workers.slots.used ? 0 : idle + 1;
		wait_for_tick(s, idle);
		if (signalled(s) || is_left_alone(s))
			return;
		workers_tick(&s->workers);
		roster_tick(&s->o->serve.front->service->roster);
		if (s->watchdog_ms && io_now_ms() - told_ms >= s->watchdog_ms) {
			told_ms = io_now_ms();
			listen_notify("WATCHDOG=1");
		}
	}
}

static bool is_busy(const struct server *s)
{
	return slots_any_busy(&s->workers.slots);
}

static void wait_until_idle(const struct server *s, int64_t grace_ms)
{
	const int64_t deadline = io_now_ms() + grace_ms;

	while (is_busy(s) && io_now_ms() < deadline && !signalled(s))
		io_sleep_ms(5);
}

/* Returns whether every worker has left. */
static bool stop(struct server *s)
{
	const int64_t began = io_now_ms();

	listen_notify("STOPPING=1");
	workers_refuse_new(&s->workers);
	if (is_busy(s))
		log_event(
			LOG_INFO,
			"waiting for calls to finish; a second Ctrl-C or signal ends them at once",
			LOG_INT("at_most_ms", s->o->grace_ms));
	wait_until_idle(s, s->o->grace_ms);
	if (is_busy(s)) {
		log_event(LOG_WARN, "ending calls that are still running",
			  LOG_INT("after_ms", io_now_ms() - began));
		/* Commands end and their clients are told; then those that take no answer go. */
		roster_close(&s->o->serve.front->service->roster);
		wait_until_idle(s, LIMIT_STOP_MS);
		workers_hang_up(&s->workers);
		wait_until_idle(s, LIMIT_STOP_MS);
	}
	return workers_end(&s->workers);
}

/* Serve until SIGTERM or SIGINT (which, like SIGCHLD, must be blocked in all threads), or the end
 * of the lifeline. Returns 0 after an orderly end, SERVER_STUCK, or -1 when it could not start. */
static int server_run(const struct server_options *o, struct err *e)
{
	struct server *s = mem_new(1, sizeof *s);
	int rc = -1;

	if (!s)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the server");
	s->o = o;
	if (open_signals(s, e) < 0) {
		mem_free(s);
		return -1;
	}
	if (workers_start(&s->workers, &o->serve, e) == 0) {
		listen_notify("READY=1");
		watch(s);
		log_event(LOG_INFO, "stopping", LOG_INT("connections", s->workers.slots.used));
		rc = 0;
	}
	/* A worker that is stuck in a call still uses all this. */
	if (!stop(s))
		return rc < 0 ? rc : SERVER_STUCK;
	workers_done(&s->workers);
	fd_closep(&s->signals);
	mem_free(s);
	return rc;
}

enum { MAX_LISTENERS = CONFIG_ACTIVATED, MAX_UIDS = 64 };

struct listeners {
	struct listener list[MAX_LISTENERS];
	size_t count;
	int64_t tcp_port;
	bool activated;	      /* they came from the service manager; the settings do not apply */
	uid_t uids[MAX_UIDS]; /* who may connect by a Unix socket; none: everybody */
	size_t uid_count;
	char taken_by[PATH_MAX]; /* the workspace of the server that has the usual socket; or "" */
};

static void listeners_done(struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++)
		listener_done(&l->list[i]);
}

static int parse_uids(const char *text, struct listeners *l, struct err *e)
{
	struct str list = str_of(text), item;
	int64_t uid;

	for (; list.n; l->uid_count++) {
		(void)str_cut(list, ',', &item, &list);
		if (l->uid_count == MAX_UIDS || !str_int(str_trim(item), &uid) || uid < 0 ||
		    uid > UINT32_MAX)
			return err_set(
				e, ERR_INVALID_ARGUMENTS,
				"SIDECAR_ALLOWED_UIDS must be up to %d user numbers separated by "
				"commas, not \"%s\"",
				MAX_UIDS, text);
		l->uids[l->uid_count] = (uid_t)uid;
	}
	return 0;
}

/* The server of this user that listens on that socket. False: none is known. */
static bool find_holder(const char *socket, struct arena *a, struct str *workspace, int *pid)
{
	struct err e;

	for (const struct registry_found *f = registry_list(a); f; f = f->next) {
		const struct json *entry;
		if (!f->object.n || json_parse(f->object, a, &entry, &e) < 0 ||
		    !str_eq(json_text(entry, STR("socket")), str_of(socket)))
			continue;
		*workspace = json_text(entry, STR("workspace"));
		*pid = (int)f->pid;
		return true;
	}
	return false;
}

static int fail_served(const char *workspace, int pid, const char *socket, struct err *e)
{
	return err_set(e, ERR_IO_ERROR,
		       "A sidecar serves %s already: pid %d, on %s. Stop it, or give this one a "
		       "socket of its own with --socket PATH",
		       workspace, pid, socket);
}

/* The usual socket is taken, and nobody has named another: a server of another workspace gets one
 * of its own. *e says why the usual one cannot be had. */
static int listen_beside(struct config *c, struct listeners *l, struct err *e)
{
	AUTO_ARENA a = { .max = LIMIT_CALL_MEMORY };
	char real[PATH_MAX], path[REGISTRY_PATH];
	struct str workspace;
	int pid;

	if (config_names_address(c) || !canonical_name(c->workspace, NULL, real) ||
	    !find_holder(c->socket, &a, &workspace, &pid))
		return -1;
	if (str_eq(workspace, str_of(real)))
		return fail_served(real, pid, c->socket, e);
	if (registry_socket(str_of(real), path, e) < 0)
		return -1;
	if (listen_unix(path, (mode_t)c->socket_mode, &l->list[l->count], e) < 0)
		return find_holder(path, &a, &(struct str){ NULL, 0 }, &pid)
			       ? fail_served(real, pid, path, e)
			       : -1;
	(void)snprintf(l->taken_by, sizeof l->taken_by, "%.*s", STR_FMT(workspace));
	(void)snprintf(c->default_socket, sizeof c->default_socket, "%s", path);
	return 0;
}

/* Sockets from the service manager come instead of our own. */
static int open_listeners(struct config *c, struct listeners *l, struct err *e)
{
	int got = 0;

	if (parse_uids(c->allowed_uids, l, e) < 0)
		return -1;
	while (l->count < MAX_LISTENERS &&
	       (got = listen_activated((int)l->count, &l->list[l->count], e)) > 0) {
		if (!l->list[l->count].local && !c->token)
			return err_set(
				e, ERR_INVALID_ARGUMENTS,
				"The activated socket can be reached from other machines: set "
				"SIDECAR_AUTH_TOKEN");
		l->count++;
	}
	if (got < 0)
		return -1;
	listen_forget_activation();
	l->activated = l->count > 0;
	if (l->activated)
		return 0;
	if (c->private && !c->socket) {
		if (listen_private(&l->list[l->count], e) < 0)
			return -1;
		l->count++;
	}
	if (c->socket) {
		if (listen_unix(c->socket, (mode_t)c->socket_mode, &l->list[l->count], e) < 0 &&
		    listen_beside(c, l, e) < 0)
			return -1;
		l->count++;
	}
	if (c->tcp_host) {
		l->tcp_port = c->tcp_port;
		if (listen_tcp(c->tcp_host, &l->tcp_port, &l->list[l->count], e) < 0)
			return -1;
		l->count++;
	}
	return 0;
}

/* The first that has a socket file, or an empty one. */
static struct listener on_a_file(const struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (*l->list[i].path)
			return l->list[i];
	return (struct listener){ .fd = -1 };
}

/* A token that is not required may be left out if no other machine can connect. */
static bool are_local(const struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (!l->list[i].local)
			return false;
	return true;
}

/* What the sandbox has to know of them. */
static void note_listeners(const struct listeners *l, struct config *c)
{
	size_t ports = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (l->activated || c->private)
			c->activated[i] = l->list[i].path;
		if (l->list[i].tcp)
			c->ports[ports++] = l->list[i].port;
	}
}

/* On a bare host every user and every program can connect by TCP. In a container those of the
 * container can, and the clients of the Node sidecar have no token. */
static int make_token(struct config *c, const struct listeners *l, struct registry_entry *ret,
		      struct err *e)
{
	if (!c->ports[0] || c->token || config_waives_auth(c) || container_evidence(""))
		return 0;
	if (l->activated)
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			"Every user of this machine can connect to the activated socket: "
			"set SIDECAR_AUTH_TOKEN, or SIDECAR_REQUIRE_AUTH=false to do without");
	if (registry_make_token(c->tcp_host, c->ports[0], c->token_text, ret, e) < 0)
		return -1;
	c->token = c->token_text;
	c->token_file = ret->path;
	return 0;
}

/* The token itself is never in the log, which others may read, nor on a command line. */
static void log_token(const struct config *c, const struct registry_entry *made)
{
	char connect[512];

	if (*made->path && !log_is_for_people()) {
		(void)snprintf(connect, sizeof connect,
			       "sidecar ls --url http://%s%s%s:%u --token-file %s",
			       strchr(c->tcp_host, ':') ? "[" : "", c->tcp_host,
			       strchr(c->tcp_host, ':') ? "]" : "", c->ports[0], made->path);
		log_event(LOG_INFO, "TCP needs a token, so one was made",
			  LOG_STR("token_file", str_of(made->path)),
			  LOG_STR("connect", str_of(connect)));
	}
	if (c->ports[0] && !c->token && !config_waives_auth(c))
		log_event(LOG_WARN,
			  "every program in this container can connect by TCP: set "
			  "SIDECAR_AUTH_TOKEN, or SIDECAR_REQUIRE_AUTH=false if that is meant");
}

static void log_other(const struct listeners *l, const struct listener *shown)
{
	if (*l->taken_by)
		log_event(LOG_INFO,
			  "the usual socket is another workspace's: this server has its own",
			  LOG_STR("other", str_of(l->taken_by)),
			  LOG_STR("socket", str_of(shown->path)));
}

static void write_entry(const struct config *c, const struct service *s, const struct listening *at,
			struct buf *out)
{
	char tcp[300], here[PATH_MAX], iso[UTC_TEXT];
	const int64_t seconds = time(NULL);
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_int(&w, "pid", getpid());
	jw_str(&w, "workspace", ws_rules(s->ws)->root);
	jw_str(&w, "since", utc_iso(seconds, 0, iso));
	if (at->socket && *at->socket) {
		const bool relative = *at->socket != '/' && getcwd(here, sizeof here);
		jw_open_str(&w, "socket");
		jw_piece(&w, str_of(relative ? here : ""));
		jw_piece(&w, str_of(relative ? "/" : ""));
		jw_piece(&w, str_of(at->socket));
		jw_close_str(&w);
	}
	if (c->tcp_host) {
		(void)snprintf(tcp, sizeof tcp, "%s:%lld", c->tcp_host, (long long)at->tcp_port);
		jw_str(&w, "tcp", str_of(tcp));
	}
	jw_array(&w, "ports");
	for (size_t i = 0; i < ARRAY_LEN(c->ports) && c->ports[i]; i++)
		jw_int(&w, NULL, c->ports[i]);
	jw_end(&w);
	if (c->token)
		jw_bool(&w, "token", true);
	jw_end(&w);
}

/* Others of this user can find the server. It works as well if they cannot. */
static void enter(const struct config *c, const struct service *s, const struct listening *at,
		  struct registry_entry *ret)
{
	AUTO_BUF object = { .max = LIMIT_REGISTRY_ENTRY };
	struct err e;

	write_entry(c, s, at, &object);
	if (!object.failed && registry_enter(buf_str(&object), ret, &e) < 0)
		log_event(LOG_DEBUG, "\"sidecar ps\" will not list this server",
			  LOG_STR("why", str_of(e.msg)));
}

static void front_done(struct front *f)
{
	feed_free(f->feed);
	mcp_http_free(f->mcp);
}

static void reopen_audit(void *service)
{
	audit_reopen(((struct service *)service)->audit);
}

static int run(const struct config *config, struct service *service, struct listeners *listeners,
	       struct registry_entry *token, struct err *e)
{
	const struct listener shown = on_a_file(listeners);
	const struct listening at = { shown.path, shown.mode, listeners->tcp_port };
	CLEANUP(front_done)
	struct front front = {
		.service = service,
		.auth = { .token = str_of(config->token),
			  .required = config->require_auth,
			  .tcp_optional = config_waives_auth(config) && are_local(listeners),
			  .tcp_host = str_of(config->tcp_host),
			  .origins = str_of(config->allowed_origins),
			  .hosts = str_of(config->allowed_hosts) },
		.surface = config->surface == CONFIG_SURFACE_AGENT_SANDBOX,
		.mcp = mcp_http_new(),
	};
	const struct server_options server = {
		.serve = { .front = &front,
			   .listeners = listeners->list,
			   .listener_count = listeners->count,
			   .uids = listeners->uids,
			   .uid_count = listeners->uid_count },
		.child_ended = getpid() == 1 ? tree_reap : NULL,
		.hung_up = service->audit ? reopen_audit : NULL,
		.arg = service,
		.grace_ms = config->grace_seconds * 1000,
		.lifeline = config->private ? STDIN_FILENO : -1,
	};

	if (!front.mcp)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	if (config->events) {
		if (service_show(service, e) < 0)
			return -1;
		front.feed = feed_new(&service->live, e);
		if (!front.feed)
			return -1;
	}
	CLEANUP(registry_leave) struct registry_entry entry = { .lock = -1 };
	if (health_record(service, config, &at, e) < 0 || log_start(e) < 0)
		return -1;
	enter(config, service, &at, &entry);
	(log_is_for_people() ? health_show : health_log)(service, config, &at);
	log_token(config, token);
	log_other(listeners, &shown);
	if (config->private) {
		(void)printf("%s\n", shown.path);
		(void)fflush(stdout);
	}
	const int rc = server_run(&server, e);
	log_stop();
	/* The keeper ends what is left when we are gone. */
	if (rc == SERVER_STUCK) {
		registry_leave(&entry);
		registry_leave(token);
		listeners_done(listeners);
		_exit(0);
	}
	return rc;
}

int serve(struct config *config, struct err *e)
{
	CLEANUP(service_done) struct service service = { 0 };
	CLEANUP(listeners_done) struct listeners listeners = { .count = 0 };
	CLEANUP(registry_leave) struct registry_entry token = { .lock = -1 };
	sigset_t signals;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	if (getpid() == 1)
		(void)sigaddset(&signals, SIGCHLD);
	if (config->audit)
		(void)sigaddset(&signals, SIGHUP);
	service_prepare_process(config, &signals);
	/* The socket comes before the sandbox, which can hide only what is there. Clients that
	 * connect meanwhile wait. */
	if (open_listeners(config, &listeners, e) < 0)
		return -1;
	note_listeners(&listeners, config);
	if (make_token(config, &listeners, &token, e) < 0 || service_init(&service, config, e) < 0)
		return -1;
	service.kind = "serve";
	return run(config, &service, &listeners, &token, e);
}
