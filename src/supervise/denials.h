/* SPDX-License-Identifier: MIT */
/*
 * denials: what the sandbox has refused to one command, by path, operation and rule.
 *
 * It is filled while the command runs, by threads that look at its calls before they happen
 * (the judges below, supervise/broker.h), and read at the end. The first LIMIT_DENIALS are listed,
 * each once; all others are counted.
 */
#ifndef SUPERVISE_DENIALS_H
#define SUPERVISE_DENIALS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "supervise/bounds.h"
#include "supervise/intent.h"
#include "supervise/supervisor.h"

/* What has refused it. */
enum denial_by {
	DENIED_BY_LANDLOCK,
	DENIED_BY_MOUNT,
	DENIED_BY_SECCOMP,
	DENIED_BY_NETWORK,
	DENIED_BY_GUARD
};

struct denial {
	enum intent_verb verb;
	enum denial_by by;
	bool hidden;	  /* the place is another one to commands */
	bool sidecar;	  /* a sidecar listens there */
	const char *path; /* or an address */
	const char *why;  /* DENIED_BY_GUARD: the rule; else NULL */
};

struct denials;

/* The bounds (NULL without a sandbox) are held by the list from now on, also if there is no memory and this is NULL. `told`
 * (or NULL) is called with each one that is listed, by the thread that adds it. */
struct denials *denials_new(struct bounds *b, void (*told)(void *arg, const struct denial *d),
			    void *arg);
void denials_free(struct denials *d);

/*
 * A judge that always passes, and adds a denial if the sandbox will refuse what a call is about to
 * do and it would have been possible without the sandbox.
 *
 * Concluded from the sandbox's own rules (supervise/bounds.h), from the mounts that the caller sees,
 * and from what is there: a name that exists already, a file whose permissions forbid it, a
 * directory that does not exist would have made the call fail anyway, and that is not a denial. The
 * kernel judges permissions, for this process with the rights of its commands. Python's attempts to
 * keep compiled modules beside those of the system are no denials either: it does without.
 */
struct judge refusal_judge(struct denials *d);

/* floor: without namespaces, the judge of the calls that file rules do not know (floor.c). */

/* Does the judge below answer for this call, within these bounds? */
bool floor_is_for(const struct bounds *b, const struct stopped_call *s);

/* A judge that comes after those who want to see what is changed. */
struct judge floor_judge(struct denials *d);

/* A judge that performs what commands may change in a git directory outside (gitwriter.c). It comes
 * after those who want to see what is changed. */
struct judge gitwriter_judge(struct denials *d);

/* Add one, unless it is listed already. The path is copied. */
void denials_add(struct denials *d, const struct denial *what);

const struct bounds *denials_bounds(const struct denials *d);

/* How many there were; of these the first are listed. */
size_t denials_count(struct denials *d);
size_t denials_listed(struct denials *d);

/* The i-th listed one; it stays as long as the list. */
struct denial denials_at(struct denials *d, size_t i);

/* "write", "mkdir", …; "landlock", "mount", "seccomp", "network". */
const char *denial_operation(const struct denial *d);
const char *denial_by_name(const struct denial *d);

/* The rule that was in the way: "writable: the workspace, /tmp". */
void denials_rule(const struct denials *d, const struct denial *one, struct buf *out);

/* All of it as a sentence: "writing /etc/hosts is not allowed; writable: the workspace, /tmp". */
void denials_say(const struct denials *d, const struct denial *one, struct buf *out);

#endif
