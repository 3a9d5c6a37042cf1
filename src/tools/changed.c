/* SPDX-License-Identifier: MIT */
/* changed: the first paths of a change, as members and as a line. */

#include "tools/changed.h"

#include "base/own.h"
#include "changes/content.h"
#include "changes/entry.h"
#include "tools/limits.h"

const char *changed_kind(enum item_kind kind)
{
	static const char *const names[ITEM_KINDS] = {
		[ITEM_CREATED] = "created", [ITEM_MODIFIED] = "modified",
		[ITEM_DELETED] = "deleted", [ITEM_RENAMED] = "renamed",
		[ITEM_TIMES] = "times",
	};

	return names[kind];
}

void changed_write_counts(struct jw *w, const uint32_t counts[ITEM_KINDS])
{
	for (int kind = 0; kind < ITEM_TIMES; kind++)
		jw_int(w, changed_kind((enum item_kind)kind), counts[kind]);
}

static const struct field changed_path_fields[] = {
	{ "path", "Where it is, or was", FIELD_STR },
	{ "kind", "created, modified, deleted or renamed", FIELD_STR },
	{ "from", "Where it was before it was renamed", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

const struct field changed_fields[] = {
	{ "id", "The change, for undo_change", FIELD_INT },
	{ "created", "How many paths are new", FIELD_INT },
	{ "modified", "How many are different", FIELD_INT },
	{ "deleted", "How many are gone", FIELD_INT },
	{ "renamed", "How many have another name", FIELD_INT },
	{ "open", "It goes on: something of the command still runs", FIELD_BOOL, FIELD_OPTIONAL },
	{ "complete", "False: more may have changed than is known", FIELD_BOOL, FIELD_OPTIONAL },
	{ "paths", "The first 50 of them", FIELD_OBJECT, FIELD_LIST, changed_path_fields },
	F_END,
};

void changed_write(struct jw *w, const struct change *c)
{
	size_t shown = 0;

	jw_object(w, NULL);
	jw_int(w, "id", (int64_t)c->id);
	changed_write_counts(w, c->counts);
	if (c->flags & CHANGE_OPEN)
		jw_bool(w, "open", true);
	if (c->flags & CHANGE_INCOMPLETE)
		jw_bool(w, "complete", false);
	jw_array(w, "paths");
	for (size_t i = 0; i < c->item_count && shown < LIMIT_CHANGED_PATHS; i++) {
		const struct change_item *item = &c->items[i];
		if (item->kind == ITEM_TIMES)
			continue;
		jw_object(w, NULL);
		jw_str(w, "path", item->path);
		jw_str(w, "kind", str_of(changed_kind(item->kind)));
		if (item->from.n)
			jw_str(w, "from", item->from);
		jw_end(w);
		shown++;
	}
	jw_end(w);
	jw_end(w);
}

/* A path in a line of text: what would end the line, or confuse a terminal, is not shown. */
static void add_path(struct buf *out, struct str path)
{
	for (size_t i = 0; i < path.n; i++) {
		const unsigned char byte = (unsigned char)path.p[i];
		buf_addc(out, byte < 0x20 || byte == 0x7f ? '?' : (char)byte);
	}
}

/* The line with so many paths. */
static void add_line(struct buf *out, const struct change *c, size_t most)
{
	size_t shown = 0, all = 0;

	for (int kind = 0; kind < ITEM_TIMES; kind++)
		all += c->counts[kind];
	if (c->flags & CHANGE_OPEN) {
		buf_addf(out,
			 "[changes go on with what still runs; when it has ended: undo_change "
			 "id=%llu]",
			 (unsigned long long)c->id);
		return;
	}
	buf_add(out, STR("[changed: "));
	for (size_t i = 0; i < c->item_count && shown < most; i++) {
		const struct change_item *item = &c->items[i];
		if (item->kind == ITEM_TIMES)
			continue;
		buf_add(out, shown++ ? STR(", ") : STR(""));
		add_path(out, item->path);
		if (item->kind == ITEM_CREATED)
			buf_add(out, STR(" (new)"));
		else if (item->kind == ITEM_DELETED)
			buf_add(out, STR(" (deleted)"));
		else if (item->kind == ITEM_RENAMED) {
			buf_add(out, STR(" (was "));
			add_path(out, item->from);
			buf_addc(out, ')');
		}
	}
	if (all > shown)
		buf_addf(out, "%s%zu %s", shown ? " and " : "", all - shown,
			 shown ? "more" : "paths");
	buf_addf(out, "%s; undo_change id=%llu]",
		 c->flags & CHANGE_INCOMPLETE ? "; perhaps more" : "", (unsigned long long)c->id);
}

void changed_show(struct buf *out, int64_t max_bytes, const struct change *c)
{
	const size_t tries[] = { LIMIT_CHANGED_SHOWN, 1, 0 };

	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		AUTO_BUF line = { .max = LIMIT_ANSWER };
		if (out->n && out->p[out->n - 1] != '\n')
			buf_addc(&line, '\n');
		add_line(&line, c, tries[i]);
		if (max_bytes && (int64_t)(out->n + line.n) > max_bytes)
			continue;
		buf_add(out, buf_str(&line));
		out->failed |= line.failed;
		return;
	}
}

bool changed_size(struct journal *j, const struct change_item *item, int64_t max_bytes,
		  struct diff_size *ret)
{
	AUTO_BUF old = { .max = (size_t)max_bytes }, new = { .max = (size_t)max_bytes };
	AUTO_ARENA memory = { .max = 64 * (size_t)max_bytes };

	if ((item->before.type != STATE_FILE && item->before.type != STATE_NONE) ||
	    (item->after.type != STATE_FILE && item->after.type != STATE_NONE) ||
	    item->before.size >= max_bytes || item->after.size >= max_bytes)
		return false;
	if (item->before.type == item->after.type &&
	    entry_same_content(&item->before, &item->after)) {
		*ret = (struct diff_size){ 0 };
		return true;
	}
	return content_before(j, item, &old) && content_after(j, item, &new) &&
	       str_index(buf_str(&old), '\0') < 0 && str_index(buf_str(&new), '\0') < 0 &&
	       diff_count(buf_str(&old), buf_str(&new), &memory, ret);
}
