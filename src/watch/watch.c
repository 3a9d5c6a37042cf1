/* SPDX-License-Identifier: MIT */
/* watch: `sidecar watch`: the stream, the view, and the keys that end it. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/lines.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/utc.h"
#include "watch/limits.h"
#include "watch/running.h"
#include "watch/view.h"

/* news: the events of a sidecar as they come, over one connection after another.
 *
 * Where it stands is remembered from one connection to the next. What was missed in between comes
 * then; what is lost comes as a gap.
 */

struct news {
	const struct subject *target;
	struct cancel *cancel;
	bool from_start; /* with what the sidecar remembers; else from now on */
	/* An event: its object, and the same as text. Both are valid during the call. */
	void (*event)(void *arg, const struct json *event, struct str text);
	void (*pause)(void *arg); /* those that had come have been told */
	void *arg;

	/* Its own: */
	char last[64]; /* the id of the last event; "": there was none */
	struct lines lines;
	struct arena arena;
};

static void take_line(struct news *s, struct str line)
{
	const struct str id = STR("id: "), data = STR("data: ");
	const struct json *event;
	struct err e;

	if (str_starts(line, id) && line.n - id.n < sizeof s->last) {
		memcpy(s->last, line.p + id.n, line.n - id.n);
		s->last[line.n - id.n] = '\0';
	}
	if (!str_starts(line, data))
		return;
	const struct str text = str_from(line, data.n);
	if (json_parse(text, &s->arena, &event, &e) == 0)
		s->event(s->arg, event, text);
	arena_reset(&s->arena);
}

static int take_piece(void *arg, struct str piece, struct err *e)
{
	struct news *s = arg;
	struct str line;
	enum lines_got got;

	while (piece.n) {
		size_t room;
		char *to = lines_room(&s->lines, &room);
		if (!to)
			return err_set(e, ERR_TOO_BUSY, "Not enough memory");
		const size_t n = piece.n < room ? piece.n : room;
		memcpy(to, piece.p, n);
		lines_filled(&s->lines, n);
		piece = str_from(piece, n);
		while ((got = lines_next(&s->lines, &line)) != LINES_MORE)
			if (got == LINES_LINE)
				take_line(s, line);
	}
	s->pause(s->arg);
	return 0;
}

/* Read one connection to its end. Always -1 and *e: CANCELLED, UNAUTHORIZED, CONNECTION_LOST … */
static int news_read(struct news *s, struct err *e)
{
	const struct request q = { .method = "GET",
				   .target = s->from_start ? "/events?since=0" : "/events",
				   .cancel = s->cancel,
				   .piece = take_piece,
				   .arg = s };
	CLEANUP(answer_done)
	struct answer answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } };
	char extra[160] = "Accept: text/event-stream\r\n";

	lines_done(&s->lines);
	s->lines = (struct lines){ .max = LIMIT_STREAM_EVENT };
	s->arena.max = 16 * (size_t)LIMIT_STREAM_EVENT;
	if (*s->last)
		(void)snprintf(extra, sizeof extra,
			       "Accept: text/event-stream\r\nLast-Event-ID: %s\r\n", s->last);
	if (subject_request(s->target, &q, extra, LIMIT_STREAM_SILENCE_MS, &answer, e) < 0)
		return -1;
	if (answer.status == 404 || answer.status == 405)
		return err_set(e, ERR_BAD_ANSWER,
			       "This sidecar cannot be watched: it is older, or runs with --events "
			       "off");
	if (answer.status != 200)
		return err_set(e, ERR_BAD_ANSWER, "The sidecar answered with status %d",
			       answer.status);
	return err_set(e, ERR_CONNECTION_LOST, "The sidecar has ended the stream");
}

static void news_done(struct news *s)
{
	lines_done(&s->lines);
	arena_done(&s->arena);
}

struct watch_args {
	int64_t pid;
	const char *since, *tool;
	bool refused;
};

static const struct option watch_options[] = {
	{ "pid", 'p', OPTION_NUMBER, offsetof(struct watch_args, pid), "PID",
	  "the sidecar of this process (\"sidecar ps\" lists them)" },
	{ "since", 0, OPTION_TEXT, offsetof(struct watch_args, since), "TIME",
	  "begin with what happened in the last 10m (s, m, h, d), as far as it is kept" },
	{ "tool", 0, OPTION_TEXT, offsetof(struct watch_args, tool), "NAME",
	  "show only calls of this tool" },
	{ "refused", 0, OPTION_SWITCH, offsetof(struct watch_args, refused), NULL,
	  "show only what was refused" },
	OPTION_END,
};

/* What is done by keys, in a thread of its own: q and signals end the watching, s stops a call, u
 * undoes a change. The last two ask first, and y agrees. */
struct keys {
	struct cancel cancel;
	int signals;
	bool raw; /* the terminal was changed, and is to be put back */
	struct termios before;
	const struct subject *target;
	struct view *view; /* NULL: only q is a key */
	char agreed[64];   /* what y requests; or "" */
	struct arena memory;
};

static void ask(struct keys *k, const char *request, const struct buf *question)
{
	(void)snprintf(k->agreed, sizeof k->agreed, "%s", request);
	view_ask(k->view, buf_str(question));
}

static void ask_to_stop(struct keys *k)
{
	const int64_t call = view_running(k->view);
	AUTO_BUF question = { .max = 4096 };
	char url[64];
	struct err e;

	if (!call) {
		view_ask(k->view, STR("Nothing runs that could be stopped."));
		return;
	}
	(void)snprintf(url, sizeof url, "/calls/%lld", (long long)call);
	const struct json *answer = subject_get(k->target, url, NULL, &k->memory, &e);
	const struct json *events =
		json_items(answer ? json_get(answer, STR("result")) : &json_empty, STR("events"));
	(void)snprintf(url, sizeof url, "/calls/%lld/stop", (long long)call);
	buf_add(&question, STR("Stop with y: "));
	cli_add_visible(&question, events ? json_text(events, STR("subject")) : STR(""));
	ask(k, url, &question);
}

static void ask_to_undo(struct keys *k)
{
	struct err e;
	const struct json *answer =
		subject_get(k->target, "/changes?limit=1000", NULL, &k->memory, &e);
	const struct json *last = NULL;
	AUTO_BUF question = { .max = 4096 };
	char url[64];

	for (const struct json *i = json_items(
		     answer ? json_get(answer, STR("result")) : &json_empty, STR("changes"));
	     i; i = i->next)
		if (!json_int(i, STR("undone_by"), 0) && json_is_true(i, STR("undoable")) &&
		    !str_eq(json_text(i, STR("tool")), STR("undo")))
			last = i;
	if (!last) {
		view_ask(k->view, STR("There is no change that could be undone."));
		return;
	}
	const long long id = json_int(last, STR("id"), 0);
	(void)snprintf(url, sizeof url, "/changes/%lld/undo", id);
	buf_addf(&question, "Undo change %lld with y: ", id);
	cli_add_visible(&question, json_text(last, STR("tool")));
	buf_addc(&question, ' ');
	cli_add_visible(&question, json_text(last, STR("subject")));
	ask(k, url, &question);
}

/* Do what was agreed to. */
static void request_agreed(struct keys *k)
{
	const struct request q = { .method = "POST", .target = k->agreed, .body = STR("{}") };
	CLEANUP(answer_done)
	struct answer answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } };
	const struct json *object = &json_empty;
	AUTO_BUF sentence = { .max = 4096 };
	struct err e;

	if (subject_request(k->target, &q, NULL, LIMIT_STREAM_SILENCE_MS, &answer, &e) < 0)
		buf_add(&sentence, str_of(e.msg));
	else if (answer.status == 200)
		buf_add(&sentence, STR("Done."));
	else if (json_parse(buf_str(&answer.body), &k->memory, &object, &e) == 0)
		cli_add_visible(&sentence, json_text(object, STR("error")));
	view_ask(k->view, buf_str(&sentence));
	k->agreed[0] = '\0';
}

/* False: it is over. */
static bool press(struct keys *k, char key)
{
	if (key == 'q' || key == 'Q' || key == 4)
		return false;
	if (!k->view)
		return true;
	if (key == 's')
		ask_to_stop(k);
	else if (key == 'u')
		ask_to_undo(k);
	else if (key == 'y' && *k->agreed)
		request_agreed(k);
	else
		ask(k, "", &(struct buf){ 0 });
	arena_reset(&k->memory);
	return true;
}

static void make_raw(struct keys *k)
{
	struct termios t;

	/* One that runs in the background must leave the terminal alone. */
	if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
	    tcgetattr(STDIN_FILENO, &t) < 0)
		return;
	k->before = t;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	k->raw = tcsetattr(STDIN_FILENO, TCSANOW, &t) == 0;
}

static void restore(const struct keys *k)
{
	if (k->raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &k->before);
}

/* Whether the keys that were pressed say that it is over. */
static bool is_over(struct keys *k)
{
	char keys[64];
	const ssize_t n = read(STDIN_FILENO, keys, sizeof keys);

	for (ssize_t i = 0; i < n; i++)
		if (!press(k, keys[i]))
			return true;
	return false;
}

static void *wait_for_keys(void *arg)
{
	struct keys *k = arg;
	struct pollfd p[] = { { .fd = k->signals, .events = POLLIN },
			      { .fd = k->raw ? STDIN_FILENO : -1, .events = POLLIN } };
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(p, ARRAY_LEN(p), -1) < 0)
			continue;
		if (p[1].revents & (POLLHUP | POLLERR) || (p[1].revents && is_over(k)))
			break;
		if (!p[0].revents || read(k->signals, &info, sizeof info) != sizeof info)
			continue;
		if (info.ssi_signo != SIGCONT)
			break;
		/* It was stopped, and the shell has used the terminal meanwhile. */
		if (k->raw)
			make_raw(&(struct keys){ .raw = false });
	}
	cancel_ask(&k->cancel);
	return NULL;
}

static int open_keys(struct keys *k)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigaddset(&set, SIGCONT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	k->signals = signalfd(-1, &set, SFD_CLOEXEC);
	make_raw(k);
	return k->signals < 0 ? -1 : 0;
}

/* "10m" as the time that long ago, in ISO form; false if it is not of that form. */
static bool parse_since(const char *text, char out[UTC_TEXT])
{
	const int64_t seconds = cli_seconds(str_of(text));

	if (seconds < 0)
		return false;
	(void)utc_iso(time(NULL) - seconds, 0, out);
	return true;
}

/* One connection after another, until a key ends it. Returns the exit status. */
static int follow(const struct cli *c, struct news *s, struct view *v)
{
	char sentence[200];
	bool connected = false;
	struct err e;

	for (;;) {
		(void)news_read(s, &e);
		connected = connected || *s->last || e.code == ERR_CONNECTION_LOST;
		if (e.code == ERR_CANCELLED)
			return EXIT_OK;
		const bool gone = s->target->pid && e.code == ERR_NOT_READY;
		if (!connected || gone || e.code == ERR_UNAUTHORIZED || e.code == ERR_BAD_ANSWER) {
			view_end(v);
			if (gone && connected)
				cli_say(c, "the sidecar has ended");
			else
				cli_say(c, "%s", e.msg);
			return gone && connected ? EXIT_OK : cli_status(err_name(e.code));
		}
		(void)snprintf(sentence, sizeof sentence, "%.120s; trying again", e.msg);
		view_note(v, sentence);
		if (io_wait_or(-1, 0, s->cancel, io_now_ms() + LIMIT_STREAM_PAUSE_MS) ==
		    IO_CANCELLED)
			return EXIT_OK;
	}
}

static void say_hello(const struct cli *c, const struct json *health)
{
	AUTO_BUF out = { .max = 64 << 10 };

	buf_add(&out, STR("watching "));
	cli_add_visible(&out, json_text(health, STR("workspace")));
	buf_addf(&out, " (pid %lld); s stops, u undoes, q ends it",
		 (long long)json_int(health, STR("pid"), 0));
	cli_say(c, "%.*s", STR_FMT(buf_str(&out)));
}

static int watch(struct cli *c, const struct watch_args *a, const struct subject *target,
		 const struct json *health)
{
	struct keys *keys = arena_array(&c->memory, 1, sizeof *keys);
	char since[UTC_TEXT] = "";
	const bool terminal = cli_is_terminal(STDOUT_FILENO);

	if (!keys)
		return EXIT_FAILED;
	*keys = (struct keys){ .cancel = CANCEL_INIT,
			       .target = target,
			       .memory = { .max = LIMIT_CLIENT_MEMORY } };
	if (open_keys(keys) < 0)
		return EXIT_FAILED;
	const struct view_options o = {
		.target = target,
		.cancel = &keys->cancel,
		.terminal = terminal,
		.coloured = terminal && cli_colour(c, STDOUT_FILENO),
		.json = c->json,
		.tool = str_of(a->tool),
		.refused = a->refused,
		.since = a->since && parse_since(a->since, since) ? str_of(since) : STR(""),
		.history = json_int(health, STR("event"), 0),
		.is_new = c->json && !a->since,
	};
	struct view *v = view_new(&o);
	struct news s = { .target = target,
			  .cancel = &keys->cancel,
			  .from_start = !o.is_new,
			  .event = view_event,
			  .pause = view_pause,
			  .arg = v };
	if (terminal && !c->json) {
		say_hello(c, health);
		keys->view = v;
	}
	const bool started = thread_start(wait_for_keys, keys, LIMIT_WATCH_STACK, NULL);
	const int status = v && started ? follow(c, &s, v) : EXIT_FAILED;
	if (v)
		view_end(v);
	restore(keys);
	news_done(&s);
	/* The thread of keys still waits for one, and may use the view. */
	_exit(status);
}

static int watch_run(struct cli *c, const void *args)
{
	const struct watch_args *a = args;
	char since[UTC_TEXT];
	struct subject target;
	struct err e;

	if (a->since && !parse_since(a->since, since))
		return cli_misused(c, "--since must be a time such as 90s, 10m, 2h or 1d");
	const int status = running_choose(c, a->pid, false, &target);
	if (status != EXIT_OK)
		return status;
	const struct json *health = subject_get(&target, "/health", NULL, &c->memory, &e);
	if (!health) {
		cli_say(c, "%s", e.msg);
		return cli_status(err_name(e.code));
	}
	return watch(c, a, &target, health);
}

const struct verb verb_watch = {
	.name = "watch",
	.about = "show what a running sidecar does, as it happens",
	.operands = "",
	.examples = "  sidecar watch\n"
		    "  sidecar watch --since 10m --tool run_command\n"
		    "  sidecar watch --refused --json\n",
	.options = watch_options,
	.args_size = sizeof(struct watch_args),
	.flags = VERB_FINDS | VERB_PRINTS,
	.run = watch_run,
};
