/* SPDX-License-Identifier: MIT */
/* manual: the tools of models in words, from the same tables: docs/tools.md. */
#ifndef TOOLS_MANUAL_H
#define TOOLS_MANUAL_H

#include "base/buf.h"

/* A page in Markdown. */
void manual_write(struct buf *out);

#endif
