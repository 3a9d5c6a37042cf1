/* SPDX-License-Identifier: MIT */
/*
 * human: numbers as people and models read them.
 *
 * Each function writes into the caller's room and returns it, so that it can stand among the
 * arguments of a printf.
 */
#ifndef BASE_HUMAN_H
#define BASE_HUMAN_H

#include <stdint.h>

enum { HUMAN_SIZE = 32 };

/* "0 bytes", "999 bytes", "3.1 KB", "151 KB", "2.0 GB": at most three digits. A KB is
 * 1024 bytes, as in the settings: 256M are "256 MB". */
const char *human_bytes(int64_t bytes, char room[HUMAN_SIZE]);

/* "48,200" */
const char *human_count(int64_t n, char room[HUMAN_SIZE]);

/* "0.8 s", "120 s", "12 min 5 s", "3 h 20 min" */
const char *human_ms(int64_t ms, char room[HUMAN_SIZE]);

/* A time in seconds since 1970, by the clock of this machine's zone: "2026-05-04 09:13:02". */
const char *human_when(int64_t seconds, char room[HUMAN_SIZE]);
enum { HUMAN_CLOCK = sizeof "2026-05-04 " - 1 }; /* where the time of day begins */

/* How long something took: "0 ms", "840 ms", "8.1 s" … */
const char *human_took(int64_t ms, char room[HUMAN_SIZE]);

#endif
