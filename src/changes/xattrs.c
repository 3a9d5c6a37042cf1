/* SPDX-License-Identifier: MIT */
/* xattrs: listed by name, and set by /proc/self/fd. */

#include "changes/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/own.h"
#include "changes/limits.h"

/* A path by which the calls that know no directories reach the name. */
static const char *proc_name(int dir, const char *name, char out[NAME_MAX + 64])
{
	(void)snprintf(out, NAME_MAX + 64, "/proc/self/fd/%d%s%s", dir, *name ? "/" : "", name);
	return out;
}

static void add_xattr(const char *path, const char *name, struct buf *out)
{
	char value[LIMIT_XATTR] UNINITIALISED;
	const ssize_t n = lgetxattr(path, name, value, sizeof value);
	const uint32_t length = n < 0 ? 0 : (uint32_t)n;

	if (n < 0)
		return;
	buf_add(out, (struct str){ name, strlen(name) + 1 });
	for (int i = 0; i < 4; i++)
		buf_addc(out, (char)(length >> (8 * i)));
	buf_add(out, (struct str){ value, (size_t)n });
}

/* Since Linux 6.13 there is a call that knows directories, which takes a third of the time. */
static ssize_t list_xattrs(int dir, const char *name, char names[LIMIT_XATTR_NAMES])
{
	enum { LISTXATTRAT = 465 };
	char path[NAME_MAX + 64] UNINITIALISED;
	const long n = syscall(LISTXATTRAT, dir, name, AT_SYMLINK_NOFOLLOW, names,
			       (size_t)LIMIT_XATTR_NAMES);

	if (n >= 0 || (errno != ENOSYS && errno != EPERM))
		return n;
	return llistxattr(proc_name(dir, name, path), names, LIMIT_XATTR_NAMES);
}

struct str xattrs_take(int dir, const char *name, struct arena *a)
{
	char path[NAME_MAX + 64] UNINITIALISED, names[LIMIT_XATTR_NAMES] UNINITIALISED;
	const ssize_t n = list_xattrs(dir, name, names);

	if (n <= 0)
		return STR("");
	AUTO_BUF all = { .max = LIMIT_XATTRS };
	(void)proc_name(dir, name, path);
	for (const char *at = names; at < names + n; at += strlen(at) + 1)
		add_xattr(path, at, &all);
	return all.failed || !all.n ? STR("") : arena_dup(a, buf_str(&all));
}

/* The first of the attributes: its name (with its NUL in the text) and value. False at the end. */
static bool next_xattr(struct str *left, const char **name, struct str *value)
{
	const ptrdiff_t nul = str_index(*left, '\0');
	uint32_t n = 0;

	if (nul < 0 || left->n < (size_t)nul + 5)
		return false;
	*name = left->p;
	for (int i = 0; i < 4; i++)
		n |= (uint32_t)(unsigned char)left->p[nul + 1 + i] << (8 * i);
	*left = str_from(*left, (size_t)nul + 5);
	if (n > left->n)
		return false;
	*value = str_upto(*left, n);
	*left = str_from(*left, n);
	return true;
}

static bool is_ours(const char *name)
{
	return str_starts(str_of(name), STR("user.")) ||
	       str_starts(str_of(name), STR("system.posix_acl"));
}

void xattrs_drop(const char *path, struct str xattrs)
{
	char names[LIMIT_XATTR_NAMES];
	const ssize_t n = listxattr(path, names, sizeof names);

	for (const char *at = names; n > 0 && at < names + n; at += strlen(at) + 1) {
		struct str left = xattrs, value;
		const char *name;
		bool stays = false;
		while (!stays && next_xattr(&left, &name, &value))
			stays = strcmp(name, at) == 0;
		if (!stays)
			(void)removexattr(path, at);
	}
}

int xattrs_set(const char *path, struct str xattrs)
{
	struct str left = xattrs, value;
	const char *name;

	while (next_xattr(&left, &name, &value)) {
		char now[LIMIT_XATTR] UNINITIALISED;
		const ssize_t n = getxattr(path, name, now, sizeof now);
		if (n >= 0 && str_eq((struct str){ now, (size_t)n }, value))
			continue;
		if (setxattr(path, name, value.p, value.n, 0) < 0 && is_ours(name))
			return -1;
	}
	return 0;
}
