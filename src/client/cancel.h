/* SPDX-License-Identifier: MIT */
/*
 * cancel: struct sidecar_cancel of sidecar.h.
 */
#ifndef CLIENT_CANCEL_H
#define CLIENT_CANCEL_H

#include "base/cancel.h"

struct sidecar_cancel;

/* NULL of NULL. */
struct cancel *cancel_of(struct sidecar_cancel *cancel);

#endif
