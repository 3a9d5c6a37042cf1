/* SPDX-License-Identifier: MIT */
/* run: a command in the workspace, as if it ran here: its output, its exit status, Ctrl-C. */

#include <signal.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_run_args {
	const char *cwd;
	struct option_list env;
};

static const struct option run_options[] = {
	{ "cwd", 'C', OPTION_TEXT, offsetof(struct cli_run_args, cwd), "DIR",
	  "directory to run it in (default: the workspace)" },
	{ "env", 'e', OPTION_LIST, offsetof(struct cli_run_args, env), "NAME=VALUE",
	  "environment variable for the command; may be repeated" },
	OPTION_END,
};

/* A signal handler can only reach what is static. */
static struct sidecar_cancel *to_cancel;
static volatile sig_atomic_t caught;

/* The first signal cancels the command in the server, and sidecar_run_bash fails with CANCELLED;
 * the second one ends this program at once. */
static void on_signal(int number)
{
	if (caught)
		_exit(EXIT_SIGNAL + number);
	caught = number;
	sidecar_cancel(to_cancel);
}

static void catch_signals(struct sidecar_cancel *cancel)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	to_cancel = cancel;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
}

struct output {
	const struct cli *cli;
	int64_t bytes;
};

static int print_output(void *arg, bool is_stderr, const char *text, size_t length)
{
	struct output *o = arg;
	const struct str piece = { text, length };
	AUTO_BUF line = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&line);

	o->bytes += (int64_t)length;
	progress_count(o->cli->progress, o->bytes);
	progress_hide(o->cli->progress);
	if (!o->cli->json) {
		if (!is_stderr)
			cli_print(piece);
		else
			(void)io_write_all(STDERR_FILENO, piece, IO_FOREVER);
		return 0;
	}
	jw_object(&w, NULL);
	jw_str(&w, "type", STR("delta"));
	jw_str(&w, "stream", is_stderr ? STR("stderr") : STR("stdout"));
	jw_str(&w, "data", piece);
	jw_end(&w);
	cli_print_line(&line);
	return 0;
}

static void print_end(const struct sidecar_exit *end)
{
	AUTO_BUF line = { .max = 1024 };
	struct jw w = jw_to(&line);

	jw_object(&w, NULL);
	jw_str(&w, "type", STR("done"));
	jw_int(&w, "exitCode", end->code);
	jw_bool(&w, "timedOut", end->timed_out);
	jw_end(&w);
	cli_print_line(&line);
}

static int finish(const struct cli *c, const struct sidecar_exit *end)
{
	if (c->json)
		print_end(end);
	if (end->timed_out) {
		cli_say(c, "the command timed out; it and everything it started were ended");
		return EXIT_TIMED_OUT;
	}
	return end->code;
}

static int run_run(struct cli *c, const void *args)
{
	const struct cli_run_args *a = args;
	AUTO_BUF command = { .max = LIMIT_BODY };
	struct output output = { .cli = c };
	struct sidecar_error error;
	struct sidecar_exit end;
	const struct sidecar_bash_options options = {
		.cwd = a->cwd,
		.env = a->env.count ? a->env.item : NULL,
		.timeout_seconds = c->timeout,
		.cancel = sidecar_cancel_new(),
		.output = print_output,
		.arg = &output,
	};

	verb_join_command(c->argc, c->argv, &command);
	/* Output on the terminal is progress enough. */
	if (!isatty(STDOUT_FILENO))
		cli_progress_begin(c, command.p, "bytes");
	/* Without this, Ctrl-C ends this program, and the server then ends the command. */
	if (options.cancel)
		catch_signals(options.cancel);
	const int rc = sidecar_run_bash(c->server, command.p, &options, &end, &error);
	cli_progress_end(c);
	if (rc == 0)
		return finish(c, &end);
	if (caught)
		return EXIT_SIGNAL + caught;
	return cli_fail(c, &error);
}

const struct verb verb_run = {
	.name = "run",
	.about = "run a command in the workspace; pass on its output and exit status",
	.operands = "COMMAND [ARGUMENT]...",
	.examples = "  sidecar run -- make -j4 test\n"
		    "  sidecar run 'grep -c main src/*.c | sort'\n"
		    "  sidecar run --timeout 10 --env CI=1 ./slow-test; echo $?\n",
	.options = run_options,
	.args_size = sizeof(struct cli_run_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_REST | VERB_OWN_TIMEOUT,
	.least = 1,
	.most = -1,
	.run = run_run,
};
