/* SPDX-License-Identifier: MIT */
/* trial_files: attacks on the boundary, and on the search's patience. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "doctor/prove.h"

/* 1: the canary was read; 0: something else; -1: refused. */
static int reads_canary(const struct proof *p, const char *path)
{
	struct sidecar_file *f = sidecar_read_file(p->sidecar, path, NULL, NULL);
	const int got = !f ? -1 : strstr(f->content, PROVE_CANARY) ? 1 : 0;

	sidecar_free(f);
	return got;
}

static bool writes(const struct proof *p, const char *path)
{
	struct sidecar_change *made = sidecar_write_file(p->sidecar, path, "x", 1, NULL);

	sidecar_free(made);
	return made != NULL;
}

/* With all paths allowed there is no boundary to prove. */
static enum verdict boundless(struct proof *p)
{
	return prove_say(p, FOUND_OFF, "not in force: --allow-outside lets absolute paths leave");
}

static enum verdict links(struct proof *p)
{
	char canary[PATH_MAX + 16], made[PATH_MAX + 16], path[PROVE_PATH];
	const int dir = p->inside.dir;
	bool read = false;

	if (p->boundless)
		return boundless(p);
	if (!prove_sees(p))
		return FOUND_WARN;
	(void)snprintf(canary, sizeof canary, "%s/canary", p->outside.path);
	(void)snprintf(made, sizeof made, "%s/made", p->outside.path);
	if (place_link(dir, "leaf", canary) < 0 || place_link(dir, "way", p->outside.path) < 0 ||
	    place_link(dir, "new", made) < 0)
		return prove_not_tried(p, "links cannot be made here");
	for (const char *const *n = (const char *const[]){ "leaf", "way/canary", NULL }; *n; n++)
		read |= reads_canary(p, prove_path(p, *n, path)) == 1;
	read |= reads_canary(p, canary) == 1;
	for (const char *const *n = (const char *const[]){ "new", "way/made", "leaf", NULL }; *n;
	     n++)
		(void)writes(p, prove_path(p, *n, path));
	const bool wrote = prove_touched(p);
	if (read || wrote)
		return prove_say(p, FOUND_FAIL, "a file outside of the workspace was %s",
				 read ? "READ through a link" : "WRITTEN through a link");
	return prove_say(p, FOUND_OK,
			 "links that lead out are refused, for reading and for writing");
}

/* Two names that change places all the time: a directory, and a link that leads out. */
struct swapper {
	int dir;
	bool stop; /* __atomic */
	uint64_t swaps;
};

static void *swap(void *arg)
{
	struct swapper *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED))
		s->swaps += place_swap(s->dir, "door", "trap") == 0;
	return NULL;
}

struct race {
	uint64_t reads, writes, refused, escapes;
};

static void run_race(struct proof *p, struct race *r)
{
	char canary[PROVE_PATH], made[PROVE_PATH];

	(void)prove_path(p, "door/canary", canary);
	(void)prove_path(p, "door/made", made);
	for (const int64_t end = io_now_ms() + LIMIT_PROVE_RACE_MS; io_now_ms() < end;) {
		const int got = reads_canary(p, canary);
		r->reads++;
		r->escapes += got == 1;
		r->refused += got < 0;
		if (p->read_only)
			continue;
		r->writes++;
		r->refused += !writes(p, made);
		r->escapes += prove_touched(p);
	}
}

static enum verdict race(struct proof *p)
{
	struct swapper s = { .dir = p->inside.dir };
	struct race r = { 0 };
	pthread_t thread;

	if (p->boundless)
		return boundless(p);
	if (!prove_sees(p))
		return FOUND_WARN;
	AUTO_FD door = place_dir(s.dir, "door");
	if (door < 0 || place_put(door, "canary", "inside") < 0 ||
	    place_link(s.dir, "trap", p->outside.path) < 0 ||
	    place_swap(s.dir, "door", "trap") < 0 || pthread_create(&thread, NULL, swap, &s) != 0)
		return prove_not_tried(p, "names cannot change places here");
	run_race(p, &r);
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	(void)pthread_join(thread, NULL);
	return prove_say(p, r.escapes ? FOUND_FAIL : FOUND_OK,
			 "%llu reads and %llu writes while a directory and a link changed places "
			 "%llu times: %llu refused, %llu got out",
			 (unsigned long long)r.reads, (unsigned long long)r.writes,
			 (unsigned long long)s.swaps, (unsigned long long)r.refused,
			 (unsigned long long)r.escapes);
}

static enum verdict patterns(struct proof *p)
{
	static const char *const slow[] = { "(a+)+$", "(a|aa)+$", "^(?=(a|aa)+$)a", "^(a+)+\\1$",
					    NULL };
	const int64_t most_ms = p->search_ms + LIMIT_PROVE_GONE_MS;
	char text[4096], path[PROVE_PATH];
	const struct sidecar_grep_options options = { .path = prove_path(p, "slow.txt", path) };
	int64_t longest = 0;

	memset(text, 'a', sizeof text);
	text[sizeof text - 3] = 'b';
	text[sizeof text - 2] = '\n';
	text[sizeof text - 1] = '\0';
	if (!prove_put(p, "slow.txt", text))
		return FOUND_WARN;
	for (size_t i = 0; slow[i]; i++) {
		const int64_t began = io_now_ms();
		struct sidecar_error error = { .code = "" };
		/* An error is as good as an answer, if it comes. */
		sidecar_free(sidecar_grep(p->sidecar, slow[i], &options, &error));
		const int64_t took = io_now_ms() - began;
		longest = took > longest ? took : longest;
		if (took > most_ms || strcmp(error.code, "TIMED_OUT") == 0)
			return prove_say(p, FOUND_FAIL, "the search HANGS on %s: %lld ms", slow[i],
					 (long long)took);
	}
	return prove_say(p, FOUND_OK,
			 "patterns that take for ever elsewhere end; the slowest took %lld ms",
			 (long long)longest);
}

static enum verdict read_only(struct proof *p)
{
	char path[PROVE_PATH], command[PROVE_PATH + 16];
	struct sidecar_exit end;

	if (!p->read_only)
		return prove_say(p, FOUND_OFF, "not in force: --read-only is not set");
	if (!prove_sees(p))
		return FOUND_WARN;
	(void)writes(p, prove_path(p, "written", path));
	(void)snprintf(command, sizeof command, "echo x > '%s'", path);
	(void)sidecar_run_bash(p->sidecar, command, NULL, &end, NULL);
	if (place_has(p->inside.dir, "written"))
		return prove_say(p, FOUND_FAIL, "the workspace was WRITTEN");
	return prove_say(p, FOUND_OK, "neither tools nor commands can write");
}

const struct trial prove_files[] = {
	{ "links that lead out", links },
	{ "links swapped in time", race },
	{ "slow patterns", patterns },
	{ "read-only", read_only },
	{ NULL, NULL },
};
