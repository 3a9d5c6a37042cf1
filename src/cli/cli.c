/* SPDX-License-Identifier: MIT */
/* cli: connect, find paths, ask, print, report, and read input. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "cli/where.h"
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

void cli_print_diff(const struct cli *c, struct str diff)
{
	AUTO_BUF out = { .max = SIZE_MAX };
	const bool colour = cli_colour(c, STDOUT_FILENO);
	struct str line;

	while (diff.n) {
		(void)str_cut(diff, '\n', &line, &diff);
		AUTO_BUF shown = { .max = SIZE_MAX };
		cli_add_text(&shown, line);
		columns_paint(&out, colour,
			      line.n == 0 ? LOG_PLAIN
			      : str_starts(line, STR("--- ")) || str_starts(line, STR("+++ "))
				      ? LOG_BOLD
			      : line.p[0] == '+' ? LOG_GREEN
			      : line.p[0] == '-' ? LOG_RED
			      : line.p[0] == '@' ? LOG_CYAN
						 : LOG_PLAIN,
			      buf_str(&shown));
		buf_addc(&out, '\n');
	}
	cli_print(buf_str(&out));
}

void cli_print_result(const struct json *result)
{
	const struct str rest = str_trim(str_of(result->name.p + result->name.n + STR("\":").n));

	cli_print(str_upto(rest, rest.n - STR("}").n));
	cli_print(STR("\n"));
}

void cli_print_line(const struct buf *b)
{
	cli_print(buf_str(b));
	if (b->n == 0 || b->p[b->n - 1] != '\n')
		cli_print(STR("\n"));
}

/* With `lines` what makes lines and columns stays: newlines, also after a return, and tabs. */
static void add_visible(struct buf *to, struct str text, bool lines)
{
	for (size_t i = 0, n, bad; i < text.n; i += n) {
		n = utf8_next(str_from(text, i), &bad);
		const uint32_t c = n ? utf8_decode(text.p + i, n) : (unsigned char)text.p[i];
		n += n == 0;
		const bool ends_line = c == '\r' && i + 1 < text.n && text.p[i + 1] == '\n';
		const bool stays = lines && (c == '\n' || c == '\t' || ends_line);
		if (stays || !columns_is_control(c))
			buf_add(to, (struct str){ text.p + i, n });
		else if (c == '\n')
			buf_add(to, STR("\\n"));
		else if (c == '\t')
			buf_add(to, STR("\\t"));
		else
			buf_addf(to, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
	}
}

void cli_add_visible(struct buf *to, struct str text)
{
	add_visible(to, text, false);
}

void cli_add_text(struct buf *to, struct str text)
{
	if (isatty(STDOUT_FILENO))
		add_visible(to, text, true);
	else
		buf_add(to, text);
}

void cli_add_name(struct buf *to, struct str name)
{
	if (isatty(STDOUT_FILENO))
		cli_add_visible(to, name);
	else
		buf_add(to, name);
}

/* Print "sidecar: …" on stderr; the lines of the text without control characters. */
static void print_message(const char *text)
{
	AUTO_BUF out = { .max = 64 << 10 };
	struct str line, rest = str_of(text);
	bool more;

	buf_add(&out, STR("sidecar: "));
	do {
		more = str_cut(rest, '\n', &line, &rest);
		cli_add_visible(&out, line);
		buf_addc(&out, '\n');
	} while (more);
	(void)io_write_all(STDERR_FILENO, buf_str(&out), IO_FOREVER);
}

void cli_say(const struct cli *c, const char *fmt, ...)
{
	char text[4096];
	va_list list;

	if (c->quiet)
		return;
	va_start(list, fmt);
	(void)vsnprintf(text, sizeof text, fmt, list);
	va_end(list);
	print_message(text);
}

void cli_say_not_kept(const struct cli *c, int64_t change, int64_t count)
{
	if (count > 0)
		cli_say(c,
			"what %" PRId64 " path%s of change %" PRId64
			" had before is NOT kept and cannot be undone",
			count, count == 1 ? "" : "s", change);
}

int cli_misused(const struct cli *c, const char *fmt, ...)
{
	char text[1024];
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(text, sizeof text, fmt, list);
	va_end(list);
	const struct verb *v = c->verb;
	print_message(text);
	/* The order of the arguments helps only against a wrong number of them. */
	if (v && (str_starts(str_of(text), STR("missing argument")) ||
		  str_starts(str_of(text), STR("unexpected argument"))))
		(void)fprintf(stderr, "Usage: sidecar %s [OPTION]...%s%s\n", v->name,
			      *v->operands ? " " : "", v->operands);
	(void)fprintf(stderr, "Try \"sidecar%s%s --help\".\n", v ? " " : "", v ? v->name : "");
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
		{ "PROTECTED_PATH", EXIT_REFUSED },
		{ "PATH_HIDDEN", EXIT_REFUSED },
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

/* The server's sentence, in the words of the command line, and what to do. */
static void say_error(const struct cli *c, const struct sidecar_error *error)
{
	static const char field[] = "pass literal:true";
	const char *message = error->message;
	const char *at = strstr(message, field);

	if (at)
		cli_say(c, "%.*suse -F%s", (int)(at - message), message, at + strlen(field));
	else if (str_starts(str_of(message), STR("No sidecar is listening")))
		cli_say(c, "%s; start one with \"sidecar serve\"", message);
	else
		cli_say(c, "%s", message);
	if (strcmp(error->code, "UNAUTHORIZED") == 0)
		cli_say(c, "a token is given with --token-file, or in SIDECAR_AUTH_TOKEN; "
			   "one that the server has made is in the file that its log names");
	if (strcmp(error->code, "BINARY_FILE") == 0)
		cli_say(c, "to get its bytes: sidecar run -- base64 FILE | base64 -d > FILE");
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
	say_error(c, error);
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

static bool shows_progress(const struct cli *c)
{
	return !c->quiet && cli_is_terminal(STDERR_FILENO);
}

void cli_progress_begin(struct cli *c, const char *what, const char *unit)
{
	if (shows_progress(c))
		c->progress = progress_new(what, unit);
}

bool cli_progress_end(struct cli *c)
{
	return progress_free(TAKE(c->progress, NULL));
}

bool cli_agrees(const struct cli *c, const char *question, const char *otherwise)
{
	char answer[8] = "";

	if (!isatty(STDIN_FILENO)) {
		cli_say(c, "%s", otherwise);
		return false;
	}
	(void)fprintf(stderr, "%s [y/N] ", question);
	return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
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

int cli_locate(const struct cli *c, struct config *config, struct err *e)
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

/* Never 0 for a time that was given: that would be no limit. */
static int64_t to_ms(double seconds)
{
	return seconds > 0 ? (int64_t)ceil(seconds * 1000) : 0;
}

static void show_progress(void *arg, int64_t files)
{
	const struct cli *c = arg;

	progress_count(c->progress, files);
}

/* Set c->here: where in the workspace the current directory is. */
static int find_here(struct cli *c, struct sidecar *s, struct sidecar_error *error)
{
	AUTO_ARENA a = { .max = LIMIT_ANSWER };
	const struct json *facts;
	char here[SIDECAR_PATH_MAX];
	struct err e;
	struct sidecar_health *h = sidecar_health(s, error);

	if (!h)
		return -1;
	if (json_parse((struct str){ h->json, h->length }, &a, &facts, &e) == 0 &&
	    getcwd(here, sizeof here)) {
		const struct str root = json_text(facts, STR("workspace"));
		struct str rest = str_of(here);
		if (root.n && str_starts(rest, root))
			rest = str_from(rest, root.n);
		/* The workspace may be "/"; and "/work" is not in "/wo". */
		if (rest.n && rest.n < strlen(here) && (*rest.p == '/' || root.n == 1))
			c->here = arena_dup(&c->memory, str_from(rest, *rest.p == '/')).p;
	}
	sidecar_free(h);
	return 0;
}

const char *cli_path(struct cli *c, const char *path)
{
	if (!c->here || (path && *path == '/'))
		return path;
	if (!path)
		return c->here;
	const size_t size = strlen(c->here) + strlen(path) + 2;
	char *joined = arena_alloc(&c->memory, size);
	if (!joined)
		return path;
	(void)snprintf(joined, size, "%s/%s", c->here, path);
	return joined;
}

const struct json *cli_ask(const struct cli *c, const char *method, const char *target,
			   struct buf *body, struct arena *memory, struct sidecar_error *error)
{
	const struct json *answer = NULL, *result = NULL;
	struct err e;
	int http = 0;

	*error = (struct sidecar_error){ "BAD_ANSWER", "what answered is not a sidecar" };
	if (body)
		buf_addc(body, '\0');
	struct sidecar_text *text =
		sidecar_request(c->server, method, target, body ? body->p : NULL, &http, error);
	if (!text)
		return NULL;
	const struct str copy = arena_dup(memory, (struct str){ text->content, text->length });
	sidecar_free(text);
	if (copy.p && json_parse(copy, memory, &answer, &e) == 0)
		result = json_get(answer, STR("result"));
	if (result)
		return result;
	const struct str code = json_text(answer, STR("code"));
	const struct str message = json_text(answer, STR("error"));
	if (code.p)
		(void)snprintf(error->code, sizeof error->code, "%.*s", STR_FMT(code));
	if (http == 404 && !code.n)
		(void)snprintf(error->message, sizeof error->message,
			       "this server is older than this program: it does not know %s",
			       target);
	else if (message.p)
		(void)snprintf(error->message, sizeof error->message, "%.*s", STR_FMT(message));
	return NULL;
}

const struct json *cli_request(const struct cli *c, const char *method, const char *target,
			       struct buf *body, struct arena *memory, int *status)
{
	struct sidecar_error error;
	const struct json *result = cli_ask(c, method, target, body, memory, &error);

	if (!result)
		*status = cli_fail(c, &error);
	return result;
}

static int fail_nowhere(const struct cli *c, const struct err *e)
{
	struct sidecar_error error;

	(void)snprintf(error.code, sizeof error.code, "%s", err_name(e->code));
	(void)snprintf(error.message, sizeof error.message, "%s", e->msg);
	return cli_fail(c, &error);
}

struct sidecar *cli_connect(struct cli *c, int *status)
{
	AUTO_CONFIG config = { 0 };
	struct sidecar_error error;
	struct err e;
	char path[SIDECAR_PATH_MAX], workspace[SIDECAR_PATH_MAX];
	const struct where_asked asked = { .is_named = c->socket || c->url,
					   .directory = c->workspace,
					   .history = c->verb->flags & VERB_HISTORY };
	enum where where;

	if (cli_locate(c, &config, &e) < 0) {
		*status = cli_misused(c, "%s", e.msg);
		return NULL;
	}
	if (where_find(&asked, &config, &c->memory, workspace, &where, &e) < 0) {
		*status = fail_nowhere(c, &e);
		return NULL;
	}
	/* The library takes only absolute paths; a person may type a relative one. */
	if (config.socket && *config.socket != '/') {
		char *here = getcwd(path, sizeof path);
		const size_t n = here ? strlen(path) : 0;
		(void)snprintf(path + n, sizeof path - n, "/%s", config.socket);
		config.socket = path;
	}
	const struct sidecar_options history = { .workspace_root = workspace,
						 .history_only = true };
	const bool is_remote = where != WHERE_HISTORY;
	const struct sidecar_settings settings = {
		.local = is_remote ? NULL : &history,
		.socket_path = is_remote ? config.socket : NULL,
		.host = is_remote && !config.socket ? config.tcp_host : NULL,
		.port = is_remote && !config.socket ? (int)config.tcp_port : 0,
		.token = config.token,
		.session = "cli",
		/* A server that is there but does not answer is not waited for longer. */
		.wait_for_ready_ms = to_ms(c->wait > 0	    ? c->wait
					   : c->timeout > 1 ? c->timeout
							    : 0),
		.no_wait = c->wait <= 0,
		.hints = true,
		.timeout_ms = c->verb->flags & VERB_OWN_TIMEOUT ? 0 : to_ms(c->timeout),
		.progress = shows_progress(c) ? show_progress : NULL,
		.progress_arg = c,
	};
	struct sidecar *s = sidecar_open(&settings, &error);
	if (!s || (where == WHERE_USUAL && where_check(&asked, s, &error) < 0) ||
	    ((c->verb->flags & VERB_PATHS) && find_here(c, s, &error) < 0)) {
		*status = cli_fail(c, &error);
		sidecar_close(s);
		return NULL;
	}
	if (c->verbose)
		cli_say(c, "%s", sidecar_address(s));
	return s;
}

bool cli_real_path(const char *path, char out[SIDECAR_PATH_MAX])
{
	return realpath(path, out);
}

int64_t cli_seconds(struct str text)
{
	static const char units[] = "smhd";
	static const int64_t lengths[] = { 1, 60, 3600, 86400 };
	const char *unit = text.n ? strchr(units, text.p[text.n - 1]) : NULL;
	int64_t n;

	if (!unit || !str_int(str_upto(text, text.n - 1), &n) || n < 0 || n > 1000000)
		return -1;
	return n * lengths[unit - units];
}
