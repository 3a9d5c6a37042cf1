/* SPDX-License-Identifier: MIT */
/* log: lines are whole, harmless to a terminal, and never make their caller wait. */

#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "base/utf8.h"

enum { ROOM = 16 << 20 };

/* While a capture is open stderr is a pipe, so nothing may be asserted: the test would fail
 * unseen. */
struct capture {
	int from, saved;
};

static struct capture capture_open(int pipe_bytes)
{
	struct capture c;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	if (pipe_bytes)
		assert_true(fcntl(fds[1], F_SETPIPE_SZ, pipe_bytes) > 0);
	c.from = fds[0];
	c.saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	(void)dup2(fds[1], STDERR_FILENO);
	(void)close(fds[1]);
	return c;
}

/* stderr is itself again; everything that was written to the pipe is in b. */
static void capture_close(struct capture *c, struct buf *b)
{
	(void)dup2(c->saved, STDERR_FILENO);
	(void)close(c->saved);
	for (char *to; (to = buf_room(b, 4096));) {
		const ssize_t n = io_read_full(c->from, to, 4096);
		assert_true(n >= 0);
		buf_filled(b, (size_t)n);
		if (n == 0)
			break;
	}
	(void)close(c->from);
}

/* The line as JSON; the sentence that goes with it is checked. */
static const struct json *parse_line(struct str line, struct arena *a, const char *msg)
{
	const struct json *v = NULL;
	struct err e;

	if (json_parse(line, a, &v, &e) < 0)
		fail_msg("%s in %.*s", e.msg, STR_FMT(line));
	if (msg)
		assert_str(json_get(v, STR("msg"))->string, msg);
	return v;
}

static void a_line_is_written_at_once_before_the_start(void **unused)
{
	AUTO_BUF
	b = { .max = ROOM };
	struct str first, second, rest;

	(void)unused;
	struct capture c = capture_open(0);
	log_configure(LOG_INFO, LOG_TEXT);
	log_event(LOG_INFO, "listening", LOG_STR("socket", STR("/run/s")), LOG_INT("mode", -432),
		  LOG_BOOL("up", true), LOG_BOOL("down", false));
	log_event(LOG_ERROR, "alone", LOG_STR("s", STR("a\x7f\xc2\x9b\xc2\xa0 z")));
	capture_close(&c, &b);
	assert_true(str_cut(buf_str(&b), '\n', &first, &rest));
	assert_true(str_cut(rest, '\n', &second, &rest));
	assert_int_equal(rest.n, 0);
	assert_true(str_ends(first, STR("Z info  listening socket=/run/s mode=-432 up=true "
					"down=false")));
	assert_true(str_ends(second, STR("Z error alone s=a\\u007f\\u009b\xc2\xa0 z")));
}

static void the_json_form_parses(void **unused)
{
	static const char *const levels[] = { "debug", "info", "warn", "error" };
	AUTO_BUF
	b = { .max = ROOM };
	AUTO_ARENA a = { .max = ROOM };
	struct str line, rest;

	(void)unused;
	struct capture c = capture_open(0);
	log_configure(LOG_DEBUG, LOG_JSON);
	for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
		log_event((enum log_level)level, "a \"sentence\"", LOG_STR("s", STR("x\n\0\xff")),
			  LOG_INT("i", INT64_MIN), LOG_BOOL("b", true));
	capture_close(&c, &b);
	rest = buf_str(&b);
	for (int level = LOG_DEBUG; level <= LOG_ERROR; level++) {
		int y, mo, d, h, mi, s, ms, end = 0;
		assert_true(str_cut(rest, '\n', &line, &rest));
		const struct json *v = parse_line(line, &a, "a \"sentence\"");
		assert_str(json_get(v, STR("level"))->string, levels[level]);
		assert_true(str_eq(json_get(v, STR("s"))->string, STR("x\n\0" UTF8_REPLACEMENT)));
		assert_true(json_get(v, STR("i"))->integer == INT64_MIN);
		assert_true(json_get(v, STR("b"))->boolean);
		const struct str time = arena_dup(&a, json_get(v, STR("time"))->string);
		assert_int_equal(sscanf(time.p, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &y, &mo, &d, &h,
					&mi, &s, &ms, &end),
				 7);
		assert_int_equal(end, time.n);
	}
	assert_int_equal(rest.n, 0);
}

static void lines_below_the_level_are_not_written(void **unused)
{
	(void)unused;
	for (int least = LOG_DEBUG; least <= LOG_ERROR; least++) {
		AUTO_BUF
		b = { .max = ROOM };
		struct capture c = capture_open(0);
		log_configure((enum log_level)least, LOG_TEXT);
		for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
			log_event((enum log_level)level, "line");
		capture_close(&c, &b);
		size_t lines = 0;
		for (size_t i = 0; i < b.n; i++)
			lines += b.p[i] == '\n';
		assert_int_equal(lines, LOG_ERROR - least + 1);
	}
}

/* Every byte and every C1 control, in a value and in the sentence. */
static void the_text_form_has_no_control_characters(void **unused)
{
	AUTO_BUF
	b = { .max = ROOM };
	char bytes[512], msg[512];
	size_t n = 0;

	(void)unused;
	for (unsigned c = 0; c < 256; c++)
		bytes[n++] = (char)c;
	for (unsigned c = 0x80; c < 0xa0; c++) {
		bytes[n++] = '\xc2';
		bytes[n++] = (char)c;
	}
	memcpy(msg, bytes + 1, n - 1);
	msg[n - 1] = '\0';
	struct capture c = capture_open(0);
	log_configure(LOG_INFO, LOG_TEXT);
	log_event(LOG_INFO, msg, LOG_STR("bytes", ((struct str){ bytes, n })));
	capture_close(&c, &b);
	assert_true(utf8_valid(buf_str(&b)));
	for (size_t i = 0; i < b.n; i++) {
		const unsigned char byte = (unsigned char)b.p[i];
		assert_true(byte >= 0x20 || i == b.n - 1);
		assert_int_not_equal(byte, 0x7f);
		if (byte == 0xc2)
			assert_true((unsigned char)b.p[i + 1] >= 0xa0);
	}
	assert_int_equal(b.p[b.n - 1], '\n');
	assert_true(str_find(buf_str(&b), STR("\\u007f")) > 0);
	assert_true(str_find(buf_str(&b), STR("\\u009b")) > 0);
}

static void a_line_too_long_keeps_its_sentence(void **unused)
{
	static const enum log_form forms[] = { LOG_TEXT, LOG_JSON };
	static char many[64 << 10];

	(void)unused;
	memset(many, 'x', sizeof many);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		AUTO_BUF
		b = { .max = ROOM };
		AUTO_ARENA a = { .max = ROOM };
		struct str first, second, rest;
		struct capture c = capture_open(0);
		log_configure(LOG_INFO, forms[i]);
		log_event(LOG_INFO, "long", LOG_STR("s", ((struct str){ many, sizeof many })));
		log_event(LOG_INFO, "next");
		capture_close(&c, &b);
		assert_true(str_cut(buf_str(&b), '\n', &first, &rest));
		assert_true(str_cut(rest, '\n', &second, &rest));
		assert_int_equal(rest.n, 0);
		if (forms[i] == LOG_TEXT) {
			assert_true(str_ends(first, STR(" long cut=true")));
			assert_true(str_ends(second, STR(" next")));
			continue;
		}
		assert_true(json_get(parse_line(first, &a, "long"), STR("cut"))->boolean);
		(void)parse_line(second, &a, "next");
	}
}

enum { WRITERS = 4, LINES = 500 };

static void *write_some(void *arg)
{
	const int writer = *(int *)arg;

	for (int i = 0; i < LINES; i++)
		log_event(LOG_INFO, "line", LOG_INT("writer", writer), LOG_INT("i", i));
	return NULL;
}

/* Twice, because a log that was stopped can be started again. */
static void lines_of_threads_are_whole_and_in_order(void **unused)
{
	(void)unused;
	for (int round = 0; round < 2; round++) {
		AUTO_BUF
		b = { .max = ROOM };
		pthread_t threads[WRITERS];
		int ids[WRITERS], next[WRITERS] = { 0 };
		struct err e;
		struct str line, rest;
		/* All lines fit the pipe or the backlog: none may be dropped. */
		struct capture c = capture_open(1 << 20);
		log_configure(LOG_INFO, LOG_JSON);
		const int started = log_start(&e);
		for (int i = 0; i < WRITERS; i++) {
			ids[i] = i;
			(void)pthread_create(&threads[i], NULL, write_some, &ids[i]);
		}
		for (int i = 0; i < WRITERS; i++)
			(void)pthread_join(threads[i], NULL);
		log_stop();
		ids[0] = 0;
		(void)write_some(&ids[0]); /* at once again: no thread is left to do it */
		capture_close(&c, &b);
		assert_int_equal(started, 0);
		for (rest = buf_str(&b); str_cut(rest, '\n', &line, &rest);) {
			AUTO_ARENA a = { .max = ROOM };
			const struct json *v = parse_line(line, &a, "line");
			const int64_t writer = json_get(v, STR("writer"))->integer;
			assert_int_equal(json_get(v, STR("i"))->integer, next[writer]++ % LINES);
		}
		for (int i = 0; i < WRITERS; i++)
			assert_int_equal(next[i], i == 0 ? 2 * LINES : LINES);
	}
}

struct tally {
	size_t at; /* up to here the text has been looked at */
	int64_t there, dropped, reports;
};

static void tally_lines(struct tally *t, struct str all)
{
	struct str line, rest, head, number;

	while (str_cut(str_from(all, t->at), '\n', &line, &rest)) {
		const ptrdiff_t report = str_find(line, STR("\"lines\":"));
		int64_t lines = 0;
		t->at += line.n + 1;
		if (report < 0) {
			t->there++;
			continue;
		}
		(void)str_cut(str_from(line, (size_t)report), ':', &head, &number);
		(void)str_cut(number, '}', &number, &rest);
		(void)str_int(number, &lines);
		t->dropped += lines;
		t->reports++;
	}
}

enum { MANY = 3 * LIMIT_LOG_BACKLOG / 100 };

static void *write_many(void *unused)
{
	for (int i = 0; i < MANY; i++)
		log_event(LOG_INFO, "line", LOG_INT("i", i),
			  LOG_STR("fill", STR("0123456789012345678901234567890123456789")));
	return unused;
}

/* First nobody reads while more is logged than the pipe and the backlog hold together; that this
 * returns at all is the point. Then it is read, and others log on, so that the backlog is full
 * again when the count is told. Every line comes, or is counted as dropped. */
static void a_stalled_reader_stalls_nobody(void **unused)
{
	const int64_t total = (1 + WRITERS) * MANY;
	AUTO_BUF
	b = { .max = ROOM };
	pthread_t threads[WRITERS];
	struct tally t = { 0 };
	struct err e;
	char *to;

	(void)unused;
	struct capture c = capture_open(4096);
	log_configure(LOG_INFO, LOG_JSON);
	const int started = log_start(&e);
	(void)usleep(50000); /* the thread waits by now */
	(void)write_many(NULL);
	for (int i = 0; i < WRITERS; i++)
		(void)pthread_create(&threads[i], NULL, write_many, NULL);
	while (t.there + t.dropped < total && (to = buf_room(&b, 4096))) {
		const ssize_t n = read(c.from, to, 4096);
		if (n <= 0)
			break;
		buf_filled(&b, (size_t)n);
		tally_lines(&t, buf_str(&b));
	}
	for (int i = 0; i < WRITERS; i++)
		(void)pthread_join(threads[i], NULL);
	log_stop();
	capture_close(&c, &b);
	tally_lines(&t, buf_str(&b));
	assert_int_equal(started, 0);
	assert_true(t.dropped > 0 && t.reports > 0);
	assert_int_equal(t.there + t.dropped, total);
	for (struct str line, rest = buf_str(&b); str_cut(rest, '\n', &line, &rest);) {
		AUTO_ARENA a = { .max = ROOM };
		const struct json *v = parse_line(line, &a, NULL);
		assert_str(json_get(v, STR("level"))->string,
			   json_get(v, STR("lines")) ? "warn" : "info");
	}
}

/* Nobody ever reads: stopping gives up, and who logs afterwards does not wait either. In a child,
 * whose thread is left behind in its write. */
static void stopping_ends_although_nobody_reads(void **unused)
{
	int fds[2], status;

	(void)unused;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 4096) > 0);
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct err e;
		(void)dup2(fds[1], STDERR_FILENO);
		log_configure(LOG_INFO, LOG_TEXT);
		if (log_start(&e) < 0)
			_exit(1);
		for (int i = 0; i < 1000; i++)
			log_event(LOG_INFO, "a line that nobody reads", LOG_INT("i", i));
		log_stop();
		for (int i = 0; i < 1000; i++)
			log_event(LOG_INFO, "a line after the end", LOG_INT("i", i));
		_exit(42);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void stopping_what_never_started_does_nothing(void **unused)
{
	(void)unused;
	log_stop();
	log_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_written_at_once_before_the_start),
		cmocka_unit_test(the_json_form_parses),
		cmocka_unit_test(lines_below_the_level_are_not_written),
		cmocka_unit_test(the_text_form_has_no_control_characters),
		cmocka_unit_test(a_line_too_long_keeps_its_sentence),
		cmocka_unit_test(stopping_what_never_started_does_nothing),
		cmocka_unit_test(stopping_ends_although_nobody_reads),
		cmocka_unit_test(a_stalled_reader_stalls_nobody),
		cmocka_unit_test(lines_of_threads_are_whole_and_in_order),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
