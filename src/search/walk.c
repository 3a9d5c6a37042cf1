/* SPDX-License-Identifier: MIT */
/* walk: threads take items of work from an ordered list and put the results in their place. */

#include "search/walk.h"

#include <errno.h>

#include "base/io.h"
#include "base/own.h"
#include "base/thread.h"
#include "search/limits.h"
#include "search/listing.h"
#include "search/walk_list.h"

/* One thread. */
struct walk_worker {
	struct walk *walk;
	void *scanner; /* from the visitor */
	struct walk_account account;
	struct buf path; /* of the current entry, from the outermost parent */
	struct dir_listing listing;
	struct walk_list hidden; /* what the rules hide in the current directory */
	size_t hidden_n;
	bool first;	    /* the caller's own thread */
	int64_t told_files; /* of account.files: how many are in walk.seen */
};

struct walk {
	const struct walk_request *request;
	const struct walk_visitor *visitor;
	struct dirs dirs;
	struct str base; /* parent_path and a "/", or empty */

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t change;
	struct walk_list list;
	struct walk_list hidden; /* what the rules hide, in no order, for when nothing is found */
	size_t hidden_n;  /* entries, up to LIMIT_SEARCH_HIDDEN; also read without the lock */
	bool note_hidden; /* constant while threads run */
	unsigned waiting;
	enum walk_stop stopped; /* the reason; also read without the lock */
	bool stop;		/* `stopped` is set; read by scanners without the lock */
	bool no_memory;		/* for something that should have been seen; set without the lock */
	bool finished;
	int64_t seen;	 /* files so far */
	int64_t tell_ms; /* when to tell the caller next; only its thread uses this */
};

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

/* What there is no memory for would be missing from the answer without a sign: the walk fails. */
static void lack_memory(struct walk_worker *me)
{
	__atomic_store_n(&me->walk->no_memory, true, __ATOMIC_RELAXED);
}

static void stop_early(struct walk *w)
{
	stop(w, cancel_asked(w->request->cancel) ? WALK_CANCELLED : WALK_TIMEOUT);
}

/* Whether to stop; remembers why. */
static bool must_stop(struct walk *w)
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

/* The first item that no thread has begun, unless enough has been found before it. */
static struct walk_item *first_open(struct walk *w, bool *busy)
{
	size_t count = 0, bytes = 0;

	for (struct walk_item *item = w->list.first; item; item = item->next) {
		if (item->state == ITEM_TAKEN) {
			*busy = true;
		} else if (item->state == ITEM_DONE) {
			count += item->hits.count;
			bytes += item->hits.bytes;
			if (enough(w, count, bytes))
				return NULL;
		} else {
			return item;
		}
	}
	return NULL;
}

/* Under the lock: wait for an item and take it. NULL when there will be no more. */
static struct walk_item *take(struct walk *w, enum item_state *was)
{
	while (!w->finished && !must_stop(w)) {
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

	walk_list_replace(&w->list, item, out);
	walk_list_merge(&w->list, &w->dirs, before ? before : w->list.first, after);
	const struct walk_item *front = w->list.first;
	if (front && front->state == ITEM_DONE && enough(w, front->hits.count, front->hits.bytes))
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
			lack_memory(me);
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
		if (must_stop(w) || enough(w, done->hits.count, done->hits.bytes))
			break;
		const struct str name = str_of(item->names + at);
		AUTO_FD fd = dir_open_file(dirfd, name.p);
		me->path.n = dir_n;
		buf_add(&me->path, name);
		if (me->path.failed)
			lack_memory(me);
		if (fd < 0 || me->path.failed) {
			me->account.unreadable++;
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

/* What is wanted of an entry when the search continues after a path seen before. */
static unsigned wanted_after(struct str after, struct str path, bool is_dir, unsigned wanted)
{
	if (!str_starts(after, path))
		return str_cmp(path, after) > 0 ? wanted : 0;
	if (!is_dir)
		return after.n == path.n ? wanted & WALK_SCAN : 0;
	/* A directory counts with its "/", and the path of everything in it begins with that. */
	const unsigned char next = after.n > path.n ? (unsigned char)after.p[path.n] : 0;
	if (next == '/')
		return wanted & WALK_DESCEND;
	return next < '/' ? wanted : 0;
}

/* The entry as visitors see it; its path is valid until the worker's next entry. */
static bool entry_of(struct walk_worker *me, int fd, size_t dir_n, const struct listed *l,
		     struct walk_entry *ret)
{
	me->path.n = dir_n;
	buf_add(&me->path, (struct str){ me->listing.names.p + l->name, l->name_n + 1 });
	if (me->path.failed)
		return false;
	me->path.n--; /* the NUL is not part of it */
	*ret = (struct walk_entry){
		.dirfd = fd,
		.path = str_from(buf_str(&me->path), me->walk->base.n),
		.name = { me->path.p + dir_n, l->name_n },
		.type = l->type,
	};
	return true;
}

/* Decide about one entry: whether it stays in the list. */
static bool decide(struct walk_worker *me, struct dir *d, int fd, size_t dir_n, struct listed *l)
{
	const struct walk *w = me->walk;
	const struct walk_request *r = w->request;
	const bool is_dir = l->type == HIT_DIRECTORY;
	struct walk_account uncounted = { 0 };
	struct walk_entry entry;

	if (str_eq(listing_name(&me->listing, l), STR(".git"))) {
		me->account.hidden++;
		return false;
	}
	if (!entry_of(me, fd, dir_n, l, &entry)) {
		lack_memory(me);
		return false;
	}
	l->ignored = !d->ignored && !r->all && dir_hides(d, buf_str(&me->path), dir_n, is_dir);
	if (l->ignored) {
		me->account.ignored++;
		const size_t noted = __atomic_load_n(&w->hidden_n, __ATOMIC_RELAXED) + me->hidden_n;
		if (!w->note_hidden || noted >= LIMIT_SEARCH_HIDDEN)
			return false;
		me->hidden_n++;
	}
	l->wanted = w->visitor->entry(w->visitor->search, &entry,
				      l->ignored ? &uncounted : &me->account);
	if (r->max_depth && d->depth + 1 >= r->max_depth)
		l->wanted &= ~(unsigned)WALK_DESCEND;
	if (r->after.n && l->wanted)
		l->wanted = wanted_after(r->after, entry.path, is_dir, l->wanted);
	return l->wanted != 0;
}

static void report(struct walk_worker *me, int fd, size_t dir_n, const struct listed *l,
		   struct walk_list *out)
{
	struct walk *w = me->walk;
	const bool more = out->last && out->last->state == ITEM_DONE;
	struct walk_item *item = more ? out->last : walk_item_new(&w->dirs, ITEM_DONE, NULL, 0);
	struct walk_entry entry;

	if (item && !more)
		walk_list_add(out, item);
	if (item && entry_of(me, fd, dir_n, l, &entry))
		w->visitor->report(w->visitor->search, &entry, &item->hits);
	else
		lack_memory(me);
}

static void add_directory(struct walk_worker *me, struct dir *d, const struct listed *l,
			  struct walk_list *out)
{
	struct dirs *all = &me->walk->dirs;
	struct dir *sub = dir_new(all, d, listing_name(&me->listing, l));
	struct walk_item *item = sub ? walk_item_new(all, ITEM_DIR, sub, 0) : NULL;

	if (sub)
		sub->ignored = d->ignored || l->ignored;
	if (item)
		walk_list_add(out, item);
	else
		lack_memory(me);
	if (sub)
		dir_drop(all, sub); /* the item holds it */
}

/* The files from list[i] on that can be scanned in one go. Returns how many. */
static size_t add_files(struct walk_worker *me, struct dir *d, size_t i, struct walk_list *out)
{
	const struct dir_listing *l = &me->listing;
	size_t n = 0, bytes = 0;

	while (i + n < l->n && n < LIMIT_WALK_FILES && l->list[i + n].wanted == WALK_SCAN &&
	       l->list[i + n].ignored == l->list[i].ignored)
		bytes += l->list[i + n++].name_n + 1;
	struct walk_item *item = walk_item_new(&me->walk->dirs, ITEM_FILES, d, bytes);
	if (!item) {
		lack_memory(me);
		return n;
	}
	char *to = item->names;
	for (size_t k = i; k < i + n; k++) {
		memcpy(to, l->names.p + l->list[k].name, l->list[k].name_n + 1);
		to += l->list[k].name_n + 1;
	}
	item->files = n;
	walk_list_add(out, item);
	return n;
}

static void make_items(struct walk_worker *me, struct dir *d, int fd, size_t dir_n,
		       struct walk_list *out)
{
	for (size_t i = 0; i < me->listing.n;) {
		const struct listed *l = &me->listing.list[i];
		struct walk_list *to = l->ignored ? &me->hidden : out;

		if (l->wanted & WALK_REPORT)
			report(me, fd, dir_n, l, to);
		if (l->wanted & WALK_SCAN) {
			i += add_files(me, d, i, to);
			continue;
		}
		if (l->wanted & WALK_DESCEND && l->type == HIT_DIRECTORY)
			add_directory(me, d, l, to);
		i++;
	}
}

/* Read a directory: *out becomes the items it consists of, in order. */
static void expand(struct walk_worker *me, struct dir *d, struct walk_list *out)
{
	struct walk *w = me->walk;
	struct dir_listing *l = &me->listing;
	size_t kept = 0;
	const int fd = dir_enter(&w->dirs, d);
	int got = fd < 0 ? -1 : 1;

	listing_reset(l);
	while (got > 0 && (got = listing_more(l, fd)) > 0 && !must_stop(w))
		;
	if (got < 0) {
		me->account.unreadable++;
		if (errno == ENOMEM)
			lack_memory(me);
	}
	if (fd < 0)
		return;
	buf_reset(&me->path, SIZE_MAX);
	buf_add(&me->path, w->base);
	dir_path(d, &me->path);
	const size_t dir_n = me->path.n;
	if (!w->request->all && !d->ignored)
		dir_read_rules(d, fd, &l->rules, dir_n, w->request->excludes);
	for (size_t i = 0; i < l->n; i++) {
		struct listed entry = l->list[i];

		if (decide(me, d, fd, dir_n, &entry))
			l->list[kept++] = entry;
	}
	l->n = kept;
	listing_sort(l);
	make_items(me, d, fd, dir_n, out);
	dir_leave(&w->dirs, d);
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
		expand(me, item->dir, &out);
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
	struct walk w = { .request = r, .visitor = v, .note_hidden = !r->after.n && !r->all };
	struct walk_worker workers[LIMIT_SEARCH_THREADS] = { 0 };
	AUTO_BUF base = { .max = SIZE_MAX };
	struct hits unused = { 0 };
	unsigned n = 0;

	if (walk_init(&w, &base, e) < 0)
		return -1;
	while (n < LIMIT_SEARCH_THREADS && (n == 0 || n < r->threads) &&
	       worker_init(&workers[n], &w))
		n++;
	workers[0].first = true;
	if (n)
		run_workers(&w, workers, n);
	gather(&w, &w.list, &ret->hits);
	for (unsigned i = 0; i < n; i++)
		add_account(&ret->account, &workers[i].account);
	ret->account.stopped = w.stopped;
	hits_keep(&ret->hits, r->limit ? r->limit : SIZE_MAX, LIMIT_SEARCH_BYTES);
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
}
