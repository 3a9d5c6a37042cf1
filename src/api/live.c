/* SPDX-License-Identifier: MIT */
/* live: the routes of those who watch: the events, one call, and stopping it. */

#include "api/routes.h"

#include <stdio.h>

#include "api/feed.h"
#include "base/limits.h"
#include "base/own.h"
#include "net/http_parse.h"
#include "service/audit.h"

/* Where to begin, from "41" or "<boot>-41". A number that has not come yet, like another boot, is
 * that of another server. False: it is neither. */
static bool parse_position(struct events *e, struct str text, struct feed_start *ret)
{
	struct str boot = STR(""), number = text;
	int64_t after;

	if (str_index(text, '-') > 0)
		(void)str_cut(text, '-', &boot, &number);
	if (!str_int(number, &after) || after < 0)
		return false;
	ret->after = (uint64_t)after;
	ret->forgotten =
		(boot.n && !str_eq(boot, str_of(events_boot(e)))) || ret->after > events_last(e);
	if (ret->forgotten)
		ret->after = 0;
	return true;
}

static bool read_start(struct exchange *x, const struct http_request *r, struct feed_start *ret)
{
	struct events *e = x->front->service->live.events;
	const struct str last = http_header(&r->head, STR("last-event-id"));
	const struct str accept = http_header(&r->head, STR("accept"));
	struct str since;
	char room[64];

	*ret = (struct feed_start){ .fd = -1,
				    .after = events_last(e),
				    .chunked = r->head.minor > 0 };
	if (str_find_nocase(accept, STR("application/x-ndjson")) >= 0)
		ret->form = FEED_LINES;
	if (last.n)
		return parse_position(e, str_trim(last), ret);
	const int given = http_query(r->head.query, STR("since"), room, sizeof room, &since);
	return given == 0 || (given > 0 && parse_position(e, since, ret));
}

/* GET /events?since=N */
void live_watch(struct exchange *x, const struct http_request *r, struct str rest)
{
	struct feed_start start;

	(void)rest;
	if (!read_start(x, r, &start)) {
		exchange_error(x, 400, NULL, "Missing or invalid since", ERR_INVALID_ARGUMENTS);
		return;
	}
	if (!feed_has_room(x->front->feed)) {
		exchange_error(x, 503, NULL, "Too many watch already, try again later",
			       ERR_TOO_BUSY);
		return;
	}
	const bool head_only = r->head.method == HTTP_HEAD;
	const char *type = start.form == FEED_SSE ? "text/event-stream"
						  : "application/x-ndjson; charset=utf-8";
	if (x->outlet->stream_begin(x, type,
				    "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n") < 0)
		return;
	if (head_only) {
		x->outlet->stream_end(x);
		return;
	}
	start.fd = x->outlet->take(x);
	if (start.fd >= 0)
		feed_add(x->front->feed, &start);
}

/* A position in what is known of a call, and what was found on the way. */
struct story {
	struct live *live;
	uint64_t call, change;
	bool known; /* there was something */
};

/* Write its events; then arguments and result, which are details of the first and the last. */
static void tell_story(struct story *s, char *room, struct jw *w, struct arena *a)
{
	struct events_query q = { .call = s->call, .details = true };
	struct str arguments = STR("null"), result = STR("null");
	bool cut = false;
	struct events_batch b;
	struct event event;

	jw_array(w, "events");
	do {
		events_take(s->live->events, &q, room, EVENTS_ROOM, &b);
		const bool more = b.next > q.after;
		q.after = b.next;
		if (!more)
			break;
		while (events_next(&b, &event)) {
			s->known = true;
			s->change = event.change ? event.change : s->change;
			if (event.type == EVENT_CALL_START)
				arguments = live_arguments(s->live, &event, a);
			if (event.type == EVENT_CALL_END) {
				result = live_result(s->live, &event, a);
				cut = event.cut;
			}
			jw_object(w, NULL);
			live_write(s->live, w, &event);
			jw_end(w);
		}
	} while (!jw_failed(w));
	jw_end(w);
	jw_raw(w, "arguments", arguments.n ? arguments : STR("null"));
	jw_raw(w, "result", result.n ? result : STR("null"));
	jw_bool(w, "cut", cut);
}

/* Whether its change can be taken back, and by which change that was done. */
static void tell_undo(struct exchange *x, uint64_t change, struct jw *w)
{
	AUTO_BUF said = { .max = LIMIT_ANSWER };
	struct json members[] = { json_of_int(STR("id"), (int64_t)change),
				  json_of_int(STR("limit"), 1) };
	const struct json object = json_of_members(members, ARRAY_LEN(members));
	struct dispatch d = exchange_call(x, CALL_WIRE, &tool_change, &object);
	const struct json *answer = &json_empty;
	struct jw j = jw_to(&said);
	struct err e;

	d.unseen = true;
	jw_object(&j, NULL);
	const int rc = dispatch(x->front->service, &d, &j, &e);
	jw_end(&j);
	if (rc < 0 || json_parse(buf_str(&said), x->arena, &answer, &e) < 0)
		answer = &json_empty;
	const struct json *undoable = json_get(answer, STR("undoable"));
	const struct json *by = json_get(answer, STR("undone_by"));
	jw_bool(w, "undoable", undoable && undoable->boolean);
	if (by && by->type == JSON_NUMBER)
		jw_int(w, "undone_by", by->integer);
	else
		jw_null(w, "undone_by");
}

/* What it changed in files, as long as that is kept. */
static void tell_diff(struct exchange *x, uint64_t change, struct jw *w)
{
	AUTO_BUF text = { .max = LIMIT_ANSWER }, nothing = { .max = LIMIT_ANSWER };
	AUTO_BUF aside = { .max = LIMIT_ANSWER };
	struct way_text t = { .text = &text };
	struct json members[] = { json_of_int(STR("id"), (int64_t)change) };
	const struct json object = json_of_members(members, 1);
	struct dispatch d = exchange_call(x, CALL_MODEL, &tool_change_diff, &object);
	struct jw unused = jw_members_to(&nothing);
	struct err e;

	d.text = &t;
	d.unseen = true;
	if (dispatch(x->front->service, &d, &unused, &e) < 0)
		jw_null(w, "diff");
	else
		jw_str(w, "diff", live_clean(&x->front->service->live, buf_str(&text), &aside));
}

static bool parse_call(struct exchange *x, struct str id, uint64_t *ret)
{
	int64_t number;

	if (str_int(id, &number) && number > 0) {
		*ret = (uint64_t)number;
		return true;
	}
	exchange_error(x, 400, NULL, "Missing or invalid id", ERR_INVALID_ARGUMENTS);
	return false;
}

static void refuse_call(struct exchange *x, uint64_t call, const char *why)
{
	char text[96];

	(void)snprintf(text, sizeof text, "Call %llu %s", (unsigned long long)call, why);
	exchange_error(x, 404, NULL, text, ERR_CALL_NOT_FOUND);
}

/* GET /calls/<id> */
void live_show_call(struct exchange *x, const struct http_request *r, struct str id)
{
	struct story s = { .live = &x->front->service->live };
	struct jw w = jw_to(x->out);

	(void)r;
	if (!parse_call(x, id, &s.call))
		return;
	char *room = arena_alloc(x->arena, EVENTS_ROOM);
	if (!room) {
		exchange_error(x, 503, NULL, "Not enough memory, try again", ERR_TOO_BUSY);
		return;
	}
	(void)live_tell_output(s.live);
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_object(&w, "result");
	jw_int(&w, "call", (int64_t)s.call);
	jw_bool(&w, "running", roster_has(s.live->roster, s.call));
	tell_story(&s, room, &w, x->arena);
	if (s.change) {
		jw_int(&w, "change", (int64_t)s.change);
		tell_undo(x, s.change, &w);
		tell_diff(x, s.change, &w);
	}
	jw_end(&w);
	jw_end(&w);
	if (!s.known)
		refuse_call(x, s.call, "is not known, or not any more");
	else if (x->out->failed)
		exchange_error(x, 503, NULL, "Not enough memory, try again", ERR_TOO_BUSY);
	else
		exchange_send(x, 200, NULL);
}

/* POST /calls/<id>/stop */
void live_stop_call(struct exchange *x, const struct http_request *r, struct str id)
{
	struct jw w = jw_to(x->out);
	uint64_t call;

	(void)r;
	if (!parse_call(x, id, &call))
		return;
	if (!roster_stop(&x->front->service->roster, call)) {
		refuse_call(x, call, "is not running");
		return;
	}
	audit_stop(x->front->service->audit, call, x->uid == (uid_t)-1 ? -1 : (int64_t)x->uid,
		   x->pid);
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_object(&w, "result");
	jw_int(&w, "call", (int64_t)call);
	jw_bool(&w, "stopping", true);
	jw_end(&w);
	jw_end(&w);
	exchange_send(x, 200, NULL);
}
