/* SPDX-License-Identifier: MIT */
/* denied: the first denials, as members and as lines. */

#include "tools/denied.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/own.h"

enum { LINES = 5 }; /* a model needs no more to understand */

const struct field denied_fields[] = {
	{ "operation", "What was tried: write, mkdir, remove, connect, …", FIELD_STR },
	{ "path", "The file, socket or address that it was tried on", FIELD_STR },
	{ "by", "What refused it: landlock, mount, seccomp or network", FIELD_STR },
	{ "rule", "What is allowed instead", FIELD_STR },
	F_END,
};

static struct denied_item item_of(const struct denials *d, const struct denial *one,
				  struct arena *a)
{
	AUTO_BUF rule = { .max = LIMIT_ANSWER };
	AUTO_BUF sentence = { .max = LIMIT_ANSWER };

	denials_rule(d, one, &rule);
	denials_say(d, one, &sentence);
	return (struct denied_item){
		.operation = denial_operation(one),
		.by = denial_by_name(one),
		.path = arena_dup(a, str_of(one->path)),
		.rule = arena_dup(a, buf_str(&rule)),
		.sentence = arena_dup(a, buf_str(&sentence)),
	};
}

const struct denied *denied_of(struct denials *d, struct arena *a)
{
	const size_t listed = denials_listed(d);
	struct denied *ret = listed ? arena_alloc(a, sizeof *ret) : NULL;

	if (!ret)
		return NULL;
	*ret = (struct denied){ .count = denials_count(d),
				.listed = listed,
				.items = arena_array(a, listed, sizeof *ret->items) };
	if (!ret->items)
		return NULL;
	for (size_t i = 0; i < listed; i++) {
		const struct denial one = denials_at(d, i);
		ret->items[i] = item_of(d, &one, a);
	}
	return ret;
}

void denied_write(struct jw *w, const struct denied *d)
{
	jw_array(w, NULL);
	for (size_t i = 0; i < d->listed; i++) {
		const struct denied_item *one = &d->items[i];
		jw_object(w, NULL);
		jw_str(w, "operation", str_of(one->operation));
		jw_str(w, "path", one->path);
		jw_str(w, "by", str_of(one->by));
		jw_str(w, "rule", one->rule);
		jw_end(w);
	}
	jw_end(w);
}

/* Add a line if there is room for it. */
static bool add_line(struct buf *out, int64_t max_bytes, struct str text)
{
	const bool begun = out->n && out->p[out->n - 1] != '\n';

	if (max_bytes && (int64_t)(out->n + text.n) + 16 > max_bytes)
		return false;
	buf_addf(out, "%s[sandbox: ", begun ? "\n" : "");
	buf_add(out, text);
	buf_addc(out, ']');
	return true;
}

void denied_show(struct buf *out, int64_t max_bytes, const struct denied *d)
{
	char more[64];
	size_t shown = 0;

	while (shown < d->listed && shown < LINES &&
	       add_line(out, max_bytes, d->items[shown].sentence))
		shown++;
	if (shown == d->count)
		return;
	const int n = snprintf(more, sizeof more, "%zu %soperation%s refused", d->count - shown,
			       shown ? "more " : "", d->count - shown == 1 ? " was" : "s were");
	(void)add_line(out, max_bytes, (struct str){ more, (size_t)n });
}
