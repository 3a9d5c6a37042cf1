/* SPDX-License-Identifier: MIT */
/* cli: from the words of a command line to a verb, and what all verbs do alike. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/near.h"
#include "base/own.h"
#include "cli/help.h"

void cli_print(struct str text)
{
	if (io_write_all(STDOUT_FILENO, text, IO_FOREVER) == 0)
		return;
	/* As if SIGPIPE had come, which somebody may have turned off. */
	if (errno == EPIPE)
		_exit(EXIT_SIGNAL + SIGPIPE);
	(void)fprintf(stderr, "sidecar: cannot write the output: %s\n", strerror(errno));
	_exit(EXIT_FAILED);
}

void cli_print_line(const struct buf *b)
{
	cli_print(buf_str(b));
	if (b->n == 0 || b->p[b->n - 1] != '\n')
		cli_print(STR("\n"));
}

void cli_say(const struct cli *c, const char *fmt, ...)
{
	va_list list;

	if (c->quiet)
		return;
	va_start(list, fmt);
	(void)fputs("sidecar: ", stderr);
	(void)vfprintf(stderr, fmt, list);
	(void)fputc('\n', stderr);
	va_end(list);
}

int cli_misused(const struct cli *c, const char *fmt, ...)
{
	char text[1024];
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(text, sizeof text, fmt, list);
	va_end(list);
	(void)fprintf(stderr, "sidecar: %s\nTry \"sidecar%s%s --help\".\n", text,
		      c->verb ? " " : "", c->verb ? c->verb->name : "");
	return EXIT_USAGE;
}

int cli_status(const char *code)
{
	static const struct {
		const char *code;
		int status;
	} rows[] = {
		{ "NOT_READY", EXIT_UNREACHABLE },
		{ "CONNECTION_LOST", EXIT_UNREACHABLE },
		{ "BAD_ANSWER", EXIT_UNREACHABLE },
		{ "INVALID_CONFIG", EXIT_USAGE },
		{ "UNAUTHORIZED", EXIT_REFUSED },
		{ "COMMAND_BLOCKED", EXIT_REFUSED },
		{ "PATH_OUTSIDE_WORKSPACE", EXIT_REFUSED },
		{ "SYMLINK_OUTSIDE_WORKSPACE", EXIT_REFUSED },
		{ "PATH_NOT_ALLOWED", EXIT_REFUSED },
		{ "READ_ONLY", EXIT_REFUSED },
		{ "FILE_NOT_READ", EXIT_REFUSED },
		{ "REDACTED_CONTENT", EXIT_REFUSED },
		{ "TIMED_OUT", EXIT_TIMED_OUT },
		{ "SEARCH_TIMEOUT", EXIT_TIMED_OUT },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (code && strcmp(rows[i].code, code) == 0)
			return rows[i].status;
	return EXIT_FAILED;
}

int cli_fail(const struct cli *c, const struct sidecar_error *error)
{
	AUTO_BUF out = { .max = 16 << 10 };
	struct jw w = jw_to(&out);

	if (c->json) {
		jw_object(&w, NULL);
		jw_object(&w, "error");
		jw_str(&w, "code", str_of(error->code));
		jw_str(&w, "message", str_of(error->message));
		jw_end(&w);
		jw_end(&w);
		cli_print_line(&out);
	}
	cli_say(c, "%s", error->message);
	const struct str code = str_of(error->code);
	if (str_eq(code, STR("INVALID_REGEX")) && strstr(error->message, "literal:true"))
		cli_say(c, "on the command line that is -F, --literal");
	if (str_eq(code, STR("NOT_READY")))
		cli_say(c, "is it running? \"sidecar serve\" starts one; --socket and --url say "
			   "where one is; \"sidecar doctor\" looks at the socket");
	return cli_status(error->code);
}

bool cli_is_terminal(int fd)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool cli_colour(const struct cli *c, int fd)
{
	const char *no_color = getenv("NO_COLOR");

	return !c->no_color && !(no_color && *no_color) && cli_is_terminal(fd);
}

int cli_read_input(const struct cli *c, const char *name, struct buf *to)
{
	const bool standard = strcmp(name, "-") == 0;
	AUTO_FD opened = standard ? -1 : open(name, O_RDONLY | O_CLOEXEC);
	const int fd = standard ? STDIN_FILENO : opened;
	const size_t piece = 1 << 16;
	ssize_t n = fd < 0 ? -1 : (ssize_t)piece;

	if (standard && isatty(fd))
		cli_say(c, "reading from the terminal; Ctrl-D ends the input");
	/* Less than was asked for is the end, which a terminal tells only once. */
	while (n == (ssize_t)piece) {
		char *room = buf_room(to, piece);
		n = room ? io_read_full(fd, room, piece) : 0;
		if (n > 0)
			buf_filled(to, (size_t)n);
	}
	if (n < 0 || to->failed) {
		cli_say(c, "cannot read %s: %s", standard ? "stdin" : name,
			to->failed ? "it is too large" : strerror(errno));
		return -1;
	}
	return 0;
}

void cli_add_prefix(const char *directory, struct buf *to)
{
	struct str path = str_of(directory);

	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	if (path.n == 0 || str_eq(path, STR(".")))
		return;
	buf_add(to, path);
	buf_addc(to, '/');
}

static int unknown_verb(const struct verb *const *verbs, const char *name)
{
	struct near near = near_to(str_of(name));

	if (*name == '-') {
		(void)fprintf(stderr,
			      "sidecar: the command comes first, its options behind it: sidecar "
			      "COMMAND %s\nRun \"sidecar --help\" for the list.\n",
			      name);
		return EXIT_USAGE;
	}
	near_try(&near, "help");
	for (size_t i = 0; verbs[i]; i++)
		near_try(&near, verbs[i]->name);
	(void)fprintf(stderr, "sidecar: unknown command \"%s\"", name);
	if (near.best)
		(void)fprintf(stderr, "; did you mean \"%s\"?", near.best);
	(void)fprintf(stderr, "\nRun \"sidecar --help\" for the list.\n");
	return EXIT_USAGE;
}

static void cli_done(struct cli *c)
{
	sidecar_close(c->server);
	arena_done(&c->memory);
}

static int run_verb(struct cli *c, const struct verb *v, int argc, char **argv)
{
	struct err e;
	void *args = arena_array(&c->memory, 1, v->args_size + 1);

	if (!args)
		return EXIT_FAILED;
	if (verb_parse(v, argc, argv, c, args, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	if (c->help) {
		help_verb(v);
		return EXIT_OK;
	}
	const int64_t began = io_now_ms();
	int status = EXIT_OK;
	if (v->flags & VERB_CONNECTS)
		c->server = cli_connect(c, &status);
	if (status == EXIT_OK)
		status = v->run(c, args);
	if (c->verbose)
		cli_say(c, "%s took %lld ms, exit status %d", v->name,
			(long long)(io_now_ms() - began), status);
	return status;
}

int cli_main(const struct verb *const *verbs, int argc, char **argv)
{
	CLEANUP(cli_done) struct cli c = { .verbs = verbs, .memory = { .max = 16 << 20 } };
	const char *name = argc > 1 ? argv[1] : "";

	if (argc < 2) {
		help_all(verbs, STDERR_FILENO);
		return EXIT_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0)
		name = "version";
	const struct verb *v = verb_by_name(verbs, name);
	if (!v)
		return unknown_verb(verbs, name);
	return run_verb(&c, v, argc - 2, argv + 2);
}
