/* SPDX-License-Identifier: MIT */
/* undo: take back what calls have changed. */

#include "changes/undo.h"

#include <stdio.h>

#include "base/own.h"
#include "changes/limits.h"
#include "tools/limits.h"
#include "tools/tool.h"
#include "workspace/path.h"
#include "workspace/workspace.h"

struct undo_args {
	int64_t id, since;
	struct str session;
	const struct json *ids, *paths;
	bool dry_run, force;
};

static int no_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory to undo so much at once");
}

/* All changes from a number on, or of a session, that are in force. */
static int select_many(const struct call *c, const struct undo_args *a, struct undo_request *q,
		       struct err *e)
{
	const uint64_t since = a->since > 0 ? (uint64_t)a->since - 1 : 0;
	const uint64_t session = journal_session(a->session);
	struct change_entry *all = arena_array(c->arena, LIMIT_CHANGES + 1, sizeof *all);
	uint64_t *ids = arena_array(c->arena, LIMIT_CHANGES + 1, sizeof *ids);

	if (!all || !ids)
		return no_memory(e);
	const size_t found = journal_list(c->journal, since, all, LIMIT_CHANGES);
	const size_t n = found < LIMIT_CHANGES ? found : LIMIT_CHANGES;
	for (size_t i = 0; i < n; i++) {
		if (a->session.n &&
		    (all[i].session != session || all[i].undone_by || all[i].flags & CHANGE_UNDO))
			continue;
		ids[q->id_count++] = all[i].id;
	}
	q->ids = ids;
	if (q->id_count)
		return 0;
	return err_set(e, ERR_CHANGE_NOT_FOUND, "There is no such change to undo");
}

static int select_ids(const struct call *c, const struct undo_args *a, struct undo_request *q,
		      struct err *e)
{
	size_t n = 1;

	for (const struct json *v = a->ids ? a->ids->first : NULL; v; v = v->next)
		n++;
	uint64_t *ids = arena_array(c->arena, n, sizeof *ids);
	if (!ids)
		return no_memory(e);
	q->ids = ids;
	if (a->id > 0)
		ids[q->id_count++] = (uint64_t)a->id;
	for (const struct json *v = a->ids ? a->ids->first : NULL; v; v = v->next) {
		if (v->type != JSON_NUMBER || !v->whole || v->integer <= 0)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid ids");
		ids[q->id_count++] = (uint64_t)v->integer;
	}
	if (q->id_count)
		return 0;
	if (a->since > 0 || a->session.n)
		return select_many(c, a, q, e);
	return err_set(e, ERR_INVALID_ARGUMENTS, "Say which change to undo");
}

/* Paths as the journal has them: relative to the workspace. */
static int select_paths(const struct call *c, const struct json *paths, struct undo_request *q,
			struct err *e)
{
	size_t n = 1;

	for (const struct json *v = paths ? paths->first : NULL; v; v = v->next)
		n++;
	struct str *list = arena_array(c->arena, n, sizeof *list);
	if (!list)
		return no_memory(e);
	q->paths = list;
	for (const struct json *v = paths ? paths->first : NULL; v; v = v->next) {
		struct path p;
		if (v->type != JSON_STRING)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid paths");
		if (call_path(c, v->string, &p, e) < 0)
			return -1;
		if (p.base != PATH_WORKSPACE)
			return err_set(e, ERR_PATH_NOT_ALLOWED,
				       "Only changes in the workspace are kept");
		list[q->path_count] = arena_dup(c->arena, str_of(p.name));
		if (!list[q->path_count++].p)
			return no_memory(e);
	}
	return 0;
}

static void write_paths(struct jw *w, const char *name, const struct str *paths, size_t count)
{
	jw_array(w, name);
	for (size_t i = 0; i < count && i < LIMIT_UNDO_PATHS; i++)
		jw_str(w, NULL, paths[i]);
	jw_end(w);
}

static void write_conflicts(struct jw *w, const struct undo_check *said)
{
	jw_array(w, "conflicts");
	for (size_t i = 0; i < said->conflict_count && i < LIMIT_UNDO_PATHS; i++) {
		jw_object(w, NULL);
		jw_str(w, "path", said->conflicts[i].path);
		jw_str(w, "why", str_of(said->conflicts[i].why));
		jw_end(w);
	}
	jw_end(w);
}

static void write_result(struct jw *w, const struct undo_result *r)
{
	const struct undo_check *said = &r->said;

	if (r->change)
		jw_int(w, "change", (int64_t)r->change);
	else
		jw_null(w, "change");
	write_paths(w, "restored", said->restored, said->restored_count);
	write_paths(w, "removed", said->removed, said->removed_count);
	jw_array(w, "renamed");
	for (size_t i = 0; i < said->renamed_count && i < LIMIT_UNDO_PATHS; i++) {
		jw_object(w, NULL);
		jw_str(w, "from", said->renamed[i].from);
		jw_str(w, "to", said->renamed[i].to);
		jw_end(w);
	}
	jw_end(w);
	write_conflicts(w, said);
	jw_bool(w, "complete", !r->incomplete);
}

/* Why it could not be done, path by path. */
static void write_details(const struct call *c, const struct undo_result *r, const struct err *e)
{
	if (!c->details)
		return;
	struct jw w = jw_members_to(c->details);
	if (e->code == ERR_CONFLICT)
		write_conflicts(&w, &r->said);
	if (e->code == ERR_NOT_SAVED)
		write_paths(&w, "paths", r->said.unsaved, r->said.unsaved_count);
}

static void show_paths(struct buf *out, const char *word, const struct str *paths, size_t count)
{
	for (size_t i = 0; i < count && i < LIMIT_CHANGED_PATHS; i++)
		buf_addf(out, "%s %.*s\n", word, STR_FMT(paths[i]));
	if (count > LIMIT_CHANGED_PATHS)
		buf_addf(out, "%s %zu more\n", word, count - LIMIT_CHANGED_PATHS);
}

static void show_result(struct buf *out, const struct undo_result *r, bool dry_run)
{
	const struct undo_check *said = &r->said;

	if (dry_run)
		buf_add(out, STR("[nothing was changed; this would be done]\n"));
	if (r->incomplete)
		buf_add(out, STR("[not everything that was changed is known: this is a part of it, "
				 "perhaps not all]\n"));
	show_paths(out, "restored", said->restored, said->restored_count);
	show_paths(out, "removed", said->removed, said->removed_count);
	for (size_t i = 0; i < said->renamed_count && i < LIMIT_CHANGED_PATHS; i++)
		buf_addf(out, "renamed %.*s back to %.*s\n", STR_FMT(said->renamed[i].from),
			 STR_FMT(said->renamed[i].to));
	for (size_t i = 0; i < said->conflict_count && i < LIMIT_CHANGED_PATHS; i++)
		buf_addf(out, "conflict: %.*s %s\n", STR_FMT(said->conflicts[i].path),
			 said->conflicts[i].why);
}

static int undo_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct undo_args *a = args;
	char subject[64];
	struct undo_request q = {
		.dry_run = a->dry_run,
		.force = a->force,
		.tool = STR("undo"),
		.session = c->session,
	};
	struct undo_result r;

	if (call_has_journal(c, e) < 0 || (!a->dry_run && call_may_change(c, e) < 0) ||
	    select_ids(c, a, &q, e) < 0 || select_paths(c, a->paths, &q, e) < 0)
		return -1;
	(void)snprintf(subject, sizeof subject, q.id_count > 1 ? "%zu changes" : "change %zu",
		       q.id_count > 1 ? q.id_count : (size_t)q.ids[0]);
	q.subject = str_of(subject);
	if (call_before_work(c, e) < 0)
		return -1;
	/* An edit comes before the check of what is there, or after the undo. */
	if (!a->dry_run)
		ws_lock_all(c->ws);
	const int rc = undo_changes(c->journal, &q, c->arena, &r, e);
	if (!a->dry_run)
		ws_unlock_all(c->ws);
	if (rc < 0) {
		write_details(c, &r, e);
		return -1;
	}
	if (r.change && c->made)
		*c->made = r.made;
	if (c->text)
		show_result(c->text->text, &r, a->dry_run);
	else
		write_result(c->out, &r);
	return 0;
}

static const struct field move_fields[] = {
	{ "from", "Where it was after the change", FIELD_STR },
	{ "to", "Where it is again", FIELD_STR },
	F_END,
};

static const struct field conflict_fields[] = {
	{ "path", "What is not as the change left it", FIELD_STR },
	{ "why", "How it differs", FIELD_STR },
	F_END,
};

static const struct field undo_fields[] = {
	{ "change", "The number of the undo itself; null if nothing was changed", FIELD_INT,
	  FIELD_NULLABLE },
	{ "restored", "Paths that are as they were", FIELD_STR, FIELD_LIST },
	{ "removed", "Paths that are gone again", FIELD_STR, FIELD_LIST },
	{ "renamed", "What has its old name again", FIELD_OBJECT, FIELD_LIST, move_fields },
	{ "conflicts", "What was overwritten, with force", FIELD_OBJECT, FIELD_LIST,
	  conflict_fields },
	{ "complete", "Whether everything is known that was changed", FIELD_BOOL },
	F_END,
};

static const struct arg undo_table[] = {
	A_INT(struct undo_args, id, "id", 0, 0, INT64_MAX, "Which change"),
	A_JSON(struct undo_args, ids, "ids", 0, "Or several"),
	A_INT(struct undo_args, since, "since", 0, 0, INT64_MAX, "Or this one and all after it"),
	A_STR(struct undo_args, session, "session", 0, "Or all of this session"),
	A_JSON(struct undo_args, paths, "paths", 0, "Only these paths and what is below them"),
	A_BOOL(struct undo_args, dry_run, "dryRun", false, "Only say what would be done"),
	A_BOOL(struct undo_args, force, "force", false,
	       "Overwrite what has changed since, and restore what was saved"),
	A_END,
};

const struct tool tool_undo = {
	.name = "undo",
	.about = "Take changes back, all of them or none.",
	.args = undo_table,
	.args_size = sizeof(struct undo_args),
	.fields = undo_fields,
	.flags = TOOL_ROUTE,
	.run = undo_run,
};

static const struct arg undo_change_table[] = {
	A_INT_FLAGS(struct undo_args, id, "id", REQUIRED, 0, 1, INT64_MAX,
		    "The number of the change"),
	A_STRINGS(struct undo_args, paths, "paths", RARE,
		  "Only these paths and what is below them"),
	A_BOOL(struct undo_args, dry_run, "dry_run", false, "Only say what would be done"),
	A_BOOL_FLAGS(struct undo_args, force, "force", RARE, false,
		     "Overwrite what has changed since"),
	A_END,
};

const struct tool tool_undo_change = {
	.name = "undo_change",
	.title = "Undo change",
	.about = "Take back what a call changed in files, all of it or nothing. An undo can be "
		 "undone too.",
	.args = undo_change_table,
	.args_size = sizeof(struct undo_args),
	.fields = undo_fields,
	.flags = TOOL_MODEL | TOOL_DESTRUCTIVE,
	.run = undo_run,
};
