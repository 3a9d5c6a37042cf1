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

struct utc {
	int64_t year;
	int month, day;		  /* from 1 */
	int weekday;		  /* 0: Sunday */
	int hour, minute, second; /* from 0 */
};

/* The moment so many seconds after 1970 began; before it when negative. */
struct utc utc_of(int64_t seconds);

/* "Sun", "Jan": as HTTP and e-mail abbreviate them. */
const char *utc_weekday_name(int weekday);
const char *utc_month_name(int month);

#endif
