/* SPDX-License-Identifier: MIT */
/*
 * regex_parser: what the parts of the parser share: regex_parse.c reads the structure,
 * regex_repeat.c quantifiers, regex_group.c parentheses, regex_escape.c and regex_class.c what
 * stands for characters.
 */
#ifndef REGEX_REGEX_PARSER_H
#define REGEX_REGEX_PARSER_H

#include "regex/regex_ast.h"

struct group_name {
	struct str name;
	uint32_t number;
	struct group_name *older;
};

struct flags {
	bool nocase, dotall, extended;
};

struct parser {
	struct str in;
	size_t at;
	const struct regex_options *o;
	struct flags flags; /* as set by (?i) and the like at this place */
	struct arena *arena;
	struct err *e;
	unsigned depth;
	uint32_t groups;	  /* seen so far */
	uint32_t last_ref;	  /* the largest group a back-reference names … */
	size_t last_ref_at;	  /* … and where it stands */
	struct group_name *names; /* newest first */
	bool pcre;
	bool quoting; /* behind \Q */
};

/* INVALID_REGEX at the offset: the reason, and what to do. Returns -1. */
int parser_fail(struct parser *p, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct ast *parser_node(struct parser *p, enum ast_kind kind);

/* A node for one character of the set, with the flags in force. NULL with *e set. */
struct ast *parser_chars(struct parser *p, struct charset set);

/* A character that stands for itself, not a member of a class. */
struct ast *parser_char(struct parser *p, uint32_t c, size_t at);

/* Whether the next bytes are these; if so they are passed. */
bool parser_take(struct parser *p, const char *text);

static inline int parser_peek(const struct parser *p, size_t ahead)
{
	return p->at + ahead < p->in.n ? (unsigned char)p->in.p[p->at + ahead] : -1;
}

/* The character at the cursor, which is passed. */
uint32_t parser_code_point(struct parser *p);

/* Behind a backslash, outside of a class. */
struct ast *parser_escape(struct parser *p);

/* Behind a backslash: the one character meant, or -1 with *e set. */
int64_t parser_char_escape(struct parser *p);

/* \d \D and their like, behind the backslash; false when something else stands there. */
bool parser_perl_class(struct parser *p, struct charset *ret);

/* Behind the opening bracket. */
struct ast *parser_class(struct parser *p);

/* Everything up to the end of the group or of the pattern. */
struct ast *parser_alternatives(struct parser *p);

/* The quantifier at the cursor, which is not passed: its length, or 0 when there is none. */
size_t parser_quantifier(const struct parser *p, uint32_t *min, uint32_t *max);

/* The node with the quantifiers that follow. */
struct ast *parser_repeats(struct parser *p, struct ast *node);

/* White space and comments, as the flag x ignores them. */
void parser_skip_blank(struct parser *p);

/* Behind the opening parenthesis. */
struct ast *parser_group(struct parser *p);

/* Make the node the last child. */
void parser_append(struct ast *parent, struct ast *node);

/* A group's name up to the closing character; the number it has, or 0 with *e set. */
uint32_t parser_group_named(struct parser *p, char close);

/* The name up to the closing character: letters, digits, underscore. */
int parser_name(struct parser *p, char close, struct str *ret);

#endif
