/* SPDX-License-Identifier: MIT */
/*
 * guardian: the judges that keep a command from what a person's programs run later (guard/guard.h).
 *
 * The first one refuses calls that would write, make, remove, move or link a guarded name: decided
 * on the file that the resolver finds. What cannot be resolved is refused if one of its components
 * is a guarded name's. It comes before the observer, so that what is refused is not recorded.
 *
 * Git changes its configuration by writing config.lock and renaming that to config. Such a rename
 * never goes on. The first judge reads the lock into memory, once, and compares (guard/gitconfig.h):
 * if nothing that executes is new, the second judge, which comes after the observer has kept the
 * old content, writes what was compared into the file that is there, in place, so that its cover
 * stays (with its length), removes the lock, and answers 0. Otherwise the call is refused, and the
 * denial names the key. The same for its permissions, which git tries out.
 *
 * Everything else goes on, and the kernel reads its arguments again: a guard rail.
 */
#ifndef SUPERVISE_GUARDIAN_H
#define SUPERVISE_GUARDIAN_H

#include <stdatomic.h>

#include "guard/guard.h"
#include "supervise/denials.h"

/* Belongs to the supervisor's thread, except `seen`. */
struct guardian {
	struct guard *guard;
	struct denials *denials;
	atomic_bool seen;	 /* a call that changes something was looked at */
	struct buf content;	 /* what the configuration shall be */
	int dir;		 /* of the configuration to be written; -1: none is */
	char name[NAME_MAX + 1]; /* … and its name */
};

/* Both must outlive it. */
void guardian_init(struct guardian *g, struct guard *guard, struct denials *denials);
void guardian_done(struct guardian *g);

struct judge guardian_judge(struct guardian *g);
struct judge guardian_writer(struct guardian *g);

#endif
