/* SPDX-License-Identifier: MIT */
/*
 * roster: the calls that are under way, whoever made them, and how they are ended.
 *
 * dispatch enters every call before it runs the tool and lets it leave afterwards. A front end
 * whose clients cancel calls by a name of their own (MCP) enters the call itself, before it is
 * made, and gives the entry to dispatch. There are four ways to end a call, and all of them go
 * through its entry's cancel (base/cancel.h): its client leaves, its client cancels it by name, a
 * person stops it by its number, the server ends.
 *
 * Jobs outlive their calls; they have a list of their own (exec/jobs.h), which is asked too when a
 * call is stopped.
 *
 * The zero value is ready for use. Safe for many threads.
 */
#ifndef SERVICE_ROSTER_H
#define SERVICE_ROSTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

struct jobs;

struct roster_entry {
	/* Set by the one who enters it. */
	uint64_t call;		 /* its number; 0: not known yet */
	struct str session;	 /* within which `name` is unique; empty: it has no name */
	const struct json *name; /* a string or a whole number, by which its client cancels it */
	struct cancel *cancel;	 /* NULL: it gets one of its own */
	/* Told that time passes, by roster_tick; or NULL. It must not wait. */
	void (*tick)(struct roster_entry *entry, int64_t now_ms);
	void *about; /* for those who visit it; or NULL */

	/* The roster's. */
	struct roster_entry *next, *before;
	struct cancel own;
	bool entered;
	bool unwanted; /* its client has cancelled it: there is no answer */
};

struct roster {
	pthread_mutex_t lock;
	struct roster_entry *first;
	bool closed;	   /* no call may begin any more */
	struct jobs *jobs; /* or NULL */
};

/* The call begins. -1 if its session has one of the same name already (INVALID_ARGUMENTS), or if
 * the roster is closed (TOO_BUSY). It must not be moved until it has left. */
int roster_enter(struct roster *r, struct roster_entry *entry, struct err *e);

/* Say which call an entry is that its front end has entered, and what is to be visited. */
void roster_describe(struct roster *r, struct roster_entry *entry, uint64_t call, void *about);

/* The call is over: nobody can end it any more. Returns whether it is to be answered. */
bool roster_leave(struct roster *r, struct roster_entry *entry);

/* Its client does not want the call of that name any more, or any call of the session. */
void roster_cancel(struct roster *r, struct str session, const struct json *name);
void roster_cancel_session(struct roster *r, struct str session);

/* End all calls, and let none begin any more. */
void roster_close(struct roster *r);

/* A person wants a call to end, with the jobs that come from it. False: none of them runs. */
bool roster_stop(struct roster *r, uint64_t call);

/* How many calls are under way; and whether this one is. */
int64_t roster_count(struct roster *r);
bool roster_has(struct roster *r, uint64_t call);

/* Call the function for each, while none can enter or leave. */
void roster_visit(struct roster *r, void (*visit)(void *arg, struct roster_entry *entry),
		  void *arg);

/* To be called about once a second. */
void roster_tick(struct roster *r);

#endif
