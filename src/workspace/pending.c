/* SPDX-License-Identifier: MIT */
/* pending: a small table in shared memory. */

#include "workspace/pending.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 16 }; /* more replaces than that are not under way at once on one machine's cores */

enum { SLOT_FREE, SLOT_FILLING, SLOT_NOTED };

struct pending_slot {
	atomic_int state;
	char name[64];
	char dir[PATH_MAX];
};

struct pending {
	struct pending_slot slots[SLOTS];
};

struct pending *pending_new(void)
{
	struct pending *p =
		mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void pending_free(struct pending *p)
{
	if (p)
		(void)munmap(p, sizeof *p);
}

struct pending_slot *pending_add(struct pending *p, int dir, const char *name)
{
	char self[32];

	for (int i = 0; p && i < SLOTS; i++) {
		struct pending_slot *s = &p->slots[i];
		int expected = SLOT_FREE;
		if (!atomic_compare_exchange_strong(&s->state, &expected, SLOT_FILLING))
			continue;
		(void)snprintf(self, sizeof self, "/proc/self/fd/%d", dir);
		const ssize_t n = readlink(self, s->dir, sizeof s->dir - 1);
		if (n <= 0) {
			atomic_store(&s->state, SLOT_FREE);
			return NULL;
		}
		s->dir[n] = '\0';
		(void)snprintf(s->name, sizeof s->name, "%s", name);
		atomic_store(&s->state, SLOT_NOTED);
		return s;
	}
	return NULL;
}

void pending_remove(struct pending_slot *slot)
{
	if (slot)
		atomic_store(&slot->state, SLOT_FREE);
}

void pending_each(struct pending *p, void (*each)(void *arg, const char *dir, const char *name),
		  void *arg)
{
	for (int i = 0; p && i < SLOTS; i++)
		if (atomic_load(&p->slots[i].state) == SLOT_NOTED)
			each(arg, p->slots[i].dir, p->slots[i].name);
}

void pending_clear(struct pending *p)
{
	for (int i = 0; p && i < SLOTS; i++)
		atomic_store(&p->slots[i].state, SLOT_FREE);
}
