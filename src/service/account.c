/* SPDX-License-Identifier: MIT */
/* account: the subject of a call, cut where no secret is; its arguments, written again through the
 * scrubber; its line for programs and for people. */

#include "service/account.h"

#include <stdio.h>
#include <string.h>

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

/* Two texts and what is between them; the first alone if there is no second. */
static struct str join(struct str first, struct str between, struct str second, struct arena *a)
{
	const size_t size = first.n + between.n + second.n;
	char *room = second.n ? arena_alloc(a, size) : NULL;

	if (!room)
		return first;
	struct buf b = buf_over(room, size);
	buf_add(&b, first);
	buf_add(&b, between);
	buf_add(&b, second);
	return buf_str(&b);
}

/* A path is shown as it lies in the workspace; one that is refused, as it was asked for. */
static struct str place_of(const struct account_paths *paths, struct str path, struct arena *a)
{
	struct path p UNINITIALISED;
	char room[2 * PATH_MAX] UNINITIALISED;
	struct err refused;

	if (!paths || !path.n ||
	    path_resolve(ws_rules(paths->ws), path, paths->policy, &p, &refused) < 0)
		return path;
	const struct str shown = ws_display(paths->ws, &p, room);
	return str_eq(shown, path) ? path : arena_dup(a, shown);
}

/* The first file of a patch, whose paths may start in a directory. */
static struct str patched_path(const struct json *arguments, struct str patch, struct arena *a)
{
	const struct str path = patch_first_path(patch), cwd = json_text(arguments, STR("cwd"));

	return cwd.n && path.n && path.p[0] != '/' ? join(cwd, STR("/"), path, a) : path;
}

static struct str subject_of(const struct account_paths *paths, const struct json *arguments,
			     struct arena *a)
{
	static const struct str names[] = { STR("command"), STR("job_id"), STR("id") };
	static const struct str lists[] = { STR("argv"), STR("commands"), STR("command") };

	const struct str pattern = json_text(arguments, STR("pattern"));
	const struct str path = place_of(paths, json_text(arguments, STR("path")), a);
	const struct str from = place_of(paths, json_text(arguments, STR("from")), a);

	/* A search is named by what it looks for, and by where if that was said. */
	if (pattern.n)
		return join(pattern, STR(" in "), path, a);
	if (path.n)
		return path;
	if (from.n)
		return join(from, STR(" to "), place_of(paths, json_text(arguments, STR("to")), a),
			    a);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct str text = json_text(arguments, names[i]);
		if (text.n)
			return text;
	}
	const struct str patch = json_text(arguments, STR("patch"));
	if (patch.n)
		return place_of(paths, patched_path(arguments, patch, a), a);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct json *list = json_get(arguments, lists[i]);
		if (list && list->type == JSON_ARRAY)
			return join_words(list, a);
	}
	return number_of(arguments, a);
}

struct str account_subject(const struct account_paths *paths, const struct json *arguments,
			   struct arena *a)
{
	const struct str subject = subject_of(paths, arguments, a);

	if (!json_is_true(arguments, STR("dryRun")) && !json_is_true(arguments, STR("dry_run")))
		return subject;
	return join(subject, subject.n ? STR(" ") : STR(""), STR("(dry run)"), a);
}

/* The first `count` characters. */
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

/* Both ends of a text that has no secrets any more: a cut could hide one. */
static struct str both_ends(struct str text, size_t most, struct buf *to)
{
	const struct str head = str_upto(text, utf8_whole(str_upto(text, most / 2)));
	struct str tail = str_from(text, text.n > most ? text.n - most / 2 : head.n);

	while (tail.n && ((unsigned char)*tail.p & 0xc0) == 0x80)
		tail = str_from(tail, 1);
	buf_reset(to, SIZE_MAX);
	buf_add(to, head);
	buf_addf(to, "\n[... %zu bytes omitted ...]\n", text.n - head.n - tail.n);
	buf_add(to, tail);
	return buf_str(to);
}

struct str account_clean_value(void *cleaner, struct str value)
{
	struct value_cleaner *c = cleaner;

	if (value.p == c->clean.p && value.n == c->clean.n)
		return value;
	if (c->longest && !c->both && value.n > c->longest) {
		const struct str cut = str_upto(value, c->longest);
		value = str_upto(cut, scrub_decided(c->secrets, cut));
	}
	const struct str clean = scrub_text(c->secrets, NULL, value, &c->aside);
	c->failed = c->failed || c->aside.failed;
	if (!c->both || clean.n <= c->longest)
		return clean;
	const struct str ends = both_ends(clean, c->longest, c->both);
	c->failed = c->failed || c->both->failed;
	return ends;
}

/* Write it. False: it does not fit. */
static bool try_cleaner(struct value_cleaner *c, const struct json *value, struct buf *out)
{
	const struct jw_filter filter = { .apply = account_clean_value, .arg = c };
	struct jw w = jw_to(out);

	c->aside = (struct buf){ .max = LIMIT_ANSWER };
	buf_reset(out, SIZE_MAX);
	jw_set_filter(&w, &filter);
	jw_value(&w, value, false);
	buf_done(&c->aside);
	return !out->failed && !c->failed;
}

/* The same; texts longer than `longest` are cut. */
static bool try_write(const struct scrub *secrets, const struct json *value, struct str clean,
		      size_t longest, struct buf *out)
{
	struct value_cleaner c = { .secrets = secrets, .clean = clean, .longest = longest };

	return try_cleaner(&c, value, out);
}

struct str account_arguments(const struct scrub *secrets, const struct json *value,
			     struct str clean, struct buf *small, struct buf *large)
{
	static const size_t longest[] = { 0, 4096, 256 };

	if (try_write(secrets, value, clean, 0, small))
		return buf_str(small);
	for (size_t i = 0; i < ARRAY_LEN(longest); i++)
		if (try_write(secrets, value, clean, longest[i], large))
			return buf_str(large);
	return STR("null");
}

struct str account_ends(const struct scrub *secrets, struct str result, bool members,
			struct buf *out)
{
	enum { LEAST = 64 };
	AUTO_ARENA memory = { .max = LIMIT_ANSWER };
	AUTO_BUF whole = { .max = LIMIT_ANSWER }, both = { .max = LIMIT_EVENT_RESULT };
	const struct json *value;
	struct err e;

	if (!members)
		return both_ends(scrub_text(secrets, NULL, result, &whole),
				 LIMIT_EVENT_RESULT - LEAST, out);
	buf_addc(&whole, '{');
	buf_add(&whole, result);
	buf_addc(&whole, '}');
	if (whole.failed || json_parse_over(whole.p, whole.n, &memory, &value, &e) < 0)
		return STR("");
	for (size_t longest = LIMIT_EVENT_RESULT - LEAST; longest >= LEAST; longest /= 2) {
		struct value_cleaner c = { .secrets = secrets, .longest = longest, .both = &both };
		if (try_cleaner(&c, value, out)) /* without the braces */
			return (struct str){ out->p + 1, out->n - 2 };
	}
	return STR("");
}

const char *account_refusal(enum err_code code)
{
	switch (code) {
	case ERR_PATH_OUTSIDE_WORKSPACE:
	case ERR_SYMLINK_OUTSIDE_WORKSPACE:
	case ERR_PATH_NOT_ALLOWED:
	case ERR_PROTECTED_PATH:
	case ERR_PATH_HIDDEN:
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
	*colour = a->deletes ? LOG_RED : a->denied ? LOG_YELLOW : LOG_GREEN;
	if (a->change) {
		(void)snprintf(room, 64, "change %llu", (unsigned long long)a->change);
		return room;
	}
	return a->denied ? "ok, refused" : "ok";
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
