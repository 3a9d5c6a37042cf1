/* SPDX-License-Identifier: MIT */
/*
 * bounds: what the sandbox lets commands write and connect to, as the server knows it.
 *
 * The spawner puts the sandbox in force (sandbox/sandbox.h); the bounds are the same rules in the
 * server, which looks at calls of commands before they happen. All names are as commands see them.
 */
#ifndef SUPERVISE_BOUNDS_H
#define SUPERVISE_BOUNDS_H

#include <sys/stat.h>

#include "base/buf.h"
#include "sandbox/sandbox.h"

struct bounds {
	struct sandbox_config config; /* settled */
	bool namespaces;
	int abi;       /* of Landlock */
	bool override; /* commands of root keep CAP_DAC_OVERRIDE */
	struct bounds_memory *memory;
};

/* The bounds of a settled configuration, of which everything is copied. They never change, and are
 * released by the last who holds them: a command may outlive its server's runner for a moment. NULL
 * if there is no memory. */
struct bounds *bounds_new(const struct sandbox_config *config, bool namespaces);
struct bounds *bounds_hold(struct bounds *b);
void bounds_release(struct bounds *b); /* accepts NULL */

/* May commands write there, by the file rules? (A mount below it may be read-only.) */
bool bounds_may_write(const struct bounds *b, const char *name);

/* May commands connect to a socket of that name, which is writable by its mount or not? */
bool bounds_may_connect(const struct bounds *b, const char *name, bool read_only);

/* Is it one of the files that are hidden from commands, above all a socket of the server, which
 * would take the connection for its own? By whatever name: it is compared with those that were
 * there when the bounds were made. */
bool bounds_is_own(const struct bounds *b, const struct stat *st);

/* The path of a socket that the operator allows, in the server's view, if the name that a command
 * uses is one: then it need not be visible to the command. An O_PATH descriptor, or -1. */
int bounds_open_listed(const struct bounds *b, const char *name);

/* Is that place hidden from commands, or another one to them? */
bool bounds_is_hidden(const struct bounds *b, const char *name);

/* What may be written, in words: "the workspace, /tmp". */
void bounds_describe(const struct bounds *b, struct buf *out);

/* Rights of the calling thread. Between these two calls root has the rights that its commands have,
 * so that the kernel itself judges ordinary permissions for them. For other users nothing happens.
 */
struct bounds_rights {
	unsigned effective[2];
	bool lowered;
	bool failed; /* it still has more rights than its commands */
};
struct bounds_rights bounds_lower(const struct bounds *b);
void bounds_raise(const struct bounds_rights *r);

#endif
