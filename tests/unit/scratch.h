/* SPDX-License-Identifier: MIT */
/*
 * scratch: a directory for one test, files in it made and read by plain system calls, and forked
 * children for what must not happen in the test program itself.
 *
 * Everything a test touches, "outside" included, is below its scratch directory, so that a broken
 * guard harms nothing else.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

#define SKIPPED 77 /* what a child returns when it cannot run here, after a line "SKIP: why" */

struct scratch {
	char path[PATH_MAX / 2];
};

static inline struct scratch scratch_new_in(const char *usual)
{
	const char *tmp = getenv("TMPDIR");
	char made[PATH_MAX / 4], real[PATH_MAX];
	struct scratch s;

	(void)snprintf(made, sizeof made, "%s/sidecar-test-XXXXXX", tmp && *tmp ? tmp : usual);
	assert_non_null(mkdtemp(made));
	assert_non_null(realpath(made, real));
	assert_true(strlen(real) < sizeof s.path);
	(void)snprintf(s.path, sizeof s.path, "%.*s", (int)sizeof s.path - 1, real);
	assert_int_equal(chmod(s.path, 0755), 0);
	return s;
}

static inline int scratch_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static inline void scratch_free(struct scratch *s)
{
	(void)nftw(s->path, scratch_remove, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static inline struct scratch scratch_new(void)
{
	return scratch_new_in("/tmp");
}

/* In memory, if that is possible: for tests that make and remove thousands of files. */
static inline struct scratch scratch_in_memory(void)
{
	return scratch_new_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

/* "<scratch>/<name>"; two results are valid at a time. */
static inline const char *in(const struct scratch *s, const char *name)
{
	static _Thread_local char room[2][PATH_MAX];
	static _Thread_local unsigned turn;
	char *to = room[turn++ % 2];

	(void)snprintf(to, sizeof room[0], "%.2047s/%.2047s", s->path, name);
	return to;
}

static inline void put_dir(const struct scratch *s, const char *name)
{
	assert_int_equal(mkdir(in(s, name), 0755), 0);
}

static inline void put(const struct scratch *s, const char *name, const char *content)
{
	const int fd = open(in(s, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	(void)close(fd);
}

/* A link; a target that begins with "@" stands for the scratch directory. */
static inline void put_link(const struct scratch *s, const char *name, const char *target)
{
	char text[PATH_MAX];

	(void)snprintf(text, sizeof text, "%s%s", *target == '@' ? s->path : "",
		       target + (*target == '@'));
	assert_int_equal(symlink(text, in(s, name)), 0);
}

/* The content of a small file; "(none)" when there is no such file. */
static inline const char *get(const struct scratch *s, const char *name)
{
	static _Thread_local char content[8192];
	const int fd = open(in(s, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return "(none)";
	const ssize_t n = read(fd, content, sizeof content - 1);
	content[n > 0 ? n : 0] = '\0';
	(void)close(fd);
	return content;
}

/* How many entries the directory has whose names begin so. */
static inline int count_entries(const char *path, const char *prefix)
{
	int n = 0;
	DIR *d = opendir(path);

	assert_non_null(d);
	for (const struct dirent *e = readdir(d); e; e = readdir(d))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		     strncmp(e->d_name, prefix, strlen(prefix)) == 0;
	(void)closedir(d);
	return n;
}

/*
 * Run the function in a forked child that is killed after some minutes, so that a call that blocks
 * fails instead of hanging. The child may use assertions: a failed one makes its exit status
 * non-zero.
 */
static inline void in_child(int (*run)(void *arg), void *arg)
{
	int status = 0;
	(void)fflush(NULL);
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)alarm(300);
		const int code = run(arg);
		(void)fflush(NULL);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child ended with status %#x", (unsigned)status);
}

#endif
