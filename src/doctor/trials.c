/* SPDX-License-Identifier: MIT */
/* trials: attacks through files, searches and commands. */

#include "doctor/doctor.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "doctor/limits.h"

/* Note the reason for a verdict, and return the verdict. */
__attribute__((format(printf, 3, 4))) static enum verdict
conclude(struct target *t, enum verdict verdict, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(t->note, sizeof t->note, fmt, list);
	va_end(list);
	return verdict;
}

/* "not tried: …" is neither good nor bad, but the operator should know. */
__attribute__((format(printf, 2, 3))) static enum verdict not_tried(struct target *t,
								    const char *fmt, ...)
{
	const int n = snprintf(t->note, sizeof t->note, "not tried: ");
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(t->note + n, sizeof t->note - (size_t)n, fmt, list);
	va_end(list);
	return FOUND_WARN;
}

/* Whether the workspace can be seen from here. If not, t->note says so. */
static bool sees_workspace(struct target *t)
{
	if (t->inside.fd >= 0)
		return true;
	(void)not_tried(t, "the server's workspace, %.200s, cannot be written from here",
			t->workspace);
	return false;
}

const char *target_path(const struct target *t, const char *name, char to[TARGET_PATH])
{
	(void)snprintf(to, TARGET_PATH, "%s/%s", t->inside.name, name);
	return to;
}

/* Put a file inside: make it here, or let the server write it if its workspace cannot be seen from
 * here. False: it failed, and t->note says why. */
static bool put_file(struct target *t, const char *name, const char *content)
{
	char path[TARGET_PATH];
	struct sidecar_error error;

	if (t->inside.fd >= 0 && testdir_put(t->inside.fd, name, content) == 0)
		return true;
	if (t->inside.fd >= 0) {
		(void)not_tried(t, "no file can be created here: %s", strerror(errno));
		return false;
	}
	struct sidecar_change *made = sidecar_write_file(t->sidecar, target_path(t, name, path),
							 content, strlen(content), &error);
	if (!made)
		(void)not_tried(t, "no file can be created: %.300s", error.message);
	sidecar_free(made);
	return made != NULL;
}

/* Whether anything has changed in the directory outside. Restores it. */
static bool outside_was_changed(const struct target *t)
{
	const int dir = t->outside.fd;
	const bool strays = testdir_remove_others(dir, "canary") > 0;

	if (testdir_has_content(dir, "canary", CANARY))
		return strays;
	(void)testdir_remove_others(dir, "");
	(void)testdir_put(dir, "canary", CANARY);
	return true;
}

/* Read a path. 1: it was the canary; 0: something else; -1: refused. */
static int reads_canary(const struct target *t, const char *path)
{
	struct sidecar_file *f = sidecar_read_file(t->sidecar, path, NULL, NULL);
	const int got = !f ? -1 : strstr(f->content, CANARY) ? 1 : 0;

	sidecar_free(f);
	return got;
}

static bool writes(const struct target *t, const char *path)
{
	struct sidecar_change *made = sidecar_write_file(t->sidecar, path, "x", 1, NULL);

	sidecar_free(made);
	return made != NULL;
}

/* If all paths are allowed there is no boundary to attack. */
static enum verdict no_boundary(struct target *t)
{
	return conclude(t, FOUND_OFF,
			"not in force: --allow-outside allows paths outside the workspace");
}

static enum verdict links(struct target *t)
{
	char canary[PATH_MAX + 16], made[PATH_MAX + 16], path[TARGET_PATH];
	const int dir = t->inside.fd;
	bool read = false;

	if (t->allows_outside)
		return no_boundary(t);
	if (!sees_workspace(t))
		return FOUND_WARN;
	(void)snprintf(canary, sizeof canary, "%s/canary", t->outside.path);
	(void)snprintf(made, sizeof made, "%s/made", t->outside.path);
	if (testdir_link(dir, "leaf", canary) < 0 ||
	    testdir_link(dir, "way", t->outside.path) < 0 || testdir_link(dir, "new", made) < 0)
		return not_tried(t, "links cannot be created here");
	for (const char *const *n = (const char *const[]){ "leaf", "way/canary", NULL }; *n; n++)
		read |= reads_canary(t, target_path(t, *n, path)) == 1;
	read |= reads_canary(t, canary) == 1;
	for (const char *const *n = (const char *const[]){ "new", "way/made", "leaf", NULL }; *n;
	     n++)
		(void)writes(t, target_path(t, *n, path));
	const bool wrote = outside_was_changed(t);
	if (read || wrote)
		return conclude(t, FOUND_FAIL, "a file outside the workspace was %s",
				read ? "READ through a link" : "WRITTEN through a link");
	return conclude(t, FOUND_OK,
			"links that lead out are refused, for reading and for writing");
}

/* A thread that keeps exchanging two names: a directory, and a link that leads out. */
struct swapper {
	int dir;
	bool stop; /* __atomic */
	uint64_t swaps;
};

static void *swap(void *arg)
{
	struct swapper *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED))
		s->swaps += testdir_swap(s->dir, "door", "trap") == 0;
	return NULL;
}

struct race {
	uint64_t reads, writes, refused, escapes;
};

static void run_race(struct target *t, struct race *r)
{
	char canary[TARGET_PATH], made[TARGET_PATH];

	(void)target_path(t, "door/canary", canary);
	(void)target_path(t, "door/made", made);
	for (const int64_t end = io_now_ms() + LIMIT_PROVE_RACE_MS; io_now_ms() < end;) {
		const int got = reads_canary(t, canary);
		r->reads++;
		r->escapes += got == 1;
		r->refused += got < 0;
		if (t->read_only)
			continue;
		r->writes++;
		r->refused += !writes(t, made);
		r->escapes += outside_was_changed(t);
	}
}

static enum verdict race(struct target *t)
{
	struct swapper s = { .dir = t->inside.fd };
	struct race r = { 0 };
	pthread_t thread;

	if (t->allows_outside)
		return no_boundary(t);
	if (!sees_workspace(t))
		return FOUND_WARN;
	AUTO_FD door = testdir_open(s.dir, "door");
	if (door < 0 || testdir_put(door, "canary", "inside") < 0 ||
	    testdir_link(s.dir, "trap", t->outside.path) < 0 ||
	    testdir_swap(s.dir, "door", "trap") < 0 || pthread_create(&thread, NULL, swap, &s) != 0)
		return not_tried(t, "names cannot be exchanged here");
	run_race(t, &r);
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	(void)pthread_join(thread, NULL);
	return conclude(t, r.escapes ? FOUND_FAIL : FOUND_OK,
			"%llu reads and %llu writes while a directory and a link changed places "
			"%llu times: %llu refused, %llu escaped",
			(unsigned long long)r.reads, (unsigned long long)r.writes,
			(unsigned long long)s.swaps, (unsigned long long)r.refused,
			(unsigned long long)r.escapes);
}

static enum verdict patterns(struct target *t)
{
	static const char *const slow[] = { "(a+)+$", "(a|aa)+$", "^(?=(a|aa)+$)a", "^(a+)+\\1$",
					    NULL };
	const int64_t most_ms = t->search_ms + LIMIT_PROVE_GONE_MS;
	char text[4096], path[TARGET_PATH];
	const struct sidecar_grep_options options = { .path = target_path(t, "slow.txt", path) };
	int64_t longest = 0;

	memset(text, 'a', sizeof text);
	text[sizeof text - 3] = 'b';
	text[sizeof text - 2] = '\n';
	text[sizeof text - 1] = '\0';
	if (!put_file(t, "slow.txt", text))
		return FOUND_WARN;
	for (size_t i = 0; slow[i]; i++) {
		const int64_t began = io_now_ms();
		struct sidecar_error error = { .code = "" };
		/* An error is as good as an answer, as long as it comes. */
		sidecar_free(sidecar_grep(t->sidecar, slow[i], &options, &error));
		const int64_t took = io_now_ms() - began;
		longest = took > longest ? took : longest;
		if (took > most_ms || strcmp(error.code, "TIMED_OUT") == 0)
			return conclude(t, FOUND_FAIL, "the search HANGS on %s: %lld ms", slow[i],
					(long long)took);
	}
	return conclude(t, FOUND_OK,
			"patterns made to take forever all ended; the slowest took %lld ms",
			(long long)longest);
}

static enum verdict read_only(struct target *t)
{
	char path[TARGET_PATH], command[TARGET_PATH + 16];
	struct sidecar_exit end;

	if (!t->read_only)
		return conclude(t, FOUND_OFF, "not in force: --read-only is not set");
	if (!sees_workspace(t))
		return FOUND_WARN;
	(void)writes(t, target_path(t, "written", path));
	(void)snprintf(command, sizeof command, "echo x > '%s'", path);
	(void)sidecar_run_bash(t->sidecar, command, NULL, &end, NULL);
	if (testdir_has(t->inside.fd, "written"))
		return conclude(t, FOUND_FAIL, "the workspace was WRITTEN to");
	return conclude(t, FOUND_OK, "neither tools nor commands can write");
}

enum { BEAT_MS = 500 }; /* a process that writes every 100 ms has written in this time */

static enum verdict cannot_run(struct target *t, const struct sidecar_error *error)
{
	return not_tried(t, "no command can be run: %.300s", error->message);
}

/* How much the processes have written to their file; *orphans: how much of it came from orphans. */
static size_t count_beats(const struct target *t, size_t *orphans)
{
	char path[TARGET_PATH];
	struct sidecar_file *f =
		sidecar_read_file(t->sidecar, target_path(t, "beats", path), NULL, NULL);
	const size_t all = f ? f->length : 0;

	*orphans = 0;
	for (size_t i = 0; i < all; i++)
		*orphans += f->content[i] == 'o';
	sidecar_free(f);
	return all;
}

/* Whether the processes stop writing within a few seconds. */
static bool fall_silent(const struct target *t)
{
	size_t orphans, before, now = count_beats(t, &orphans);

	for (const int64_t until = io_now_ms() + LIMIT_PROVE_GONE_MS; io_now_ms() < until;) {
		before = now;
		io_sleep_ms(BEAT_MS);
		now = count_beats(t, &orphans);
		if (now == before)
			return true;
	}
	return false;
}

static enum verdict orphans(struct target *t)
{
	/* A process that survives ends when the directory is removed, or after a while. */
	static const char beat[] = "n=0\n"
				   "while [ -e beat.sh ] && [ $n -lt 300 ]; do\n"
				   "\tprintf %s \"$1\" >> beats\n"
				   "\tn=$((n + 1))\n"
				   "\tsleep 0.1\n"
				   "done\n";
	static const char command[] = "setsid sh beat.sh o & (setsid setsid sh beat.sh o &)\n"
				      "sh beat.sh x\n";
	const struct sidecar_bash_options options = { .cwd = t->inside.name, .timeout_seconds = 1 };
	struct sidecar_error error;
	struct sidecar_exit end;
	size_t seen;

	if (t->read_only)
		return not_tried(t, "commands cannot write, so a survivor would not be noticed");
	if (!put_file(t, "beat.sh", beat))
		return FOUND_WARN;
	if (sidecar_run_bash(t->sidecar, command, &options, &end, &error) < 0)
		return cannot_run(t, &error);
	(void)count_beats(t, &seen);
	if (!end.timed_out || seen == 0)
		return not_tried(t, "setsid is not installed, or the command ended by itself (%d)",
				 end.code);
	if (!fall_silent(t))
		return conclude(t, FOUND_FAIL, "processes OUTLIVED their command's timeout");
	return conclude(t, FOUND_OK,
			"a timeout ended three processes, two of them in sessions of their own");
}

/* The first bytes that a command prints. */
struct printed {
	char text[64];
	size_t n;
};

static int keep(void *arg, bool is_stderr, const char *text, size_t length)
{
	struct printed *to = arg;
	const size_t room = sizeof to->text - 1 - to->n;

	if (!is_stderr) {
		memcpy(to->text + to->n, text, length < room ? length : room);
		to->n += length < room ? length : room;
	}
	return 0;
}

static enum verdict writes_outside(struct target *t)
{
	char command[3 * PATH_MAX + 128];
	struct printed printed = { "", 0 };
	const struct sidecar_bash_options options = { .output = keep, .arg = &printed };
	const char *at = t->outside.path;
	struct sidecar_error error;
	struct sidecar_exit end;

	if (strcmp(t->sandbox, "off") == 0)
		return conclude(t, FOUND_OFF, "not in force: sandbox off, %.300s", t->why);
	if (!sees_workspace(t))
		return FOUND_WARN;
	(void)snprintf(command, sizeof command,
		       "[ -e '%s' ] && echo seen; echo x > '%s/made'; echo x > '%s/canary'", at, at,
		       at);
	if (sidecar_run_bash(t->sidecar, command, &options, &end, &error) < 0)
		return cannot_run(t, &error);
	if (outside_was_changed(t))
		return conclude(t, FOUND_FAIL, "a command WROTE to %.300s (sandbox %s)", at,
				t->sandbox);
	const bool seen = strstr(printed.text, "seen") != NULL;
	if (!seen && strcmp(t->sandbox, "strict") != 0)
		return not_tried(t, "commands do not see %.300s", at);
	return conclude(t, FOUND_OK, "a command could not %s outside the workspace (sandbox %s)",
			seen ? "write" : "look or write", t->sandbox);
}

/* Listen on loopback, on a port that is free. Returns a descriptor, or -1. */
static int listen_locally(int *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof at;
	AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &n) < 0)
		return -1;
	*port = ntohs(at.sin_port);
	return TAKE(fd, -1);
}

/* The process that listens on a Unix socket, or 0. */
static pid_t listener_of(const char *address)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *path = strncmp(address, "unix:", 5) == 0 ? address + 5 : "";
	struct ucred who;
	socklen_t n = sizeof who;

	if (fd < 0 || !*path || strlen(path) >= sizeof at.sun_path)
		return 0;
	memcpy(at.sun_path, path, strlen(path) + 1);
	return connect(fd, (const struct sockaddr *)&at, sizeof at) == 0 &&
			       getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0
		       ? who.pid
		       : 0;
}

/* Only if a command could reach us without the guard does its failure prove anything. */
static bool shares_network(const char *address)
{
	char path[64], ours[64] = "", theirs[64] = "";

	(void)snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)listener_of(address));
	return readlink("/proc/self/ns/net", ours, sizeof ours - 1) > 0 &&
	       readlink(path, theirs, sizeof theirs - 1) > 0 && strcmp(ours, theirs) == 0;
}

static enum verdict network(struct target *t)
{
	char self[PATH_MAX] = "", command[PATH_MAX + 512];
	struct sidecar_error error;
	struct sidecar_exit end;
	int port;

	if (!t->no_network)
		return conclude(t, FOUND_OFF,
				"not in force: commands may use the network (--network none)");
	if (!shares_network(sidecar_address(t->sidecar)))
		return not_tried(t, "the server is in another network namespace, or this user may "
				    "not inspect it");
	AUTO_FD fd = listen_locally(&port);
	if (fd < 0 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return not_tried(t, "cannot listen on 127.0.0.1");
	/* This program connects, or bash if it cannot be run: 126 or 127 if neither can. */
	(void)snprintf(command, sizeof command,
		       "'%s' health -q --wait 1 --timeout 1 --url http://127.0.0.1:%d; n=$?\n"
		       "[ $n -lt 126 ] && exit $n\n"
		       "bash -c ': <> /dev/tcp/127.0.0.1/%d'; n=$?\n"
		       "[ $n -lt 126 ] && exit %d; exit $n",
		       self, port, port, EXIT_UNREACHABLE);
	if (sidecar_run_bash(t->sidecar, command, NULL, &end, &error) < 0)
		return cannot_run(t, &error);
	if (io_wait(fd, POLLIN, io_now_ms()) == 1)
		return conclude(t, FOUND_FAIL, "a command CONNECTED to a server on this machine");
	if (end.code != EXIT_UNREACHABLE)
		return not_tried(t, "neither %.200s nor bash can be run there (%d)", self,
				 end.code);
	return conclude(t, FOUND_OK, "a command could not connect to a server on this machine");
}

static enum verdict secrets(struct target *t)
{
	/* It looks like a token, in two pieces so that no scanner takes this file for a leak. */
	static const char first[] = "ghp_x7Kq9ZrT2mVb", second[] = "N4pLc8WdY1sHf6JgQe3RtUaX";
	char script[256], arguments[256];
	struct sidecar_error error;

	if (!t->scrubs)
		return conclude(t, FOUND_OFF, "not in force: --scrub off");
	(void)snprintf(script, sizeof script, "printf 'started %s'\nsleep 0.3\nprintf '%s\\n'\n",
		       first, second);
	if (!put_file(t, "secret.sh", script))
		return FOUND_WARN;
	(void)snprintf(arguments, sizeof arguments, "{\"command\":\"sh %s/secret.sh\"}",
		       t->inside.name);
	struct sidecar_observation *seen =
		sidecar_call_tool(t->sidecar, "run_command", arguments, &error);
	enum verdict verdict;
	if (!seen || !seen->success || !strstr(seen->json, "started"))
		verdict = not_tried(t, "no command can be run: %.300s",
				    !seen	    ? error.message
				    : seen->message ? seen->message
						    : "there is no output");
	else if (strstr(seen->json, second))
		verdict = conclude(t, FOUND_FAIL,
				   "a token printed in two pieces was SHOWN to the model");
	else
		verdict = conclude(t, FOUND_OK, "a token printed in two pieces was removed");
	sidecar_free(seen);
	return verdict;
}

/* Run a command as a model does: the number of the change that it made, 0 if it made none; -1 with
 * t->note if it could not be run. */
static int64_t change_by(struct target *t, const char *command)
{
	static const char mark[] = "\"changes\":{\"id\":";
	char arguments[512];
	struct sidecar_error error;

	(void)snprintf(arguments, sizeof arguments, "{\"command\":\"%s\"}", command);
	struct sidecar_observation *seen =
		sidecar_call_tool(t->sidecar, "run_command", arguments, &error);
	int64_t id = -1;
	if (!seen || !seen->success)
		(void)not_tried(t, "no command can be run: %.300s",
				!seen		? error.message
				: seen->message ? seen->message
						: "it failed");
	else {
		const char *at = strstr(seen->json, mark);
		id = at ? strtoll(at + sizeof mark - 1, NULL, 10) : 0;
	}
	sidecar_free(seen);
	return id;
}

/* A command deletes a tree, and it comes back: a file in a directory, one that git would ignore,
 * and permissions. */
static enum verdict undo(struct target *t)
{
	char command[512], url[64], path[TARGET_PATH];
	struct sidecar_error error;

	if (strcmp(t->observed, "none") == 0 || !*t->observed)
		return conclude(t, FOUND_OFF, "not in force: commands are not observed, %.300s",
				*t->unobserved ? t->unobserved : "the server is too old");
	if (t->read_only)
		return not_tried(t, "nothing can be changed");
	(void)snprintf(command, sizeof command,
		       "cd '%s' && mkdir -p tree/deep && echo %s > tree/deep/.ignored && chmod 640 "
		       "tree/deep/.ignored",
		       t->inside.name, CANARY);
	if (change_by(t, command) < 0)
		return FOUND_WARN;
	(void)snprintf(command, sizeof command, "rm -rf '%s/tree'", t->inside.name);
	const int64_t id = change_by(t, command);
	if (id < 0)
		return FOUND_WARN;
	if (id == 0)
		return conclude(t, FOUND_FAIL, "what rm -rf deleted was NOT NOTICED");
	(void)snprintf(url, sizeof url, "/changes/%lld/undo", (long long)id);
	int status = 0;
	sidecar_free(sidecar_request(t->sidecar, "POST", url, "{}", &status, &error));
	struct sidecar_file *f = sidecar_read_file(
		t->sidecar, target_path(t, "tree/deep/.ignored", path), NULL, NULL);
	const bool back = f && strncmp(f->content, CANARY, strlen(CANARY)) == 0;
	sidecar_free(f);
	if (!back)
		return conclude(t, FOUND_FAIL,
				"what rm -rf deleted did NOT COME BACK (change %lld, status %d)",
				(long long)id, status);
	return conclude(t, FOUND_OK, "what rm -rf deleted came back (change %lld)", (long long)id);
}

static enum verdict foreign_sockets(struct target *t)
{
	char command[PATH_MAX + 512];
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct sidecar_error error;
	struct sidecar_exit end;

	if (strcmp(t->sandbox, "off") == 0)
		return conclude(t, FOUND_OFF, "not in force: sandbox off, %.300s", t->why);
	if (!sees_workspace(t))
		return FOUND_WARN;
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int n = snprintf(at.sun_path, sizeof at.sun_path, "%s/socket", t->outside.path);
	if (n >= (int)sizeof at.sun_path || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
	    listen(fd, 8) < 0)
		return not_tried(t, "cannot listen in %.300s", t->outside.path);
	/* Commands may not see the place where this program lies. */
	if (testdir_copy_program(t->inside.fd, "connect") < 0)
		return not_tried(t, "cannot copy this program into the workspace");
	(void)snprintf(command, sizeof command,
		       "'./%s/connect' health -q --wait 1 --timeout 1 --socket '%s'",
		       t->inside.name, at.sun_path);
	if (sidecar_run_bash(t->sidecar, command, NULL, &end, &error) < 0)
		return cannot_run(t, &error);
	if (io_wait(fd, POLLIN, io_now_ms()) == 1)
		return conclude(t, FOUND_FAIL, "a command CONNECTED to %.300s", at.sun_path);
	if (end.code != EXIT_UNREACHABLE)
		return not_tried(t, "a program cannot be run in the workspace (%d)", end.code);
	return conclude(t, FOUND_OK, "a command could not reach another program's socket");
}

const struct trial trials[] = {
	{ "links that lead out", links },
	{ "links swapped in time", race },
	{ "slow patterns", patterns },
	{ "read-only", read_only },
	{ "processes left behind", orphans },
	{ "writing outside", writes_outside },
	{ "sockets of others", foreign_sockets },
	{ "network", network },
	{ "a secret in two pieces", secrets },
	{ "undo of a command", undo },
	{ "hooks that run later", planting },
	{ NULL, NULL },
};
