/* SPDX-License-Identifier: MIT */
/* keeper: start the spawner, wait for it, clean up after a server that is gone. */

#include "exec/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/message.h"
#include "exec/tree.h"
#include "sandbox/cache.h"
#include "sandbox/coverwatch.h"
#include "sandbox/limits.h"
#include "sandbox/scratch.h"

struct keeper {
	int server, lifeline, at_death; /* descriptors, or -1 */
	int alive;			/* as well; never used, and closed with the process */
	struct strings strings;		/* what config points into */
	struct sandbox_config config;
	struct coverwatch covers;
};

/* Programs that expect a small number of descriptors (select, a loop that closes every possible
 * one) must not get the server's high limit. */
static void limit_files(int64_t count)
{
	struct rlimit r;

	if (count > 0 && getrlimit(RLIMIT_NOFILE, &r) == 0 && (rlim_t)count < r.rlim_cur) {
		r.rlim_cur = (rlim_t)count;
		(void)setrlimit(RLIMIT_NOFILE, &r);
	}
}

static int read_setup(struct keeper *k)
{
	struct keeper_setup setup;
	struct strings *s = &k->strings;
	int fds[MESSAGE_FDS];

	if (message_recv(k->server, &setup, sizeof(setup), fds) != sizeof(setup) ||
	    strings_map(fds[KEEPER_STRINGS], s) < 0)
		return -1;
	if (s->count != sandbox_string_count(&setup.config))
		return -1;
	limit_files(setup.open_files);
	k->lifeline = fds[KEEPER_LIFELINE];
	k->at_death = setup.gives[0] ? fds[KEEPER_OPTIONAL] : -1;
	k->alive = setup.gives[1] ? fds[KEEPER_OPTIONAL + setup.gives[0]] : -1;
	k->config = setup.config;
	sandbox_point_to(&k->config, (const char *const *)(uintptr_t)s->item);
	fd_closep(&fds[KEEPER_STRINGS]);
	return 0;
}

/* Ignored signals would stay ignored in every command. This calls the kernel directly because the C
 * library reserves two signals for itself and would skip them. */
static void reset_signals(void)
{
	static const struct {
		void *handler;
		unsigned long flags, restorer, mask;
	} by_default;

	for (int i = 1; i < _NSIG; i++)
		(void)syscall(SYS_rt_sigaction, i, &by_default, NULL, sizeof(by_default.mask));
}

/* Until the spawner ends: its status. A stopped spawner would hold up all commands. */
static int await(struct keeper *k, pid_t pid)
{
	struct pollfd p[] = { { .events = POLLIN }, { .fd = k->covers.fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	int status = 1;
	sigset_t chld;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, NULL);
	AUTO_FD signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	const bool polls = signals >= 0 && k->covers.fd >= 0;
	p[0].fd = signals;
	for (;;) {
		const pid_t ended = waitpid(pid, &status, WUNTRACED | (polls ? WNOHANG : 0));
		if (ended == pid && WIFSTOPPED(status))
			(void)kill(pid, SIGCONT);
		else if (ended)
			return status;
		if (!polls || poll(p, ARRAY_LEN(p), -1) < 0)
			continue;
		(void)!read(signals, &info, sizeof(info));
		if (p[1].revents)
			coverwatch_act(&k->covers, &k->config, pid);
	}
}

static int keep(struct keeper *k, void (*at_death)(int fd))
{
	int status = 1;

	if (fcntl(k->server, F_SETFD, FD_CLOEXEC) < 0 || read_setup(k) < 0)
		return 1;
	AUTO_FD held = k->config.scratch ? scratch_hold(k->config.scratch) : -1;
	(void)held; /* released when this function returns */
	bool namespaces = false;
	coverwatch_init(&k->covers, &k->config);
	const pid_t pid = spawner_start(k->server, k->lifeline, &k->config, &namespaces);
	if (pid < 0)
		return 1;
	if (!namespaces)
		coverwatch_done(&k->covers);
	/* Only the spawner may have it open: the server learns of its death when it closes. */
	fd_closep(&k->server);
	if (k->config.scratch)
		scratch_tidy(k->config.scratch);
	status = await(k, pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SPAWNER_RETIRED)
		return 1;
	/* The server kills this process if it starts a spawner again. */
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		(void)io_wait(k->lifeline, POLLHUP, IO_FOREVER);
	if (k->config.scratch)
		scratch_remove(k->config.scratch);
	if (k->config.cache)
		cache_tidy(k->config.cache, LIMIT_CACHE_BYTES);
	if (at_death && k->at_death >= 0)
		at_death(k->at_death);
	return 0;
}

/* The parent of a process (0: it is outside of our namespace), and whether the process is a keeper.
 * -1: not known. */
static pid_t look_at(pid_t pid, bool *is_keeper)
{
	static const char words[] = "sidecar\0" KEEPER_VERB;
	char path[64], text[1024];

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	*is_keeper = procfs_text(path, text, sizeof(text)) == sizeof(words) &&
		     memcmp(text, words, sizeof(words)) == 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	(void)procfs_text(path, text, sizeof(text));
	/* The name of the program, in parentheses, may contain anything. */
	const char *end = strrchr(text, ')');
	return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : -1;
}

bool keeper_is_above(pid_t pid)
{
	enum { DEEPEST = 1024 };
	bool is_keeper;

	for (int i = 0; i < DEEPEST && pid > 0; i++) {
		const pid_t parent = look_at(pid, &is_keeper);
		if (is_keeper || parent < 0)
			return true;
		if (parent == 0)
			return false;
		pid = parent;
	}
	return true;
}

int keeper_main(void (*at_death)(int fd))
{
	struct keeper k = { .server = KEEPER_FD,
			    .lifeline = -1,
			    .at_death = -1,
			    .alive = -1,
			    .covers = { .fd = -1 } };

	(void)prctl(PR_SET_NAME, "sidecar-keeper", 0, 0, 0);
	(void)syscall(SYS_close_range, KEEPER_FD + 1, ~0U, 0);
	reset_signals();
	const int status = keep(&k, at_death);
	coverwatch_done(&k.covers);
	strings_done(&k.strings);
	return status;
}
