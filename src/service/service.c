/* SPDX-License-Identifier: MIT */
/* service: from the configuration to everything that calls are run with. */

#include "service/service.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/own.h"
#include "exec/jobs.h"
#include "guard/guard.h"
#include "guard/hidden.h"
#include "policy/policy.h"
#include "sandbox/canonical.h"
#include "service/account.h"
#include "service/commands.h"
#include "service/limits.h"
#include "tools/kept.h"
#include "tools/shells.h"
#include "tools/tool.h"
#include "workspace/tracker.h"
#include "workspace/workspace.h"

void service_prepare_process(struct config *c, const sigset_t *signals)
{
	const bool terminal = isatty(STDERR_FILENO);
	const enum log_form form = c->log == CONFIG_LOG_JSON   ? LOG_JSON
				   : terminal		       ? LOG_PEOPLE
				   : c->log == CONFIG_LOG_TEXT ? LOG_TEXT
							       : LOG_JSON;
	struct rlimit files;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigprocmask(SIG_BLOCK, signals, NULL);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		c->open_files = (int64_t)files.rlim_cur;
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* One heap for all workers. Memory of large requests is used again while there is work, and
	 * given back when it is quiet (workers.c), not after every request. */
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
	(void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
	log_configure((enum log_level)c->log_level, form);
}

/* How many this process may use. */
static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}

/* The user's own ignore rules, where git keeps them. Most users have none. */
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

static int make_guards(struct service *s, const struct config *c, struct err *e)
{
	const struct str token = str_of(c->token); /* the server's own token is a secret, too */
	const struct scrub_options options = {
		.secrets = &token,
		.secret_count = token.n ? 1 : 0,
		.patterns = str_of(c->scrub == CONFIG_SCRUB_OFF ? NULL : c->scrub_patterns),
	};

	char writable[8192] = "";
	if (s->runner && s->sandbox.mode != SANDBOX_OFF && !c->read_only)
		(void)snprintf(writable, sizeof writable, "%s:%s",
			       s->sandbox.namespaces ? "/tmp" : "",
			       c->sandbox_write ? c->sandbox_write : "");
	const struct policy_options rules = {
		.mode = (enum policy_mode)c->command_policy,
		.root = ws_rules(s->ws)->root,
		.writable = str_of(writable),
		.rules = str_of(c->command_rules),
		.shared_processes = !s->sandbox.namespaces,
	};

	if (scrub_new(&options, &s->secrets, e) < 0)
		return -1;
	if (c->scrub != CONFIG_SCRUB_OFF)
		s->scrub = s->secrets;
	s->rules = policy_new(&rules, e);
	if (!s->rules)
		return -1;
	if (s->read_before_write == CONFIG_READS_OFF)
		return 0;
	s->tracker = tracker_new(LIMIT_TRACKED_FILES);
	return s->tracker ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
}

/* The token's file is hidden where tools would show it. */
static void add_token(struct buf *patterns, const struct config *c, const struct workspace *ws)
{
	char name[PATH_MAX];

	if (!c->token_file || !canonical_name(c->token_file, NULL, name) ||
	    !history_is_reachable(c, ws, name))
		return;
	buf_addc(patterns, '\n');
	for (const char *p = name; *p; p++)
		buf_addf(patterns, "%s%c", strchr("*?[\\", *p) ? "\\" : "", *p);
	buf_addc(patterns, '\n');
}

/* Before there are commands: their sandbox covers what is guarded. */
static int make_guard(struct service *s, const struct config *c, struct err *e)
{
	const struct guard_options o = { .root = ws_rules(s->ws)->root.p,
					 .git = s->git.item,
					 .git_count = s->git.count,
					 .own = str_of(c->sink) };

	AUTO_BUF own = { .max = SIZE_MAX / 2 };
	const bool nothing = c->hide && !*c->hide;

	buf_add(&own, str_of(c->hide));
	add_token(&own, c, s->ws);
	const struct hidden_options h = {
		.root = o.root,
		.home = getenv("HOME"),
		.own = buf_str(&own),
		.own_alone = nothing,
		.defaults = (c->sandbox != SANDBOX_OFF || c->best_sandbox) && !nothing
	};

	if (c->guest)
		return 0;
	if (c->sinks && guard_new(&o, &s->guard, e) < 0)
		return -1;
	return nothing && !own.n ? 0 : hidden_new(&h, &s->hidden, e);
}

static bool hides(void *hidden, int fd)
{
	return hidden_is(hidden, fd);
}

/* What was asked for by name must hold for commands, too. */
static int check_hidden(struct service *s, const struct config *c, struct err *e)
{
	if (!s->hidden)
		return 0;
	if (c->hide && *c->hide && s->runner && !s->sandbox.namespaces)
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			"--hide needs a sandbox with namespaces, or commands could read what "
			"is hidden: %s. Use --sandbox workspace where users may make "
			"namespaces, or leave --hide out",
			s->sandbox.mode == SANDBOX_OFF ? "commands have no sandbox here"
						       : "there are no user namespaces here");
	if (hidden_is_here(s->hidden, c->allow_outside))
		ws_hide(s->ws, hides, s->hidden);
	return 0;
}

static int start_commands(struct service *s, const struct config *c, struct err *e)
{
	struct err refused = { .code = ERR_NONE };

	if (c->guest)
		return 0;
	if (commands_start(c, s->ws, &s->history, &s->git, s->guard, s->hidden, &s->runner,
			   &refused, e) < 0)
		return -1;
	s->limits = commands_limits(c);
	if (s->runner) {
		runner_report(s->runner, &s->sandbox);
		if (refused.code != ERR_NONE)
			(void)snprintf(s->sandbox.why, sizeof s->sandbox.why,
				       "no sandbox can be made here: %.200s", refused.msg);
		s->kept = kept_new();
		s->shells = shells_new();
		if (!s->kept || !s->shells)
			return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
		return jobs_new(s->runner, &s->jobs, e);
	}
	(void)snprintf(s->sandbox.why, sizeof s->sandbox.why, "%s%.200s",
		       c->program ? "" : "commands are refused: ", refused.msg);
	return 0;
}

/* What keeps programs from drawing, asking and waiting for keys. The operator's come after it. */
static int fill_variables(struct service *s, const struct config *c, struct err *e)
{
	static const struct str quiet[] = {
		STR("TERM=dumb"),
		STR("NO_COLOR=1"),
		STR("PAGER=cat"),
		STR("GIT_PAGER=cat"),
		STR("GIT_TERMINAL_PROMPT=0"),
		STR("GIT_EDITOR=true"),
		STR("DEBIAN_FRONTEND=noninteractive"),
	};
	struct str lines = str_of(c->command_env), pair;

	for (size_t i = 0; i < ARRAY_LEN(quiet); i++)
		s->variables[s->variable_count++] = quiet[i];
	while (setting_next_pair(&lines, &pair)) {
		if (s->variable_count == LIMIT_COMMAND_VARIABLES)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "SIDECAR_COMMAND_ENV must have at most %zu variables",
				       LIMIT_COMMAND_VARIABLES - ARRAY_LEN(quiet));
		s->variables[s->variable_count++] = pair;
	}
	return 0;
}

static void describe_confinement(struct service *s, const struct config *c)
{
	const bool apart = s->sandbox.namespaces;

	if (!s->runner)
		(void)snprintf(s->held, sizeof s->held, "Commands are not run here.");
	else if (s->sandbox.mode == SANDBOX_OFF)
		(void)snprintf(s->held, sizeof s->held,
			       "Commands run without a sandbox: they can do what the user of this "
			       "server can.");
	else
		(void)snprintf(s->held, sizeof s->held,
			       "Commands run in a sandbox: they can write only %s%s%s%s%s.",
			       c->read_only ? "" : "the workspace and ",
			       apart ? "a private /tmp" : "$TMPDIR",
			       c->data_dir || c->sandbox_write ? " and what was set" : "",
			       s->sandbox.mode == SANDBOX_STRICT ? ", read little else" : "",
			       s->sandbox.mode == SANDBOX_STRICT || c->network == 0
				       ? ", and have no network"
				       : "");
}

static void note_refusal(void *service, uint64_t call, const char *what, const char *path,
			 const char *why)
{
	struct service *s = service;

	live_refused(&s->live, call, what, str_of(path), why);
}

static void note_unguarded(void *service, uint64_t call, const char *path)
{
	struct service *s = service;

	live_unguarded(&s->live, call, str_of(path));
	log_event(LOG_WARN, "what a person's programs run later has changed",
		  LOG_INT("call", (int64_t)call), LOG_STR("path", str_of(path)));
}

/* A change that ended after its call: a job's, or of processes that went on. */
static void note_change(void *service, uint64_t call, const struct change *change)
{
	struct service *s = service;

	live_change(&s->live, call, change);
	if (!s->quiet)
		account_log_change(call, change);
}

static void fill_shared(struct service *s, const struct config *c)
{
	const unsigned n = processors();

	/* Two for each processor: some of them wait for the disk. */
	s->turns.most = 2 * n;
	s->news = (struct call_news){ note_change, note_refusal, note_unguarded, s };
	s->shared = (struct call_shared){
		.ws = s->ws,
		.runner = s->runner,
		.jobs = s->jobs,
		.shells = s->shells,
		.limits = &s->limits,
		.survivors = (enum proc_survivors)c->survivors,
		.no_commands = str_of(s->runner ? NULL : s->sandbox.why),
		.read_only = c->read_only,
		.journal = s->history.journal,
		.no_journal = str_of(s->history.why),
		.news = &s->news,
		.guard = s->guard,
		.hidden = ws_hides_any(s->ws) ? s->hidden : NULL,
		.variables = s->variables,
		.variable_count = s->variable_count,
		.secrets = s->secrets,
		.scrubbed = &s->scrubbed,
		.sync = c->fsync,
		.excludes = buf_str(&s->excludes),
		.threads = n < LIMIT_SEARCH_THREADS ? n : LIMIT_SEARCH_THREADS,
		.search_ms = c->search_seconds * 1000,
	};
}

static unsigned chosen_tools(const struct config *c)
{
	return c->tool_set == CONFIG_SET_AUTO	? 0
	       : c->tool_set == CONFIG_SET_CORE ? TOOL_CORE
						: TOOL_MODEL;
}

static struct run_times run_times(const struct config *c, bool mcp)
{
	struct run_times t = mcp ? run_times_mcp : run_times_model;

	if (c->command_seconds)
		t.usual_ms = c->command_seconds * 1000;
	if (c->most_seconds)
		t.most_ms = c->most_seconds * 1000;
	else if (t.most_ms < t.usual_ms)
		t.most_ms = t.usual_ms;
	if (t.usual_ms > t.most_ms)
		t.usual_ms = t.most_ms;
	return t;
}

static int64_t result_bytes(const struct config *c)
{
	if (!c->result_bytes)
		return LIMIT_RESULT_BYTES;
	return c->result_bytes < LIMIT_RESULT_LEAST ? LIMIT_RESULT_LEAST : c->result_bytes;
}

struct schema_offer service_mcp_offer(const struct config *c)
{
	const unsigned chosen = chosen_tools(c);

	return (struct schema_offer){
		.dialect = SCHEMA_MCP,
		.set = chosen ? chosen : schema_default_set(SCHEMA_MCP),
		.times = run_times(c, true),
		.structured = c->mcp_results == CONFIG_STRUCTURED,
		.result_bytes = result_bytes(c),
		.memory = c->data_dir,
	};
}

/* The canonical path of a file that need not exist, and whether tools and commands keep off it. */
static int check_place(const struct service *s, const struct config *c, const char *path,
		       char out[PATH_MAX], struct err *e)
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const int n = snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path + 1) : 2,
			       slash ? path : "./");

	if (n >= (int)sizeof dir || !realpath(dir, real))
		return err_errno(e, "Cannot use %s", path);
	if (snprintf(out, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
		     slash ? slash + 1 : path) >= PATH_MAX)
		return err_set(e, ERR_INVALID_PATH, "%s is too long", path);
	if (history_is_reachable(c, s->ws, out))
		return err_set(
			e, ERR_PATH_NOT_ALLOWED,
			"%s lies where tools or commands can write, so they could change the "
			"record of what they did: choose a place outside the workspace",
			path);
	return 0;
}

/* Before there are commands: the sandbox hides only what is there. */
static int open_audit(struct service *s, const struct config *c, struct err *e)
{
	char path[PATH_MAX], key[PATH_MAX];
	const struct audit_options o = { .path = path,
					 .key_file = c->audit_key_file ? key : NULL,
					 .workspace = ws_rules(s->ws)->root };

	if (!c->audit && c->audit_key_file)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "SIDECAR_AUDIT_KEY_FILE needs SIDECAR_AUDIT, the file to record in");
	if (!c->audit)
		return 0;
	if (check_place(s, c, c->audit, path, e) < 0 ||
	    (c->audit_key_file && check_place(s, c, c->audit_key_file, key, e) < 0))
		return -1;
	return audit_open(&o, &s->audit, e);
}

/* Those who watch, and the record, learn of jobs. */
static void tell_job(void *arg, const struct job_state *job)
{
	struct service *s = arg;

	if (s->live.events)
		live_job(&s->live, job);
	if (s->audit)
		audit_job(s->audit, job);
}

int service_init(struct service *s, const struct config *c, struct err *e)
{
	const struct ws_options options = {
		.root = c->workspace,
		.data_dir = c->data_dir,
		.allowed_root = c->allowed_root,
		.allow_outside = c->allow_outside,
		.walk_only = c->openat2 == 0,
	};

	*s = (struct service){
		.sandbox = { .mode = SANDBOX_OFF },
		.excludes = { .max = LIMIT_IGNORE_BYTES },
		.facts = { .max = LIMIT_FACTS },
		.absolute_paths = (enum config_paths)c->absolute_paths,
		.read_before_write = (enum config_reads)c->read_before_write,
		.tool_set = chosen_tools(c),
		.model_times = run_times(c, false),
		.mcp = service_mcp_offer(c),
		.sized = c->result_bytes > 0,
		.observe = (enum config_observe)c->observe,
		.is_root = geteuid() == 0,
		.scrub_files = c->scrub == CONFIG_SCRUB_ALL,
		.started_ms = io_now_ms(),
		.kind = "local",
	};
	struct stat st;
	if (c->guest && (stat(c->workspace, &st) < 0 || !S_ISDIR(st.st_mode)))
		return err_set(e, ERR_FILE_NOT_FOUND, "There is no directory %s", c->workspace);
	if (ws_new(&options, &s->ws, e) < 0)
		return -1;
	commands_find_git(c, s->ws, &s->git);
	/* What is refused depends on the sandbox that the commands have. */
	if (make_guard(s, c, e) < 0 || history_open(c, s->ws, &s->history, e) < 0 ||
	    fill_variables(s, c, e) < 0 || open_audit(s, c, e) < 0 || start_commands(s, c, e) < 0 ||
	    make_guards(s, c, e) < 0 || check_hidden(s, c, e) < 0) {
		ws_unmake(s->ws);
		service_done(s);
		return -1;
	}
	if (s->jobs && s->audit)
		jobs_tell(s->jobs, tell_job, s);
	s->roster.jobs = s->jobs;
	read_excludes(&s->excludes);
	describe_confinement(s, c);
	fill_shared(s, c);
	return 0;
}

int service_show(struct service *s, struct err *e)
{
	if (live_open(&s->live, s->secrets, s->history.journal, &s->roster, e) < 0)
		return -1;
	s->live.guard = s->guard;
	if (s->jobs)
		jobs_tell(s->jobs, tell_job, s);
	return 0;
}

int64_t service_commands(const struct service *s)
{
	return s->runner ? (int64_t)runner_running(s->runner) : 0;
}

void service_done(struct service *s)
{
	jobs_free(s->jobs);
	runner_free(s->runner);
	audit_close(s->audit);
	/* What they changed is known now. */
	const bool settled = history_done(&s->history);
	live_done(&s->live);
	kept_free(s->kept);
	shells_free(s->shells);
	tracker_free(s->tracker);
	policy_free(s->rules);
	scrub_free(s->secrets);
	if (settled) {
		ws_free(s->ws);
		guard_free(s->guard);
		hidden_free(s->hidden);
	}
	buf_done(&s->excludes);
	buf_done(&s->facts);
	s->jobs = s->roster.jobs = NULL;
	s->audit = NULL;
	s->kept = NULL;
	s->shells = NULL;
	s->runner = NULL;
	s->tracker = NULL;
	s->rules = NULL;
	s->secrets = s->scrub = NULL;
	s->ws = NULL;
	s->guard = NULL;
	s->hidden = NULL;
}
