/* SPDX-License-Identifier: MIT */
/*
 * denials: what the sandbox has refused to one command, by path, operation and rule.
 *
 * It is filled while the command runs, by threads that look at its calls before they happen
 * (sandbox/refusal.h, sandbox/broker.h), and read at the end. The first LIMIT_DENIALS are listed,
 * each once; all others are counted.
 */
#ifndef SANDBOX_DENIALS_H
#define SANDBOX_DENIALS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "sandbox/bounds.h"
#include "sandbox/intent.h"

/* What has refused it. */
enum denial_by { DENIED_BY_LANDLOCK, DENIED_BY_MOUNT, DENIED_BY_SECCOMP, DENIED_BY_NETWORK };

struct denial {
	enum intent_verb verb;
	enum denial_by by;
	bool hidden;	  /* the place is another one to commands */
	bool own;	  /* the server itself is there */
	const char *path; /* or an address */
};

struct denials;

/* The bounds are held by the list from now on, also if there is no memory and this is NULL. `told`
 * (or NULL) is called with each one that is listed, by the thread that adds it. */
struct denials *denials_new(struct bounds *b, void (*told)(void *arg, const struct denial *d),
			    void *arg);
void denials_free(struct denials *d);

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
