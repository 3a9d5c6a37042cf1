/* SPDX-License-Identifier: MIT */
/*
 * runner: the server's handle on the processes that run commands.
 *
 * A server with threads must not fork, and a server with much memory forks slowly. So small
 * processes with one thread each start the commands (exec/keeper.h says which processes there are,
 * and why a killed server leaves nothing running). runner_new starts them; if they die, the next
 * order starts them again. The keeper is started by posix_spawn from /proc/self/exe (in an empty
 * root: by the name this program was started by), which a program with threads may do at any time;
 * main() must therefore begin with
 *
 *	if (argc == 2 && strcmp(argv[1], KEEPER_VERB) == 0)
 *		return keeper_main(at_death);
 *
 * A server that is process 1 may reap the keeper: nothing here depends on its exit status. All
 * functions may be called from several threads.
 */
#ifndef EXEC_RUNNER_H
#define EXEC_RUNNER_H

#include "base/err.h"
#include "exec/launch.h"
#include "sandbox/sandbox.h"
#include "supervise/bounds.h"

struct guard;
struct hidden;

struct runner_config {
	struct sandbox_config sandbox; /* zero: off */
	int at_death;		       /* a descriptor for keeper_main's at_death, or -1. Stays the
					* caller's, and open as long as the runner is used */
	int alive;		       /* a descriptor that all these processes have open as
					* long as one of them lives, but no command; or -1. Stays
					* the caller's, as above */
	size_t max_commands;	       /* at once; 0 or too many: LIMIT_COMMANDS */
	bool listens;		       /* commands may be watched (proc.h); in a sandbox all are */
	struct hidden *hidden;	       /* what commands must not see (guard/hidden.h); or NULL */
	struct guard *guard;	       /* what commands must not change (guard/guard.h); or NULL */
	bool brokers;		       /* those who watch make connections for sandboxed commands
					* (supervise/broker.h), which without a watch get none */
	int64_t open_files;	       /* that a command may have; 0: as many as the server */
	const char *program;	       /* whose main() begins as above, searched in PATH if it has
					* no slash; NULL: this one */
};

struct runner;

/* Start the processes and wait until they are ready: the sandbox that was asked for is in force, or
 * this fails with a sentence that names the remedy. From then on the keeper removes the private
 * /tmp; after a failure it is still the caller's. */
int runner_new(const struct runner_config *config, struct runner **ret, struct err *e);

/* End every command that still runs (SIGTERM, LIMIT_ORPHAN_GRACE_MS, SIGKILL), remove the private
 * /tmp, and wait for that. No order may be under way. */
void runner_free(struct runner *r);

/* What was in force after the last start. */
void runner_report(struct runner *r, struct sandbox_report *ret);

/* Can commands be watched (proc.h)? */
bool runner_can_watch(struct runner *r);

/* What the sandbox lets commands do, held for the caller; NULL if there is no sandbox. And what the
 * one who watches a command must do: make its connections (*brokers), judge what the file rules do
 * not hold (*judges; supervise/floor.c). */
struct bounds *runner_bounds(struct runner *r, bool *brokers, bool *judges);

/* Do commands run in a sandbox? */
bool runner_is_sandboxed(struct runner *r);

/* How many commands are running. */
size_t runner_running(struct runner *r);

/* The directories of the sandbox are those of this generation (any number that changes when one of
 * them is replaced). After a change the next order starts a new sandbox, made of what the paths
 * lead to now; commands that run in the old one have LIMIT_ORPHAN_GRACE_MS and
 * LIMIT_KILL_PATIENCE_MS to end. Without a sandbox nothing happens. */
void runner_follow(struct runner *r, unsigned generation);

/* Take one of the places for running commands, or fail with TOO_BUSY; and give it back. */
int runner_enter(struct runner *r, struct err *e);
void runner_leave(struct runner *r);

/* Hand over an order; the descriptors stay the caller's. If the spawner is dead it is started again
 * first. If another file has taken the name of one that is hidden from commands, a new spawner is
 * started, which hides it, and the commands of the old one go on. -1 with SPAWN_FAILED. */
int runner_send(struct runner *r, const struct order *order, const int *fds, size_t fd_count,
		struct err *e);

#endif
