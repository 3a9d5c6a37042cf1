/* SPDX-License-Identifier: MIT */
/*
 * live: what is told of the calls under way to those who watch.
 *
 * A live_call begins before a tool is run and ends afterwards. In between it takes the output of
 * commands (tools/sink.h). What it has to tell becomes events (events.h); texts lose their secrets
 * first.
 *
 * The zero value keeps no events.
 */
#ifndef SERVICE_LIVE_H
#define SERVICE_LIVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/json.h"
#include "changes/record.h"
#include "exec/jobs.h"
#include "scrub/scrub.h"
#include "service/account.h"
#include "service/events.h"
#include "service/roster.h"
#include "tools/sink.h"
#include "tools/tool.h"

struct live {
	struct events *events; /* NULL: events are off */
	const struct scrub *secrets;
	struct journal *journal; /* what changes were made; or NULL */
	struct roster *roster;	 /* of the calls under way */
	struct guard *guard;	 /* what runs later; or NULL */
};

/* From now on events are kept. What it is given must outlive it; *journal may be NULL. */
int live_open(struct live *l, const struct scrub *secrets, struct journal *journal,
	      struct roster *roster, struct err *e);
void live_done(struct live *l);

/* What dispatch knows of a call besides its account. */
struct live_about {
	const struct json *arguments;
	struct str raw; /* their text; or empty */
	bool mcp;
	struct str client; /* its name, if it has one */
};

/* One call. It must not be moved. */
struct live_call {
	/* Set before it begins: */
	struct live *live;
	uint64_t id;
	struct live_about about;       /* the caller sets it before live_begin */
	const struct account *account; /* the caller's */
	struct sink_taker taker;       /* of its output */

	/* There was output: its thread has made all below. Most calls have none. */
	atomic_bool has_output;
	pthread_mutex_t lock; /* of all below; who needs the ring too holds that first */
	struct buf output[2]; /* that waits to be told: stdout, stderr */
	int64_t taken;	      /* bytes of the beginning; after that comes … */
	bool ending;	      /* … what may be the end */
	struct buf end;	      /* in pieces, oldest first */
	int64_t dropped;      /* bytes between the two */
	int64_t told_us;      /* when output was told last */
};

/* The call begins: it is told, and *c gets a taker. */
void live_begin(struct live_call *lc, struct call *c);

/* What the caller of a call got: members of an object, or a text. */
struct live_result {
	struct str text;
	bool members;
};

/* The call has ended. `change` is what it changed (id 0: nothing), `why` the sentence of a failure
 * or NULL, `result` its result, of which the beginning is kept, of a command both ends. */
void live_end(struct live_call *lc, const struct account *a, const struct change *change,
	      const char *why, const struct live_result *result);

/* It has left the roster. */
void live_gone(struct live_call *lc);

/* A change has ended after its call; or (call is 0) another program has made it. */
void live_change(struct live *l, uint64_t call, const struct change *change);

/* Changes of other programs in the same workspace are told as soon as this program knows of them. So
 * that it does while somebody watches: a descriptor that becomes readable when one of them may have
 * made one, which the caller closes, or -1; and what to do then. */
int live_listen(const struct live *l);
void live_heard(struct live *l, int listens);

/* Something was refused: by the sandbox to the command of a call; or (call is 0) a request before
 * there was one. */
/* A guarded name is not as it was before the call. */
void live_unguarded(struct live *l, uint64_t call, struct str path);

void live_refused(struct live *l, uint64_t call, const char *what, struct str subject,
		  const char *why);

/* A job has started, or ended; for jobs_tell. */
void live_job(void *live, const struct job_state *job);

/* Tell output that has waited long enough. Returns how long the rest waits at most, in
 * milliseconds; -1: none does. */
int live_tell_output(struct live *l);

/* Write the members of an event, without the details of a call; of a change, with its files, which
 * are read for it. */
void live_write(struct live *l, struct jw *w, struct event *e);

/* The arguments of a call as JSON without secrets, from its start; in the arena. */
struct str live_arguments(const struct live *l, const struct event *start, struct arena *a);

/* The beginning of its result as JSON without secrets, from its end; in the arena. */
struct str live_result(const struct live *l, const struct event *end, struct arena *a);

/* A text that is not in the ring, without secrets; it may lie in `aside`. */
struct str live_clean(const struct live *l, struct str text, struct buf *aside);

#endif
