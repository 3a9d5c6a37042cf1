/* SPDX-License-Identifier: MIT */
/* limits: every number that limits the doctor's trials, with its reason. */
#ifndef DOCTOR_LIMITS_H
#define DOCTOR_LIMITS_H

enum {
	/* Doctor: how long links are swapped under an open; how long its own server may take to
	 * start, and how often it is looked whether it has ended; how long something that must
	 * disappear may take; how long an attacked server may be silent, which is longer than a
	 * search may take by default. */
	LIMIT_PROVE_RACE_MS = 1000,
	LIMIT_PROVE_START_MS = 15000,
	LIMIT_PROVE_LOOK_MS = 200,
	LIMIT_PROVE_GONE_MS = 3000,
	LIMIT_PROVE_SILENCE_MS = 60000,
};

#endif
