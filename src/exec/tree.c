/* SPDX-License-Identifier: MIT */
/* tree: find, signal and end every descendant, through /proc if there is one; read small files there. */

#include "exec/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "exec/limits.h"

size_t procfs_text(const char *path, char *to, size_t size)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : io_read_full(fd, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

int64_t procfs_tasks(void)
{
	char text[128];

	/* "load load load running/all newest" */
	(void)procfs_text("/proc/loadavg", text, sizeof(text));
	const char *slash = strchr(text, '/');
	return slash ? strtoll(slash + 1, NULL, 10) : INT64_MAX;
}

int64_t procfs_oom_kills(void)
{
	static const char name[] = "\noom_kill ";
	char text[16384];

	(void)procfs_text("/proc/vmstat", text, sizeof(text));
	const char *p = strstr(text, name);
	return p ? strtoll(p + strlen(name), NULL, 10) : 0;
}

static int64_t cpu_ms(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
		return -1;
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int64_t n = 0;

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n - 3; /* ".", "..", and the one that reads the directory */
}

void procfs_usage(struct procfs_usage *ret)
{
	const int64_t page = sysconf(_SC_PAGESIZE);
	struct rlimit files;
	char text[128], *rest;

	*ret = (struct procfs_usage){
		.cpu_ms = cpu_ms(),
		.resident_bytes = -1,
		.virtual_bytes = -1,
		.open_fds = count_fds(),
		.max_fds = getrlimit(RLIMIT_NOFILE, &files) < 0 ? -1 : (int64_t)files.rlim_cur,
	};
	/* "size resident …", in pages */
	if (!procfs_text("/proc/self/statm", text, sizeof(text)))
		return;
	ret->virtual_bytes = strtoll(text, &rest, 10) * page;
	ret->resident_bytes = strtoll(rest, NULL, 10) * page;
}

struct member {
	pid_t pid;
	pid_t parent;
};

struct members {
	bool listed; /* /proc lists children; otherwise only our own are found, one pid at a time */
	struct member *list;
	size_t count, room;
};

enum member_state { GONE, DEAD, STOPPED, RUNNING };

static void members_done(struct members *m)
{
	mem_free(m->list);
}

static void members_add(struct members *m, pid_t pid, pid_t parent)
{
	if (m->count == m->room) {
		const size_t room = m->room ? m->room * 2 : 64;
		struct member *list =
			room > LIMIT_TREE ? NULL : mem_resize(m->list, room, sizeof(*list));
		/* Without memory this round ends fewer processes; the next one finds the rest. */
		if (!list)
			return;
		m->list = list;
		m->room = room;
	}
	m->list[m->count++] = (struct member){ pid, parent };
}

/* The children that one thread has started. */
static void add_children(struct members *m, pid_t pid, const char *tid)
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
			members_add(m, (pid_t)strtol(p, NULL, 10), pid);
			p = blank + 1;
		}
		have = (size_t)(text + have - p);
		memmove(text, p, have);
	}
}

static void add_children_of(struct members *m, pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	if (!threads)
		return;
	for (const struct dirent *d; (d = readdir(threads));)
		if (d->d_name[0] != '.')
			add_children(m, pid, d->d_name);
	(void)closedir(threads);
}

/* What the process does; GONE if it is not a child of ours. This does not reap it. */
static enum member_state state_of_child(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0)
		return GONE;
	if (!info.si_pid)
		return RUNNING;
	return info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED ? STOPPED : DEAD;
}

/* The pid that the kernel gives next, found by taking it; 0 if there is none. */
static pid_t next_pid(void)
{
	const pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return 0;
	(void)waitpid(pid, NULL, 0);
	return pid;
}

static size_t add_own_between(struct members *m, pid_t from, pid_t to)
{
	size_t count = 0;

	for (pid_t pid = from; pid < to; pid++) {
		if (state_of_child(pid) == GONE)
			continue;
		members_add(m, pid, getpid());
		count++;
	}
	return count;
}

/* Our own children, the dead included, found without /proc. The kernel gives pids in rising order,
 * so all that have been started since this process lie between its own pid and the next one; only
 * if none is found there, all pids are tried. */
static void add_own_children(struct members *m)
{
	const pid_t mine = getpid(), next = next_pid();

	if (next > mine && add_own_between(m, mine + 1, next) > 0)
		return;
	/* Pids have wrapped around since then, or there are no children. */
	siginfo_t info;
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		(void)add_own_between(m, 1, LIMIT_PID);
}

static bool is_spared(pid_t pid, const pid_t *spare, size_t spare_count)
{
	for (size_t i = 0; i < spare_count; i++)
		if (spare[i] == pid)
			return true;
	return false;
}

static void find_members(struct members *m, const pid_t *spare, size_t spare_count)
{
	size_t kept = 0;

	m->listed = tree_is_listed();
	if (m->listed)
		add_children_of(m, getpid());
	else
		add_own_children(m);
	for (size_t i = 0; i < m->count; i++)
		if (!is_spared(m->list[i].pid, spare, spare_count))
			m->list[kept++] = m->list[i];
	m->count = kept;
	for (size_t i = 0; m->listed && i < m->count; i++)
		add_children_of(m, m->list[i].pid);
}

/* The number of threads in a line of /proc/PID/stat, from its state on; 0 if it is missing. */
static long threads_in(const char *state)
{
	enum { FIELDS = 17 }; /* between them */
	const char *p = state;

	for (int i = 0; p && i < FIELDS; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtol(p, NULL, 10) : 0;
}

/* What the process does, if it still has that parent or has become our child. */
static enum member_state state_of(const struct member *m)
{
	char path[32], text[512];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)m->pid);
	(void)procfs_text(path, text, sizeof(text));
	/* "pid (name) state parent": the name may contain anything, even a parenthesis. */
	const char *p = strrchr(text, ')');
	if (!p || strlen(p) < 5)
		return GONE;
	const pid_t parent = (pid_t)strtol(p + 4, NULL, 10);
	if (parent != m->parent && parent != getpid())
		return GONE;
	/* This is the state of the first thread, which may have ended long before the others. */
	if (p[2] == 'Z' && threads_in(p + 2) > 1)
		return RUNNING;
	if (p[2] == 'Z' || p[2] == 'X')
		return DEAD;
	return p[2] == 'T' || p[2] == 't' ? STOPPED : RUNNING;
}

/* Signal a child and, because its descendants cannot be seen, the group that it may lead. Only we
 * reap our children, so their pids stay theirs. */
static enum member_state signal_child(pid_t pid, int signal)
{
	const enum member_state state = state_of_child(pid);

	(void)kill(-pid, signal);
	if (state == GONE || state == DEAD)
		return state;
	return kill(pid, signal) < 0 ? GONE : state;
}

/* Signal one process. Returns its state before that; GONE if it could not be signalled. */
static enum member_state signal_member(const struct member *m, int signal)
{
	AUTO_FD fd = (int)syscall(SYS_pidfd_open, m->pid, 0);
	const bool by_number = fd < 0 && errno == ENOSYS;

	if (fd < 0 && !by_number)
		return GONE;
	const enum member_state state = state_of(m);
	if (state == GONE || state == DEAD)
		return state;
	if (by_number)
		return kill(m->pid, signal) < 0 ? GONE : state;
	return syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) < 0 ? GONE : state;
}

/* Signal all processes in the tree. Returns how many got it; *running counts those among them that
 * were not stopped. */
static size_t signal_all(int signal, const pid_t *spare, size_t spare_count, size_t *running)
{
	CLEANUP(members_done) struct members m = { 0 };
	size_t reached = 0;

	find_members(&m, spare, spare_count);
	*running = 0;
	for (size_t i = 0; i < m.count; i++) {
		const enum member_state state = m.listed ? signal_member(&m.list[i], signal)
							 : signal_child(m.list[i].pid, signal);
		reached += state >= STOPPED;
		*running += state == RUNNING;
	}
	return reached;
}

size_t tree_count(void)
{
	CLEANUP(members_done) struct members m = { 0 };

	if (tree_is_listed())
		find_members(&m, NULL, 0);
	return m.count;
}

size_t tree_signal(int signal)
{
	size_t running;

	return signal_all(signal, NULL, 0, &running);
}

size_t tree_kill(const pid_t *spare, size_t spare_count)
{
	/* Stopping helps if all processes can be stopped. */
	size_t running = tree_is_listed();

	/* A stopped fork bomb keeps its places in the process table and cannot refill those that
	 * killing frees. A process in the kernel may take a while to stop, hence the limit. */
	for (int round = 0; running && round < LIMIT_STOP_ROUNDS; round++)
		(void)signal_all(SIGSTOP, spare, spare_count, &running);
	return signal_all(SIGKILL, spare, spare_count, &running);
}

struct own_sockets {
	unsigned long inode[LIMIT_SURVIVOR_SOCKETS];
	size_t count;
};

static void sockets_of(pid_t pid, struct own_sockets *ret)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (const struct dirent *d; (d = readdir(dir)) && ret->count < LIMIT_SURVIVOR_SOCKETS;) {
		char link[64];
		const ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);
		if (n <= 8)
			continue;
		link[n] = '\0';
		if (strncmp(link, "socket:[", 8) == 0)
			ret->inode[ret->count++] = strtoul(link + 8, NULL, 10);
	}
	(void)closedir(dir);
}

static void add_port(struct port_list *l, uint16_t port)
{
	size_t at = 0;

	while (at < l->count && l->port[at] < port)
		at++;
	if (l->count == ARRAY_LEN(l->port) || (at < l->count && l->port[at] == port))
		return;
	memmove(l->port + at + 1, l->port + at, (l->count - at) * sizeof(*l->port));
	l->port[at] = port;
	l->count++;
}

/* One line of the kernel's tables: slot, local address:port, remote, state, …, the inode tenth. */
struct socket_row {
	uint16_t port;
	unsigned long state, inode;
};

static bool parse_row(char *line, struct socket_row *ret)
{
	enum { LOCAL = 1, STATE = 3, INODE = 9, FIELDS };
	const char *field[FIELDS];
	size_t n = 0;

	for (char *next = line, *word; n < FIELDS && (word = strsep(&next, " \n"));)
		if (*word)
			field[n++] = word;
	const char *colon = n == FIELDS ? strchr(field[LOCAL], ':') : NULL;
	if (!colon)
		return false;
	*ret = (struct socket_row){ .port = (uint16_t)strtoul(colon + 1, NULL, 16),
				    .state = strtoul(field[STATE], NULL, 16),
				    .inode = strtoul(field[INODE], NULL, 10) };
	return true;
}

static void match(pid_t pid, const char *table, unsigned long state, const struct own_sockets *s,
		  struct port_list *ret)
{
	char path[32], line[512];

	(void)snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	FILE *f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		struct socket_row row;
		if (!parse_row(line, &row) || row.state != state)
			continue;
		for (size_t i = 0; i < s->count; i++)
			if (s->inode[i] == row.inode)
				add_port(ret, row.port);
	}
	(void)fclose(f);
}

/* Add the ports at which the process can be reached. */
static void add_ports_of(pid_t pid, struct port_list *ret)
{
	/* The states of a listening TCP and of an unconnected UDP socket in these tables. */
	enum { LISTENING = 0x0a, UNCONNECTED = 0x07 };
	struct own_sockets s = { .count = 0 };

	sockets_of(pid, &s);
	if (!s.count)
		return;
	match(pid, "tcp", LISTENING, &s, ret);
	match(pid, "tcp6", LISTENING, &s, ret);
	match(pid, "udp", UNCONNECTED, &s, ret);
	match(pid, "udp6", UNCONNECTED, &s, ret);
}

static void describe(pid_t pid, struct survivor *to)
{
	char path[32];

	*to = (struct survivor){ .pid = pid };
	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	size_t len = procfs_text(path, to->command, sizeof(to->command));
	while (len && to->command[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		if (to->command[i] == '\0')
			to->command[i] = ' ';
	add_ports_of(pid, &to->ports);
}

size_t tree_survivors(struct survivor *to, size_t max)
{
	CLEANUP(members_done) struct members m = { 0 };
	size_t count = 0;

	find_members(&m, NULL, 0);
	for (size_t i = 0; i < m.count; i++) {
		const pid_t pid = m.list[i].pid;
		if ((m.listed ? state_of(&m.list[i]) : state_of_child(pid)) < STOPPED)
			continue;
		if (count < max)
			describe(pid, &to[count]);
		count++;
	}
	return count;
}

void tree_ports(struct port_list *ret)
{
	CLEANUP(members_done) struct members m = { 0 };

	*ret = (struct port_list){ .count = 0 };
	find_members(&m, NULL, 0);
	for (size_t i = 0; i < m.count; i++)
		add_ports_of(m.list[i].pid, ret);
}

bool tree_is_listed(void)
{
	return access("/proc/thread-self/children", R_OK) == 0;
}

void tree_reap(void)
{
	siginfo_t info;

	do
		info.si_pid = 0;
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0);
}
