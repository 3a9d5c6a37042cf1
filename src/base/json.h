/* SPDX-License-Identifier: MIT */
/*
 * json: a parsed JSON value.
 *
 * The reader is strict (RFC 8259): the whole input is one value, UTF-8 must be well-formed, no
 * comments, no trailing commas, no NaN. It decides what the RFC leaves open:
 *	- nesting deeper than LIMIT_JSON_DEPTH is an error;
 *	- \u0000 is a byte of the string like any other;
 *	- a lone surrogate (\ud800) becomes U+FFFD;
 *	- a number too large for a double is infinite, one too small is zero;
 *	- of several members with the same name the last one counts.
 *
 * Values live in the arena given to json_parse; strings without escapes point into the text, so
 * both must outlive the value.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	enum json_type type;
	bool boolean;
	bool whole;	   /* the number is an integer and in `integer`; if it is written with a
			    * fraction or exponent (1.0, 1e3), only below 2^53, where it is exact */
	struct str name;   /* of an object's member */
	struct json *next; /* the next item or member of the same parent */
	union {
		struct str string;
		struct json *first; /* of an array or object; NULL when empty */
		struct {
			double number;
			int64_t integer;
		};
	};
};

/* Parse the whole text. Returns 0 and the value, or -1 with INVALID_ARGUMENTS: the sentence says
 * what is wrong at which byte, or that the value is too large for the arena. */
int json_parse(struct str text, struct arena *a, const struct json **ret, struct err *e);

/* The same for a text that the caller does not need any more: strings with escapes are decoded in
 * place, so that no string takes memory. The byte after each string, string.p[string.n], is part of
 * the text and unused, so the caller may write a NUL there. */
int json_parse_over(char *text, size_t n, struct arena *a, const struct json **ret, struct err *e);

/* The beginning of a JSON text, completed in the arena: what was open is closed, a text too, and a
 * name, a number or a word that may go on is left out. Empty if there is no memory. */
struct str json_complete(struct str beginning, struct arena *a);

/* The member of that name, or NULL if there is none or this is not an object. */
const struct json *json_get(const struct json *object, struct str name);

/* The string of that member; { NULL, 0 } if there is none or it is not a string. */
static inline struct str json_text(const struct json *object, struct str name)
{
	const struct json *v = json_get(object, name);

	return v && v->type == JSON_STRING ? v->string : (struct str){ NULL, 0 };
}

/* The whole number of that member; `otherwise` if there is none. */
static inline int64_t json_int(const struct json *object, struct str name, int64_t otherwise)
{
	const struct json *v = json_get(object, name);

	return v && v->type == JSON_NUMBER && v->whole ? v->integer : otherwise;
}

/* Whether that member is true. */
static inline bool json_is_true(const struct json *object, struct str name)
{
	const struct json *v = json_get(object, name);

	return v && v->type == JSON_BOOL && v->boolean;
}

/* The first item of the array of that name; NULL if there is none. */
static inline const struct json *json_items(const struct json *object, struct str name)
{
	const struct json *v = json_get(object, name);

	return v && v->type == JSON_ARRAY ? v->first : NULL;
}

/* Make values without parsing: a member, or an object from n members, which must outlive it. */
static inline struct json json_of_str(struct str name, struct str value)
{
	return (struct json){ .type = JSON_STRING, .name = name, .string = value };
}

static inline struct json json_of_int(struct str name, int64_t value)
{
	struct json v = { .type = JSON_NUMBER, .whole = true, .name = name };

	v.number = (double)value;
	v.integer = value;
	return v;
}

static inline struct json json_of_bool(struct str name, bool value)
{
	return (struct json){ .type = JSON_BOOL, .name = name, .boolean = value };
}

static inline struct json json_of_members(struct json *members, size_t n)
{
	struct json object = { .type = JSON_OBJECT };

	for (size_t i = n; i-- > 0;) {
		members[i].next = object.first;
		object.first = &members[i];
	}
	return object;
}

/* {} */
extern const struct json json_empty;

/* "null", "a boolean", "a number" …: for messages. */
const char *json_type_name(const struct json *v);

#endif
