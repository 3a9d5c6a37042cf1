/* SPDX-License-Identifier: MIT */
/*
 * sandbox: what a command cannot do, whatever it tries.
 *
 * The keeper (exec/keeper.h) prepares a sandbox once: it lives in the namespaces, holds the
 * Landlock rule set and the compiled filter. A new process only enters it, a handful of system
 * calls between vfork and exec. Two strengths:
 *
 *	the floor	Landlock, seccomp, no_new_privs, no capabilities. Works everywhere.
 *	namespaces	Everything outside is mounted read-only; other processes, foreign sockets
 *			and secret files are not there at all. Shared by all commands of a server,
 *			so they cost a command nothing.
 *
 * What is in force is found by trying (sandbox_probe) and listed in a struct sandbox_report. What
 * was asked for and cannot be had is an error that names the remedy; nothing is weakened silently.
 */
#ifndef EXEC_SANDBOX_H
#define EXEC_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "exec/message.h"

enum sandbox_mode { SANDBOX_OFF, SANDBOX_WORKSPACE, SANDBOX_STRICT, SANDBOX_AUTO };

struct path_list {
	const char *const *item;
	size_t count;
};

/* What the operator asked for. Paths are absolute. */
struct sandbox_config {
	enum sandbox_mode mode;
	bool no_network;
	bool read_only;		/* the workspace, too, cannot be written */
	const char *workspace;	/* needed unless the mode is off and read_only is not set */
	const char *scratch;	/* the private /tmp (exec/scratch.h) */
	struct path_list write; /* more that may be written (DATA_DIR, SIDECAR_SANDBOX_WRITE) */
	struct path_list read;	/* strict: more that may be read (SIDECAR_SANDBOX_READ) */
	struct path_list hide;	/* with namespaces: not to be seen (socket, token file) */
};

/* One protection, and whether an attempt against it failed as it should. */
struct sandbox_fact {
	char name[32];
	bool in_force;
	char note[128]; /* what it cannot hold, or why it is not in force; may be empty */
};

struct sandbox_report {
	enum sandbox_mode mode; /* never SANDBOX_AUTO */
	bool namespaces;
	char why[256]; /* one sentence: how the mode was chosen */
	size_t count;
	struct sandbox_fact fact[16];
};

struct sandbox;

const char *sandbox_mode_name(enum sandbox_mode mode);

/* The mode of that name, or -1. */
int sandbox_mode_by_name(struct str name);

/* Does a process of this sandbox see other mounts than the server? NULL sees the same. */
bool sandbox_has_mounts(const struct sandbox *sb);

/* Put the calling process, which is about to exec, into the sandbox. 0, or -1 with errno. */
int sandbox_enter(const struct sandbox *sb);

#endif
