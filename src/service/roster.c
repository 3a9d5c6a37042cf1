/* SPDX-License-Identifier: MIT */
/* roster: a list. */

#include "service/roster.h"

#include "base/io.h"
#include "exec/jobs.h"

static bool same_name(const struct json *a, const struct json *b)
{
	if (a->type != b->type)
		return false;
	return a->type == JSON_STRING ? str_eq(a->string, b->string)
				      : a->type == JSON_NUMBER && a->integer == b->integer;
}

static struct roster_entry *find_name(struct roster *r, struct str session, const struct json *name)
{
	for (struct roster_entry *entry = r->first; entry; entry = entry->next)
		if (entry->session.n && str_eq(entry->session, session) &&
		    same_name(entry->name, name))
			return entry;
	return NULL;
}

static struct roster_entry *find(struct roster *r, uint64_t call)
{
	struct roster_entry *entry = r->first;

	while (entry && entry->call != call)
		entry = entry->next;
	return entry;
}

int roster_enter(struct roster *r, struct roster_entry *entry, struct err *e)
{
	int rc = 0;

	entry->own = (struct cancel)CANCEL_INIT;
	if (!entry->cancel)
		entry->cancel = &entry->own;
	entry->before = NULL;
	entry->unwanted = false;
	(void)pthread_mutex_lock(&r->lock);
	if (r->closed) {
		rc = err_set(e, ERR_TOO_BUSY, "The server is ending");
	} else if (entry->session.n && find_name(r, entry->session, entry->name)) {
		rc = err_set(e, ERR_INVALID_ARGUMENTS, "A request with this id is still running");
	} else {
		entry->next = r->first;
		if (r->first)
			r->first->before = entry;
		r->first = entry;
	}
	(void)pthread_mutex_unlock(&r->lock);
	entry->entered = rc == 0;
	return rc;
}

void roster_describe(struct roster *r, struct roster_entry *entry, uint64_t call, void *about)
{
	(void)pthread_mutex_lock(&r->lock);
	entry->call = call;
	entry->about = about;
	(void)pthread_mutex_unlock(&r->lock);
}

bool roster_leave(struct roster *r, struct roster_entry *entry)
{
	if (!entry->entered)
		return true;
	(void)pthread_mutex_lock(&r->lock);
	if (entry->next)
		entry->next->before = entry->before;
	if (entry->before)
		entry->before->next = entry->next;
	else
		r->first = entry->next;
	(void)pthread_mutex_unlock(&r->lock);
	/* No other thread knows of it any more. */
	entry->entered = false;
	cancel_done(&entry->own);
	return !entry->unwanted;
}

/* Its client does not want an answer any more. The roster is locked. */
static void drop(struct roster_entry *entry)
{
	entry->unwanted = true;
	cancel_ask(entry->cancel);
}

void roster_cancel(struct roster *r, struct str session, const struct json *name)
{
	(void)pthread_mutex_lock(&r->lock);
	struct roster_entry *entry = find_name(r, session, name);
	if (entry)
		drop(entry);
	(void)pthread_mutex_unlock(&r->lock);
}

void roster_cancel_session(struct roster *r, struct str session)
{
	(void)pthread_mutex_lock(&r->lock);
	for (struct roster_entry *entry = r->first; entry; entry = entry->next)
		if (entry->session.n && str_eq(entry->session, session))
			drop(entry);
	(void)pthread_mutex_unlock(&r->lock);
}

void roster_close(struct roster *r)
{
	(void)pthread_mutex_lock(&r->lock);
	r->closed = true;
	for (struct roster_entry *entry = r->first; entry; entry = entry->next) {
		/* A client that waits for a call by name knows that the connection ends. */
		entry->unwanted = entry->session.n;
		cancel_ask(entry->cancel);
	}
	(void)pthread_mutex_unlock(&r->lock);
}

bool roster_stop(struct roster *r, uint64_t call)
{
	(void)pthread_mutex_lock(&r->lock);
	struct roster_entry *entry = find(r, call);
	if (entry)
		cancel_ask_by_person(entry->cancel);
	(void)pthread_mutex_unlock(&r->lock);
	return (r->jobs && jobs_stop_call(r->jobs, call)) || entry;
}

int64_t roster_count(struct roster *r)
{
	int64_t n = 0;

	(void)pthread_mutex_lock(&r->lock);
	for (const struct roster_entry *entry = r->first; entry; entry = entry->next)
		n += entry->call != 0;
	(void)pthread_mutex_unlock(&r->lock);
	return n;
}

bool roster_has(struct roster *r, uint64_t call)
{
	(void)pthread_mutex_lock(&r->lock);
	const bool found = find(r, call);
	(void)pthread_mutex_unlock(&r->lock);
	return found;
}

void roster_visit(struct roster *r, void (*visit)(void *arg, struct roster_entry *entry), void *arg)
{
	(void)pthread_mutex_lock(&r->lock);
	for (struct roster_entry *entry = r->first; entry; entry = entry->next)
		visit(arg, entry);
	(void)pthread_mutex_unlock(&r->lock);
}

static void tick(void *now_ms, struct roster_entry *entry)
{
	if (entry->tick)
		entry->tick(entry, *(const int64_t *)now_ms);
}

void roster_tick(struct roster *r)
{
	int64_t now_ms = io_now_ms();

	roster_visit(r, tick, &now_ms);
}
