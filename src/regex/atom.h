/* SPDX-License-Identifier: MIT */
/*
 * atom: the smallest parts of a pattern, characters, escapes and classes, and the cursor that reads
 * them. parse.c puts them together.
 *
 * A function that returns a node returns NULL with *e set when it fails.
 */
#ifndef REGEX_ATOM_H
#define REGEX_ATOM_H

#include "regex/ast.h"
#include "regex/options.h"

struct group_name {
	struct str name;
	uint32_t number;
	struct group_name *older;
};

struct regex_flags {
	bool nocase, dotall, extended;
};

struct regex_parser {
	struct str in;
	size_t at;
	const struct regex_options *o;
	struct regex_flags flags; /* as set by (?i) and the like at this point */
	struct arena *arena;
	struct err *e;
	unsigned depth;
	uint32_t groups;	  /* seen so far */
	uint32_t last_ref;	  /* the largest group a back-reference names … */
	size_t last_ref_at;	  /* … and the offset of that back-reference */
	struct group_name *names; /* newest first */
	bool pcre;
	bool quoting; /* after \Q */
};

/* INVALID_REGEX at the offset: the reason, and what to do. Returns -1. */
int parser_fail(struct regex_parser *p, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* If the next bytes are these, pass them. */
bool parser_take(struct regex_parser *p, const char *text);

/* The byte `ahead` bytes after the cursor, or -1 at the end. */
static inline int parser_peek(const struct regex_parser *p, size_t ahead)
{
	return p->at + ahead < p->in.n ? (unsigned char)p->in.p[p->at + ahead] : -1;
}

/* Pass and return the character at the cursor. */
uint32_t parser_code_point(struct regex_parser *p);

/* Pass a name of letters, digits and underscores, and the character that closes it. */
int parser_name(struct regex_parser *p, char close, struct str *ret);

/* The number of the group whose name comes next, or 0 with *e set. */
uint32_t parser_group_named(struct regex_parser *p, char close);

struct ast *atom_node(struct regex_parser *p, enum ast_kind kind);
struct ast *atom_look(struct regex_parser *p, enum look look);

/* One character of the set, with the flags in force. */
struct ast *atom_chars(struct regex_parser *p, struct charset set);

/* A character that stands for itself, outside of a class; `at` is where it begins. */
struct ast *atom_char(struct regex_parser *p, uint32_t c, size_t at);

/* The cursor is after the backslash, outside of a class. */
struct ast *atom_escape(struct regex_parser *p);

/* The cursor is after the opening bracket. */
struct ast *atom_class(struct regex_parser *p);

#endif
