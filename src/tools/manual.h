/* SPDX-License-Identifier: MIT */
/* manual: the tools of models in words, from the same tables: docs/tools.md, sidecar(1). */
#ifndef TOOLS_MANUAL_H
#define TOOLS_MANUAL_H

#include "base/buf.h"

/* A page in Markdown. */
void manual_write(struct buf *out);

/* The list of the tools in sidecar(1). */
void manual_write_mdoc(struct buf *out);

#endif
