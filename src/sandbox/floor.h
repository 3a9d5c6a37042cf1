/* SPDX-License-Identifier: MIT */
/*
 * floor: without namespaces, the calls that file rules do not know.
 *
 * Landlock has no right for permissions, owners, times and attributes, and before ABI 3 (Linux 6.2)
 * none for emptying a file. With namespaces the read-only mounts hold these calls; without, they
 * stop (LISTENER_UNRULED, LISTENER_EMPTYING), and this judge opens what is meant as the command
 * would find it, and looks whether commands may write there.
 *
 *	chmod, chown, times, attributes, by path
 *			Outside: EACCES and a denial. Inside the call goes on, with memory that the
 *			caller may exchange meanwhile; and by descriptor (fchmod) it does not stop
 *			at all. A guard rail.
 *	truncate	Outside: EACCES and a denial. Inside this process does it, to the file that
 *			it has opened and judged. The call never goes on: a wall.
 *	open that empties a file without asking for writing
 *			EACCES and a denial, wherever it is: the path lies in memory, and POSIX
 *			leaves undefined what such a call does. A wall.
 *	openat2		ENOSYS, by the filter: its flags lie in memory. Programs do without it.
 *
 * An open for writing that empties a file needs nothing of this: the kernel asks the rules about
 * the writing first. While no server judges, the reaper refuses what the walls hold.
 */
#ifndef SANDBOX_FLOOR_H
#define SANDBOX_FLOOR_H

#include "sandbox/denials.h"

/* Can this process judge such calls, if it may read the memory of commands? */
bool floor_is_possible(void);

/* Does the judge below answer for this call, within these bounds? */
bool floor_is_for(const struct bounds *b, const struct stopped_call *s);

/* A judge that comes after those who want to see what is changed. */
struct judge floor_judge(struct denials *d);

#endif
