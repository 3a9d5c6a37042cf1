/* SPDX-License-Identifier: MIT */
/*
 * bench/walk: finding and searching in process, against the processes fd and rg.
 *
 *	walk TREE [rounds]
 *
 * Both sides search the same tree in turn, with the same rules (hidden files included, ignore files
 * respected) and two threads; it prints the medians and their ratio. The output of the processes
 * goes to /dev/null, where it costs them least.
 */

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "search/glob.h"
#include "search/grep.h"

extern char **environ;

enum { ROUNDS_MAX = 99 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_value);
	return v[n / 2];
}

static void run_process(const char *const argv[])
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ) != 0) {
		printf("SKIP: %s is not installed\n", argv[0]);
		exit(77);
	}
	waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
}

struct task {
	const char *title;
	const char *glob;    /* find this … */
	const char *pattern; /* … or grep this */
	size_t limit;
	const char *peer[16];
};

static size_t run_ours(int dirfd, const struct task *t)
{
	AUTO_FOUND found = { 0 };
	struct err e = { 0 };
	const struct walk_request where = {
		.dirfd = dirfd,
		.threads = 2,
		.deadline_ms = IO_FOREVER,
		.limit = t->limit,
	};
	int status;

	if (t->pattern) {
		const struct grep_request r = {
			.where = where,
			.file_fd = -1,
			.pattern = str_of(t->pattern),
			.options = { .literal = true },
		};
		status = grep_run(&r, &found, &e);
	} else {
		const struct find_request r = { .where = where, .pattern = str_of(t->glob) };
		status = find_run(&r, &found, &e);
	}
	if (status < 0) {
		fprintf(stderr, "%s: %s\n", t->title, e.msg);
		exit(1);
	}
	return found.hits.count;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	char *tree = argv[1];
	const int rounds = argc > 2 ? atoi(argv[2]) : 7;
	const int dirfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct task tasks[] = {
		{ "find everything",
		  "*",
		  NULL,
		  0,
		  { "fdfind", "-H", "-j2", "--glob", "*", tree, NULL } },
		{ "find *.c",
		  "*.c",
		  NULL,
		  0,
		  { "fdfind", "-H", "-j2", "--glob", "*.c", tree, NULL } },
		{ "find rare",
		  "kbuild",
		  NULL,
		  0,
		  { "fdfind", "-H", "-j2", "--glob", "kbuild", tree, NULL } },
		{ "find limit 100",
		  "*.c",
		  NULL,
		  100,
		  { "fdfind", "-H", "-j2", "--max-results=100", "--glob", "*.c", tree, NULL } },
		{ "grep rare literal",
		  NULL,
		  "schedule_timeout_killable",
		  0,
		  { "rg", "--hidden", "-j2", "-nF", "schedule_timeout_killable", tree, NULL } },
		{ "grep no match",
		  NULL,
		  "zqxjkvbpzqxjkvbp",
		  0,
		  { "rg", "--hidden", "-j2", "-nF", "zqxjkvbpzqxjkvbp", tree, NULL } },
		{ "grep common literal",
		  NULL,
		  "kmalloc",
		  0,
		  { "rg", "--hidden", "-j2", "-nF", "kmalloc", tree, NULL } },
		{ "grep limit 100",
		  NULL,
		  "kmalloc",
		  100,
		  { "rg", "--hidden", "-j2", "-nF", "kmalloc", tree, NULL } },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dirfd < 0 || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
		double ours[ROUNDS_MAX], theirs[ROUNDS_MAX];
		size_t hits = 0;

		for (int k = 0; k < rounds; k++) {
			const double start = now();
			hits = run_ours(dirfd, &tasks[i]);
			const double middle = now();
			run_process(tasks[i].peer);
			ours[k] = middle - start;
			theirs[k] = now() - middle;
		}
		const double a = median(ours, rounds), b = median(theirs, rounds);
		printf("%-22s %8.1f ms  %s %8.1f ms  ratio %.2f  (%zu hits)\n", tasks[i].title, a,
		       tasks[i].peer[0], b, a / b, hits);
	}
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("largest resident size: %ld KB\n", usage.ru_maxrss);
	return 0;
}
