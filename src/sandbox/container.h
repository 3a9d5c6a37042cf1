/* SPDX-License-Identifier: MIT */
/*
 * container: does this process live in a container?
 *
 * It is concluded from what the kernel shows and from the files that runtimes leave in the root of
 * a container. Everyone can set a variable, so a variable alone proves nothing: it only counts for
 * a process that has a PID namespace of its own.
 */
#ifndef SANDBOX_CONTAINER_H
#define SANDBOX_CONTAINER_H

/* What shows it, in a few words; NULL if nothing does. `root` stands for "/" (tests give another
 * directory); "" is the real one. */
const char *container_evidence(const char *root);

#endif
