/* SPDX-License-Identifier: MIT */
/*
 * visit: one request for a route of agent-sandbox, on its way through surface.c (which says what
 * the routes are) and surface_files.c (those that move files).
 */
#ifndef API_VISIT_H
#define API_VISIT_H

#include "api/routes.h"
#include "base/jw.h"
#include "tools/tool.h"

struct visit {
	struct exchange *x;
	const struct http_request *r;
	struct str path; /* behind the route, escapes decoded */
	struct call call;
	struct jw w; /* of the answer */
};

/* Answers, or returns -1 with *e and nothing sent. */
typedef int visit_run(struct visit *v, struct err *e);

/* The value that was written is the answer: end it and send it. */
int visit_done(struct visit *v, struct err *e);

/* Send {"code":name,"message":sentence}. */
void visit_refuse(struct visit *v, int status, const char *name, const char *sentence);

visit_run visit_upload, visit_download, visit_list, visit_exists;
visit_run visit_get_file, visit_put_file, visit_delete_file;

#endif
