/* SPDX-License-Identifier: MIT */
/* fuzz_json: what is read, written back and read again is the same tree; errors lie in the text. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/utf8.h"
#include "../unit/json_tree.h"

enum {
	ROOM = 4 << 20,
	JW_LEVELS = 64, /* jw nests less deeply than json */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static unsigned depth_of(const struct json *v)
{
	unsigned deepest = 0;

	if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
		return 0;
	for (const struct json *c = v->first; c; c = c->next) {
		const unsigned depth = depth_of(c);
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

/* A name reaches jw as a C string: it is the same up to its first NUL. */
static bool same_name(struct str a, struct str b)
{
	const ptrdiff_t end = str_index(a, '\0');

	return str_eq(end < 0 ? a : str_upto(a, (size_t)end), b);
}

static bool same(const struct json *a, const struct json *b);

static bool same_children(const struct json *a, const struct json *b)
{
	for (a = a->first, b = b->first; a && b; a = a->next, b = b->next)
		if (!same_name(a->name, b->name) || !same(a, b))
			return false;
	return !a && !b;
}

static bool same_number(const struct json *a, const struct json *b)
{
	/* What is not finite is written as null. */
	if (a->number - a->number != 0)
		return b->type == JSON_NULL;
	/* A fraction from 2^53 on is lost in a double, and what is written may then be whole. */
	return b->type == JSON_NUMBER && a->number == b->number &&
	       (!a->whole || (b->whole && a->integer == b->integer));
}

static bool same(const struct json *a, const struct json *b)
{
	if (a->type == JSON_NUMBER)
		return same_number(a, b);
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case JSON_BOOL:
		return a->boolean == b->boolean;
	case JSON_STRING:
		return utf8_valid(a->string) && str_eq(a->string, b->string);
	case JSON_ARRAY:
	case JSON_OBJECT:
		return same_children(a, b);
	default:
		return true;
	}
}

static void check_error(const struct err *e, size_t size)
{
	size_t at;

	demand(e->code == ERR_INVALID_ARGUMENTS);
	if (sscanf(e->msg, "Invalid JSON at byte %zu:", &at) == 1)
		demand(at <= size);
	else
		demand(strstr(e->msg, "memory") != NULL);
}

/* Parsed over a copy of itself it is the same, even with a NUL after each string. */
static bool same_over(const struct json *a, const struct json *b)
{
	if (a->type != b->type || !str_eq(a->name, b->name))
		return false;
	if (a->type == JSON_STRING) {
		((char *)b->string.p)[b->string.n] = '\0';
		return str_eq(a->string, b->string);
	}
	if (a->type != JSON_ARRAY && a->type != JSON_OBJECT)
		return a->type != JSON_NUMBER || a->integer == b->integer;
	for (a = a->first, b = b->first; a && b; a = a->next, b = b->next)
		if (!same_over(a, b))
			return false;
	return !a && !b;
}

static void check_over(const char *text, size_t size, const struct json *want)
{
	AUTO_ARENA arena = { .max = ROOM };
	char *copy = malloc(size ? size : 1);
	const struct json *v;
	struct err e;

	demand(copy != NULL);
	if (size)
		memcpy(copy, text, size);
	/* Without strings in the arena there may be room for what had none. */
	const int rc = json_parse_over(copy, size, &arena, &v, &e);
	demand(rc == 0 ? !want || same_over(want, v) : !want);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA first = { .max = ROOM }, second = { .max = ROOM };
	AUTO_BUF written = { .max = ROOM };
	struct jw w = jw_to(&written);
	/* A copy of its own size, so that the sanitizer sees a byte read too far. */
	char *text = malloc(size ? size : 1);
	const struct json *a = NULL, *b;
	struct err e = { 0 };

	demand(text != NULL);
	if (size)
		memcpy(text, data, size);
	if (json_parse((struct str){ text, size }, &first, &a, &e) < 0) {
		check_error(&e, size);
	} else if (depth_of(a) <= JW_LEVELS) {
		json_tree_write(&w, NULL, a);
		demand(!written.failed);
		demand(json_parse(buf_str(&written), &second, &b, &e) == 0);
		demand(same(a, b));
	}
	check_over(text, size, a);
	free(text);
	return 0;
}
