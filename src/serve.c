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

static void jobs_freep(struct jobs **j)
{
	if (*j)
		jobs_free(*j);
}

static void spawner_freep(struct spawner **s)
{
	if (*s)
		spawner_free(*s);
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

static void policy_freep(struct policy **p)
{
	policy_free(*p);
}

static void tracker_freep(struct tracker **t)
{
	tracker_free(*t);
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

static void scrub_freep(struct scrub **s)
{
	scrub_free(*s);
}

int serve(const struct config *config, struct err *e)
{
	const struct ws_options options = {
		.root = config->workspace,
		.data_dir = config->data_dir,
		.allowed_root = config->allowed_root,
		.allow_outside = config->allow_outside,
		.walk_only = config->openat2 == 0,
		.guarded = true,
	};
	CLEANUP(listeners_done) struct listeners listeners = { 0 };
	CLEANUP(spawner_freep) struct spawner *spawner = NULL;
	CLEANUP(jobs_freep) struct jobs *jobs = NULL;
	CLEANUP(policy_freep) struct policy *rules = NULL;
	CLEANUP(scrub_freep) struct scrub *scrub = NULL;
	CLEANUP(tracker_freep) struct tracker *tracker = NULL;
	AUTO_WORKSPACE ws = NULL;
	AUTO_BUF facts_json = { .max = 64 << 10 };
	AUTO_BUF excludes = { .max = 1 << 20 };
	struct sandbox_report report = { .mode = SANDBOX_OFF };
	uid_t uids[MAX_UIDS];
	size_t uid_count;

	prepare_process(config);
	if (parse_uids(config->allowed_uids, uids, &uid_count, e) < 0 ||
	    ws_new(&options, &ws, e) < 0)
		return -1;
	/* The socket last: whoever can connect is served. */
	if (make_scrub(config, &scrub, e) < 0 || make_guards(config, ws, &rules, &tracker, e) < 0 ||
	    commands_start(config, ws, &spawner, e) < 0 ||
	    (spawner && jobs_new(spawner, &jobs, e) < 0) ||
	    open_listeners(config, &listeners, e) < 0) {
		ws_unmake(ws);
		return -1;
	}
	if (spawner)
		spawner_report(spawner, &report);
	else
		(void)snprintf(report.why, sizeof report.why, "commands are refused: %.200s",
			       e->msg);
	const struct facts facts = {
		.config = config,
		.ws = ws,
		.sandbox = &report,
		.socket = socket_path(&listeners),
		.tcp_port = listeners.tcp_port,
	};
	facts_write(&facts, &facts_json);
	read_excludes(&excludes);
	struct service service = {
		.call = {
			.ws = ws,
			.spawner = spawner,
			.jobs = jobs,
			.no_commands = str_of(spawner ? NULL : report.why),
			.policy = config->absolute_paths == CONFIG_STRICT ? PATH_STRICT : PATH_SHORTHAND,
			.read_only = config->read_only,
			.sync = config->fsync,
			.excludes = buf_str(&excludes),
			.threads = search_threads(),
			.search_ms = config->search_seconds * 1000,
			.cancel_fd = -1,
		},
		.scrub = scrub,
		.token = str_of(config->token),
		.require_auth = config->require_auth,
		.tcp_host = str_of(config->tcp_host),
		.origins = str_of(config->allowed_origins),
		.hosts = str_of(config->allowed_hosts),
		.facts = buf_str(&facts_json),
		.started_ms = io_now_ms(),
	};
	guard_models(config, rules, tracker, &service);
	const struct server_options server = {
		.service = &service,
		.listeners = listeners.list,
		.listener_count = listeners.count,
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
	return rc;
}
