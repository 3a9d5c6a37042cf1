/* SPDX-License-Identifier: MIT */
/*
 * sandbox: what a command cannot do, whatever it tries.
 *
 * The spawner (exec/keeper.h) itself lives in most of it: namespaces, system-call filter,
 * no_new_privs, no capabilities; all commands inherit that for free. A new process only enters a
 * Landlock domain of its own, one system call between vfork and exec. Two strengths:
 *
 *	the floor	Landlock, seccomp, no_new_privs, no capabilities. Works everywhere.
 *	namespaces	Everything outside is mounted read-only; other processes, foreign sockets
 *			and secret files are not there at all. Commands of one server share
 *			them, and with them /tmp.
 *
 * What is in force is found by trying (sandbox_probe) and listed in a struct sandbox_report. What
 * was asked for and cannot be had is an error that names the remedy; nothing is weakened silently.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum sandbox_mode { SANDBOX_OFF, SANDBOX_WORKSPACE, SANDBOX_STRICT, SANDBOX_AUTO };

struct path_list {
	const char *const *item;
	size_t count;
};

/* What the operator asked for. Paths are canonical (exec/canonical.h) but for the lists given to
 * spawner_new, which makes them so. */
struct sandbox_config {
	enum sandbox_mode mode;
	bool no_network;
	bool read_only;		/* the workspace, too, cannot be written */
	bool namespaces;	/* must be had: they were in force before */
	const char *workspace;	/* needed unless the mode is off and read_only is not set */
	const char *scratch;	/* the private /tmp (exec/scratch.h) */
	struct path_list write; /* more that may be written (DATA_DIR, SIDECAR_SANDBOX_WRITE) */
	struct path_list read;	/* more that may be read (SIDECAR_SANDBOX_READ), also when it
				     lies below a private directory such as /tmp */
	struct path_list hide;	/* with namespaces: not to be seen (socket, token file) */
};

/* One protection, and whether an attempt against it failed as it should. */
struct sandbox_fact {
	char name[32];
	bool in_force;
	char note[128]; /* what it cannot hold, or why it is not in force; may be empty */
};

/* The note of a protection that is not in force because nobody wants it to be. */
#define SANDBOX_NOT_ASKED "not asked for"

struct sandbox_report {
	enum sandbox_mode mode; /* never SANDBOX_AUTO */
	bool namespaces;
	char why[256]; /* one sentence: how the mode was chosen */
	size_t count;
	struct sandbox_fact fact[16];
};

struct sandbox;

const char *sandbox_mode_name(enum sandbox_mode mode);

/*
 * In the keeper, in this order.
 */

/* Settle what is asked for: auto becomes off or workspace, read_only brings at least workspace,
 * strict has no network. The report gets the mode and why. Fails when this kernel cannot hold it.
 */
int sandbox_settle(struct sandbox_config *config, struct sandbox_report *report, struct err *e);

/* Namespaces could not be made, for that reason. 0: the mode can do without them, and the report
 * says so; -1: it cannot, and *e names the remedy. */
int sandbox_forgo_namespaces(const struct sandbox_config *config, const struct err *reason,
			     struct sandbox_report *report, struct err *e);

/* In the spawner, which has one thread and has just been forked (with namespaces: by
 * namespaces_fork): put in force what its children inherit, prepare what each of them enters, and
 * try everything out in a child. The sandbox is NULL when the mode is off. */
int sandbox_make(const struct sandbox_config *config, bool namespaces, struct sandbox **ret,
		 struct sandbox_report *report, struct err *e);

/* The variables a command starts from: the spawner's own, with TMPDIR, and with caches in the
 * private /tmp when HOME cannot be written. */
char *const *sandbox_environ(const struct sandbox *sb);

/* Does a process of this sandbox see other mounts than the server? NULL sees the same. */
bool sandbox_has_mounts(const struct sandbox *sb);

/* Open the private directories again if a command has taken their permissions away: the next one
 * would find no way into /tmp, nor to a workspace that lies in it. */
void sandbox_mend(const struct sandbox *sb);

/* Put the calling process, which is about to exec, into the sandbox. 0, or -1 with errno. */
int sandbox_enter(const struct sandbox *sb);

#endif
