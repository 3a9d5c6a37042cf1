/* SPDX-License-Identifier: MIT */
/* values: a tree of values is written again, its texts through the scrubber; or its members one
 * after another in a row of bytes. */

#include "service/values.h"

#include <string.h>

#include "base/own.h"
#include "service/limits.h"

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

/*
 * The packed form: PACKED, which no JSON begins with, and the members. A member is its kind, the
 * size of its name, that of its text (two bytes), the name, and the text, which for a number is the
 * integer itself. The text of PACKED_CLEAN is kept by someone else.
 */
enum packed { PACKED = 1, PACKED_CLEAN, PACKED_TEXT, PACKED_NUMBER, PACKED_TRUE, PACKED_FALSE };

struct packed_head {
	uint8_t kind, name_n;
	uint16_t text_n;
};

struct packing {
	char *to;
	size_t left;
};

static bool put(struct packing *p, enum packed kind, struct str name, struct str text)
{
	const struct packed_head h = { (uint8_t)kind, (uint8_t)name.n, (uint16_t)text.n };
	char *to = p->to;

	if (name.n > UINT8_MAX || text.n > UINT16_MAX || p->left < sizeof h + name.n + text.n)
		return false;
	p->left -= sizeof h + name.n + text.n;
	memcpy(to, &h, sizeof h);
	to += sizeof h;
	if (name.n)
		memcpy(to, name.p, name.n);
	to += name.n;
	if (text.n)
		memcpy(to, text.p, text.n);
	p->to = to + text.n;
	return true;
}

static bool put_cleaned(struct packing *p, const struct scrub *secrets, const struct json *v)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };

	/* It would not fit, and looking for secrets would be in vain. */
	if (v->string.n > p->left)
		return false;
	const struct str clean = scrub_text(secrets, NULL, v->string, &aside);
	return !aside.failed && put(p, PACKED_TEXT, v->name, clean);
}

static bool put_member(struct packing *p, const struct scrub *secrets, const struct json *v,
		       struct str clean)
{
	const struct str integer = { (const char *)&v->integer, sizeof v->integer };

	if (v->type == JSON_STRING && v->string.p == clean.p && v->string.n == clean.n)
		return put(p, PACKED_CLEAN, v->name, STR(""));
	if (v->type == JSON_STRING)
		return put_cleaned(p, secrets, v);
	if (v->type == JSON_NUMBER && v->whole)
		return put(p, PACKED_NUMBER, v->name, integer);
	if (v->type == JSON_BOOL)
		return put(p, v->boolean ? PACKED_TRUE : PACKED_FALSE, v->name, STR(""));
	return false;
}

bool values_pack(const struct scrub *secrets, const struct json *value, struct str clean,
		 char room[static VALUES_PACKED], struct str *ret)
{
	struct packing p = { room + 1, VALUES_PACKED - 1 };

	if (value->type != JSON_OBJECT)
		return false;
	for (const struct json *v = value->first; v; v = v->next)
		if (!put_member(&p, secrets, v, clean))
			return false;
	room[0] = PACKED;
	*ret = (struct str){ room, (size_t)(p.to - room) };
	return true;
}

/* Write the member at *at, and go on to the next. */
static void show_member(struct jw *w, const char **at, struct str clean)
{
	struct packed_head h;
	char name[UINT8_MAX + 1] UNINITIALISED;
	int64_t number = 0;

	memcpy(&h, *at, sizeof h);
	memcpy(name, *at + sizeof h, h.name_n);
	name[h.name_n] = '\0';
	const struct str text = { *at + sizeof h + h.name_n, h.text_n };
	*at = text.p + text.n;
	if (h.kind == PACKED_NUMBER) {
		memcpy(&number, text.p, sizeof number);
		jw_int(w, name, number);
	} else if (h.kind == PACKED_TRUE || h.kind == PACKED_FALSE) {
		jw_bool(w, name, h.kind == PACKED_TRUE);
	} else {
		jw_str(w, name, h.kind == PACKED_CLEAN ? clean : text);
	}
}

void values_show(struct jw *w, const char *name, struct str kept, struct str clean)
{
	if (!kept.n || kept.p[0] != PACKED) {
		jw_raw(w, name, kept.n ? kept : STR("null"));
		return;
	}
	jw_object(w, name);
	for (const char *at = kept.p + 1; at < kept.p + kept.n;)
		show_member(w, &at, clean);
	jw_end(w);
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
