/* SPDX-License-Identifier: MIT */
/*
 * prove: do the guards hold, here, with these settings?
 *
 * A server is attacked through the client, as anybody could: the one that runs, in its real
 * configuration, or one of our own with the same settings, on a scratch directory in the workspace.
 * What is asked of it is what it says of itself (GET /health).
 *
 * A trial is harmless when the guard it tries is broken. All it touches are two directories with
 * random names (place.h): one in the server's workspace, and one outside, which is what the attacks
 * aim at. Both are removed in the end. Where the server's files cannot be seen from here, because
 * it is on another machine or in a container of its own, a trial that needs them says so.
 */
#ifndef DOCTOR_PROVE_H
#define DOCTOR_PROVE_H

#include <signal.h>

#include "config/config.h"
#include "doctor/place.h"
#include "doctor/report.h"
#include "sidecar.h"

/* Attack the server that runs. */
void prove_running(struct report *r, struct sidecar *s);

/* Attack one of our own; `flags` are those the settings were read from. */
void prove_settings(struct report *r, const struct config *c, int flag_count, char **flags);

/* Ctrl-C waits for the end of a trial, so that everything can be removed. The mask that was is in
 * *before. */
void prove_hold_signals(sigset_t *before);

/* A proof under way. */
struct proof {
	struct sidecar *sidecar;
	struct place inside;  /* in the workspace; its directory is -1 where it cannot be seen */
	struct place outside; /* what must not be reached: "canary" is a file in it */
	char note[512];	      /* the reason of the last verdict */

	/* What the server says of itself. */
	char workspace[PATH_MAX], data[PATH_MAX]; /* "": none */
	char sandbox[32], why[256];		  /* the mode in force, and why */
	bool boundless, read_only, scrubs, no_network;
	int64_t search_ms;
};

/* One trial: its verdict; the reason is in p->note. */
struct trial {
	const char *name;
	enum verdict (*run)(struct proof *p);
};

/* NULL behind the last name. */
extern const struct trial prove_files[], prove_commands[];

/* Give the reason; returns the verdict. */
enum verdict prove_say(struct proof *p, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "not tried: …", which is neither good nor bad, but should be looked at. */
enum verdict prove_not_tried(struct proof *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Can we see the workspace? If not, p->note says so. */
bool prove_sees(struct proof *p);

/* The path of something inside, as the server knows it. */
enum { PROVE_PATH = 128 };
const char *prove_path(const struct proof *p, const char *name, char to[PROVE_PATH]);

/* Have a file inside: made here, or by the server when we cannot see the workspace. False: it
 * cannot be had, and p->note says why. */
bool prove_put(struct proof *p, const char *name, const char *content);

/* Was anything done to the directory outside? Then it is undone. */
bool prove_touched(const struct proof *p);

#define PROVE_CANARY "the canary sings"

#endif
