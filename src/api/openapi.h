/* SPDX-License-Identifier: MIT */
/*
 * openapi: the HTTP API, described for programs (OpenAPI 3.1).
 *
 * The document is written from the tables that the server works with: the routes of tools from
 * their tables of arguments and fields (tools/tool.h), the rest from a table of operations
 * (openapi_routes.c). The black-box tests hold every answer they get against it.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "base/buf.h"
#include "base/jw.h"
#include "tools/tool.h"

/* Something described once, among the components. */
#define OPENAPI_REF(what) "{\"$ref\":\"#/components/" what "\"}"

/* One operation: a method of a path. */
struct operation {
	const char *path, *method, *id;
	const char *tag;	  /* its chapter */
	const char *about;	  /* a sentence; NULL: the tool's */
	const struct arg *params; /* in the path, if that has {name}, else in the query; NULL: the
				     tool's arguments, unless they are the body */
	const struct tool *tool;  /* whose arguments and fields the writers below take; or NULL */
	/* Write the member "content" of a request and of a success; NULL: there is no body. */
	void (*body)(struct jw *w, const struct operation *o);
	void (*answer)(struct jw *w, const struct operation *o);
	const char *failures; /* the response that describes them; NULL: as of every tool */
	bool notified;	      /* also answered by 202 without a body */
};

/* The operations that are not one tool each; those of one path in a row; NULL paths end the tables.
 */
extern const struct operation openapi_operations[], openapi_surface_operations[];

/* Writers for bodies and answers. */
void openapi_args(struct jw *w, const struct operation *o);   /* the tool's arguments */
void openapi_result(struct jw *w, const struct operation *o); /* {"ok":true,"result":…} */

/* Open the content of a type, up to its schema's name; and end it. `example` is JSON or NULL. */
void openapi_open(struct jw *w, const char *type);
void openapi_close(struct jw *w, const char *example);

/* Content of one type whose schema is JSON. */
void openapi_content(struct jw *w, const char *type, const char *schema, const char *example);

/* The whole document, with the routes of agent-sandbox or without. */
void openapi_write(bool surface, struct buf *out);

#endif
