/* SPDX-License-Identifier: MIT */
/* Locks of files: programs wait for each other, but not for ever, however many calls wait. */

#include "scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "workspace/filelock.h"
#include "workspace/limits.h"
#include "workspace/locks.h"

/* A program: its locks, and its descriptor of the shared file. */
struct program {
	struct file_locks locks;
	int fd;
};

static void program_init(struct program *p, const char *dir)
{
	char path[PATH_MAX + 16];

	(void)snprintf(path, sizeof path, "%s/turns", dir);
	p->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(p->fd >= 0);
	locks_init(&p->locks);
	locks_share(&p->locks, p->fd);
}

static void program_done(struct program *p)
{
	locks_done(&p->locks);
	(void)close(p->fd);
}

/* A call that locks a place and releases it. */
struct place_call {
	struct program *program;
	const struct file_place *at;
	pthread_t thread;
	int rc;
	struct err e;
};

static void *take_and_release(void *arg)
{
	struct place_call *c = arg;
	struct file_lock lock = { .mutex = NULL };

	c->rc = locks_take_place(&c->program->locks, c->at, &lock, &c->e);
	locks_release_place(&c->program->locks, &lock);
	return NULL;
}

static void all_who_wait_for_another_program_wait_together(void **state)
{
	enum { CALLS = 4 };
	struct scratch s = scratch_new();
	struct program one, two;
	struct place_call calls[CALLS];
	struct file_lock held;
	struct err e;
	AUTO_FD dir = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct file_place at = { .dir = dir, .name = "a" };

	(void)state;
	program_init(&one, s.path);
	program_init(&two, s.path);
	assert_int_equal(locks_take_place(&one.locks, &at, &held, &e), 0);
	const int64_t began = io_now_ms();
	for (int i = 0; i < CALLS; i++) {
		calls[i] = (struct place_call){ .program = &two, .at = &at };
		assert_int_equal(
			pthread_create(&calls[i].thread, NULL, take_and_release, &calls[i]), 0);
	}
	for (int i = 0; i < CALLS; i++) {
		assert_int_equal(pthread_join(calls[i].thread, NULL), 0);
		assert_int_equal(calls[i].rc, -1);
		assert_int_equal(calls[i].e.code, ERR_TOO_BUSY);
	}
	/* Not one after the other. */
	assert_true(io_now_ms() - began < (int64_t)CALLS * LIMIT_SHARED_LOCK_MS);
	locks_release_place(&one.locks, &held);
	assert_int_equal(locks_take_all(&two.locks, &e), 0);
	locks_release_all(&two.locks);
	program_done(&one);
	program_done(&two);
	scratch_free(&s);
}

static int open_file(const struct scratch *s, const char *name)
{
	const int fd = open(in(s, name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

/* Programs of two workspaces, of which one may lie in the other, or without a file of a workspace. */
static void programs_of_one_user_wait_for_each_other_at_one_place(void **state)
{
	struct scratch s = scratch_new();
	struct file_locks one, two, *const both[] = { &one, &two };
	struct file_lock held, other, failed = { .mutex = NULL };
	const struct stat file = { .st_ino = 41, .st_dev = 1 };
	struct err e;
	AUTO_FD dir = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD inner = open_file(&s, "inner");
	const struct file_place a = { .dir = dir, .name = "a" }, b = { .dir = dir, .name = "b" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		locks_init(both[i]);
		locks_share_with_user(both[i], open_file(&s, "user"));
	}
	locks_share(&two, inner);
	assert_int_equal(locks_take_place(&one, &a, &held, &e), 0);
	assert_int_equal(locks_take_place(&two, &a, &failed, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	/* Another place is free, and so are all files of another workspace. */
	assert_int_equal(locks_take_place(&two, &b, &other, &e), 0);
	locks_release_place(&two, &other);
	assert_int_equal(locks_take_all(&two, &e), 0);
	locks_release_all(&two);
	locks_release_place(&one, &held);
	assert_int_equal(locks_take_place(&two, &a, &held, &e), 0);
	/* A file with several names is locked as well. */
	assert_int_equal(locks_take_file(&two, &file, &other, &e), 0);
	assert_int_equal(locks_take_file(&one, &file, &failed, &e), -1);
	locks_release_file(&two, &other);
	locks_release_place(&two, &held);
	/* What could not be had is not held in the file of the workspace either. */
	assert_int_equal(locks_take_all(&two, &e), 0);
	locks_release_all(&two);
	locks_done(&one);
	locks_done(&two);
	scratch_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_one_user_wait_for_each_other_at_one_place),
		cmocka_unit_test(all_who_wait_for_another_program_wait_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
