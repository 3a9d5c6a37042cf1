/* SPDX-License-Identifier: MIT */
/* locks: a mutex first, then the range of the shared file. */

#include "workspace/locks.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <xxhash.h>

#include "workspace/filelock.h"
#include "base/io.h"
#include "base/own.h"
#include "workspace/limits.h"

/* Ranges of the shared file: a gate, a byte for each place, a byte for each file with several. Who
 * wants all of them closes the gate first, so that those who want one do not keep it waiting. */
static const struct lock_range gate = { 0, 1 }, all_files = { 1, 0 };
enum { PLACE_BITS = 61 };

static int64_t byte_of(uint64_t hash, bool is_place)
{
	const uint64_t half = (uint64_t)1 << PLACE_BITS;

	return (int64_t)(1 + (hash & (half - 1)) + (is_place ? 0 : half));
}

/* A number for the file or directory itself, whatever its names. */
static uint64_t identity(const struct stat *st)
{
	return (uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 32;
}

void locks_init(struct file_locks *l)
{
	(void)pthread_rwlock_init(&l->replacing, NULL);
	for (size_t i = 0; i < FILE_LOCKS; i++) {
		(void)pthread_mutex_init(&l->places[i], NULL);
		(void)pthread_mutex_init(&l->files[i], NULL);
	}
	l->shared = l->user = -1;
}

void locks_done(struct file_locks *l)
{
	(void)pthread_rwlock_destroy(&l->replacing);
	for (size_t i = 0; i < FILE_LOCKS; i++) {
		(void)pthread_mutex_destroy(&l->places[i]);
		(void)pthread_mutex_destroy(&l->files[i]);
	}
	fd_closep(&l->user);
}

void locks_share(struct file_locks *l, int fd)
{
	l->shared = fd;
}

void locks_share_with_user(struct file_locks *l, int fd)
{
	l->user = fd;
}

static int fail(int fd, struct lock_range r, struct err *e)
{
	char holder[FILELOCK_HOLDER];

	if (errno != EAGAIN)
		return err_errno(e, "The lock that programs of this workspace share cannot be "
				    "taken");
	(void)err_set(e, ERR_TOO_BUSY,
		      "Another program is changing files of this workspace and has not finished "
		      "within %d seconds: %s.",
		      LIMIT_SHARED_LOCK_MS / 1000, filelock_holder(fd, r, holder));
	return err_advise(e, "Let it continue, or end it; then try again.");
}

/* Until when who came then waits for other programs. The time in which it has waited for others of
 * this process counts, because those have waited for the same; but some is always left. */
static int64_t deadline_of(int64_t came_ms)
{
	const int64_t least = io_now_ms() + LIMIT_SHARED_LOCK_MS / 50;

	return came_ms + LIMIT_SHARED_LOCK_MS > least ? came_ms + LIMIT_SHARED_LOCK_MS : least;
}

/* Lock one byte of a shared file, if there is one. */
static int take_byte(int fd, int64_t at, bool by_gate, int64_t deadline, struct err *e)
{
	const struct lock_range byte = { at, 1 };

	if (fd < 0)
		return 0;
	if (by_gate && filelock_take(fd, gate, FILELOCK_SHARED, deadline) < 0)
		return fail(fd, gate, e);
	const int rc = filelock_take(fd, byte, FILELOCK_ALONE, deadline);
	const int error = errno;
	if (by_gate)
		filelock_release(fd, gate);
	errno = error;
	return rc < 0 ? fail(fd, byte, e) : 0;
}

static void release_byte(int fd, int64_t at)
{
	if (fd >= 0)
		filelock_release(fd, (struct lock_range){ at, 1 });
}

static int take(const struct file_locks *l, const struct file_lock *lock, bool by_gate,
		int64_t came_ms, struct err *e)
{
	(void)pthread_mutex_lock(lock->mutex);
	const int64_t deadline = deadline_of(came_ms);
	if (take_byte(l->shared, lock->at, by_gate, deadline, e) == 0) {
		if (take_byte(l->user, lock->at, false, deadline, e) == 0)
			return 0;
		release_byte(l->shared, lock->at);
	}
	(void)pthread_mutex_unlock(lock->mutex);
	return -1;
}

int locks_take_place(struct file_locks *l, const struct file_place *at, struct file_lock *ret,
		     struct err *e)
{
	struct stat st = { 0 };

	/* By the directory's identity, because it may have several names. */
	(void)fstat(at->dir, &st);
	const uint64_t hash = XXH3_64bits_withSeed(at->name, strlen(at->name), identity(&st));
	const struct file_lock lock = { .mutex = &l->places[hash % FILE_LOCKS],
					.at = byte_of(hash, true) };
	const int64_t came_ms = io_now_ms();
	(void)pthread_rwlock_rdlock(&l->replacing);
	if (take(l, &lock, true, came_ms, e) < 0) {
		(void)pthread_rwlock_unlock(&l->replacing);
		return -1;
	}
	*ret = lock;
	return 0;
}

void locks_release_place(struct file_locks *l, struct file_lock *lock)
{
	if (!lock->mutex)
		return;
	locks_release_file(l, lock);
	(void)pthread_rwlock_unlock(&l->replacing);
}

int locks_take_file(struct file_locks *l, const struct stat *st, struct file_lock *ret,
		    struct err *e)
{
	const struct file_lock lock = { .mutex = &l->files[identity(st) % FILE_LOCKS],
					.at = byte_of(identity(st), false) };

	if (take(l, &lock, false, io_now_ms(), e) < 0)
		return -1;
	*ret = lock;
	return 0;
}

void locks_release_file(struct file_locks *l, struct file_lock *lock)
{
	if (!lock->mutex)
		return;
	release_byte(l->user, lock->at);
	release_byte(l->shared, lock->at);
	(void)pthread_mutex_unlock(TAKE(lock->mutex, NULL));
}

int locks_take_all(struct file_locks *l, struct err *e)
{
	const int64_t came_ms = io_now_ms();
	(void)pthread_rwlock_wrlock(&l->replacing);
	const int64_t deadline = deadline_of(came_ms);
	if (l->shared < 0 || (filelock_take(l->shared, gate, FILELOCK_ALONE, deadline) == 0 &&
			      filelock_take(l->shared, all_files, FILELOCK_ALONE, deadline) == 0))
		return 0;
	const int rc = fail(l->shared, (struct lock_range){ 0, 0 }, e);
	locks_release_all(l);
	return rc;
}

void locks_release_all(struct file_locks *l)
{
	if (l->shared >= 0) {
		filelock_release(l->shared, all_files);
		filelock_release(l->shared, gate);
	}
	(void)pthread_rwlock_unlock(&l->replacing);
}
