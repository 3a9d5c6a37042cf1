/* SPDX-License-Identifier: MIT */
/* setup: `sidecar setup`: write an agent's configuration so that it uses the sidecar, and with
 * --only nothing else. */
#ifndef SETUP_SETUP_H
#define SETUP_SETUP_H

#include "cli/verb.h"

extern const struct verb verb_setup;

#endif
