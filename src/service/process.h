/* SPDX-License-Identifier: MIT */
/* process: what a process becomes before it serves anybody, through sockets or through pipes. */
#ifndef SERVICE_PROCESS_H
#define SERVICE_PROCESS_H

#include <signal.h>

#include "config/config.h"

/* Before there are threads: the signals in the set wait to be read from a descriptor; a write to a
 * client that left, or to a file that is too large, is an error and not a death; all descriptors
 * we may have, and in the configuration how many we had, which is what commands are used to; one
 * heap; the log as configured. */
void process_prepare(struct config *c, const sigset_t *signals);

#endif
