/* SPDX-License-Identifier: MIT */
/*
 * coverwatch: puts covers back that a person's rename has taken away, while commands run.
 *
 * When another file gets a name that is hidden or protected (sandbox.h), the kernel takes the cover
 * away with the old file. The keeper, which is outside and has one thread, watches the directories
 * of these names by inotify. When a name comes, a child of it enters the namespaces of the spawner
 * and covers the name again: new commands and those that run already see the cover. Between the
 * rename and the mount there is a gap, of about a millisecond on an idle machine.
 *
 * The keeper holds the inotify descriptor; the child is waited for at once, and holds nothing
 * afterwards. If the keeper dies nothing is put back, and the server starts another one before the
 * next command.
 */
#ifndef SANDBOX_COVERWATCH_H
#define SANDBOX_COVERWATCH_H

#include "sandbox/sandbox.h"

struct coverwatch {
	int fd;	  /* inotify, or -1: there is nothing to watch, or it cannot be */
	int *wds; /* of the directory of each name: those hidden, then those protected */
};

/* Begin; `config` must outlive it. To be called before the spawner makes its covers. */
void coverwatch_init(struct coverwatch *w, const struct sandbox_config *config);
void coverwatch_done(struct coverwatch *w);

/* The descriptor can be read: cover what has come, in the namespaces of the process. */
void coverwatch_act(const struct coverwatch *w, const struct sandbox_config *config, pid_t pid);

#endif
