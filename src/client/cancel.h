/* SPDX-License-Identifier: MIT */
/*
 * cancel: what stands behind struct sidecar_cancel of sidecar.h.
 */
#ifndef CLIENT_CANCEL_H
#define CLIENT_CANCEL_H

struct sidecar_cancel;

/* The descriptor that is readable from the moment it is cancelled; -1 of NULL. */
int cancel_fd(const struct sidecar_cancel *cancel);

#endif
