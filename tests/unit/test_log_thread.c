/* SPDX-License-Identifier: MIT */
/* log: with its thread, no line is lost uncounted and no caller ever waits. */

#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "base/limits.h"
#include "base/log.h"
#include "capture.h"

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
		AUTO_BUF b = { .max = ROOM };
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

struct crowd {
	atomic_bool enough;
	atomic_int written;
};

static void write_one(struct crowd *crowd)
{
	log_event(LOG_INFO, "line",
		  LOG_STR("fill", STR("0123456789012345678901234567890123456789")));
	crowd->written++;
}

static void *write_until_enough(void *arg)
{
	struct crowd *crowd = arg;

	while (!crowd->enough)
		write_one(crowd);
	return NULL;
}

static void read_and_tally(int from, struct buf *b, struct tally *t)
{
	char *to = buf_room(b, 4096);
	const ssize_t n = to ? read(from, to, 4096) : 0;

	if (n > 0)
		buf_filled(b, (size_t)n);
	tally_lines(t, buf_str(b));
}

/* First stderr is not read while more is logged than the pipe and the backlog hold together; that
 * this returns at all is the point. Then it is read while others log on, so that the backlog is
 * full again when the count is told. Every line comes, or is counted as dropped. */
static void a_stalled_reader_does_not_stall_the_logger(void **unused)
{
	struct crowd crowd = { 0 };
	AUTO_BUF b = { .max = ROOM };
	pthread_t threads[WRITERS];
	struct tally t = { 0 };
	struct err e;

	(void)unused;
	struct capture c = capture_open(4096);
	log_configure(LOG_INFO, LOG_JSON);
	const int started = log_start(&e);
	(void)usleep(50000); /* the thread waits by now */
	for (int i = 0; i < 3 * LIMIT_LOG_BACKLOG / 100; i++)
		write_one(&crowd);
	for (int i = 0; i < WRITERS; i++)
		(void)pthread_create(&threads[i], NULL, write_until_enough, &crowd);
	while (t.reports < 3 && !b.failed)
		read_and_tally(c.from, &b, &t);
	crowd.enough = true;
	for (int i = 0; i < WRITERS; i++)
		(void)pthread_join(threads[i], NULL);
	while (t.there + t.dropped < crowd.written && !b.failed)
		read_and_tally(c.from, &b, &t);
	log_stop();
	capture_close(&c, &b);
	tally_lines(&t, buf_str(&b));
	assert_int_equal(started, 0);
	assert_true(t.dropped > 0 && t.reports >= 3);
	assert_int_equal(t.there + t.dropped, crowd.written);
	for (struct str line, rest = buf_str(&b); str_cut(rest, '\n', &line, &rest);) {
		AUTO_ARENA a = { .max = ROOM };
		const struct json *v = parse_line(line, &a, NULL);
		assert_str(json_get(v, STR("level"))->string,
			   json_get(v, STR("lines")) ? "warn" : "info");
	}
}

/* Stderr is never read: stopping gives up, and later lines do not wait either. In a child,
 * whose thread stays in its write. */
static void stopping_ends_although_stderr_is_not_read(void **unused)
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
		cmocka_unit_test(stopping_what_never_started_does_nothing),
		cmocka_unit_test(stopping_ends_although_stderr_is_not_read),
		cmocka_unit_test(a_stalled_reader_does_not_stall_the_logger),
		cmocka_unit_test(lines_of_threads_are_whole_and_in_order),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
