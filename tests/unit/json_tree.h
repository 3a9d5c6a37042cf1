/* SPDX-License-Identifier: MIT */
/* json_tree: a parsed value written back, so that what was read can be compared. */
#ifndef TESTS_JSON_TREE_H
#define TESTS_JSON_TREE_H

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/utf8.h"

static inline void json_tree_write(struct jw *w, const char *name, const struct json *v);

static inline void json_tree_children(struct jw *w, const struct json *v)
{
	for (const struct json *c = v->first; c; c = c->next) {
		/* jw's names are C strings: what follows a NUL in a name is not compared. */
		char *name = v->type == JSON_OBJECT ? strndup(c->name.n ? c->name.p : "", c->name.n)
						    : NULL;
		json_tree_write(w, name, c);
		free(name);
	}
	jw_end(w);
}

static inline void json_tree_write(struct jw *w, const char *name, const struct json *v)
{
	switch (v->type) {
	case JSON_NULL:
		jw_null(w, name);
		return;
	case JSON_BOOL:
		jw_bool(w, name, v->boolean);
		return;
	case JSON_NUMBER:
		if (v->whole)
			jw_int(w, name, v->integer);
		else
			jw_num(w, name, v->number);
		return;
	case JSON_STRING:
		jw_str(w, name, v->string);
		return;
	case JSON_ARRAY:
		jw_array(w, name);
		json_tree_children(w, v);
		return;
	case JSON_OBJECT:
		jw_object(w, name);
		json_tree_children(w, v);
		return;
	}
}

#endif
