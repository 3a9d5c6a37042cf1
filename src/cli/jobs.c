/* SPDX-License-Identifier: MIT */
/* jobs: commands in the background: list, start, follow, wait for and stop them. */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct jobs_args {
	bool follow;
	const char *cwd;
};

static const struct option jobs_options[] = {
	{ "follow", 'f', OPTION_SWITCH, offsetof(struct jobs_args, follow), NULL,
	  "output: continue until the job ends, and exit with its status" },
	{ "cwd", 'C', OPTION_TEXT, offsetof(struct jobs_args, cwd), "DIR",
	  "start: directory to run it in (default: the workspace)" },
	OPTION_END,
};

/* What every action needs. */
struct work {
	const struct cli *cli;
	const struct jobs_args *args;
	struct arena memory;
};

/* Send a request to a route that the library has no function for. Returns the member "result" of
 * the answer, its last one; it and the answer's text live in k->memory. On failure it prints a
 * message, sets *status to the exit status and returns NULL. */
static const struct json *request(struct work *k, const char *method, const char *target,
				  const struct buf *body, int *status)
{
	struct sidecar_error error = { "BAD_ANSWER", "what answered is not a sidecar" };
	const struct json *answer = NULL, *result = NULL;
	struct err e;
	struct sidecar_text *text = sidecar_request(k->cli->server, method, target,
						    body ? body->p : NULL, NULL, &error);

	if (!text) {
		*status = cli_fail(k->cli, &error);
		return NULL;
	}
	const struct str copy = arena_dup(&k->memory, (struct str){ text->content, text->length });
	sidecar_free(text);
	if (copy.p && json_parse(copy, &k->memory, &answer, &e) == 0)
		result = json_get(answer, STR("result"));
	if (result && !result->next)
		return result;
	const struct str code = json_text(answer, STR("code"));
	const struct str message = json_text(answer, STR("error"));
	if (code.p)
		(void)snprintf(error.code, sizeof error.code, "%.*s", STR_FMT(code));
	if (message.p)
		(void)snprintf(error.message, sizeof error.message, "%.*s", STR_FMT(message));
	*status = cli_fail(k->cli, &error);
	return NULL;
}

static int64_t number_of(const struct json *object, struct str name, int64_t otherwise)
{
	const struct json *v = json_get(object, name);

	return v && v->type == JSON_NUMBER && v->whole ? v->integer : otherwise;
}

/* Print a result unchanged. Its name points into the answer, of which it is the last member. */
static void print_json(const struct json *result)
{
	const struct str rest = str_trim(str_of(result->name.p + result->name.n + STR("\":").n));

	cli_print(str_upto(rest, rest.n - STR("}").n));
	cli_print(STR("\n"));
}

static bool is_stopped(const struct json *job)
{
	return number_of(job, STR("exitCode"), 0) < 0;
}

static void describe(const struct json *job, char *to, size_t size)
{
	const struct json *code = json_get(job, STR("exitCode"));

	if (is_stopped(job))
		(void)snprintf(to, size, "stopped");
	else if (code && code->type == JSON_NUMBER)
		(void)snprintf(to, size, "exited %" PRId64, code->integer);
	else if (json_text(job, STR("error")).n)
		(void)snprintf(to, size, "failed");
	else
		(void)snprintf(to, size, "%.*s", STR_FMT(json_text(job, STR("state"))));
}

static int list(struct work *k)
{
	int status;
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	const struct json *result = request(k, "GET", "/jobs", NULL, &status);
	if (!result)
		return status;
	const struct json *jobs = json_get(result, STR("jobs"));
	if (k->cli->json) {
		print_json(result);
		return EXIT_OK;
	}
	for (const struct json *j = jobs ? jobs->first : NULL; j; j = j->next) {
		char state[32];
		describe(j, state, sizeof state);
		buf_addf(&out, "%-5.*s %-11s %.*s\n", STR_FMT(json_text(j, STR("jobId"))), state,
			 STR_FMT(json_text(j, STR("command"))));
	}
	cli_print(buf_str(&out));
	return EXIT_OK;
}

static int start(struct work *k)
{
	AUTO_BUF command = { .max = LIMIT_BODY };
	AUTO_BUF body = { .max = LIMIT_BODY };
	struct jw w = jw_to(&body);
	int status;

	if (k->cli->argc < 2)
		return cli_misused(k->cli, "Missing argument: sidecar jobs start COMMAND");
	verb_join_command(k->cli->argc - 1, k->cli->argv + 1, &command);
	jw_object(&w, NULL);
	jw_str(&w, "command", str_upto(buf_str(&command), command.n - 1));
	jw_bool(&w, "background", true);
	if (k->args->cwd)
		jw_str(&w, "cwd", str_of(k->args->cwd));
	jw_end(&w);
	buf_addc(&body, '\0');
	const struct json *result = request(k, "POST", "/bash", &body, &status);
	if (!result)
		return status;
	if (k->cli->json) {
		print_json(result);
	} else {
		cli_print(json_text(result, STR("jobId")));
		cli_print(STR("\n"));
	}
	return EXIT_OK;
}

/* The exit status of a job that has ended. */
static int end_status(const struct cli *c, const struct json *result)
{
	const struct json *timed_out = json_get(result, STR("timedOut"));

	if (json_text(result, STR("error")).n)
		cli_say(c, "%.*s", STR_FMT(json_text(result, STR("error"))));
	if (timed_out && timed_out->boolean)
		return EXIT_TIMED_OUT;
	if (is_stopped(result)) {
		cli_say(c, "the job was stopped");
		return EXIT_SIGNAL + SIGTERM;
	}
	return (int)number_of(result, STR("exitCode"), EXIT_FAILED);
}

/* Print the output so far, with `follow` until the job ends. `silent`: only wait. */
static int output(struct work *k, bool follow, bool silent)
{
	int64_t since = 0;

	for (;;) {
		char target[128];
		int status;
		(void)snprintf(target, sizeof target, "/jobs/%s?since=%" PRId64 "&waitMs=%d",
			       k->cli->argv[1], since, follow ? 10000 : 0);
		const struct json *result = request(k, "GET", target, NULL, &status);
		if (!result)
			return status;
		const bool running = str_eq(json_text(result, STR("state")), STR("running"));
		if (number_of(result, STR("dropped"), 0) > 0 && !silent)
			cli_say(k->cli, "%" PRId64 " bytes of older output were dropped",
				number_of(result, STR("dropped"), 0));
		if (k->cli->json && (!silent || !running))
			print_json(result);
		else if (!silent)
			cli_print(json_text(result, STR("output")));
		const int64_t cursor = number_of(result, STR("cursor"), since);
		const bool news = cursor > since;
		since = cursor;
		/* A job that has ended may have left more output than one answer holds. */
		if (!running && !news)
			return follow ? end_status(k->cli, result) : EXIT_OK;
		if (running && !news && !follow)
			return EXIT_OK;
		arena_reset(&k->memory);
	}
}

static int stop(struct work *k)
{
	char target[128];
	int status;

	(void)snprintf(target, sizeof target, "/jobs/%s/stop", k->cli->argv[1]);
	const struct json *result = request(k, "POST", target, NULL, &status);
	if (!result)
		return status;
	if (k->cli->json)
		print_json(result);
	return EXIT_OK;
}

static const char *const actions[] = { "list", "start", "output", "wait", "stop", NULL };

static int act(struct work *k)
{
	const struct cli *c = k->cli;
	const char *action = c->argc ? c->argv[0] : "list";

	if (strcmp(action, "list") == 0)
		return list(k);
	if (strcmp(action, "start") == 0)
		return start(k);
	if (c->argc != 2)
		return cli_misused(c, "%s: sidecar jobs %s ID",
				   c->argc < 2 ? "Missing argument" : "One job at a time", action);
	/* Only digits may become part of the route. */
	const size_t digits = strspn(c->argv[1], "0123456789");
	if (digits == 0 || digits > 20 || c->argv[1][digits])
		return cli_misused(c, "\"%s\" is not the number of a job", c->argv[1]);
	if (strcmp(action, "output") == 0)
		return output(k, k->args->follow, false);
	if (strcmp(action, "wait") == 0)
		return output(k, true, true);
	return stop(k);
}

static int jobs_run(struct cli *c, const void *args)
{
	struct work k = { .cli = c, .args = args, .memory = { .max = LIMIT_ANSWER } };
	size_t known = 0;

	while (c->argc && actions[known] && strcmp(actions[known], c->argv[0]) != 0)
		known++;
	if (c->argc && !actions[known])
		return cli_misused(c, "\"%s\" is not one of list, start, output, wait, stop",
				   c->argv[0]);
	const int status = act(&k);
	arena_done(&k.memory);
	return status;
}

const struct verb verb_jobs = {
	.name = "jobs",
	.about = "list, start, follow and stop commands in the background",
	.operands = "[list | start COMMAND [ARGUMENT]... | output ID | wait ID | stop ID]",
	.examples = "  sidecar jobs start 'npm run dev'\n"
		    "  sidecar jobs\n"
		    "  sidecar jobs output --follow 1\n"
		    "  sidecar jobs wait 1; echo $?\n"
		    "  sidecar jobs stop 1\n",
	.options = jobs_options,
	.args_size = sizeof(struct jobs_args),
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.most = -1,
	.words = actions,
	.run = jobs_run,
};
