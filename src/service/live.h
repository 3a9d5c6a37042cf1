/* SPDX-License-Identifier: MIT */
/*
 * live: the calls under way: what is told of them to those who watch, and how they are stopped.
 *
 * dispatch opens a live_call before it runs a tool and ends it afterwards. In between the live_call
 * sees the output of commands on its way to the front end, and anyone may stop the call by its
 * number. What it has to tell becomes events (events.h); texts lose their secrets first.
 *
 * The zero value keeps no events and only counts output.
 */
#ifndef SERVICE_LIVE_H
#define SERVICE_LIVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/cancel.h"
#include "base/json.h"
#include "changes/record.h"
#include "exec/jobs.h"
#include "scrub/scrub.h"
#include "service/account.h"
#include "service/events.h"
#include "tools/tool.h"

struct live {
	struct events *events; /* NULL: events are off */
	const struct scrub *secrets;
	struct journal *journal; /* what changes were made; or NULL */
	struct live_call *first; /* who looks at the list holds the ring (events_hold) */
};

/* From now on events are kept. *secrets and *journal, which may be NULL, must outlive it. */
int live_open(struct live *l, const struct scrub *secrets, struct journal *journal, struct err *e);
void live_done(struct live *l);

/* Output that waits to be told. */
struct live_output {
	struct scrubber scrubber;
	struct buf clean;
};

/* What dispatch knows of a call besides its account. */
struct live_about {
	const struct json *arguments;
	bool mcp;
	struct str client; /* its name, if it has one */
};

/* One call. It must not be moved. */
struct live_call {
	struct live *live;
	struct live_call *next, *before;
	uint64_t id;
	struct live_about about;	      /* the caller sets it before live_begin */
	const struct account *account;	      /* the caller's */
	struct cancel *cancel, own;	      /* own: if the front end gave none */
	const struct call_stream *stream;     /* the front end's … */
	const struct call_progress *progress; /* … or NULL */
	struct call_stream tap_stream;	      /* what the tool gets instead */
	struct call_progress tap_progress;
	int64_t bytes; /* that were streamed */

	/* There was output: its thread has made all below. Most calls have none. */
	atomic_bool has_output;
	pthread_mutex_t lock; /* of all below; who needs the ring too holds that first */
	struct live_output output[2];
	int64_t taken, dropped; /* bytes of output */
	int64_t told_us;	/* when output was told last */
};

/* The call begins: it is told, and *c gets a cancel and the taps. *a must stay until it
 * has ended. */
void live_begin(struct live *l, struct live_call *lc, const struct account *a, struct call *c);

/* The call has ended. `change` is what it changed (id 0: nothing), `why` the sentence of a failure
 * or NULL, `result` its result, of which the beginning is kept. */
void live_end(struct live_call *lc, const struct account *a, const struct change *change,
	      const char *why, struct str result);

/* The sandbox has refused something to the command of a call. */
void live_denied(struct live *l, uint64_t call, const char *what, const char *path,
		 const char *why);

/* A change has ended after its call. */
void live_change(struct live *l, uint64_t call, const struct change *change);

/* A request was refused before there was a call. */
void live_refused(struct live *l, const char *what, struct str subject, const char *why);

/* A job has started, or ended; for jobs_tell. */
void live_job(void *live, const struct job_state *job);

/* Tell output that has waited long enough. Returns how long the rest waits at most, in
 * milliseconds; -1: none does. */
int live_tell_output(struct live *l);

/* A text that is not in the ring, without secrets; it may lie in `aside`. */
struct str live_clean(const struct live *l, struct str text, struct buf *aside);

/* Ask a running call to stop, with everything that it started. False: it does not run. */
bool live_stop(struct live *l, uint64_t call);
int64_t live_running(struct live *l); /* how many calls run */
bool live_is_running(struct live *l, uint64_t call);

#endif
