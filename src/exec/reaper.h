/* SPDX-License-Identifier: MIT */
/*
 * reaper: the process above one command.
 *
 * The spawner forks one for each order, in advance. It is a child subreaper: all descendants of the
 * command stay below it, and it lives until none of them is left. It alone watches the time, so a
 * server that is busy or gone makes no difference.
 *
 *	running ──shell ended──► lingering ──some still run──► terminating ──grace over──► killing
 *	   │                         └──and the order lets them──► going on ──┐
 *	   └───────────timeout, cancel, server gone───────────────────────────┴──► terminating
 *
 * A tree that grows beyond the order's number of processes, or LIMIT_PROCESSES, is killed at once:
 * the kernel's own limit does not apply to root, and a fork bomb gets no grace.
 *
 * Over the order's control socket the reaper sends a struct reaper_report when the command and
 * everything it left are gone (or kept, or could not be ended), and exits. If the survivors are to
 * be adopted, it sends one when the command has ended, too; from then on the first survivor is to
 * it what the shell was: the last report tells how that ended. The server sends one byte of enum
 * reaper_demand; hanging up means REAPER_END.
 *
 * If the order asks for it, the command runs under a listener (supervise/listener.h). The reaper
 * installs it in itself, where the command inherits it, and sends it to the server with the first
 * report. From then on neither the reaper nor the process that becomes the program makes a call
 * that stops, because the one who has to answer it may be the reaper itself: it keeps the listener,
 * and lets every call go once the server is gone, or says REAPER_LET_GO.
 */
#ifndef EXEC_REAPER_H
#define EXEC_REAPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec/launch.h"
#include "exec/limits.h"
#include "exec/tree.h"

enum proc_limit {
	PROC_LIMIT_NONE,
	PROC_LIMIT_TIME,
	PROC_LIMIT_CPU,
	PROC_LIMIT_FILE,
	PROC_LIMIT_MEMORY,
	PROC_LIMIT_PROCESSES,
};

/* How a command ended. */
struct proc_result {
	int exit_code; /* -1 after a timeout or cancel, 128+n if signal n ended it */
	int signal;    /* 0: it exited by itself (also if it was timed out or cancelled) */
	bool timed_out;
	bool cancelled;
	bool stopped; /* cancelled by a person */
	bool stuck;   /* a process could not be ended: another user's, or stuck in the kernel */
	int64_t duration_ms; /* until the shell ended */
	/*
	 * The receipt. CPU time is that of all processes that were waited for, memory the peak of
	 * the largest single one. oom_killed is inferred: a process died of SIGKILL while the
	 * kernel killed for memory somewhere on the machine. The CPU and file limits are recognised
	 * by the signals they send, too many processes by counting. A refused allocation or fork
	 * cannot be seen from outside: if such a limit is set and the command failed with a
	 * matching message on stderr, the message is believed.
	 */
	int64_t cpu_ms;
	int64_t peak_memory_bytes;
	bool oom_killed;
	enum proc_limit limit;
	enum proc_survivors fate; /* of the survivors */
	uint64_t job;		  /* SURVIVORS_ADOPT: the job in which they go on (exec/jobs.h) */
	size_t survivor_count;	  /* may be more than are described; with namespaces their pids are
				     those that commands see */
	struct survivor survivors[LIMIT_SURVIVORS];
};

/* What a report tells. */
enum reaper_event {
	REAPER_ENDED,	/* everything has ended; this is the last report */
	REAPER_LEFT,	/* the command has ended, its survivors go on */
	REAPER_LISTED,	/* the answer to REAPER_LIST: `ports` */
	REAPER_LISTENS, /* the first one, if there is a listener: it comes with it */
};

/* What the server can ask for. */
enum reaper_demand { REAPER_END = 'e', REAPER_LIST = 'l', REAPER_LET_GO = 'g' };

struct reaper_report {
	enum reaper_event event;
	enum launch_step failed; /* not LAUNCH_DONE: it never ran; error says why */
	int error;
	struct proc_result result;
	struct port_list ports; /* of everything that runs */
};

/* What all reapers of a spawner share. */
struct reaper_home {
	int lifeline; /* hangs up when the server is gone */
	int signals;  /* signalfd for SIGCHLD, which is blocked */
	const char *shell;
	char *const *env;
	int64_t oom_kills; /* procfs_oom_kills, and when that was */
	int64_t oom_counted_ms;
	unsigned calls; /* every command runs under a listener for these (enum listener_calls), so
			 * it is installed in advance; 0: only if the order asks for it */
};

/* Make the calling process a reaper, before it has an order. Returns its listener, or -1. */
int reaper_prepare(const struct reaper_home *home);

/* Run the order to its end. Closes the descriptors in l. */
_Noreturn void reaper_main(const struct reaper_home *home, int listener, struct launch *l);

/* Install a listener in this process, which gives up gaining privileges if it has to. -1 with errno
 * as listener_install. */
int reaper_listen(unsigned calls);

/* Send a report that the order could not be carried out. */
void reaper_refuse(int control, enum launch_step step, int error);

#endif
