/* SPDX-License-Identifier: MIT */
/* slots: ownership by compare-and-swap on a ticket. */

#include "api/slots.h"

#include "base/own.h"

/*
 * A ticket is the generation (32 bits: one connection), the turn (30 bits: one time of waiting) and
 * the state. The turn makes a claim that was prepared during an earlier time of waiting fail.
 */
enum { FREE, WAITING, BUSY, AGAIN /* busy, and an event has come */, STATES };

static const uint32_t NONE = UINT32_MAX;

static unsigned state_of(uint64_t ticket)
{
	return ticket % STATES;
}

static uint64_t with_state(uint64_t ticket, unsigned state)
{
	return ticket - ticket % STATES + state;
}

int slots_init(struct slots *s, uint32_t most, uint32_t tcp_most, uint32_t refused, struct err *e)
{
	s->size = most + refused;
	s->all = mem_new(s->size, sizeof *s->all);
	if (!s->all)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for %u connections", most);
	s->most = most;
	s->tcp_most = tcp_most;
	s->first_free = NONE;
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

/* Under the lock: one more of its kind is in use, or one less. */
static void count(struct slots *s, bool over, bool tcp, uint32_t change)
{
	*(over ? &s->over : &s->served) += change;
	if (tcp && !over)
		s->tcp += change;
}

struct slot *slots_take(struct slots *s, bool tcp)
{
	struct slot *c;

	(void)pthread_mutex_lock(&s->lock);
	const bool over = s->served >= s->most || (tcp && s->tcp >= s->tcp_most);
	if (over && s->over >= s->size - s->most) {
		c = NULL;
	} else if (s->first_free != NONE) {
		c = &s->all[s->first_free];
		s->first_free = c->next;
	} else {
		c = &s->all[s->fresh++];
	}
	if (c)
		count(s, over, tcp, 1);
	(void)pthread_mutex_unlock(&s->lock);
	if (!c)
		return NULL;
	s->used++;
	c->tcp = tcp;
	c->over = over;
	c->watched = c->for_out = c->ended = false;
	c->cancel = (struct cancel)CANCEL_INIT;
	c->ticket = with_state(c->ticket, BUSY);
	return c;
}

void slots_give(struct slots *s, struct slot *c)
{
	(void)pthread_mutex_lock(&s->lock);
	cancel_done(&c->cancel);
	count(s, c->over, c->tcp, -1U);
	/* The next generation: events of this one are recognised as old. */
	c->ticket = ((c->ticket >> 32) + 1) << 32 | FREE;
	c->next = s->first_free;
	s->first_free = (uint32_t)(c - s->all);
	(void)pthread_mutex_unlock(&s->lock);
	s->used--;
}

void slots_hung_up(struct slots *s, uint64_t key, bool half)
{
	struct slot *c = &s->all[(uint32_t)key];

	/* Under the lock the slot cannot become another connection's. */
	(void)pthread_mutex_lock(&s->lock);
	if (c->ticket >> 32 == key >> 32 && (c->tcp || !half))
		cancel_ask(&c->cancel);
	(void)pthread_mutex_unlock(&s->lock);
}

void slots_renew(struct slots *s, struct slot *c)
{
	/* Every thread that may ask holds the lock, and no other part knows of the call any more.
	 */
	(void)pthread_mutex_lock(&s->lock);
	cancel_reset(&c->cancel);
	(void)pthread_mutex_unlock(&s->lock);
}

uint64_t slots_key(const struct slots *s, const struct slot *c)
{
	return c->ticket >> 32 << 32 | (uint32_t)(c - s->all);
}

struct slot *slots_claim(struct slots *s, uint64_t key)
{
	struct slot *c = &s->all[(uint32_t)key];
	uint64_t ticket = c->ticket;

	while (ticket >> 32 == key >> 32) {
		const unsigned state = state_of(ticket);
		if (state != WAITING && state != BUSY)
			return NULL;
		const uint64_t next = with_state(ticket, state == WAITING ? BUSY : AGAIN);
		if (atomic_compare_exchange_weak(&c->ticket, &ticket, next))
			return state == WAITING ? c : NULL;
	}
	return NULL;
}

bool slot_let_go(struct slot *c)
{
	uint64_t ticket = c->ticket;

	c->deadline_ms = c->http.deadline_ms;
	c->answering = c->http.state == HTTP_OUT;
	while (state_of(ticket) == BUSY) {
		/* The turn is what lies between generation and state; it may wrap around. */
		const uint64_t turn = (uint32_t)(ticket + STATES);
		const uint64_t next = ticket >> 32 << 32 | with_state(turn, WAITING);
		if (atomic_compare_exchange_weak(&c->ticket, &ticket, next))
			return true;
	}
	c->ticket = with_state(ticket, BUSY);
	return false;
}

bool slot_claim_expired(struct slot *c, int64_t now_ms, bool ending)
{
	uint64_t ticket = c->ticket;
	const bool over = now_ms >= c->deadline_ms || (ending && !c->answering);

	/* The deadline is that of this very turn, or the exchange fails. */
	return state_of(ticket) == WAITING && over &&
	       atomic_compare_exchange_strong(&c->ticket, &ticket, with_state(ticket, BUSY));
}

bool slot_is_busy(const struct slot *c)
{
	const unsigned state = state_of(c->ticket);

	return state == BUSY || state == AGAIN || (state == WAITING && c->answering);
}

bool slots_any_busy(const struct slots *s)
{
	for (uint32_t i = 0; i < s->fresh && s->used; i++)
		if (slot_is_busy(&s->all[i]))
			return true;
	return false;
}
