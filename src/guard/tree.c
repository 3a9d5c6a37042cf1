/* SPDX-License-Identifier: MIT */
/* tree: a queue of directories, which are read one after the other. */

#include "guard/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "base/own.h"

enum { QUEUE_BYTES = 64 << 20 };

struct tree {
	struct buf queue; /* names of directories, each with its NUL */
	size_t left;	  /* names that may still be visited */
	bool (*visit)(void *arg, const char *name, bool is_dir);
	void *arg;
};

static bool is_directory(DIR *dir, const struct dirent *d)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return d->d_type == DT_DIR;
	return fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Visit what is in the directory of that name. False: not all. */
static bool read_directory(struct tree *t, const char *name)
{
	char below[PATH_MAX];
	const struct dirent *d;
	const int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool whole = true;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return true;
	}
	while (whole && (d = readdir(dir))) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
		    snprintf(below, sizeof below, "%s/%s", name, d->d_name) >= (int)sizeof below)
			continue;
		const bool is_dir = is_directory(dir, d);
		whole = t->left-- > 0;
		if (whole && t->visit(t->arg, below, is_dir) && is_dir)
			strings_add(&t->queue, str_of(below));
	}
	(void)closedir(dir);
	return whole && !t->queue.failed;
}

bool tree_visit(const char *top, size_t most,
		bool (*visit)(void *arg, const char *name, bool is_dir), void *arg)
{
	struct tree t = {
		.queue = { .max = QUEUE_BYTES }, .left = most, .visit = visit, .arg = arg
	};
	char name[PATH_MAX];
	bool whole = true;

	strings_add(&t.queue, str_of(top));
	for (size_t at = 0; whole && at < t.queue.n; at += strlen(name) + 1) {
		/* The queue moves when it grows. */
		(void)snprintf(name, sizeof name, "%s", t.queue.p + at);
		whole = read_directory(&t, name);
	}
	buf_done(&t.queue);
	return whole;
}
