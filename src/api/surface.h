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
 * directory that is not empty. Off unless the operator turns it on; everything else is served
 * beside it. Files are reached and commands held as by every other route.
 */
#ifndef API_SURFACE_H
#define API_SURFACE_H

#include "api/routes.h"

/* Answer a request for one of these. False when the path is none of them. */
bool surface_route(struct exchange *x, const struct http_request *r);

#endif
