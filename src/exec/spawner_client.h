/* SPDX-License-Identifier: MIT */
/*
 * spawner: the server's handle on the processes that run commands.
 *
 * A server with threads must not fork, and a server with much memory forks slowly. So commands are
 * started by a small process with one thread (exec/keeper.h says which processes there are, and
 * why a killed server leaves nothing behind). spawner_new starts it; when it dies, the next order
 * starts it again. It is started with posix_spawn from /proc/self/exe (in an empty root: by the
 * name it was started by), which a program with threads may do at any time; main() must therefore
 * begin with
 *
 *	if (argc == 2 && strcmp(argv[1], KEEPER_VERB) == 0)
 *		return keeper_main(at_death);
 *
 * A server that reaps orphans (PID 1) may reap the keeper as well: nothing here relies on its exit
 * status. Safe to use from several threads.
 */
#ifndef EXEC_SPAWNER_CLIENT_H
#define EXEC_SPAWNER_CLIENT_H

#include "base/err.h"
#include "exec/launch.h"
#include "sandbox/sandbox.h"

struct spawner_config {
	struct sandbox_config sandbox; /* zero: off */
	int at_death;		       /* a descriptor for keeper_main's at_death; 0: none. Stays
					* the caller's, and open as long as the spawner is used */
	size_t max_commands;	       /* at once; 0 or too many: LIMIT_COMMANDS */
	int64_t open_files;	       /* that a command may have; 0: as many as we */
	const char *program;	       /* whose main() begins as above, sought in PATH when it has
					* no slash; NULL: this one */
};

struct spawner;

/* Start the spawner and wait until it is ready: the sandbox asked for is in force, or this fails
 * with a sentence that names the remedy. The private /tmp is removed by the keeper from then on;
 * after a failure it is still the caller's. */
int spawner_new(const struct spawner_config *config, struct spawner **ret, struct err *e);

/* End every command still running (SIGTERM, LIMIT_ORPHAN_GRACE_MS, SIGKILL), remove the private
 * /tmp, and wait for that. No order may be under way. */
void spawner_free(struct spawner *s);

/* What was found in force at the (last) start. */
void spawner_report(struct spawner *s, struct sandbox_report *ret);

/* Do commands run in a sandbox? */
bool spawner_is_sandboxed(struct spawner *s);

size_t spawner_running(struct spawner *s);

/* Take one of the places for running commands, or fail with TOO_BUSY; and give it back. */
int spawner_enter(struct spawner *s, struct err *e);
void spawner_leave(struct spawner *s);

/* Hand over an order; the descriptors stay the caller's. A spawner found dead is started again
 * first. -1 with SPAWN_FAILED. */
int spawner_send(struct spawner *s, const struct order *order, const int *fds, size_t fd_count,
		 struct err *e);

#endif
