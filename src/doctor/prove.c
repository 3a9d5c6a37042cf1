/* SPDX-License-Identifier: MIT */
/* prove: start a server if needed, prepare the two directories, run the trials, clean up. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/own.h"
#include "doctor/doctor.h"
#include "doctor/limits.h"
#include "sandbox/sandbox.h"

static void learn_text(const struct json *object, struct str name, char *to, size_t size)
{
	const struct str text = json_text(object, name);

	if (text.p)
		(void)snprintf(to, size, "%.*s", STR_FMT(text));
}

static bool learn_bool(const struct json *object, struct str name, bool otherwise)
{
	const struct json *v = json_get(object, name);

	return v && v->type == JSON_BOOL ? v->boolean : otherwise;
}

/* Whether the server was told to have this protection. */
static bool is_asked_for(const struct json *sandbox, const char *protection)
{
	for (const struct json *m = json_items(sandbox, STR("protections")); m; m = m->next) {
		char name[32] = "", note[128] = "";
		learn_text(m, STR("name"), name, sizeof name);
		learn_text(m, STR("note"), note, sizeof note);
		if (strcmp(name, protection) == 0)
			return strcmp(note, SANDBOX_NOT_ASKED) != 0;
	}
	return false;
}

/* Ask the server about itself. */
static int learn(struct target *t, struct sidecar_error *error)
{
	CLEANUP(arena_done) struct arena a = { .max = LIMIT_ANSWER };
	struct sidecar_health *h = sidecar_health(t->sidecar, error);
	const struct json *all;
	char paths[32] = "";
	struct err e;

	if (!h)
		return -1;
	if (json_parse((struct str){ h->json, h->length }, &a, &all, &e) == 0) {
		const struct json *sandbox = json_get(all, STR("sandbox"));
		const struct json *seconds =
			json_get(json_get(all, STR("limits")), STR("searchSeconds"));
		learn_text(all, STR("workspace"), t->workspace, sizeof t->workspace);
		learn_text(all, STR("dataDir"), t->data, sizeof t->data);
		learn_text(all, STR("sinks"), t->sinks, sizeof t->sinks);
		learn_text(all, STR("absolutePaths"), paths, sizeof paths);
		learn_text(sandbox, STR("mode"), t->sandbox, sizeof t->sandbox);
		learn_text(sandbox, STR("why"), t->why, sizeof t->why);
		const struct json *observed = json_get(all, STR("observed"));
		learn_text(observed, STR("commands"), t->observed, sizeof t->observed);
		learn_text(observed, STR("why"), t->unobserved, sizeof t->unobserved);
		t->allows_outside = strcmp(paths, "outside") == 0;
		t->read_only = learn_bool(all, STR("readOnly"), false);
		t->scrubs = learn_bool(all, STR("scrub"), true);
		t->no_network = is_asked_for(sandbox, "network-off");
		t->search_ms = seconds && seconds->whole ? seconds->integer * 1000 : 0;
	}
	sidecar_free(h);
	return 0;
}

/* Make the directory inside. The server must see it: its workspace may be on another machine. */
static void enter_workspace(struct target *t)
{
	char path[TARGET_PATH];
	struct sidecar_file *f = NULL;

	if (*t->workspace == '/' && testdir_make(&t->inside, t->workspace) == 0 &&
	    testdir_put(t->inside.fd, "name", t->inside.name) == 0)
		f = sidecar_read_file(t->sidecar, target_path(t, "name", path), NULL, NULL);
	if (!f || strcmp(f->content, t->inside.name) != 0) {
		testdir_remove(&t->inside);
		testdir_name(&t->inside);
	}
	sidecar_free(f);
}

static bool lies_in(const char *path, const char *directory)
{
	const size_t n = strlen(directory);

	return n > 1 && strncmp(path, directory, n) == 0 && (!path[n] || path[n] == '/');
}

/* Make the directory outside: next to the workspace, if possible. Commands must be able to see it,
 * or their failure to write in it proves nothing; and their /tmp may be a private one. */
static int choose_outside(struct target *t)
{
	char beside[PATH_MAX];
	const char *tmp = getenv("TMPDIR");
	const char *const list[] = { beside, "/var/tmp", tmp && *tmp == '/' ? tmp : "/tmp" };

	(void)snprintf(beside, sizeof beside, "%s", t->workspace);
	char *slash = strrchr(beside, '/');
	if (slash)
		slash[slash == beside] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		if (lies_in(list[i], t->workspace) || lies_in(list[i], t->data) ||
		    (i == 0 && lies_in(beside, "/tmp")))
			continue;
		if (testdir_make(&t->outside, list[i]) == 0)
			return testdir_put(t->outside.fd, "canary", CANARY);
	}
	return -1;
}

/* Remove both directories. If the server made the one inside, let one of its commands remove it. */
static void clean_up(struct report *r, struct target *t)
{
	char command[128];
	struct sidecar_exit end = { .code = -1 };

	testdir_remove(&t->outside);
	if (t->inside.fd < 0 && *t->inside.name) {
		(void)snprintf(command, sizeof command, "rm -rf -- '%s'", t->inside.name);
		if (sidecar_run_bash(t->sidecar, command, NULL, &end, NULL) < 0 || end.code != 0)
			report_add(r, FOUND_WARN, "left behind", "%s/%s: please remove it",
				   t->workspace, t->inside.name);
	}
	testdir_remove(&t->inside);
}

/* Block Ctrl-C until everything is removed. The previous mask is in *before. */
static void hold_signals(sigset_t *before)
{
	sigset_t block;

	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGINT);
	(void)sigaddset(&block, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &block, before);
}

static bool was_interrupted(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

static void run_trials(struct report *r, struct target *t)
{
	for (const struct trial *one = trials; one->name && !was_interrupted(); one++) {
		const enum verdict verdict = one->run(t);
		report_add(r, verdict, one->name, "%s", t->note);
	}
}

void prove_running(struct report *r, struct sidecar *s)
{
	struct target t = { .sidecar = s, .inside = { .fd = -1 }, .outside = { .fd = -1 } };
	struct sidecar_error error;
	sigset_t before;

	if (learn(&t, &error) < 0) {
		report_add(r, FOUND_FAIL, "a server to attack", "%s", error.message);
		return;
	}
	hold_signals(&before);
	if (choose_outside(&t) < 0) {
		report_add(r, FOUND_FAIL, "a place for trials", "cannot be created: %s",
			   strerror(errno));
	} else {
		report_add(r, FOUND_OK, "a server to attack", "%s, workspace %s",
			   sidecar_address(s), t.workspace);
		enter_workspace(&t);
		run_trials(r, &t);
	}
	clean_up(r, &t);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

enum { MOST_FLAGS = 128 };

/* A temporary server, and what it is started with. */
struct own_server {
	const struct config *config;
	int flag_count;
	char **flags; /* from which the config was read */
};

/* Run this program with that mask of blocked signals. What it has to say goes into the file. */
static pid_t spawn(const char *const *argv, const sigset_t *mask, const char *said)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	pid_t pid = -1;

	if (posix_spawnattr_init(&how) != 0)
		return -1;
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_addopen(&files, STDERR_FILENO, said,
					       O_WRONLY | O_CREAT | O_APPEND, 0600);
	(void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&how, mask);
	/* posix_spawn does not change the strings, although its prototype would allow it. */
	if (posix_spawn(&pid, "/proc/self/exe", &files, &how, (char *const *)(uintptr_t)argv,
			environ) != 0)
		pid = -1;
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&how);
	return pid;
}

/* Start a server with the same flags, followed by those that must differ. */
static pid_t start(const struct own_server *o, const char *root, const char *socket_path,
		   const char *said, const sigset_t *mask)
{
	char workspace[PATH_MAX + 32], socket[PATH_MAX + 32];
	const char *argv[MOST_FLAGS + 8] = { "sidecar", "serve" };
	int n = 2;

	(void)snprintf(workspace, sizeof workspace, "--workspace=%s", root);
	(void)snprintf(socket, sizeof socket, "--socket=%s", socket_path);
	for (int i = 0; i < o->flag_count && i < MOST_FLAGS; i++)
		argv[n++] = o->flags[i];
	argv[n++] = workspace;
	argv[n++] = socket;
	argv[n++] = "--log-level=error";
	/* The configured address may be in use, for example by the real server. */
	if (o->config->tcp_host)
		argv[n++] = "--tcp=127.0.0.1:0";
	argv[n] = NULL;
	return spawn(argv, mask, said);
}

/* Wait until the server answers. False: it has ended, or is too slow. */
static bool await(struct sidecar *s, pid_t server, struct sidecar_error *error)
{
	const int64_t until = io_now_ms() + LIMIT_PROVE_START_MS;
	siginfo_t ended = { .si_pid = 0 };

	while (sidecar_ensure_ready(s, error) < 0) {
		(void)waitid(P_PID, (id_t)server, &ended, WEXITED | WNOHANG | WNOWAIT);
		if (ended.si_pid || io_now_ms() > until)
			return false;
	}
	return true;
}

/* The last line that the server has written, without the name of the program. */
static void last_words(const char *said, char *to, size_t size)
{
	char text[4096];
	AUTO_FD fd = open(said, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : io_read_full(fd, text, sizeof text);
	struct str rest = str_trim((struct str){ text, n > 0 ? (size_t)n : 0 }), line = rest;

	while (rest.n)
		(void)str_cut(rest, '\n', &line, &rest);
	if (str_starts(line, STR("sidecar: ")))
		line = str_from(line, strlen("sidecar: "));
	if (line.n)
		(void)snprintf(to, size, "%.*s", STR_FMT(line));
}

static void attack(struct report *r, const struct config *c, pid_t server, const char *socket_path,
		   const char *said)
{
	struct sidecar_error error;
	const struct sidecar_settings settings = {
		.socket_path = socket_path,
		.token = c->token,
		.session = "doctor",
		.wait_for_ready_ms = LIMIT_PROVE_LOOK_MS,
		.timeout_ms = LIMIT_PROVE_SILENCE_MS,
	};
	struct sidecar *s = sidecar_open(&settings, &error);

	if (s && await(s, server, &error)) {
		prove_running(r, s);
	} else {
		last_words(said, error.message, sizeof error.message);
		report_add(r, FOUND_FAIL, "a server to attack",
			   "does not start with these settings: %s", error.message);
	}
	sidecar_close(s);
}

/* In the workspace of the temporary server: what a trial tries to get something into. */
static void make_hooks(const struct testdir *root)
{
	AUTO_FD git = testdir_open(root->fd, ".git");
	AUTO_FD hooks = git < 0 ? -1 : testdir_open(git, "hooks");

	(void)hooks;
}

/* Make a directory that only this user can enter. */
static int make_private(struct testdir *d, const char *parent)
{
	if (testdir_make(d, parent) < 0)
		return -1;
	if (fchmod(d->fd, 0700) == 0)
		return 0;
	const int why = errno;
	testdir_remove(d);
	errno = why;
	return -1;
}

static void run(struct report *r, const struct own_server *o, const struct testdir *scratch,
		const struct testdir *root, const sigset_t *mask)
{
	char socket_path[PATH_MAX + 16], said[PATH_MAX + 16];

	(void)snprintf(socket_path, sizeof socket_path, "%s/s.sock", scratch->path);
	(void)snprintf(said, sizeof said, "%s/said", scratch->path);
	make_hooks(root);
	const pid_t server = start(o, root->path, socket_path, said, mask);
	if (server < 0) {
		report_add(r, FOUND_FAIL, "a server to attack", "cannot be started");
		return;
	}
	attack(r, o->config, server, socket_path, said);
	(void)kill(server, SIGTERM);
	(void)waitpid(server, NULL, 0);
}

static bool is_of(void *arg, const struct sidecar_journal *j)
{
	const struct testdir *root = arg;

	return str_ends(str_of(j->workspace), str_of(root->name));
}

void prove_settings(struct report *r, const struct config *c, int flag_count, char **flags)
{
	const struct own_server own = { c, flag_count, flags };
	const char *set = getenv("TMPDIR"), *tmp = set && *set == '/' ? set : "/tmp";
	struct testdir scratch = { .fd = -1 }, root = { .fd = -1 };
	struct sidecar_error ignored;
	sigset_t before;

	hold_signals(&before);
	if (make_private(&scratch, tmp) < 0 ||
	    ((c->read_only || make_private(&root, c->workspace) < 0) &&
	     make_private(&root, tmp) < 0))
		report_add(r, FOUND_FAIL, "a place for trials", "cannot be created: %s",
			   strerror(errno));
	else
		run(r, &own, &scratch, &root, &before);
	/* The server has kept what the trials changed. */
	if (root.fd >= 0)
		(void)sidecar_journals(is_of, &root, &ignored);
	testdir_remove(&root);
	testdir_remove(&scratch);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}
