/* SPDX-License-Identifier: MIT */
/* journal: an index that is read once and kept up to date. */

#include "changes/journal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/own.h"
#include "changes/limits.h"

/* Undoing an undo of an undo … : how far it is followed. */
enum { UNDO_DEPTH = 64 };

struct journal {
	const struct workspace *ws;
	struct store *store;
	struct blobs blobs;
	int64_t max_file;

	pthread_mutex_t undo;
	pthread_mutex_t lock;	 /* of what follows */
	pthread_cond_t released; /* holders is 0 */
	size_t holders;
	struct open_change *open;
	uint64_t last;		      /* the greatest number that was given */
	struct change_entry *entries; /* by number */
	size_t count, room;
	uint64_t *begun; /* while the store is read: changes that have no end yet */
	size_t begun_count, begun_room;
};

struct store *journal_store(struct journal *j)
{
	return j->store;
}

struct blobs *journal_blobs(struct journal *j)
{
	return &j->blobs;
}

const struct workspace *journal_workspace(const struct journal *j)
{
	return j->ws;
}

int64_t journal_max_file(const struct journal *j)
{
	return j->max_file;
}

uint64_t journal_session(struct str name)
{
	return name.n ? XXH3_64bits(name.p, name.n) : 0;
}

uint64_t journal_number(struct journal *j)
{
	(void)pthread_mutex_lock(&j->lock);
	const uint64_t id = ++j->last;
	(void)pthread_mutex_unlock(&j->lock);
	return id;
}

void journal_add_open(struct journal *j, struct open_change *o)
{
	(void)pthread_mutex_lock(&j->lock);
	o->next = j->open;
	j->open = o;
	(void)pthread_mutex_unlock(&j->lock);
}

void journal_remove_open(struct journal *j, const struct open_change *o)
{
	(void)pthread_mutex_lock(&j->lock);
	for (struct open_change **at = &j->open; *at; at = &(*at)->next)
		if (*at == o) {
			*at = o->next;
			break;
		}
	(void)pthread_mutex_unlock(&j->lock);
}

static const struct open_change *find_open(const struct journal *j, uint64_t id)
{
	const struct open_change *o = j->open;

	while (o && o->about.id != id)
		o = o->next;
	return o;
}

static struct change_entry entry_of_open(const struct open_change *o)
{
	return (struct change_entry){ .id = o->about.id,
				      .time_ms = o->about.time_ms,
				      .flags = o->about.flags | CHANGE_OPEN,
				      .session = journal_session(o->about.session) };
}

/* Where the entry of that number is, or would be. */
static size_t position(const struct journal *j, uint64_t id)
{
	size_t low = 0, high = j->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (j->entries[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct change_entry *entry_of(const struct journal *j, uint64_t id)
{
	const size_t i = position(j, id);

	return i < j->count && j->entries[i].id == id ? &j->entries[i] : NULL;
}

/* Forget the changes whose records are gone. */
static void prune(struct journal *j)
{
	const uint32_t oldest = store_oldest(j->store);
	size_t kept = 0;

	for (size_t i = 0; i < j->count; i++)
		if (store_segment(j->entries[i].at) >= oldest)
			j->entries[kept++] = j->entries[i];
	j->count = kept;
}

static bool add_entry(struct journal *j, const struct change *c, uint64_t at)
{
	const struct change_entry entry = {
		.id = c->id,
		.at = at,
		.time_ms = c->time_ms,
		.flags = c->flags,
		.session = journal_session(c->session),
	};

	if (j->count == LIMIT_CHANGES) {
		prune(j);
		if (j->count == LIMIT_CHANGES)
			memmove(j->entries, j->entries + 1, --j->count * sizeof *j->entries);
	}
	if (j->count == j->room) {
		const size_t room = j->room ? j->room * 2 : 64;
		struct change_entry *more = mem_resize(j->entries, room, sizeof *more);
		if (!more)
			return false;
		j->entries = more;
		j->room = room;
	}
	const size_t i = position(j, c->id);
	const bool is_new = i == j->count || j->entries[i].id != c->id;
	if (is_new) {
		memmove(&j->entries[i + 1], &j->entries[i], (j->count - i) * sizeof *j->entries);
		j->count++;
	}
	j->entries[i] = entry;
	memcpy(j->entries[i].counts, c->counts, sizeof entry.counts);
	return true;
}

/* The changes that this one undid are undone; or in force again, if it is undone itself. */
static void note_undone(struct journal *j, const struct change *c, bool in_force, int depth)
{
	for (size_t i = 0; i < c->undo_count; i++) {
		struct change_entry *entry = entry_of(j, c->undoes[i]);
		struct arena a = { .max = LIMIT_CHANGE_MEMORY };
		struct change undone;
		struct err e;
		if (!entry)
			continue;
		entry->undone_by = in_force ? c->id : 0;
		if (entry->flags & CHANGE_UNDO && depth < UNDO_DEPTH &&
		    journal_read(j, entry, true, &a, &undone, &e) == 0)
			note_undone(j, &undone, !in_force, depth + 1);
		arena_done(&a);
	}
}

static void note_begun(struct journal *j, uint64_t id)
{
	if (j->begun_count == j->begun_room) {
		const size_t room = j->begun_room ? j->begun_room * 2 : 64;
		uint64_t *more = mem_resize(j->begun, room, sizeof *more);
		if (!more)
			return;
		j->begun = more;
		j->begun_room = room;
	}
	j->begun[j->begun_count++] = id;
}

static bool is_begun(const struct journal *j, uint64_t id)
{
	for (size_t i = 0; i < j->begun_count; i++)
		if (j->begun[i] == id)
			return true;
	return false;
}

static void note_ended(struct journal *j, uint64_t id)
{
	for (size_t i = j->begun_count; i-- > 0;)
		if (j->begun[i] == id)
			j->begun[i] = j->begun[--j->begun_count];
}

static void read_record(void *arg, uint64_t at, const struct record_head *h, struct str content)
{
	struct journal *j = arg;
	struct arena a = { .max = LIMIT_CHANGE_MEMORY };
	struct change c;

	if (h->change > j->last)
		j->last = h->change;
	if (h->type == RECORD_BEGIN)
		note_begun(j, h->change);
	if (h->type == RECORD_DROP || h->type == RECORD_COMMIT)
		note_ended(j, h->change);
	if (h->type == RECORD_COMMIT && record_get_change(content, true, &a, &c) &&
	    c.id == h->change && add_entry(j, &c, at))
		note_undone(j, &c, true, 0);
	arena_done(&a);
}

/* The newest segment has the greatest number, so that it is known as long as there is a store. */
static void mark_last(struct journal *j)
{
	char room[RECORD_HEAD];
	struct buf out = buf_over(room, sizeof room);
	uint64_t at;

	record_put(&out, store_seed(j->store), RECORD_DROP, j->last, STR(""));
	if (!is_begun(j, j->last))
		(void)store_append(j->store, buf_str(&out), false, &at);
}

int journal_open(const struct store_options *o, const struct workspace *ws, int64_t max_file,
		 struct journal **ret, struct err *e)
{
	struct journal *j = mem_new(1, sizeof *j);

	if (!j)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	j->lock = j->undo = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	j->released = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	j->ws = ws;
	j->max_file = max_file;
	if (store_open(o, &j->store, e) < 0) {
		mem_free(j);
		return -1;
	}
	blobs_init(&j->blobs, j->store);
	store_scan(j->store, read_record, j);
	if (j->last)
		mark_last(j);
	*ret = j;
	return 0;
}

void journal_hold(struct journal *j)
{
	(void)pthread_mutex_lock(&j->lock);
	j->holders++;
	(void)pthread_mutex_unlock(&j->lock);
}

void journal_release(struct journal *j)
{
	(void)pthread_mutex_lock(&j->lock);
	if (--j->holders == 0)
		(void)pthread_cond_signal(&j->released);
	(void)pthread_mutex_unlock(&j->lock);
}

static bool await_holders(struct journal *j)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT_WATCHED_MS / 1000;
	(void)pthread_mutex_lock(&j->lock);
	while (j->holders && pthread_cond_timedwait(&j->released, &j->lock, &until) == 0)
		;
	const bool all = j->holders == 0;
	(void)pthread_mutex_unlock(&j->lock);
	return all;
}

bool journal_free(struct journal *j)
{
	if (!j)
		return true;
	if (!await_holders(j))
		return false;
	blobs_done(&j->blobs);
	store_free(j->store);
	mem_free(j->entries);
	mem_free(j->begun);
	(void)pthread_mutex_destroy(&j->lock);
	(void)pthread_mutex_destroy(&j->undo);
	(void)pthread_cond_destroy(&j->released);
	mem_free(j);
	return true;
}

void journal_lock_undo(struct journal *j)
{
	(void)pthread_mutex_lock(&j->undo);
}

void journal_unlock_undo(struct journal *j)
{
	(void)pthread_mutex_unlock(&j->undo);
}

int journal_commit(struct journal *j, const struct change *c)
{
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };
	AUTO_BUF out = { .max = LIMIT_CHANGE_MEMORY };
	uint64_t at;

	record_put_change(&content, c);
	record_put(&out, store_seed(j->store), RECORD_COMMIT, c->id, buf_str(&content));
	if (content.failed || out.failed) {
		errno = ENOMEM;
		return -1;
	}
	if (store_append(j->store, buf_str(&out), true, &at) < 0)
		return -1;
	(void)pthread_mutex_lock(&j->lock);
	if (add_entry(j, c, at))
		note_undone(j, c, true, 0);
	(void)pthread_mutex_unlock(&j->lock);
	return 0;
}

void journal_drop(struct journal *j, uint64_t id)
{
	char room[RECORD_HEAD];
	struct buf out = buf_over(room, sizeof room);
	uint64_t at;

	record_put(&out, store_seed(j->store), RECORD_DROP, id, STR(""));
	(void)store_append(j->store, buf_str(&out), false, &at);
}

/* Put the open changes after `since` among the n entries that are there. Returns how many. */
static size_t add_open(const struct journal *j, uint64_t since, struct change_entry *to, size_t n,
		       size_t max)
{
	size_t count = 0;

	for (const struct open_change *o = j->open; o; o = o->next) {
		/* One that is being committed may be in the list already. */
		if (o->about.id <= since || entry_of(j, o->about.id))
			continue;
		count++;
		size_t at = n;
		while (at > 0 && to[at - 1].id > o->about.id)
			at--;
		if (n == max)
			continue;
		memmove(&to[at + 1], &to[at], (n++ - at) * sizeof *to);
		to[at] = entry_of_open(o);
	}
	return count;
}

size_t journal_list(struct journal *j, uint64_t since, struct change_entry *to, size_t max)
{
	(void)pthread_mutex_lock(&j->lock);
	prune(j);
	const size_t first = since == UINT64_MAX ? j->count : position(j, since + 1);
	size_t all = j->count - first;
	const size_t n = all < max ? all : max;
	if (n)
		memcpy(to, j->entries + first, n * sizeof *to);
	all += add_open(j, since, to, n, max);
	(void)pthread_mutex_unlock(&j->lock);
	return all;
}

int journal_find(struct journal *j, uint64_t id, struct change_entry *ret, struct err *e)
{
	(void)pthread_mutex_lock(&j->lock);
	prune(j);
	const struct change_entry *entry = entry_of(j, id);
	const struct open_change *open = entry ? NULL : find_open(j, id);
	if (entry)
		*ret = *entry;
	if (open)
		*ret = entry_of_open(open);
	(void)pthread_mutex_unlock(&j->lock);
	if (entry || open)
		return 0;
	(void)err_set(e, ERR_CHANGE_NOT_FOUND,
		      "There is no change %llu: it never was, or it is too old to be kept.",
		      (unsigned long long)id);
	return err_advise(e, "List the changes to see which there are.");
}

/* False: it is not open any more. */
static bool read_open(struct journal *j, const struct change_entry *at, struct arena *a,
		      struct change *ret)
{
	(void)pthread_mutex_lock(&j->lock);
	const struct open_change *o = find_open(j, at->id);
	if (o) {
		*ret = o->about;
		ret->tool = arena_dup(a, o->about.tool);
		ret->subject = arena_dup(a, o->about.subject);
		ret->session = arena_dup(a, o->about.session);
	}
	(void)pthread_mutex_unlock(&j->lock);
	return o;
}

int journal_read(struct journal *j, struct change_entry *at, bool whole, struct arena *a,
		 struct change *ret, struct err *e)
{
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };

	if (at->flags & CHANGE_OPEN) {
		if (read_open(j, at, a, ret))
			return 0;
		if (journal_find(j, at->id, at, e) < 0)
			return -1;
	}
	if (store_read(j->store, at->at, RECORD_COMMIT, whole ? 0 : RECORD_SUMMARY, &content) < 0)
		return err_set(e, ERR_CHANGE_NOT_FOUND, "The record of change %llu %s",
			       (unsigned long long)at->id,
			       errno == ENOENT ? "is not kept any more" : "is damaged");
	const struct str kept = arena_dup(a, buf_str(&content));
	if (!kept.p || !record_get_change(kept, whole, a, ret))
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read change %llu",
			       (unsigned long long)at->id);
	return 0;
}

/* The unfinished changes are collected in a second pass, because there are rarely any. */
struct collection {
	struct journal *journal;
	struct arena *a;
	struct unfinished *list;
	size_t count;
};

static struct unfinished *collected(struct collection *c, uint64_t id)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].about.id == id)
			return &c->list[i];
	return NULL;
}

static void collect_begin(struct collection *c, const struct record_head *h, struct str content)
{
	const struct str kept = arena_dup(c->a, content);
	struct change about;

	if (c->count == c->journal->begun_count || !kept.p ||
	    !record_get_change(kept, true, c->a, &about) || about.id != h->change)
		return;
	c->list[c->count++] = (struct unfinished){ .about = about, .back = UINT64_MAX };
}

static void collect(void *arg, uint64_t at, const struct record_head *h, struct str content)
{
	struct collection *c = arg;
	struct touch_record back;

	(void)at;
	if (!is_begun(c->journal, h->change))
		return;
	if (h->type == RECORD_BEGIN)
		collect_begin(c, h, content);
	struct unfinished *u = collected(c, h->change);
	if (!u)
		return;
	if (h->type == RECORD_BACK && record_get_touch(content, &back) && back.number < u->back)
		u->back = back.number;
	if (h->type != RECORD_TOUCH && h->type != RECORD_MOVE)
		return;
	if (u->count == u->room && !arena_grow(c->a, &u->steps, &u->room, sizeof *u->steps))
		return;
	const struct str kept = arena_dup(c->a, content);
	if (kept.p)
		u->steps[u->count++] = (struct unfinished_step){ h->type, kept };
}

size_t journal_unfinished(struct journal *j, struct arena *a, struct unfinished **ret)
{
	struct collection c = { .journal = j, .a = a };

	if (j->begun_count == 0)
		return 0;
	c.list = arena_array(a, j->begun_count, sizeof *c.list);
	if (c.list)
		store_scan(j->store, collect, &c);
	j->begun_count = 0;
	*ret = c.list;
	return c.count;
}
