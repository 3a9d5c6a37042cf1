/* SPDX-License-Identifier: MIT */
/* results: the table of kinds and ways out; and what is told beside the result of a call: what it has
 * changed, and what the sandbox refused to it. */

#include "results/limits.h"
#include "results/results.h"

#include <stdio.h>

#include "base/human.h"
#include "base/limits.h"
#include "base/own.h"
#include "guard/guard.h"
#include "scrub/scrub.h"
#include "tools/watched.h"

static int sentence_wire(const struct way *out, struct result *r, struct err *e)
{
	(void)e;
	jw_open_str(out->members, "message");
	jw_piece(out->members, str_of(r->sentence.before));
	jw_piece(out->members, r->sentence.name);
	jw_piece(out->members, str_of(r->sentence.after));
	jw_close_str(out->members);
	return 0;
}

static int sentence_text(const struct way *out, struct result *r, struct err *e)
{
	(void)e;
	way_sentence(out, &r->sentence);
	return 0;
}

/* NULL: this way out has no such results. */
static const struct {
	results_function *wire, *observation, *text;
} kinds[] = {
	[RESULT_SENTENCE] = { sentence_wire, NULL, sentence_text },
	[RESULT_PAGE] = { page_wire, page_observation, page_text },
	[RESULT_IMAGE] = { image_wire, NULL, image_text },
	[RESULT_NAMES] = { names_wire, NULL, NULL },
	[RESULT_ENTRIES] = { entries_wire, NULL, entries_text },
	[RESULT_MEMBERS] = { members_wire, NULL, NULL },
	[RESULT_FOUND] = { found_wire, found_observation, found_text },
	[RESULT_EDITS] = { edits_members, edits_members, edits_text },
	[RESULT_RECEIPT] = { NULL, receipt_observation, receipt_text },
	[RESULT_EXIT] = { exit_wire, NULL, NULL },
	[RESULT_OUTPUTS] = { outputs_wire, NULL, NULL },
	[RESULT_STARTED] = { started_members, started_members, started_text },
	[RESULT_JOBS] = { jobs_members, jobs_members, jobs_text },
	[RESULT_JOB] = { job_members, job_members, job_text },
	[RESULT_ENDED] = { ended_members, ended_members, ended_text },
	[RESULT_CHANGES] = { changes_members, changes_members, changes_text },
	[RESULT_CHANGE] = { change_wire, NULL, change_text },
	[RESULT_UNDONE] = { undone_members, undone_members, undone_text },
};

/* Takes secrets out of the strings of a result. */
struct cleaner {
	const struct way *out;
	struct buf aside, pieces;
	struct jw_filter filter;
};

static void cleaner_done(struct cleaner *c)
{
	buf_done(&c->aside);
	buf_done(&c->pieces);
}

static struct str clean_string(void *arg, struct str value)
{
	struct cleaner *c = arg;
	const struct str text =
		scrub_text(c->out->c->scrub, c->out->c->shared->scrubbed, value, &c->aside);

	/* A string that could not be looked at must not be seen. */
	if (c->aside.failed)
		jw_buf(c->out->members)->failed = true;
	return text;
}

void results_clean_error(const struct scrub *rules, struct scrub_counts *counts, struct err *e)
{
	AUTO_BUF aside = { .max = LIMIT_ANSWER };
	const struct str text = scrub_text(rules, counts, str_of(e->msg), &aside);

	if (text.p != e->msg)
		(void)err_set(e, e->code, "%.*s", STR_FMT(text));
}

void changed_write_counts(struct jw *w, const uint32_t counts[ITEM_KINDS])
{
	for (int kind = 0; kind < ITEM_TIMES; kind++)
		jw_int(w, item_kind_name((enum item_kind)kind), counts[kind]);
}

/* The object "changes" of an observation: what a call has changed, with the first paths. */
static void changed_write(struct jw *w, const struct change *c)
{
	size_t shown = 0;

	jw_object(w, NULL);
	jw_int(w, "id", (int64_t)c->id);
	changed_write_counts(w, c->counts);
	if (c->flags & CHANGE_OPEN)
		jw_bool(w, "open", true);
	if (c->flags & CHANGE_INCOMPLETE)
		jw_bool(w, "complete", false);
	if (c->flags & CHANGE_UNSAVED)
		jw_bool(w, "undoable", false);
	jw_array(w, "paths");
	for (size_t i = 0; i < c->item_count && shown < LIMIT_CHANGED_PATHS; i++) {
		const struct change_item *item = &c->items[i];
		if (item->kind == ITEM_TIMES)
			continue;
		jw_object(w, NULL);
		jw_str(w, "path", item->path);
		jw_str(w, "kind", str_of(item_kind_name(item->kind)));
		if (item->from.n)
			jw_str(w, "from", item->from);
		if (item_is_lost(item))
			jw_bool(w, "saved", false);
		jw_end(w);
		shown++;
	}
	jw_end(w);
	jw_end(w);
}

/* A path in a line of text: what would end the line, or confuse a terminal, is not shown. */
static void add_path(struct buf *out, struct str path)
{
	for (size_t i = 0; i < path.n; i++) {
		const unsigned char byte = (unsigned char)path.p[i];
		buf_addc(out, byte < 0x20 || byte == 0x7f ? '?' : (char)byte);
	}
}

/* What became of a path, and before it is too late whether that can be undone. */
static void add_item(struct buf *out, const struct change_item *item, int64_t max_file)
{
	char size[HUMAN_SIZE], limit[HUMAN_SIZE];
	const bool lost = item_is_lost(item);

	add_path(out, item->path);
	if (item->kind == ITEM_CREATED)
		buf_add(out, STR(" (new"));
	else if (item->kind == ITEM_DELETED)
		buf_add(out, STR(" (deleted"));
	else if (item->kind == ITEM_RENAMED) {
		buf_add(out, STR(" (was "));
		add_path(out, item->from);
	} else if (lost) {
		buf_add(out, STR(" (modified"));
	}
	if (lost)
		buf_addf(out, ", NOT kept: %s", human_bytes(item->before.size, size));
	if (lost && item->before.size > max_file)
		buf_addf(out, ", limit %s", human_bytes(max_file, limit));
	if (lost || item->kind != ITEM_MODIFIED)
		buf_addc(out, ')');
}

/* The part of a path that is a directory in which tools keep much that nobody reads one by one;
 * empty if it lies in none. */
static struct str filled_part(struct str path)
{
	static const char names[] = ".git node_modules __pycache__ .venv venv .tox .mypy_cache "
				    ".pytest_cache .ruff_cache .gradle .next";
	struct str rest = path, part;

	while (rest.n) {
		(void)str_cut(rest, '/', &part, &rest);
		if (str_is_listed(names, part))
			return (struct str){ path.p, (size_t)(part.p + part.n - path.p) };
	}
	return STR("");
}

/* How much of a change a line tells: entries, and the paths that they stand for. */
struct told_paths {
	size_t entries, paths;
};

static bool is_told(const struct change_item *item, bool lost)
{
	return item->kind != ITEM_TIMES && item_is_lost(item) == lost;
}

/* The paths whose old content is, or is not, lost, until there are `most` entries: one for all that
 * lie in one filled directory. */
static void add_items(struct buf *out, const struct change *c, bool lost, size_t most,
		      int64_t max_file, struct told_paths *told)
{
	for (size_t i = 0, next; i < c->item_count && told->entries < most; i = next) {
		const struct change_item *item = &c->items[i];
		const struct str part = filled_part(item->path);
		size_t count = 0;
		for (next = i; next == i || (next < c->item_count && part.n &&
					     str_eq(filled_part(c->items[next].path), part));
		     next++)
			count += is_told(&c->items[next], lost);
		if (!count)
			continue;
		buf_add(out, told->entries++ ? STR(", ") : STR(""));
		told->paths += count;
		if (count == 1 && next == i + 1) {
			add_item(out, item, max_file);
			continue;
		}
		add_path(out, part);
		buf_addf(out, "/ (%zu path%s%s)", count, count == 1 ? "" : "s",
			 lost ? ", NOT kept" : "");
	}
}

/* The paths that cannot be brought back. */
static size_t count_lost(const struct change *c)
{
	size_t lost = 0;

	for (size_t i = 0; i < c->item_count; i++)
		lost += item_is_lost(&c->items[i]);
	return lost;
}

/* How it can be undone. */
static void add_remedy(struct buf *out, const struct change *c)
{
	const size_t lost = count_lost(c);
	size_t all = 0;

	for (int kind = 0; kind < ITEM_TIMES; kind++)
		all += c->counts[kind];
	if (!(c->flags & CHANGE_UNSAVED))
		buf_addf(out, "; undo_change id=%llu]", (unsigned long long)c->id);
	else if (lost < all)
		buf_addf(out, "; the rest can be undone: undo_change id=%llu force=true]",
			 (unsigned long long)c->id);
	else
		buf_add(out, STR("; this cannot be undone]"));
}

/* The line with at most `most` paths, those first that cannot be brought back. */
static void add_line(struct buf *out, const struct change *c, size_t most, int64_t max_file)
{
	struct told_paths told = { 0 };
	size_t all = 0;

	for (int kind = 0; kind < ITEM_TIMES; kind++)
		all += c->counts[kind];
	if (c->flags & CHANGE_OPEN) {
		buf_addf(out,
			 "[changes go on with what still runs; when it has ended: undo_change "
			 "id=%llu]",
			 (unsigned long long)c->id);
		return;
	}
	buf_add(out, all ? STR("[changed: ") : STR("[changed: nothing"));
	add_items(out, c, true, most, max_file, &told);
	add_items(out, c, false, most, max_file, &told);
	if (all > told.paths)
		buf_addf(out, "%s%zu %s", told.paths ? " and " : "", all - told.paths,
			 told.paths ? "more" : "paths");
	if (c->flags & CHANGE_INCOMPLETE)
		buf_add(out, STR("; perhaps more"));
	add_remedy(out, c);
}

/* A line of text: "[changed: src/a.c, b.c (new), old.c (deleted); undo_change id=41]". If `out` may
 * not have more than max_bytes (0: any), that is as long as fits. */
static void changed_show(struct buf *out, int64_t max_bytes, const struct change *c,
			 int64_t max_file)
{
	const size_t tries[] = { LIMIT_CHANGED_SHOWN, 1, 0 };

	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		AUTO_BUF line = { .max = LIMIT_ANSWER };
		if (out->n && out->p[out->n - 1] != '\n')
			buf_addc(&line, '\n');
		add_line(&line, c, tries[i], max_file);
		if (max_bytes && (int64_t)(out->n + line.n) > max_bytes)
			continue;
		buf_add(out, buf_str(&line));
		out->failed |= line.failed;
		return;
	}
}

/* The array "denied" of an observation: what the sandbox refused to a call. */
static void denied_write(struct jw *w, const struct denied *d)
{
	jw_array(w, NULL);
	for (size_t i = 0; i < d->listed; i++) {
		const struct denied_item *one = &d->items[i];
		jw_object(w, NULL);
		jw_str(w, "operation", str_of(one->operation));
		jw_str(w, "path", one->path);
		jw_str(w, "by", str_of(one->by));
		jw_str(w, "rule", one->rule);
		jw_end(w);
	}
	jw_end(w);
}

enum { REFUSALS = 5 }; /* a model needs no more to understand */

/* Add a line about a refusal if there is room for it. */
static bool add_refusal(struct buf *out, int64_t max_bytes, struct str text)
{
	const bool begun = out->n && out->p[out->n - 1] != '\n';

	if (max_bytes && (int64_t)(out->n + text.n) + 16 > max_bytes)
		return false;
	buf_addf(out, "%s[sandbox: ", begun ? "\n" : "");
	buf_add(out, text);
	buf_addc(out, ']');
	return true;
}

void denied_show(struct buf *out, int64_t max_bytes, const struct denied *d)
{
	char more[64];
	size_t shown = 0, left = d->count;

	for (size_t i = 0; i < d->listed; i++) {
		if (!d->items[i].usual && shown < REFUSALS &&
		    add_refusal(out, max_bytes, d->items[i].sentence))
			shown++;
		else if (!d->items[i].usual)
			continue;
		left--;
	}
	if (!left)
		return;
	const int n = snprintf(more, sizeof more, "%zu %soperation%s refused", left,
			       shown ? "more " : "", left == 1 ? " was" : "s were");
	(void)add_refusal(out, max_bytes, (struct str){ more, (size_t)n });
}

enum { LATER = 8 }; /* names that are told */

/* What the call has changed, and a person's programs run later: in the arena; returns how many. */
static size_t runs_later(const struct way *out, const struct change *made, struct str names[LATER])
{
	struct guard *g = out->c->shared->guard;
	size_t count = 0;

	for (size_t i = 0; g && i < made->item_count && count < LATER; i++)
		if (made->items[i].kind != ITEM_DELETED && guard_runs_later(g, made->items[i].path))
			names[count++] = made->items[i].path;
	return count;
}

static size_t unguarded(const struct way *out, struct str names[LATER])
{
	struct str rest = out->c->unguarded;
	size_t count = 0;

	while (rest.n && count < LATER)
		(void)str_cut(rest, '\n', &names[count++], &rest);
	return count;
}

static void show_names(const struct way *out, const char *what, const struct str *names,
		       size_t count)
{
	AUTO_BUF line = { .max = LIMIT_ANSWER };

	for (size_t i = 0; i < count; i++)
		buf_addf(&line, "%s%.*s", i ? ", " : "", STR_FMT(names[i]));
	if (count && !line.failed)
		way_note(out, "%s%.*s", what, STR_FMT(buf_str(&line)));
}

static struct str names_json(const struct way *out, const struct str *names, size_t count)
{
	AUTO_BUF json = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&json);

	jw_array(&w, NULL);
	for (size_t i = 0; i < count; i++)
		jw_str(&w, NULL, names[i]);
	jw_end(&w);
	return count && !json.failed ? arena_dup(out->c->arena, buf_str(&json)) : STR("");
}

/* What runs later, outside: what was changed with leave, and what without. */
static void tell_later(const struct way *out, const struct aftermath *after)
{
	struct str later[LATER], bad[LATER];
	const size_t later_count = runs_later(out, after->made, later);
	const size_t bad_count = unguarded(out, bad);

	if (out->text) {
		show_names(out, "runs later, outside: ", later, later_count);
		show_names(out,
			   "guard: changed while the command ran, by no allowed call; a person's "
			   "programs run it later, tell the person: ",
			   bad, bad_count);
	} else if (after->told) {
		after->told->later = names_json(out, later, later_count);
		after->told->unguarded = names_json(out, bad, bad_count);
	}
}

/* What a model is told besides the result: in its text, or beside the members of its result. The
 * HTTP endpoints tell only the number of a change, and how many of its paths are not kept. */
static void tell(const struct way *out, const struct aftermath *after,
		 const struct jw_filter *filter)
{
	AUTO_BUF json = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&json);

	const size_t before = out->text ? out->text->text->n : 0;

	if (out->text && after->denied)
		denied_show(out->text->text, out->c->size.bytes, after->denied);
	if (out->text && after->made->id && !out->native)
		changed_show(out->text->text, out->c->size.bytes, after->made,
			     journal_max_file(out->c->shared->journal));
	tell_later(out, after);
	if (out->text)
		way_clean(out, out->text->text, before);
	if (!after->told || out->text)
		return;
	jw_set_filter(&w, filter);
	if (after->denied) {
		denied_write(&w, after->denied);
		after->told->denied_count = (int64_t)after->denied->count;
		after->told->denied =
			json.failed ? STR("") : arena_dup(out->c->arena, buf_str(&json));
	}
	if (!after->made->id)
		return;
	buf_reset(&json, SIZE_MAX);
	w = jw_to(&json);
	jw_set_filter(&w, filter);
	changed_write(&w, after->made);
	if (!json.failed)
		after->told->json = arena_dup(out->c->arena, buf_str(&json));
}

/* Whether all of it was written. */
static int check(const struct way *out, struct err *e)
{
	if (out->text && out->text->text->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the result, try again");
	/* Room for the end of the envelope, so that the front end cannot fail to write it. */
	if (!buf_room(jw_buf(out->members), LIMIT_ENVELOPE_END))
		return err_set(e, ERR_EXECUTION_ERROR, "The answer is too large: ask for less");
	return 0;
}

static int show(const struct way *out, struct result *r, struct err *e)
{
	results_function *const function = out->text	? kinds[r->kind].text
					   : out->model ? kinds[r->kind].observation
							: kinds[r->kind].wire;

	if (out->text)
		way_sentence(out, &r->heading);
	if (function && function(out, r, e) < 0)
		return -1;
	/* A cursor that is missing would say that there is no more. What was changed is changed. */
	if (r->kind == RESULT_FOUND && out->c->arena->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the result, try again");
	return 0;
}

int results_show(const struct way *out, struct result *r, const struct aftermath *after,
		 struct err *e)
{
	CLEANUP(cleaner_done)
	struct cleaner c = {
		.out = out,
		.aside = { .max = LIMIT_ANSWER },
		.pieces = { .max = LIMIT_ANSWER },
		.filter = { .apply = clean_string, .arg = &c, .pieces = &c.pieces },
	};

	jw_set_filter(out->members, out->clean ? &c.filter : NULL);
	const int rc = show(out, r, e);
	if (rc == 0 && out->model && (after->denied || after->made->id || out->c->unguarded.n))
		tell(out, after, out->c->scrub ? &c.filter : NULL);
	if (rc == 0 && after->told) {
		after->told->id = after->made->id;
		after->told->not_kept = count_lost(after->made);
	}
	jw_set_filter(out->members, NULL);
	if (rc == 0 && out->text && out->clean)
		way_clean(out, out->text->text, 0);
	return rc < 0 ? -1 : check(out, e);
}
