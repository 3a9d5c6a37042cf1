/* SPDX-License-Identifier: MIT */
/* run: a command in the workspace, as if it ran here: its input and output, its exit status,
 * Ctrl-C.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

/* How long to wait for the end of the input before saying so. */
enum { LIMIT_CLI_STDIN_MS = 2000 };

struct cli_run_args {
	const char *cwd;
	struct option_list env;
	bool no_stdin;
	double timeout;
};

static const struct option run_options[] = {
	{ "cwd", 'C', OPTION_TEXT, offsetof(struct cli_run_args, cwd), "DIR",
	  "directory to run it in (default: the current one if it is in the workspace)" },
	{ "env", 'e', OPTION_LIST, offsetof(struct cli_run_args, env), "NAME=VALUE",
	  "environment variable for the command; may be repeated" },
	{ "timeout", 't', OPTION_SECONDS, offsetof(struct cli_run_args, timeout), "SECONDS",
	  "end the command after this time (default: a day, or --command-timeout-max of the "
	  "server); "
	  "exit status 124" },
	{ "no-stdin", 'n', OPTION_SWITCH, offsetof(struct cli_run_args, no_stdin), NULL,
	  "do not read stdin; without it, input that is not a terminal is passed on" },
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
	bool mid_line; /* the last byte on the terminal was not a newline */
};

static int print_output(void *arg, bool is_stderr, const char *text, size_t length)
{
	struct output *o = arg;
	const struct str piece = { text, length };
	AUTO_BUF line = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&line);

	o->bytes += (int64_t)length;
	progress_count(o->cli->progress, o->bytes);
	if (isatty(is_stderr ? STDERR_FILENO : STDOUT_FILENO))
		o->mid_line = length && text[length - 1] != '\n';
	/* The progress would overwrite a line that has begun. */
	progress_pause(o->cli->progress, o->mid_line);
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
	if (end->stopped)
		jw_bool(&w, "stopped", true);
	jw_end(&w);
	cli_print_line(&line);
}

static int finish(const struct cli *c, const struct sidecar_exit *end)
{
	if (c->json)
		print_end(end);
	cli_say_not_kept(c, end->change, end->not_kept);
	if (end->timed_out) {
		cli_say(c, "the command timed out; it and everything it started were ended");
		return EXIT_TIMED_OUT;
	}
	if (end->stopped) {
		cli_say(c, "the command was stopped by a person");
		return EXIT_SIGNAL + SIGTERM;
	}
	if (end->code < 0) {
		cli_say(c, "the server was stopped and ended the command");
		return EXIT_UNREACHABLE;
	}
	return end->code;
}

/* Read stdin to its end, for the command. 0, or the exit status after a message. */
static int read_stdin(const struct cli *c, struct buf *to)
{
	const int64_t began = io_now_ms();
	bool told = false;

	for (;;) {
		/* A pipe that stays open would make this wait without a word. */
		if (io_wait(STDIN_FILENO, POLLIN, told ? IO_FOREVER : began + LIMIT_CLI_STDIN_MS) ==
		    0) {
			cli_say(c, "waiting for the end of stdin, to pass it on; --no-stdin runs "
				   "the command without it");
			told = true;
			continue;
		}
		char *room = to->n < LIMIT_STDIN + 1 ? buf_room(to, LIMIT_OUTPUT_CHUNK) : NULL;
		if (!room) {
			cli_say(c,
				"stdin is longer than %d MiB, which is the most a command can "
				"be given; write it to a file first",
				LIMIT_STDIN >> 20);
			return EXIT_FAILED;
		}
		const ssize_t n = read(STDIN_FILENO, room, LIMIT_OUTPUT_CHUNK);
		/* nohup leaves a descriptor that cannot be read: there is no input. */
		if (n < 0 && errno == EBADF)
			return EXIT_OK;
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			cli_say(c, "cannot read stdin: %s", strerror(errno));
			return EXIT_FAILED;
		}
		if (n == 0)
			return EXIT_OK;
		if (n > 0)
			buf_filled(to, (size_t)n);
	}
}

/* Run it, with signals caught. Returns the exit status. */
static int run_command(struct cli *c, const char *command, struct sidecar_bash_options *options)
{
	struct sidecar_error error;
	struct sidecar_exit end;

	cli_progress_begin(c, command, "bytes");
	/* Without this, Ctrl-C ends this program, and the server then ends the command. */
	if (options->cancel)
		catch_signals(options->cancel);
	const int rc = sidecar_run_bash(c->server, command, options, &end, &error);
	const bool erased = cli_progress_end(c);
	if (rc == 0 && !(caught && end.code < 0))
		return finish(c, &end);
	if (!caught)
		return cli_fail(c, &error);
	/* The terminal has shown ^C; the prompt belongs on a line of its own. */
	if (caught == SIGINT && !erased && isatty(STDERR_FILENO))
		(void)io_write_all(STDERR_FILENO, STR("\n"), IO_FOREVER);
	return EXIT_SIGNAL + caught;
}

/* A server that does not answer is not waited for longer than the command. */
static int run_check(struct cli *c, const void *args)
{
	c->timeout = ((const struct cli_run_args *)args)->timeout;
	return -1;
}

static int run_run(struct cli *c, const void *args)
{
	const struct cli_run_args *a = args;
	AUTO_BUF command = { .max = LIMIT_BODY };
	AUTO_BUF input = { .max = LIMIT_STDIN + 2 * LIMIT_OUTPUT_CHUNK };
	struct output output = { .cli = c };
	const bool has_input = !a->no_stdin && !isatty(STDIN_FILENO);
	const int status = has_input ? read_stdin(c, &input) : EXIT_OK;

	if (status != EXIT_OK)
		return status;
	verb_join_command(c->argc, c->argv, &command);
	struct sidecar_bash_options options = {
		.cwd = cli_path(c, a->cwd),
		.env = a->env.count ? a->env.item : NULL,
		.input = input.n ? input.p : NULL,
		.input_length = input.n,
		.timeout_seconds = c->timeout,
		.cancel = sidecar_cancel_new(),
		.output = print_output,
		.arg = &output,
	};
	return run_command(c, command.p, &options);
}

const struct verb verb_run = {
	.name = "run",
	.about = "run a command in the workspace; pass on its input, output and exit status",
	.operands = "COMMAND [ARGUMENT]...",
	.examples = "  sidecar run -- make -j4 test\n"
		    "  sidecar run 'grep -c main src/*.c | sort'\n"
		    "  sidecar run patch -p1 < fix.diff\n"
		    "  sidecar run --timeout 10 --env CI=1 ./slow-test; echo $?\n",
	.options = run_options,
	.args_size = sizeof(struct cli_run_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_REST | VERB_OWN_TIMEOUT | VERB_PATHS,
	.least = 1,
	.most = -1,
	.kind = OPERANDS_PATHS,
	.check = run_check,
	.run = run_run,
};
