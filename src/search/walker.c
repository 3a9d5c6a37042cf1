/* SPDX-License-Identifier: MIT */
/* walker: decide about the entries of a directory, and make work of them. */

#include "search/walker.h"

#include <errno.h>

#include "search/limits.h"

void walk_lack_memory(struct walk_worker *me)
{
	__atomic_store_n(&me->walk->no_memory, true, __ATOMIC_RELAXED);
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

/* What is wanted of an entry when only what is below a directory is searched. */
static unsigned wanted_below(struct str below, struct str path, unsigned wanted)
{
	if (str_starts(path, below))
		return wanted;
	const bool way = below.n > path.n && below.p[path.n] == '/' && str_starts(below, path);
	return way ? wanted & WALK_DESCEND : 0;
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

/* Whether what is left out is to be noted, for walk_hidden. */
static bool note_hidden(struct walk_worker *me)
{
	const struct walk *w = me->walk;
	const size_t noted = __atomic_load_n(&w->hidden_n, __ATOMIC_RELAXED) + me->hidden_n;

	if (!w->note_hidden || noted >= LIMIT_SEARCH_HIDDEN)
		return false;
	me->hidden_n++;
	return true;
}

/* If a tool has filled the directory, note that, and do not enter it. */
static void leave_filled(struct walk_worker *me, const struct walk_entry *entry, struct listed *l)
{
	struct walk *w = me->walk;
	const int found = w->skip_filled ? filled_find(entry->dirfd, entry->name) : -1;

	l->filled = found >= 0;
	if (!l->filled)
		return;
	pthread_mutex_lock(&w->lock);
	if (!filled_add(&w->filled, found, entry->dirfd, entry->name, entry->path))
		walk_lack_memory(me);
	pthread_mutex_unlock(&w->lock);
	if (!note_hidden(me))
		l->wanted &= ~(unsigned)WALK_DESCEND;
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
		walk_lack_memory(me);
		return false;
	}
	const enum ignore_verdict rules = d->ignored || r->all
						  ? IGNORE_SILENT
						  : dir_hides(d, buf_str(&me->path), dir_n, is_dir);
	l->ignored = rules == IGNORE_YES;
	if (l->ignored) {
		me->account.ignored++;
		if (!note_hidden(me))
			return false;
	}
	l->wanted = w->visitor->entry(w->visitor->search, &entry,
				      l->ignored ? &uncounted : &me->account);
	if (r->max_depth && d->depth + 1 >= r->max_depth)
		l->wanted &= ~(unsigned)WALK_DESCEND;
	if (r->below.n)
		l->wanted = wanted_below(r->below, entry.path, l->wanted);
	if (r->after.n && l->wanted)
		l->wanted = wanted_after(r->after, entry.path, is_dir, l->wanted);
	if (is_dir && rules == IGNORE_SILENT && !d->ignored && l->wanted & WALK_DESCEND)
		leave_filled(me, &entry, l);
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
		walk_lack_memory(me);
}

static void add_directory(struct walk_worker *me, struct dir *d, const struct listed *l,
			  struct walk_list *out)
{
	struct dirs *all = &me->walk->dirs;
	struct dir *sub = dir_new(all, d, listing_name(&me->listing, l));
	struct walk_item *item = sub ? walk_item_new(all, ITEM_DIR, sub, 0) : NULL;

	if (sub)
		sub->ignored = d->ignored || l->ignored || l->filled;
	if (item)
		walk_list_add(out, item);
	else
		walk_lack_memory(me);
	if (sub)
		dir_drop(all, sub); /* the item holds it */
}

/* The files from list[i] on that can be scanned in one go. Returns how many. */
static size_t add_files(struct walk_worker *me, struct dir *d, size_t i, struct walk_list *out)
{
	const struct dir_listing *l = &me->listing;
	const struct walk *w = me->walk;
	const bool alone = w->request->spread && d->depth == w->split_depth;
	const size_t most = alone ? 1 : LIMIT_WALK_FILES;
	size_t n = 0, bytes = 0;

	while (i + n < l->n && n < most && l->list[i + n].wanted == WALK_SCAN &&
	       l->list[i + n].ignored == l->list[i].ignored)
		bytes += l->list[i + n++].name_n + 1;
	struct walk_item *item = walk_item_new(&me->walk->dirs, ITEM_FILES, d, bytes);
	if (!item) {
		walk_lack_memory(me);
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
			add_directory(me, d, l, l->filled ? &me->hidden : to);
		i++;
	}
}

void walk_expand(struct walk_worker *me, struct dir *d, struct walk_list *out)
{
	struct walk *w = me->walk;
	struct dir_listing *l = &me->listing;
	size_t kept = 0;
	const int fd = dir_enter(&w->dirs, d);
	int got = fd < 0 ? -1 : 1;

	listing_reset(l);
	while (got > 0 && (got = listing_more(l, fd)) > 0 && !walk_must_stop(w))
		;
	if (got < 0) {
		me->account.unreadable++;
		if (errno == ENOMEM)
			walk_lack_memory(me);
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
