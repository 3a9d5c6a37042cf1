/* SPDX-License-Identifier: MIT */
/*
 * covers: the server's own files that commands must not see, and whether other files have taken
 * their names.
 *
 * A cover is a mount on a file (sandbox/steps.h). When another file gets the name, the cover stays
 * with the old one, or goes with it, and commands see the new one until a new sandbox is made. Each
 * file is held open by the server, so that no other can have its device and inode meanwhile. One
 * that has lost its name stays covered by whatever name it has, in new sandboxes too: a record of
 * calls that was put aside is no less secret than before.
 */
#ifndef SANDBOX_COVERS_H
#define SANDBOX_COVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "sandbox/sandbox.h"

struct covers;

/* The names are copied, and followed through links each time; but one in `home` (canonical, or
 * NULL), where commands can make links, only if it leads out from the beginning. NULL if there is
 * no memory. */
struct covers *covers_new(struct path_list names, const char *home);
void covers_free(struct covers *c); /* accepts NULL */

/* Does a name lead to another file than covers_list has seen? One that leads nowhere does not. It
 * costs one system call for each name. */
bool covers_have_changed(const struct covers *c);

/* Look at what is there now, and add (strings_add) the canonical names of all that is to be
 * covered. Returns how many. Called before the sandbox is made of them: what is exchanged in
 * between is then found to have changed. */
uint32_t covers_list(struct covers *c, struct buf *names);

#endif
