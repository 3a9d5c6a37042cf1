/* SPDX-License-Identifier: MIT */
/* account: the subject of a call, cut where no secret is; its line for programs and for people. */

#include "service/account.h"

#include <stdio.h>

#include "base/human.h"
#include "base/log.h"
#include "base/own.h"
#include "base/utf8.h"
#include "exec/proc.h"
#include "patch/patch.h"
#include "service/limits.h"

static struct str join_words(const struct json *list, struct arena *a)
{
	size_t size = 0;

	for (const struct json *v = list->first; v; v = v->next)
		size += v->type == JSON_STRING ? v->string.n + 1 : 0;
	char *room = size ? arena_alloc(a, size) : NULL;
	if (!room)
		return STR("");
	struct buf b = buf_over(room, size);
	for (const struct json *v = list->first; v; v = v->next) {
		if (v->type != JSON_STRING)
			continue;
		buf_add(&b, b.n ? STR(" ") : STR(""));
		buf_add(&b, v->string);
	}
	return buf_str(&b);
}

/* A change is named by its number. */
static struct str number_of(const struct json *arguments, struct arena *a)
{
	const struct json *id = json_get(arguments, STR("id"));
	char text[24];

	if (!id || id->type != JSON_NUMBER || !id->whole)
		return STR("");
	(void)snprintf(text, sizeof text, "%lld", (long long)id->integer);
	return arena_dup(a, str_of(text));
}

struct str account_subject(const struct json *arguments, struct arena *a)
{
	static const struct str names[] = { STR("path"), STR("command"), STR("pattern"),
					    STR("job_id"), STR("id") };
	static const struct str lists[] = { STR("argv"), STR("commands"), STR("command") };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct str text = json_text(arguments, names[i]);
		if (text.n)
			return text;
	}
	const struct str patch = json_text(arguments, STR("patch"));
	if (patch.n)
		return patch_first_path(patch);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct json *list = json_get(arguments, lists[i]);
		if (list && list->type == JSON_ARRAY)
			return join_words(list, a);
	}
	return number_of(arguments, a);
}

/* The first so many characters. */
static struct str first_characters(struct str s, size_t count)
{
	size_t at = 0, bad = 0;

	if (s.n <= count)
		return s;
	while (at < s.n && count-- > 0) {
		const size_t n = utf8_next(str_from(s, at), &bad);
		at += n ? n : bad;
	}
	return str_upto(s, at);
}

struct str account_clean(const struct scrub *secrets, struct str text, struct buf *aside)
{
	/* Marks are longer than some secrets and shorter than others. What is looked at ends
	 * between secrets, far enough behind what is shown. */
	const size_t most = 4 * LIMIT_SUBJECT + LIMIT_SCRUB_HELD;

	if (!secrets)
		return STR("");
	if (text.n > most)
		text = str_upto(
			text,
			scrub_cut(secrets, str_upto(text, most + LIMIT_SCRUB_HELD), most).from);
	return first_characters(scrub_text(secrets, NULL, text, aside), LIMIT_SUBJECT);
}

const char *account_refusal(enum err_code code)
{
	switch (code) {
	case ERR_PATH_OUTSIDE_WORKSPACE:
	case ERR_SYMLINK_OUTSIDE_WORKSPACE:
	case ERR_PATH_NOT_ALLOWED:
		return "path";
	case ERR_COMMAND_BLOCKED:
		return "command";
	case ERR_READ_ONLY:
		return "sandbox";
	default:
		return NULL;
	}
}

/* How it ended, in one or two words, and the colour of them. */
static const char *outcome_of(const struct account *a, char room[64], enum log_colour *colour)
{
	*colour = LOG_RED;
	if (a->end.timed_out)
		return "timed out";
	if (a->end.cancelled)
		return "stopped";
	if (account_refusal(a->code)) {
		*colour = LOG_YELLOW;
		return "refused";
	}
	if (a->code != ERR_NONE) {
		(void)snprintf(room, 64, "%s", err_name(a->code));
		for (char *p = room; *p; p++)
			*p = *p == '_' ? ' ' : str_lower(*p);
		return room;
	}
	if (a->end.ran && a->end.signal)
		return proc_signal_name(a->end.signal);
	if (a->end.ran && a->end.exit_code) {
		(void)snprintf(room, 64, "exit %d", a->end.exit_code);
		return room;
	}
	*colour = LOG_GREEN;
	if (a->change) {
		(void)snprintf(room, 64, "change %llu", (unsigned long long)a->change);
		return room;
	}
	return "ok";
}

static void log_for_people(const struct account *a)
{
	char words[64], ms[HUMAN_SIZE];
	struct log_line line = { .name = a->tool, .subject = a->subject };

	line.outcome = str_of(outcome_of(a, words, &line.colour));
	line.duration = str_of(human_took(a->ms, ms));
	log_line(LOG_INFO, &line);
}

void account_log(const struct account *a)
{
	struct log_field f[16];
	size_t n = 0;

	if (log_is_for_people()) {
		log_for_people(a);
		return;
	}
	f[n++] = LOG_STR("tool", a->tool);
	f[n++] = LOG_STR("session", a->session);
	f[n++] = LOG_INT("request_id", a->id);
	f[n++] = LOG_INT("uid", a->uid);
	f[n++] = LOG_INT("pid", a->pid);
	f[n++] = LOG_INT("duration_ms", a->ms);
	f[n++] = LOG_BOOL("success", a->code == ERR_NONE);
	f[n++] = LOG_STR("code", str_of(err_name(a->code)));
	f[n++] = LOG_STR("subject", a->subject);
	if (a->end.ran)
		f[n++] = LOG_INT("exit_code", a->end.exit_code);
	f[n++] = LOG_BOOL("timed_out", a->end.timed_out);
	f[n++] = LOG_INT("bytes", a->bytes);
	if (a->change)
		f[n++] = LOG_INT("change", (int64_t)a->change);
	log_fields(LOG_INFO, "call", f, n);
}

void account_log_change(uint64_t call, const struct change *c)
{
	char outcome[64];

	(void)snprintf(outcome, sizeof outcome, "change %llu", (unsigned long long)c->id);
	if (log_is_for_people()) {
		const struct log_line line = { .name = c->tool,
					       .subject = c->subject,
					       .outcome = str_of(outcome),
					       .colour = LOG_GREEN };
		log_line(LOG_INFO, &line);
		return;
	}
	log_event(LOG_INFO, "change", LOG_STR("tool", c->tool), LOG_STR("session", c->session),
		  LOG_INT("request_id", (int64_t)call), LOG_STR("subject", c->subject),
		  LOG_INT("change", (int64_t)c->id));
}
