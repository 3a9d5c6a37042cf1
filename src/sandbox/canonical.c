/* SPDX-License-Identifier: MIT */
/* canonical: realpath once, then never follow a link. */

#include "sandbox/canonical.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

bool canonical_is_in(const char *path, const char *dir)
{
	const size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

const char *canonical_name(const char *path, const char *home, char ret[PATH_MAX])
{
	if (!realpath(path, ret))
		return NULL;
	if (home && canonical_is_in(path, home) && !canonical_is_in(ret, home)) {
		errno = ELOOP;
		return NULL;
	}
	return ret;
}

/* Where a link leads, although perhaps nothing is there. */
static bool follow(const char *name, char to[PATH_MAX])
{
	char text[PATH_MAX], at[2 * PATH_MAX], dir[PATH_MAX];

	if (canonical_name(name, NULL, to))
		return true;
	const ssize_t n = readlink(name, text, sizeof text - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	(void)snprintf(at, sizeof at, "%.*s%s",
		       text[0] == '/' ? 0 : (int)(strrchr(name, '/') - name + 1), name, text);
	char *last = strrchr(at, '/');
	*last++ = '\0';
	return *last && canonical_name(*at ? at : "/", NULL, dir) &&
	       snprintf(to, PATH_MAX, "%s/%s", dir, last) < PATH_MAX;
}

bool canonical_lead(const char *name, char to[PATH_MAX])
{
	char dir[PATH_MAX];
	const char *last = strrchr(name, '/');

	if (follow(name, to))
		return true;
	if (last == name ||
	    snprintf(dir, sizeof dir, "%.*s", (int)(last - name), name) >= PATH_MAX ||
	    !canonical_lead(dir, to) || strlen(to) + strlen(last) >= PATH_MAX)
		return false;
	memcpy(to + strlen(to), last, strlen(last) + 1);
	return true;
}

/* If openat2 is refused: the file must still have the name by which it was opened. */
static int open_and_compare(const char *name)
{
	char self[32], found[PATH_MAX];
	AUTO_FD fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(self, found, sizeof(found));
	if (n < 0 || (size_t)n != strlen(name) || memcmp(found, name, (size_t)n) != 0) {
		errno = ELOOP;
		return -1;
	}
	return TAKE(fd, -1);
}

int canonical_open(const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	const int fd = (int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof(how));

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	return open_and_compare(name);
}

bool canonical_in(int dir, const char *name, char ret[2 * PATH_MAX])
{
	char self[32];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", dir);
	const ssize_t n = readlink(self, ret, PATH_MAX - 1);
	if (n <= 0)
		return false;
	(void)snprintf(ret + n, (size_t)(2 * PATH_MAX - n), "%s%s", ret[n - 1] == '/' ? "" : "/",
		       name);
	return true;
}
