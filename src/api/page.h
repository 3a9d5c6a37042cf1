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
#ifndef API_PAGE_H
#define API_PAGE_H

#include "api/exchange.h"

/* GET /ui */
void page_send(struct exchange *x, const struct http_request *r, struct str rest);

#endif
