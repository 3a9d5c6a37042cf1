/* SPDX-License-Identifier: MIT */
/* jobs: commands in the background: list, start, follow, wait for and stop them. */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/jw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/cli.h"

struct jobs_args {
	bool follow;
	const char *cwd;
};

static const struct option jobs_options[] = {
	{ "follow", 'f', OPTION_SWITCH, offsetof(struct jobs_args, follow), NULL,
	  "output: continue until the job ends, and exit with its status" },
	{ "cwd", 'C', OPTION_TEXT, offsetof(struct jobs_args, cwd), "DIR",
	  "start: directory to run it in (default: the current one if it is in the workspace)" },
	OPTION_END,
};

static bool is_stopped(const struct json *job)
{
	return json_int(job, STR("exitCode"), 0) < 0;
}

static void describe(const struct json *job, char *to, size_t size)
{
	const struct json *code = json_get(job, STR("exitCode"));

	if (is_stopped(job))
		(void)snprintf(to, size,
			       json_is_true(job, STR("timedOut")) ? "timed out" : "stopped");
	else if (code && code->type == JSON_NUMBER)
		(void)snprintf(to, size, "exited %" PRId64, code->integer);
	else if (json_text(job, STR("error")).n)
		(void)snprintf(to, size, "failed");
	else
		(void)snprintf(to, size, "%.*s", STR_FMT(json_text(job, STR("state"))));
}

/* How long ago a job was started: 12s, 3m, 2h, 5d. */
static void describe_age(const struct json *job, char *to, size_t size)
{
	static const struct {
		int64_t seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	const int64_t began = json_int(job, STR("startedMs"), 0) / 1000;
	const int64_t age = (int64_t)time(NULL) - began;
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(units) && age < units[i].seconds)
		i++;
	(void)snprintf(to, size, "%" PRId64 "%c", age > 0 ? age / units[i].seconds : 0,
		       units[i].unit);
}

/* The ports that its processes listen on: "3000 3001", or "-". */
static void add_ports(struct buf *out, const struct json *job)
{
	const struct json *ports = json_items(job, STR("ports"));
	const size_t before = out->n;

	for (const struct json *p = ports; p; p = p->next)
		buf_addf(out, "%s%" PRId64, p == ports ? "" : " ", p->integer);
	if (out->n == before)
		buf_addc(out, '-');
	while (out->n - before < STR("PORTS").n)
		buf_addc(out, ' ');
	buf_addc(out, ' ');
}

/* How many columns of the terminal are left for a command after `used`; all if there is none. */
static size_t columns_left(size_t used)
{
	struct winsize w;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col <= used)
		return SIZE_MAX;
	return w.ws_col - used;
}

/* Add a command on one line, cut to the terminal. */
static void add_command(struct buf *out, struct str command, size_t columns)
{
	AUTO_BUF shown = { .max = 64 << 10 };
	size_t at = 0, bad, n = 0;

	cli_add_visible(&shown, command);
	const struct str text = buf_str(&shown);
	for (; at < text.n && n < columns; n++) {
		const size_t length = utf8_next(str_from(text, at), &bad);
		at += length ? length : bad;
	}
	buf_add(out, str_upto(text, at));
}

static int list(struct cli *c)
{
	int status;
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	const struct json *result = cli_request(c, "GET", "/jobs", NULL, &c->memory, &status);
	if (!result)
		return status;
	const struct json *jobs = json_items(result, STR("jobs"));
	if (c->json) {
		cli_print_result(result);
		return EXIT_OK;
	}
	if (!jobs) {
		cli_say(c, "No jobs");
		return EXIT_OK;
	}
	if (!c->quiet)
		buf_add(&out, STR("ID    STATE       AGE   PORTS COMMAND\n"));
	for (const struct json *j = jobs; j; j = j->next) {
		char state[32], age[32];
		const struct str id = json_text(j, STR("jobId"));
		if (c->quiet) {
			buf_addf(&out, "%.*s\n", STR_FMT(id));
			continue;
		}
		describe(j, state, sizeof state);
		describe_age(j, age, sizeof age);
		const size_t line = out.n;
		buf_addf(&out, "%-5.*s %-11s %-5s ", STR_FMT(id), state, age);
		add_ports(&out, j);
		add_command(&out, json_text(j, STR("command")), columns_left(out.n - line));
		buf_addc(&out, '\n');
	}
	cli_print(buf_str(&out));
	return EXIT_OK;
}

static int start(struct cli *c, const struct jobs_args *a)
{
	AUTO_BUF command = { .max = LIMIT_BODY };
	AUTO_BUF body = { .max = LIMIT_BODY };
	struct jw w = jw_to(&body);
	const char *cwd = cli_path(c, a->cwd);
	int status;

	verb_join_command(c->argc - 1, c->argv + 1, &command);
	jw_object(&w, NULL);
	jw_str(&w, "command", str_upto(buf_str(&command), command.n - 1));
	jw_bool(&w, "background", true);
	if (cwd)
		jw_str(&w, "cwd", str_of(cwd));
	jw_end(&w);
	const struct json *result = cli_request(c, "POST", "/bash", &body, &c->memory, &status);
	if (!result)
		return status;
	if (c->json) {
		cli_print_result(result);
	} else {
		cli_print(json_text(result, STR("jobId")));
		cli_print(STR("\n"));
	}
	return EXIT_OK;
}

/* The exit status of a job that has ended. */
static int end_status(const struct cli *c, const struct json *result)
{
	if (json_text(result, STR("error")).n)
		cli_say(c, "%.*s", STR_FMT(json_text(result, STR("error"))));
	if (json_is_true(result, STR("timedOut")))
		return EXIT_TIMED_OUT;
	if (is_stopped(result)) {
		cli_say(c, "the job was stopped");
		return EXIT_SIGNAL + SIGTERM;
	}
	return (int)json_int(result, STR("exitCode"), EXIT_FAILED);
}

/* Print the output so far, with `follow` until the job ends. `silent`: only wait. */
static int output(const struct cli *c, const char *id, bool follow, bool silent)
{
	int64_t since = 0;

	for (;;) {
		AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
		char target[128];
		int status;
		(void)snprintf(target, sizeof target, "/jobs/%s?since=%" PRId64 "&waitMs=%d", id,
			       since, follow ? 10000 : 0);
		const struct json *result = cli_request(c, "GET", target, NULL, &memory, &status);
		if (!result)
			return status;
		const bool running = str_eq(json_text(result, STR("state")), STR("running"));
		const int64_t cursor = json_int(result, STR("cursor"), since);
		const bool news = cursor > since;
		if (json_int(result, STR("dropped"), 0) > 0 && !silent)
			cli_say(c, "%" PRId64 " bytes of older output were dropped",
				json_int(result, STR("dropped"), 0));
		if (c->json && (!silent || (!running && !news)))
			cli_print_result(result);
		else if (!silent)
			cli_print(json_text(result, STR("output")));
		since = cursor;
		/* A job that has ended may have left more output than one answer holds. */
		if (!running && !news)
			return follow ? end_status(c, result) : EXIT_OK;
		if (running && !news && !follow)
			return EXIT_OK;
	}
}

static int stop(struct cli *c, const char *id)
{
	char target[128];
	int status;

	(void)snprintf(target, sizeof target, "/jobs/%s/stop", id);
	const struct json *result = cli_request(c, "POST", target, NULL, &c->memory, &status);
	if (!result)
		return status;
	if (c->json)
		cli_print_result(result);
	return EXIT_OK;
}

enum action { LIST, START, OUTPUT, WAIT, STOP };

static const char *const actions[] = { "list", "start", "output", "wait", "stop",
				       "ls",   "logs",	"kill",	  NULL };
static const enum action meanings[] = { LIST, START, OUTPUT, WAIT, STOP, LIST, OUTPUT, STOP };

/* Do it to each job that is named. Returns the last status that is not 0. */
static int act_on_jobs(struct cli *c, enum action action, bool follow)
{
	int worst = EXIT_OK;

	for (int i = 1; i < c->argc; i++) {
		const int status = action == STOP   ? stop(c, c->argv[i])
				   : action == WAIT ? output(c, c->argv[i], true, true)
						    : output(c, c->argv[i], follow, false);
		worst = status ? status : worst;
	}
	return worst;
}

/* What the first operand asks for; -1 if there is no such action. */
static int action_of(const struct cli *c)
{
	for (size_t i = 0; c->argc && actions[i]; i++)
		if (strcmp(actions[i], c->argv[0]) == 0)
			return meanings[i];
	return c->argc ? -1 : LIST;
}

static int jobs_check(struct cli *c, const void *args)
{
	const int action = action_of(c);

	(void)args;
	if (action < 0)
		return cli_misused(c, "\"%s\" is not one of list, start, output, wait, stop",
				   c->argv[0]);
	if (action == LIST && c->argc > 1)
		return cli_misused(c, "unexpected argument \"%s\"", c->argv[1]);
	if (action != LIST && c->argc < 2)
		return cli_misused(c, "missing argument %s", action == START ? "COMMAND" : "ID");
	for (int i = 1; i < c->argc && action != START; i++) {
		/* Only digits may become part of the route. */
		const size_t digits = strspn(c->argv[i], "0123456789");
		if (digits == 0 || digits > 20 || c->argv[i][digits])
			return cli_misused(c, "\"%s\" is not the number of a job", c->argv[i]);
	}
	return -1;
}

static int jobs_run(struct cli *c, const void *args)
{
	const struct jobs_args *a = args;
	const enum action action = (enum action)action_of(c);

	return action == LIST	 ? list(c)
	       : action == START ? start(c, a)
				 : act_on_jobs(c, action, a->follow);
}

const struct verb verb_jobs = {
	.name = "jobs",
	.about = "list, start, follow and stop commands in the background",
	.operands = "[list | start COMMAND [ARGUMENT]... | output ID... | wait ID... | stop ID...]",
	.examples = "  sidecar jobs start 'npm run dev'\n"
		    "  sidecar jobs\n"
		    "  sidecar jobs logs --follow 1      the same as: jobs output\n"
		    "  sidecar jobs wait 1; echo $?\n"
		    "  sidecar jobs kill 1 2             the same as: jobs stop\n"
		    "  sidecar jobs stop $(sidecar jobs -q)\n",
	.options = jobs_options,
	.args_size = sizeof(struct jobs_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.most = -1,
	.kind = OPERANDS_JOBS,
	.words = actions,
	.check = jobs_check,
	.run = jobs_run,
};
