/* SPDX-License-Identifier: MIT */
/* receipt: what a command did, as a model reads it. */
#ifndef TOOLS_RECEIPT_H
#define TOOLS_RECEIPT_H

#include "exec/proc.h"
#include "tools/ends.h"
#include "tools/tool.h"

/* The fields of the result of run_command. */
extern const struct field receipt_fields[];

/* Write them: both outputs, how it ended, what it cost, and what it left running. */
int receipt_write(struct call *c, const struct proc_result *r, const struct ends *out,
		  const struct ends *err, struct err *e);

#endif
