/* SPDX-License-Identifier: MIT */
/* cli: connect, print, report, and read input. */

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
#include "base/limits.h"
#include "base/own.h"
#include "config/config.h"

void cli_print(struct str text)
{
	if (io_write_all(STDOUT_FILENO, text, IO_FOREVER) == 0)
		return;
	/* End as SIGPIPE would have ended the program; the parent may have it ignored. */
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
		cli_say(c, "is a server running? \"sidecar serve\" starts one; --socket and --url "
			   "say where it is; \"sidecar doctor\" checks the socket");
	return cli_status(error->code);
}

/* Is it a terminal that understands escape sequences? */
static bool is_terminal(int fd)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool cli_colour(const struct cli *c, int fd)
{
	const char *no_color = getenv("NO_COLOR");

	return !c->no_color && !(no_color && *no_color) && is_terminal(fd);
}

static bool shows_progress(const struct cli *c)
{
	return !c->quiet && is_terminal(STDERR_FILENO);
}

void cli_progress_begin(struct cli *c, const char *what, const char *unit)
{
	if (shows_progress(c))
		c->progress = progress_new(what, unit);
}

void cli_progress_end(struct cli *c)
{
	progress_free(TAKE(c->progress, NULL));
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
	/* A short read is the end of the input; a terminal reports that only once. */
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

/* Set the address from http://HOST:PORT, tcp:HOST:PORT or unix:PATH. */
static int set_url(struct config *config, const char *url, struct err *e)
{
	char text[512];
	struct str rest = str_of(url);

	config->socket = NULL;
	config->tcp_host = NULL;
	if (str_starts(rest, STR("unix:"))) {
		rest = str_from(rest, 5);
		config->socket = str_starts(rest, STR("//")) ? rest.p + 2 : rest.p;
		return 0;
	}
	if (str_starts(rest, STR("http://")))
		rest = str_from(rest, 7);
	else if (str_starts(rest, STR("tcp:")))
		rest = str_from(rest, 4);
	else
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "--url must be http://HOST:PORT or unix:PATH, not \"%s\"", url);
	(void)str_cut(rest, '/', &rest, &(struct str){ NULL, 0 });
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(rest));
	return setting_set_tcp(config, "--url", text, CONFIG_FLAG, e);
}

/* Find out where the server is and which token it wants. */
static int locate(const struct cli *c, struct config *config, struct err *e)
{
	if (config_load_client(config, e) < 0)
		return -1;
	if (c->socket && c->url)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "--socket and --url cannot be used together");
	if (c->socket) {
		config->socket = c->socket;
		config->tcp_host = NULL;
	}
	if (c->url && set_url(config, c->url, e) < 0)
		return -1;
	config->token_file = c->token_file;
	return c->token_file ? config_read_token(config, e) : 0;
}

static void show_progress(void *arg, int64_t files)
{
	const struct cli *c = arg;

	progress_count(c->progress, files);
}

struct sidecar *cli_connect(struct cli *c, int *status)
{
	AUTO_CONFIG config = { 0 };
	struct sidecar_error error;
	struct err e;
	char path[SIDECAR_PATH_MAX];

	if (locate(c, &config, &e) < 0) {
		*status = cli_misused(c, "%s", e.msg);
		return NULL;
	}
	/* The library takes only absolute paths; a person may type a relative one. */
	if (config.socket && *config.socket != '/') {
		char *here = getcwd(path, sizeof path);
		const size_t n = here ? strlen(path) : 0;
		(void)snprintf(path + n, sizeof path - n, "/%s", config.socket);
		config.socket = path;
	}
	const struct sidecar_settings settings = {
		.socket_path = config.socket,
		.host = config.socket ? NULL : config.tcp_host,
		.port = config.socket ? 0 : (int)config.tcp_port,
		.token = config.token,
		.session = "cli",
		/* Long enough for a busy server, short enough when there is none. */
		.wait_for_ready_ms = c->wait > 0 ? (int64_t)(c->wait * 1000) : LIMIT_CLI_READY_MS,
		.timeout_ms = c->verb->flags & VERB_OWN_TIMEOUT ? 0 : (int64_t)(c->timeout * 1000),
		.progress = shows_progress(c) ? show_progress : NULL,
		.progress_arg = c,
	};
	struct sidecar *s = sidecar_open(&settings, &error);
	if (!s)
		*status = cli_fail(c, &error);
	else if (c->verbose)
		cli_say(c, "%s", sidecar_address(s));
	return s;
}
