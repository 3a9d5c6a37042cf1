/* SPDX-License-Identifier: MIT */
/*
 * prove: attack a server to see whether its guards hold.
 *
 * The server is attacked through the client library, as any client could: a server that runs, in
 * its real configuration, or a temporary one with the same settings, on a scratch directory in the
 * workspace. The guards that must hold are those the server says it has (GET /health).
 */
#ifndef DOCTOR_PROVE_H
#define DOCTOR_PROVE_H

#include "config/config.h"
#include "doctor/report.h"
#include "sidecar.h"

/* Attack a server that runs. */
void prove_running(struct report *r, struct sidecar *s);

/* Start a server with these settings, attack it and end it. `flags` are the flags of the command
 * line from which the settings were read. */
void prove_settings(struct report *r, const struct config *c, int flag_count, char **flags);

#endif
