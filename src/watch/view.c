/* SPDX-License-Identifier: MIT */
/* view: calls are followed from their start to their end, then printed. */

#include "watch/view.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/columns.h"
#include "base/human.h"
#include "base/lines.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utc.h"
#include "cli/cli.h"
#include "watch/followed.h"
#include "watch/limits.h"

enum { INDENT = 4 };

struct view {
	struct view_options o;
	struct followed *first, **end; /* in the order of their starts */
	size_t count;
	bool past; /* events are still from before the start */
	struct buf out;
	size_t drawn; /* lines at the bottom that are drawn again */
	char note[256];
	char session[64];	 /* of the call that was printed last */
	_Atomic int64_t running; /* the newest call that runs; or 0 */
	pthread_mutex_t lock;	 /* of all of it: the thread of keys has the line asked for drawn */
	char asked[256];
};

struct view *view_new(const struct view_options *o)
{
	struct view *v = mem_new(1, sizeof *v);

	if (!v)
		return NULL;
	v->o = *o;
	v->end = &v->first;
	v->past = o->history > 0 && !o->is_new;
	v->out.max = LIMIT_ANSWER;
	(void)pthread_mutex_init(&v->lock, NULL);
	return v;
}

static void begin(struct view *v, const struct json *event, int64_t job)
{
	struct followed *c = v->count < LIMIT_VIEW_CALLS ? followed_new(event, job) : NULL;

	if (!c)
		return;
	*v->end = c;
	v->end = &c->next;
	v->count++;
}

static void drop(struct view *v, struct followed **at)
{
	struct followed *c = *at;

	*at = c->next;
	if (!*at)
		v->end = at;
	v->count--;
	followed_free(c);
}

void view_free(struct view *v)
{
	if (!v)
		return;
	while (v->first)
		drop(v, &v->first);
	buf_done(&v->out);
	(void)pthread_mutex_destroy(&v->lock);
	mem_free(v);
}

static struct followed *find(struct view *v, int64_t id, int64_t job)
{
	struct followed *c = v->first;

	while (c && (c->id != id || c->job != job))
		c = c->next;
	return c;
}

static size_t width_of_view(const struct view *v)
{
	return v->o.terminal ? columns_of(STDOUT_FILENO) : 120;
}

/* Add a line of a text that others have chosen. */
static void add_text(struct view *v, struct str text, enum log_colour colour)
{
	char plain[1024], cell[4096];
	struct buf clean = buf_over(plain, sizeof plain), shown = buf_over(cell, sizeof cell);
	const size_t columns = width_of_view(v);

	columns_plain(text, &clean);
	(void)columns_fit(&shown, buf_str(&clean), columns > INDENT + 1 ? columns - INDENT - 1 : 1);
	buf_addf(&v->out, "%*s", INDENT, "");
	columns_paint(&v->out, v->o.coloured, colour, buf_str(&shown));
	buf_addc(&v->out, '\n');
}

/* Say from which session on the calls below are. */
static void add_session(struct view *v, struct str session)
{
	char text[sizeof v->session + 16];

	session = str_upto(session, sizeof v->session - 1);
	if (!session.n || str_eq(session, str_of(v->session)))
		return;
	(void)snprintf(v->session, sizeof v->session, "%.*s", STR_FMT(session));
	(void)snprintf(text, sizeof text, "session %s", v->session);
	add_text(v, str_of(text), LOG_DIM);
}

static void add_head(struct view *v, const struct followed *c)
{
	const struct log_line line = {
		.name = c->tool,
		.subject = c->subject,
		.outcome = c->outcome.n ? c->outcome
			   : c->job	? STR("started")
					: STR("running"),
		.duration = c->duration,
		.colour = c->outcome.n ? c->colour : LOG_CYAN,
	};

	add_session(v, c->session);
	columns_line(&v->out, v->o.coloured, width_of_view(v), c->clock, &line);
}

/* Add that there are more lines, if there are. */
static void add_more(struct view *v, int64_t lines)
{
	char text[64];

	(void)snprintf(text, sizeof text, "… %" PRId64 " more line%s", lines,
		       lines == 1 ? "" : "s");
	if (lines)
		add_text(v, str_of(text), LOG_DIM);
}

static void add_lines(struct view *v, struct str text, enum log_colour colour)
{
	struct str line;

	while (text.n) {
		(void)str_cut(text, '\n', &line, &text);
		add_text(v, line, colour);
	}
}

/* The end of the output. */
static void add_output(struct view *v, const struct followed *c, int64_t most)
{
	int64_t before;
	const struct str last = lines_last(buf_str(&c->output), most, &before);

	add_more(v, before + c->dropped);
	add_lines(v, last, LOG_DIM);
}

static void add_diff(struct view *v, struct str diff)
{
	struct str line;
	int64_t left = 0;

	for (int shown = 0; diff.n;) {
		(void)str_cut(diff, '\n', &line, &diff);
		/* One of the two names says it; of a file that is new or gone the other is not one.
		 */
		if (str_starts(line, STR("+++ /dev/null")) ||
		    (str_starts(line, STR("--- ")) && str_starts(diff, STR("+++ b/"))))
			continue;
		left += shown++ >= LIMIT_SHOWN_DIFF;
		if (left)
			continue;
		const bool is_name = str_starts(line, STR("+++ ")) || str_starts(line, STR("--- "));
		add_text(v, line,
			 is_name || !line.n ? LOG_BOLD
			 : line.p[0] == '+' ? LOG_GREEN
			 : line.p[0] == '-' ? LOG_RED
			 : line.p[0] == '@' ? LOG_CYAN
					    : LOG_PLAIN);
	}
	add_more(v, left);
}

/* What only the sidecar knows: the diff of a change, the sentence of a failure. */
static void add_story(struct view *v, const struct followed *c)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	char url[64];
	struct err e;

	(void)snprintf(url, sizeof url, "/calls/%" PRId64, c->id);
	const struct json *answer = subject_get(v->o.target, url, v->o.cancel, &memory, &e);
	const struct json *result = answer ? json_get(answer, STR("result")) : NULL;
	if (c->changed)
		add_diff(v, json_text(result, STR("diff")));
	if (c->failed)
		add_lines(v, lines_last(json_text(result, STR("result")), 2, &(int64_t){ 0 }),
			  LOG_RED);
}

static void add_ended(struct view *v, const struct followed *c)
{
	add_head(v, c);
	add_lines(v, c->why, LOG_YELLOW);
	if (v->o.terminal)
		add_output(v, c, LIMIT_SHOWN_OUTPUT);
	else
		add_lines(v, buf_str(&c->output), LOG_DIM);
	if (!c->job && v->o.target && (c->changed || c->failed))
		add_story(v, c);
}

/* Whether a call that has ended is to be shown at all. */
static bool is_wanted(const struct view *v, const struct followed *c)
{
	return (!v->o.tool.n || str_eq(v->o.tool, c->tool)) && (!v->o.refused || c->refused);
}

static bool is_recent(const struct view *v, const struct json *event)
{
	return !v->o.since.n || str_cmp(json_text(event, STR("time")), v->o.since) >= 0;
}

/* Print events as they are. */
static void take_json(struct view *v, const struct json *event, struct str text, struct str type)
{
	const int64_t id = json_int(event, STR("call"), 0);
	const bool known = !v->o.tool.n || find(v, id, 0);

	if ((v->o.refused ? str_eq(type, STR("refused")) : true) && known && is_recent(v, event)) {
		buf_add(&v->out, text);
		buf_addc(&v->out, '\n');
	}
}

/* Something refused that is not a call: a request without the token. */
static void take_refusal(struct view *v, const struct json *event)
{
	const struct log_line line = { .name = json_text(event, STR("what")),
				       .subject = json_text(event, STR("subject")),
				       .outcome = STR("refused"),
				       .colour = LOG_YELLOW };
	char clock[HUMAN_SIZE];

	if (v->past || v->o.tool.n)
		return;
	columns_line(&v->out, v->o.coloured, width_of_view(v), followed_clock(event, clock), &line);
	add_text(v, json_text(event, STR("why")), LOG_YELLOW);
}

/* A change that another program has made in the same workspace. */
static void take_change(struct view *v, const struct json *event)
{
	char words[64], clock[HUMAN_SIZE];

	if (v->past || v->o.tool.n || v->o.refused)
		return;
	(void)snprintf(words, sizeof words, "change %" PRId64, json_int(event, STR("change"), 0));
	const struct log_line line = { .name = STR("(another)"),
				       .subject = json_text(json_items(event, STR("files")),
							    STR("path")),
				       .outcome = str_of(words),
				       .colour = followed_deletes(event) ? LOG_RED : LOG_GREEN };
	columns_line(&v->out, v->o.coloured, width_of_view(v), followed_clock(event, clock), &line);
}

static void take_gap(struct view *v, const struct json *event)
{
	const int64_t lost = json_int(event, STR("lost"), -1);
	char text[96];

	if (v->past)
		return;
	if (lost < 0)
		(void)snprintf(text, sizeof text, "… the sidecar was started again");
	else
		(void)snprintf(text, sizeof text, "… %" PRId64 " events are lost", lost);
	add_text(v, str_of(text), LOG_DIM);
	/* The ends of calls may be among them. */
	while (v->first)
		drop(v, &v->first);
}

/* Of the calls that ended before the start, only the last few are shown. */
static void forget_old(struct view *v)
{
	size_t ended = 0;

	for (const struct followed *c = v->first; c; c = c->next)
		ended += c->ended;
	for (struct followed **at = &v->first; *at && ended > LIMIT_SHOWN_BEFORE;)
		if ((*at)->ended) {
			drop(v, at);
			ended--;
		} else {
			at = &(*at)->next;
		}
}

static void take_end(struct view *v, struct followed *c, const struct json *event)
{
	followed_end(c, event);
	if (is_wanted(v, c) && is_recent(v, event))
		return;
	struct followed **at = &v->first;
	while (*at != c)
		at = &(*at)->next;
	drop(v, at);
}

/* Whether somebody looks, by the routes of those who watch; "sidecar ui" makes such calls itself. */
static bool is_look(const struct view *v, const struct json *event)
{
	return !v->o.tool.n &&
	       str_is_listed("changes change change_diff jobs job", json_text(event, STR("tool")));
}

static void take_people(struct view *v, const struct json *event, struct str type)
{
	const int64_t job = json_int(event, STR("job"), 0);
	struct followed *c = find(v, json_int(event, STR("call"), 0), job);

	if (str_eq(type, STR("call.start")) && !is_look(v, event))
		begin(v, event, 0);
	else if (str_eq(type, STR("job.start")))
		begin(v, event, job);
	else if (str_eq(type, STR("gap")))
		take_gap(v, event);
	else if (str_eq(type, STR("refused")) && !c)
		take_refusal(v, event);
	else if (str_eq(type, STR("change")) && !json_get(event, STR("call")))
		take_change(v, event);
	else if (!c)
		return;
	else if (str_eq(type, STR("output")))
		followed_output(c, event, v->o.terminal);
	else if (str_eq(type, STR("change")))
		c->deletes = followed_deletes(event);
	else if (str_eq(type, STR("refused")) || str_eq(type, STR("guard.changed"))) {
		followed_refusal(c, json_text(event, STR("why")));
	} else if (str_ends(type, STR(".end")))
		take_end(v, c, event);
}

static void take(struct view *v, const struct json *event, struct str text)
{
	const struct str type = json_text(event, STR("type"));
	const int64_t id = json_int(event, STR("id"), 0);

	if (!v->o.json) {
		take_people(v, event, type);
		if (v->past && !v->o.since.n)
			forget_old(v);
	} else if (str_eq(type, STR("call.start")) &&
		   str_eq(v->o.tool, json_text(event, STR("tool")))) {
		begin(v, event, 0);
		take_json(v, event, text, type);
	} else {
		struct followed *c = find(v, json_int(event, STR("call"), 0), 0);
		take_json(v, event, text, type);
		if (c && str_eq(type, STR("call.end")))
			take_end(v, c, event);
	}
	v->past = v->past && id < v->o.history;
}

void view_event(void *view, const struct json *event, struct str text)
{
	struct view *v = view;

	(void)pthread_mutex_lock(&v->lock);
	take(v, event, text);
	(void)pthread_mutex_unlock(&v->lock);
}

/* How many lines the bottom may have: less than the terminal, or it could not be drawn again. */
static size_t most_lines(void)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_row < 4)
		return 3;
	return w.ws_row - 2U;
}

/* Draw the calls under way at the bottom. */
static void draw(struct view *v)
{
	const size_t from = v->out.n, most = most_lines();
	int64_t shown = 0, more = 0;
	char text[64], session[sizeof v->session];

	/* What is drawn here is not printed yet. */
	memcpy(session, v->session, sizeof session);
	for (const struct followed *c = v->first; c; c = c->next) {
		if (c->ended || c->job || !is_wanted(v, c))
			continue;
		if (shown >= LIMIT_SHOWN_CALLS ||
		    bytes_count(str_from(buf_str(&v->out), from), '\n') + LIMIT_SHOWN_RUNNING + 4 >
			    most) {
			more++;
			continue;
		}
		add_head(v, c);
		add_output(v, c, LIMIT_SHOWN_RUNNING);
		shown++;
	}
	memcpy(v->session, session, sizeof session);
	(void)snprintf(text, sizeof text, "… %" PRId64 " more running", more);
	if (more)
		add_text(v, str_of(text), LOG_DIM);
	if (*v->note)
		add_text(v, str_of(v->note), LOG_YELLOW);
	if (*v->asked)
		add_text(v, str_of(v->asked), LOG_BOLD);
	v->drawn = bytes_count(str_from(buf_str(&v->out), from), '\n');
}

/* Elsewhere than on a terminal: the whole lines of output that have come. */
static void print_output(struct view *v, struct followed *c)
{
	const char *last = c->output.n ? memrchr(c->output.p, '\n', c->output.n) : NULL;

	if (!last || c->job || !is_wanted(v, c))
		return;
	if (!c->headed)
		add_head(v, c);
	c->headed = true;
	const size_t n = (size_t)(last + 1 - c->output.p);
	add_lines(v, str_upto(buf_str(&c->output), n), LOG_DIM);
	buf_drop(&c->output, n);
}

/* Take away what is at the bottom. */
static void erase(struct view *v)
{
	if (v->drawn)
		buf_addf(&v->out, "\033[%zuA", v->drawn);
	if (v->o.terminal && !v->o.json)
		buf_add(&v->out, STR("\r\033[J"));
	v->drawn = 0;
}

static void print(struct view *v)
{
	if (v->past)
		return;
	AUTO_BUF early = TAKE(v->out, (struct buf){ .max = LIMIT_ANSWER });
	erase(v);
	v->running = 0;
	buf_add(&v->out, buf_str(&early));
	for (struct followed **at = &v->first; *at && !v->o.json;) {
		struct followed *c = *at;
		if (c->job && !c->ended && !c->headed && is_wanted(v, c)) {
			c->headed = true;
			add_head(v, c);
		}
		if (!c->ended)
			v->running = c->id;
		if (!c->ended && !v->o.terminal)
			print_output(v, c);
		if (c->ended)
			add_ended(v, c);
		if (c->ended)
			drop(v, at);
		else
			at = &c->next;
	}
	if (v->o.terminal && !v->o.json)
		draw(v);
	cli_print(buf_str(&v->out));
	buf_reset(&v->out, 64 << 10);
	v->note[0] = '\0';
}

void view_pause(void *view)
{
	struct view *v = view;

	(void)pthread_mutex_lock(&v->lock);
	print(v);
	(void)pthread_mutex_unlock(&v->lock);
}

void view_note(struct view *v, const char *sentence)
{
	(void)snprintf(v->note, sizeof v->note, "%s", sentence);
	view_pause(v);
}

void view_end(struct view *v)
{
	(void)pthread_mutex_lock(&v->lock);
	erase(v);
	cli_print(buf_str(&v->out));
	buf_reset(&v->out, 0);
	(void)pthread_mutex_unlock(&v->lock);
}

int64_t view_running(struct view *v)
{
	return v->running;
}

void view_ask(struct view *v, struct str line)
{
	(void)pthread_mutex_lock(&v->lock);
	(void)snprintf(v->asked, sizeof v->asked, "%.*s", STR_FMT(line));
	print(v);
	(void)pthread_mutex_unlock(&v->lock);
}
