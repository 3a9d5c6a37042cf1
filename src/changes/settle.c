/* SPDX-License-Identifier: MIT */
/* settle: what dead programs left unfinished is finished or taken back, the newest first. */

#include "changes/settle.h"

#include <fcntl.h>

#include "base/own.h"
#include "changes/limits.h"
#include "changes/recording.h"
#include "changes/steps.h"
#include "workspace/locks.h"
#include "workspace/workspace.h"

/* The steps of a change are collected in a second pass over its segment, because there are rarely
 * any. */
static void collect(void *arg, uint64_t at, const struct record_head *h, struct str content)
{
	struct steps *s = arg;
	struct touch_record back;

	(void)at;
	if (h->change != s->part.change)
		return;
	if (h->type == RECORD_BACK && record_get_touch(content, &back) && back.number < s->back)
		s->back = back.number;
	if (h->type == RECORD_LOSE)
		s->lost = s->count;
	if (h->type == RECORD_TOUCH || h->type == RECORD_MOVE || h->type == RECORD_PUT)
		(void)steps_add(
			s, &(struct change_step){ .type = h->type, .dir = -1, .content = content });
}

/* Take an atomic change of a dead program back. False if that has to be tried again. */
static bool take_back_for(const struct steps *s)
{
	struct file_locks *locks = ws_locks(journal_workspace(s->journal));
	struct err e;

	if (locks_take_all(locks, &e) < 0)
		return false;
	const bool done = steps_take_back(s, &e) == 0;
	if (done)
		journal_drop(s->journal, &s->part);
	locks_release_all(locks);
	return done;
}

static void settle(struct journal *j, const struct orphan *o, int root, struct arena *a)
{
	struct steps s = { .journal = j, .about = o->about, .memory = a, .back = UINT64_MAX };

	if (store_resume(journal_store(j), o->about.id, o->segment, &s.part) < 0)
		return;
	store_scan(journal_store(j), o->segment, collect, &s);
	if (!(o->about.flags & CHANGE_ATOMIC)) {
		recording_finish_for(&s, root);
		return;
	}
	const bool done = take_back_for(&s);
	store_end(journal_store(j), &s.part);
	if (!done)
		journal_leave(j, o);
}

size_t settle_all(struct journal *j)
{
	const struct path top = { .base = PATH_WORKSPACE };
	AUTO_ARENA a = { .max = LIMIT_CHANGE_MEMORY };
	struct orphan *list = NULL;
	struct err e;
	AUTO_FD root = ws_open(journal_workspace(j), &top, O_PATH | O_DIRECTORY, &e);
	const size_t n = root < 0 ? 0 : journal_orphans(j, &a, &list);

	/* The newest first: it may have touched what an older one had left. */
	for (size_t i = n; i-- > 0;)
		settle(j, &list[i], root, &a);
	store_adopted(journal_store(j));
	return n;
}
