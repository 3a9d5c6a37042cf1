/* SPDX-License-Identifier: MIT */
/*
 * surface: the routes by which the Kubernetes project agent-sandbox reaches a runtime.
 *
 *	GET  /				{"status":"ok","message":…}
 *	POST /execute			{"command":…} → {"stdout","stderr","exit_code"}
 *	POST /upload			a form with a "file", whose name is its path
 *	GET  /download/<path>		the bytes of a file
 *	GET  /list/<path>		[{"name","size","type","mod_time"}]
 *	GET  /exists/<path>		{"path","exists"}
 *	GET  /v1/files/<path>		the bytes of a file, or {"path","entries":[…]}
 *	PUT  /v1/files/<path>		write a file, ?mode=0644
 *	DELETE /v1/files/<path>		remove it, ?recursive=true for a tree
 *	GET  /v1/health, /v1/metadata
 *
 * A failure is {"code","message"}: 403 for what is refused, 404 for what is not there, 409 for a
 * directory that is not empty. Off unless the operator turns it on; all other routes are served
 * beside it. Its files are reached, and its commands judged and sandboxed, as by every other route.
 */
#ifndef API_SURFACE_H
#define API_SURFACE_H

#include "api/exchange.h"

/* Each answers a request. `path` is the part of the request's path after the route, still escaped.
 */
typedef void surface_handler(struct exchange *x, const struct http_request *r, struct str path);

surface_handler surface_home, surface_health, surface_metadata, surface_execute, surface_upload,
	surface_download, surface_list, surface_exists, surface_get, surface_put, surface_delete;

#endif
