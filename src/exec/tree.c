/* SPDX-License-Identifier: MIT */
/* tree: find, signal and end every descendant, through /proc where there is one. */

#include "exec/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "exec/children.h"
#include "exec/ports.h"

struct member {
	pid_t pid;
	pid_t parent;
};

struct walk {
	bool listed; /* /proc lists children; else only our own are found, one number after another
		      */
	struct member *list;
	size_t count, room;
};

enum state { GONE, DEAD, STOPPED, RUNNING };

static void walk_done(struct walk *w)
{
	mem_free(w->list);
}

static void walk_add(struct walk *w, pid_t pid, pid_t parent)
{
	if (w->count == w->room) {
		const size_t room = w->room ? w->room * 2 : 64;
		struct member *list =
			room > LIMIT_TREE ? NULL : mem_resize(w->list, room, sizeof(*list));
		/* Without memory this round ends fewer; the next one finds the rest. */
		if (!list)
			return;
		w->list = list;
		w->room = room;
	}
	w->list[w->count++] = (struct member){ pid, parent };
}

/* The children that one thread has started. */
static void add_children(struct walk *w, pid_t pid, const char *tid)
{
	char path[64], text[4096];
	size_t have = 0;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, tid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while ((n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		char *p = text, *blank;
		have += (size_t)n;
		text[have] = '\0';
		while ((blank = strchr(p, ' '))) {
			walk_add(w, (pid_t)strtol(p, NULL, 10), pid);
			p = blank + 1;
		}
		have = (size_t)(text + have - p);
		memmove(text, p, have);
	}
}

static void add_children_of(struct walk *w, pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	if (!threads)
		return;
	for (const struct dirent *d; (d = readdir(threads));)
		if (d->d_name[0] != '.')
			add_children(w, pid, d->d_name);
	(void)closedir(threads);
}

static bool is_spared(pid_t pid, const pid_t *spare, size_t spare_count)
{
	for (size_t i = 0; i < spare_count; i++)
		if (spare[i] == pid)
			return true;
	return false;
}

static void add_child(void *arg, pid_t pid)
{
	walk_add(arg, pid, getpid());
}

static void walk_tree(struct walk *w, const pid_t *spare, size_t spare_count)
{
	size_t kept = 0;

	w->listed = tree_is_listed();
	if (w->listed)
		add_children_of(w, getpid());
	else
		children_each(add_child, w);
	for (size_t i = 0; i < w->count; i++)
		if (!is_spared(w->list[i].pid, spare, spare_count))
			w->list[kept++] = w->list[i];
	w->count = kept;
	for (size_t i = 0; w->listed && i < w->count; i++)
		add_children_of(w, w->list[i].pid);
}

/* The number of threads, from the state in a line of /proc/PID/stat on; 0 when it is not there. */
static long threads_in(const char *state)
{
	enum { FIELDS = 17 }; /* from the state to it */
	const char *p = state;

	for (int i = 0; p && i < FIELDS; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtol(p, NULL, 10) : 0;
}

/* What the process does, provided that it still has that parent (or has fallen to us). */
static enum state state_of(const struct member *m)
{
	char path[32], text[512];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)m->pid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return GONE;
	text[n] = '\0';
	/* "pid (name) state parent": the name may hold anything, so look for its end from behind.
	 */
	const char *p = strrchr(text, ')');
	if (!p || strlen(p) < 5)
		return GONE;
	const pid_t parent = (pid_t)strtol(p + 4, NULL, 10);
	if (parent != m->parent && parent != getpid())
		return GONE;
	/* It is the state of the first thread, which may have ended long before the others. */
	if (p[2] == 'Z' && threads_in(p + 2) > 1)
		return RUNNING;
	if (p[2] == 'Z' || p[2] == 'X')
		return DEAD;
	return p[2] == 'T' || p[2] == 't' ? STOPPED : RUNNING;
}

static enum state state_of_child(pid_t pid)
{
	static const enum state states[] = { [CHILD_NONE] = GONE,
					     [CHILD_DEAD] = DEAD,
					     [CHILD_STOPPED] = STOPPED,
					     [CHILD_RUNNING] = RUNNING };

	return states[children_state(pid)];
}

/* Signal a child and, as its descendants cannot be seen, the group that it leads if it does. Nobody
 * else reaps our children, so their numbers stay theirs. */
static enum state signal_child(pid_t pid, int signal)
{
	const enum state state = state_of_child(pid);

	(void)kill(-pid, signal);
	if (state == GONE || state == DEAD)
		return state;
	return kill(pid, signal) < 0 ? GONE : state;
}

/* Signal one process. Returns its state before, GONE when it could not be signalled. */
static enum state signal_member(const struct member *m, int signal)
{
	AUTO_FD fd = (int)syscall(SYS_pidfd_open, m->pid, 0);
	const bool by_number = fd < 0 && errno == ENOSYS;

	if (fd < 0 && !by_number)
		return GONE;
	const enum state state = state_of(m);
	if (state == GONE || state == DEAD)
		return state;
	if (by_number)
		return kill(m->pid, signal) < 0 ? GONE : state;
	return syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) < 0 ? GONE : state;
}

/* One walk with a signal for everybody. Returns how many got it; *running counts those among them
 * that were not stopped. */
static size_t signal_all(int signal, const pid_t *spare, size_t spare_count, size_t *running)
{
	CLEANUP(walk_done) struct walk w = { 0 };
	size_t reached = 0;

	walk_tree(&w, spare, spare_count);
	*running = 0;
	for (size_t i = 0; i < w.count; i++) {
		const enum state state = w.listed ? signal_member(&w.list[i], signal)
						  : signal_child(w.list[i].pid, signal);
		reached += state >= STOPPED;
		*running += state == RUNNING;
	}
	return reached;
}

size_t tree_count(void)
{
	CLEANUP(walk_done) struct walk w = { 0 };

	if (tree_is_listed())
		walk_tree(&w, NULL, 0);
	return w.count;
}

size_t tree_signal(int signal)
{
	size_t running;

	return signal_all(signal, NULL, 0, &running);
}

size_t tree_kill(const pid_t *spare, size_t spare_count)
{
	/* Stopping helps when everybody can be stopped. */
	size_t running = tree_is_listed();

	/* A stopped fork bomb keeps its places in the process table and cannot refill those that
	 * killing frees. A process in the kernel may take a while to stop: hence the bound. */
	for (int round = 0; running && round < LIMIT_STOP_ROUNDS; round++)
		(void)signal_all(SIGSTOP, spare, spare_count, &running);
	return signal_all(SIGKILL, spare, spare_count, &running);
}

static void describe(pid_t pid, struct survivor *to)
{
	char path[32];

	*to = (struct survivor){ .pid = pid };
	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, to->command, sizeof(to->command) - 1);
	size_t len = n > 0 ? (size_t)n : 0;
	while (len && to->command[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		if (to->command[i] == '\0')
			to->command[i] = ' ';
	to->port_count = ports_of(pid, to->ports, LIMIT_SURVIVOR_PORTS);
}

size_t tree_survivors(struct survivor *to, size_t max)
{
	CLEANUP(walk_done) struct walk w = { 0 };
	size_t count = 0;

	walk_tree(&w, NULL, 0);
	for (size_t i = 0; i < w.count; i++) {
		const pid_t pid = w.list[i].pid;
		if ((w.listed ? state_of(&w.list[i]) : state_of_child(pid)) < STOPPED)
			continue;
		if (count < max)
			describe(pid, &to[count]);
		count++;
	}
	return count;
}

bool tree_is_listed(void)
{
	return access("/proc/thread-self/children", R_OK) == 0;
}
