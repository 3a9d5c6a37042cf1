/* SPDX-License-Identifier: MIT */
/*
 * newlines: how long it takes to read a file and to count its newlines by memchr.
 *
 *	bench_newlines FILE
 *
 * Prints {"newlines":N,"us":N}.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	static char piece[64 << 10];
	const double start = now_us();
	const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int64_t count = 0;
	ssize_t n;

	if (fd < 0)
		err(1, "usage: bench_newlines FILE");
	while ((n = read(fd, piece, sizeof(piece))) > 0) {
		const char *at = piece, *const end = piece + n;
		while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
			count++;
			at++;
		}
	}
	(void)printf("{\"newlines\":%jd,\"us\":%.0f}\n", (intmax_t)count, now_us() - start);
	return 0;
}
