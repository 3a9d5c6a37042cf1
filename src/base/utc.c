/* SPDX-License-Identifier: MIT */
/* utc: the Gregorian calendar, counted in days. */

#include "base/utc.h"

#include <string.h>

enum {
	DAY = 24 * 60 * 60,
	DAYS_400_YEARS = 146097,
	DAYS_100_YEARS = 36524,
	DAYS_4_YEARS = 1461,
	DAYS_TO_1970 = 719468, /* since the first of March of the year 0 */
};

/* Division that rounds down, even below zero. */
static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

struct utc utc_of(int64_t seconds)
{
	const int64_t days = floor_div(seconds, DAY);
	const int64_t rest = seconds - days * DAY;
	/* Years begin in March here, so that a leap day is the last day of its year. */
	const int64_t era = floor_div(days + DAYS_TO_1970, DAYS_400_YEARS);
	const int64_t in_era = days + DAYS_TO_1970 - era * DAYS_400_YEARS;
	const int64_t leap_days = in_era / (DAYS_4_YEARS - 1) - in_era / DAYS_100_YEARS +
				  in_era / (DAYS_400_YEARS - 1);
	const int64_t year = (in_era - leap_days) / 365;
	const int64_t in_year = in_era - (year * 365 + year / 4 - year / 100);
	/* Counted from March, every five months have 153 days. */
	const int64_t month = (5 * in_year + 2) / 153;

	return (struct utc){
		.year = era * 400 + year + (month >= 10),
		.month = (int)(month < 10 ? month + 3 : month - 9),
		.day = (int)(in_year - (153 * month + 2) / 5 + 1),
		.weekday = (int)(days + 4 - floor_div(days + 4, 7) * 7),
		.hour = (int)(rest / 3600),
		.minute = (int)(rest / 60 % 60),
		.second = (int)(rest % 60),
	};
}

/* Every answer and every log line has a time: with snprintf it would be a tenth of their cost. */
static void put_digits(char *to, int64_t value, int count)
{
	for (to += count; count > 0; count--, value /= 10)
		*--to = (char)('0' + value % 10);
}

static void put_clock(char to[8], const struct utc *t)
{
	put_digits(to, t->hour, 2);
	put_digits(to + 3, t->minute, 2);
	put_digits(to + 6, t->second, 2);
}

struct str utc_http(int64_t seconds, char out[UTC_TEXT])
{
	static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	static const char form[] = "day, 00 mon 0000 00:00:00 GMT";
	const struct utc t = utc_of(seconds);

	memcpy(out, form, sizeof form);
	memcpy(out, days[t.weekday], 3);
	put_digits(out + 5, t.day, 2);
	memcpy(out + 8, months[t.month - 1], 3);
	put_digits(out + 12, t.year, 4);
	put_clock(out + 17, &t);
	return (struct str){ out, sizeof form - 1 };
}

struct str utc_iso(int64_t seconds, int ms, char out[UTC_TEXT])
{
	static const char form[] = "0000-00-00T00:00:00.000Z";
	const struct utc t = utc_of(seconds);

	memcpy(out, form, sizeof form);
	put_digits(out, t.year, 4);
	put_digits(out + 5, t.month, 2);
	put_digits(out + 8, t.day, 2);
	put_clock(out + 11, &t);
	put_digits(out + 20, ms, 3);
	return (struct str){ out, sizeof form - 1 };
}

/* The number at that place; -1 if it is none. */
static int64_t digits(struct str text, size_t at, size_t count)
{
	int64_t n;

	return text.n >= at + count && str_int(str_upto(str_from(text, at), count), &n) && n >= 0
		       ? n
		       : -1;
}

bool utc_seconds(struct str iso, int64_t *ret)
{
	const int64_t year = digits(iso, 0, 4), month = digits(iso, 5, 2), day = digits(iso, 8, 2);
	const int64_t hour = digits(iso, 11, 2), minute = digits(iso, 14, 2);
	const int64_t second = digits(iso, 17, 2);

	if (year < 0 || month < 1 || month > 12 || day < 1 || hour < 0 || minute < 0 || second < 0)
		return false;
	/* As above, from March on. */
	const int64_t y = year - (month < 3), m = month < 3 ? month + 9 : month - 3;
	const int64_t days = y * 365 + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) +
			     (153 * m + 2) / 5 + day - 1 - DAYS_TO_1970;
	*ret = days * DAY + hour * 3600 + minute * 60 + second;
	return true;
}
