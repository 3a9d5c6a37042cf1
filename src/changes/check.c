/* SPDX-License-Identifier: MIT */
/* check: the tree as it is, and as it will be after the newer changes are undone. */

#include "changes/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/dirs.h"

/* What will be at a path, or what a change has left there. */
struct expected {
	struct expected *chain;
	struct str path;
	const struct path_state *state;
};

/* A table of them; the newest of a path counts. */
struct expectation {
	struct expected **table;
	size_t room, count;
};

/* Undoing the change of that index will move a directory. */
struct virtual_move {
	size_t change;
	struct str from, to;
};

struct checking {
	const struct entry_store *store;
	int root;
	struct arena *a;
	struct expectation will_be; /* after the newer changes are undone */
	struct expectation left;    /* by the change that is looked at */
	struct expectation leaving; /* of that, what is moved away or removed */
	struct expectation back;    /* what undoing that one restores */
	struct expectation
		objects; /* files with several names that will be written, by object_key */
	struct virtual_move *moves; /* directories that undoing the newer ones will move */
	size_t move_count, move_room;
	struct undo_check *said;
};

static const struct path_state nothing = { .type = STATE_NONE };

static struct expected **bucket(const struct expectation *x, struct str path)
{
	return &x->table[XXH3_64bits(path.n ? path.p : "", path.n) & (x->room - 1)];
}

static const struct path_state *recall(const struct expectation *x, struct str path)
{
	const struct expected *at = x->room ? *bucket(x, path) : NULL;

	while (at && !str_eq(at->path, path))
		at = at->chain;
	return at ? at->state : NULL;
}

/* If there is no memory, the arena has failed, which is asked at the end. */
static void expect(struct expectation *x, struct arena *a, struct str path,
		   const struct path_state *state)
{
	struct expected *new = arena_alloc(a, sizeof *new);

	if (x->count >= x->room) {
		struct expectation more = { .room = x->room ? x->room * 4 : 64, .count = x->count };
		more.table = arena_array(a, more.room, sizeof *more.table);
		if (!more.table)
			return;
		for (size_t i = 0; i < x->room; i++) {
			struct expected *at = x->table[i], *older = NULL;
			/* Keep their order: the newest of a path comes first. */
			while (at) {
				struct expected *next = at->chain;
				at->chain = older;
				older = at;
				at = next;
			}
			while (older) {
				struct expected *next = older->chain,
						**to = bucket(&more, older->path);
				older->chain = *to;
				*to = older;
				older = next;
			}
		}
		*x = more;
	}
	if (!new)
		return;
	struct expected **to = bucket(x, path);
	*new = (struct expected){ *to, path, state };
	*to = new;
	x->count++;
}

static bool is_below(struct str path, struct str dir)
{
	return str_starts(path, dir) && path.n > dir.n && path.p[dir.n] == '/';
}

static struct str replace_start(struct arena *a, struct str path, struct str start, struct str by)
{
	const struct str rest = str_from(path, start.n);
	char *text = arena_alloc(a, by.n + rest.n + 1);

	if (!text)
		return path;
	const int n = snprintf(text, by.n + rest.n + 1, "%.*s%.*s", STR_FMT(by), STR_FMT(rest));
	return (struct str){ text, (size_t)n };
}

/* Where a path of the tree to be is in the tree as it is: change by change, the deepest of the
 * moved directories above it counts. Empty: nowhere, because the directory above it will be gone. */
static struct str on_disk(const struct checking *c, struct str path)
{
	for (size_t i = c->move_count; i > 0;) {
		const size_t change = c->moves[i - 1].change;
		const struct virtual_move *deepest = NULL;
		bool is_gone = false;
		for (; i > 0 && c->moves[i - 1].change == change; i--) {
			const struct virtual_move *m = &c->moves[i - 1];
			is_gone |= is_below(path, m->from);
			if ((is_below(path, m->to) || str_eq(path, m->to)) &&
			    (!deepest || deepest->to.n < m->to.n))
				deepest = m;
		}
		if (!deepest && is_gone)
			return STR("");
		if (deepest)
			path = replace_start(c->a, path, deepest->to, deepest->from);
	}
	return path;
}

/* What will be below directories that are moved moves with them. What was expected below their new
 * places was about others, which had been there. */
static void move_expected(struct checking *c, size_t first_move)
{
	struct expectation moved = { 0 };

	if (first_move == c->move_count)
		return;
	for (size_t i = 0; i < c->will_be.room; i++) {
		for (const struct expected *x = c->will_be.table[i]; x; x = x->chain) {
			const struct virtual_move *deepest = NULL;
			bool stale = recall(&c->will_be, x->path) != x->state;
			for (size_t k = first_move; k < c->move_count; k++) {
				stale |= is_below(x->path, c->moves[k].to);
				if (is_below(x->path, c->moves[k].from) &&
				    (!deepest || deepest->from.n < c->moves[k].from.n))
					deepest = &c->moves[k];
			}
			if (deepest && recall(&c->will_be, x->path) == x->state)
				expect(&moved, c->a,
				       replace_start(c->a, x->path, deepest->from, deepest->to),
				       x->state);
			else if (!stale)
				expect(&moved, c->a, x->path, x->state);
		}
	}
	c->will_be = moved;
}

/* What a file with several names is known by. */
struct object_key {
	uint64_t dev, ino;
};

static bool has_names(const struct path_state *st)
{
	return st->type == STATE_FILE && st->nlink > 1;
}

/* A file that has several names is written in place: by all of them it will be what it was. */
static void expect_object(struct checking *c, const struct change_item *item)
{
	const struct path_state *was = &item->before;

	if (item->kind != ITEM_MODIFIED || !has_names(was) || was->ino != item->after.ino ||
	    was->dev != item->after.dev)
		return;
	struct object_key *key = arena_alloc(c->a, sizeof *key);
	if (!key)
		return;
	*key = (struct object_key){ was->dev, was->ino };
	expect(&c->objects, c->a, (struct str){ (const char *)key, sizeof *key }, was);
}

/* What it will be, if it is such a file. */
static struct path_state as_written(const struct checking *c, struct path_state now)
{
	const struct object_key key = { now.dev, now.ino };
	const struct path_state *will = NULL;

	if (has_names(&now))
		will = recall(&c->objects, (struct str){ (const char *)&key, sizeof key });
	return will ? *will : now;
}

/* What is at the path, or will be when this change is undone. */
static struct path_state present(struct checking *c, struct str path, bool with_hash)
{
	const struct path_state *will = recall(&c->will_be, path);
	char name[NAME_MAX + 1];
	struct path_state now = nothing;

	if (will)
		return as_written(c, *will);
	const struct str where = on_disk(c, path);
	AUTO_FD dir = where.n ? dirs_open_parent(c->root, where, name) : -1;
	if (dir < 0)
		return now;
	entry_look(dir, name, c->a, &now);
	if (with_hash) {
		struct entry_store any = *c->store;
		any.max_file = INT64_MAX;
		entry_hash(&any, dir, name, &now);
	}
	return as_written(c, now);
}

#define ADD(c, list, count, room, ...)                                                             \
	do {                                                                                       \
		if ((c)->said->count < (c)->said->room ||                                          \
		    arena_grow((c)->a, &(c)->said->list, &(c)->said->room,                         \
			       sizeof *(c)->said->list))                                           \
			(c)->said->list[(c)->said->count++] =                                      \
				(__typeof__(*(c)->said->list))__VA_ARGS__;                         \
	} while (0)

static void add_conflict(struct checking *c, struct str path, const char *why)
{
	ADD(c, conflicts, conflict_count, conflict_room, { path, why });
}

/* Why the present state is not the one that the change left; or NULL. */
static const char *difference(const struct path_state *now, const struct path_state *left)
{
	if (now->type == STATE_NONE)
		return "is gone";
	if (now->type != left->type)
		return "is of another type now";
	if (!entry_same_content(now, left))
		return "has changed since";
	if (now->mode != left->mode)
		return "has other permissions now";
	if (now->uid != left->uid || now->gid != left->gid)
		return "has another owner now";
	return NULL;
}

static struct str parent_of(struct str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? str_upto(path, (size_t)(slash - path.p)) : STR("");
}

/* Something must not be in the place where something is to be restored, unless the change itself
 * left it there, or a directory above it: that is overwritten, moves or goes. */
static void check_free(struct checking *c, struct str path)
{
	if (recall(&c->left, path) || present(c, path, false).type == STATE_NONE)
		return;
	for (struct str above = parent_of(path); above.n; above = parent_of(above))
		if (recall(&c->leaving, above))
			return;
	add_conflict(c, path, "is in the way");
}

/* The directory of what is to be restored must be there, or come back with one above it. */
static void check_parent(struct checking *c, struct str path)
{
	const struct str dir = parent_of(path);

	if (dir.n == 0 || present(c, dir, false).type == STATE_DIR)
		return;
	for (struct str above = dir; above.n; above = parent_of(above)) {
		const struct path_state *back = recall(&c->back, above);
		if (back && back->type == STATE_DIR)
			return;
	}
	add_conflict(c, path, "has no directory any more");
}

/* A directory that the change made may contain only what the change made, too. */
static void check_content(struct checking *c, const struct change_item *item)
{
	const struct str where = on_disk(c, item->path);

	/* It will be made again, with nothing but what is restored in it. */
	if (recall(&c->will_be, item->path) && str_eq(where, item->path))
		return;
	AUTO_FD fd = where.n ? dirs_open(c->root, where) : -1;
	const int readable = fd < 0 ? -1 : openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = readable < 0 ? NULL : fdopendir(readable);
	const struct dirent *f;

	if (!d) {
		if (readable >= 0)
			(void)close(readable);
		return;
	}
	while ((f = readdir(d))) {
		char text[PATH_MAX];
		if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0)
			continue;
		const int n =
			snprintf(text, sizeof text, "%.*s/%s", STR_FMT(item->path), f->d_name);
		const struct str path = { text, n < PATH_MAX ? (size_t)n : PATH_MAX - 1 };
		const struct path_state *will = recall(&c->will_be, path);
		if ((will && will->type == STATE_NONE) || recall(&c->left, path))
			continue;
		add_conflict(c, arena_dup(c->a, path),
			     "is not of this change, and its directory is");
	}
	(void)closedir(d);
}

bool check_is_lost(const struct entry_store *s, const struct change_item *item)
{
	if (item->before.type != STATE_FILE)
		return false;
	if (item->kind != ITEM_DELETED && entry_same_content(&item->before, &item->after))
		return false;
	return !entry_is_kept(s, &item->before);
}

static void check_item(struct checking *c, const struct change_item *item)
{
	if (item->kind == ITEM_TIMES)
		return;
	if (item->kind == ITEM_DELETED) {
		check_free(c, item->path);
		check_parent(c, item->path);
	} else {
		const struct path_state now = present(c, item->path, item->after.hashed);
		const char *why = difference(&now, &item->after);
		if (why)
			add_conflict(c, item->path, why);
		else if (item->kind == ITEM_CREATED && item->after.type == STATE_DIR)
			check_content(c, item);
	}
	if (item->kind == ITEM_RENAMED) {
		check_free(c, item->from);
		check_parent(c, item->from);
	}
	if (check_is_lost(c->store, item))
		ADD(c, unsaved, unsaved_count, unsaved_room, item->path);
}

static void say(struct checking *c, const struct change_item *item)
{
	if (item->kind == ITEM_CREATED)
		ADD(c, removed, removed_count, removed_room, item->path);
	else if (item->kind == ITEM_RENAMED)
		ADD(c, renamed, renamed_count, renamed_room, { item->path, item->from });
	else if (item->kind != ITEM_TIMES && !check_is_lost(c->store, item))
		ADD(c, restored, restored_count, restored_room, item->path);
}

/* From now on the tree is as if the change were undone. */
static void pretend(struct checking *c, const struct change *change, size_t index)
{
	const size_t first_move = c->move_count;

	for (size_t i = 0; i < change->item_count; i++) {
		const struct change_item *item = &change->items[i];
		if (item->kind != ITEM_RENAMED || item->before.type != STATE_DIR)
			continue;
		if (c->move_count == c->move_room &&
		    !arena_grow(c->a, &c->moves, &c->move_room, sizeof *c->moves))
			return;
		c->moves[c->move_count++] = (struct virtual_move){ index, item->path, item->from };
	}
	move_expected(c, first_move);
	for (size_t i = 0; i < change->item_count; i++) {
		const struct change_item *item = &change->items[i];
		if (item->kind == ITEM_CREATED || item->kind == ITEM_RENAMED)
			expect(&c->will_be, c->a, item->path, &nothing);
	}
	for (size_t i = 0; i < change->item_count; i++) {
		const struct change_item *item = &change->items[i];
		if (item->kind != ITEM_CREATED && item->kind != ITEM_TIMES)
			expect(&c->will_be, c->a, item_was(item), &item->before);
		expect_object(c, item);
	}
}

int check_changes(const struct entry_store *s, int root, const struct change *changes, size_t count,
		  struct arena *a, struct undo_check *ret, struct err *e)
{
	struct checking c = { .store = s, .root = root, .a = a, .said = ret };

	*ret = (struct undo_check){ 0 };
	for (size_t n = 0; n < count; n++) {
		c.left = c.leaving = c.back = (struct expectation){ 0 };
		for (size_t i = 0; i < changes[n].item_count; i++) {
			const struct change_item *item = &changes[n].items[i];
			if (item->kind != ITEM_DELETED && item->kind != ITEM_TIMES)
				expect(&c.left, a, item->path, &item->after);
			if (item->kind == ITEM_CREATED || item->kind == ITEM_RENAMED)
				expect(&c.leaving, a, item->path, &item->after);
			if (item->kind != ITEM_CREATED)
				expect(&c.back, a, item_was(item), &item->before);
		}
		for (size_t i = 0; i < changes[n].item_count; i++) {
			check_item(&c, &changes[n].items[i]);
			say(&c, &changes[n].items[i]);
		}
		pretend(&c, &changes[n], n);
	}
	return a->failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory to check so many paths") : 0;
}
