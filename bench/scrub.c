/* SPDX-License-Identifier: MIT */
/*
 * bench_scrub: what scrubbing costs, next to copying the same text and to writing it as JSON.
 *
 *	find src -name '*.[ch]' | xargs cat > corpus
 *	bench_scrub corpus…
 *
 * The file comes in pieces of 64 KB, as the output of commands does; the best of seven runs counts.
 * "text" is scrub_text on each piece, "stream" one scrubber over all.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/jw.h"
#include "base/own.h"
#include "scrub/scrub.h"

enum { PIECE = 64 << 10, RUNS = 7, COPY, ESCAPE, TEXT, STREAM, WAYS };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double run(int way, const struct scrub *rules, struct scrub_counts *counts, struct str text)
{
	CLEANUP(scrubber_done) struct scrubber s = { .rules = rules, .counts = counts };
	static struct buf out = { .max = 8 * PIECE };
	const double start = now();

	for (; text.n; text = str_from(text, PIECE)) {
		const struct str piece = str_upto(text, PIECE);
		buf_reset(&out, out.max);
		if (way == COPY)
			buf_add(&out, piece);
		else if (way == ESCAPE)
			jw_escape(&out, piece);
		else if (way == TEXT)
			(void)scrub_text(rules, counts, piece, &out);
		else
			scrubber_feed(&s, piece, &out);
	}
	scrubber_end(&s, &out);
	return now() - start;
}

static void report(const char *name, const struct scrub *rules)
{
	AUTO_BUF text = { .max = (size_t)1 << 30 };
	struct scrub_counts counts = { 0 };
	double best[WAYS];
	struct stat st;
	uint64_t hits = 0;

	AUTO_FD fd = open(name, O_RDONLY | O_CLOEXEC);
	char *room = fd >= 0 && fstat(fd, &st) == 0 ? buf_room(&text, (size_t)st.st_size) : NULL;
	if (!room) {
		fprintf(stderr, "%s cannot be read\n", name);
		return;
	}
	buf_filled(&text, (size_t)io_read_full(fd, room, (size_t)st.st_size));
	for (int way = COPY; way < WAYS; way++) {
		best[way] = 1e9;
		for (int i = 0; i < RUNS; i++) {
			const double t = run(way, rules, &counts, buf_str(&text));
			best[way] = t < best[way] ? t : best[way];
		}
	}
	for (int k = 0; k < SCRUB_KIND_COUNT; k++)
		hits += counts.of[k];
	const double mb = (double)text.n / 1e6;
	printf("%8.1f %8.2f %8.2f %8.2f %8.2f %11.2f %13.2f %8.3f  %s\n", mb, mb / best[COPY] / 1e3,
	       mb / best[ESCAPE] / 1e3, mb / best[TEXT] / 1e3, mb / best[STREAM] / 1e3,
	       best[STREAM] / best[COPY], best[STREAM] / best[ESCAPE],
	       (double)hits / (2 * RUNS) / mb, name);
}

int main(int argc, char **argv)
{
	const struct scrub_options o = { 0 };
	struct scrub *rules = NULL;
	struct err e = { 0 };

	if (scrub_new(&o, &rules, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	printf("%8s %8s %8s %8s %8s %11s %13s %8s\n", "MB", "copy", "escape", "text", "stream GB/s",
	       "to copy", "to escape", "hits/MB");
	for (int i = 1; i < argc; i++)
		report(argv[i], rules);
	scrub_free(rules);
	return 0;
}
