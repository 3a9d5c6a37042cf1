/* SPDX-License-Identifier: MIT */
/* coverwatch: which names have come, and a child that covers them. */

#include "sandbox/coverwatch.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/canonical.h"
#include "sandbox/steps.h"

static size_t count_of(const struct sandbox_config *c)
{
	return c->hide.count + c->protect.count;
}

static const char *name_of(const struct sandbox_config *c, size_t i)
{
	return i < c->hide.count ? c->hide.item[i] : c->protect.item[i - c->hide.count];
}

void coverwatch_init(struct coverwatch *w, const struct sandbox_config *c)
{
	char dir[PATH_MAX];

	*w = (struct coverwatch){ .fd = -1 };
	if (!count_of(c))
		return;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	w->wds = mem_new(count_of(c), sizeof(*w->wds));
	if (w->fd < 0 || !w->wds) {
		coverwatch_done(w);
		return;
	}
	for (size_t i = 0; i < count_of(c); i++) {
		const char *name = name_of(c, i), *slash = strrchr(name, '/');
		(void)snprintf(dir, sizeof(dir), "%.*s", (int)(slash == name ? 1 : slash - name),
			       name);
		w->wds[i] = inotify_add_watch(
			w->fd, dir, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
	}
}

void coverwatch_done(struct coverwatch *w)
{
	fd_closep(&w->fd);
	mem_free(TAKE(w->wds, NULL));
}

/* Which of the names it is; count_of if none. */
static size_t find(const struct coverwatch *w, const struct sandbox_config *c,
		   const struct inotify_event *e, size_t from)
{
	while (from < count_of(c) && (w->wds[from] != e->wd || !e->len ||
				      strcmp(strrchr(name_of(c, from), '/') + 1, e->name) != 0))
		from++;
	return from;
}

/* Into the user namespace of a process, if it has another one, and into its mounts. */
static int enter(pid_t pid)
{
	char path[64];
	struct stat its, ours;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	AUTO_FD user = open(path, O_RDONLY | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	AUTO_FD mounts = open(path, O_RDONLY | O_CLOEXEC);
	if (user < 0 || mounts < 0 || fstat(user, &its) < 0 ||
	    stat("/proc/self/ns/user", &ours) < 0)
		return -1;
	if (its.st_ino != ours.st_ino && setns(user, CLONE_NEWUSER) < 0)
		return -1;
	/* A run-time library, as a sanitizer's, may have a thread with the same directory. */
	(void)unshare(CLONE_FS);
	return setns(mounts, CLONE_NEWNS);
}

static void cover(const struct sandbox_config *c, size_t i)
{
	const char *name = name_of(c, i);
	AUTO_FD at = canonical_open(name);

	if (at >= 0 && i < c->hide.count)
		(void)mounts_hide(name);
	else if (at >= 0)
		(void)mounts_cover(at, true);
}

void coverwatch_act(const struct coverwatch *w, const struct sandbox_config *c, pid_t pid)
{
	_Alignas(struct inotify_event) char events[4096];
	const ssize_t n = read(w->fd, events, sizeof(events));
	bool *come = n > 0 ? mem_new(count_of(c), sizeof(*come)) : NULL;
	bool any = false;

	for (ssize_t at = 0; come && at < n;) {
		const struct inotify_event *e = (const void *)(events + at);
		for (size_t i = find(w, c, e, 0); i < count_of(c); i = find(w, c, e, i + 1))
			any = come[i] = true;
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	const pid_t child = any ? fork() : -1;
	if (child == 0) {
		const bool in = enter(pid) == 0;
		for (size_t i = 0; in && i < count_of(c); i++)
			if (come[i])
				cover(c, i);
		_exit(0);
	}
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	mem_free(come);
}
