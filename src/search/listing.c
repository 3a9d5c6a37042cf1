/* SPDX-License-Identifier: MIT */
/* listing: read a directory by getdents64 and sort its names. */

#include "search/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "search/limits.h"

enum { LIST_FIRST = 256 };

/* As the kernel writes it (getdents64). */
struct kernel_dirent {
	uint64_t ino;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

int listing_init(struct dir_listing *l)
{
	l->names.max = SIZE_MAX;
	l->dents = mem_new(1, LIMIT_WALK_DENTS);
	return l->dents ? 0 : -1;
}

void listing_done(struct dir_listing *l)
{
	mem_free(l->dents);
	mem_free(l->list);
	buf_done(&l->names);
}

void listing_reset(struct dir_listing *l)
{
	buf_reset(&l->names, SIZE_MAX);
	l->n = 0;
	l->rules = (struct rule_files){ 0 };
}

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

static bool add(struct dir_listing *l, struct str name, enum hit_type type)
{
	if (l->n == l->cap) {
		const size_t cap = l->cap ? 2 * l->cap : LIST_FIRST;
		struct listed *bigger = mem_resize(l->list, cap, sizeof *bigger);

		if (!bigger)
			return false;
		l->list = bigger;
		l->cap = cap;
	}
	const size_t at = l->names.n;
	buf_add(&l->names, (struct str){ name.p, name.n + 1 });
	if (l->names.failed)
		return false;
	l->list[l->n++] = (struct listed){ .name = at, .name_n = (uint32_t)name.n, .type = type };
	return true;
}

static void note_rule_file(struct str name, struct rule_files *has)
{
	has->git |= str_eq(name, STR(".git"));
	has->gitignore |= str_eq(name, STR(".gitignore"));
	has->ignore |= str_eq(name, STR(".ignore"));
}

int listing_more(struct dir_listing *l, int fd)
{
	const long n = syscall(SYS_getdents64, fd, l->dents, LIMIT_WALK_DENTS);

	for (long at = 0; at < n;) {
		const struct kernel_dirent *d = (const void *)(l->dents + at);
		const struct str name = str_of(d->name);

		at += d->size;
		if (d->name[0] == '.') {
			if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
				continue;
			note_rule_file(name, &l->rules);
		}
		const unsigned char type =
			d->type == DT_UNKNOWN ? dir_entry_type(fd, d->name) : d->type;
		if (!add(l, name, hit_type_of(type))) {
			errno = ENOMEM;
			return -1;
		}
	}
	return n > 0 ? 1 : (int)n;
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

static int compare(const void *x, const void *y, void *names)
{
	const struct listed *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	/* A name ends in NUL, which sorts first as an end should; a directory's ends in '/'. */
	const unsigned char *p = (unsigned char *)names + a->name;
	const unsigned char *q = (unsigned char *)names + b->name;
	while (*p && *p == *q)
		p++, q++;
	const int c = *p ? *p : a->type == HIT_DIRECTORY ? '/' : 0;
	const int k = *q ? *q : b->type == HIT_DIRECTORY ? '/' : 0;
	return c - k;
}

void listing_sort(struct dir_listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->list[i].key =
			sort_key(listing_name(l, &l->list[i]), l->list[i].type == HIT_DIRECTORY);
	if (l->n > 1)
		qsort_r(l->list, l->n, sizeof *l->list, compare, l->names.p);
}
