/* SPDX-License-Identifier: MIT */
/*
 * routes: from a complete request to its answer. One table says which handler answers which method
 * of which path.
 *
 * An error of a call is 400 with {"ok":false,"error":sentence,"code":…}; errors of the request
 * itself have their own statuses (401, 403, 404, 405 …) and the same form.
 */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/exchange.h"

/* Answers a request. `rest` is what the stars of its route stand for, still escaped. */
typedef void route_handler(struct exchange *x, const struct http_request *r, struct str rest);

route_handler models_call, models_call_named, models_list_tools;
route_handler mcp_http_post, mcp_http_delete;
route_handler live_watch, live_show_call, live_stop_call;
route_handler page_send, openapi_send;
route_handler surface_home, surface_health, surface_metadata, surface_execute, surface_upload,
	surface_download, surface_list, surface_exists, surface_get, surface_put, surface_delete;

/* Whether its answer has no data, so that a client without a token, or with a wrong one, gets it.
 */
bool routes_need_no_token(const struct front *f, const struct http_head *head);

/* Answer a complete request of a client that may call. */
void routes_answer(struct exchange *x, const struct http_request *r);

#endif
