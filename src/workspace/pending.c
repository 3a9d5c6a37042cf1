/* SPDX-License-Identifier: MIT */
/* pending: a small table in shared memory. */

#include "workspace/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "base/str.h"

enum { SLOTS = 16 }; /* more replaces than a machine's cores carry out at the same moment */

enum { SLOT_FREE, SLOT_FILLING, SLOT_NOTED };

struct pending_slot {
	atomic_int state;
	char name[64];
	char dir[PATH_MAX];
};

struct pending {
	int fd;
	struct pending_slot *slots;
};

static const size_t TABLE = SLOTS * sizeof(struct pending_slot);

static struct pending_slot *map(int fd)
{
	void *p = mmap(NULL, TABLE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int new_memory(void)
{
	AUTO_FD fd = memfd_create("pending", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)TABLE) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -1;
	return TAKE(fd, -1);
}

struct pending *pending_new(void)
{
	AUTO_FD fd = new_memory();
	struct pending_slot *slots = fd < 0 ? NULL : map(fd);
	struct pending *p = slots ? mem_new(1, sizeof *p) : NULL;

	if (p)
		*p = (struct pending){ TAKE(fd, -1), slots };
	else if (slots)
		(void)munmap(slots, TABLE);
	return p;
}

void pending_free(struct pending *p)
{
	if (!p)
		return;
	(void)close(p->fd);
	(void)munmap(p->slots, TABLE);
	mem_free(p);
}

int pending_fd(const struct pending *p)
{
	return p ? p->fd : -1;
}

static void remove_noted(const char *dir, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };

	if (!str_starts(str_of(name), STR(PENDING_PREFIX)) || strchr(name, '/'))
		return;
	/* The noted path had no links: one with a link now leads to another directory. */
	AUTO_FD fd = (int)syscall(SYS_openat2, AT_FDCWD, dir, &how, sizeof how);
	if (fd < 0 && errno == ENOSYS)
		fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		(void)unlinkat(fd, name, 0);
}

void pending_sweep(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size != (off_t)TABLE)
		return;
	struct pending_slot *slots = map(fd);
	if (!slots)
		return;
	for (int i = 0; i < SLOTS; i++)
		if (atomic_exchange(&slots[i].state, SLOT_FREE) == SLOT_NOTED)
			remove_noted(slots[i].dir, slots[i].name);
	(void)munmap(slots, TABLE);
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
