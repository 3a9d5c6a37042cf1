/* SPDX-License-Identifier: MIT */
/* journal: an index that is read once and kept up to date. */

#include "changes/journal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/own.h"
#include "changes/limits.h"

/* A change of another program that has no end yet: it goes on, or the program is dead. */
struct begun {
	uint64_t id;
	uint32_t segment;
	char *content; /* of its BEGIN */
	size_t length;
};

struct begun_list {
	struct begun *list;
	size_t count, room;
};

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
	uint64_t last;		      /* the greatest number that was seen */
	uint64_t last_undo;	      /* the greatest of an undo */
	struct change_entry *entries; /* by number */
	size_t count, room;
	uint64_t removals; /* of segments, when the entries were last looked through */
	bool unsettled;	   /* who undid what is to be found out again */
	journal_teller *tell;
	void *tell_arg;
	struct begun_list begun;
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
	struct open_change **at = &j->open;
	while (*at && *at != o)
		at = &(*at)->next;
	if (*at)
		*at = o->next;
	(void)pthread_mutex_unlock(&j->lock);
}

static const struct open_change *find_open(const struct journal *j, uint64_t id)
{
	const struct open_change *o = j->open;

	while (o && o->about.id != id)
		o = o->next;
	return o;
}

static void begun_end(struct begun_list *l, size_t i)
{
	mem_free(l->list[i].content);
	l->list[i] = l->list[--l->count];
}

static struct begun *begun_find(const struct begun_list *l, uint64_t id)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->list[i].id == id)
			return &l->list[i];
	return NULL;
}

static void begun_note(struct begun_list *l, uint64_t id, uint32_t segment, struct str content)
{
	if (begun_find(l, id))
		return;
	if (l->count == l->room) {
		const size_t room = l->room ? l->room * 2 : 16;
		struct begun *more = mem_resize(l->list, room, sizeof *more);
		if (!more)
			return;
		l->list = more;
		l->room = room;
	}
	char *copy = mem_new(content.n + 1, 1);
	if (!copy)
		return;
	memcpy(copy, content.p, content.n);
	l->list[l->count++] = (struct begun){ id, segment, copy, content.n };
}

static struct change_entry entry_of_open(const struct change *about)
{
	return (struct change_entry){ .id = about->id,
				      .time_ms = about->time_ms,
				      .flags = about->flags | CHANGE_OPEN,
				      .session = journal_session(about->session) };
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
	const uint64_t removals = store_removals(j->store);
	uint32_t segment = 0;
	bool is_there = false;
	size_t kept = 0;

	if (removals == j->removals)
		return;
	for (size_t i = 0; i < j->count; i++) {
		const struct change_entry entry = j->entries[i];
		if (store_segment(entry.at) != segment || !segment)
			is_there = store_has(j->store, entry.at);
		segment = store_segment(entry.at);
		if (is_there)
			j->entries[kept++] = entry;
	}
	j->count = kept;
	for (size_t i = j->begun.count; i-- > 0;)
		if (!store_has(j->store, store_at(j->begun.list[i].segment, 0)))
			begun_end(&j->begun, i);
	j->removals = removals;
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
	if (i == j->count || j->entries[i].id != c->id)
		memmove(&j->entries[i + 1], &j->entries[i], (j->count++ - i) * sizeof *j->entries);
	j->entries[i] = entry;
	memcpy(j->entries[i].counts, c->counts, sizeof entry.counts);
	return true;
}

/* The changes that this one undid are undone by it. Returns whether one of them is an undo itself. */
static bool note_undone(struct journal *j, const struct change *c)
{
	bool is_redo = false;

	for (size_t i = 0; i < c->undo_count; i++) {
		struct change_entry *entry = entry_of(j, c->undoes[i]);
		if (entry && !entry->undone_by)
			entry->undone_by = c->id;
		is_redo |= entry && entry->flags & CHANGE_UNDO;
	}
	return is_redo;
}

/* A change has come to the entries. Who undid what is to be found out again if it is older than an
 * undo, or undoes one. */
static void note_new(struct journal *j, const struct change *c)
{
	if (c->id < j->last_undo)
		j->unsettled = true;
	else if (c->undo_count) {
		j->last_undo = c->id;
		j->unsettled |= note_undone(j, c);
	}
}

static void read_record(void *arg, uint64_t at, const struct record_head *h, struct str content)
{
	struct journal *j = arg;
	struct arena a = { .max = LIMIT_CHANGE_MEMORY };
	struct change c;

	if (h->change > j->last)
		j->last = h->change;
	if (h->type == RECORD_BEGIN && !entry_of(j, h->change))
		begun_note(&j->begun, h->change, store_segment(at), content);
	const struct begun *begun = begun_find(&j->begun, h->change);
	if (begun && (h->type == RECORD_DROP || h->type == RECORD_COMMIT))
		begun_end(&j->begun, (size_t)(begun - j->begun.list));
	const struct change_entry *known = h->type == RECORD_COMMIT ? entry_of(j, h->change) : NULL;
	if (h->type == RECORD_COMMIT && !(known && known->at == at) &&
	    record_get_change(content, true, &a, &c) && c.id == h->change && add_entry(j, &c, at)) {
		note_new(j, &c);
		j->unsettled |= known != NULL;
		if (j->tell && !known)
			j->tell(j->tell_arg, &c);
	}
	arena_done(&a);
}

/* Find out who undid what: the newest first, because an undo that was undone did nothing. */
static void settle(struct journal *j)
{
	for (size_t i = 0; i < j->count; i++)
		j->entries[i].undone_by = j->entries[i].redone_by = 0;
	for (size_t i = j->count; i-- > 0;) {
		struct arena a = { .max = LIMIT_CHANGE_MEMORY };
		struct change_entry *entry = &j->entries[i];
		struct change c;
		struct err e;
		if (entry->flags & CHANGE_UNDO && journal_read(j, entry, true, &a, &c, &e) == 0) {
			struct change_entry *again = entry->undone_by && c.undo_count == 1
							     ? entry_of(j, c.undoes[0])
							     : NULL;
			if (again)
				again->redone_by = entry->undone_by;
			if (!entry->undone_by)
				(void)note_undone(j, &c);
		}
		arena_done(&a);
	}
	j->unsettled = false;
}

static void refresh(struct journal *j)
{
	store_refresh(j->store, read_record, j);
	/* What counts them may be damaged, or older than what is there. */
	store_raise_number(j->store, j->last);
	prune(j);
	if (j->unsettled)
		settle(j);
}

void journal_refresh(struct journal *j)
{
	(void)pthread_mutex_lock(&j->lock);
	refresh(j);
	(void)pthread_mutex_unlock(&j->lock);
}

void journal_tell(struct journal *j, journal_teller *tell, void *arg)
{
	(void)pthread_mutex_lock(&j->lock);
	j->tell = tell;
	j->tell_arg = arg;
	(void)pthread_mutex_unlock(&j->lock);
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
	journal_refresh(j);
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

bool journal_free(struct journal *j)
{
	const struct timespec until = { .tv_sec = time(NULL) + LIMIT_WATCHED_MS / 1000 + 1 };

	if (!j)
		return true;
	(void)pthread_mutex_lock(&j->lock);
	while (j->holders && pthread_cond_timedwait(&j->released, &j->lock, &until) == 0)
		;
	const bool is_used = j->holders > 0;
	(void)pthread_mutex_unlock(&j->lock);
	if (is_used)
		return false;
	blobs_done(&j->blobs);
	store_free(j->store);
	mem_free(j->entries);
	while (j->begun.count)
		begun_end(&j->begun, j->begun.count - 1);
	mem_free(j->begun.list);
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

int journal_commit(struct journal *j, const struct store_part *p, const struct change *c)
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
	if (store_append(j->store, p, buf_str(&out), true, &at) < 0)
		return -1;
	(void)pthread_mutex_lock(&j->lock);
	if (add_entry(j, c, at))
		note_new(j, c);
	if (j->unsettled)
		settle(j);
	(void)pthread_mutex_unlock(&j->lock);
	return 0;
}

void journal_drop(struct journal *j, const struct store_part *p)
{
	char room[RECORD_HEAD];
	struct buf out = buf_over(room, sizeof room);
	uint64_t at;

	record_put(&out, store_seed(j->store), RECORD_DROP, p->change, STR(""));
	(void)store_append(j->store, p, buf_str(&out), false, &at);
}

/* How it is listed: false if it is not the change of a command, which may last. */
static bool begun_entry(const struct begun *b, struct change_entry *ret)
{
	struct arena a = { .max = LIMIT_CHANGE_MEMORY };
	struct change c;
	const bool lasts = record_get_change((struct str){ b->content, b->length }, true, &a, &c) &&
			   c.flags & CHANGE_COMMAND;

	if (lasts)
		*ret = entry_of_open(&c);
	arena_done(&a);
	return lasts;
}

/* Put an open change among the *n entries that are there. */
static void add_open(const struct change_entry *entry, struct change_entry *to, size_t *n,
		     size_t max)
{
	size_t at = *n;

	if (*n == max)
		return;
	while (at > 0 && to[at - 1].id > entry->id)
		at--;
	memmove(&to[at + 1], &to[at], ((*n)++ - at) * sizeof *to);
	to[at] = *entry;
}

/* Put the open changes after `since` among the n entries that are there. Returns how many. */
static size_t add_all_open(const struct journal *j, uint64_t since, struct change_entry *to,
			   size_t n, size_t max)
{
	size_t count = 0;
	struct change_entry entry;

	for (const struct open_change *o = j->open; o; o = o->next) {
		/* One that is being committed may be in the list already. */
		if (o->about.id <= since || entry_of(j, o->about.id))
			continue;
		count++;
		entry = entry_of_open(&o->about);
		add_open(&entry, to, &n, max);
	}
	for (size_t i = 0; i < j->begun.count; i++) {
		if (j->begun.list[i].id <= since || !begun_entry(&j->begun.list[i], &entry))
			continue;
		count++;
		add_open(&entry, to, &n, max);
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
	all += add_all_open(j, since, to, n, max);
	(void)pthread_mutex_unlock(&j->lock);
	return all;
}

int journal_find(struct journal *j, uint64_t id, struct change_entry *ret, struct err *e)
{
	(void)pthread_mutex_lock(&j->lock);
	prune(j);
	const struct change_entry *entry = entry_of(j, id);
	const struct open_change *open = entry ? NULL : find_open(j, id);
	const struct begun *begun = entry || open ? NULL : begun_find(&j->begun, id);
	if (entry)
		*ret = *entry;
	if (open)
		*ret = entry_of_open(&open->about);
	const bool found = entry || open || (begun && begun_entry(begun, ret));
	(void)pthread_mutex_unlock(&j->lock);
	if (found)
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
	const struct begun *b = o ? NULL : begun_find(&j->begun, at->id);
	const struct str content =
		b ? arena_dup(a, (struct str){ b->content, b->length }) : (struct str){ NULL, 0 };
	const bool is_begun = content.p && record_get_change(content, true, a, ret);
	if (o) {
		*ret = o->about;
		ret->tool = arena_dup(a, o->about.tool);
		ret->subject = arena_dup(a, o->about.subject);
		ret->session = arena_dup(a, o->about.session);
	}
	(void)pthread_mutex_unlock(&j->lock);
	return o || is_begun;
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
	if (!record_get_change(arena_dup(a, buf_str(&content)), whole, a, ret))
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read change %llu",
			       (unsigned long long)at->id);
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct orphan *x = a, *y = b;

	return x->about.id < y->about.id ? -1 : x->about.id > y->about.id;
}

/* Whether nobody else will finish it: *ret is what it is. */
static bool is_orphan(struct journal *j, const struct begun *b, bool quiet, struct arena *a,
		      struct orphan *ret)
{
	const struct str content = arena_dup(a, (struct str){ b->content, b->length });

	ret->segment = b->segment;
	return !store_is_foreign(j->store, b->segment) && content.p &&
	       record_get_change(content, true, a, &ret->about) && ret->about.id == b->id &&
	       (quiet || !(ret->about.flags & CHANGE_COMMAND));
}

void journal_leave(struct journal *j, const struct orphan *o)
{
	(void)pthread_mutex_lock(&j->lock);
	store_scan(j->store, o->segment, read_record, j);
	(void)pthread_mutex_unlock(&j->lock);
}

size_t journal_orphans(struct journal *j, struct arena *a, struct orphan **ret)
{
	size_t n = 0;

	(void)pthread_mutex_lock(&j->lock);
	refresh(j);
	store_adopt(j->store, read_record, j);
	const bool quiet = j->begun.count && store_is_quiet(j->store);
	struct orphan *list = arena_array(a, j->begun.count + 1, sizeof *list);
	for (size_t i = j->begun.count; list && i-- > 0;)
		if (is_orphan(j, &j->begun.list[i], quiet, a, &list[n])) {
			begun_end(&j->begun, i);
			n++;
		}
	(void)pthread_mutex_unlock(&j->lock);
	if (n)
		qsort(list, n, sizeof *list, by_id);
	*ret = list;
	return n;
}
