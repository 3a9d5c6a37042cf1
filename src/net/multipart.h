/* SPDX-License-Identifier: MIT */
/*
 * multipart: the parts of a form (multipart/form-data, RFC 7578), found in place.
 *
 * Pure: nothing is copied and nothing allocated; a part points into the body.
 *
 *	struct multipart m;
 *	if (multipart_begin(&m, content_type, body, &why) < 0) …
 *	while ((rc = multipart_next(&m, &part, &why)) > 0)
 *		…
 */
#ifndef NET_MULTIPART_H
#define NET_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "net/http_parse.h"

struct multipart {
	struct str boundary; /* without the dashes before it */
	struct str rest;     /* after the delimiter that was read last */
	unsigned parts;
	bool ended;
};

struct multipart_part {
	struct str name;     /* raw, between its quotes: a quote in it is written %22 or \" */
	struct str filename; /* the same; { NULL, 0 } if the part is not a file */
	struct str content;
};

/* Whether the content type is multipart/form-data. */
bool multipart_is_form(struct str content_type);

/* Skip the first delimiter. -1 and *why (400): no valid boundary in the type, or no part. */
int multipart_begin(struct multipart *m, struct str content_type, struct str body,
		    struct http_refusal *why);

/* Read the next part: 1; 0 if there are no more; -1 and *why (400) if it is malformed, has no name,
 * does not end in a delimiter, or is one too many. */
int multipart_next(struct multipart *m, struct multipart_part *ret, struct http_refusal *why);

/* Copy a name without its escapes to out, which has room for raw.n bytes. Returns its length. */
size_t multipart_unescape(struct str raw, char *out);

#endif
