/* SPDX-License-Identifier: MIT */
/* prove: what the server says of itself, two places, the trials, and nothing left behind. */

#include "doctor/prove.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/own.h"
#include "sandbox/sandbox.h"

enum verdict prove_say(struct proof *p, enum verdict verdict, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(p->note, sizeof p->note, fmt, list);
	va_end(list);
	return verdict;
}

enum verdict prove_not_tried(struct proof *p, const char *fmt, ...)
{
	const int n = snprintf(p->note, sizeof p->note, "not tried: ");
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(p->note + n, sizeof p->note - (size_t)n, fmt, list);
	va_end(list);
	return FOUND_WARN;
}

bool prove_sees(struct proof *p)
{
	if (p->inside.dir >= 0)
		return true;
	(void)prove_not_tried(p, "the server's workspace, %.200s, cannot be written from here",
			      p->workspace);
	return false;
}

const char *prove_path(const struct proof *p, const char *name, char to[PROVE_PATH])
{
	(void)snprintf(to, PROVE_PATH, "%s/%s", p->inside.name, name);
	return to;
}

bool prove_put(struct proof *p, const char *name, const char *content)
{
	char path[PROVE_PATH];
	struct sidecar_error error;

	if (p->inside.dir >= 0 && place_put(p->inside.dir, name, content) == 0)
		return true;
	if (p->inside.dir >= 0) {
		(void)prove_not_tried(p, "no file can be made here: %s", strerror(errno));
		return false;
	}
	struct sidecar_change *made = sidecar_write_file(p->sidecar, prove_path(p, name, path),
							 content, strlen(content), &error);
	if (!made)
		(void)prove_not_tried(p, "no file can be made: %.300s", error.message);
	sidecar_free(made);
	return made != NULL;
}

bool prove_touched(const struct proof *p)
{
	const int dir = p->outside.dir;
	const bool strays = place_weed(dir, "canary") > 0;

	if (place_holds(dir, "canary", PROVE_CANARY))
		return strays;
	(void)place_weed(dir, "");
	(void)place_put(dir, "canary", PROVE_CANARY);
	return true;
}

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

/* Has the server been told to hold this? */
static bool is_asked_for(const struct json *sandbox, const char *protection)
{
	const struct json *list = json_get(sandbox, STR("protections"));

	for (const struct json *m = list ? list->first : NULL; m; m = m->next) {
		char name[32] = "", note[128] = "";
		learn_text(m, STR("name"), name, sizeof name);
		learn_text(m, STR("note"), note, sizeof note);
		if (strcmp(name, protection) == 0)
			return strcmp(note, SANDBOX_NOT_ASKED) != 0;
	}
	return false;
}

static int learn(struct proof *p, struct sidecar_error *error)
{
	CLEANUP(arena_done) struct arena a = { .max = LIMIT_ANSWER };
	struct sidecar_health *h = sidecar_health(p->sidecar, error);
	const struct json *all;
	char paths[32] = "";
	struct err e;

	if (!h)
		return -1;
	if (json_parse((struct str){ h->json, h->length }, &a, &all, &e) == 0) {
		const struct json *sandbox = json_get(all, STR("sandbox"));
		const struct json *seconds =
			json_get(json_get(all, STR("limits")), STR("searchSeconds"));
		learn_text(all, STR("workspace"), p->workspace, sizeof p->workspace);
		learn_text(all, STR("dataDir"), p->data, sizeof p->data);
		learn_text(all, STR("absolutePaths"), paths, sizeof paths);
		learn_text(sandbox, STR("mode"), p->sandbox, sizeof p->sandbox);
		learn_text(sandbox, STR("why"), p->why, sizeof p->why);
		p->boundless = strcmp(paths, "outside") == 0;
		p->read_only = learn_bool(all, STR("readOnly"), false);
		p->scrubs = learn_bool(all, STR("scrub"), true);
		p->no_network = is_asked_for(sandbox, "network-off");
		p->search_ms = seconds && seconds->whole ? seconds->integer * 1000 : 0;
	}
	sidecar_free(h);
	return 0;
}

/* Whether what we make is what the server sees: it may have another machine's disk. */
static void enter_workspace(struct proof *p)
{
	char path[PROVE_PATH];
	struct sidecar_file *f = NULL;

	if (*p->workspace == '/' && place_make(&p->inside, p->workspace) == 0 &&
	    place_put(p->inside.dir, "name", p->inside.name) == 0)
		f = sidecar_read_file(p->sidecar, prove_path(p, "name", path), NULL, NULL);
	if (!f || strcmp(f->content, p->inside.name) != 0) {
		place_remove(&p->inside);
		place_name(&p->inside);
	}
	sidecar_free(f);
}

static bool lies_in(const char *path, const char *directory)
{
	const size_t n = strlen(directory);

	return n > 1 && strncmp(path, directory, n) == 0 && (!path[n] || path[n] == '/');
}

/* Beside the workspace, if possible: commands must be able to see it, or their failure to write in
 * it says nothing; and /tmp may be theirs. */
static int choose_outside(struct proof *p)
{
	char beside[PATH_MAX];
	const char *tmp = getenv("TMPDIR");
	const char *const list[] = { beside, "/var/tmp", tmp && *tmp == '/' ? tmp : "/tmp" };

	(void)snprintf(beside, sizeof beside, "%s", p->workspace);
	char *slash = strrchr(beside, '/');
	if (slash)
		slash[slash == beside] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		if (lies_in(list[i], p->workspace) || lies_in(list[i], p->data) ||
		    (i == 0 && lies_in(beside, "/tmp")))
			continue;
		if (place_make(&p->outside, list[i]) == 0)
			return place_put(p->outside.dir, "canary", PROVE_CANARY);
	}
	return -1;
}

/* What the server made for us, where we cannot, its commands can remove: the name is our own. */
static void clean_up(struct report *r, struct proof *p)
{
	char command[128];
	struct sidecar_exit end = { .code = -1 };

	place_remove(&p->outside);
	if (p->inside.dir < 0 && *p->inside.name) {
		(void)snprintf(command, sizeof command, "rm -rf -- '%s'", p->inside.name);
		if (sidecar_run_bash(p->sidecar, command, NULL, &end, NULL) < 0 || end.code != 0)
			report_add(r, FOUND_WARN, "left behind", "%s/%s: remove it", p->workspace,
				   p->inside.name);
	}
	place_remove(&p->inside);
}

void prove_hold_signals(sigset_t *before)
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

static void run_trials(struct report *r, struct proof *p, const struct trial *list)
{
	for (const struct trial *t = list; t->name && !was_interrupted(); t++) {
		const enum verdict verdict = t->run(p);
		report_add(r, verdict, t->name, "%s", p->note);
	}
}

void prove_running(struct report *r, struct sidecar *s)
{
	struct proof p = { .sidecar = s, .inside = { .dir = -1 }, .outside = { .dir = -1 } };
	struct sidecar_error error;
	sigset_t before;

	if (learn(&p, &error) < 0) {
		report_add(r, FOUND_FAIL, "a server to attack", "%s", error.message);
		return;
	}
	prove_hold_signals(&before);
	if (choose_outside(&p) < 0) {
		report_add(r, FOUND_FAIL, "a place for trials", "cannot be made: %s",
			   strerror(errno));
	} else {
		report_add(r, FOUND_OK, "a server to attack", "%s, workspace %s",
			   sidecar_address(s), p.workspace);
		enter_workspace(&p);
		run_trials(r, &p, prove_files);
		run_trials(r, &p, prove_commands);
	}
	clean_up(r, &p);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}
