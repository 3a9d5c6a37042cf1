/* SPDX-License-Identifier: MIT */
/*
 * guard: what agents must not leave behind in a workspace, because a person's program runs it later.
 *
 * Theory of operation
 *
 * A guarded name (guard/sinks.h) is held in three ways, the strongest first:
 *
 *	covers		With namespaces, what exists when the sandbox is made is mounted
 *			read-only over itself, and the directories above it, up to the top of
 *			the workspace, over themselves: they cannot be written, renamed or
 *			removed by anything inside. A wall. A person who replaces a file outside
 *			takes its cover away; before the next command starts, a new sandbox
 *			is made.
 *	the judge	For what does not exist yet, and without namespaces: calls that change a
 *			file stop, and supervise/guardian.c refuses those about a guarded name.
 *			A call that goes on is read again by the kernel, so another thread that
 *			exchanges its path may get through: a guard rail, not a wall.
 *	the look	After each command that changed something, the guarded names are compared
 *			with what they were before. What is new or different, and was not made by
 *			an allowed call, is named to everybody. It may have been the person,
 *			so it is not put back; but small files are kept with the change of the
 *			command, so that undo does.
 *
 * If a guarded name is a link, or core.hooksPath names a directory, what lies there in the workspace
 * is guarded as if it had that name (struct present_way).
 *
 * Tools that write files ask guard_permits with the resolved name. Git's own changes of its
 * configuration are made by the server, if they execute nothing (supervise/guardian.c).
 *
 * Who holds what: the guard belongs to the service, and outlives the runner and all commands. It
 * holds no descriptor. `now` is what was there when it was last compared, `covered` what the newest
 * sandbox covers; both are protected by the lock. What a death leaves: the mounts end with the
 * spawner and its commands; when the server dies the reaper refuses what would have been judged.
 *
 * All functions may be called from several threads.
 */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include <stdint.h>

#include "guard/present.h"

struct guard;

struct guard_options {
	const char *root;	/* of the workspace, canonical */
	const char *const *git; /* git directories of it that lie outside, canonical */
	size_t git_count;
	struct str own; /* the operator's patterns, one a line */
};

int guard_new(const struct guard_options *o, struct guard **ret, struct err *e);
/* Commands that still end may use it for a moment. Accepts NULL. */
void guard_free(struct guard *g);

/* What an absolute name without links is. */
struct sink_rule guard_class(struct guard *g, const char *name, bool is_dir);

/* Does a guarded thing lie below the directory of that name? Then it cannot be moved away. */
bool guard_is_above(struct guard *g, const char *name);

/* Could a guarded name lie below that name? Then it must not become a link. */
bool guard_leads_to(struct guard *g, const char *name);

/* Would a guarded name come into being if that link or directory got the other, absolute name? What
 * cannot be read as a whole is taken to bring one. */
bool guard_brings(struct guard *g, int dir, const char *from, const char *to);

/* Is it a guarded file, by another of its names? */
bool guard_is_file(struct guard *g, const struct stat *st);

/* Does a person's program run it later, although agents may change it? The path is relative to the
 * workspace. Of a repository's configuration only if it has a key that executes. */
bool guard_runs_later(struct guard *g, struct str path);

/* Say why a guarded name is not changed, and how to allow it. */
void guard_explain(struct guard *g, const char *name, const struct sink_rule *s, struct buf *out);

/* The name of a guarded thing as people know it: relative to the workspace. */
const char *guard_shown(const struct guard *g, const char *name);

/* May a tool change that name in the directory? PROTECTED_PATH says which rule forbids it. */
int guard_permits(struct guard *g, int dir, const char *name, struct err *e);
int guard_permits_name(struct guard *g, const char *name, struct err *e);
/* … and may what is there get the other, absolute name, with everything in it? */
int guard_permits_move(struct guard *g, int dir, const char *name, const char *to, struct err *e);

/* A command begins: what is there now is what it finds, unless another one runs already; and ends. */
void guard_enter(struct guard *g);
void guard_leave(struct guard *g);

/* An allowed call, which an address stands for, is about to change that name; and it has changed all
 * that it was about to. The next look does not name what that call made; what another one made of it
 * later it does. */
void guard_accept(struct guard *g, const void *by, int dir, const char *name);
void guard_accept_name(struct guard *g, const void *by, const char *name);
void guard_accepted(struct guard *g, const void *by);

/* Call with each small guarded file that was there at the last look: what gets past the judge is put
 * back from the record of the command. */
void guard_files(struct guard *g, void (*call)(void *arg, int dir, const char *name), void *arg);

/* What has changed since the last look? `tell` is called with each name. */
size_t guard_look(struct guard *g, void (*tell)(void *arg, const char *name), void *arg);

/* For the sandbox: add (strings_add) the names to be covered, which are remembered; and whether
 * they have changed since. */
uint32_t guard_covers(struct guard *g, struct buf *names);
bool guard_has_changed(struct guard *g);

#endif
