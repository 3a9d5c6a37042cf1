/* SPDX-License-Identifier: MIT */
/* walk: threads that take pieces of work from an ordered list and put results in their place. */

#include "search/walk.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "search/walk_list.h"

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

static bool is_cancelled(const struct walk_request *r)
{
	return cancel_asked(r->cancel);
}

static bool expired(const struct walk_request *r)
{
	return is_cancelled(r) || (r->deadline_ms != IO_FOREVER && io_now_ms() >= r->deadline_ms);
}

bool walk_must_stop(struct walk *w)
{
	const struct walk_request *r = w->request;

	if (__atomic_load_n(&w->stopped, __ATOMIC_RELAXED) != WALK_COMPLETE)
		return true;
	if (!expired(r))
		return false;
	stop(w, is_cancelled(r) ? WALK_CANCELLED : WALK_TIMEOUT);
	return true;
}

/* The first piece nobody has begun, unless enough has been found before it. */
static struct piece *first_open(struct walk *w, bool *busy)
{
	size_t count = 0, bytes = 0;

	for (struct piece *p = w->list.first; p; p = p->next) {
		if (p->state == PIECE_TAKEN) {
			*busy = true;
		} else if (p->state == PIECE_DONE) {
			count += p->hits.count;
			bytes += p->hits.bytes;
			if (enough(w, count, bytes))
				return NULL;
		} else {
			return p;
		}
	}
	return NULL;
}

/* Under the lock: wait for a piece of work and take it. NULL when there will be none. */
static struct piece *take(struct walk *w, enum piece_state *was)
{
	while (!w->finished && !walk_must_stop(w)) {
		bool busy = false;
		struct piece *p = first_open(w, &busy);

		if (p) {
			*was = p->state;
			p->state = PIECE_TAKEN;
			return p;
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
static void put_hidden(struct walk *w, struct worker *me)
{
	__atomic_add_fetch(&w->hidden_n, TAKE(me->hidden_n, 0), __ATOMIC_RELAXED);
	while (me->hidden.first) {
		struct piece *p = me->hidden.first;

		piece_list_remove(&me->hidden, p);
		piece_list_add(&w->hidden, p);
	}
}

/* Under the lock: what came out takes the place of the piece. */
static void put(struct walk *w, struct piece *p, struct piece_list *out)
{
	struct piece *before = p->prev, *after = p->next;

	piece_list_replace(&w->list, p, out);
	piece_list_merge(w, before ? before : w->list.first, after);
	const struct piece *front = w->list.first;
	if (front && front->state == PIECE_DONE && enough(w, front->hits.count, front->hits.bytes))
		stop(w, WALK_LIMIT);
	if (w->waiting)
		pthread_cond_broadcast(&w->change);
}

/* Scan the files of a piece, one after the other. */
static void scan_files(struct worker *me, struct piece *p, struct piece_list *out)
{
	struct walk *w = me->walk;
	const int dirfd = dir_enter(&w->dirs, p->dir);
	struct piece *done = piece_new(w, PIECE_DONE, NULL, 0);

	if (dirfd < 0 || !done) {
		me->account.unreadable += (int64_t)p->files;
		if (done)
			piece_list_add(out, done);
		if (dirfd >= 0)
			dir_leave(&w->dirs, p->dir);
		return;
	}
	me->path.n = 0;
	dir_path(p->dir, &me->path);
	const size_t dir_n = me->path.n;
	struct walk_file file = { .reads_whole = dir_reads_whole(dirfd), .stop = &w->stop };
	for (size_t at = 0; at < p->names_n; at += strlen(p->names + at) + 1) {
		if (walk_must_stop(w) || enough(w, done->hits.count, done->hits.bytes))
			break;
		const struct str name = str_of(p->names + at);
		AUTO_FD fd = dir_open_file(dirfd, name.p);
		me->path.n = dir_n;
		buf_add(&me->path, name);
		if (fd < 0 || me->path.failed) {
			me->account.unreadable++;
			continue;
		}
		file.fd = fd;
		file.path = buf_str(&me->path);
		if (!w->visitor->file(me->scanner, &file, &done->hits, &me->account))
			stop(w, is_cancelled(w->request) ? WALK_CANCELLED : WALK_TIMEOUT);
	}
	dir_leave(&w->dirs, p->dir);
	piece_list_add(out, done);
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

/* Take one piece and do it. False when there is nothing left. */
static bool work_once(struct worker *me)
{
	struct walk *w = me->walk;
	struct piece_list out = { 0 };
	enum piece_state was;

	pthread_mutex_lock(&w->lock);
	struct piece *p = take(w, &was);
	pthread_mutex_unlock(&w->lock);
	if (!p)
		return false;
	if (was == PIECE_DIR)
		walk_expand(me, p->dir, &out);
	else
		scan_files(me, p, &out);
	pthread_mutex_lock(&w->lock);
	put(w, p, &out);
	put_hidden(w, me);
	w->seen += me->account.files - me->told_files;
	me->told_files = me->account.files;
	const int64_t seen = w->seen;
	pthread_mutex_unlock(&w->lock);
	piece_free(w, p);
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

static bool worker_init(struct worker *me, struct walk *w)
{
	me->walk = w;
	me->path.max = me->names.max = SIZE_MAX;
	me->dents = mem_new(1, LIMIT_WALK_DENTS);
	if (w->visitor->worker_new)
		me->scanner = w->visitor->worker_new(w->visitor->search);
	return me->dents && (me->scanner || !w->visitor->worker_new);
}

static void worker_done(struct worker *me)
{
	if (me->scanner)
		me->walk->visitor->worker_free(me->scanner);
	mem_free(me->dents);
	mem_free(me->list);
	buf_done(&me->path);
	buf_done(&me->names);
}

/* Whether there is work for more than one. Only asked while there is one thread. */
static bool is_wide(const struct walk *w)
{
	return w->list.first != w->list.last;
}

/* Run the others on threads of their own and the first on this one, alone until there is work for
 * two. A thread that cannot be had only makes it slower. */
static void run_workers(struct walk *w, struct worker *workers, unsigned n)
{
	pthread_t threads[LIMIT_SEARCH_THREADS];
	unsigned started = 0;
	pthread_attr_t attr;

	while (n > 1 && !is_wide(w))
		if (!work_once(&workers[0]))
			return;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, LIMIT_SEARCH_STACK);
	while (started + 1 < n &&
	       pthread_create(&threads[started], &attr, work, &workers[started + 1]) == 0)
		started++;
	pthread_attr_destroy(&attr);
	work(&workers[0]);
	while (started)
		pthread_join(threads[--started], NULL);
}

/* The list as it is now: hits in order; what nobody has begun goes. */
static void gather(struct walk *w, struct hits *ret)
{
	while (w->list.first) {
		struct piece *p = w->list.first;

		piece_list_remove(&w->list, p);
		hits_join(ret, &p->hits);
		piece_free(w, p);
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
		return err_set(e, ERR_IO_ERROR, "Out of memory");
	if (dirs_init(&w->dirs, r->dirfd) < 0)
		return err_errno(e, "The directory cannot be searched");
	struct piece *root = piece_new(w, PIECE_DIR, w->dirs.root, 0);
	if (!root) {
		dirs_done(&w->dirs);
		return err_set(e, ERR_IO_ERROR, "Out of memory");
	}
	piece_list_add(&w->list, root);
	walk_parent_rules(w);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->change, NULL);
	return 0;
}

/* Nothing was found: the same search through what the rules hide, for a short time. */
static void walk_hidden(struct walk *w, struct worker *workers, unsigned n, struct found *ret)
{
	const int64_t soon = io_now_ms() + LIMIT_SEARCH_HINT_MS;
	struct walk_request short_one = *w->request;
	struct hits found = { 0 };

	if (short_one.deadline_ms > soon)
		short_one.deadline_ms = soon;
	short_one.limit = LIMIT_SEARCH_HINTS;
	w->request = &short_one;
	w->note_hidden = w->finished = false;
	w->list = TAKE(w->hidden, (struct piece_list){ 0 });
	if (w->visitor->hint)
		w->visitor->hint(w->visitor->search, short_one.deadline_ms);
	run_workers(w, workers, n);
	gather(w, &found);
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
	struct walk w = { .request = r, .visitor = v, .note_hidden = !r->after.n && !r->all };
	struct worker workers[LIMIT_SEARCH_THREADS] = { 0 };
	AUTO_BUF base = { .max = SIZE_MAX };
	unsigned n = 0;

	if (walk_init(&w, &base, e) < 0)
		return -1;
	while (n < LIMIT_SEARCH_THREADS && (n == 0 || n < r->threads) &&
	       worker_init(&workers[n], &w))
		n++;
	workers[0].first = true;
	if (n)
		run_workers(&w, workers, n);
	gather(&w, &ret->hits);
	for (unsigned i = 0; i < n; i++)
		add_account(&ret->account, &workers[i].account);
	ret->account.stopped = w.stopped;
	hits_keep(&ret->hits, r->limit ? r->limit : SIZE_MAX, LIMIT_SEARCH_BYTES);
	if (n && w.hidden.first && w.stopped == WALK_COMPLETE && ret->hits.count == 0)
		walk_hidden(&w, workers, n, ret);
	piece_list_free(&w, &w.hidden);
	for (unsigned i = 0; i < LIMIT_SEARCH_THREADS; i++)
		worker_done(&workers[i]);
	pthread_cond_destroy(&w.change);
	pthread_mutex_destroy(&w.lock);
	dirs_done(&w.dirs);
	return n && !ret->hits.failed ? 0 : err_set(e, ERR_IO_ERROR, "Out of memory");
}

void found_done(struct found *f)
{
	hits_done(&f->hits);
}
