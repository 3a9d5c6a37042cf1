/* SPDX-License-Identifier: MIT */
/* keeper: start the spawner, wait for it, clean up after a server that is gone. */

#include "exec/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "base/message.h"
#include "exec/procfs.h"
#include "exec/spawner.h"
#include "sandbox/scratch.h"

struct keeper {
	int server, lifeline, at_death; /* descriptors, or -1 */
	struct strings strings;		/* what config points into */
	struct sandbox_config config;
};

static const char *empty_to_null(const char *s)
{
	return *s ? s : NULL;
}

static struct path_list list_of(const struct strings *s, size_t *at, size_t count)
{
	const struct path_list list = { (const char *const *)(uintptr_t)(s->item + *at), count };

	*at += count;
	return list;
}

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
	if (s->count != 2 + (size_t)setup.write_count + setup.read_count + setup.hide_count +
				setup.socket_count)
		return -1;
	size_t at = 2;
	limit_files(setup.open_files);
	k->lifeline = fds[KEEPER_LIFELINE];
	k->at_death = fds[KEEPER_AT_DEATH];
	k->config = (struct sandbox_config){
		.mode = setup.mode,
		.no_network = setup.no_network,
		.read_only = setup.read_only,
		.namespaces = setup.namespaces,
		.listens = setup.listens,
		.brokered = setup.brokered,
		.supervised = setup.supervised,
		.allow_truncate = setup.allow_truncate,
		.workspace = empty_to_null(s->item[0]),
		.scratch = empty_to_null(s->item[1]),
	};
	memcpy(k->config.ports, setup.ports, sizeof(setup.ports));
	k->config.write = list_of(s, &at, setup.write_count);
	k->config.read = list_of(s, &at, setup.read_count);
	k->config.sockets = list_of(s, &at, setup.socket_count);
	k->config.hide = list_of(s, &at, setup.hide_count);
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

static int keep(struct keeper *k, void (*at_death)(int fd))
{
	int status = 1;

	if (fcntl(k->server, F_SETFD, FD_CLOEXEC) < 0 || read_setup(k) < 0)
		return 1;
	AUTO_FD held = k->config.scratch ? scratch_hold(k->config.scratch) : -1;
	(void)held; /* released when this function returns */
	const pid_t pid = spawner_start(k->server, k->lifeline, &k->config);
	if (pid < 0)
		return 1;
	/* Only the spawner may have these open: the server learns of its death when they close. */
	fd_closep(&k->server);
	fd_closep(&k->lifeline);
	if (k->config.scratch)
		scratch_tidy(k->config.scratch);
	/* A stopped spawner would hold up all commands. */
	while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status))
		(void)kill(pid, SIGCONT);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return 1;
	if (k->config.scratch)
		scratch_remove(k->config.scratch);
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
	struct keeper k = { .server = KEEPER_FD, .lifeline = -1, .at_death = -1 };

	(void)prctl(PR_SET_NAME, "sidecar-keeper", 0, 0, 0);
	(void)syscall(SYS_close_range, KEEPER_FD + 1, ~0U, 0);
	reset_signals();
	const int status = keep(&k, at_death);
	strings_done(&k.strings);
	return status;
}
