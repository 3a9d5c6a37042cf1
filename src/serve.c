/* SPDX-License-Identifier: MIT */
/* serve: build what all calls share, say what is in force, serve, take it down. */

#include "serve.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/server.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "commands.h"
#include "exec/jobs.h"
#include "exec/orphans.h"
#include "exec/policy.h"
#include "exec/spawner.h"
#include "facts.h"
#include "net/listen.h"
#include "scrub/scrub.h"
#include "workspace/tracker.h"
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
	if (orphans_are_ours())
		(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* One heap for all workers. Memory of large requests is used again while there is work, and
	 * given back when it is quiet (server.c), not after every request. */
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
	(void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
	log_configure((enum log_level)c->log_level, text ? LOG_TEXT : LOG_JSON);
}

/* The Unix socket we made, or "". */
static const char *socket_path(const struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (*l->list[i].path)
			return l->list[i].path;
	return "";
}

/* As many threads for one search as there are processors for us. */
static unsigned search_threads(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return 1;
	const int n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > LIMIT_SEARCH_THREADS ? LIMIT_SEARCH_THREADS : (unsigned)n;
}

/* The user's own ignore rules, where git keeps them; most users have none. */
static void read_excludes(struct buf *out)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[PATH_MAX];

	if (xdg && *xdg)
		(void)snprintf(path, sizeof path, "%s/git/ignore", xdg);
	else if (home && *home)
		(void)snprintf(path, sizeof path, "%s/.config/git/ignore", home);
	else
		return;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *to = fd < 0 ? NULL : buf_room(out, out->max);
	const ssize_t n = to ? io_read_full(fd, to, out->max) : 0;
	buf_filled(out, n > 0 ? (size_t)n : 0);
}

static int make_guards(const struct config *c, const struct workspace *ws, struct policy **rules,
		       struct tracker **tracker, struct err *e)
{
	*rules = policy_new((enum policy_mode)c->command_policy, ws_rules(ws)->root,
			    str_of(c->command_rules), e);
	if (!*rules)
		return -1;
	*tracker = c->read_before_write ? tracker_new(LIMIT_TRACKED_FILES) : NULL;
	if (c->read_before_write && !*tracker)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	return 0;
}

/* What holds for models: paths are read strictly, commands are judged, and if asked for, only what
 * has been read may be changed; then that rule holds for everybody. */
static void guard_models(const struct config *c, struct policy *rules, struct tracker *tracker,
			 struct service *s)
{
	s->call.tracker = tracker;
	s->model_call = s->call;
	s->model_call.policy = PATH_STRICT;
	s->model_call.guard_marks = s->scrub != NULL;
	s->model_call.rules = c->command_policy == POLICY_OFF ? NULL : rules;
	s->tool_set = c->tool_set == CONFIG_SET_AUTO   ? 0
		      : c->tool_set == CONFIG_SET_CORE ? TOOL_CORE
						       : TOOL_MODEL;
}

/* The server's own token is a secret, too. */
static int make_scrub(const struct config *c, struct scrub **ret, struct err *e)
{
	const struct str token = str_of(c->token);
	const struct scrub_options options = {
		.secrets = &token,
		.secret_count = token.n ? 1 : 0,
		.patterns = str_of(c->scrub_patterns),
	};

	return c->scrub ? scrub_new(&options, ret, e) : 0;
}

/* Everything a server is put together from, in the order it is built. */
struct parts {
	struct workspace *ws;
	struct scrub *scrub;
	struct policy *rules;
	struct tracker *tracker;
	struct spawner *spawner;
	struct jobs *jobs;
	struct listeners listeners;
	struct sandbox_report report;
	struct buf facts, excludes;
};

static void parts_done(struct parts *p)
{
	listeners_done(&p->listeners);
	if (p->jobs)
		jobs_free(p->jobs);
	spawner_free(p->spawner);
	tracker_free(p->tracker);
	policy_free(p->rules);
	scrub_free(p->scrub);
	ws_free(p->ws);
	buf_done(&p->facts);
	buf_done(&p->excludes);
}

static int build(const struct config *c, struct parts *p, struct err *e)
{
	const struct ws_options options = {
		.root = c->workspace,
		.data_dir = c->data_dir,
		.allowed_root = c->allowed_root,
		.allow_outside = c->allow_outside,
		.walk_only = c->openat2 == 0,
		.guarded = true,
	};

	if (ws_new(&options, &p->ws, e) < 0)
		return -1;
	/* The socket last: whoever can connect is served. */
	if (make_scrub(c, &p->scrub, e) < 0 ||
	    make_guards(c, p->ws, &p->rules, &p->tracker, e) < 0 ||
	    commands_start(c, p->ws, &p->spawner, e) < 0 ||
	    (p->spawner && jobs_new(p->spawner, &p->jobs, e) < 0) ||
	    open_listeners(c, &p->listeners, e) < 0) {
		ws_unmake(p->ws);
		return -1;
	}
	if (p->spawner)
		spawner_report(p->spawner, &p->report);
	else
		(void)snprintf(p->report.why, sizeof p->report.why, "commands are refused: %.200s",
			       e->msg);
	read_excludes(&p->excludes);
	return 0;
}

/* What all calls share. */
static struct service make_service(const struct config *c, const struct parts *p)
{
	struct service s = {
		.call = {
			.ws = p->ws,
			.spawner = p->spawner,
			.jobs = p->jobs,
			.no_commands = str_of(p->spawner ? NULL : p->report.why),
			.policy = c->absolute_paths == CONFIG_STRICT ? PATH_STRICT : PATH_SHORTHAND,
			.read_only = c->read_only,
			.sync = c->fsync,
			.excludes = buf_str(&p->excludes),
			.threads = search_threads(),
			.search_ms = c->search_seconds * 1000,
			.cancel_fd = -1,
		},
		.scrub = p->scrub,
		.token = str_of(c->token),
		.require_auth = c->require_auth,
		.tcp_host = str_of(c->tcp_host),
		.origins = str_of(c->allowed_origins),
		.hosts = str_of(c->allowed_hosts),
		.facts = buf_str(&p->facts),
		.started_ms = io_now_ms(),
	};

	guard_models(c, p->rules, p->tracker, &s);
	return s;
}

int serve(const struct config *config, struct err *e)
{
	CLEANUP(parts_done)
	struct parts parts = {
		.report = { .mode = SANDBOX_OFF },
		.facts = { .max = 64 << 10 },
		.excludes = { .max = 1 << 20 },
	};
	uid_t uids[MAX_UIDS];
	size_t uid_count;

	prepare_process(config);
	if (parse_uids(config->allowed_uids, uids, &uid_count, e) < 0 ||
	    build(config, &parts, e) < 0)
		return -1;
	const struct facts facts = {
		.config = config,
		.ws = parts.ws,
		.sandbox = &parts.report,
		.socket = socket_path(&parts.listeners),
		.tcp_port = parts.listeners.tcp_port,
	};
	facts_write(&facts, &parts.facts);
	struct service service = make_service(config, &parts);
	const struct server_options server = {
		.service = &service,
		.listeners = parts.listeners.list,
		.listener_count = parts.listeners.count,
		.uids = uids,
		.uid_count = uid_count,
		.child_ended = orphans_are_ours() ? orphans_reap : NULL,
		.grace_ms = config->grace_seconds * 1000,
	};
	if (log_start(e) < 0)
		return -1;
	facts_log(&facts);
	const int rc = server_run(&server, e);
	log_stop();
	/* The keeper ends what is left when we are gone. */
	if (rc == SERVER_STUCK)
		_exit(0);
	return rc;
}
