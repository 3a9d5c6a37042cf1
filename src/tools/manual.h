/* SPDX-License-Identifier: MIT */
/* manual: docs/tools.md and a part of sidecar(1), written from the tables of the tools. */
#ifndef TOOLS_MANUAL_H
#define TOOLS_MANUAL_H

#include "base/buf.h"

/* Write docs/tools.md. */
void manual_write_markdown(struct buf *out);

/* Write the list of tools in sidecar(1). */
void manual_write_mdoc(struct buf *out);

#endif
