/* SPDX-License-Identifier: MIT */
/* suggest: the file that was probably meant by the name of one that is not there. */
#ifndef TOOLS_SUGGEST_H
#define TOOLS_SUGGEST_H

#include "tools/tool.h"

/* Advise in *e, which is about this path: the nearest name in its directory; or the only entry of
 * the workspace that has its name, of those that ignore rules leave. Does nothing if there is none,
 * or if too much had to be looked at. */
void suggest_path(const struct call *c, struct str requested, struct err *e);

#endif
