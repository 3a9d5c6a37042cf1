/* SPDX-License-Identifier: MIT */
/* checks: what this machine offers, and whether the configuration can work on it. */
#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H

#include "config/config.h"
#include "doctor/report.h"

/* openat2, Landlock, seccomp, user namespaces, cgroups, limits. */
void check_kernel(struct report *r, const struct config *c);

/* The settings as a whole, the workspace, the socket, the token. */
void check_setup(struct report *r, const struct config *c);

/* Only the socket and the token, for a server that runs already. */
void check_client(struct report *r, const struct config *c);

#endif
