/* SPDX-License-Identifier: MIT */
/* walk_list: a linked list of work. */

#include "search/walk_list.h"

struct walk_item *walk_item_new(struct dirs *dirs, enum item_state state, struct dir *d,
				size_t names_n)
{
	struct walk_item *item = mem_new(1, sizeof *item + names_n);

	if (!item)
		return NULL;
	item->state = state;
	item->dir = d;
	if (d)
		dir_hold(dirs, d);
	item->names_n = names_n;
	return item;
}

void walk_item_free(struct dirs *dirs, struct walk_item *item)
{
	dir_drop(dirs, item->dir);
	hits_done(&item->hits);
	mem_free(item);
}

void walk_list_add(struct walk_list *l, struct walk_item *item)
{
	item->prev = l->last;
	item->next = NULL;
	*(l->last ? &l->last->next : &l->first) = item;
	l->last = item;
}

void walk_list_remove(struct walk_list *l, struct walk_item *item)
{
	*(item->prev ? &item->prev->next : &l->first) = item->next;
	*(item->next ? &item->next->prev : &l->last) = item->prev;
}

struct walk_item *walk_list_shift(struct walk_list *l)
{
	struct walk_item *item = l->first;

	walk_list_remove(l, item);
	return item;
}

void walk_list_replace(struct walk_list *l, struct walk_item *item, struct walk_list *in)
{
	if (!in->first) {
		walk_list_remove(l, item);
		return;
	}
	in->first->prev = item->prev;
	*(item->prev ? &item->prev->next : &l->first) = in->first;
	in->last->next = item->next;
	*(item->next ? &item->next->prev : &l->last) = in->last;
}

void walk_list_merge(struct walk_list *l, struct dirs *dirs, struct walk_item *item,
		     const struct walk_item *end)
{
	while (item && item->next) {
		struct walk_item *next = item->next;
		const bool at_end = next == end;

		if (item->state == ITEM_DONE && next->state == ITEM_DONE &&
		    item->group == next->group) {
			hits_join(&item->hits, &next->hits);
			walk_list_remove(l, next);
			walk_item_free(dirs, next);
		} else {
			item = next;
		}
		if (at_end)
			return;
	}
}
