/* SPDX-License-Identifier: MIT */
/*
 * truncation: the members of what text_write_truncation (workspace/text.h) writes.
 */
#ifndef TOOLS_TRUNCATION_H
#define TOOLS_TRUNCATION_H

#include "tools/tool.h"

extern const struct field truncation_fields[];

#endif
