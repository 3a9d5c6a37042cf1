/* SPDX-License-Identifier: MIT */
/* mounts: arrange a fresh mount namespace for commands (exec/namespaces.h says how it looks). */
#ifndef SANDBOX_MOUNTS_H
#define SANDBOX_MOUNTS_H

#include "base/err.h"
#include "sandbox/sandbox.h"

int mounts_arrange(const struct sandbox_config *config, struct err *e);

#endif
