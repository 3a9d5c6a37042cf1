/* SPDX-License-Identifier: MIT */
/* slots: ownership by compare-and-swap on a ticket of generation and state. */

#include "api/slots.h"

#include <sched.h>

#include "base/own.h"

enum { FREE, WAITING, BUSY, STATES = 4 };

static const uint32_t NONE = UINT32_MAX;

int slots_init(struct slots *s, uint32_t size, struct err *e)
{
	s->all = mem_new(size, sizeof *s->all);
	if (!s->all)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for %u connections", size);
	s->size = size;
	s->first_free = NONE;
	for (uint32_t i = size; i-- > 0; s->first_free = i)
		s->all[i].next = s->first_free;
	(void)pthread_mutex_init(&s->lock, NULL);
	return 0;
}

void slots_done(struct slots *s)
{
	if (s->all)
		(void)pthread_mutex_destroy(&s->lock);
	mem_free(s->all);
	s->all = NULL;
}

struct slot *slots_take(struct slots *s)
{
	struct slot *c = NULL;

	(void)pthread_mutex_lock(&s->lock);
	if (s->first_free != NONE) {
		c = &s->all[s->first_free];
		s->first_free = c->next;
	}
	(void)pthread_mutex_unlock(&s->lock);
	if (!c)
		return NULL;
	s->used++;
	c->watched = false;
	c->ticket += BUSY - FREE;
	return c;
}

void slots_give(struct slots *s, struct slot *c)
{
	/* The next generation: events of this one are recognised as old. */
	c->ticket += STATES - BUSY + FREE;
	(void)pthread_mutex_lock(&s->lock);
	c->next = s->first_free;
	s->first_free = (uint32_t)(c - s->all);
	(void)pthread_mutex_unlock(&s->lock);
	s->used--;
}

uint64_t slots_key(const struct slots *s, const struct slot *c)
{
	return (uint64_t)(c->ticket / STATES) << 32 | (uint32_t)(c - s->all);
}

bool slot_claim(struct slot *c)
{
	uint32_t ticket = c->ticket;

	return ticket % STATES == WAITING &&
	       atomic_compare_exchange_strong(&c->ticket, &ticket, ticket - WAITING + BUSY);
}

struct slot *slots_claim_key(struct slots *s, uint64_t key)
{
	struct slot *c = &s->all[(uint32_t)key];
	const uint32_t generation = (uint32_t)(key >> 32);

	for (;;) {
		uint32_t ticket = c->ticket;
		if (ticket / STATES != generation)
			return NULL;
		if (ticket % STATES == WAITING &&
		    atomic_compare_exchange_strong(&c->ticket, &ticket, ticket - WAITING + BUSY))
			return c;
		/* Busy: whoever put it into the set is about to let go of it, or somebody else is
		 * about to close it. Either takes a few instructions. */
		(void)sched_yield();
	}
}

void slot_let_go(struct slot *c)
{
	c->ticket -= BUSY - WAITING;
}

bool slot_is_busy(const struct slot *c)
{
	return c->ticket % STATES == BUSY;
}
