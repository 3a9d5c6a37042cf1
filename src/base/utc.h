/* SPDX-License-Identifier: MIT */
/*
 * utc: dates and times in UTC, the one time zone that needs no tables.
 *
 * The C library's gmtime_r takes a lock that all threads share, may read files, and makes up a
 * fifteenth of the static program's size.
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

/* The date and time that many seconds after the start of 1970, or before it if negative. */
struct utc utc_of(int64_t seconds);

/* As HTTP writes it: "Sun, 06 Nov 1994 08:49:37 GMT". */
struct str utc_http(int64_t seconds, char out[UTC_TEXT]);

/* As logs write it: "1994-11-06T08:49:37.123Z". */
struct str utc_iso(int64_t seconds, int ms, char out[UTC_TEXT]);

/* The seconds of such a text, without its fraction; false if it is none. */
bool utc_seconds(struct str iso, int64_t *ret);

#endif
