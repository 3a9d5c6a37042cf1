/* SPDX-License-Identifier: MIT */
/* batch: prepare every file, put them in place one after the other, or go back. */

#include "changes/batch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "changes/swap.h"
#include "workspace/workspace.h"

struct batch_work {
	const struct batch *b;
	struct recording r;
	struct swap_room room;
	struct swap *swaps;
	struct swap **order; /* in which they are carried out */
	size_t begun;	     /* so many of them */
};

static int by_path(const void *a, const void *b)
{
	const struct swap_file *x = a, *y = b;

	if (x->path->base != y->path->base)
		return x->path->base < y->path->base ? -1 : 1;
	return strcmp(x->path->name, y->path->name);
}

static int prepare(struct batch_work *w, struct err *e)
{
	for (size_t i = 0; i < w->b->count; i++)
		if (swap_find(&w->swaps[i], &w->room, i ? &w->swaps[i - 1] : NULL, e) < 0 ||
		    swap_prepare(&w->swaps[i], &w->room, e) < 0)
			return -1;
	return 0;
}

static int carry_out(struct batch_work *w, struct err *e)
{
	const size_t n = w->b->count;
	size_t k = 0;

	/* What goes away goes first, the deepest first: it may be in the way of what comes. */
	for (size_t i = n; i-- > 0;)
		if (w->swaps[i].way == SWAP_REMOVE)
			w->order[k++] = &w->swaps[i];
	for (size_t i = 0; i < n; i++)
		if (w->swaps[i].way != SWAP_REMOVE)
			w->order[k++] = &w->swaps[i];
	while (w->begun < n)
		if (swap_carry_out(w->order[w->begun++], &w->room, e) < 0)
			return -1;
	return 0;
}

static int stop_at_first(void *arg, struct str name, unsigned char type, struct err *e)
{
	(void)arg;
	(void)name;
	(void)type;
	return err_set(e, ERR_NO_CHANGE, "It is not empty");
}

/* Remove the directories above a removed file that are empty now. */
static void prune(struct batch_work *w, const struct path *removed)
{
	struct path up = *removed;
	struct err ignored;
	char *slash;

	while ((slash = strrchr(up.name, '/'))) {
		struct file_place at;
		*slash = '\0';
		if (ws_place(w->b->ws, &up, false, NULL, &at, &ignored) < 0)
			return;
		AUTO_FD dir = at.dir;
		const int fd =
			openat(dir, at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || ws_list(fd, stop_at_first, NULL, &ignored) < 0 ||
		    recording_touch(&w->r, dir, at.name, TOUCH_LAST, &ignored) < 0 ||
		    unlinkat(dir, at.name, AT_REMOVEDIR) < 0)
			return;
	}
}

/* Nothing can fail any more that would have to be taken back. */
static void finish(struct batch_work *w)
{
	for (size_t i = 0; i < w->b->count; i++)
		swap_finish(&w->swaps[i], w->b->sync && !w->swaps[i].borrowed);
	for (size_t i = w->b->count; w->b->prune && i-- > 0;)
		if (w->swaps[i].way == SWAP_REMOVE)
			prune(w, w->swaps[i].f->path);
}

static void release(struct batch_work *w)
{
	for (size_t i = w->b->count; i-- > 0;)
		swap_release(&w->swaps[i]);
}

/* Put everything back. The journal has a second way, which needs space. */
static int take_back(struct batch_work *w, struct arena *a, struct err *e)
{
	const struct err first = *e;
	bool clean = true;
	struct change none;
	struct err why;

	while (w->begun)
		clean &= swap_undo(w->order[--w->begun], &w->room) == 0;
	release(w);
	if (clean)
		(void)recording_finish(&w->r, a, &none);
	if (clean || (w->b->journal && recording_take_back(&w->r, &why) == 0))
		return err_say(e, "Nothing was changed.");
	return err_set(e, first.code, "%.500s It could not be taken back completely%s.", first.msg,
		       w->b->journal ? ": that is tried again when the server starts" : "");
}

static int apply(struct batch *b, struct arena *a, struct change *made, struct err *e)
{
	struct recording_about about = b->about;

	about.flags |= CHANGE_ATOMIC;
	struct batch_work w = { .b = b, .r = recording_of(b->journal, &about) };
	w.room = (struct swap_room){ .ws = b->ws, .r = &w.r, .sync = b->sync };
	w.swaps = arena_array(a, b->count + 1, sizeof *w.swaps);
	w.order = arena_array(a, b->count + 1, sizeof(struct swap *));
	if (!w.swaps || !w.order)
		return err_set(e, ERR_TOO_BUSY,
			       "Not enough memory for so many files. Nothing was changed.");
	qsort(b->files, b->count, sizeof *b->files, by_path);
	for (size_t i = 0; i < b->count; i++)
		w.swaps[i] = swap_of(&b->files[i]);
	int rc = prepare(&w, e) < 0 || carry_out(&w, e) < 0 ? take_back(&w, a, e) : 0;
	if (rc == 0) {
		finish(&w);
		release(&w);
		(void)recording_finish(&w.r, a, made);
	}
	recording_done(&w.r);
	return rc;
}

int batch_apply(struct batch *b, struct arena *a, struct change *made, struct err *e)
{
	if (b->journal)
		journal_lock_undo(b->journal);
	*made = (struct change){ .id = 0 };
	const int rc = apply(b, a, made, e);
	if (b->journal)
		journal_unlock_undo(b->journal);
	return rc;
}
