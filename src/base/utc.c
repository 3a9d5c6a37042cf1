/* SPDX-License-Identifier: MIT */
/* utc: the Gregorian calendar, counted in days. */

#include "base/utc.h"

enum {
	DAY = 24 * 60 * 60,
	DAYS_400_YEARS = 146097,
	DAYS_100_YEARS = 36524,
	DAYS_4_YEARS = 1461,
	DAYS_TO_1970 = 719468, /* since the first of March of the year 0 */
};

/* Division that rounds down, also below zero. */
static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

struct utc utc_of(int64_t seconds)
{
	const int64_t days = floor_div(seconds, DAY);
	const int64_t rest = seconds - days * DAY;
	/* Years begin in March here, so that the odd day is a year's last. */
	const int64_t era = floor_div(days + DAYS_TO_1970, DAYS_400_YEARS);
	const int64_t in_era = days + DAYS_TO_1970 - era * DAYS_400_YEARS;
	const int64_t leap_days = in_era / (DAYS_4_YEARS - 1) - in_era / DAYS_100_YEARS +
				  in_era / (DAYS_400_YEARS - 1);
	const int64_t year = (in_era - leap_days) / 365;
	const int64_t in_year = in_era - (year * 365 + year / 4 - year / 100);
	/* From March on, five months have 153 days, again and again. */
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

const char *utc_weekday_name(int weekday)
{
	static const char names[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

	return names[weekday];
}

const char *utc_month_name(int month)
{
	static const char names[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

	return names[month - 1];
}
