/* SPDX-License-Identifier: MIT */
/* watched: a recording that belongs to the supervisor's thread, then to the one who finishes it. */

#include "tools/watched.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/limits.h"
#include "changes/observer.h"
#include "changes/recording.h"
#include "supervise/broker.h"
#include "supervise/guardian.h"
#include "workspace/path.h"
#include "workspace/tracker.h"

/* Shared by the call, the proc and the supervisor's thread; the last of them frees it. */
struct watched {
	struct buf texts; /* of the recording */
	struct recording recording;
	struct observer observer;
	bool records;		 /* … and that is used */
	struct denials *denials; /* NULL: there is no sandbox */
	struct broker *broker;	 /* NULL: connections are not stopped */
	struct guard *guard;	 /* NULL: nothing is guarded */
	struct guardian guardian;
	struct buf unguarded;	       /* names, one a line */
	bool tells;		       /* … of which the service is told */
	bool judges;		       /* what file rules do not hold */
	bool writes_git;	       /* the server, in the place of the command */
	struct supervisor *supervisor; /* of the proc; NULL: there was no listener */
	uint64_t call;
	const struct call_news *told; /* or NULL */

	pthread_mutex_t lock;
	pthread_cond_t news; /* `ended` is set */
	int users;
	bool awaited; /* the call has not left */
	bool over;    /* no process is left */
	bool ended;   /* the thread has given the recording to the call */
	uint64_t id;  /* of the change, as soon as something was touched */
};

static void release(struct watched *w)
{
	(void)pthread_mutex_lock(&w->lock);
	const bool last = --w->users == 0;
	(void)pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	if (w->guard)
		guard_leave(w->guard);
	if (w->recording.journal) {
		recording_done(&w->recording);
		journal_release(w->recording.journal);
	}
	observer_done(&w->observer);
	broker_free(w->broker);
	guardian_done(&w->guardian);
	denials_free(w->denials);
	buf_done(&w->texts);
	buf_done(&w->unguarded);
	(void)pthread_cond_destroy(&w->news);
	(void)pthread_mutex_destroy(&w->lock);
	mem_free(w);
}

static void keep_guarded(void *arg, int dir, const char *name)
{
	struct recording *r = arg;
	struct err ignored;

	(void)recording_touch(r, dir, name, TOUCH_CONTENT, &ignored);
}

/* A judge: with the first change, before it happens, tells the others its number, and keeps what is
 * guarded, lest something gets past the judge. */
static int note_number(void *arg, struct resolver *r)
{
	struct watched *w = arg;

	(void)r;
	if (w->id == 0 && recording_id(&w->recording)) {
		(void)pthread_mutex_lock(&w->lock);
		w->id = recording_id(&w->recording);
		(void)pthread_mutex_unlock(&w->lock);
		if (w->guard)
			guard_files(w->guard, keep_guarded, &w->recording);
	}
	return JUDGE_PASSES;
}

/* Tell of a refusal when it happens. Without a journal the service is there only as long as the
 * call. */
static void tell_refusal(void *arg, const struct denial *d)
{
	struct watched *w = arg;
	AUTO_BUF why = { .max = LIMIT_ANSWER };

	denials_say(w->denials, d, &why);
	buf_addc(&why, '\0');
	(void)pthread_mutex_lock(&w->lock);
	if (w->told && !why.failed && (w->awaited || w->recording.journal))
		w->told->refused(w->told->arg, w->call,
				 d->by == DENIED_BY_NETWORK ? "network"
				 : d->by == DENIED_BY_GUARD ? "guard"
							    : "sandbox",
				 d->path, why.p);
	(void)pthread_mutex_unlock(&w->lock);
}

static void tell_unguarded(void *arg, const char *name)
{
	struct watched *w = arg;

	buf_addf(&w->unguarded, "%s\n", name);
	if (w->told && w->tells)
		w->told->unguarded(w->told->arg, w->call, name);
}

/* The second look: has something got past the judge? By the one who finishes the recording. */
static void look_again(struct watched *w, bool tells)
{
	w->tells = tells;
	if (w->guard && atomic_load(&w->guardian.seen))
		(void)guard_look(w->guard, tell_unguarded, w);
}

/* In the supervisor's thread, at its end: the call finishes the recording, or this thread if the
 * call has left. */
static void end_watch(void *arg)
{
	struct watched *w = arg;
	AUTO_ARENA a = { .max = LIMIT_CHANGE_MEMORY };
	struct change made;

	/* Its threads answer through the listener, which is closed after this. */
	broker_free(TAKE(w->broker, NULL));
	(void)pthread_mutex_lock(&w->lock);
	const bool awaited = w->awaited;
	w->ended = awaited;
	(void)pthread_cond_signal(&w->news);
	(void)pthread_mutex_unlock(&w->lock);
	if (!awaited)
		look_again(w, w->recording.journal);
	if (!awaited && w->records && recording_finish(&w->recording, &a, &made) && w->told)
		w->told->changed(w->told->arg, w->call, &made);
	release(w);
}

static bool begin_watch(void *arg, int listener)
{
	struct watched *w = arg;
	struct judge judges[SUPERVISOR_JUDGES];
	size_t count = 0;
	struct err ignored;

	if (w->broker)
		judges[count++] = broker_judge(w->broker);
	if (w->guard)
		judges[count++] = guardian_judge(&w->guardian);
	if (w->records) {
		judges[count++] = observer_judge(&w->observer);
		judges[count++] = (struct judge){ .look = note_number, .arg = w };
	}
	if (w->guard)
		judges[count++] = guardian_writer(&w->guardian);
	if (w->writes_git)
		judges[count++] = gitwriter_judge(w->denials);
	if (w->denials && denials_bounds(w->denials))
		judges[count++] = refusal_judge(w->denials);
	if (w->judges)
		judges[count++] = floor_judge(w->denials);
	const struct supervision how = { judges, count, end_watch, w };

	(void)pthread_mutex_lock(&w->lock);
	w->users++;
	(void)pthread_mutex_unlock(&w->lock);
	if (supervisor_start(listener, &how, &w->supervisor, &ignored) == 0)
		return true;
	release(w);
	return false;
}

/* The proc is released, perhaps by a thread that does not know the call. */
static void leave_proc(void *arg, bool over)
{
	struct watched *w = arg;

	(void)pthread_mutex_lock(&w->lock);
	w->over = over;
	(void)pthread_mutex_unlock(&w->lock);
	if (w->supervisor && over)
		supervisor_stop(w->supervisor);
	else if (w->supervisor)
		supervisor_leave(w->supervisor);
	release(w);
}

/* Copies of the texts that the recording has to outlive. */
static bool keep_texts(struct watched *w, const struct call *c)
{
	const struct str texts[] = { str_upto(c->about.tool, LIMIT_CHANGE_TEXT),
				     str_upto(c->about.subject, LIMIT_CHANGE_TEXT),
				     str_upto(c->session, LIMIT_CHANGE_TEXT) };
	struct str kept[ARRAY_LEN(texts)];
	size_t at = 0;

	w->texts.max = sizeof texts * LIMIT_CHANGE_TEXT;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		buf_add(&w->texts, texts[i]);
	if (w->texts.failed)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(texts); at += texts[i++].n)
		kept[i] = str_upto(str_from(buf_str(&w->texts), at), texts[i].n);
	const struct recording_about about = {
		.tool = kept[0], .subject = kept[1], .session = kept[2], .flags = CHANGE_COMMAND
	};
	w->recording = recording_of(c->shared->journal, &about);
	return true;
}

/* Have the changes recorded. */
static void record(struct watched *w, struct call *c)
{
	struct err ignored;

	journal_hold(c->shared->journal);
	w->recording.journal = c->shared->journal;
	w->records = keep_texts(w, c) && observer_init(&w->observer, &w->recording, &ignored) == 0;
}

struct watched *watched_new(struct call *c, struct proc_request *q)
{
	bool brokers, judges;
	struct bounds *bounds = runner_bounds(c->shared->runner, &brokers, &judges);
	const bool can_watch = runner_can_watch(c->shared->runner);
	const bool watches = c->observe && can_watch;
	const bool writes_git = can_watch && bounds && bounds->config.git.count;
	/* In a sandbox that holds the whole workspace nothing of it can be changed. */
	const bool records = watches && c->shared->journal && !(bounds && bounds->config.read_only);
	/* Without a sandbox, where it is observed anyway. */
	struct guard *guard =
		can_watch && (bounds || (watches && c->guarded)) ? c->shared->guard : NULL;
	const bool wanted =
		records || brokers || judges || writes_git || guard || (watches && bounds);
	struct watched *w = wanted ? mem_new(1, sizeof *w) : NULL;

	if (!w) {
		bounds_release(bounds);
		return NULL;
	}
	*w = (struct watched){
		.call = c->about.number,
		.told = c->shared->news,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.users = 2,
		.awaited = true,
		.judges = judges,
		.writes_git = writes_git,
		.guard = guard,
		.unguarded = { .max = LIMIT_ANSWER },
	};
	pthread_condattr_t attr;
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w->news, &attr);
	(void)pthread_condattr_destroy(&attr);
	w->denials = bounds || guard ? denials_new(bounds, tell_refusal, w) : NULL;
	if (guard) {
		guardian_init(&w->guardian, guard, w->denials);
		guard_enter(guard);
	}
	w->broker = brokers && w->denials ? broker_new(w->denials) : NULL;
	if (records)
		record(w, c);
	/* Then the reaper answers, and refuses what must not happen unseen. */
	if ((records && !w->records) || (brokers && !w->broker) ||
	    ((judges || writes_git || guard) && !w->denials)) {
		w->users = 1;
		release(w);
		return NULL;
	}
	q->watch = (struct proc_watch){ begin_watch, leave_proc, w };
	return w;
}

/* Wait for the thread's last look, which is short, unless a process has it read memory that does
 * not answer. Returns whether the recording is the call's now; *id is the number of the change. */
static bool await_end(struct watched *w, uint64_t *id)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LIMIT_WATCHED_MS / 1000;
	(void)pthread_mutex_lock(&w->lock);
	while (w->over && w->supervisor && !w->ended)
		if (pthread_cond_timedwait(&w->news, &w->lock, &until) != 0)
			break;
	w->awaited = false;
	const bool ended = w->ended;
	*id = w->id;
	(void)pthread_mutex_unlock(&w->lock);
	return ended;
}

const struct field denied_fields[] = {
	{ "operation", "What was tried: write, mkdir, remove, connect, …", FIELD_STR },
	{ "path", "The file, socket or address that it was tried on", FIELD_STR },
	{ "by", "What refused it: landlock, mount, seccomp, network or guard", FIELD_STR },
	{ "rule", "What is allowed instead", FIELD_STR },
	F_END,
};

/* Whether it is a state that programs keep for a person in the home directory, where they can. */
static bool is_usual(const char *path)
{
	static const char names[] =
		".config .cache .rustup .viminfo .viminfo.tmp .lesshst .wget-hsts "
		".python_history .node_repl_history .bash_history";
	const struct str home = str_of(getenv("HOME"));
	struct str below, first, rest;

	if (home.n < 2 || !path_within(home, str_of(path), &below))
		return false;
	(void)str_cut(below, '/', &first, &rest);
	return str_is_listed(names, first);
}

static struct denied_item item_of(const struct denials *d, const struct denial *one,
				  struct arena *a)
{
	AUTO_BUF rule = { .max = LIMIT_ANSWER };
	AUTO_BUF sentence = { .max = LIMIT_ANSWER };

	denials_rule(d, one, &rule);
	denials_say(d, one, &sentence);
	return (struct denied_item){
		.operation = denial_operation(one),
		.by = denial_by_name(one),
		.path = arena_dup(a, str_of(one->path)),
		.rule = arena_dup(a, buf_str(&rule)),
		.sentence = arena_dup(a, buf_str(&sentence)),
		.usual = is_usual(one->path),
	};
}

/* Copy them to the arena. NULL if there are none, or no memory. */
static const struct denied *denied_of(struct denials *d, struct arena *a)
{
	const size_t listed = denials_listed(d);
	struct denied *ret = listed ? arena_alloc(a, sizeof *ret) : NULL;

	if (!ret)
		return NULL;
	*ret = (struct denied){ .count = denials_count(d),
				.listed = listed,
				.items = arena_array(a, listed, sizeof *ret->items) };
	if (!ret->items)
		return NULL;
	for (size_t i = 0; i < listed; i++) {
		const struct denial one = denials_at(d, i);
		ret->items[i] = item_of(d, &one, a);
	}
	return ret;
}

void watched_leave(struct watched *w, struct call *c)
{
	if (!w)
		return;
	uint64_t id;
	const bool ended = await_end(w, &id);
	if (ended)
		look_again(w, true);
	c->unguarded = arena_dup(c->arena, buf_str(&w->unguarded));
	if (ended && w->records)
		(void)recording_finish(&w->recording, c->arena, c->made);
	else if (id)
		*c->made = (struct change){ .id = id, .flags = CHANGE_COMMAND | CHANGE_OPEN };
	c->denied = w->denials ? denied_of(w->denials, c->arena) : NULL;
	release(w);
}

const char *watched_not(const struct call *c, bool *is_new)
{
	/* The tracker knows what a session was told; no file has this name. */
	const struct str told = STR("not observed");
	struct sandbox_report now;

	*is_new = false;
	if (!c->observe || !c->shared->journal || c->shared->read_only ||
	    runner_can_watch(c->shared->runner))
		return NULL;
	runner_report(c->shared->runner, &now);
	const char *why = sandbox_unwatched(&now);
	if (!why)
		return NULL;
	*is_new = !c->tracker || !c->session.n ||
		  tracker_check(c->tracker, c->session, told, STR("")) == TRACKER_UNSEEN;
	if (*is_new && c->tracker)
		tracker_saw(c->tracker, c->session, told, STR(""), NULL);
	return why;
}
