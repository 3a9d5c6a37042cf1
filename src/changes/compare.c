/* SPDX-License-Identifier: MIT */
/* compare: states after against states before, and objects that are elsewhere now. */

#include "changes/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "changes/dirs.h"

/* A touched name at the end of the change. */
struct touch_end {
	struct touched *t;
	struct path_state before; /* STATE_NONE in a directory that did not exist */
	struct path_state after;
	bool stayed; /* the same object is still there */
	bool taken;  /* what is there now was at another name before */
};

struct comparison {
	const struct touches *touches;
	const struct entry_store *store;
	struct arena *a;
	struct touch_end *outcomes;
	struct touch_end **by_object; /* those whose object was not there before */
	size_t count, arrived;
	struct change *c;
	size_t room;
};

static struct str path_before(const struct comparison *c, const struct touch_end *o)
{
	return dirs_join(c->a, o->t->dir->path, str_of(o->t->name));
}

static struct str path_after(const struct comparison *c, const struct touch_end *o)
{
	return dirs_join(c->a, o->t->dir->now, str_of(o->t->name));
}

/* Where they are now. A command may have moved them in ways that were not seen; a file tool has
 * done nothing since but what it was to do. */
static void look_at_dirs(const struct comparison *c)
{
	const bool may_move = c->c->flags & (CHANGE_ATOMIC | CHANGE_COMMAND);
	char text[PATH_MAX] UNINITIALISED;
	struct str now;

	for (struct touched_dir *d = c->touches->first_dir; d; d = d->next) {
		if (!may_move && c->touches->moves == 0) {
			d->is_there = true;
			d->now = arena_dup(c->a, d->text);
			continue;
		}
		d->is_there = dirs_text(d->fd, c->touches->rules, text, &now);
		if (d->is_there)
			d->now = arena_dup(c->a, now);
	}
}

/* The content of an object that was only moved, or got other metadata, was not in danger: it is
 * what it is now, even if its time is another. */
static void settle_hash(struct path_state *before, const struct path_state *after)
{
	if (before->type != STATE_FILE || before->hashed || before->kept != KEPT_NOT ||
	    !after->hashed || before->size != after->size || !entry_same_object(before, after))
		return;
	memcpy(before->hash, after->hash, sizeof before->hash);
	before->hashed = true;
}

/*
 * A command may leave thousands of files, and its answer does not wait until all of them have been
 * read again: size and time tell later whether they are still what it left. A file has to be read
 * if its content may be what it was: nothing but its size is known to be the same, or not even its
 * time differs, which proves nothing if the command has set it.
 */
static bool needs_hash(const struct comparison *c, const struct path_state *before,
		       const struct path_state *after)
{
	if (!(c->c->flags & CHANGE_COMMAND))
		return true;
	return before->type == STATE_FILE && before->size == after->size &&
	       (before->mtime_ns == after->mtime_ns ||
		(before->kept == KEPT_NOT && !before->hashed));
}

/* What a tool says that it has written. If another process was faster, that is not what is there:
 * then undo will find a conflict. */
static void take_left(const struct touched *t, struct path_state *after)
{
	const struct left_content *left = t->left;

	if (!left || after->type != STATE_FILE || after->size != left->size)
		return;
	memcpy(after->hash, left->hash, sizeof after->hash);
	after->hashed = true;
	after->text = left->text;
}

static struct touch_end look(const struct comparison *c, struct touched *t)
{
	struct touch_end o = { .t = t };

	if (!t->dir->is_new)
		o.before = t->before;
	if (t->dir->is_there)
		entry_look(t->dir->fd, t->name, c->a, &o.after);
	take_left(t, &o.after);
	o.stayed = entry_same_object(&o.before, &o.after);
	/* What was not in danger, and has its size and time, has its content. */
	const bool same = o.stayed && !o.before.hashed && o.before.size == o.after.size &&
			  o.before.mtime_ns == o.after.mtime_ns;
	if (o.after.type == STATE_FILE && !same && needs_hash(c, &o.before, &o.after))
		entry_hash(c->store, t->dir->fd, t->name, &o.after);
	/* What a tool has written was in danger. */
	if (!t->left)
		settle_hash(&o.before, &o.after);
	/* It was to be removed, and was not. */
	if (o.stayed && o.before.kept == KEPT_LINK) {
		entry_drop(c->store, &o.before);
	}
	return o;
}

static int compare_objects(const struct path_state *a, const struct path_state *b)
{
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return a->dev < b->dev ? -1 : a->dev > b->dev;
}

static int by_object(const void *a, const void *b)
{
	const struct touch_end *x = *(struct touch_end *const *)a,
			       *y = *(struct touch_end *const *)b;

	return compare_objects(&x->after, &y->after);
}

/* Where the object is now that was at this name; or NULL if it is not known to be elsewhere. */
static struct touch_end *find_moved(const struct comparison *c, const struct touch_end *o)
{
	size_t low = 0, high = c->arrived;

	/* The number of a directory is not given to another one, because it is held open. */
	if (o->before.type == STATE_NONE || o->stayed ||
	    (o->t->gone && o->before.type != STATE_DIR))
		return NULL;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (compare_objects(&c->by_object[middle]->after, &o->before) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->arrived && entry_same_object(&c->by_object[low]->after, &o->before); low++)
		if (!c->by_object[low]->taken)
			return c->by_object[low];
	return NULL;
}

/* Texts live as long as the recording; the change outlives it. */
static struct str dup_text(struct arena *a, struct str text)
{
	return text.p ? arena_dup(a, text) : text;
}

/* An undo takes the name away, and must know how the file can be found when it gives it back. */
static void note_other_name(const struct comparison *c, struct touch_end *o)
{
	const struct str path =
		touches_find_other(c->touches, c->a, o->t->dir->fd, o->t->name, &o->after);

	if (path.n)
		o->after.link = path;
}

static void add_item(struct comparison *c, const struct change_item *item)
{
	struct change *to = c->c;

	if (!item->path.p || (to->item_count == c->room &&
			      !arena_grow(c->a, &to->items, &c->room, sizeof *to->items))) {
		to->flags |= CHANGE_INCOMPLETE | CHANGE_UNSAVED;
		return;
	}
	struct change_item *new = &to->items[to->item_count++];
	*new = *item;
	new->before.text = dup_text(c->a, item->before.text);
	new->after.text = dup_text(c->a, item->after.text);
	new->before.link = dup_text(c->a, item->before.link);
	to->counts[item->kind]++;
	if (item_is_lost(item))
		to->flags |= CHANGE_UNSAVED;
}

/* The directory itself is listed, with its time. */
static void cover_dir(const struct comparison *c, const struct path_state *s)
{
	if (s->type != STATE_DIR)
		return;
	struct touched_dir *d = touches_find_inode(c->touches, s->dev, s->ino);
	if (d)
		d->is_listed = true;
}

static void add_moved(struct comparison *c, const struct touch_end *o, struct touch_end *to)
{
	struct change_item item = {
		.kind = ITEM_RENAMED,
		.path = path_after(c, to),
		.from = path_before(c, o),
		.before = o->before,
		.after = to->after,
	};

	if (needs_hash(c, &item.before, &item.after))
		entry_hash(c->store, to->t->dir->fd, to->t->name, &item.after);
	settle_hash(&item.before, &item.after);
	to->taken = true;
	cover_dir(c, &item.before);
	add_item(c, &item);
}

/* What became of the name itself, when objects that came from elsewhere are accounted for. */
static void add_rest(struct comparison *c, const struct touch_end *o, bool moved)
{
	static const struct path_state none = { .type = STATE_NONE };
	const struct path_state *before = moved ? &none : &o->before;
	const struct path_state *after = o->taken ? &none : &o->after;

	if (entry_same(before, after) && !entry_is_another(before, after))
		return;
	if (o->stayed && before->type == STATE_DIR) {
		struct path_state timed = *after;
		timed.mtime_ns = before->mtime_ns;
		if (entry_same(before, &timed))
			return; /* only its time: see add_times */
		cover_dir(c, before);
	}
	struct change_item item = {
		.kind = before->type == STATE_NONE  ? ITEM_CREATED
			: after->type == STATE_NONE ? ITEM_DELETED
						    : ITEM_MODIFIED,
		.path = after->type == STATE_NONE ? path_before(c, o) : path_after(c, o),
		.from = STR(""),
		.before = *before,
		.after = *after,
	};
	/* A directory above it may have been renamed. */
	const struct str was = path_before(c, o);
	if (item.kind == ITEM_MODIFIED && !str_eq(was, item.path))
		item.from = was;
	add_item(c, &item);
}

static void add_times(struct comparison *c)
{
	for (const struct touched_dir *d = c->touches->first_dir; d; d = d->next) {
		struct change_item item = { .kind = ITEM_TIMES, .path = d->now, .from = STR("") };
		if (d->is_new || !d->is_there || d->is_listed)
			continue;
		item.after = (struct path_state){ .type = STATE_DIR,
						  .kept = KEPT_NEEDLESS,
						  .mtime_ns = dirs_mtime(d->fd) };
		item.before = item.after;
		item.before.mtime_ns = d->mtime_ns;
		if (!str_eq(d->now, d->path))
			item.from = d->path;
		if (item.after.mtime_ns && item.after.mtime_ns != d->mtime_ns)
			add_item(c, &item);
	}
}

static int by_path(const void *a, const void *b)
{
	const struct change_item *x = a, *y = b;
	const int order = str_cmp(x->path, y->path);

	return order ? order : (int)x->kind - (int)y->kind;
}

bool compare_touches(const struct touches *t, const struct entry_store *s, struct arena *a,
		     struct change *change)
{
	struct comparison c = { .touches = t, .store = s, .a = a, .c = change };

	c.outcomes = arena_array(a, t->count + 1, sizeof *c.outcomes);
	c.by_object = arena_array(a, t->count + 1, sizeof *c.by_object);
	if (!c.outcomes || !c.by_object) {
		change->flags |= CHANGE_INCOMPLETE | CHANGE_UNSAVED;
		return t->count > 0;
	}
	look_at_dirs(&c);
	for (struct touched *n = t->first; n; n = n->next) {
		struct touch_end *o = &c.outcomes[c.count++];
		*o = look(&c, n);
		note_other_name(&c, o);
		if (o->after.type != STATE_NONE && !o->stayed)
			c.by_object[c.arrived++] = o;
	}
	qsort(c.by_object, c.arrived, sizeof *c.by_object, by_object);
	bool *moved = arena_array(a, c.count + 1, sizeof *moved);
	for (size_t i = 0; moved && i < c.count; i++) {
		struct touch_end *to = find_moved(&c, &c.outcomes[i]);
		moved[i] = to != NULL;
		if (to)
			add_moved(&c, &c.outcomes[i], to);
	}
	for (size_t i = 0; moved && i < c.count; i++)
		add_rest(&c, &c.outcomes[i], moved[i]);
	const bool changed = change->item_count > 0;
	if (changed) {
		qsort(change->items, change->item_count, sizeof *change->items, by_path);
		add_times(&c);
	}
	return changed;
}
