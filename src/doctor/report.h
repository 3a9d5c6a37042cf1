/* SPDX-License-Identifier: MIT */
/*
 * report: findings, one per line: what was checked, the verdict, and what to do about it.
 */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include "base/jw.h"
#include "cli/cli.h"

enum verdict {
	FOUND_OK,
	FOUND_OFF,  /* not in force, because the configuration does not ask for it */
	FOUND_WARN, /* works, but could be better */
	FOUND_FAIL,
};

struct report {
	const struct cli *cli;
	size_t count[FOUND_FAIL + 1];
	struct buf json; /* with --json: the array so far */
	struct jw writer;
};

/* Add a finding. The text of a warning or a failure also says what to do about it. */
void report_add(struct report *r, enum verdict verdict, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Print the rest of the report. Returns the exit status. */
int report_finish(struct report *r);

#endif
