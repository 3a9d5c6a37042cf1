/* SPDX-License-Identifier: MIT */
/*
 * keeper: the program's second process, which does nothing but start and end commands.
 *
 *	server ── keeper ── spawner ── reaper ── command and all its descendants
 *	                            └─ reaper ── …
 *
 * The server starts its own executable anew with KEEPER_VERB as the only argument; main() then
 * calls keeper_main and nothing else. Being executed, not forked, it may be started again at any
 * time by a server that has threads, its memory is small (forking is quick) and holds no secret of
 * the server.
 *
 * The keeper stays outside every namespace. It makes the spawner, which lives in the sandbox's
 * namespaces and turns orders into reapers, and waits for it. When the server is gone, however that
 * happened, reapers end their trees, the spawner ends, and the keeper removes the private /tmp,
 * calls at_death, and ends. If only the spawner dies, the keeper ends without cleaning up: the
 * server is still there and starts both again.
 */
#ifndef EXEC_KEEPER_H
#define EXEC_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/sandbox.h"

#define KEEPER_VERB "spawner"

/* Where the keeper finds its socket. */
enum { KEEPER_FD = 3 };

/* The first message to the keeper; with it come the lifeline, the strings (workspace, scratch, and
 * the three lists), and at_death's descriptor, if any. */
enum keeper_fd { KEEPER_LIFELINE, KEEPER_STRINGS, KEEPER_AT_DEATH };

struct keeper_setup {
	enum sandbox_mode mode;
	bool no_network, read_only, namespaces;
	uint32_t write_count, read_count, hide_count;
	int64_t open_files; /* soft limit of it and all it starts; 0: as it is */
};

/* Its answer: what is in force, or why it cannot serve. */
struct keeper_hello {
	struct err err; /* code ERR_NONE: ready */
	struct sandbox_report sandbox;
};

/* Serve until the server is gone. Returns the exit status. at_death may be NULL; it is called
 * with the descriptor that was given to spawner_new (if any), in a process of the server's rights.
 */
int keeper_main(void (*at_death)(int fd));

#endif
