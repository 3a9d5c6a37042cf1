/* SPDX-License-Identifier: MIT */
/* mounts: arrange a fresh mount namespace for commands (exec/namespaces.h says how it looks). */
#ifndef EXEC_MOUNTS_H
#define EXEC_MOUNTS_H

#include "base/err.h"
#include "exec/sandbox.h"

int mounts_arrange(const struct sandbox_config *config, struct err *e);

#endif
