/* SPDX-License-Identifier: MIT */
/* executor: from the configuration to everything tools are run with. */

#include "service/executor.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "exec/jobs.h"
#include "exec/runner.h"
#include "policy/policy.h"
#include "scrub/scrub.h"
#include "service/commands.h"
#include "workspace/tracker.h"
#include "workspace/workspace.h"

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

static int make_guards(const struct config *c, struct executor *x, struct err *e)
{
	x->rules = policy_new((enum policy_mode)c->command_policy, ws_rules(x->ws)->root,
			      str_of(c->command_rules), e);
	if (!x->rules)
		return -1;
	x->tracker =
		c->read_before_write == CONFIG_READS_OFF ? NULL : tracker_new(LIMIT_TRACKED_FILES);
	if (c->read_before_write != CONFIG_READS_OFF && !x->tracker)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	return 0;
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

static void fill_calls(const struct config *c, struct executor *x)
{
	x->call = (struct call){
		.ws = x->ws,
		.tracker = c->read_before_write == CONFIG_READS_ON ? x->tracker : NULL,
		.runner = x->runner,
		.jobs = x->jobs,
		.limits = &x->limits,
		.keep_survivors = c->survivors == 1,
		.no_commands = str_of(x->runner ? NULL : x->report.why),
		.policy = c->absolute_paths == CONFIG_STRICT ? PATH_STRICT : PATH_SHORTHAND,
		.read_only = c->read_only,
		.sync = c->fsync,
		.excludes = buf_str(&x->excludes),
		.threads = search_threads(),
		.search_ms = c->search_seconds * 1000,
	};
	x->model_call = x->call;
	x->model_call.policy = c->absolute_paths == CONFIG_SHORTHAND ? PATH_SHORTHAND : PATH_STRICT;
	x->model_call.scrub = x->scrub;
	x->model_call.rules = c->command_policy == POLICY_OFF ? NULL : x->rules;
	x->mcp_call = x->model_call;
	x->mcp_call.tracker = x->tracker;
}

static int build(const struct config *c, struct executor *x, struct err *e)
{
	struct err refused;

	if (make_scrub(c, &x->scrub, e) < 0 || make_guards(c, x, e) < 0 ||
	    commands_start(c, x->ws, &x->runner, &refused, e) < 0 ||
	    (x->runner && jobs_new(x->runner, &x->jobs, e) < 0))
		return -1;
	if (x->runner)
		runner_report(x->runner, &x->report);
	else
		(void)snprintf(x->report.why, sizeof x->report.why, "%s%.200s",
			       c->program ? "" : "commands are refused: ", refused.msg);
	x->limits = commands_limits(c);
	read_excludes(&x->excludes);
	fill_calls(c, x);
	return 0;
}

int executor_init(const struct config *c, struct executor *x, struct err *e)
{
	const struct ws_options options = {
		.root = c->workspace,
		.data_dir = c->data_dir,
		.allowed_root = c->allowed_root,
		.allow_outside = c->allow_outside,
		.walk_only = c->openat2 == 0,
	};

	*x = (struct executor){
		.report = { .mode = SANDBOX_OFF },
		.excludes = { .max = LIMIT_IGNORE_BYTES },
	};
	if (ws_new(&options, &x->ws, e) < 0)
		return -1;
	if (build(c, x, e) == 0)
		return 0;
	ws_unmake(x->ws);
	executor_done(x);
	return -1;
}

void executor_done(struct executor *x)
{
	if (x->jobs)
		jobs_free(x->jobs);
	runner_free(x->runner);
	tracker_free(x->tracker);
	policy_free(x->rules);
	scrub_free(x->scrub);
	ws_free(x->ws);
	buf_done(&x->excludes);
	*x = (struct executor){ 0 };
}
