/* SPDX-License-Identifier: MIT */
/* changes: requests become calls of tools; conflicts become 409. */

#include "api/changes.h"

#include <stdio.h>

#include "api/limits.h"
#include "base/limits.h"
#include "base/own.h"
#include "net/http_parse.h"
#include "tools/tool.h"

static void answer(struct exchange *x, const struct tool *t, const struct json *arguments)
{
	struct dispatch d = exchange_call(x, CALL_WIRE, t, arguments);

	exchange_answer(x, &d);
}

void changes_list(struct exchange *x, const struct http_request *r, struct str rest)
{
	static const char *const numbers[] = { "since", "before", "limit" };
	static const char *const texts[] = { "session", "tool", "path" };
	struct json members[ARRAY_LEN(numbers) + ARRAY_LEN(texts)];
	char room[ARRAY_LEN(texts)][LIMIT_QUERY_TEXT];
	size_t n = 0;

	(void)rest;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (!exchange_take_number(x, r, numbers[i], members, &n))
			return;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct str text;
		const int given =
			http_query(r->head.query, str_of(texts[i]), room[i], sizeof room[i], &text);
		if (given < 0) {
			exchange_refuse_query(x, texts[i]);
			return;
		}
		if (given)
			members[n++] = json_of_str(str_of(texts[i]), text);
	}
	const struct json object = json_of_members(members, n);
	answer(x, &tool_changes, &object);
}

/* The number in the path; answers and returns false if it is not one. */
static bool read_id(struct exchange *x, struct str id, struct json *to)
{
	int64_t number;

	if (!str_int(id, &number) || number <= 0) {
		exchange_error(x, 404, NULL, "There is no such change", ERR_CHANGE_NOT_FOUND);
		return false;
	}
	*to = json_of_int(STR("id"), number);
	return true;
}

void changes_show(struct exchange *x, const struct http_request *r, struct str id)
{
	struct json members[3];
	size_t n = 1;

	if (!read_id(x, id, &members[0]) || !exchange_take_number(x, r, "offset", members, &n) ||
	    !exchange_take_number(x, r, "limit", members, &n))
		return;
	const struct json object = json_of_members(members, n);
	answer(x, &tool_change, &object);
}

void changes_diff(struct exchange *x, const struct http_request *r, struct str id)
{
	struct json members[1];
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct way_text t = { .text = &text };
	struct jw w = jw_to(x->out);
	struct err e;

	(void)r;
	if (!read_id(x, id, &members[0]))
		return;
	const struct json object = json_of_members(members, ARRAY_LEN(members));
	struct dispatch d = exchange_call(x, CALL_WIRE, &tool_change_diff, &object);
	d.text = &t;
	jw_object(&w, NULL);
	if (dispatch(x->front->service, &d, &w, &e) < 0) {
		exchange_fail(x, &e, NULL);
		return;
	}
	x->outlet->send(
		x, &(struct http_answer){ 200, "text/plain; charset=utf-8", NULL, buf_str(&text) });
}

/* The body of a request as an object. */
static const struct json *body_of(struct exchange *x, const struct http_request *r)
{
	struct err e;
	const struct json *object = str_trim(r->body).n ? exchange_body(x, r, &e) : &json_empty;

	if (!object)
		exchange_error(x, 400, NULL, "Invalid JSON body", ERR_INVALID_ARGUMENTS);
	return object;
}

void changes_undo(struct exchange *x, const struct http_request *r, struct str id)
{
	static const struct str names[] = { STR("dryRun"), STR("force"), STR("paths"),
					    STR("sessionId") };
	struct json members[1 + ARRAY_LEN(names)];
	const struct json *body = body_of(x, r);
	size_t n = 1;

	if (!body || !read_id(x, id, &members[0]))
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct json *v = json_get(body, names[i]);
		if (v)
			members[n++] = *v;
	}
	const struct json object = json_of_members(members, n);
	answer(x, &tool_undo, &object);
}

void changes_undo_many(struct exchange *x, const struct http_request *r, struct str rest)
{
	const struct json *body = body_of(x, r);

	(void)rest;
	if (body)
		answer(x, &tool_undo, body);
}
