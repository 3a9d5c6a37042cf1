/* SPDX-License-Identifier: MIT */
/* serve: listen, build the service, say what is in force, serve, take it down. */

#include "api/serve.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/feed.h"
#include "api/server.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "base/utc.h"
#include "config/config.h"
#include "config/registry.h"
#include "exec/tree.h"
#include "mcp/http.h"
#include "net/listen.h"
#include "sandbox/container.h"
#include "service/banner.h"
#include "service/health.h"
#include "service/service.h"
#include "workspace/workspace.h"

enum { MAX_LISTENERS = CONFIG_ACTIVATED, MAX_UIDS = 64 };

struct listeners {
	struct listener list[MAX_LISTENERS];
	size_t count;
	int64_t tcp_port;
	bool activated;	      /* they came from the service manager; the settings do not apply */
	uid_t uids[MAX_UIDS]; /* who may connect by a Unix socket; none: everybody */
	size_t uid_count;
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

/* Sockets from the service manager come instead of our own. */
static int open_listeners(const struct config *c, struct listeners *l, struct err *e)
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
		if (listen_unix(c->socket, (mode_t)c->socket_mode, &l->list[l->count], e) < 0)
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
	(log_is_for_people() ? banner_log : health_log)(service, config, &at);
	log_token(config, token);
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
