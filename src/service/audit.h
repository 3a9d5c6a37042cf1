/* SPDX-License-Identifier: MIT */
/*
 * audit: every call, on disk, in lines that cannot be changed unseen (service/chain.h).
 *
 * A call has a line when it begins and one when it has ended. Those of a call that changes
 * something are on disk before it is answered; those of others within a second. The file is only
 * appended to, is for its owner alone, and is locked against other servers. Where no line can be
 * written, because the disk is full, calls that change something are refused with AUDIT_FAILED
 * until it works again; others go on, and a line says later how many lines are missing.
 *
 * Every chain begins with a line of type audit.start and, in order, ends with audit.stop. A file
 * that was put aside ends with audit.rotate, and the next one begins with audit.continue.
 *
 * All functions may be called from several threads.
 */
#ifndef SERVICE_AUDIT_H
#define SERVICE_AUDIT_H

#include <stdbool.h>

#include "base/err.h"
#include "exec/jobs.h"
#include "service/account.h"
#include "workspace/workspace.h"

struct audit;

struct audit_options {
	const char *path, *key_file; /* key_file: NULL: without a key */
	struct str workspace;
};

/* Open the file, or go on with one that is there. */
int audit_open(const struct audit_options *o, struct audit **ret, struct err *e);

/* Write the last line and close; the log has its number and code, with which `sidecar audit verify
 * --last` finds a file whose end was cut off. Accepts NULL. */
void audit_close(struct audit *a);

/* The file may have been put aside: open it again, by its name. */
void audit_reopen(struct audit *a);

/* A call begins. AUDIT_FAILED if it changes something and cannot be recorded. */
int audit_begin(struct audit *a, const struct account *call, struct str client, bool mcp,
		bool changes, struct err *e);

/* It has ended. AUDIT_FAILED if it has changed something and that could not be recorded. */
int audit_end(struct audit *a, const struct account *call, bool changes, struct err *e);

/* A job has started, or ended. */
void audit_job(struct audit *a, const struct job_state *job);

/* A client (uid and pid; -1 if they are not known) has stopped a call. Accepts NULL. */
void audit_stop(struct audit *a, uint64_t call, int64_t uid, int64_t pid);

/* Whether lines can be written at present. */
bool audit_works(struct audit *a);

#endif
