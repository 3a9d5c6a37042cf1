/* SPDX-License-Identifier: MIT */
/*
 * tool: one operation an agent can ask for, declared once.
 *
 * A tool is one file: a table of arguments, one of the fields of its result, a function,
 * and a struct tool that names them; and one line in the registry (registry.c). From the tables
 * come validation, defaults, binding to the function's argument struct, the schemas shown to models
 * (schema.h), the manual (manual.h) and the description of the HTTP API (api/openapi.h). A tool
 * does not know how it was called: it gets a struct call, writes the members of its result into
 * call->out, and returns 0, or -1 with the reason. When it fails, what it wrote is dropped.
 *
 * An operation may be offered under two names with different arguments and results: to the HTTP
 * endpoints of the existing wire contract (TOOL_WIRE: "read") and to models (TOOL_MODEL:
 * "read_file"). Both descriptors stand in the same file, above the same work.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "tools/call.h"

enum arg_type {
	ARG_STR,     /* struct str */
	ARG_INT,     /* int64_t, within [min, max] */
	ARG_NUM,     /* double, within [min, max] */
	ARG_BOOL,    /* bool */
	ARG_JSON,    /* const struct json *: an array or object the tool takes apart itself */
	ARG_CHOICE,  /* int64_t: which of the words in `choices` */
	ARG_STRINGS, /* const struct json *: an array of strings */
	ARG_PAIRS,   /* the same of "NAME=value"; or an object of strings */
	ARG_OBJECTS, /* const struct json *: an array of objects whose members `of` describes */
};

enum {
	REQUIRED = 1 << 0,
	NONBLANK = 1 << 1, /* a string that is not empty or only white space */
	NO_NUL = 1 << 2,   /* a string without NUL bytes */
	RARE = 1 << 3,	   /* not shown to the smallest models; understood all the same */
	EXPECTED = 1 << 4, /* required, says the schema; the tool knows when it may be absent */
};

struct arg {
	const char *name;  /* on the wire */
	const char *about; /* one sentence for a model */
	enum arg_type type;
	unsigned flags;
	size_t offset; /* in the tool's argument struct */
	int64_t def, min, max;
	const char *const *choices; /* ARG_CHOICE: the words, NULL behind the last */
	const struct arg *of;	    /* ARG_OBJECTS: what each holds */
};

/* The offset of a member; does not compile when its type is not the one the argument needs. */
#define ARG_AT(T, m, want)                                                                         \
	(offsetof(T, m) +                                                                          \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((T *)0)->m), want) ? 1 : -1]))

#define A_STR(T, m, wire, flags, text)                                                             \
	{                                                                                          \
		(wire), (text), ARG_STR, (flags), ARG_AT(T, m, struct str), 0, 0, 0                \
	}
#define A_INT(T, m, wire, def, lo, hi, text) A_INT_FLAGS(T, m, wire, 0, def, lo, hi, text)
#define A_INT_FLAGS(T, m, wire, flags, def, lo, hi, text)                                          \
	{                                                                                          \
		(wire), (text), ARG_INT, (flags), ARG_AT(T, m, int64_t), (def), (lo), (hi)         \
	}
#define A_NUM(T, m, wire, def, lo, hi, text)                                                       \
	{                                                                                          \
		(wire), (text), ARG_NUM, 0, ARG_AT(T, m, double), (def), (lo), (hi)                \
	}
#define A_BOOL(T, m, wire, def, text) A_BOOL_FLAGS(T, m, wire, 0, def, text)
#define A_BOOL_FLAGS(T, m, wire, flags, def, text)                                                 \
	{                                                                                          \
		(wire), (text), ARG_BOOL, (flags), ARG_AT(T, m, bool), (def), 0, 1                 \
	}
#define A_CHOICE(T, m, wire, flags, def, words, text)                                              \
	{                                                                                          \
		(wire), (text), ARG_CHOICE, (flags), ARG_AT(T, m, int64_t), (def), 0, 0,           \
			.choices = (words)                                                         \
	}
#define A_STRINGS(T, m, wire, flags, text)                                                         \
	{                                                                                          \
		(wire), (text), ARG_STRINGS, (flags), ARG_AT(T, m, const struct json *), 0, 0, 0   \
	}
#define A_PAIRS(T, m, wire, flags, text)                                                           \
	{                                                                                          \
		(wire), (text), ARG_PAIRS, (flags), ARG_AT(T, m, const struct json *), 0, 0, 0     \
	}
#define A_OBJECTS(T, m, wire, flags, table, text)                                                  \
	{                                                                                          \
		(wire), (text), ARG_OBJECTS, (flags), ARG_AT(T, m, const struct json *), 0, 0, 0,  \
			.of = (table)                                                              \
	}
#define A_JSON(T, m, wire, flags, text)                                                            \
	{                                                                                          \
		(wire), (text), ARG_JSON, (flags), ARG_AT(T, m, const struct json *), 0, 0, 0      \
	}
#define A_END                                                                                      \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* What a result has; for schemas only, the tool writes it itself. */
enum field_type { FIELD_STR, FIELD_INT, FIELD_BOOL, FIELD_OBJECT };

enum {
	FIELD_LIST = 1 << 0,	 /* an array of these */
	FIELD_NULLABLE = 1 << 1, /* or null */
	FIELD_OPTIONAL = 1 << 2, /* not always there */
};

struct field {
	const char *name, *about;
	enum field_type type;
	unsigned flags;
	const struct field *of;	    /* FIELD_OBJECT: its members */
	const char *const *choices; /* FIELD_STR: the only words it can be; or NULL */
};

#define F_END                                                                                      \
	{                                                                                          \
		.name = NULL                                                                       \
	}

enum {
	TOOL_WIRE = 1 << 0,   /* an endpoint of the existing HTTP contract */
	TOOL_MODEL = 1 << 1,  /* offered to models */
	TOOL_CORE = 1 << 2,   /* one of the five that small models can hold */
	TOOL_SLOW = 1 << 3,   /* may take long: its worker must not be the last one waiting */
	TOOL_STREAM = 1 << 4, /* its output goes through call->stream */

	/* What a client may want to know before it lets a model call the tool. */
	TOOL_READ_ONLY = 1 << 5,   /* changes nothing */
	TOOL_DESTRUCTIVE = 1 << 6, /* may undo what was there */
	TOOL_IDEMPOTENT = 1 << 7,  /* a second equal call changes nothing more */
	TOOL_OPEN_WORLD = 1 << 8,  /* may reach beyond the workspace */

	TOOL_ROUTE = 1 << 9,  /* has a route of its own; binds like TOOL_WIRE */
	TOOL_SCRUB = 1 << 10, /* secrets are taken out of its result before a model sees it */
};

struct tool {
	const char *name;
	const char *title; /* what it is called before people; TOOL_MODEL only */
	const char *about; /* what it does, for a model */
	const struct arg *args;
	size_t args_size;
	const struct field *fields; /* of its result; TOOL_STREAM: of the line that ends it */
	const struct field *other;  /* of the result it may have instead; or NULL */
	unsigned flags;
	const char *slow_with; /* TOOL_SLOW holds only with this argument; NULL: always */
	int (*run)(struct call *c, const void *args, struct err *e);
};

/* Tools with routes of their own (TOOL_ROUTE), for the front end that serves these. */
extern const struct tool tool_jobs, tool_job, tool_stop_job, tool_execute, tool_upload,
	tool_download, tool_list, tool_exists, tool_get_file, tool_put_file, tool_delete_file;

/* The registry, in a fixed order; NULL behind the last. */
const struct tool *tool_at(size_t i);

/* The tool of that name with at least one of the flags, or NULL. */
const struct tool *tool_by_name(struct str name, unsigned flags);

/* The tool for models of that name; or NULL and UNKNOWN_TOOL, with the names of all there are. */
const struct tool *tool_for_model(struct str name, struct err *e);

/* Whether a call with these arguments may take long. */
bool tool_is_slow(const struct tool *t, const struct json *object);

/*
 * Bind the members of a JSON object to an argument struct (args_size bytes, zeroed).
 * For TOOL_WIRE a required argument that is missing or wrong is "Missing or invalid <name>", a
 * wrong optional one is ignored. For TOOL_MODEL everything wrong or unknown is INVALID_ARGUMENTS,
 * each named; numbers and booleans may be given as strings; null is absent, and so is a blank text
 * for an optional argument that is NONBLANK.
 */
int tool_bind(const struct tool *t, const struct json *object, void *args, struct err *e);

enum { ARG_ITEM_SIZE = 256 }; /* largest struct an item of ARG_OBJECTS is bound to */

/* Bind an item of an ARG_OBJECTS argument, which tool_bind has checked, to its struct. */
void tool_bind_item(const struct arg *table, const struct json *item, void *args);

/* The names of all tools with at least one of the flags, separated by ", ". */
void tool_names(unsigned flags, struct buf *out);

/* Bind and run: the members of the result are in c->out, or -1 and *e. */
int tool_call(const struct tool *t, struct call *c, const struct json *object, struct err *e);

#endif
