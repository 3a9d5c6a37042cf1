/* SPDX-License-Identifier: MIT */
/* serve: build what all calls share, say what is in force, serve, take it down. */

#include "serve.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/server.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "net/listen.h"
#include "workspace/workspace.h"

enum { MAX_LISTENERS = 16, MAX_UIDS = 64 };

struct listeners {
	struct listener list[MAX_LISTENERS];
	size_t count;
	int64_t tcp_port;
	bool activated; /* they came from the service manager; none of the settings holds */
};

static void listeners_done(struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++)
		listener_done(&l->list[i]);
}

/* Sockets from the service manager come instead of our own. */
static int open_listeners(const struct config *c, struct listeners *l, struct err *e)
{
	int got = 0;

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

static int parse_uids(const char *text, uid_t uids[MAX_UIDS], size_t *count, struct err *e)
{
	struct str list = str_of(text), item;
	int64_t uid;

	for (*count = 0; list.n; (*count)++) {
		(void)str_cut(list, ',', &item, &list);
		if (*count == MAX_UIDS || !str_int(str_trim(item), &uid) || uid < 0 ||
		    uid > UINT32_MAX)
			return err_set(
				e, ERR_INVALID_ARGUMENTS,
				"SIDECAR_ALLOWED_UIDS must be up to %d user numbers separated by "
				"commas, not \"%s\"",
				MAX_UIDS, text);
		uids[*count] = (uid_t)uid;
	}
	return 0;
}

static void optional(struct jw *w, const char *name, struct str value)
{
	if (value.n)
		jw_str(w, name, value);
	else
		jw_null(w, name);
}

/* What is in force, as members of an object: for /health, and for the start of the log. */
static void write_facts(struct buf *out, const struct config *c, const struct workspace *ws,
			const struct listeners *l)
{
	const struct path_rules *rules = ws_rules(ws);
	struct jw w = { .out = out };

	jw_object(&w, NULL);
	jw_str(&w, "workspace", rules->root);
	jw_bool(&w, "activated", l->activated);
	optional(&w, "socket", l->activated ? STR("") : str_of(c->socket));
	if (c->tcp_host && !l->activated) {
		char tcp[300];
		(void)snprintf(tcp, sizeof tcp, "%s:%lld", c->tcp_host, (long long)l->tcp_port);
		jw_str(&w, "tcp", str_of(tcp));
	}
	jw_str(&w, "auth",
	       c->require_auth ? STR("required")
	       : c->token      ? STR("optional")
			       : STR("none"));
	jw_str(&w, "absolutePaths",
	       c->allow_outside			       ? STR("outside")
	       : c->absolute_paths == CONFIG_SHORTHAND ? STR("shorthand")
						       : STR("strict"));
	optional(&w, "allowedRoot", rules->allowed);
	optional(&w, "dataDir", rules->data);
	jw_str(&w, "resolver", ws_uses_openat2(ws) ? STR("openat2") : STR("walk"));
	jw_bool(&w, "readOnly", c->read_only);
	jw_object(&w, "limits");
	jw_int(&w, "bodyBytes", LIMIT_BODY);
	jw_int(&w, "connections", LIMIT_CONNECTIONS);
	jw_end(&w);
	jw_end(&w);
}

static void banner(const struct config *c, const struct workspace *ws, const struct listeners *l)
{
	const struct path_rules *r = ws_rules(ws);
	char mode[8], tcp[300] = "";

	(void)snprintf(mode, sizeof mode, "%04o", (unsigned)c->socket_mode);
	if (c->tcp_host && !l->activated)
		(void)snprintf(tcp, sizeof tcp, "%s:%lld", c->tcp_host, (long long)l->tcp_port);
	log_event(LOG_INFO, "sidecar " SIDECAR_VERSION " is ready", LOG_STR("workspace", r->root),
		  LOG_BOOL("activated", l->activated),
		  LOG_STR("socket", l->activated ? STR("") : str_of(c->socket)),
		  LOG_STR("mode", str_of(mode)), LOG_STR("tcp", str_of(tcp)),
		  LOG_STR("auth", c->require_auth ? STR("required")
				  : c->token	  ? STR("optional")
						  : STR("none")));
	log_event(LOG_INFO, "boundary", LOG_STR("allowed_root", r->allowed),
		  LOG_STR("data_dir", r->data),
		  LOG_STR("absolute_paths", c->allow_outside ? STR("outside")
					    : c->absolute_paths == CONFIG_STRICT
						    ? STR("strict")
						    : STR("shorthand")),
		  LOG_STR("resolver", ws_uses_openat2(ws) ? STR("openat2") : STR("walk")),
		  LOG_BOOL("read_only", c->read_only));
	if (c->allow_outside && r->allowed.n == 0)
		log_event(LOG_WARN,
			  "ALLOWED_ROOT_DIRECTORY not set: every path on this machine may be "
			  "touched",
			  LOG_BOOL("allow_outside", true));
}

/* Signals become descriptors; a write to a client that left is an error, not a death. */
static void prepare_process(const struct config *c)
{
	const bool text =
		c->log == CONFIG_LOG_TEXT || (c->log == CONFIG_LOG_AUTO && isatty(STDERR_FILENO));
	struct rlimit files;
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* One heap for all workers, given back early: many sidecars share a machine. */
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_TRIM_THRESHOLD, 256 << 10);
	(void)mallopt(M_MMAP_THRESHOLD, 256 << 10);
	log_configure((enum log_level)c->log_level, text ? LOG_TEXT : LOG_JSON);
}

int serve(const struct config *config, struct err *e)
{
	const struct ws_options options = {
		.root = config->workspace,
		.data_dir = config->data_dir,
		.allowed_root = config->allowed_root,
		.allow_outside = config->allow_outside,
		.walk_only = config->openat2 == 0,
	};
	CLEANUP(listeners_done) struct listeners listeners = { 0 };
	AUTO_WORKSPACE ws = NULL;
	AUTO_BUF facts = { .max = 64 << 10 };
	uid_t uids[MAX_UIDS];
	size_t uid_count;

	prepare_process(config);
	if (parse_uids(config->allowed_uids, uids, &uid_count, e) < 0 ||
	    ws_new(&options, &ws, e) < 0)
		return -1;
	if (open_listeners(config, &listeners, e) < 0) {
		ws_unmake(ws);
		return -1;
	}
	write_facts(&facts, config, ws, &listeners);
	struct service service = {
		.call = {
			.ws = ws,
			.policy = config->absolute_paths == CONFIG_STRICT ? PATH_STRICT : PATH_SHORTHAND,
			.read_only = config->read_only,
			.sync = config->fsync,
			.cancel_fd = -1,
		},
		.token = str_of(config->token),
		.require_auth = config->require_auth,
		.origins = str_of(config->allowed_origins),
		.hosts = str_of(config->allowed_hosts),
		/* Without the braces: /health adds members before them. */
		.facts = { facts.p + 1, facts.n - 2 },
		.started_ms = io_now_ms(),
	};
	const struct server_options server = {
		.service = &service,
		.listeners = listeners.list,
		.listener_count = listeners.count,
		.uids = uids,
		.uid_count = uid_count,
		.grace_ms = config->grace_seconds * 1000,
	};
	if (log_start(e) < 0)
		return -1;
	banner(config, ws, &listeners);
	const int rc = server_run(&server, e);
	log_stop();
	return rc;
}
