/* SPDX-License-Identifier: MIT */
/* watched: a recording that belongs to the supervisor's thread, then to the one who finishes it. */

#include "tools/watched.h"

#include <pthread.h>
#include <time.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/limits.h"
#include "changes/observer.h"
#include "changes/recording.h"
#include "sandbox/broker.h"
#include "sandbox/floor.h"
#include "sandbox/refusal.h"
#include "tools/denied.h"

/* Shared by the call, the proc and the supervisor's thread; the last of them frees it. */
struct watched {
	struct buf texts; /* of the recording */
	struct recording recording;
	struct observer observer;
	bool records;		 /* … and that is used */
	struct denials *denials; /* NULL: there is no sandbox */
	struct broker *broker;	 /* NULL: connections are not stopped */
	bool judges;		 /* what file rules do not hold */
	void (*refused)(void *arg, uint64_t call, const char *what, const char *path,
			const char *why);
	struct supervisor *supervisor; /* of the proc; NULL: there was no listener */
	uint64_t call;
	void (*changed)(void *arg, uint64_t call, const struct change *c);
	void *changed_arg;

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
	if (w->recording.journal) {
		recording_done(&w->recording);
		journal_release(w->recording.journal);
	}
	observer_done(&w->observer);
	broker_free(w->broker);
	denials_free(w->denials);
	buf_done(&w->texts);
	(void)pthread_cond_destroy(&w->news);
	(void)pthread_mutex_destroy(&w->lock);
	mem_free(w);
}

/* The last judge: tells the others the number of the change. */
static enum judgement note_number(void *arg, const struct stopped_call *call)
{
	struct watched *w = arg;

	(void)call;
	if (w->id == 0 && recording_id(&w->recording)) {
		(void)pthread_mutex_lock(&w->lock);
		w->id = recording_id(&w->recording);
		(void)pthread_mutex_unlock(&w->lock);
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
	if (w->refused && !why.failed && (w->awaited || w->recording.journal))
		w->refused(w->changed_arg, w->call,
			   d->by == DENIED_BY_NETWORK ? "network" : "sandbox", d->path, why.p);
	(void)pthread_mutex_unlock(&w->lock);
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
	if (!awaited && w->records && recording_finish(&w->recording, &a, &made) && w->changed)
		w->changed(w->changed_arg, w->call, &made);
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
	if (w->records) {
		judges[count++] = observer_judge(&w->observer);
		judges[count++] = (struct judge){ note_number, w };
	} else if (w->denials) {
		judges[count++] = refusal_judge(w->denials);
	}
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
	const struct str texts[] = { str_upto(c->tool, LIMIT_CHANGE_TEXT),
				     str_upto(c->subject, LIMIT_CHANGE_TEXT),
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
	w->recording = recording_of(c->journal, &about);
	return true;
}

/* Have the changes recorded. Inside the workspace the observer knows each path; only what lies
 * elsewhere, or in a workspace that cannot be written, can be refused. */
static void record(struct watched *w, struct call *c)
{
	struct err ignored;

	journal_hold(c->journal);
	w->recording.journal = c->journal;
	w->records = keep_texts(w, c) && observer_init(&w->observer, &w->recording, &ignored) == 0;
	if (w->denials)
		observer_pass_on(&w->observer, refusal_judge(w->denials));
}

struct watched *watched_new(struct call *c, struct proc_request *q)
{
	struct bounds *bounds = runner_bounds(c->runner);
	const bool watches = c->observe && runner_can_watch(c->runner);
	/* In a sandbox that holds the whole workspace nothing of it can be changed. */
	const bool records = watches && c->journal && !(bounds && bounds->config.read_only);
	const bool brokers = runner_brokers(c->runner);
	const bool judges = runner_judges(c->runner);
	const bool wanted = records || brokers || judges || (watches && bounds);
	struct watched *w = wanted ? mem_new(1, sizeof *w) : NULL;

	if (!w) {
		bounds_release(bounds);
		return NULL;
	}
	*w = (struct watched){
		.call = c->number,
		.changed = c->changed,
		.changed_arg = c->changed_arg,
		.refused = c->refused,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.users = 2,
		.awaited = true,
		.judges = judges,
	};
	pthread_condattr_t attr;
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w->news, &attr);
	(void)pthread_condattr_destroy(&attr);
	w->denials = bounds ? denials_new(bounds, tell_refusal, w) : NULL;
	w->broker = brokers && w->denials ? broker_new(w->denials) : NULL;
	if (records)
		record(w, c);
	/* Then the reaper answers, and refuses what must not happen unseen. */
	if ((records && !w->records) || (brokers && !w->broker) || (judges && !w->denials)) {
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

void watched_leave(struct watched *w, struct call *c)
{
	if (!w)
		return;
	uint64_t id;
	const bool ended = await_end(w, &id);
	if (ended && w->records)
		(void)recording_finish(&w->recording, c->arena, c->made);
	else if (id)
		*c->made = (struct change){ .id = id, .flags = CHANGE_COMMAND | CHANGE_OPEN };
	c->denied = w->denials ? denied_of(w->denials, c->arena) : NULL;
	release(w);
}
