/* SPDX-License-Identifier: MIT */
/* followed: one call from its start to its end, as the events tell it. */

#include "watch/followed.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/own.h"
#include "base/utc.h"
#include "watch/limits.h"

static struct str copy(struct followed *c, struct str text)
{
	const struct str got = arena_dup(&c->memory, text);

	return got.p ? got : STR("");
}

struct str followed_clock(const struct json *event, char room[HUMAN_SIZE])
{
	int64_t seconds;

	if (!utc_seconds(json_text(event, STR("time")), &seconds))
		return STR("");
	return str_of(human_when(seconds, room) + HUMAN_CLOCK);
}

struct followed *followed_new(const struct json *event, int64_t job)
{
	struct followed *c = mem_new(1, sizeof *c);
	char name[32], clock[HUMAN_SIZE];

	if (!c)
		return NULL;
	c->id = json_int(event, STR("call"), 0);
	c->job = job;
	c->memory.max = 64 << 10;
	c->output.max = 4 * (size_t)LIMIT_EVENT_OUTPUT;
	(void)snprintf(name, sizeof name, "job %" PRId64, job);
	c->tool = copy(c, job ? str_of(name) : json_text(event, STR("tool")));
	c->subject = copy(c, json_text(event, STR("subject")));
	c->session = copy(c, json_text(event, STR("session")));
	c->clock = copy(c, followed_clock(event, clock));
	return c;
}

void followed_free(struct followed *c)
{
	arena_done(&c->memory);
	buf_done(&c->output);
	mem_free(c);
}

void followed_output(struct followed *c, const struct json *event, bool tail)
{
	const int64_t dropped = json_int(event, STR("dropped"), 0);
	char bytes[HUMAN_SIZE];

	if (dropped)
		buf_addf(&c->output, "\n… %s are not kept\n", human_bytes(dropped, bytes));
	buf_add(&c->output, json_text(event, STR("text")));
	/* Only its end is shown. */
	while (tail && c->output.n > LIMIT_VIEW_TAIL) {
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
	return str_is_listed("PATH_OUTSIDE_WORKSPACE SYMLINK_OUTSIDE_WORKSPACE PATH_NOT_ALLOWED "
			     "PROTECTED_PATH PATH_HIDDEN "
			     "COMMAND_BLOCKED READ_ONLY",
			     code);
}

void followed_end(struct followed *c, const struct json *end)
{
	const struct str code = json_text(end, STR("code")), signal = json_text(end, STR("signal"));
	const int64_t status = json_int(end, STR("exit_code"), 0);
	const int64_t change = json_int(end, STR("change"), 0);
	char words[64] = "ok", took[HUMAN_SIZE];

	/* The sandbox may have refused something to a command that ran all the same. */
	const bool refused = is_refusal(code);

	c->refused = c->refused || refused;
	c->colour = LOG_RED;
	if (json_is_true(end, STR("timed_out")))
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
		c->colour = c->refused ? LOG_YELLOW : LOG_GREEN;
	if (c->colour == LOG_YELLOW && !refused)
		(void)snprintf(words, sizeof words, "ok, refused");
	if ((c->colour == LOG_GREEN || c->colour == LOG_YELLOW) && !refused && change) {
		(void)snprintf(words, sizeof words, "change %" PRId64, change);
		c->colour = c->deletes ? LOG_RED : c->colour;
	}
	/* The sidecar has a sentence about it. */
	c->failed = code.n && !refused && !json_is_true(end, STR("timed_out")) &&
		    !str_eq(code, STR("CANCELLED"));
	c->changed = change > 0;
	c->ended = true;
	c->outcome = copy(c, str_of(words));
	c->duration = copy(c, str_of(human_took(json_int(end, STR("ms"), 0), took)));
}

void followed_refusal(struct followed *c, struct str why)
{
	AUTO_BUF all = { .max = 8 << 10 };

	c->refused = true;
	if (c->reasons++ >= LIMIT_SHOWN_REASONS)
		return;
	buf_add(&all, c->why);
	buf_add(&all, c->why.n ? STR("\n") : STR(""));
	buf_add(&all, why);
	c->why = copy(c, buf_str(&all));
}

bool followed_deletes(const struct json *event)
{
	for (const struct json *f = json_items(event, STR("files")); f; f = f->next)
		if (!str_eq(json_text(f, STR("kind")), STR("deleted")))
			return false;
	return true;
}
