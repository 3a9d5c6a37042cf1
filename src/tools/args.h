/* SPDX-License-Identifier: MIT */
/*
 * args: the arguments of a tool, declared as a table. tool_bind binds them to a struct.
 *
 *	struct read_args {
 *		struct str path;
 *		int64_t offset;
 *	};
 *
 *	static const struct arg read_table[] = {
 *		A_STR(struct read_args, path, "path", REQUIRED | NONBLANK, "File to read"),
 *		A_INT(struct read_args, offset, "offset", 1, 1, INT64_MAX, "First line, from 1"),
 *		A_END,
 *	};
 */
#ifndef TOOLS_ARGS_H
#define TOOLS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"

enum arg_type {
	ARG_STR,     /* struct str */
	ARG_INT,     /* int64_t, within [min, max] */
	ARG_NUM,     /* double, within [min, max] */
	ARG_BOOL,    /* bool */
	ARG_JSON,    /* const struct json *: an array or object that the tool takes apart itself */
	ARG_CHOICE,  /* int64_t: which of the words in `choices` */
	ARG_STRINGS, /* const struct json *: an array of strings */
	ARG_PAIRS,   /* const struct json *: an array of "NAME=value", or an object of strings */
	ARG_OBJECTS, /* const struct json *: an array of objects whose members `of` describes */
};

enum {
	REQUIRED = 1 << 0,
	NONBLANK = 1 << 1, /* a string that is not empty and not only white space */
	NO_NUL = 1 << 2,   /* a string without NUL bytes */
	RARE = 1 << 3,	   /* accepted, but not shown to the smallest models */
	RUN_TIME = 1 << 5, /* milliseconds: default and maximum depend on the way in (tool.h) */
	EXPECTED = 1 << 4, /* required by the schema; the tool knows when it may be absent */
};

struct arg {
	const char *name;  /* on the wire */
	const char *about; /* one sentence for a model */
	enum arg_type type;
	unsigned flags;
	size_t offset; /* in the tool's argument struct */
	int64_t def, min, max;
	const char *const *choices; /* ARG_CHOICE: the words; NULL after the last */
	const struct arg *of;	    /* ARG_OBJECTS: the members of each object */
};

/* The offset of a member; does not compile if its type is not the one that the argument needs. */
#define ARG_AT(T, m, want)                                                                         \
	(offsetof(T, m) +                                                                          \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((T *)0)->m), want) ? 1 : -1]))

#define ARG(kind, T, m, want, wire, flags, text, def, lo, hi, ...)                                 \
	{                                                                                          \
		(wire), (text), (kind), (flags), ARG_AT(T, m, want), (def), (lo), (hi),            \
			##__VA_ARGS__                                                              \
	}

#define A_STR(T, m, wire, flags, text)	     ARG(ARG_STR, T, m, struct str, wire, flags, text, 0, 0, 0)
#define A_INT(T, m, wire, def, lo, hi, text) A_INT_FLAGS(T, m, wire, 0, def, lo, hi, text)
#define A_INT_FLAGS(T, m, wire, flags, def, lo, hi, text)                                          \
	ARG(ARG_INT, T, m, int64_t, wire, flags, text, def, lo, hi)
#define A_NUM(T, m, wire, def, lo, hi, text) ARG(ARG_NUM, T, m, double, wire, 0, text, def, lo, hi)
#define A_BOOL(T, m, wire, def, text)	     A_BOOL_FLAGS(T, m, wire, 0, def, text)
#define A_BOOL_FLAGS(T, m, wire, flags, def, text)                                                 \
	ARG(ARG_BOOL, T, m, bool, wire, flags, text, def, 0, 1)
#define A_CHOICE(T, m, wire, flags, def, words, text)                                              \
	ARG(ARG_CHOICE, T, m, int64_t, wire, flags, text, def, 0, 0, .choices = (words))
#define A_STRINGS(T, m, wire, flags, text)                                                         \
	ARG(ARG_STRINGS, T, m, const struct json *, wire, flags, text, 0, 0, 0)
#define A_PAIRS(T, m, wire, flags, text)                                                           \
	ARG(ARG_PAIRS, T, m, const struct json *, wire, flags, text, 0, 0, 0)
#define A_OBJECTS(T, m, wire, flags, table, text)                                                  \
	ARG(ARG_OBJECTS, T, m, const struct json *, wire, flags, text, 0, 0, 0, .of = (table))
#define A_JSON(T, m, wire, flags, text)                                                            \
	ARG(ARG_JSON, T, m, const struct json *, wire, flags, text, 0, 0, 0)
#define A_END                                                                                      \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* The argument of that name; or NULL. */
const struct arg *arg_find(const struct arg *table, struct str name);

enum { ARG_ITEM_SIZE = 256 }; /* the largest struct that an item of ARG_OBJECTS is bound to */

#endif
