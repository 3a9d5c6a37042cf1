/* SPDX-License-Identifier: MIT */
/*
 * paths: what containment costs: opening and closing a file five components below the root, by
 * plain openat, by openat2 beneath the root, and by the walk. The path rules are part of the latter
 * two.
 *
 *	meson setup build && ninja -C build bench_paths && build/bench_paths
 *
 * The three take turns in short rounds, so that noise of the machine meets all alike; the ratio is
 * that of the medians. Wanted: openat2 at most 1.25 times, the walk at most 5 times plain openat.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "workspace/workspace.h"

enum { ROUNDS = 101, TURNS = 2000, WAYS = 3 };

static const char name[] = "one/two/three/four/file.txt";

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_openat(int root)
{
	const int fd = openat(root, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -1 : close(fd);
}

static int by_workspace(const struct workspace *ws)
{
	struct path p;
	struct err e;

	if (ws_resolve(ws, STR("one/two/three/four/file.txt"), PATH_STRICT, &p, &e) < 0)
		return -1;
	const int fd = ws_open(ws, &p, O_RDONLY, &e);
	return fd < 0 ? -1 : close(fd);
}

static double round_of(int way, int root, struct workspace *const *ws)
{
	const double start = now();

	for (int i = 0; i < TURNS; i++)
		if ((way == 0 ? by_openat(root) : by_workspace(ws[way])) < 0)
			exit(1);
	return (now() - start) / TURNS * 1e9;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void make_tree(const char *root)
{
	static const char *const dirs[] = { "one", "one/two", "one/two/three",
					    "one/two/three/four" };
	AUTO_FD fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (mkdirat(fd, dirs[i], 0755) < 0)
			exit(1);
	AUTO_FD file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (file < 0)
		exit(1);
}

static void remove_tree(const char *root)
{
	AUTO_FD fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)unlinkat(fd, name, 0);
	(void)unlinkat(fd, "one/two/three/four", AT_REMOVEDIR);
	(void)unlinkat(fd, "one/two/three", AT_REMOVEDIR);
	(void)unlinkat(fd, "one/two", AT_REMOVEDIR);
	(void)unlinkat(fd, "one", AT_REMOVEDIR);
	(void)rmdir(root);
}

int main(void)
{
	static const char *const ways[WAYS] = { "openat", "openat2 beneath", "walk" };
	static double times[WAYS][ROUNDS];
	char root[] = "/tmp/sidecar-bench-XXXXXX";
	struct workspace *ws[WAYS] = { NULL };
	struct err e;

	if (!mkdtemp(root))
		return 1;
	make_tree(root);
	for (int way = 1; way < WAYS; way++) {
		const struct ws_options o = { .root = root, .walk_only = way == 2 };
		if (ws_new(&o, &ws[way], &e) < 0)
			return 1;
	}
	if (!ws_uses_openat2(ws[1]))
		printf("this kernel has no openat2: both are the walk\n");
	AUTO_FD fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < ROUNDS; i++)
		for (int way = 0; way < WAYS; way++)
			times[way][i] = round_of(way, fd, ws);
	for (int way = 0; way < WAYS; way++) {
		qsort(times[way], ROUNDS, sizeof times[way][0], by_value);
		printf("%-16s %7.0f ns  %.2f\n", ways[way], times[way][ROUNDS / 2],
		       times[way][ROUNDS / 2] / times[0][ROUNDS / 2]);
		ws_free(ws[way]);
	}
	remove_tree(root);
	return 0;
}
