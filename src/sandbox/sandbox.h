/* SPDX-License-Identifier: MIT */
/*
 * sandbox: what a command cannot do, whatever it tries.
 *
 * The spawner (exec/keeper.h) itself lives in most of it: namespaces, system-call filter,
 * no_new_privs, no capabilities; all commands inherit that for free. A new process only enters a
 * Landlock domain of its own, one system call between vfork and exec. There are two strengths:
 *
 *	the floor	Landlock, seccomp, no_new_privs, no capabilities. Works on every kernel
 *			that has Landlock. Where it has none, the namespaces hold alone, with
 *			a read-only /proc, few devices, and a spawner that cannot be traced.
 *	namespaces	Everything outside is mounted read-only; other processes, foreign sockets
 *			and secret files are not there at all. Commands of one server share
 *			the namespaces, and with them /tmp.
 *
 * In namespaces a command sees
 *
 *	processes	only commands, and the spawner as process 1: its death ends them all
 *	mounts		everything read-only except what may be written; private /tmp, /dev/shm and
 *			/dev/pts; an empty /run; nothing of what is to be hidden
 *	IPC		its own
 *	network		its own, with a loopback and nothing else, if there is to be no network
 *
 * They need no privilege where the kernel lets users make user namespaces, and no user namespace
 * where the server has the privilege.
 *
 * What is in force is found by trying (sandbox/probe.h) and listed in a struct sandbox_report. What
 * was asked for and is not possible is an error that names the remedy; nothing is weakened
 * silently.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <sys/types.h>

#include "sandbox/sandbox_config.h"

struct sandbox;

/* In the keeper, which has one thread: fork into new namespaces, in which the user stays the same.
 * Returns as fork does. */
pid_t sandbox_fork(bool no_network);

/* In the spawner, which has one thread and has just been forked (with namespaces: by sandbox_fork):
 * put in force what its children inherit, prepare what each of them enters, and try everything out
 * in a child. The configuration has been settled. The sandbox is NULL if the mode is off. After a
 * failure part of it may be in force, and the process must end. */
int sandbox_make(const struct sandbox_config *config, bool namespaces, struct sandbox **ret,
		 struct sandbox_report *report, struct err *e);

/* The variables that a command gets in addition: TMPDIR, and caches in the private /tmp if HOME
 * cannot be written. The strings belong to the sandbox. */
char *const *sandbox_variables(const struct sandbox *sb, size_t *count);

/* Does a process of this sandbox see other mounts than the server? NULL sees the same. */
bool sandbox_has_mounts(const struct sandbox *sb);

/* Give the private directories their permissions back if a command has changed them: otherwise the
 * next one could not use /tmp, nor a workspace that lies in it. */
void sandbox_reset_permissions(const struct sandbox *sb);

/* Put the calling process, which is about to exec, into the sandbox. 0, or -1 with errno. */
int sandbox_enter(const struct sandbox *sb);

#endif
