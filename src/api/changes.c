/* SPDX-License-Identifier: MIT */
/* changes: requests become calls of tools; conflicts become 409. */

#include "api/changes.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/own.h"
#include "net/http_parse.h"
#include "tools/tool.h"

const char *changes_header(uint64_t change, char out[48])
{
	if (change == 0)
		return NULL;
	(void)snprintf(out, 48, "Sidecar-Change: %llu\r\n", (unsigned long long)change);
	return out;
}

static int status_of(const struct err *e)
{
	return e->code == ERR_TOO_BUSY		 ? 503
	       : e->code == ERR_CHANGE_NOT_FOUND ? 404
	       : e->code == ERR_CONFLICT	 ? 409
						 : 400;
}

/* {"ok":false,"error":…,"code":…} and the details. */
static void send_failure(struct exchange *x, const struct err *e, const struct buf *details)
{
	buf_reset(x->out, SIZE_MAX);
	exchange_error_body(x->out, e->msg, e->code);
	if (details->n && !details->failed && x->out->n) {
		x->out->n--;
		buf_addc(x->out, ',');
		buf_add(x->out, buf_str(details));
		buf_addc(x->out, '}');
	}
	exchange_send(x, status_of(e), NULL);
}

/* Make the call and answer with {"ok":true,"result":{…}}. */
static void answer(struct exchange *x, const struct tool *t, const struct json *arguments)
{
	struct dispatch d = exchange_call(x, CALL_WIRE, t, arguments);
	AUTO_BUF details = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(x->out);
	struct call_change change = { .id = 0 };
	char header[48];
	struct err e;

	d.details = &details;
	d.change = &change;
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_object(&w, "result");
	if (dispatch(x->front->service, &d, &w, &e) < 0) {
		send_failure(x, &e, &details);
		return;
	}
	jw_end(&w);
	jw_end(&w);
	exchange_send(x, 200, change.id ? changes_header(change.id, header) : NULL);
}

/* A number of the query as a member. One that is not a number is refused. */
static bool query_number(const struct http_request *r, struct str name, struct json *members,
			 size_t *count)
{
	char room[32];
	struct str text;
	int64_t number;
	const int given = http_query(r->head.query, name, room, sizeof room, &text);

	if (given == 0)
		return true;
	if (given < 0 || !str_int(text, &number) || number < 0)
		return false;
	members[(*count)++] = json_of_int(name, number);
	return true;
}

static void refuse_number(struct exchange *x, const char *what)
{
	char text[64];

	(void)snprintf(text, sizeof text, "Missing or invalid %s", what);
	exchange_error(x, 400, NULL, text, ERR_INVALID_ARGUMENTS);
}

void changes_list(struct exchange *x, const struct http_request *r, struct str rest)
{
	struct json members[2];
	size_t n = 0;

	(void)rest;
	if (!query_number(r, STR("since"), members, &n)) {
		refuse_number(x, "since");
		return;
	}
	if (!query_number(r, STR("limit"), members, &n)) {
		refuse_number(x, "limit");
		return;
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

	if (!read_id(x, id, &members[0]))
		return;
	if (!query_number(r, STR("offset"), members, &n)) {
		refuse_number(x, "offset");
		return;
	}
	if (!query_number(r, STR("limit"), members, &n)) {
		refuse_number(x, "limit");
		return;
	}
	const struct json object = json_of_members(members, n);
	answer(x, &tool_change, &object);
}

void changes_diff(struct exchange *x, const struct http_request *r, struct str id)
{
	struct json members[1];
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct call_text t = { .text = &text };
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
		const struct buf none = { .n = 0 };
		send_failure(x, &e, &none);
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
