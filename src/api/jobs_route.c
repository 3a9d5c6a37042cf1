/* SPDX-License-Identifier: MIT */
/* jobs_route: the path and the query of a request as the arguments of a tool. */

#include "api/jobs_route.h"

#include "api/wire.h"
#include "net/http_url.h"
#include "tools/tool.h"

/* A number in the query as a JSON member in front of `next`; what is no number is left out. */
static struct json *add_number(struct exchange *x, struct str query, struct str name,
			       struct json *next)
{
	char text[32];
	struct str value;
	int64_t number;
	struct json *v = arena_alloc(x->arena, sizeof *v);

	if (!v || http_query(query, name, text, sizeof text, &value) != 1 ||
	    !str_int(value, &number))
		return next;
	*v = (struct json){ .type = JSON_NUMBER, .whole = true, .name = name, .next = next };
	v->number = (double)number;
	v->integer = number;
	return v;
}

bool jobs_route_is_page(struct str path)
{
	if (str_eq(path, STR("/jobs")))
		return true;
	return str_starts(path, STR("/jobs/")) && str_index(str_from(path, 6), '/') < 0;
}

bool jobs_route(struct exchange *x, const struct http_head *head)
{
	const bool get = head->method == HTTP_GET || head->method == HTTP_HEAD;
	struct json object = { .type = JSON_OBJECT };
	struct str path = head->path, id, rest;

	if (str_eq(path, STR("/jobs")) && get) {
		wire_call(x, &tool_jobs, &object);
		return true;
	}
	if (!str_starts(path, STR("/jobs/")))
		return false;
	const bool more = str_cut(str_from(path, 6), '/', &id, &rest);
	struct json name = { .type = JSON_STRING, .name = STR("id"), .string = id };
	object.first = &name;
	if (!more && get) {
		name.next = add_number(x, head->query, STR("since"),
				       add_number(x, head->query, STR("waitMs"), NULL));
		wire_call(x, &tool_job, &object);
		return true;
	}
	if (more && str_eq(rest, STR("stop")) && head->method == HTTP_POST) {
		wire_call(x, &tool_stop_job, &object);
		return true;
	}
	return false;
}
