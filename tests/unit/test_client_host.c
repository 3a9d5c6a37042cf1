/* SPDX-License-Identifier: MIT */
/* What a host does besides calling: it forks while other threads call, cancels, counts descriptors.
 */

#include <dirent.h>

#include "client_unit.h"

#define OK     "HTTP/1.1 200 OK\r\n"
#define STREAM OK "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
#define DELTA  "33\r\n{\"type\":\"delta\",\"data\":\"hi\",\"stream\":\"stdout\"}    \n\r\n"

enum { THREADS = 3, FORKS = 100, PATIENCE_S = 60 };

struct caller {
	struct sidecar *sidecar;
	pthread_t thread;
	atomic_bool *stop;
};

static bool read_a(struct sidecar *s)
{
	struct sidecar_error error;
	struct sidecar_file *f = sidecar_read_file(s, "a", NULL, &error);
	const bool good = f && strcmp(f->content, "here\n") == 0;

	sidecar_free(f);
	return good;
}

static void *keep_reading(void *arg)
{
	struct caller *c = arg;

	while (!*c->stop)
		if (!read_a(c->sidecar))
			return arg;
	return NULL;
}

/* A child inherits the state of threads that it does not have: it must neither wait for them nor
 * read their answers. */
static void a_child_makes_its_own_connections(void **state)
{
	struct scratch s = scratch_new();
	atomic_bool stop = false;
	struct caller callers[THREADS];

	(void)state;
	if (SANITIZED)
		skip_because("a sanitizer's own malloc may be locked after fork");
	put_dir(&s, "ws");
	put(&s, "ws/a", "here\n");
	const pid_t sidecar = start_sidecar(&s);
	struct sidecar *client = open_client(&s, 60000);
	assert_int_equal(sidecar_ensure_ready(client, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		callers[i] = (struct caller){ .sidecar = client, .stop = &stop };
		assert_int_equal(
			pthread_create(&callers[i].thread, NULL, keep_reading, &callers[i]), 0);
	}
	int failed = 0;
	for (int i = 0; i < FORKS && !failed; i++) {
		int status;
		const pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			(void)alarm(PATIENCE_S);
			_exit(read_a(client) && read_a(client) ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		failed = status;
	}
	stop = true;
	for (int i = 0; i < THREADS; i++) {
		void *bad;
		(void)pthread_join(callers[i].thread, &bad);
		failed |= bad != NULL;
	}
	sidecar_close(client);
	stop_sidecar(sidecar, SIGTERM);
	scratch_free(&s);
	assert_int_equal(failed, 0);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

static void *cancel_soon(void *arg)
{
	(void)usleep(50 * 1000);
	sidecar_cancel(arg);
	return NULL;
}

/* A command can be cancelled at every stage, and leaves no open descriptor. */
static void a_command_can_be_cancelled_at_every_stage(void **state)
{
	static const struct fake stages[] = {
		{ .answer = NULL }, /* there is no server yet */
		{ .answer = "", .then = FAKE_HANG, .health = "HTTP/1.1 200" },
		{ .answer = "", .then = FAKE_HANG },
		{ .answer = OK, .then = FAKE_HANG },
		{ .answer = OK "Content-Length: 10\r\n\r\n{", .then = FAKE_HANG },
		{ .answer = STREAM DELTA, .then = FAKE_HANG },
		{ .answer = STREAM DELTA "5\r\n{", .then = FAKE_HANG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		struct scratch s = scratch_new();
		struct fake f = { .answer = stages[i].answer,
				  .then = stages[i].then,
				  .health = stages[i].health };
		struct sidecar_error error = { .code = "" };
		pthread_t thread;
		if (f.answer)
			fake_start(&f, &s);
		const int before = descriptors();
		struct sidecar_cancel *cancel = sidecar_cancel_new();
		const struct sidecar_bash_options options = { .cancel = cancel };
		struct sidecar *client = open_client(&s, 60000);
		assert_int_equal(pthread_create(&thread, NULL, cancel_soon, cancel), 0);
		assert_int_equal(sidecar_run_bash(client, "x", &options, NULL, &error), -1);
		(void)pthread_join(thread, NULL);
		if (strcmp(error.code, "CANCELLED") != 0)
			fail_msg("%zu: %s %s", i, error.code, error.message);
		sidecar_close(client);
		sidecar_cancel_free(cancel);
		/* The server may not have noticed yet; the descriptors it closes do not count. */
		assert_true(descriptors() <= before + 1);
		if (f.answer)
			fake_stop(&f, &s);
		scratch_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_makes_its_own_connections),
		cmocka_unit_test(a_command_can_be_cancelled_at_every_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
