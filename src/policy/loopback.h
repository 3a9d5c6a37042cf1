/* SPDX-License-Identifier: MIT */
/*
 * loopback: commands that reach no further than this machine.
 *
 * A model that has started a server wants to look at it. A command passes if all of it can be read,
 * and everything that it names is a loopback address in one of its usual spellings: localhost,
 * 127.0.0.0/8 with four decimal numbers, [::1]. Every other spelling (0x7f.1, 2130706433,
 * [::ffff:127.0.0.1]), a user before the host, an expansion, and an option that is unknown here and
 * may lead elsewhere count as not readable.
 *
 * A server on the loopback may answer with a redirection to another one, which curl -L and wget
 * follow. That is not seen here: the server is the model's own.
 */
#ifndef POLICY_LOOPBACK_H
#define POLICY_LOOPBACK_H

#include <stdbool.h>

#include "policy/shell_command.h"

/* A curl or wget that names at least one URL, and only such on the loopback. */
bool loopback_fetches(const struct shell_command *c);

/* A python -m http.server that listens on the loopback only, or only prints its help. */
bool loopback_serves(const struct shell_command *c);

/* Is there a variable in the text, or something like its name, that leads these programs elsewhere:
 * a proxy, or another configuration? */
bool loopback_is_diverted(struct str text);

#endif
