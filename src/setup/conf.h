/* SPDX-License-Identifier: MIT */
/*
 * conf: a text of JSON or TOML as a list of nodes: what it defines, and where; and changes
 * of such a text.
 *
 * JSON may have comments, commas after the last item, and a byte order mark. In TOML, tables in
 * arrays ([[x]]) are left alone and never found. The reader knows the syntax, not every rule: it
 * does not judge dates. Of names that are defined twice the last one counts in JSON, as it does for
 * JavaScript; in TOML they are an error. A text that it cannot read is INVALID_CONFIG; the sentence names the
 * line.
 */
#ifndef SETUP_CONF_H
#define SETUP_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "base/str.h"

enum conf_form { CONF_JSON, CONF_TOML };

/* Which JSON an agent reads: JSONC has comments and commas after the last item. */
enum conf_rules { CONF_JSONC, CONF_COMMENTS, CONF_STRICT };

/* INVALID_CONFIG, naming the line, if such an agent cannot read the text; an empty text is none. */
int conf_check(enum conf_form form, enum conf_rules rules, struct str text, struct err *e);

/* The way to a value: the names of the tables or objects around it, from the outside in, and its
 * own name; or in JSON to an item of the array of that name. The names are seen, not owned. */
enum { KEY_PATH_MAX = 6 };

struct key_path {
	struct str key[KEY_PATH_MAX];
	size_t n;
	struct str item; /* the item that has this value; p is NULL if the array itself is meant */
};

/* The value's text; p is NULL if there is none. For a table that is not inline it is empty, but p
 * is set. Without keys the value is the whole text. */
int conf_find(enum conf_form form, struct str text, const struct key_path *at, struct str *ret,
	      struct err *e);

/* The i-th member or item of what is at these keys, from 0, in the order of the text. The name is
 * in `memory`; an item has none. False after the last, or if the text cannot be read. */
bool conf_child(enum conf_form form, struct str text, const struct key_path *at, size_t i,
		struct arena *memory, struct str *name, struct str *value);

/* Whether two values are the same but for white space and comments. */
bool conf_same(enum conf_form form, struct str one, struct str other);

/*
 * Change one value, and nothing else.
 *
 * Both functions read a text and write a new one: what they do not change stays byte for byte,
 * comments, line ends and a byte order mark included. The new text is read again before they
 * return: an agent that cannot read its file has lost all of it.
 *
 * What is added to JSON looks like the text around it. An empty text, or one with comments only,
 * counts as {}. Values are given as compact JSON.
 *
 * In TOML a new value goes where a person would put it: into its table, after the dotted keys of
 * the same name, into an inline table, or into a new table at the end. Values are given as TOML
 * that fits on a line.
 */

/* Give the value at these keys, or add the item, which is then the value; what is missing around it
 * is made. INVALID_CONFIG if something else is in the way. */
int conf_set(enum conf_form form, struct str text, const struct key_path *at, struct str value,
	     struct buf *out, struct err *e);

/* Remove the value or item, or the head of a table in which nothing is left; without one, or if the table
 * has values, the text stays as it is. */
int conf_remove(enum conf_form form, struct str text, const struct key_path *at, struct buf *out,
		struct err *e);

/* What follows is for conf_edit.c. */

/*
 * Node 0 is the whole text. A node stands after the node around it. What stands in brackets becomes
 * nodes only along the keys that are looked for: a large file does not become a large list.
 */
enum { CONF_NOWHERE = -1 };

enum conf_kind {
	CONF_VALUE,   /* a plain value, an array, an object or an inline table */
	CONF_TABLE,   /* TOML: a table that has a head or dotted keys */
	CONF_IMPLIED, /* TOML: one that only heads of tables below it name */
	CONF_TABLES,  /* TOML: [[x]]; what is below is never found */
};

struct conf_node {
	enum conf_kind kind;
	size_t around;	   /* the node that it is in */
	size_t depth;	   /* how many names lead to it */
	bool on_way;	   /* those names are the first of the keys that are looked for */
	struct str name;   /* without quotes and escapes; empty in an array */
	struct str value;  /* of CONF_VALUE; p is NULL for an empty text */
	size_t begin, end; /* from its name to the end of its value; in TOML outside of brackets
			    * its lines */

	/* In brackets: the node that they belong to, and the offsets of the commas around it. */
	bool inside;
	size_t bracket;
	ptrdiff_t comma_before, comma_after; /* or CONF_NOWHERE */

	/* Of CONF_TABLE: where a line can be added to it, and under which table's head that is. */
	size_t place, section;
};

struct conf {
	enum conf_form form;
	struct str text;
	const struct key_path *at; /* what is looked for */
	struct arena memory;
	struct conf_node *node;
	size_t count, room;

	/* While it reads. */
	size_t pos;
	unsigned deep;
	enum conf_rules rules;
	size_t section; /* TOML: the node of the last head */
	struct err *e;
};

void conf_done(struct conf *c);

#define AUTO_CONF CLEANUP(conf_done) struct conf

/* Read a whole text. c needs no initial value and must be released also after an error. */
int conf_read(struct conf *c, enum conf_form form, struct str text, const struct key_path *at,
	      struct err *e);

/* The node that the keys lead to, as far as they exist. Its depth says how many do: an item counts
 * as one more. */
size_t conf_follow(const struct conf *c);

/* Whether that is all of them. */
bool conf_is_end(const struct conf *c, size_t node);

/* The offset of the first byte after a byte order mark. */
size_t conf_start(struct str text);

/* A reader of tokens: the next one is a bracket, comma, colon, string or word; empty at the end. */
struct conf conf_tokens(enum conf_form form, struct str text, struct err *e);
struct str conf_token(struct conf *c);

/* After a value or comma: the end of its line, if only a comment follows there, else `at`. */
size_t conf_after_comment(const struct conf *c, size_t at);

#endif
