/* SPDX-License-Identifier: MIT */
/*
 * bench_screen: what the clean-up of a command's output costs, beside the pipe it comes through.
 *
 *	bench_screen [MEGABYTES]
 *
 * Each kind of output comes from a child through a pipe, in reads of 64 KB: "pipe" only reads,
 * "cleaned" feeds each read to a screen. "screen" is the clean-up alone, of text in memory. The
 * best of nine runs counts. "held" is the memory of the line that a screen holds.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "exec/limits.h"
#include "tools/limits.h"
#include "tools/screen.h"

enum { RUNS = 9 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void plain(struct buf *b, unsigned i)
{
	buf_addf(b, "%08u src/module/file_%u.c: a line of ordinary output of a build or a test\n",
		 i, i);
}

static void progress(struct buf *b, unsigned i)
{
	static const char hashes[] = "##################################################";

	buf_addf(b, "\r[%-50.*s] %3u%% %u/1000 files, eta 00:%02u", (int)(i % 51), hashes, i % 101,
		 i, i % 60);
	if (i % 1000 == 0)
		buf_addc(b, '\n');
}

static void blocks(struct buf *b, unsigned i)
{
	buf_addf(b, "\r%3u%%|", i % 101);
	for (unsigned k = 0; k < 40; k++)
		buf_add(b, k < i / 20 % 41 ? STR("\xe2\x96\x88") : STR(" "));
	buf_addf(b, "| %u/1000 [00:%02u<00:%02u, 4.2it/s]", i, i % 60, 59 - i % 60);
	if (i % 1000 == 0)
		buf_addc(b, '\n');
}

static void colours(struct buf *b, unsigned i)
{
	buf_addf(b,
		 "\x1b[1msrc/a.c:%u:9:\x1b[0m \x1b[1;31merror: \x1b[0munknown name "
		 "\x1b[1mx%u\x1b[0m\n"
		 "\x1b[32m  ok\x1b[39m \x1b[2mtests/unit/test_%u.js\x1b[22m (%u ms)\n",
		 i, i, i, i % 99);
}

static void crlf(struct buf *b, unsigned i)
{
	buf_addf(b, "%08u a line that ends as lines do in files of Windows\r\n", i);
}

static const struct {
	const char *name;
	void (*add)(struct buf *b, unsigned i);
} kinds[] = {
	{ "plain lines", plain }, { "\\r progress", progress }, { "\\r blocks", blocks },
	{ "colours", colours },	  { "\\r\\n", crlf },
};

/* A pipe into which a child writes the text. */
static int begin(struct str text, pid_t *child)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		err(1, "pipe");
	(void)fcntl(ends[0], F_SETPIPE_SZ, LIMIT_OUTPUT_PIPE);
	*child = fork();
	if (*child < 0)
		err(1, "fork");
	if (*child == 0) {
		while (text.n) {
			const ssize_t n = write(ends[1], text.p, text.n);
			if (n < 0)
				_exit(1);
			text = str_from(text, (size_t)n);
		}
		_exit(0);
	}
	(void)close(ends[1]);
	return ends[0];
}

static double through_pipe(struct str text, struct screen *s, struct buf *aside)
{
	static char piece[LIMIT_OUTPUT_CHUNK];
	const double start = now();
	pid_t child;
	ssize_t n;

	AUTO_FD fd = begin(text, &child);
	while ((n = read(fd, piece, sizeof piece)) > 0)
		if (s)
			(void)screen_feed(s, (struct str){ piece, (size_t)n }, aside);
	if (s)
		(void)screen_end(s, aside);
	const double took = now() - start;
	(void)waitpid(child, NULL, 0);
	return took;
}

static double in_memory(struct str text, struct screen *s, struct buf *aside)
{
	const double start = now();

	for (; text.n; text = str_from(text, LIMIT_OUTPUT_CHUNK))
		(void)screen_feed(s, str_upto(text, LIMIT_OUTPUT_CHUNK), aside);
	(void)screen_end(s, aside);
	return now() - start;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void report(const char *name, struct str text)
{
	AUTO_BUF aside = { .max = LIMIT_SCREEN_ASIDE };
	double pipe = 1e9, cleaned = 1e9, screen = 1e9;
	size_t held = 0;

	for (int i = 0; i < RUNS; i++) {
		CLEANUP(screen_done) struct screen s = { 0 };
		pipe = least(pipe, through_pipe(text, NULL, NULL));
		cleaned = least(cleaned, through_pipe(text, &s, &aside));
		screen = least(screen, in_memory(text, &s, &aside));
		held = s.line.cap;
	}
	const double gb = (double)text.n / 1e9;
	printf("%-12s %9.2f %9.2f %9.2f %8.2fx %8zu\n", name, gb / pipe, gb / cleaned, gb / screen,
	       cleaned / pipe, held);
}

int main(int argc, char **argv)
{
	const size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 10) * 1000000;

	printf("%-12s %9s %9s %9s %9s %8s\n", "GB/s", "pipe", "cleaned", "screen", "time", "held");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		AUTO_BUF text = { .max = size + 4096 };
		for (unsigned k = 1; text.n < size; k++)
			kinds[i].add(&text, k);
		if (text.failed)
			errx(1, "not enough memory");
		report(kinds[i].name, buf_str(&text));
	}
	return 0;
}
