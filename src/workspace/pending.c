/* SPDX-License-Identifier: MIT */
/* pending: a small table in shared memory. */

#include "workspace/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

enum { SLOTS = 16 }; /* more replaces than that are not under way at once on one machine's cores */

enum { SLOT_FREE, SLOT_FILLING, SLOT_NOTED };

struct pending_slot {
	atomic_int state;
	char name[64];
	char dir[PATH_MAX];
};

struct pending {
	char file[64];
	struct pending_slot slots[SLOTS];
};

/* A table in a file of its own in memory, named after nothing anybody could guess. */
static int new_file(char name[64])
{
	uint64_t random;

	io_random(&random, sizeof random);
	(void)snprintf(name, 64, "/dev/shm/sidecar-%016llx", (unsigned long long)random);
	AUTO_FD fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof(struct pending)) < 0) {
		(void)unlink(name);
		return -1;
	}
	return TAKE(fd, -1);
}

struct pending *pending_new(bool file)
{
	char name[64] = "";
	AUTO_FD fd = file ? new_file(name) : -1;
	struct pending *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
				 MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (fd >= 0)
		memcpy(p->file, name, sizeof name);
	return p;
}

void pending_free(struct pending *p)
{
	if (!p)
		return;
	if (*p->file)
		(void)unlink(p->file);
	(void)munmap(p, sizeof *p);
}

const char *pending_file(const struct pending *p)
{
	return p ? p->file : "";
}

static void remove_noted(void *arg, const char *dir, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };

	(void)arg;
	if (!str_starts(str_of(name), STR(PENDING_PREFIX)) || strchr(name, '/'))
		return;
	/* The path was canonical: a link in it now is not what was noted. */
	AUTO_FD fd = (int)syscall(SYS_openat2, AT_FDCWD, dir, &how, sizeof how);
	if (fd < 0 && errno == ENOSYS)
		fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		(void)unlinkat(fd, name, 0);
}

void pending_sweep(const char *file)
{
	AUTO_FD fd = open(file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size != (off_t)sizeof(struct pending))
		return;
	struct pending *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return;
	pending_each(p, remove_noted, NULL);
	(void)munmap(p, sizeof *p);
	(void)unlink(file);
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
