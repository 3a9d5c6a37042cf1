/* SPDX-License-Identifier: MIT */
/* values: a tree of values is written again, its texts through the scrubber. */

#include "service/values.h"

#include <string.h>

#include "base/limits.h"
#include "base/own.h"

struct str value_clean(void *cleaner, struct str value)
{
	struct value_cleaner *c = cleaner;

	if (value.p == c->clean.p && value.n == c->clean.n)
		return value;
	if (c->longest && value.n > c->longest) {
		const struct str cut = str_upto(value, c->longest);
		value = str_upto(cut, scrub_decided(c->secrets, cut));
	}
	const struct str clean = scrub_text(c->secrets, NULL, value, &c->aside);
	c->failed = c->failed || c->aside.failed;
	return clean;
}

static void write_value(struct jw *w, const struct json *v, bool named, int depth)
{
	enum { DEEPEST = 16 };
	char room[256] UNINITIALISED;
	const char *name = NULL;

	if (named) {
		const struct str cut = str_upto(v->name, sizeof room - 1);
		if (cut.n)
			memcpy(room, cut.p, cut.n);
		room[cut.n] = '\0';
		name = room;
	}
	switch (v->type) {
	case JSON_STRING:
		jw_str(w, name, v->string);
		return;
	case JSON_BOOL:
		jw_bool(w, name, v->boolean);
		return;
	case JSON_NUMBER:
		if (v->whole)
			jw_int(w, name, v->integer);
		else
			jw_num(w, name, v->number);
		return;
	case JSON_NULL:
		jw_null(w, name);
		return;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	(v->type == JSON_OBJECT ? jw_object : jw_array)(w, name);
	for (const struct json *item = depth < DEEPEST ? v->first : NULL; item; item = item->next)
		write_value(w, item, v->type == JSON_OBJECT, depth + 1);
	jw_end(w);
}

/* Write it; texts longer than `longest` are cut. False: it does not fit. */
static bool try_write(const struct scrub *secrets, const struct json *value, struct str clean,
		      size_t longest, struct buf *out)
{
	struct value_cleaner c = { .secrets = secrets,
				   .clean = clean,
				   .aside = { .max = LIMIT_ANSWER },
				   .longest = longest };
	const struct jw_filter filter = { .apply = value_clean, .arg = &c };
	struct jw w = jw_to(out);

	buf_reset(out, SIZE_MAX);
	jw_set_filter(&w, &filter);
	write_value(&w, value, false, 0);
	buf_done(&c.aside);
	return !out->failed && !c.failed;
}

struct str values_write(const struct scrub *secrets, const struct json *value, struct str clean,
			struct buf *small, struct buf *large)
{
	static const size_t longest[] = { 0, 4096, 256 };

	if (try_write(secrets, value, clean, 0, small))
		return buf_str(small);
	for (size_t i = 0; i < ARRAY_LEN(longest); i++)
		if (try_write(secrets, value, clean, longest[i], large))
			return buf_str(large);
	return STR("null");
}
