/* SPDX-License-Identifier: MIT */
/* scratch: make and remove the private /tmp. */

#include "exec/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "exec/canonical.h"

int scratch_new(char *path, size_t size, struct err *e)
{
	const char *base = getenv("TMPDIR");
	char name[PATH_MAX];

	if (!base || base[0] != '/')
		base = "/tmp";
	const int n = snprintf(path, size, "%s/sidecar-XXXXXX", base);
	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_INVALID_PATH, "The name in TMPDIR is too long");
	if (!mkdtemp(path) || !canonical_name(path, name))
		return err_errno(e, "A private directory for temporary files cannot be made");
	if (strlen(name) >= size) {
		(void)rmdir(path);
		return err_set(e, ERR_INVALID_PATH, "The name in TMPDIR is too long");
	}
	memcpy(path, name, strlen(name) + 1);
	return 0;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Empty the directory and close fd. Depth is bounded by what a path may hold many times over. */
static void empty(int fd, dev_t device, int depth)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_dev != device || depth > LIMIT_SCRATCH_DEPTH) {
		(void)close(fd);
		return;
	}
	/* A command may have taken its own directory's permissions away. */
	(void)!fchmod(fd, 0700);
	DIR *dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return;
	}
	for (const struct dirent *d; (d = readdir(dir));) {
		if (is_dots(d->d_name) || unlinkat(fd, d->d_name, 0) == 0)
			continue;
		(void)!fchmodat(fd, d->d_name, 0700, AT_SYMLINK_NOFOLLOW);
		const int below =
			openat(fd, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			empty(below, device, depth + 1);
		(void)unlinkat(fd, d->d_name, AT_REMOVEDIR);
	}
	(void)closedir(dir);
}

void scratch_remove(const char *path)
{
	struct stat st;
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	empty(TAKE(fd, -1), st.st_dev, 0);
	(void)rmdir(path);
}
