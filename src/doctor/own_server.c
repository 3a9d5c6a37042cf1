/* SPDX-License-Identifier: MIT */
/* own_server: a server with the settings in question, to be attacked and ended. */

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "doctor/prove.h"

enum { MOST_FLAGS = 128 };

struct own {
	const struct config *config;
	int flag_count;
	char **flags; /* those the config was read from */
};

/* Runs this program with other signals blocked than we have. */
static pid_t spawn(const char *const *argv, const sigset_t *mask)
{
	posix_spawnattr_t how;
	pid_t pid = -1;

	if (posix_spawnattr_init(&how) != 0)
		return -1;
	(void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&how, mask);
	/* posix_spawn changes nothing behind the pointers, whatever its prototype says. */
	if (posix_spawn(&pid, "/proc/self/exe", NULL, &how, (char *const *)(uintptr_t)argv,
			environ) != 0)
		pid = -1;
	(void)posix_spawnattr_destroy(&how);
	return pid;
}

/* The same flags, and behind them what must differ. */
static pid_t start(const struct own *o, const char *root, const char *at, const sigset_t *mask)
{
	char workspace[PATH_MAX + 32], socket[PATH_MAX + 32];
	const char *argv[MOST_FLAGS + 8] = { "sidecar", "serve" };
	int n = 2;

	(void)snprintf(workspace, sizeof workspace, "--workspace=%s", root);
	(void)snprintf(socket, sizeof socket, "--socket=%s", at);
	for (int i = 0; i < o->flag_count && i < MOST_FLAGS; i++)
		argv[n++] = o->flags[i];
	argv[n++] = workspace;
	argv[n++] = socket;
	argv[n++] = "--log-level=error";
	/* The configured address may be taken, by the server in question for one. */
	if (o->config->tcp_host)
		argv[n++] = "--tcp=127.0.0.1:0";
	argv[n] = NULL;
	return spawn(argv, mask);
}

static void attack(struct report *r, const struct config *c, const char *at)
{
	struct sidecar_error error;
	const struct sidecar_settings settings = {
		.socket_path = at,
		.token = c->token,
		.session = "doctor",
		.wait_for_ready_ms = LIMIT_PROVE_START_MS,
		.timeout_ms = LIMIT_PROVE_SILENCE_MS,
	};
	struct sidecar *s = sidecar_open(&settings, &error);

	if (s && sidecar_ensure_ready(s, &error) == 0)
		prove_running(r, s);
	else
		report_add(r, FOUND_FAIL, "a server to attack",
			   "does not start with these settings: %s", error.message);
	sidecar_close(s);
}

/* Nobody else has business in there. */
static int make_private(struct place *p, const char *parent)
{
	return place_make(p, parent) == 0 && fchmod(p->dir, 0700) == 0 ? 0 : -1;
}

static void run(struct report *r, const struct own *o, const struct place *scratch,
		const struct place *root, const sigset_t *mask)
{
	char at[PATH_MAX + 16];

	(void)snprintf(at, sizeof at, "%s/s.sock", scratch->path);
	const pid_t server = start(o, root->path, at, mask);
	if (server < 0) {
		report_add(r, FOUND_FAIL, "a server to attack", "cannot be started");
		return;
	}
	attack(r, o->config, at);
	(void)kill(server, SIGTERM);
	(void)waitpid(server, NULL, 0);
}

void prove_settings(struct report *r, const struct config *c, int flag_count, char **flags)
{
	const struct own own = { c, flag_count, flags };
	const char *set = getenv("TMPDIR"), *tmp = set && *set == '/' ? set : "/tmp";
	struct place scratch, root = { .dir = -1 };
	sigset_t before;

	prove_hold_signals(&before);
	if (make_private(&scratch, tmp) < 0 ||
	    ((c->read_only || make_private(&root, c->workspace) < 0) &&
	     make_private(&root, tmp) < 0))
		report_add(r, FOUND_FAIL, "a place for trials", "cannot be made: %s",
			   strerror(errno));
	else
		run(r, &own, &scratch, &root, &before);
	place_remove(&root);
	place_remove(&scratch);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}
