/* SPDX-License-Identifier: MIT */
/* view: calls are followed from their start to their end, then printed. */

#include "watch/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/human.h"
#include "base/limits.h"
#include "base/own.h"
#include "cli/cli.h"
#include "watch/limits.h"

enum { INDENT = 4 };

/* A call that runs, or has ended and is not printed yet. */
struct view_call {
	struct view_call *next;
	int64_t id, job; /* job: its number if it is one */
	struct arena memory;
	struct str tool, subject, clock, why, outcome, duration;
	enum log_colour colour;
	struct buf output; /* the end of it; elsewhere than on a terminal what is not printed yet */
	int64_t dropped;   /* lines before that */
	int64_t reasons;   /* why something was refused: how many `why` has, and more */
	bool refused, changed, failed, ended;
	bool headed; /* it has been announced, because its output came before its end */
};

struct view {
	struct view_options o;
	struct view_call *first, **end; /* in the order of their starts */
	size_t count;
	bool past; /* events are still from before the start */
	struct buf out;
	size_t drawn; /* lines at the bottom that are drawn again */
	char note[256];
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
	return v;
}

static void call_free(struct view_call *c)
{
	arena_done(&c->memory);
	buf_done(&c->output);
	mem_free(c);
}

static void drop(struct view *v, struct view_call **at)
{
	struct view_call *c = *at;

	*at = c->next;
	if (!*at)
		v->end = at;
	v->count--;
	call_free(c);
}

void view_free(struct view *v)
{
	if (!v)
		return;
	while (v->first)
		drop(v, &v->first);
	buf_done(&v->out);
	mem_free(v);
}

static struct view_call *find(struct view *v, int64_t id, int64_t job)
{
	struct view_call *c = v->first;

	while (c && (c->id != id || c->job != job))
		c = c->next;
	return c;
}

static struct str copy(struct view_call *c, struct str text)
{
	const struct str got = arena_dup(&c->memory, text);

	return got.p ? got : STR("");
}

/* "2026-05-04T09:13:02.118Z" → "09:13:02" */
static struct str clock_of(const struct json *event)
{
	return str_upto(str_from(json_text(event, STR("time")), 11), 8);
}

static void begin(struct view *v, const struct json *event, int64_t job)
{
	struct view_call *c;
	char name[32];

	if (v->count >= LIMIT_VIEW_CALLS || !(c = mem_new(1, sizeof *c)))
		return;
	c->id = cli_number(event, STR("call"), 0);
	c->job = job;
	c->memory.max = 64 << 10;
	c->output.max = 4 * (size_t)LIMIT_EVENT_OUTPUT;
	(void)snprintf(name, sizeof name, "job %" PRId64, job);
	c->tool = copy(c, job ? str_of(name) : json_text(event, STR("tool")));
	c->subject = copy(c, json_text(event, STR("subject")));
	c->clock = copy(c, clock_of(event));
	*v->end = c;
	v->end = &c->next;
	v->count++;
}

static void take_output(struct view *v, struct view_call *c, struct str text)
{
	buf_add(&c->output, text);
	/* Only its end is shown. */
	while (v->o.terminal && c->output.n > LIMIT_VIEW_TAIL) {
		const ptrdiff_t at = str_index(buf_str(&c->output), '\n');
		if (at < 0 || (size_t)at + 1 == c->output.n)
			break;
		buf_drop(&c->output, (size_t)at + 1);
		c->dropped++;
	}
	if (c->output.failed)
		buf_reset(&c->output, 0);
}

/* Whether a guard has refused it, by its code. */
static bool is_refusal(struct str code)
{
	static const struct str codes[] = { STR("PATH_OUTSIDE_WORKSPACE"),
					    STR("SYMLINK_OUTSIDE_WORKSPACE"),
					    STR("PATH_NOT_ALLOWED"), STR("COMMAND_BLOCKED"),
					    STR("READ_ONLY") };

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (str_eq(code, codes[i]))
			return true;
	return false;
}

/* How it ended, in one or two words. */
static void judge(struct view_call *c, const struct json *end)
{
	const struct str code = json_text(end, STR("code")), signal = json_text(end, STR("signal"));
	const int64_t status = cli_number(end, STR("exit_code"), 0);
	const int64_t change = cli_number(end, STR("change"), 0);
	char words[64] = "ok", took[HUMAN_SIZE];

	/* The sandbox may have refused something to a command that ran all the same. */
	const bool refused = is_refusal(code);

	c->refused = c->refused || refused;
	c->colour = LOG_RED;
	if (cli_truth(end, STR("timed_out")))
		(void)snprintf(words, sizeof words, "timed out");
	else if (refused) {
		(void)snprintf(words, sizeof words, "refused");
		c->colour = LOG_YELLOW;
	} else if (str_eq(code, STR("CANCELLED")))
		(void)snprintf(words, sizeof words, "stopped");
	else if (code.n) {
		(void)snprintf(words, sizeof words, "%.*s", STR_FMT(code));
		for (char *p = words; *p; p++)
			*p = *p == '_' ? ' ' : str_lower(*p);
	} else if (signal.n)
		(void)snprintf(words, sizeof words, "%.*s", STR_FMT(signal));
	else if (status)
		(void)snprintf(words, sizeof words, "exit %" PRId64, status);
	else
		c->colour = LOG_GREEN;
	if (c->colour == LOG_GREEN && change)
		(void)snprintf(words, sizeof words, "change %" PRId64, change);
	/* The sidecar has a sentence about it. */
	c->failed = code.n && !refused && !cli_truth(end, STR("timed_out")) &&
		    !str_eq(code, STR("CANCELLED"));
	c->changed = change > 0;
	c->ended = true;
	c->outcome = copy(c, str_of(words));
	c->duration = copy(c, str_of(human_took(cli_number(end, STR("ms"), 0), took)));
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

static void add_head(struct view *v, const struct view_call *c)
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

	columns_line(&v->out, v->o.coloured, width_of_view(v), c->clock, &line);
}

/* Where the last lines of a text begin; *before counts those that come earlier. */
static struct str last_lines(struct str text, int64_t most, int64_t *before)
{
	size_t at = text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n;

	while (at > 0 && (text.p[at - 1] != '\n' || --most > 0))
		at--;
	*before = 0;
	for (size_t i = 0; i < at; i++)
		*before += text.p[i] == '\n';
	return str_from(text, at);
}

static void add_lines(struct view *v, struct str text, enum log_colour colour)
{
	struct str line;

	while (text.n) {
		(void)str_cut(text, '\n', &line, &text);
		add_text(v, line, colour);
	}
}

/* The end of the output. Returns how many lines were added. */
static void add_output(struct view *v, const struct view_call *c, int64_t most)
{
	int64_t before;
	char text[64];
	const struct str last = last_lines(buf_str(&c->output), most, &before);

	before += c->dropped;
	if (before) {
		(void)snprintf(text, sizeof text, "… %" PRId64 " more line%s", before,
			       before == 1 ? "" : "s");
		add_text(v, str_of(text), LOG_DIM);
	}
	add_lines(v, last, LOG_DIM);
}

static void add_diff(struct view *v, struct str diff)
{
	struct str line;
	char text[64];
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
	(void)snprintf(text, sizeof text, "… %" PRId64 " more line%s", left, left == 1 ? "" : "s");
	if (left)
		add_text(v, str_of(text), LOG_DIM);
}

/* What only the sidecar knows: the diff of a change, the sentence of a failure. */
static void add_story(struct view *v, const struct view_call *c)
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
		add_lines(v, last_lines(json_text(result, STR("result")), 2, &(int64_t){ 0 }),
			  LOG_RED);
}

static void add_ended(struct view *v, const struct view_call *c)
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
static bool is_wanted(const struct view *v, const struct view_call *c)
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
	const int64_t id = cli_number(event, STR("call"), 0);
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

	if (v->past || v->o.tool.n)
		return;
	columns_line(&v->out, v->o.coloured, width_of_view(v), clock_of(event), &line);
	add_text(v, json_text(event, STR("why")), LOG_YELLOW);
}

static void take_gap(struct view *v, const struct json *event)
{
	const int64_t lost = cli_number(event, STR("lost"), -1);
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

	for (const struct view_call *c = v->first; c; c = c->next)
		ended += c->ended;
	for (struct view_call **at = &v->first; *at && ended > LIMIT_SHOWN_BEFORE;)
		if ((*at)->ended) {
			drop(v, at);
			ended--;
		} else {
			at = &(*at)->next;
		}
}

static void take_end(struct view *v, struct view_call *c, const struct json *event)
{
	judge(c, event);
	if (is_wanted(v, c) && is_recent(v, event))
		return;
	struct view_call **at = &v->first;
	while (*at != c)
		at = &(*at)->next;
	drop(v, at);
}

/* One more reason; the first few are shown. */
static void take_why(struct view_call *c, struct str why)
{
	AUTO_BUF all = { .max = 8 << 10 };

	if (c->reasons++ >= LIMIT_SHOWN_REASONS)
		return;
	buf_add(&all, c->why);
	buf_add(&all, c->why.n ? STR("\n") : STR(""));
	buf_add(&all, why);
	c->why = copy(c, buf_str(&all));
}

static void take_people(struct view *v, const struct json *event, struct str type)
{
	const int64_t job = cli_number(event, STR("job"), 0);
	struct view_call *c = find(v, cli_number(event, STR("call"), 0), job);

	if (str_eq(type, STR("call.start")))
		begin(v, event, 0);
	else if (str_eq(type, STR("job.start")))
		begin(v, event, job);
	else if (str_eq(type, STR("gap")))
		take_gap(v, event);
	else if (str_eq(type, STR("refused")) && !c)
		take_refusal(v, event);
	else if (!c)
		return;
	else if (str_eq(type, STR("output")))
		take_output(v, c, json_text(event, STR("text")));
	else if (str_eq(type, STR("refused"))) {
		c->refused = true;
		take_why(c, json_text(event, STR("why")));
	} else if (str_ends(type, STR(".end")))
		take_end(v, c, event);
}

void view_event(void *view, const struct json *event, struct str text)
{
	struct view *v = view;
	const struct str type = json_text(event, STR("type"));
	const int64_t id = cli_number(event, STR("id"), 0);

	if (!v->o.json) {
		take_people(v, event, type);
		if (v->past && !v->o.since.n)
			forget_old(v);
	} else if (str_eq(type, STR("call.start")) &&
		   str_eq(v->o.tool, json_text(event, STR("tool")))) {
		begin(v, event, 0);
		take_json(v, event, text, type);
	} else {
		struct view_call *c = find(v, cli_number(event, STR("call"), 0), 0);
		take_json(v, event, text, type);
		if (c && str_eq(type, STR("call.end")))
			take_end(v, c, event);
	}
	v->past = v->past && id < v->o.history;
}

static size_t count_lines(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
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
	char text[64];

	for (const struct view_call *c = v->first; c; c = c->next) {
		if (c->ended || c->job || !is_wanted(v, c))
			continue;
		if (shown >= LIMIT_SHOWN_CALLS ||
		    count_lines(str_from(buf_str(&v->out), from)) + LIMIT_SHOWN_RUNNING + 3 >
			    most) {
			more++;
			continue;
		}
		add_head(v, c);
		add_output(v, c, LIMIT_SHOWN_RUNNING);
		shown++;
	}
	(void)snprintf(text, sizeof text, "… %" PRId64 " more running", more);
	if (more)
		add_text(v, str_of(text), LOG_DIM);
	if (*v->note)
		add_text(v, str_of(v->note), LOG_YELLOW);
	v->drawn = count_lines(str_from(buf_str(&v->out), from));
}

/* Elsewhere than on a terminal: the whole lines of output that have come. */
static void print_output(struct view *v, struct view_call *c)
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

void view_pause(void *view)
{
	struct view *v = view;

	if (v->past)
		return;
	AUTO_BUF early = TAKE(v->out, (struct buf){ .max = LIMIT_ANSWER });
	if (v->drawn)
		buf_addf(&v->out, "\033[%zuA\r\033[J", v->drawn);
	v->drawn = 0;
	buf_add(&v->out, buf_str(&early));
	for (struct view_call **at = &v->first; *at && !v->o.json;) {
		struct view_call *c = *at;
		if (c->job && !c->ended && !c->headed && is_wanted(v, c)) {
			c->headed = true;
			add_head(v, c);
		}
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

void view_note(struct view *v, const char *sentence)
{
	(void)snprintf(v->note, sizeof v->note, "%s", sentence);
	view_pause(v);
}

void view_end(struct view *v)
{
	if (!v->drawn)
		return;
	buf_addf(&v->out, "\033[%zuA\r\033[J", v->drawn);
	v->drawn = 0;
	cli_print(buf_str(&v->out));
}
