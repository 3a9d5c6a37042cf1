/* SPDX-License-Identifier: MIT */
/*
 * keeper: the program's second process, which only starts and ends commands.
 *
 *	server ── keeper ── spawner ── reaper ── command and all its descendants
 *	                            └─ reaper ── …
 *
 * The server executes its own program again with KEEPER_VERB as the only argument; main() then
 * calls keeper_main and nothing else. Because the keeper is executed, not forked, a server that has
 * threads can start it at any time, its memory is small (so forking is quick), and it has none of
 * the server's secrets.
 *
 * The keeper stays outside every namespace. It starts the spawner, which lives in the sandbox's
 * namespaces and turns orders into reapers, and waits for it. When the server is gone, for whatever
 * reason, the reapers end their trees, the spawner ends, and the keeper removes the private /tmp,
 * calls at_death, and ends. If only the spawner dies, the keeper waits until the server kills it,
 * which has started both again, or is gone as well. If the spawner was retired and its last command
 * has ended, the keeper ends without cleaning up.
 */
#ifndef EXEC_KEEPER_H
#define EXEC_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/sandbox.h"

#define KEEPER_VERB "keeper"

/* How a spawner ends that was retired. */
enum { SPAWNER_RETIRED = 3 };

/* The descriptor on which the keeper finds its socket to the server. */
enum { KEEPER_FD = 3 };

/* The first message to the keeper is a struct keeper_setup. With it come the lifeline, the strings
 * of the configuration (sandbox_point_to), and as the setup says at_death's descriptor and the one
 * that stays open as long as a process below the keeper lives. The answer is the spawner's (struct
 * spawner_hello). */
enum { KEEPER_GIFTS = 2 };
enum keeper_fd {
	KEEPER_LIFELINE,
	KEEPER_STRINGS,
	KEEPER_OPTIONAL,
	KEEPER_FDS = KEEPER_OPTIONAL + KEEPER_GIFTS
};

struct keeper_setup {
	struct sandbox_config config;
	bool gives[KEEPER_GIFTS]; /* descriptors: at_death's; the one that stays open */
	int64_t open_files; /* soft limit for the keeper and all it starts; 0: leave it unchanged */
};

/* Whether a process is a command of a sidecar, this one or another; true also if that cannot be
 * found out. */
bool keeper_is_above(pid_t pid);

/* Serve until the server is gone. Returns the exit status. at_death may be NULL; it is called with
 * the descriptor that was given to runner_new (if any), in a process with the server's rights. */
int keeper_main(void (*at_death)(int fd));

/*
 * spawner: the process inside the sandbox's namespaces that has a reaper ready for each command.
 *
 * The reaper is forked in advance, waits on the server's socket and takes the next order itself, so
 * no command waits for a fork other than its own. Then the spawner forks the next one.
 */

/* What the server is told once, before any order: what is in force, or why there is no spawner.
 * Those that come before it with a listener are trials: a process in the place of a command has
 * made a call that stops, bind or connect, and the server answers with the errno value of looking
 * into it as the judges do (0: it could). */
struct spawner_hello {
	struct err err; /* code ERR_NONE: ready */
	struct sandbox_report sandbox;
};

/* The size of the message, in place of an order, by which the server retires the spawner: it takes
 * the orders that have been sent, hears no more of the server and ends with its last command. */
enum { SPAWNER_RETIRES = 1 };

/* Start the spawner below the calling process, which has one thread, and say hello to the server.
 * Returns its pid, or -1, and whether it has namespaces of its own. It exits with 0 after the server is
 * gone and all trees have been ended, and with SPAWNER_RETIRED if it was retired. */
pid_t spawner_start(int server, int lifeline, const struct sandbox_config *asked, bool *namespaces);

#endif
