/* SPDX-License-Identifier: MIT */
/*
 * page: GET /ui, the page that shows what happens (src/ui).
 *
 * The page is part of the program and holds no data, so it is given to every client that may talk
 * to this address, with a token or without. What it shows it asks for by requests of its own, which
 * need what every request needs. A client that has yet to send a token is told so by
 * WWW-Authenticate; the page looks for that with HEAD, and asks for the token before a request is
 * refused.
 */

#include "api/routes.h"

#include "ui/page_data.h"

/* The page loads nothing, is in no frame, and tells no other site where it was. */
#define HEADERS                                                                                    \
	"Content-Security-Policy: " PAGE_POLICY "\r\n"                                             \
	"X-Frame-Options: DENY\r\n"                                                                \
	"Referrer-Policy: no-referrer\r\n"                                                         \
	"Cross-Origin-Opener-Policy: same-origin\r\n"                                              \
	"Cross-Origin-Resource-Policy: same-origin\r\n"                                            \
	"Cache-Control: no-store\r\n"                                                              \
	"Vary: Accept-Encoding\r\n"
#define PACKED "Content-Encoding: gzip\r\n"
#define ASK    "WWW-Authenticate: Bearer\r\n"

/* "q=0", "q=0.000" */
static bool is_zero(struct str parameter)
{
	struct str name, value;

	(void)str_cut(parameter, '=', &name, &value);
	value = str_trim(value);
	if (!str_eq_nocase(str_trim(name), STR("q")) || !str_starts(value, STR("0")))
		return false;
	for (size_t i = 1; i < value.n; i++)
		if (value.p[i] != '0' && value.p[i] != '.')
			return false;
	return true;
}

/* Whether a client that sends this Accept-Encoding takes gzip. Without the header it is given the
 * page as it is. */
static bool takes_gzip(struct str accept_encoding)
{
	bool other = false; /* what "*" says */

	while (accept_encoding.n) {
		struct str item, name, parameter;
		(void)str_cut(accept_encoding, ',', &item, &accept_encoding);
		(void)str_cut(item, ';', &name, &parameter);
		name = str_trim(name);
		if (str_eq_nocase(name, STR("gzip")) || str_eq_nocase(name, STR("x-gzip")))
			return !is_zero(parameter);
		if (str_eq(name, STR("*")))
			other = !is_zero(parameter);
	}
	return other;
}

void page_send(struct exchange *x, const struct http_request *r, struct str rest)
{
	/* By whether it is packed and whether a token is missing. */
	static const char *const headers[2][2] = { { HEADERS, HEADERS ASK },
						   { HEADERS PACKED, HEADERS PACKED ASK } };
	static const struct str plain = { (const char *)page_plain, sizeof page_plain };
	static const struct str gzip = { (const char *)page_gzip, sizeof page_gzip };
	const bool packed = takes_gzip(http_header(&r->head, STR("accept-encoding")));
	const char *why;

	(void)rest;
	const int refused = auth_check(&x->front->auth, &r->head, x->uid == (uid_t)-1, &why);
	x->outlet->send(x, &(struct http_answer){ 200, "text/html; charset=utf-8",
						  headers[packed][refused == 401],
						  packed ? gzip : plain });
}
