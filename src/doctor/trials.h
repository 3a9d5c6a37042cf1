/* SPDX-License-Identifier: MIT */
/*
 * trials: the attacks on a server.
 *
 * A trial does no harm even if the guard it tests is broken. It touches nothing but two directories
 * with random names (testdir.h): one in the server's workspace, and one outside, which the attacks
 * try to reach. If the server's files cannot be seen from here, because it runs on another machine
 * or in a container, a trial that needs to see them reports that it was not tried.
 */
#ifndef DOCTOR_TRIALS_H
#define DOCTOR_TRIALS_H

#include "doctor/report.h"
#include "doctor/testdir.h"
#include "sidecar.h"

/* The server that is attacked. */
struct target {
	struct sidecar *sidecar;
	struct testdir inside;	/* in the workspace; its fd is -1 if it cannot be seen from here */
	struct testdir outside; /* what must not be reached: "canary" is a file in it */
	char note[512];		/* the reason for the last verdict */

	/* What the server says about itself. */
	char workspace[PATH_MAX], data[PATH_MAX]; /* or "" */
	char sandbox[32], why[256];		  /* the mode in force, and why */
	char observed[16], unobserved[256];	  /* whose commands; if none are, why */
	bool allows_outside, read_only, scrubs, no_network;
	int64_t search_ms;
};

#define CANARY "the canary sings" /* the content of "canary" */

/* One attack: returns its verdict; the reason is in t->note. */
struct trial {
	const char *name;
	enum verdict (*run)(struct target *t);
};

extern const struct trial trials[]; /* ends with a NULL name */

/* The path of something inside, as the server knows it. */
enum { TARGET_PATH = 128 };
const char *target_path(const struct target *t, const char *name, char to[TARGET_PATH]);

#endif
