/* SPDX-License-Identifier: MIT */
/* undo: read the changes, check, apply, commit; or take back. */

#include "changes/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/apply.h"
#include "changes/dirs.h"
#include "changes/recording.h"
#include "workspace/pending.h"
#include "workspace/workspace.h"

/* The changes of a request, newest first. */
struct selection {
	uint64_t *ids;
	struct change *changes;
	size_t count;
};

static int newest_first(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

static bool has(const struct selection *s, uint64_t id)
{
	return bsearch(&id, s->ids, s->count, sizeof *s->ids, newest_first) != NULL;
}

static bool is_asked_for(const struct undo_request *q, struct str path)
{
	for (size_t i = 0; i < q->path_count; i++) {
		const struct str p = q->paths[i];
		if (p.n == 0 || str_eq(path, p) || (str_starts(path, p) && path.p[p.n] == '/'))
			return true;
	}
	return q->path_count == 0;
}

/* Leave out what is not asked for. */
static void narrow(const struct undo_request *q, struct change *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->item_count; i++)
		if (is_asked_for(q, c->items[i].path) ||
		    (c->items[i].from.n && is_asked_for(q, c->items[i].from)))
			c->items[kept++] = c->items[i];
	c->item_count = kept;
}

static int read_changes(struct journal *j, const struct undo_request *q, struct arena *a,
			struct selection *s, struct err *e)
{
	struct change_entry entry;

	for (size_t i = 0; i < s->count; i++) {
		if (journal_find(j, s->ids[i], &entry, e) < 0)
			return -1;
		if (entry.flags & CHANGE_OPEN)
			return err_set(e, ERR_CONFLICT,
				       "Change %llu goes on: something of its command still "
				       "runs. Stop it, or wait until it has ended.",
				       (unsigned long long)entry.id);
		if (entry.undone_by && !has(s, entry.undone_by))
			return err_set(e, ERR_CONFLICT,
				       "Change %llu is undone already, by change %llu. To do it "
				       "again, undo that one.",
				       (unsigned long long)entry.id,
				       (unsigned long long)entry.undone_by);
		if (journal_read(j, &entry, true, a, &s->changes[i], e) < 0)
			return -1;
		narrow(q, &s->changes[i]);
	}
	return 0;
}

static int select_changes(struct journal *j, const struct undo_request *q, struct arena *a,
			  struct selection *s, struct err *e)
{
	s->ids = arena_array(a, q->id_count + 1, sizeof *s->ids);
	s->changes = arena_array(a, q->id_count + 1, sizeof *s->changes);
	if (!s->ids || !s->changes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to undo so much at once");
	for (size_t i = 0; i < q->id_count; i++)
		s->ids[i] = q->ids[i];
	qsort(s->ids, q->id_count, sizeof *s->ids, newest_first);
	for (size_t i = 0; i < q->id_count; i++)
		if (s->count == 0 || s->ids[s->count - 1] != s->ids[i])
			s->ids[s->count++] = s->ids[i];
	return read_changes(j, q, a, s, e);
}

static int judge(const struct undo_check *said, bool force, struct err *e)
{
	if (force)
		return 0;
	if (said->conflict_count)
		return err_set(e, ERR_CONFLICT,
			       "%.*s %s%s. Nothing was changed. With force it is overwritten; its "
			       "present state is kept and can be restored.",
			       STR_FMT(said->conflicts[0].path), said->conflicts[0].why,
			       said->conflict_count > 1 ? ", and there are more conflicts" : "");
	if (said->unsaved_count)
		return err_set(e, ERR_NOT_SAVED,
			       "The old content of %.*s%s was not saved, or is not kept any more. "
			       "Nothing was changed. With force the rest is restored.",
			       STR_FMT(said->unsaved[0]),
			       said->unsaved_count > 1 ? " and of others" : "");
	return 0;
}

static void release(const struct entry_store *store, int root, const struct change *c)
{
	for (size_t i = 0; i < c->item_count; i++) {
		char name[NAME_MAX + 1];
		const struct change_item *item = &c->items[i];
		AUTO_FD dir = item->before.kept == KEPT_LINK
				      ? dirs_open_parent(root, item_was(item), name)
				      : -1;
		if (dir >= 0)
			entry_release(store, dir, name, &item->before);
	}
}

/* Apply all of it in one recording; if a step fails, take it back. */
static int carry_out(struct journal *j, const struct undo_request *q, const struct selection *s,
		     const struct entry_store *store, int root, struct arena *a,
		     struct undo_result *ret, struct err *e)
{
	const struct recording_about about = {
		.tool = q->tool,
		.subject = q->subject,
		.session = q->session,
		.flags = CHANGE_ATOMIC | (q->path_count ? 0 : CHANGE_UNDO),
		.undoes = s->ids,
		.undo_count = q->path_count ? 0 : s->count,
	};
	AUTO_RECORDING r = recording_of(j, &about);
	struct err why;

	for (size_t i = 0; i < s->count; i++) {
		if (apply_backwards(&r, store, root, &s->changes[i], q->force, e) == 0)
			continue;
		if (recording_take_back(&r, &why) < 0)
			return err_set(
				e, e->code,
				"%.400s. It could not be taken back either (%.400s): that is "
				"tried again when the server starts.",
				e->msg, why.msg);
		const struct err first = *e;
		return err_set(e, first.code, "%.900s. Nothing was changed.", first.msg);
	}
	if (recording_finish(&r, a, &ret->made))
		ret->change = ret->made.id;
	for (size_t i = 0; i < s->count; i++)
		release(store, root, &s->changes[i]);
	return 0;
}

static int undo(struct journal *j, const struct undo_request *q, struct arena *a,
		struct undo_result *ret, struct err *e)
{
	const struct workspace *ws = journal_workspace(j);
	const struct path top = { .base = PATH_WORKSPACE };
	const struct entry_store store = {
		.blobs = journal_blobs(j),
		.pending = ws_pending(ws),
		.max_file = journal_max_file(j),
	};
	struct selection s = { .count = 0 };
	AUTO_FD root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e);

	if (root < 0 || select_changes(j, q, a, &s, e) < 0 ||
	    check_changes(&store, root, s.changes, s.count, a, &ret->said, e) < 0 ||
	    judge(&ret->said, q->force, e) < 0)
		return -1;
	for (size_t i = 0; i < s.count; i++)
		ret->incomplete |= (s.changes[i].flags & CHANGE_INCOMPLETE) != 0;
	return q->dry_run ? 0 : carry_out(j, q, &s, &store, root, a, ret, e);
}

int undo_changes(struct journal *j, const struct undo_request *q, struct arena *a,
		 struct undo_result *ret, struct err *e)
{
	*ret = (struct undo_result){ .change = 0 };
	journal_lock_undo(j);
	const int rc = undo(j, q, a, ret, e);
	journal_unlock_undo(j);
	return rc;
}
