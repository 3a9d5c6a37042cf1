/* SPDX-License-Identifier: MIT */
/*
 * A sidecar that is killed and started again under a client, over and over. Every call ends in
 * success or in an error; none that changes something is made twice; and the client carries on by
 * itself. SIDECAR_TEST_ROUNDS sets the number of rounds.
 */

#include "client_unit.h"

enum { ROUNDS = 8, MOST_CALLS = 200000, WRITERS = 2 };

struct writer {
	struct sidecar *sidecar;
	pthread_t thread;
	int first;	       /* its numbers are first, first + WRITERS … */
	unsigned char *result; /* of each number: 0 not called, 1 success, 2 lost */
	int calls, lost, reads, other;
	atomic_bool *stop;
	char other_text[1200];
};

/* Each call appends its number to a log: twice there means that it ran twice. */
static void *append(void *arg)
{
	struct writer *w = arg;
	struct sidecar_error error;
	struct sidecar_exit ended;
	char command[64];

	for (int n = w->first; !*w->stop && n < MOST_CALLS; n += WRITERS) {
		(void)snprintf(command, sizeof command, "echo %d >> log", n);
		w->calls++;
		if (sidecar_run_bash(w->sidecar, command, NULL, &ended, &error) == 0) {
			w->result[n] = ended.code == 0 ? 1 : 2;
		} else if (strcmp(error.code, "CONNECTION_LOST") == 0) {
			w->result[n] = 2;
			w->lost++;
		} else {
			w->other++;
			(void)snprintf(w->other_text, sizeof w->other_text, "%s: %s", error.code,
				       error.message);
		}
		/* A call that only reads never fails. */
		struct sidecar_file *f = sidecar_read_file(w->sidecar, "constant", NULL, &error);
		if (f && strcmp(f->content, "here\n") == 0) {
			w->reads++;
		} else {
			w->other++;
			(void)snprintf(w->other_text, sizeof w->other_text, "read: %s: %s",
				       error.code, error.message);
		}
		sidecar_free(f);
	}
	return NULL;
}

/* How often each number occurs in the log. */
static void count(const struct scratch *s, unsigned char *seen)
{
	FILE *log = fopen(in(s, "ws/log"), "re");
	int n;

	if (!log)
		return;
	while (fscanf(log, "%d", &n) == 1) {
		assert_in_range(n, 0, MOST_CALLS - 1);
		seen[n]++;
	}
	(void)fclose(log);
}

static void no_call_runs_twice_across_restarts(void **state)
{
	static unsigned char result[MOST_CALLS], seen[MOST_CALLS];
	const char *wanted = getenv("SIDECAR_TEST_ROUNDS");
	const int rounds = wanted ? (int)strtol(wanted, NULL, 10) : ROUNDS;
	struct scratch s = scratch_new();
	struct sidecar *client = open_client(&s, 60000);
	struct writer writers[WRITERS];
	atomic_bool stop = false;
	int calls = 0, lost = 0, reads = 0;

	(void)state;
	put_dir(&s, "ws");
	put(&s, "ws/constant", "here\n");
	pid_t pid = start_sidecar(&s);
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){
			.sidecar = client, .first = i, .result = result, .stop = &stop
		};
		assert_int_equal(pthread_create(&writers[i].thread, NULL, append, &writers[i]), 0);
	}
	for (int i = 0; i < rounds; i++) {
		(void)usleep((useconds_t)(20 + i * 37 % 120) * 1000);
		stop_sidecar(pid, SIGKILL);
		pid = start_sidecar(&s);
	}
	stop = true;
	for (int i = 0; i < WRITERS; i++) {
		(void)pthread_join(writers[i].thread, NULL);
		if (writers[i].other)
			fail_msg("%d calls: %s; the sidecar: %s", writers[i].other,
				 writers[i].other_text, get(&s, "log"));
		calls += writers[i].calls;
		lost += writers[i].lost;
		reads += writers[i].reads;
	}
	stop_sidecar(pid, SIGTERM);
	count(&s, seen);
	for (int n = 0; n < MOST_CALLS; n++) {
		assert_true(seen[n] <= 1);
		if (result[n] == 1)
			assert_int_equal(seen[n], 1);
		if (result[n] == 0)
			assert_int_equal(seen[n], 0);
	}
	print_message("# %d restarts: %d commands, %d of them lost with an error; %d reads\n",
		      rounds, calls, lost, reads);
	assert_true(reads > 0);
	sidecar_close(client);
	scratch_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_call_runs_twice_across_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
