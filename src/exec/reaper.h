/* SPDX-License-Identifier: MIT */
/*
 * reaper: the process above one command.
 *
 * The spawner forks one for each order, in advance. It is a child subreaper: all descendants of the
 * command stay below it, and it lives until none of them is left. It alone watches the time: a
 * server that is busy, or gone, changes nothing about that.
 *
 *	running ──shell ended──► lingering ──some still run──► terminating ──grace over──► killing
 *	   └──────timeout, cancel, server gone──────────────────┘                (or kept, if asked)
 *
 * A tree that grows beyond the order's number of processes, or LIMIT_PROCESSES, is killed at once:
 * the kernel's own limit does not hold for root, and a fork bomb deserves no grace.
 *
 * To the server it says exactly one thing over the order's control socket: a struct reaper_report,
 *when the command and everything it left are gone (or kept, or could not be ended). The server says
 * at most one thing back, any message or hanging up: end the command.
 */
#ifndef EXEC_REAPER_H
#define EXEC_REAPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec/launch.h"
#include "exec/tree.h"

enum proc_limit {
	PROC_LIMIT_NONE,
	PROC_LIMIT_TIME,
	PROC_LIMIT_CPU,
	PROC_LIMIT_FILE,
	PROC_LIMIT_MEMORY,
	PROC_LIMIT_PROCESSES,
};

struct reaper_report {
	enum launch_step failed; /* not LAUNCH_DONE: it never ran; error says why, the rest is 0 */
	int error;
	int status; /* of the shell, as from waitpid; -1 when it could not be ended */
	bool timed_out, cancelled;
	bool kept;	 /* the survivors go on running */
	bool stuck;	 /* some process could not be ended */
	bool oom_killed; /* killed by SIGKILL while the kernel counted a kill for memory */
	enum proc_limit limit;
	int64_t duration_ms;	   /* until the shell ended */
	int64_t cpu_ms;		   /* of all processes that were waited for */
	int64_t peak_memory_bytes; /* of the largest one */
	size_t survivor_count;	   /* may be more than are described */
	struct survivor survivors[LIMIT_SURVIVORS];
};

struct reaper_home {
	int lifeline; /* hangs up when the server is gone */
	int signals;  /* signalfd for SIGCHLD, which is blocked */
	const char *shell;
	char *const *env;
	int64_t oom_kills; /* reaper_count_oom_kills, and when that was */
	int64_t oom_counted_ms;
};

/* How many processes the kernel has killed for want of memory, on the whole machine. */
int64_t reaper_count_oom_kills(void);

/* What a reaper does before it has an order: be one. */
void reaper_prepare(void);

/* Run the order to its end. The descriptors in l are closed on the way. */
_Noreturn void reaper_main(const struct reaper_home *home, struct launch *l);

/* Send a report that the order could not be carried out. */
void reaper_refuse(int control, enum launch_step step, int error);

#endif
