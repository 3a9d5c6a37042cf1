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
 * calls at_death, and ends. If only the spawner dies, or has been retired and its last command has
 * ended, the keeper ends without cleaning up: the server is still there and has started both again.
 */
#ifndef EXEC_KEEPER_H
#define EXEC_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/sandbox.h"

#define KEEPER_VERB "keeper"

/* The descriptor on which the keeper finds its socket to the server. */
enum { KEEPER_FD = 3 };

/* The first message to the keeper is a struct keeper_setup. With it come the lifeline, the strings
 * (workspace, scratch, and the four lists), and at_death's descriptor if there is one. The answer
 * is the spawner's (struct spawner_hello). */
enum keeper_fd { KEEPER_LIFELINE, KEEPER_STRINGS, KEEPER_AT_DEATH };

struct keeper_setup {
	enum sandbox_mode mode;
	bool no_network, read_only, namespaces;
	bool listens, brokered, supervised, allow_truncate; /* as in struct sandbox_config */
	uint32_t write_count, read_count, hide_count, socket_count;
	uint16_t ports[SANDBOX_PORTS];
	int64_t open_files; /* soft limit for the keeper and all it starts; 0: leave it unchanged */
};

/* Whether a process is a command of a sidecar, this one or another; true also if that cannot be
 * found out. */
bool keeper_is_above(pid_t pid);

/* Serve until the server is gone. Returns the exit status. at_death may be NULL; it is called with
 * the descriptor that was given to runner_new (if any), in a process with the server's rights. */
int keeper_main(void (*at_death)(int fd));

#endif
