/* SPDX-License-Identifier: MIT */
/* A connection, over a pair of sockets: requests in, answers out, without waiting. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "api/limits.h"
#include "base/io.h"
#include "net/http.h"
#include "net/limits.h"

#define HEAD "POST /x HTTP/1.1\r\nHost: h\r\n"

/* Both ends: ours is the connection, the client's a plain socket that does not block either. */
struct ends {
	struct http_budget budget;
	struct http http;
	struct http_request request;
	struct http_refusal why;
	int client;
};

static void ends_init(struct ends *t)
{
	int fds[2];

	*t = (struct ends){ .budget = { LIMIT_BODIES } };
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	http_init(&t->http, fds[0], &t->budget);
	t->client = fds[1];
}

/* Everything that was taken from the budget is back. */
static void ends_done(struct ends *t)
{
	http_done(&t->http);
	assert_int_equal(t->budget.left, LIMIT_BODIES);
	fd_closep(&t->client);
}

static void client_sends(struct ends *t, struct str s)
{
	assert_int_equal(send(t->client, s.p, s.n, MSG_NOSIGNAL), s.n);
}

static enum http_event receive(struct ends *t)
{
	const enum http_event event = http_receive(&t->http, &t->request, &t->why);

	/* A body that is still to come is announced once; these tests always want it. */
	return event == HTTP_ANNOUNCED ? http_receive(&t->http, &t->request, &t->why) : event;
}

static void answer(struct ends *t, struct str body)
{
	http_send(&t->http, &(struct http_answer){ 200, "text/plain", NULL, body });
}

/* What the client can read now, as text. */
static const char *client_reads(struct ends *t)
{
	static char got[8192];
	const ssize_t n = recv(t->client, got, sizeof got - 1, 0);

	got[n > 0 ? n : 0] = '\0';
	return got;
}

static const struct {
	const char *name;
	struct str in; /* one request and the start of the next */
	const char *body;
} requests[] = {
	{ "none", STR(HEAD "\r\n"), "" },
	{ "length", STR(HEAD "Content-Length: 5\r\n\r\nhello"), "hello" },
	{ "chunks", STR(HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"),
	  "hello" },
	{ "trailer",
	  STR(HEAD "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n"),
	  "hello" },
};

static void a_request_comes_however_it_is_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		for (size_t step = 1; step <= requests[i].in.n; step += 7) {
			struct ends t;
			ends_init(&t);
			enum http_event event = HTTP_MORE;
			for (struct str rest = requests[i].in; rest.n;
			     rest = str_from(rest, step)) {
				assert_int_equal(event, HTTP_MORE);
				client_sends(&t, str_upto(rest, step));
				event = receive(&t);
			}
			assert_int_equal(event, HTTP_REQUEST);
			assert_str(t.request.body, requests[i].body);
			assert_str(t.request.head.path, "/x");
			answer(&t, STR("ok"));
			assert_int_equal(t.http.state, HTTP_IDLE);
			assert_null(t.http.in.p); /* an idle connection holds no buffer */
			assert_non_null(strstr(client_reads(&t), "Content-Length: 2\r\n\r\nok"));
			ends_done(&t);
		}
}

static void pipelined_requests_come_one_by_one(void **state)
{
	struct ends t;

	(void)state;
	ends_init(&t);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		client_sends(&t, requests[i].in);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		assert_int_equal(receive(&t), HTTP_REQUEST);
		assert_str(t.request.body, requests[i].body);
		answer(&t, STR(""));
	}
	assert_int_equal(t.http.state, HTTP_IDLE);
	assert_int_equal(receive(&t), HTTP_MORE);
	ends_done(&t);
}

static const struct {
	struct str in;
	int status;
} refusals[] = {
	{ STR("nonsense\r\n"), 400 },
	{ STR(HEAD "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
	{ STR(HEAD "Content-Length: 33554433\r\n\r\n"), 413 },
	{ STR(HEAD "Transfer-Encoding: chunked\r\n\r\nz\r\n"), 400 },
	{ STR("GET / HTTP/3.0\r\n"), 505 },
	{ STR(HEAD "Expect: more\r\n\r\n"), 417 },
};

static void a_refusal_is_read_before_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		struct ends t;
		char status[32];
		ends_init(&t);
		client_sends(&t, refusals[i].in);
		assert_int_equal(receive(&t), HTTP_REFUSED);
		assert_int_equal(t.why.status, refusals[i].status);
		http_refuse_with(&t.http, t.why.status, NULL, STR("{}"));
		assert_int_equal(t.http.state, HTTP_DISCARD);
		client_sends(&t, STR("what was still under way"));
		http_discard(&t.http);
		assert_int_equal(t.http.state, HTTP_DISCARD);
		(void)snprintf(status, sizeof status, "HTTP/1.1 %d ", refusals[i].status);
		const char *got = client_reads(&t);
		assert_ptr_equal(strstr(got, status), got);
		assert_non_null(strstr(got, "Connection: close\r\n"));
		(void)shutdown(t.client, SHUT_WR);
		http_discard(&t.http);
		assert_int_equal(t.http.state, HTTP_CLOSED);
		ends_done(&t);
	}
}

static void discarding_has_an_end(void **state)
{
	struct ends t;
	char *waste = calloc(1, 1 << 16);

	(void)state;
	ends_init(&t);
	http_refuse_with(&t.http, 413, NULL, STR("{}"));
	for (int64_t sent = 0; t.http.state == HTTP_DISCARD;) {
		assert_true(sent <= LIMIT_REFUSED_BYTES + (1 << 20));
		const ssize_t n = send(t.client, waste, 1 << 16, MSG_NOSIGNAL);
		sent += n > 0 ? n : 0;
		http_discard(&t.http);
	}
	assert_int_equal(t.http.state, HTTP_CLOSED);
	free(waste);
	ends_done(&t);
}

static void a_client_that_left_is_gone(void **state)
{
	struct ends t;

	(void)state;
	ends_init(&t);
	client_sends(&t, STR(HEAD));
	fd_closep(&t.client);
	assert_int_equal(receive(&t), HTTP_GONE);
	ends_done(&t);
	ends_init(&t);
	client_sends(&t, requests[1].in);
	assert_int_equal(shutdown(t.client, SHUT_WR), 0);
	assert_int_equal(receive(&t), HTTP_REQUEST); /* it only stopped sending */
	answer(&t, STR("ok"));
	assert_non_null(strstr(client_reads(&t), "ok"));
	assert_int_equal(receive(&t), HTTP_GONE);
	ends_done(&t);
}

static void what_is_not_taken_waits(void **state)
{
	enum { BODY = 4 << 20 };
	struct ends t;
	char *body = malloc(BODY), *got = malloc(2 * BODY);
	size_t n = 0;

	(void)state;
	ends_init(&t);
	memset(body, 'x', BODY);
	client_sends(&t, requests[0].in);
	assert_int_equal(receive(&t), HTTP_REQUEST);
	answer(&t, (struct str){ body, BODY });
	assert_int_equal(t.http.state, HTTP_OUT);
	assert_true(t.budget.left < LIMIT_BODIES - BODY / 2);
	while (t.http.state == HTTP_OUT) {
		const ssize_t more = recv(t.client, got + n, 100000, 0);
		n += more > 0 ? (size_t)more : 0;
		http_flush(&t.http);
	}
	for (ssize_t more; (more = recv(t.client, got + n, 100000, 0)) > 0;)
		n += (size_t)more;
	assert_true(n > BODY);
	assert_memory_equal(got + n - BODY, body, BODY);
	assert_int_equal(t.http.state, HTTP_IDLE);
	assert_null(t.http.out.p);
	free(body);
	free(got);
	ends_done(&t);
}

static void memory_of_all_is_bounded(void **state)
{
	struct ends t;
	char *body = calloc(1, 8 << 20);

	(void)state;
	ends_init(&t);
	/* Announced is not taken … */
	client_sends(&t, STR(HEAD "Content-Length: 30000000\r\n\r\n{"));
	assert_int_equal(receive(&t), HTTP_MORE);
	assert_int_equal(t.budget.left, LIMIT_BODIES);
	/* … but what arrives is, and others may have left nothing. */
	t.budget.left = 1 << 20;
	enum http_event event = HTTP_MORE;
	for (int i = 0; i < 1000 && event == HTTP_MORE; i++) {
		(void)send(t.client, body, 1 << 16, MSG_NOSIGNAL);
		event = receive(&t);
	}
	assert_int_equal(event, HTTP_REFUSED);
	assert_int_equal(t.why.status, 503);
	http_done(&t.http);
	assert_int_equal(t.budget.left, 1 << 20);
	fd_closep(&t.client);

	ends_init(&t);
	t.budget.left = 1 << 20;
	client_sends(&t, requests[0].in);
	assert_int_equal(receive(&t), HTTP_REQUEST);
	answer(&t, (struct str){ body, 8 << 20 });
	assert_int_equal(t.http.state, HTTP_CLOSED);
	http_done(&t.http);
	assert_int_equal(t.budget.left, 1 << 20);
	fd_closep(&t.client);
	free(body);
}

static void the_time_is_up(void **state)
{
	struct ends t;

	(void)state;
	ends_init(&t);
	assert_true(t.http.deadline_ms <= io_now_ms() + LIMIT_HEAD_MS);
	http_expire(&t.http, STR("{}"));
	assert_string_equal(client_reads(&t), ""); /* nothing was asked */
	ends_done(&t);
	ends_init(&t);
	client_sends(&t, STR(HEAD));
	assert_int_equal(receive(&t), HTTP_MORE);
	const int64_t deadline_ms = t.http.deadline_ms;
	client_sends(&t, STR("A: b\r\n"));
	assert_int_equal(receive(&t), HTTP_MORE);
	assert_int_equal(t.http.deadline_ms, deadline_ms);
	http_expire(&t.http, STR("{}"));
	assert_int_equal(t.http.state, HTTP_CLOSED);
	assert_non_null(strstr(client_reads(&t), "HTTP/1.1 408 "));
	ends_done(&t);
}

static const struct {
	const char *request, *has, *has_not;
	int status;
} answers[] = {
	{ "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", "Content-Length: 4\r\n\r\n", "body", 200 },
	{ "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\r\n\r\nbody", "Connection", 200 },
	{ "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "Connection: close\r\n", NULL,
	  200 },
	{ "GET / HTTP/1.0\r\n\r\n", "Connection: close\r\n", NULL, 200 },
	{ "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive\r\n", NULL,
	  200 },
	{ "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "204 No Content\r\n", "Content-Length", 204 },
};

static void answers_fit_their_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct ends t;
		ends_init(&t);
		client_sends(&t, str_of(answers[i].request));
		assert_int_equal(receive(&t), HTTP_REQUEST);
		http_send(&t.http, &(struct http_answer){ answers[i].status, "text/plain", NULL,
							  answers[i].status == 204 ? STR("")
										   : STR("body") });
		const char *got = client_reads(&t);
		assert_non_null(strstr(got, answers[i].has));
		assert_false(answers[i].has_not && strstr(got, answers[i].has_not));
		assert_int_equal(t.http.state,
				 strstr(answers[i].has, "close") ? HTTP_CLOSED : HTTP_IDLE);
		ends_done(&t);
	}
}

static void continue_is_said_once_and_only_when_waited_for(void **state)
{
	struct ends t;

	(void)state;
	ends_init(&t);
	client_sends(&t, STR(HEAD "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
	assert_int_equal(http_receive(&t.http, &t.request, &t.why), HTTP_ANNOUNCED);
	assert_string_equal(client_reads(&t), "");
	assert_int_equal(receive(&t), HTTP_MORE);
	assert_string_equal(client_reads(&t), "HTTP/1.1 100 Continue\r\n\r\n");
	client_sends(&t, STR("o"));
	assert_int_equal(receive(&t), HTTP_MORE);
	assert_string_equal(client_reads(&t), "");
	client_sends(&t, STR("k"));
	assert_int_equal(receive(&t), HTTP_REQUEST);
	assert_str(t.request.body, "ok");
	answer(&t, STR(""));
	ends_done(&t);
}

static void a_stream_is_chunked(void **state)
{
	struct ends t;

	(void)state;
	ends_init(&t);
	client_sends(&t, requests[0].in);
	assert_int_equal(receive(&t), HTTP_REQUEST);
	assert_int_equal(http_stream_begin(&t.http, "text/plain", NULL), 0);
	assert_int_equal(http_stream_write(&t.http, STR("hello")), 0);
	assert_int_equal(http_stream_write(&t.http, STR("")), 0);
	assert_int_equal(http_stream_write(&t.http, STR("!")), 0);
	http_stream_end(&t.http);
	assert_non_null(strstr(client_reads(&t), "Transfer-Encoding: chunked\r\n\r\n"
						 "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"));
	assert_int_equal(t.http.state, HTTP_IDLE);
	client_sends(&t, STR("GET / HTTP/1.0\r\n\r\n"));
	assert_int_equal(receive(&t), HTTP_REQUEST);
	assert_int_equal(http_stream_begin(&t.http, "text/plain", NULL), 0);
	assert_int_equal(http_stream_write(&t.http, STR("old")), 0);
	http_stream_end(&t.http);
	assert_non_null(strstr(client_reads(&t), "\r\n\r\nold"));
	assert_int_equal(t.http.state, HTTP_CLOSED);
	ends_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_comes_however_it_is_cut),
		cmocka_unit_test(pipelined_requests_come_one_by_one),
		cmocka_unit_test(a_refusal_is_read_before_the_end),
		cmocka_unit_test(discarding_has_an_end),
		cmocka_unit_test(a_client_that_left_is_gone),
		cmocka_unit_test(what_is_not_taken_waits),
		cmocka_unit_test(memory_of_all_is_bounded),
		cmocka_unit_test(the_time_is_up),
		cmocka_unit_test(answers_fit_their_requests),
		cmocka_unit_test(continue_is_said_once_and_only_when_waited_for),
		cmocka_unit_test(a_stream_is_chunked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
