/* SPDX-License-Identifier: MIT */
/*
 * bench_regex: the pattern engine over one large file, against ripgrep on one thread.
 *
 *	find src -name '*.[ch]' | xargs cat > corpus
 *	bench_regex corpus [rg]
 *
 * Our time is that of searching the file in memory plus that of reading it in pieces of 64 KB,
 * because rg reads, too. The best of three runs counts; the number of matching lines must be the
 * same.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "regex/regex.h"

static const char *const patterns[] = {
	"xyzzy_plugh_frobnicate",
	"mutex_lock",
	"return",
	"(?i)mutex_lock",
	"EINVAL|ENOMEM|EBUSY|EAGAIN|ENODEV",
	"\\bskb\\b",
	"\\w+_init\\(",
	"[A-Z]{5,}_[0-9]{3}",
	"[\\w.+-]+@[\\w-]+\\.[\\w.-]+",
	"^static\\s+int\\s+\\w+\\(",
	"(?:ab|cd|ef){2}",
	("mutex|spinlock|semaphore|completion|workqueue|tasklet|kthread|timer|hrtimer|rcu|seqlock|"
	 "atomic|barrier|preempt|softirq|hardirq|irqsave|lockdep|futex|waitqueue"),
	"^\\s*$",
	"\\b\\w{3}\\b\\s\\d",
	"[^a-z]x[^a-z]",
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double ours(const char *pattern, struct str text, int64_t *lines)
{
	const struct regex_options o = { 0 };
	const struct regex_budget budget = { .deadline_ms = IO_FOREVER };
	struct regex_match m;
	struct regex *re = NULL;
	struct err e = { 0 };
	const double start = now();
	size_t from = 0;

	*lines = 0;
	if (regex_new(str_of(pattern), &o, &re, &e) < 0) {
		fprintf(stderr, "%s: %s\n", pattern, e.msg);
		exit(1);
	}
	struct regex_cache *c = regex_cache_new(re);

	while (regex_next(re, c, text, from, &budget, &m, &e) > 0) {
		++*lines;
		from = m.line_end + 1;
	}
	regex_cache_free(c);
	regex_free(re);
	return now() - start;
}

static double reading(const char *file)
{
	static char piece[64 << 10];
	const double start = now();
	const int fd = open(file, O_RDONLY | O_CLOEXEC);

	while (read(fd, piece, sizeof(piece)) > 0)
		continue;
	close(fd);
	return now() - start;
}

static double theirs(const char *rg, const char *pattern, const char *file, int64_t *lines)
{
	AUTO_BUF command = { .max = 8192 };
	const double start = now();
	char answer[64] = "0";

	buf_addf(&command, "'%s' -c -a -j1 --no-mmap --no-config -e '%s' '%s'", rg, pattern, file);
	buf_addc(&command, 0);

	FILE *f = popen(command.p, "r");

	if (f && !fgets(answer, sizeof(answer), f))
		strcpy(answer, "0");
	if (f)
		pclose(f);
	*lines = atoll(answer);
	return now() - start;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

int main(int argc, char **argv)
{
	AUTO_BUF text = { .max = (size_t)1 << 30 };
	const char *rg = argc > 2 ? argv[2] : "rg";
	struct stat st;

	AUTO_FD fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	char *room = fd >= 0 && fstat(fd, &st) == 0 ? buf_room(&text, (size_t)st.st_size) : NULL;

	if (!room) {
		fprintf(stderr, "usage: bench_regex corpus [rg]\n");
		return 1;
	}
	buf_filled(&text, (size_t)io_read_full(fd, room, (size_t)st.st_size));
	printf("%10s %8s %8s %8s %6s  %s\n", "lines", "ours ms", "read", "rg ms", "ratio",
	       "pattern");
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		double a = 1e9, b = 1e9, r = 1e9;
		int64_t mine, other;

		for (int k = 0; k < 3; k++) {
			a = least(a, ours(patterns[i], buf_str(&text), &mine));
			r = least(r, reading(argv[1]));
			b = least(b, theirs(rg, patterns[i], argv[1], &other));
		}
		printf("%10" PRId64 " %8.1f %8.1f %8.1f %6.2f  %.50s%s\n", mine, a, r, b,
		       (a + r) / b, patterns[i], mine == other ? "" : "  DIFFERENT COUNT");
		fflush(stdout);
	}
	return 0;
}
