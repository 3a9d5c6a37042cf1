/* SPDX-License-Identifier: MIT */
/*
 * shells: what a session's shell keeps between two calls.
 *
 * A model is promised one shell that lives on. No process lives on, however: each command is run by
 * a new shell, which first takes over what the last one left, and at its end leaves its own state
 * in a file in memory. So a command is a command like every other: it has its sandbox, its time and
 * its observer, its changes belong to one call, everything it started can be ended with it, an idle
 * session costs no process, and a shell that hangs, that is killed or that becomes another program
 * (exec) loses nothing of what was there before. A process that waits for the next call could not
 * have this: what it does between two calls belongs to no call.
 *
 * Carried over, by bash: directory, variables with their attributes (exported or not, arrays,
 * read-only …), functions, aliases, options (set, shopt) and umask; also after `exit`. By another
 * sh: directory, variables and umask. Not carried over: open descriptors, traps, jobs and $!,
 * positional parameters. What a command leaves running goes on as a job.
 *
 * The state is text that only the next shell of the same session reads, inside the sandbox: the
 * server never interprets it. A command that was ended (timeout, cancel), and one whose shell left
 * no complete state, changes nothing: the shell is as it was before.
 *
 *	struct shell_turn t;
 *	if (shells_begin(shells, session, generation, cancel, &t, e) < 0)	waits for its turn
 *		return -1;
 *	… run shells_script(&t, command) with t.fd as standard input …
 *	shells_end(shells, &t, true, job);
 *
 * The calls of a session take turns. All functions may be called from several threads.
 */
#ifndef TOOLS_SHELLS_H
#define TOOLS_SHELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/str.h"
#include "tools/limits.h"

struct shell;
struct shells;

/* NULL if there is no memory. */
struct shells *shells_new(void);
void shells_free(struct shells *s);

/* A command in the shell of a session, while it runs. */
struct shell_turn {
	struct shell *shell;
	struct str state; /* what it takes over; empty: it is a new shell */
	int fd;		  /* standard input of the script; the turn closes it */
};

/* Wait until the session's other commands have ended, and begin one. `generation` is that of the
 * workspace: a state of another one is dropped, because its directories are gone. The cancel (or
 * NULL) ends the wait, and is asked by shells_restart. TOO_BUSY if there is no room for another
 * session, EXECUTION_ERROR, once, if the session's shell was dropped to make room for others,
 * INVALID_ARGUMENTS if its name is too long. */
int shells_begin(struct shells *s, struct str session, unsigned generation, struct cancel *cancel,
		 struct shell_turn *ret, struct err *e);

#define SHELLS_SCRIPT "set -- '" /* how each script begins; the command comes next */

/* The script that runs the command in the state that is on its standard input. */
void shells_script(const struct shell_turn *t, struct str command, struct buf *out);

/* The command has ended. With `keep` the state that it left is that of the shell from now on,
 * unless it was restarted meanwhile; false if it left none that is complete. `job` is what it left
 * running, or 0. */
bool shells_end(struct shells *s, struct shell_turn *t, bool keep, uint64_t job);

/* The session has a new shell from now on. Its running command is asked to end. Returns how many
 * jobs its commands left, which the caller ends. */
size_t shells_restart(struct shells *s, struct str session, uint64_t jobs[LIMIT_SHELL_JOBS]);

#endif
