/* SPDX-License-Identifier: MIT */
/*
 * bench/exec: what running a command costs, as ratios to the plain way in the same run.
 *
 *	sh -c true	posix_spawn and wait in this process, against proc_run, without and with
 *sandbox 1 GB of output	`sh -c '… | cat > /dev/null'` against a sink that counts
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "exec/keeper.h"
#include "exec/proc.h"
#include "exec/scratch.h"

enum { ROUNDS = 400, GIGABYTE = 1000000000 };

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void plain(const char *script)
{
	char sh[] = "/bin/sh", c[] = "-c", text[256];
	char *const argv[] = { sh, c, text, NULL };
	pid_t pid;

	(void)snprintf(text, sizeof(text), "%s", script);
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0)
		(void)waitpid(pid, NULL, 0);
}

static int count(void *arg, enum proc_stream stream, struct str piece)
{
	(void)stream;
	*(int64_t *)arg += (int64_t)piece.n;
	return 0;
}

static void through_spawner(struct spawner *s, int cwd, const char *script)
{
	const struct str argv[] = { STR("/bin/sh"), STR("-c"), str_of(script) };
	const struct proc_request q = { .argv = argv, .argc = 3, .cwd_fd = cwd, .umask = 022 };
	struct proc_result r;
	struct err e = { 0 };
	int64_t bytes = 0;
	const struct proc_sink sink = { count, &bytes };

	if (proc_run(s, &q, &sink, -1, &r, &e) < 0 || r.exit_code != 0) {
		(void)fprintf(stderr, "%s: exit %d %s\n", script, r.exit_code, e.msg);
		exit(1);
	}
}

static struct spawner *start(enum sandbox_mode mode, const char *scratch)
{
	static char workspace[4096];
	struct spawner *s;
	struct err e = { 0 };
	struct spawner_config config = { .sandbox = { .mode = mode,
						      .workspace =
							      getcwd(workspace, sizeof(workspace)),
						      .scratch = scratch } };

	if (spawner_new(&config, &s, &e) < 0) {
		(void)fprintf(stderr, "%s\n", e.msg);
		return NULL;
	}
	return s;
}

int main(int argc, char **argv)
{
	static double t[3][ROUNDS];
	char scratch[128];
	struct err e = { 0 };

	if (argc == 2 && strcmp(argv[1], KEEPER_VERB) == 0)
		return keeper_main(NULL);
	if (scratch_new(scratch, sizeof(scratch), &e) < 0)
		return 1;
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct spawner *off = start(SANDBOX_OFF, NULL);
	struct spawner *box = start(SANDBOX_WORKSPACE, scratch);
	if (!off || !box)
		return 1;
	/* In turn, so that noise hits all three alike. */
	for (int i = 0; i < ROUNDS; i++) {
		double at[4] = { now_us() };
		plain("true");
		at[1] = now_us();
		through_spawner(off, cwd, "true");
		at[2] = now_us();
		through_spawner(box, cwd, "true");
		at[3] = now_us();
		for (int k = 0; k < 3; k++)
			t[k][i] = at[k + 1] - at[k];
	}
	for (int k = 0; k < 3; k++)
		qsort(t[k], ROUNDS, sizeof(double), compare);
	const double base = t[0][ROUNDS / 2];
	(void)printf(
		"sh -c true: posix_spawn %.0f us, proc_run %.2fx, with sandbox %.2fx (%+.0f us)\n",
		base, t[1][ROUNDS / 2] / base, t[2][ROUNDS / 2] / base,
		t[2][ROUNDS / 2] - t[1][ROUNDS / 2]);

	double from = now_us();
	plain("head -c 1000000000 /dev/zero | cat > /dev/null");
	const double peer = now_us() - from;
	from = now_us();
	through_spawner(off, cwd, "head -c 1000000000 /dev/zero");
	const double ours = now_us() - from;
	(void)printf("1 GB of output: %.0f %% of the speed of cat > /dev/null\n",
		     100 * peer / ours);
	spawner_free(off);
	spawner_free(box);
	return 0;
}
