/* SPDX-License-Identifier: MIT */
/* explain: say why a hunk does not match, and where the file has nearly its text. */
#ifndef PATCH_EXPLAIN_H
#define PATCH_EXPLAIN_H

#include "patch/textlines.h"

/* A hunk that was not found: its place in the patch and its old lines. */
struct explain_hunk {
	struct str path;
	size_t number, count; /* hunk `number`, from 1, of `count` */
	int64_t line;	      /* of the patch */
	const struct str *old;
	size_t n;
	const char *must; /* where it has to be, such as "at the end of the file"; NULL: anywhere */
};

/* TEXT_NOT_FOUND with the nearest text, if there is one. Returns -1. */
int explain_missing(struct textlines *t, const struct explain_hunk *h, struct err *e);

/* TEXT_NOT_UNIQUE with the numbers, from 1, of the lines at which the hunk fits. Returns -1. */
int explain_places(const struct explain_hunk *h, const size_t *lines, size_t n, bool more,
		   struct err *e);

#endif
