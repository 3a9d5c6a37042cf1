/* SPDX-License-Identifier: MIT */
/*
 * live: the routes of those who watch: the events, one call, and stopping it.
 */
#ifndef API_LIVE_H
#define API_LIVE_H

#include "api/exchange.h"

/* GET /events?since=N */
void live_watch(struct exchange *x, const struct http_request *r, struct str rest);

/* GET /calls/<id> */
void live_show_call(struct exchange *x, const struct http_request *r, struct str id);

/* POST /calls/<id>/stop */
void live_stop_call(struct exchange *x, const struct http_request *r, struct str id);

#endif
