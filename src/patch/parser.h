/* SPDX-License-Identifier: MIT */
/*
 * parser: what the parsers of the three formats share: the list of files that they fill, which is
 * kept in patch.c.
 */
#ifndef PATCH_PARSER_H
#define PATCH_PARSER_H

#include "base/arena.h"
#include "base/err.h"
#include "patch/hunk.h"

struct patch_parser {
	struct patch_reader in;
	int strip;
	struct arena *arena;
	struct patch *patch;
	size_t room;		 /* for files */
	struct patch_hunk *last; /* of the last file; NULL: it has none */
	struct err *e;
};

/* Add a file, which begins in the line that was read last; NULL with an error if that is not
 * possible. It is valid until the next one is added. */
struct patch_file *patch_add_file(struct patch_parser *p, enum patch_kind kind, struct str path);

/* Add a hunk to the last file; NULL with an error if there is no memory. */
struct patch_hunk *patch_add_hunk(struct patch_parser *p);

/* INVALID_PATCH about a line of the patch. Returns -1. */
int patch_fail(struct patch_parser *p, int64_t line, const char *why);

/* Count the lines of both sides of a body with signs. */
void patch_count(struct patch_hunk *h);

/* Whether the line is a fence of a block: the character five to nine times, then the text. */
bool patch_is_fence(struct str line, char c, struct str text);

/* Each fills the list from p->in. 0, or -1 with INVALID_PATCH or TOO_BUSY. */
int v4a_parse(struct patch_parser *p);
int unified_parse(struct patch_parser *p);
int blocks_parse(struct patch_parser *p);

#endif
