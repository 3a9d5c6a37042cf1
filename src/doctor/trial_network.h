/* SPDX-License-Identifier: MIT */
/* trial_network: can a command call somebody? */
#ifndef DOCTOR_TRIAL_NETWORK_H
#define DOCTOR_TRIAL_NETWORK_H

#include "doctor/prove.h"

enum verdict prove_network(struct proof *p);

/* A command could not be started at all. */
enum verdict prove_no_commands(struct proof *p, const struct sidecar_error *error);

#endif
