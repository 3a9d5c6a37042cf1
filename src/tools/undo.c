/* SPDX-License-Identifier: MIT */
/* undo: take back what calls have changed. */

#include "changes/undo.h"

#include <fcntl.h>
#include <stdio.h>

#include "changes/limits.h"
#include "guard/guard.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "workspace/locks.h"
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

/* All changes from a number on, or of a session, that are in force. Undos among them stay as they
 * are, except one that is named by that number. */
static int select_many(const struct call *c, const struct undo_args *a, struct undo_request *q,
		       struct err *e)
{
	const uint64_t since = a->since > 0 ? (uint64_t)a->since - 1 : 0;
	const uint64_t session = journal_session(a->session);
	struct change_entry *all = arena_array(c->arena, LIMIT_CHANGES + 1, sizeof *all);
	uint64_t *ids = arena_array(c->arena, LIMIT_CHANGES + 1, sizeof *ids);

	if (!all || !ids)
		return no_memory(e);
	const size_t found = journal_list(c->shared->journal, since, all, LIMIT_CHANGES);
	const size_t n = found < LIMIT_CHANGES ? found : LIMIT_CHANGES;
	for (size_t i = 0; i < n; i++) {
		const bool is_undo = all[i].flags & CHANGE_UNDO && all[i].id != since + 1;
		if (all[i].undone_by || is_undo || (a->session.n && all[i].session != session))
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

static int check_list(const struct call *c, const struct str *list, size_t count, struct err *e)
{
	struct path p = { .base = PATH_WORKSPACE };
	char name[2 * PATH_MAX];

	for (size_t i = 0; i < count; i++) {
		(void)snprintf(p.name, sizeof p.name, "%.*s", STR_FMT(list[i]));
		(void)ws_absolute(c->shared->ws, &p, name);
		if (guard_permits_name(c->shared->guard, name, e) < 0)
			return -1;
	}
	return 0;
}

/* A directory that gets its old name back may have got something since. */
static int check_move(const struct call *c, struct str from, struct str to, struct err *e)
{
	struct path p = { .base = PATH_WORKSPACE };
	char old[2 * PATH_MAX], new[2 * PATH_MAX];

	(void)snprintf(p.name, sizeof p.name, "%.*s", STR_FMT(from));
	(void)ws_absolute(c->shared->ws, &p, old);
	(void)snprintf(p.name, sizeof p.name, "%.*s", STR_FMT(to));
	(void)ws_absolute(c->shared->ws, &p, new);
	return guard_permits_move(c->shared->guard, AT_FDCWD, old, new, e);
}

/* A model does not undo what it may not change; a person does. */
static int check_guarded(const struct call *c, const struct undo_request *q, struct err *e)
{
	struct undo_request dry = *q;
	struct undo_result would = { .change = 0 };
	struct err why;

	if (!c->for_model || !c->guarded || !c->shared->guard || q->dry_run)
		return 0;
	dry.dry_run = true;
	if (undo_changes(c->shared->journal, &dry, c->arena, &would, &why) < 0)
		return 0; /* it is refused anyway */
	for (size_t i = 0; i < would.said.renamed_count; i++)
		if (check_list(c, &would.said.renamed[i].from, 1, e) < 0 ||
		    check_list(c, &would.said.renamed[i].to, 1, e) < 0 ||
		    check_move(c, would.said.renamed[i].from, would.said.renamed[i].to, e) < 0)
			return -1;
	return check_list(c, would.said.restored, would.said.restored_count, e) < 0
		       ? -1
		       : check_list(c, would.said.removed, would.said.removed_count, e);
}

/* What a person has put back is no news to the guard. */
static void accept(const struct call *c, const struct undo_check *said)
{
	const struct str *const lists[] = { said->restored, said->removed };
	const size_t counts[] = { said->restored_count, said->removed_count };
	struct path p = { .base = PATH_WORKSPACE };
	char name[2 * PATH_MAX];

	for (size_t k = 0; c->shared->guard && k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < counts[k]; i++) {
			(void)snprintf(p.name, sizeof p.name, "%.*s", STR_FMT(lists[k][i]));
			(void)ws_absolute(c->shared->ws, &p, name);
			guard_accept_name(c->shared->guard, c, name);
		}
	if (c->shared->guard)
		guard_accepted(c->shared->guard, c);
}

static int undo_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct undo_args *a = args;
	char subject[64];
	struct undo_request q = {
		.dry_run = a->dry_run,
		.force = a->force,
		.tool = STR("undo"),
		.session = c->session,
	};

	if (call_has_journal(c, e) < 0 || (!a->dry_run && call_may_change(c, e) < 0) ||
	    select_ids(c, a, &q, e) < 0 || select_paths(c, a->paths, &q, e) < 0)
		return -1;
	(void)snprintf(subject, sizeof subject, q.id_count > 1 ? "%zu changes" : "change %zu",
		       q.id_count > 1 ? q.id_count : (size_t)q.ids[0]);
	q.subject = str_of(subject);
	if (call_before_work(c, e) < 0)
		return -1;
	/* An edit comes before the check of what is there, or after the undo. */
	if (!a->dry_run && locks_take_all(ws_locks(c->shared->ws), e) < 0)
		return -1;
	ret->kind = RESULT_UNDONE;
	ret->undone.dry_run = a->dry_run;
	int rc = check_guarded(c, &q, e);
	if (rc == 0)
		rc = undo_changes(c->shared->journal, &q, c->arena, &ret->undone.did, e);
	if (!a->dry_run)
		locks_release_all(ws_locks(c->shared->ws));
	if (rc == 0 && !a->dry_run)
		accept(c, &ret->undone.did.said);
	if (rc == 0 && ret->undone.did.change && c->made)
		*c->made = ret->undone.did.made;
	return rc;
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
	{ "restored", "Paths that are as they were; of each kind the first 1,000", FIELD_STR,
	  FIELD_LIST },
	{ "restored_count", "How many there are in all", FIELD_INT },
	{ "removed", "Paths that are gone again", FIELD_STR, FIELD_LIST },
	{ "removed_count", "How many there are in all", FIELD_INT },
	{ "renamed", "What has its old name again", FIELD_OBJECT, FIELD_LIST, move_fields },
	{ "renamed_count", "How many there are in all", FIELD_INT },
	{ "conflicts", "What was overwritten, with force", FIELD_OBJECT, FIELD_LIST,
	  conflict_fields },
	{ "conflict_count", "How many there are in all", FIELD_INT },
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
