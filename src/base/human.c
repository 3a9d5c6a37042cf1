/* SPDX-License-Identifier: MIT */
/* human: sizes, counts and durations in words. */

#include "base/human.h"

#include <stdio.h>
#include <time.h>

#include "base/own.h"

const char *human_bytes(int64_t bytes, char room[HUMAN_SIZE])
{
	static const char *const units[] = { "KB", "MB", "GB", "TB", "PB", "EB" };
	double n = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1000) {
		(void)snprintf(room, HUMAN_SIZE, "%lld byte%s", (long long)bytes,
			       bytes == 1 ? "" : "s");
		return room;
	}
	/* What would be rounded to 1000 is 1 of the next unit. */
	for (; n >= 999.5 && unit + 1 < ARRAY_LEN(units); unit++)
		n /= 1024;
	(void)snprintf(room, HUMAN_SIZE, "%.*f %s", n < 9.95, n, units[unit]);
	return room;
}

const char *human_count(int64_t n, char room[HUMAN_SIZE])
{
	char digits[HUMAN_SIZE];
	int left = snprintf(digits, sizeof digits, "%lld", (long long)n), at = 0;

	for (int i = 0; left > 0; i++, left--) {
		room[at++] = digits[i];
		if (left % 3 == 1 && left > 1 && digits[i] != '-')
			room[at++] = ',';
	}
	room[at] = '\0';
	return room;
}

const char *human_ms(int64_t ms, char room[HUMAN_SIZE])
{
	const long long s = ms / 1000;

	if (ms < 9950)
		(void)snprintf(room, HUMAN_SIZE, "%.1f s", (double)ms / 1000);
	else if (s < 600)
		(void)snprintf(room, HUMAN_SIZE, "%lld s", (long long)(ms + 500) / 1000);
	else if (s < 7200)
		(void)snprintf(room, HUMAN_SIZE, "%lld min %lld s", s / 60, s % 60);
	else
		(void)snprintf(room, HUMAN_SIZE, "%lld h %lld min", s / 3600, s / 60 % 60);
	return room;
}

const char *human_took(int64_t ms, char room[HUMAN_SIZE])
{
	if (ms >= 1000)
		return human_ms(ms, room);
	(void)snprintf(room, HUMAN_SIZE, "%lld ms", (long long)ms);
	return room;
}

const char *human_when(int64_t seconds, char room[HUMAN_SIZE])
{
	const time_t t = (time_t)seconds;
	struct tm local;

	if (!localtime_r(&t, &local) || !strftime(room, HUMAN_SIZE, "%Y-%m-%d %H:%M:%S", &local))
		(void)snprintf(room, HUMAN_SIZE, "%-19s", "-");
	return room;
}
