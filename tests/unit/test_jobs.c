/* SPDX-License-Identifier: MIT */
/* test_jobs: commands that outlive the request that started them. */
#include "exec_unit.h"

#include <pthread.h>

#include "exec/jobs.h"
#include "exec/limits.h"

static struct runner *runner;
static struct jobs *jobs;

static int setup(void **state)
{
	struct err e;

	(void)state;
	runner = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });
	return jobs_new(runner, &jobs, &e);
}

static int teardown(void **state)
{
	(void)state;
	jobs_free(jobs);
	runner_free(runner);
	return 0;
}

static uint64_t start(const char *script)
{
	uint64_t id = 0;
	struct err e = { 0 };
	const struct str env[] = { mark_of("job") };
	char *copy = strdup(script);
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct proc_request q = {
		.command = str_of(copy), .cwd_fd = cwd, .umask = 022, .env = env, .env_count = 1
	};

	if (jobs_start(jobs, &q, &id, &e) < 0)
		fail_msg("%s", e.msg);
	/* The job has its own copy of everything. */
	memset(copy, 'x', strlen(copy));
	free(copy);
	return id;
}

/* Read on from *cursor, waiting for news. */
static struct job_state read_on(uint64_t id, int64_t *cursor, struct buf *out, int64_t *dropped)
{
	const struct job_wait wait = { *cursor, io_now_ms() + 20000, NULL };
	struct job_piece p = { 0 };
	struct err e = { 0 };

	out->max = 4 << 20;
	assert_int_equal(jobs_output(jobs, id, *cursor, &wait, &p, &e), 0);
	/* Of what came before there is as much as was kept. */
	const size_t before = (size_t)p.cursor - (p.text.n - p.context);
	assert_int_equal(p.context, before < LIMIT_JOB_CONTEXT ? before : LIMIT_JOB_CONTEXT);
	buf_add(out, str_from(buf_str(&p.text), p.context));
	buf_done(&p.text);
	*cursor = p.cursor;
	*dropped = p.dropped;
	return p.state;
}

static struct job_state read_to_end(uint64_t id, struct buf *out)
{
	int64_t cursor = 0, dropped = 0;
	struct job_state s;

	do
		s = read_on(id, &cursor, out, &dropped);
	while (s.running || cursor < s.cursor);
	return s;
}

/* Each byte is a read of its own, and the two streams write by turns. */
static void test_characters_of_two_streams_stay_whole(void **state)
{
	static const struct {
		const char *script, *want;
	} rows[] = {
		{ "printf '\\303'; printf '\\360' >&2; sleep 0.1; printf '\\237' >&2; sleep 0.1;"
		  "printf '\\251'; printf '\\231' >&2; sleep 0.1; printf '\\202' >&2",
		  "\xc3\xa9\xf0\x9f\x99\x82" },
		{ "printf 'a\\360\\237'; sleep 0.1; echo b >&2; sleep 0.1; printf '\\303'; sleep "
		  "0.1;"
		  "echo c >&2; sleep 0.1; printf '\\251'",
		  "ab\n\xf0\x9f"
		  "c\n\xc3\xa9" },
		{ "printf '\\360\\237'; sleep 0.1; echo a >&2", "a\n\xf0\x9f" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_BUF out = { 0 };
		const struct job_state s = read_to_end(start(rows[i].script), &out);
		assert_str(buf_str(&out), rows[i].want);
		assert_int_equal(s.cursor, out.n);
	}
}

static void test_output_by_cursor(void **state)
{
	(void)state;
	AUTO_BUF out = { 0 };
	int64_t cursor = 0, dropped = -1;
	const uint64_t id = start("echo one; sleep 0.3; echo two >&2; exit 4");
	struct job_state s = read_on(id, &cursor, &out, &dropped);

	assert_str(buf_str(&out), "one\n");
	assert_true(s.running);
	assert_int_equal(cursor, 4);
	assert_int_equal(dropped, 0);
	s = read_to_end(id, &out);
	assert_str(buf_str(&out), "one\none\ntwo\n");
	assert_false(s.running);
	assert_int_equal(s.exit_code, 4);
	assert_memory_equal(s.command, "echo one; sleep", 15);
	/* A cursor beyond the end, or before the beginning, is put right. */
	buf_reset(&out, 0);
	cursor = 1000;
	(void)read_on(id, &cursor, &out, &dropped);
	assert_int_equal(cursor, 8);
	cursor = -5;
	(void)read_on(id, &cursor, &out, &dropped);
	assert_str(buf_str(&out), "one\ntwo\n");
}

static void test_what_the_ring_lost_is_counted(void **state)
{
	(void)state;
	AUTO_BUF out = { 0 };
	int64_t cursor = 0, dropped = 0;
	const uint64_t id = start("seq 1 400000; echo end");
	struct job_state s;

	do {
		(void)usleep(10000);
		assert_true(jobs_list(jobs, &s, 0) > 0);
		cursor = INT64_MAX;
		s = read_on(id, &cursor, &out, &dropped);
	} while (s.running);
	cursor = 0;
	buf_reset(&out, 0);
	(void)read_on(id, &cursor, &out, &dropped);
	assert_int_equal(dropped, s.cursor - LIMIT_JOB_OUTPUT);
	assert_int_equal(out.n, LIMIT_JOB_PIECE);
	while (cursor < s.cursor)
		(void)read_on(id, &cursor, &out, &dropped);
	assert_int_equal(out.n, LIMIT_JOB_OUTPUT);
	assert_memory_equal(out.p + out.n - 11, "400000\nend\n", 11);
}

static void test_stop(void **state)
{
	(void)state;
	AUTO_BUF out = { 0 };
	struct err e = { 0 };
	const uint64_t id = start("setsid sleep 50 & sleep 50");

	assert_int_equal(jobs_stop(jobs, id, &e), 0);
	const struct job_state s = read_to_end(id, &out);
	assert_true(s.cancelled);
	assert_int_equal(s.exit_code, -1);
	assert_int_equal(jobs_stop(jobs, id, &e), 0);
	assert_int_equal(jobs_stop(jobs, 99999, &e), -1);
	assert_int_equal(e.code, ERR_JOB_NOT_FOUND);
	assert_int_equal(count_marked(mark_of("job")), 0);
}

static void test_a_job_that_cannot_run(void **state)
{
	(void)state;
	AUTO_BUF out = { 0 };
	uint64_t id = 0;
	struct err e = { 0 };
	const struct str argv[] = { STR("/nosuch/program"), STR("with words") };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct proc_request q = { .argv = argv, .argc = 2, .cwd_fd = cwd };

	assert_int_equal(jobs_start(jobs, &q, &id, &e), 0);
	const struct job_state s = read_to_end(id, &out);
	assert_true(s.failed);
	assert_int_equal(s.err.code, ERR_SPAWN_FAILED);
	assert_string_equal(s.command, "/nosuch/program with words");
}

static void test_waiting_ends_with_the_deadline_and_with_the_client(void **state)
{
	(void)state;
	AUTO_BUF out = { .max = 100 };
	struct job_wait wait = { 0, io_now_ms() + 50, NULL };
	struct job_piece piece = { 0 };
	struct err e = { 0 };
	const struct cancel asked = { .asked = true, .fd = -1 };
	const uint64_t id = start("sleep 50");

	assert_int_equal(jobs_output(jobs, id, 0, &wait, &piece, &e), 0);
	assert_true(piece.state.running);
	wait = (struct job_wait){ 0, IO_FOREVER, &asked };
	assert_int_equal(jobs_output(jobs, id, 0, &wait, &piece, &e), 0);
	buf_done(&piece.text);
	assert_int_equal(jobs_stop(jobs, id, &e), 0);
	(void)read_to_end(id, &out);
}

static void test_old_jobs_make_room(void **state)
{
	(void)state;
	struct job_state s[2];
	AUTO_BUF out = { 0 };
	uint64_t last = 0;

	for (int i = 0; i < LIMIT_JOBS + 3; i++) {
		last = start("echo x");
		(void)read_to_end(last, &out);
	}
	assert_int_equal(jobs_list(jobs, s, 2), LIMIT_JOBS);
	assert_int_equal(s[0].id, last - LIMIT_JOBS + 1);
}

static void *hammer(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++) {
		AUTO_BUF out = { 0 };
		assert_int_equal(read_to_end(start("echo a; echo b"), &out).exit_code, 0);
		assert_str(buf_str(&out), "a\nb\n");
	}
	return NULL;
}

static void test_several_threads(void **state)
{
	(void)state;
	pthread_t t[4];

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, hammer, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		(void)pthread_join(t[i], NULL);
}

static int keep_nothing(void *arg, enum proc_stream stream, struct str piece)
{
	(void)arg;
	(void)stream;
	(void)piece;
	return 0;
}

/* Run a command as tools do. */
static struct proc_result run_and_adopt(const struct proc_request *q, struct cancel *cancel)
{
	const struct proc_sink sink = { keep_nothing, NULL };
	struct proc_result r;
	struct proc *left;
	struct err e;

	assert_int_equal(proc_admit(runner, q, &e), 0);
	assert_int_equal(proc_run_admitted(runner, q, &sink, cancel, &left, &r, &e), 0);
	if (left)
		jobs_adopt(jobs, q, left, &sink, cancel, &r);
	return r;
}

/* Run a command that leaves a process, and let that be adopted. */
static struct proc_result run_and_leave(void)
{
	const struct str env[] = { mark_of("left") };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct proc_request q = { .command = STR("sleep 50 & echo ok"),
					.cwd_fd = cwd,
					.env = env,
					.env_count = 1,
					.survivors = SURVIVORS_ADOPT };
	const size_t running = runner_running(runner);
	struct proc_result r;

	r = run_and_adopt(&q, NULL);
	assert_int_equal(r.exit_code, 0);
	assert_int_equal(r.survivor_count, 1);
	/* What was adopted takes no place of a command. */
	assert_int_equal(runner_running(runner), running);
	return r;
}

static void test_survivors_are_adopted(void **state)
{
	(void)state;
	AUTO_BUF out = { 0 };
	struct err e;
	const struct proc_result r = run_and_leave();

	assert_int_equal(r.fate, SURVIVORS_ADOPT);
	assert_int_equal(count_marked(mark_of("left")), 1);
	assert_int_equal(jobs_stop(jobs, r.job, &e), 0);
	const struct job_state s = read_to_end(r.job, &out);
	assert_string_equal(s.command, "sleep 50 & echo ok");
	assert_true(s.cancelled);
	assert_int_equal(count_marked(mark_of("left")), 0);
}

static void test_unwanted_survivors_are_ended(void **state)
{
	(void)state;
	struct cancel asked = CANCEL_INIT;

	cancel_ask(&asked);
	const struct str env[] = { mark_of("left") };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct proc_request q = { .command = STR("sleep 50 & sleep 50"),
					.cwd_fd = cwd,
					.env = env,
					.env_count = 1,
					.survivors = SURVIVORS_ADOPT };
	struct proc_result r;
	r = run_and_adopt(&q, &asked);
	assert_true(r.cancelled);
	assert_int_equal(r.job, 0);
	cancel_done(&asked);
	assert_int_equal(count_marked(mark_of("left")), 0);
}

static void test_survivors_without_a_place_are_ended(void **state)
{
	(void)state;
	uint64_t ids[LIMIT_JOBS];
	AUTO_BUF out = { 0 };
	struct err e;

	for (size_t i = 0; i < LIMIT_JOBS; i++)
		ids[i] = run_and_leave().job;
	const struct proc_result r = run_and_leave();
	assert_int_equal(r.fate, SURVIVORS_END);
	assert_int_equal(r.job, 0);
	assert_int_equal(count_marked(mark_of("left")), LIMIT_JOBS);
	for (size_t i = 0; i < LIMIT_JOBS; i++)
		assert_int_equal(jobs_stop(jobs, ids[i], &e), 0);
	for (size_t i = 0; i < LIMIT_JOBS; i++)
		(void)read_to_end(ids[i], &out);
	assert_int_equal(count_marked(mark_of("left")), 0);
}

static void test_shutdown_ends_jobs(void **state)
{
	struct err e;

	(void)state;
	for (int i = 0; i < 4; i++)
		(void)start("setsid sleep 50 & sleep 50");
	(void)run_and_leave();
	jobs_free(jobs);
	assert_int_equal(count_marked(mark_of("job")), 0);
	assert_int_equal(count_marked(mark_of("left")), 0);
	assert_int_equal(jobs_new(runner, &jobs, &e), 0);
}

int main(int argc, char **argv)
{
	EXEC_MAIN(NULL)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_by_cursor),
		cmocka_unit_test(test_characters_of_two_streams_stay_whole),
		cmocka_unit_test(test_what_the_ring_lost_is_counted),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_a_job_that_cannot_run),
		cmocka_unit_test(test_waiting_ends_with_the_deadline_and_with_the_client),
		cmocka_unit_test(test_old_jobs_make_room),
		cmocka_unit_test(test_several_threads),
		cmocka_unit_test(test_survivors_are_adopted),
		cmocka_unit_test(test_unwanted_survivors_are_ended),
		cmocka_unit_test(test_survivors_without_a_place_are_ended),
		cmocka_unit_test(test_shutdown_ends_jobs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
