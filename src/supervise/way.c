/* SPDX-License-Identifier: MIT */
/* way: texts, and the names in /proc that only the caller itself could follow. */

#include "supervise/way.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

/* What a link of the caller in /proc leads to, if that has a name. */
int way_link(int proc, const char *what, char to[PATH_MAX])
{
	const ssize_t n = readlinkat(proc, what, to, PATH_MAX - 1);

	if (n < 0) {
		if (errno == ENOENT)
			errno = EBADF;
		return -1;
	}
	to[n] = '\0';
	if (to[0] == '/')
		return 0;
	errno = ENOTDIR;
	return -1;
}

int way_join(struct caller_path *ret, struct str start, struct str rest)
{
	if (str_eq(start, STR("/")))
		start.n = 0;
	if (start.n + rest.n + 2 > sizeof ret->text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (start.n)
		memmove(ret->text, start.p, start.n); /* it may be its own beginning */
	ret->text[start.n] = '/';
	if (rest.n)
		memcpy(ret->text + start.n + 1, rest.p, rest.n);
	ret->n = start.n + 1 + rest.n;
	ret->text[ret->n] = '\0';
	return 0;
}

struct str way_below(struct str s)
{
	while (s.n && s.p[0] == '/')
		s = str_from(s, 1);
	return s;
}

/* The names in /proc and /dev by which a process reaches what it has itself. */
int way_replace_magic(int proc, struct caller_path *p)
{
	static const struct {
		struct str start;
		const char *what;
		bool numbered;
	} magic[] = {
		{ STR("/proc/self/fd/"), "fd/", true },
		{ STR("/proc/thread-self/fd/"), "fd/", true },
		{ STR("/dev/fd/"), "fd/", true },
		{ STR("/dev/stdin"), "fd/0", false },
		{ STR("/dev/stdout"), "fd/1", false },
		{ STR("/dev/stderr"), "fd/2", false },
		{ STR("/proc/self/cwd"), "cwd", false },
		{ STR("/proc/thread-self/cwd"), "cwd", false },
		{ STR("/proc/self/root"), "root", false },
		{ STR("/proc/thread-self/root"), "root", false },
		{ STR("/proc/self/exe"), "exe", false },
		{ STR("/proc/thread-self/exe"), "exe", false },
	};
	const struct str threads = STR("/proc/self/task/");

	/* A thread is also found by its number alone. */
	if (str_starts((struct str){ p->text, p->n }, threads) && p->text[threads.n] >= '0' &&
	    p->text[threads.n] <= '9') {
		p->n -= threads.n - 6;
		memmove(p->text + 6, p->text + threads.n, p->n - 6 + 1);
	}
	const struct str all = { p->text, p->n };

	if (!str_starts(all, STR("/proc/")) && !str_starts(all, STR("/dev/")))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(magic); i++) {
		struct str number = STR(""), rest = str_from(all, magic[i].start.n);
		char target[PATH_MAX] UNINITIALISED, what[32];
		if (!str_starts(all, magic[i].start))
			continue;
		if (magic[i].numbered)
			(void)str_cut(rest, '/', &number, &rest);
		else if (rest.n && rest.p[0] != '/')
			continue;
		rest = way_below(rest);
		(void)snprintf(what, sizeof what, "%s%.*s", magic[i].what,
			       STR_FMT(str_upto(number, 10)));
		if (way_link(proc, what, target) < 0)
			return -1;
		struct caller_path new UNINITIALISED;
		if (way_join(&new, str_of(target), rest) < 0)
			return -1;
		if (rest.n == 0 && new.n > 1) /* without the slash between them */
			new.text[--new.n] = '\0';
		*p = new;
		return 0;
	}
	return 0;
}
