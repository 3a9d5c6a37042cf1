/* SPDX-License-Identifier: MIT */
/*
 * jobs_route: background commands over HTTP.
 *
 *	GET  /jobs				all of them
 *	GET  /jobs/<id>?since=N&waitMs=M	output since a cursor, waiting for news
 *	POST /jobs/<id>/stop			end it
 */
#ifndef API_JOBS_ROUTE_H
#define API_JOBS_ROUTE_H

#include "api/routes.h"

/* Answer a request below /jobs. False when the path, or the method for it, is none of these. */
bool jobs_route(struct exchange *x, const struct http_head *head);

/* Whether the path is one of those to look at. */
bool jobs_route_is_page(struct str path);

#endif
