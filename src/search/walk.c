/* SPDX-License-Identifier: MIT */
/* walk: threads take items of work from an ordered list and put the results in their place. */

#include "search/walk.h"

#include <errno.h>

#include "base/io.h"
#include "base/own.h"
#include "base/thread.h"
#include "search/limits.h"
#include "search/walker.h"

static bool enough(const struct walk *w, size_t count, size_t bytes)
{
	return (w->request->limit && count >= w->request->limit) || bytes >= LIMIT_SEARCH_BYTES;
}

static void stop(struct walk *w, enum walk_stop why)
{
	enum walk_stop none = WALK_COMPLETE;

	__atomic_compare_exchange_n(&w->stopped, &none, why, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
}

static void stop_early(struct walk *w)
{
	stop(w, cancel_asked(w->request->cancel) ? WALK_CANCELLED : WALK_TIMEOUT);
}

bool walk_must_stop(struct walk *w)
{
	const struct walk_request *r = w->request;

	if (__atomic_load_n(&w->stopped, __ATOMIC_RELAXED) != WALK_COMPLETE)
		return true;
	if (!cancel_asked(r->cancel) &&
	    (r->deadline_ms == IO_FOREVER || io_now_ms() < r->deadline_ms))
		return false;
	stop_early(w);
	return true;
}

/* The first item that no thread has begun, unless enough has been found before it: of its group, if
 * the walk spreads. */
static struct walk_item *first_open(struct walk *w, bool *busy)
{
	size_t count = 0, bytes = 0;
	unsigned group = 0;

	for (struct walk_item *item = w->list.first, *next; item; item = next) {
		next = item->next;
		if (item->group != group) {
			group = item->group;
			count = 0;
		}
		if (item->state == ITEM_TAKEN) {
			*busy = true;
		} else if (item->state == ITEM_DONE) {
			count += item->hits.count;
			bytes += item->hits.bytes;
			if (enough(w, w->request->spread ? 0 : count, bytes))
				return NULL;
		} else if (!enough(w, count, 0)) {
			return item;
		} else {
			walk_list_remove(&w->list, item);
			walk_item_free(&w->dirs, item);
		}
	}
	return NULL;
}

/* Under the lock: wait for an item and take it. NULL when there will be no more. */
static struct walk_item *take(struct walk *w, enum item_state *was)
{
	while (!w->finished && !walk_must_stop(w)) {
		bool busy = false;
		struct walk_item *item = first_open(w, &busy);

		if (item) {
			*was = item->state;
			item->state = ITEM_TAKEN;
			return item;
		}
		if (!busy)
			break;
		w->waiting++;
		pthread_cond_wait(&w->change, &w->lock);
		w->waiting--;
	}
	w->finished = true;
	pthread_cond_broadcast(&w->change);
	return NULL;
}

/* Under the lock: keep what a directory hides, for walk_hidden. */
static void put_hidden(struct walk *w, struct walk_worker *me)
{
	__atomic_add_fetch(&w->hidden_n, TAKE(me->hidden_n, 0), __ATOMIC_RELAXED);
	while (me->hidden.first)
		walk_list_add(&w->hidden, walk_list_shift(&me->hidden));
}

/* Under the lock: what came out takes the place of the item. */
static void put(struct walk *w, struct walk_item *item, struct walk_list *out)
{
	struct walk_item *before = item->prev, *after = item->next;
	const bool split = w->request->spread && item->dir->depth == w->split_depth && !item->group;

	for (struct walk_item *i = out->first; i; i = i->next)
		i->group = split ? ++w->groups : item->group;

	walk_list_replace(&w->list, item, out);
	walk_list_merge(&w->list, &w->dirs, before ? before : w->list.first, after);
	const struct walk_item *front = w->list.first;
	const size_t count = front && !w->request->spread ? front->hits.count : 0;
	if (front && front->state == ITEM_DONE && enough(w, count, front->hits.bytes))
		stop(w, WALK_LIMIT);
	if (w->waiting)
		pthread_cond_broadcast(&w->change);
}

/* Scan the files of an item, one after the other. */
static void scan_files(struct walk_worker *me, struct walk_item *item, struct walk_list *out)
{
	struct walk *w = me->walk;
	const int dirfd = dir_enter(&w->dirs, item->dir);
	struct walk_item *done = walk_item_new(&w->dirs, ITEM_DONE, NULL, 0);

	if (dirfd < 0 || !done) {
		if (!done || errno == ENOMEM)
			walk_lack_memory(me);
		me->account.unreadable += (int64_t)item->files;
		if (done)
			walk_list_add(out, done);
		if (dirfd >= 0)
			dir_leave(&w->dirs, item->dir);
		return;
	}
	buf_reset(&me->path, SIZE_MAX);
	dir_path(item->dir, &me->path);
	const size_t dir_n = me->path.n;
	struct walk_file file = { .reads_whole = dir_reads_whole(dirfd), .stop = &w->stop };
	for (size_t at = 0; at < item->names_n; at += strlen(item->names + at) + 1) {
		if (walk_must_stop(w) || enough(w, done->hits.count, done->hits.bytes))
			break;
		const struct str name = str_of(item->names + at);
		AUTO_FD fd = dir_open_file(dirfd, name.p);
		me->path.n = dir_n;
		buf_add(&me->path, name);
		if (me->path.failed)
			walk_lack_memory(me);
		if (fd < 0 || me->path.failed) {
			me->account.unreadable++;
			continue;
		}
		if (w->request->hides && w->request->hides(w->request->hides_arg, fd)) {
			me->account.hidden++;
			continue;
		}
		file.fd = fd;
		file.path = buf_str(&me->path);
		if (!w->visitor->file(me->scanner, &file, &done->hits, &me->account))
			stop_early(w);
	}
	dir_leave(&w->dirs, item->dir);
	walk_list_add(out, done);
}

/* Tell the caller how far all threads have come, unless it was told a moment ago. */
static void tell(struct walk *w, int64_t seen)
{
	const struct walk_request *r = w->request;
	const int64_t now = io_now_ms();

	if (now < w->tell_ms)
		return;
	w->tell_ms = now + LIMIT_SEARCH_TELL_MS;
	r->seen(r->seen_arg, seen);
}

/* Take one item and do it. False when there is nothing left. */
static bool work_once(struct walk_worker *me)
{
	struct walk *w = me->walk;
	struct walk_list out = { 0 };
	enum item_state was;

	pthread_mutex_lock(&w->lock);
	struct walk_item *item = take(w, &was);
	pthread_mutex_unlock(&w->lock);
	if (!item)
		return false;
	if (was == ITEM_DIR)
		walk_expand(me, item->dir, &out);
	else
		scan_files(me, item, &out);
	pthread_mutex_lock(&w->lock);
	put(w, item, &out);
	put_hidden(w, me);
	w->seen += me->account.files - me->told_files;
	me->told_files = me->account.files;
	const int64_t seen = w->seen;
	pthread_mutex_unlock(&w->lock);
	walk_item_free(&w->dirs, item);
	if (me->first && w->request->seen)
		tell(w, seen);
	return true;
}

static void *work(void *worker)
{
	while (work_once(worker))
		;
	return NULL;
}

static bool worker_init(struct walk_worker *me, struct walk *w)
{
	me->walk = w;
	me->path.max = SIZE_MAX;
	if (w->visitor->worker_new)
		me->scanner = w->visitor->worker_new(w->visitor->search);
	return listing_init(&me->listing) == 0 && (me->scanner || !w->visitor->worker_new);
}

static void worker_done(struct walk_worker *me)
{
	if (me->scanner)
		me->walk->visitor->worker_free(me->scanner);
	listing_done(&me->listing);
	buf_done(&me->path);
}

/* Run the others on threads of their own and the first on this one, alone until there is work for
 * two. A thread that cannot be started only makes it slower. */
static void run_workers(struct walk *w, struct walk_worker *workers, unsigned n)
{
	pthread_t threads[LIMIT_SEARCH_THREADS];
	unsigned started = 0;

	while (n > 1 && w->list.first == w->list.last)
		if (!work_once(&workers[0]))
			return;
	while (started + 1 < n &&
	       thread_start(work, &workers[started + 1], LIMIT_SEARCH_STACK, &threads[started]))
		started++;
	work(&workers[0]);
	while (started)
		pthread_join(threads[--started], NULL);
}

/* Move the hits of a list, in order, to *ret; work that was not begun is dropped. */
static void gather(struct walk *w, struct walk_list *from, struct hits *ret)
{
	while (from->first) {
		struct walk_item *item = walk_list_shift(from);

		hits_join(ret, &item->hits);
		walk_item_free(&w->dirs, item);
	}
}

static int walk_init(struct walk *w, struct buf *base, struct err *e)
{
	const struct walk_request *r = w->request;

	if (r->parent_path.n) {
		buf_add(base, r->parent_path);
		buf_addc(base, '/');
	}
	w->base = buf_str(base);
	if (base->failed)
		return hits_fail(e);
	if (dirs_init(&w->dirs, r->dirfd) < 0)
		return err_errno(e, "The directory cannot be searched");
	struct walk_item *root = walk_item_new(&w->dirs, ITEM_DIR, w->dirs.root, 0);
	if (!root) {
		dirs_done(&w->dirs);
		return hits_fail(e);
	}
	walk_list_add(&w->list, root);
	if (!r->all)
		dirs_read_rules(&w->dirs, r->parents, r->parent_count, w->base, r->excludes);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->change, NULL);
	return 0;
}

/* Nothing was found: the same search through what the rules hide, for a short time. */
static void walk_hidden(struct walk *w, struct walk_worker *workers, unsigned n, struct found *ret)
{
	const int64_t soon = io_now_ms() + LIMIT_SEARCH_HINT_MS;
	struct walk_request short_one = *w->request;
	struct hits found = { 0 };

	if (short_one.deadline_ms > soon)
		short_one.deadline_ms = soon;
	short_one.limit = LIMIT_SEARCH_HINTS;
	short_one.spread = false;
	w->request = &short_one;
	w->note_hidden = w->finished = false;
	w->list = TAKE(w->hidden, (struct walk_list){ 0 });
	if (w->visitor->hint)
		w->visitor->hint(w->visitor->search, short_one.deadline_ms);
	run_workers(w, workers, n);
	gather(w, &w->list, &found);
	ret->ignored_matches = (int64_t)found.count;
	hits_done(&found);
}

static void add_account(struct walk_account *total, const struct walk_account *a)
{
	total->files += a->files;
	total->ignored += a->ignored;
	total->hidden += a->hidden;
	total->filtered += a->filtered;
	total->binary += a->binary;
	total->too_large += a->too_large;
	total->unreadable += a->unreadable;
	total->long_lines += a->long_lines;
}

int walk_run(const struct walk_request *r, const struct walk_visitor *v, struct found *ret,
	     struct err *e)
{
	struct walk w = { .request = r,
			  .visitor = v,
			  .note_hidden = !r->after.n && !r->all,
			  .skip_filled =
				  r->skip_filled &&
				  !filled_above(r->parents, r->parent_count, r->parent_path) };
	struct walk_worker workers[LIMIT_SEARCH_THREADS] = { 0 };
	AUTO_BUF base = { .max = SIZE_MAX };
	struct hits unused = { 0 };
	unsigned n = 0;

	if (walk_init(&w, &base, e) < 0)
		return -1;
	for (size_t i = 0; i < r->below.n; i++)
		w.split_depth += r->below.p[i] == '/';
	while (n < LIMIT_SEARCH_THREADS && (n == 0 || n < r->threads) &&
	       worker_init(&workers[n], &w))
		n++;
	workers[0].first = true;
	if (n)
		run_workers(&w, workers, n);
	gather(&w, &w.list, &ret->hits);
	filled_end(w.filled);
	ret->filled = w.filled;
	for (unsigned i = 0; i < n; i++)
		add_account(&ret->account, &workers[i].account);
	ret->account.stopped = w.stopped;
	hits_keep(&ret->hits, r->limit && !r->spread ? r->limit : SIZE_MAX, LIMIT_SEARCH_BYTES);
	if (n && w.hidden.first && w.stopped == WALK_COMPLETE && ret->hits.count == 0)
		walk_hidden(&w, workers, n, ret);
	gather(&w, &w.hidden, &unused);
	hits_done(&unused);
	for (unsigned i = 0; i < LIMIT_SEARCH_THREADS; i++)
		worker_done(&workers[i]);
	pthread_cond_destroy(&w.change);
	pthread_mutex_destroy(&w.lock);
	dirs_done(&w.dirs);
	return n && !w.no_memory && !ret->hits.failed ? 0 : hits_fail(e);
}

void found_done(struct found *f)
{
	hits_done(&f->hits);
	hits_done(&f->left);
	filled_free(f->filled);
	f->filled = NULL;
}
