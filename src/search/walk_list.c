/* SPDX-License-Identifier: MIT */
/* walk_list: pieces of work, in the order of the tree. */

#include "search/walk_list.h"

#include "base/own.h"

struct piece *piece_new(struct walk *w, enum piece_state state, struct dir *d, size_t names_n)
{
	struct piece *p = mem_new(1, sizeof *p + names_n);

	if (!p)
		return NULL;
	p->state = state;
	p->dir = d;
	if (d)
		dir_hold(&w->dirs, d);
	p->names_n = names_n;
	return p;
}

void piece_free(struct walk *w, struct piece *p)
{
	dir_drop(&w->dirs, p->dir);
	hits_done(&p->hits);
	mem_free(p);
}

void piece_list_add(struct piece_list *l, struct piece *p)
{
	p->prev = l->last;
	p->next = NULL;
	*(l->last ? &l->last->next : &l->first) = p;
	l->last = p;
}

void piece_list_remove(struct piece_list *l, struct piece *p)
{
	*(p->prev ? &p->prev->next : &l->first) = p->next;
	*(p->next ? &p->next->prev : &l->last) = p->prev;
}

void piece_list_replace(struct piece_list *l, struct piece *p, struct piece_list *in)
{
	if (!in->first) {
		piece_list_remove(l, p);
		return;
	}
	in->first->prev = p->prev;
	*(p->prev ? &p->prev->next : &l->first) = in->first;
	in->last->next = p->next;
	*(p->next ? &p->next->prev : &l->last) = in->last;
}

void piece_list_merge(struct walk *w, struct piece *p, const struct piece *end)
{
	while (p && p->next) {
		struct piece *next = p->next;
		const bool at_end = next == end;

		if (p->state == PIECE_DONE && next->state == PIECE_DONE) {
			hits_join(&p->hits, &next->hits);
			piece_list_remove(&w->list, next);
			piece_free(w, next);
		} else {
			p = next;
		}
		if (at_end)
			return;
	}
}

void piece_list_free(struct walk *w, struct piece_list *l)
{
	while (l->first) {
		struct piece *p = l->first;

		piece_list_remove(l, p);
		piece_free(w, p);
	}
}
