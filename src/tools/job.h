/* SPDX-License-Identifier: MIT */
/*
 * job: commands in the background, as tools see them. An id is a string of digits.
 */
#ifndef TOOLS_JOB_H
#define TOOLS_JOB_H

#include "exec/proc.h"
#include "tools/tool.h"

/* Start the command and write the id of its job into the result, as a member of that name. */
int job_start(struct call *c, const struct proc_request *q, const char *name, struct err *e);

#endif
