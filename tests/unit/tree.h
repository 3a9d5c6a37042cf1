/* SPDX-License-Identifier: MIT */
/* tree: a temporary directory for a test, filled by path, removed at the end. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "search/glob.h"

struct tree {
	char path[32];
	int fd;
};

static inline struct tree tree_new(void)
{
	struct tree t = { .path = "/tmp/test_tree_XXXXXX" };

	assert_non_null(mkdtemp(t.path));
	t.fd = open(t.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t.fd >= 0);
	return t;
}

static inline void tree_done(struct tree *t)
{
	char command[64];

	fd_closep(&t->fd);
	snprintf(command, sizeof command, "rm -rf %s", t->path);
	assert_int_equal(system(command), 0);
}

/* A file with this text, or a directory when the path ends in "/"; missing parents are created.
 */
static inline void tree_put(const struct tree *t, const char *path, struct str text)
{
	char part[512];

	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
		assert_true(mkdirat(t->fd, part, 0700) == 0 || errno == EEXIST);
	}
	if (path[strlen(path) - 1] == '/')
		return;
	AUTO_FD fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, IO_FOREVER), 0);
}

/* The paths of all hits, each followed by a newline. */
static inline struct str hits_paths(const struct hits *h, struct buf *out)
{
	struct hits_reader r = { .hits = h };
	struct hit hit;

	buf_reset(out, out->max);
	while (hits_next(&r, &hit)) {
		buf_add(out, hit.path);
		buf_addc(out, '\n');
	}
	return buf_str(out);
}

#endif
