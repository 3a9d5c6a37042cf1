/* SPDX-License-Identifier: MIT */
/*
 * http_url: the escapes of a path and the parameters of a query.
 *
 * A parsed head keeps both raw, because most requests need no more. A decoded text is never longer
 * than the raw one, and may contain any byte, even NUL ("%00").
 */
#ifndef NET_HTTP_URL_H
#define NET_HTTP_URL_H

#include <stddef.h>

#include "base/str.h"

/* Decode the escapes of a path into out, which has room for raw.n bytes. Returns the length, or -1
 * when a '%' is not followed by two hexadecimal digits. */
ptrdiff_t http_path_decode(struct str raw, char *out);

/*
 * Find the first parameter of that name in a raw query, with escapes decoded and '+' read as a
 * blank, as forms write it. A parameter without '=' is empty. Returns 1 and *ret, which points into
 * the query if there is nothing to decode, else into out; 0 if there is no such parameter; -1 when
 * a '%' in its value is malformed or the value does not fit into `room` bytes.
 */
int http_query(struct str query, struct str name, char *out, size_t room, struct str *ret);

#endif
