/* SPDX-License-Identifier: MIT */
/*
 * utc: a moment as people write it, in the one time zone that needs no tables.
 *
 * The C library's gmtime_r takes a lock that all threads share, may read files, and brings a
 * fifteenth of the static program's size with it.
 */
#ifndef BASE_UTC_H
#define BASE_UTC_H

#include <stdint.h>

#include "base/str.h"

enum { UTC_TEXT = 32 };

struct utc {
	int64_t year;
	int month, day;		  /* from 1 */
	int weekday;		  /* 0: Sunday */
	int hour, minute, second; /* from 0 */
};

/* The moment so many seconds after 1970 began; before it when negative. */
struct utc utc_of(int64_t seconds);

/* As HTTP writes a moment: "Sun, 06 Nov 1994 08:49:37 GMT". */
struct str utc_http(int64_t seconds, char out[UTC_TEXT]);

/* As logs write it: "1994-11-06T08:49:37.123Z". */
struct str utc_iso(int64_t seconds, int ms, char out[UTC_TEXT]);

#endif
