/* SPDX-License-Identifier: MIT */
/* walk_expand: one directory becomes pieces of work: read, filtered by the rules, sorted. */

#include <dirent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "search/walk_list.h"

enum { LIST_FIRST = 256 };

/* As the kernel writes it (getdents64). */
struct kernel_dirent {
	uint64_t ino;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

static enum hit_type hit_type_of(unsigned char type)
{
	switch (type) {
	case DT_REG:
		return HIT_FILE;
	case DT_DIR:
		return HIT_DIRECTORY;
	case DT_LNK:
		return HIT_LINK;
	default:
		return HIT_OTHER;
	}
}

static bool list_add(struct worker *me, struct str name, enum hit_type type)
{
	if (me->list_n == me->list_cap) {
		const size_t cap = me->list_cap ? 2 * me->list_cap : LIST_FIRST;
		struct listed *bigger = mem_resize(me->list, cap, sizeof *bigger);

		if (!bigger)
			return false;
		me->list = bigger;
		me->list_cap = cap;
	}
	me->list[me->list_n++] = (struct listed){
		.name = me->names.n,
		.name_n = (uint32_t)name.n,
		.type = type,
	};
	buf_add(&me->names, (struct str){ name.p, name.n + 1 });
	return !me->names.failed;
}

static void note_rule_file(struct str name, struct rule_files *has)
{
	has->git |= str_eq(name, STR(".git"));
	has->gitignore |= str_eq(name, STR(".gitignore"));
	has->ignore |= str_eq(name, STR(".ignore"));
}

/* All names of a directory, or fewer when the walk must stop. False when it cannot be read. */
static bool read_names(struct worker *me, int fd, struct rule_files *has)
{
	long n;

	while ((n = syscall(SYS_getdents64, fd, me->dents, LIMIT_WALK_DENTS)) > 0) {
		for (long at = 0; at < n;) {
			const struct kernel_dirent *d = (const void *)(me->dents + at);
			const struct str name = str_of(d->name);

			at += d->size;
			if (d->name[0] == '.') {
				if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
					continue;
				note_rule_file(name, has);
			}
			const unsigned char type =
				d->type == DT_UNKNOWN ? dir_entry_type(fd, d->name) : d->type;
			if (!list_add(me, name, hit_type_of(type)))
				return false;
		}
		if (walk_must_stop(me->walk))
			return true;
	}
	return n == 0;
}

/* What is wanted of an entry when the search goes on behind a path seen before. */
static unsigned wanted_after(struct str after, struct str path, bool is_dir, unsigned wanted)
{
	if (!str_starts(after, path))
		return str_cmp(path, after) > 0 ? wanted : 0;
	if (!is_dir)
		return after.n == path.n ? wanted & WALK_SCAN : 0;
	/* A directory counts with its "/", and all that is in it begins with that. */
	const unsigned char next = after.n > path.n ? (unsigned char)after.p[path.n] : 0;
	if (next == '/')
		return wanted & WALK_DESCEND;
	return next < '/' ? wanted : 0;
}

/* The entry as visitors see it; its path is the worker's until the next one. */
static bool entry_of(struct worker *me, int fd, size_t dir_n, const struct listed *l,
		     struct walk_entry *ret)
{
	me->path.n = dir_n;
	buf_add(&me->path, (struct str){ me->names.p + l->name, l->name_n + 1 });
	if (me->path.failed)
		return false;
	me->path.n--; /* the NUL only stands behind it */
	*ret = (struct walk_entry){
		.dirfd = fd,
		.path = str_from(buf_str(&me->path), me->walk->base.n),
		.name = { me->path.p + dir_n, l->name_n },
		.type = l->type,
	};
	return true;
}

/* Decide about one entry: whether it stays in the list. */
static bool decide(struct worker *me, struct dir *d, int fd, size_t dir_n, struct listed *l)
{
	const struct walk *w = me->walk;
	const struct walk_request *r = w->request;
	const struct str name = { me->names.p + l->name, l->name_n };
	const bool is_dir = l->type == HIT_DIRECTORY;

	if (str_eq(name, STR(".git"))) {
		me->account.hidden++;
		return false;
	}
	struct walk_entry entry;
	if (!entry_of(me, fd, dir_n, l, &entry))
		return false;
	l->ignored =
		!d->ignored && !r->all && walk_is_ignored(d, buf_str(&me->path), dir_n, is_dir);
	if (l->ignored) {
		me->account.ignored++;
		const size_t noted = __atomic_load_n(&w->hidden_n, __ATOMIC_RELAXED) + me->hidden_n;
		if (!w->note_hidden || noted >= LIMIT_SEARCH_HIDDEN)
			return false;
		me->hidden_n++;
	}
	struct walk_account uncounted = { 0 };
	l->wanted = w->visitor->entry(w->visitor->search, &entry,
				      l->ignored ? &uncounted : &me->account);
	if (r->max_depth && d->depth + 1 >= r->max_depth)
		l->wanted &= ~(unsigned)WALK_DESCEND;
	if (r->after.n && l->wanted)
		l->wanted = wanted_after(r->after, entry.path, is_dir, l->wanted);
	return l->wanted != 0;
}

static uint64_t sort_key(struct str name, bool is_dir)
{
	unsigned char first[8] = { 0 };
	uint64_t key = 0;

	memcpy(first, name.p, name.n < 8 ? name.n : 8);
	if (is_dir && name.n < 8)
		first[name.n] = '/';
	for (size_t i = 0; i < 8; i++)
		key = key << 8 | first[i];
	return key;
}

/* Byte order of the paths below: a directory's name counts with its "/". */
static int compare(const void *x, const void *y, void *names)
{
	const struct listed *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	/* Names end in NUL, which sorts first as an end should; a directory's is a '/'. */
	const unsigned char *p = (unsigned char *)names + a->name;
	const unsigned char *q = (unsigned char *)names + b->name;
	while (*p && *p == *q)
		p++, q++;
	const int c = *p ? *p : a->type == HIT_DIRECTORY ? '/' : 0;
	const int k = *q ? *q : b->type == HIT_DIRECTORY ? '/' : 0;
	return c - k;
}

static struct piece *done_piece(struct walk *w, struct piece_list *out)
{
	if (out->last && out->last->state == PIECE_DONE)
		return out->last;
	struct piece *p = piece_new(w, PIECE_DONE, NULL, 0);
	if (p)
		piece_list_add(out, p);
	return p;
}

static void report(struct worker *me, int fd, size_t dir_n, const struct listed *l,
		   struct piece_list *out)
{
	const struct walk_visitor *v = me->walk->visitor;
	struct piece *p = done_piece(me->walk, out);
	struct walk_entry entry;

	if (p && entry_of(me, fd, dir_n, l, &entry))
		v->report(v->search, &entry, &p->hits);
	else
		me->account.unreadable++;
}

static void add_directory(struct worker *me, struct dir *d, const struct listed *l,
			  struct piece_list *out)
{
	struct dirs *all = &me->walk->dirs;
	struct dir *sub = dir_new(all, d, (struct str){ me->names.p + l->name, l->name_n });
	struct piece *p = sub ? piece_new(me->walk, PIECE_DIR, sub, 0) : NULL;

	if (sub)
		sub->ignored = d->ignored || l->ignored;
	if (p)
		piece_list_add(out, p);
	else
		me->account.unreadable++;
	if (sub)
		dir_drop(all, sub); /* the piece holds it */
}

/* The files from list[i] on that can be scanned in one go. Returns how many. */
static size_t add_files(struct worker *me, struct dir *d, size_t i, struct piece_list *out)
{
	size_t n = 0, bytes = 0;

	while (i + n < me->list_n && n < LIMIT_WALK_FILES && me->list[i + n].wanted == WALK_SCAN &&
	       me->list[i + n].ignored == me->list[i].ignored)
		bytes += me->list[i + n++].name_n + 1;
	struct piece *p = piece_new(me->walk, PIECE_FILES, d, bytes);
	if (!p) {
		me->account.unreadable += (int64_t)n;
		return n;
	}
	char *to = p->names;
	for (size_t k = i; k < i + n; k++) {
		memcpy(to, me->names.p + me->list[k].name, me->list[k].name_n + 1);
		to += me->list[k].name_n + 1;
	}
	p->files = n;
	piece_list_add(out, p);
	return n;
}

static void make_pieces(struct worker *me, struct dir *d, int fd, size_t dir_n,
			struct piece_list *out)
{
	for (size_t i = 0; i < me->list_n;) {
		const struct listed *l = &me->list[i];
		struct piece_list *to = l->ignored ? &me->hidden : out;

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

void walk_expand(struct worker *me, struct dir *d, struct piece_list *out)
{
	struct walk *w = me->walk;
	struct rule_files has = { 0 };
	size_t kept = 0;
	const int fd = dir_enter(&w->dirs, d);

	me->names.n = me->list_n = 0;
	if (fd < 0 || !read_names(me, fd, &has))
		me->account.unreadable++;
	if (fd < 0)
		return;
	me->path.n = 0;
	buf_add(&me->path, w->base);
	dir_path(d, &me->path);
	const size_t dir_n = me->path.n;
	if (!w->request->all && !d->ignored)
		walk_rules(w, d, fd, &has, dir_n);
	for (size_t i = 0; i < me->list_n; i++) {
		struct listed l = me->list[i];

		if (!decide(me, d, fd, dir_n, &l))
			continue;
		l.key = sort_key((struct str){ me->names.p + l.name, l.name_n },
				 l.type == HIT_DIRECTORY);
		me->list[kept++] = l;
	}
	me->list_n = kept;
	if (kept > 1)
		qsort_r(me->list, kept, sizeof *me->list, compare, me->names.p);
	make_pieces(me, d, fd, dir_n, out);
	dir_leave(&w->dirs, d);
}
