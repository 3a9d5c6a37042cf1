/* SPDX-License-Identifier: MIT */
/* Servers that are not sidecars: every call ends in time, in bounded memory, with the right code.
 */

#include "client_unit.h"

#include "base/buf.h"

#define OK	  "HTTP/1.1 200 OK\r\n"
#define LENGTH(n) "Content-Length: " #n "\r\n\r\n"

static const struct {
	const char *answer;
	int then;
	const char *code, *sentence; /* of sidecar_ls; code NULL: it succeeds */
} cases[] = {
	{ OK LENGTH(35) "{\"ok\":true,\"result\":{\"output\":\"a\"}}", FAKE_HANG, NULL, NULL },
	{ OK "Transfer-Encoding: chunked\r\n\r\n"
	     "5\r\n{\"ok\"\r\n1e\r\n:true,\"result\":{\"output\":\"a\"}}\r\n0\r\n\r\n",
	  FAKE_HANG, NULL, NULL },
	{ "HTTP/1.1 100 Continue\r\n\r\n" OK LENGTH(
		  35) "{\"ok\":true,\"result\":{\"output\":\"a\"}}",
	  FAKE_HANG, NULL, NULL },
	{ OK "\r\n{\"ok\":true,\"result\":{\"output\":\"a\"}}", FAKE_CLOSE, NULL, NULL },
	{ OK LENGTH(35) "{\"ok\":true,\"result\":{\"output\":\"a\"}}", FAKE_DRIP, NULL, NULL },
	{ OK LENGTH(20) "{\"ok\":true,\"result\":", FAKE_HANG, "BAD_ANSWER",
	  "What answered is not a sidecar: " },
	{ OK LENGTH(2) "{}", FAKE_HANG, "BAD_ANSWER", "The sidecar's answer has no result" },
	{ OK LENGTH(4) "null", FAKE_HANG, "BAD_ANSWER", "The sidecar's answer has no result" },
	{ OK LENGTH(33) "{\"ok\":true,\"result\":{\"output\":1}}", FAKE_HANG, "BAD_ANSWER",
	  "The sidecar's answer is not understood: output must be a string" },
	{ OK LENGTH(99999999999), FAKE_HANG, "BAD_ANSWER", "The answer is too large" },
	{ OK "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", FAKE_HANG, "BAD_ANSWER", NULL },
	{ OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n", FAKE_HANG, "BAD_ANSWER", NULL },
	{ "garbage\r\n\r\n", FAKE_HANG, "BAD_ANSWER", NULL },
	{ "HTTP/1.1 100 Continue\r\n\r\n", FAKE_REPEAT, "BAD_ANSWER",
	  "What answered is not a sidecar: it sends no final answer" },
	{ "HTTP/1.1 200 OK\r\nX: ", FAKE_REPEAT, "BAD_ANSWER", NULL },
	{ OK, FAKE_HANG, "TIMED_OUT", NULL },
	{ OK LENGTH(100) "{", FAKE_HANG, "TIMED_OUT", NULL },
	{ OK LENGTH(100) "{", FAKE_CLOSE, "CONNECTION_LOST", NULL },
	{ OK, FAKE_CLOSE, "CONNECTION_LOST", NULL },
	{ "", FAKE_CLOSE, "CONNECTION_LOST", NULL },
	{ "HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}", FAKE_HANG, "UNAUTHORIZED",
	  "The sidecar answered with status 401" },
	{ "HTTP/1.1 502 No\r\nContent-Length: 4\r\n\r\n<no>", FAKE_HANG, "BAD_ANSWER",
	  "The sidecar answered with status 502" },
	{ "HTTP/1.1 400 No\r\nContent-Length: 30\r\n\r\n{\"error\":\"new\",\"code\":\"BRANDNEW\"}",
	  FAKE_HANG, "INVALID_ARGUMENTS", "The sidecar answered with status 400" },
	{ "HTTP/1.1 400 No\r\nContent-Length: 33\r\n\r\n{\"error\":\"new\",\"code\":\"BRANDNEW\"}",
	  FAKE_HANG, "BRANDNEW", "new" },
};

static void every_wrong_answer_has_its_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scratch s = scratch_new();
		struct fake f = { .answer = cases[i].answer, .then = cases[i].then };
		char path[PATH_MAX];
		const bool times_out = cases[i].code && strcmp(cases[i].code, "TIMED_OUT") == 0;
		const struct sidecar_settings settings = { .socket_path = path,
							   .wait_for_ready_ms = 60000,
							   .timeout_ms = times_out ? 300 : 60000 };
		struct sidecar_error error = { .code = "" };
		(void)snprintf(path, sizeof path, "%.2000s/s", s.path);
		fake_start(&f, &s);
		struct sidecar *client = sidecar_open(&settings, &error);
		struct sidecar_text *names = sidecar_ls(client, NULL, 0, &error);
		if (cases[i].code && strcmp(error.code, cases[i].code) != 0)
			fail_msg("%zu: %s %s", i, error.code, error.message);
		if (!cases[i].code && !names)
			fail_msg("%zu: %s %s", i, error.code, error.message);
		if (cases[i].sentence &&
		    strncmp(error.message, cases[i].sentence, strlen(cases[i].sentence)) != 0)
			fail_msg("%zu: %s", i, error.message);
		assert_true(!cases[i].code == !!names);
		sidecar_free(names);
		sidecar_close(client);
		fake_stop(&f, &s);
		scratch_free(&s);
	}
}

/* A call that only reads is sent again, a few times; a call that changes something never is. */
static void only_calls_that_read_are_sent_again(void **state)
{
	struct scratch s = scratch_new();
	struct fake f = { .answer = "", .then = FAKE_CLOSE };
	struct sidecar_error error;

	(void)state;
	fake_start(&f, &s);
	struct sidecar *client = open_client(&s, 5000);
	assert_null(sidecar_read_file(client, "a", NULL, &error));
	assert_string_equal(error.code, "CONNECTION_LOST");
	assert_int_equal(f.requests, 4);
	assert_null(sidecar_write_file(client, "a", "b", 1, &error));
	assert_string_equal(error.code, "CONNECTION_LOST");
	assert_string_equal(error.message, "The sidecar closed the connection without an answer. "
					   "POST /write may have been carried out, or not");
	assert_int_equal(f.requests, 5);
	assert_null(sidecar_edit_file(client, "a", "b", "c", &error));
	assert_int_equal(sidecar_run_bash(client, "x", NULL, NULL, &error), -1);
	assert_null(sidecar_call_tool(client, "write_file", "{}", &error));
	assert_int_equal(f.requests, 8);
	assert_null(sidecar_call_tool(client, "read_file", "{}", &error));
	assert_int_equal(f.requests, 12);
	sidecar_close(client);
	fake_stop(&f, &s);
	scratch_free(&s);
}

#define STREAM OK "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
#define DELTA  "33\r\n{\"type\":\"delta\",\"data\":\"hi\",\"stream\":\"stdout\"}    \n\r\n"
#define DONE   "29\r\n{\"type\":\"done\",\"exitCode\":3,\"change\":41}\n\r\n"
#define END    "0\r\n\r\n"

static int count(void *arg, bool is_stderr, const char *text, size_t length)
{
	(void)is_stderr, (void)text;
	*(size_t *)arg += length;
	return 0;
}

static void a_stream_counts_up_to_its_end(void **state)
{
	static const struct {
		const char *answer;
		const char *code;
		size_t output;
	} streams[] = {
		{ STREAM DELTA DELTA DONE END, NULL, 4 },
		{ STREAM DELTA DONE, NULL, 2 }, /* its end is known */
		{ STREAM DELTA, "CONNECTION_LOST", 2 },
		{ STREAM DELTA END, "BAD_ANSWER", 2 },
		{ STREAM DONE DELTA END, NULL, 0 }, /* and nothing after it counts */
		{ STREAM "5\r\nnope\n\r\n" END, "BAD_ANSWER", 0 },
		{ STREAM "10\r\n{\"type\":\"done\"}\n\r\n" END, "BAD_ANSWER", 0 },
		{ STREAM "2a\r\n{\"type\":\"error\",\"message\":\"m\",\"code\":\"C\"}\n\r\n" END,
		  "C", 0 },
		{ OK LENGTH(2) "{}", "BAD_ANSWER", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
		struct scratch s = scratch_new();
		struct fake f = { .answer = streams[i].answer, .then = FAKE_CLOSE };
		size_t output = 0;
		const struct sidecar_bash_options options = { .output = count, .arg = &output };
		struct sidecar_exit ended = { .code = 77 };
		struct sidecar_error error = { .code = "" };
		fake_start(&f, &s);
		struct sidecar *client = open_client(&s, 5000);
		const int rc = sidecar_run_bash(client, "x", &options, &ended, &error);
		if ((rc == 0) != !streams[i].code ||
		    strcmp(error.code, streams[i].code ? streams[i].code : "") != 0)
			fail_msg("%zu: %d %s %s", i, rc, error.code, error.message);
		assert_int_equal(ended.code, rc == 0 ? 3 : 77);
		assert_int_equal(ended.change, rc == 0 ? 41 : 0);
		assert_int_equal(output, streams[i].output);
		sidecar_close(client);
		fake_stop(&f, &s);
		scratch_free(&s);
	}
}

static void answers_name_their_change(void **state)
{
#define BOTH                                                                                       \
	"Connection: close\r\n" LENGTH(64) "{\"ok\":true,\"result\":{\"path\":\"a\",\"bytes\":1,"  \
					   "\"files\":[],\"fuzz\":[]}}"
	static const struct {
		const char *answer;
		int64_t change;
	} answers[] = {
		{ OK "Sidecar-Change: 41\r\n" BOTH, 41 },
		{ OK BOTH, 0 },
		{ OK "Sidecar-Change: x\r\n" BOTH, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct scratch s = scratch_new();
		struct fake f = { .answer = answers[i].answer, .then = FAKE_CLOSE };
		struct sidecar_error error = { .code = "" };
		fake_start(&f, &s);
		struct sidecar *client = open_client(&s, 5000);
		struct sidecar_change *c = sidecar_write_file(client, "a", "b", 1, &error);
		struct sidecar_patch *p = sidecar_apply_patch(client, "x", NULL, &error);
		if (!c || !p)
			fail_msg("%zu: %s %s", i, error.code, error.message);
		assert_int_equal(c->change, answers[i].change);
		assert_int_equal(p->change, answers[i].change);
		sidecar_free(c);
		sidecar_free(p);
		sidecar_close(client);
		fake_stop(&f, &s);
		scratch_free(&s);
	}
}

static int collect(void *arg, bool is_stderr, const char *text, size_t length)
{
	struct buf *streams = arg;

	buf_add(&streams[is_stderr], (struct str){ text, length });
	return 0;
}

/* A chunk of the answer ends at every place in turn, and at last after every byte. */
static void a_stream_may_be_split_anywhere(void **state)
{
	const struct str body = STR("{\"type\":\"delta\",\"data\":\"\xc3\xa9\xf0\x9f\x99\x82\"}\n"
				    "{\"type\":\"delta\",\"data\":\"\\u00e9\\ud83d\\ude42\","
				    "\"stream\":\"stderr\"}\n{\"type\":\"done\",\"exitCode\":3}\n");

	(void)state;
	for (size_t cut = 1; cut <= body.n; cut++) {
		struct scratch s = scratch_new();
		AUTO_BUF answer = { .max = 8 << 10 };
		struct buf texts[2] = { { .max = 1 << 10 }, { .max = 1 << 10 } };
		const struct sidecar_bash_options options = { .output = collect, .arg = texts };
		struct sidecar_exit ended = { .code = 77 };
		struct sidecar_error error = { .code = "" };
		buf_add(&answer, STR(STREAM));
		for (size_t at = 0, n; at < body.n; at += n) {
			n = cut == body.n ? 1 : at == 0 ? cut : body.n - cut;
			buf_addf(&answer, "%zx\r\n%.*s\r\n", n, (int)n, body.p + at);
		}
		buf_add(&answer, (struct str){ END, sizeof END });
		struct fake f = { .answer = answer.p, .then = FAKE_CLOSE };
		fake_start(&f, &s);
		struct sidecar *client = open_client(&s, 5000);
		assert_int_equal(sidecar_run_bash(client, "x", &options, &ended, &error), 0);
		assert_int_equal(ended.code, 3);
		for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
			assert_str(buf_str(&texts[i]), "\xc3\xa9\xf0\x9f\x99\x82");
			buf_done(&texts[i]);
		}
		sidecar_close(client);
		fake_stop(&f, &s);
		scratch_free(&s);
	}
}

#define TEN	" 12345678 "
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* A server that sends byte after byte is not silent, but its answer must still arrive in time. Only
 * a command may take as long as it likes, if it prints something now and then. */
static void slow_bytes_do_not_extend_the_timeout(void **state)
{
	static const char *const slow[] = {
		OK LENGTH(200) HUNDRED HUNDRED,
		OK "X: " HUNDRED "\r\n" LENGTH(2) "{}",
		OK "Transfer-Encoding: chunked\r\n\r\n64\r\n" HUNDRED "\r\n0\r\n\r\n",
	};
	struct scratch s = scratch_new();
	char path[PATH_MAX];
	const struct sidecar_settings settings = { .socket_path = path,
						   .wait_for_ready_ms = 60000,
						   .timeout_ms = 300 };
	struct sidecar_error error;

	(void)state;
	(void)snprintf(path, sizeof path, "%.2000s/s", s.path);
	for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
		struct fake f = { .answer = slow[i], .then = FAKE_SLOW };
		fake_start(&f, &s);
		struct sidecar *client = sidecar_open(&settings, &error);
		assert_null(sidecar_write_file(client, "a", "b", 1, &error));
		assert_string_equal(error.code, "TIMED_OUT");
		sidecar_close(client);
		fake_stop(&f, &s);
	}
	struct fake f = { .answer = STREAM DELTA DELTA DONE END, .then = FAKE_SLOW_BODY };
	struct sidecar_settings patient = settings;
	patient.timeout_ms = 2000; /* enough for the head, not for the body */
	fake_start(&f, &s);
	struct sidecar *client = sidecar_open(&patient, &error);
	assert_int_equal(sidecar_run_bash(client, "x", NULL, NULL, &error), 0);
	sidecar_close(client);
	fake_stop(&f, &s);
	scratch_free(&s);
}

/* The longest timeout, and no pointer for the status. */
static void the_longest_timeout_works(void **state)
{
	struct scratch s = scratch_new();
	struct fake f = { .answer = OK LENGTH(2) "{}", .then = FAKE_SLOW };
	char path[PATH_MAX];
	const struct sidecar_settings settings = { .socket_path = path,
						   .wait_for_ready_ms = 60000,
						   .timeout_ms = INT64_MAX };
	struct sidecar_error error = { .code = "" };

	(void)state;
	(void)snprintf(path, sizeof path, "%.2000s/s", s.path);
	fake_start(&f, &s);
	struct sidecar *client = sidecar_open(&settings, &error);
	assert_non_null(client);
	struct sidecar_text *text = sidecar_request(client, "GET", "/x", NULL, NULL, &error);
	assert_string_equal(error.code, "");
	assert_non_null(text);
	assert_string_equal(text->content, "{}");
	sidecar_free(text);
	sidecar_close(client);
	fake_stop(&f, &s);
	scratch_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wrong_answer_has_its_code),
		cmocka_unit_test(only_calls_that_read_are_sent_again),
		cmocka_unit_test(a_stream_counts_up_to_its_end),
		cmocka_unit_test(answers_name_their_change),
		cmocka_unit_test(a_stream_may_be_split_anywhere),
		cmocka_unit_test(slow_bytes_do_not_extend_the_timeout),
		cmocka_unit_test(the_longest_timeout_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
