/* SPDX-License-Identifier: MIT */
/* test_spawner: many commands, and what happens when keeper, spawner or reaper dies. */
#include "exec_unit.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "sandbox/landlock.h"
#include "sandbox/scratch.h"

/*
 * Commands that try to get away. Each is harmless even if it did: it sleeps for less than a minute,
 * and the one that forks in a loop stops after 64.
 */
static const char *const runaways[] = {
	"sleep 50",
	"setsid sleep 50 & sleep 50",
	"setsid sh -c 'setsid sleep 50 & sleep 50' & sleep 50",
	"( ( ( sleep 50 & ) & ) & ) ; sleep 50",
	"trap '' TERM HUP INT; sleep 50 & sleep 50",
	"(trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 50' & sleep 50) & sleep 50",
	"set -m; sleep 50 & sleep 50 & kill -STOP %1; sleep 50",
	"for i in $(seq 64); do setsid sleep 50 & sleep 0.01; done; sleep 50",
	"f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & wait; }; sleep 50; }; f 4",
	"nohup setsid sh -c 'for i in $(seq 50); do sleep 1 & wait; done' >&- 2>&- & sleep 50",
};

static struct proc_result run_marked(struct runner *s, const char *script, struct str mark,
				     int64_t timeout_ms)
{
	CAPTURE c = { .count_only = true };
	struct proc_request q = {
		.command = str_of(script), .env = &mark, .env_count = 1, .timeout_ms = timeout_ms
	};

	return run_request(s, &q, &c);
}

static void test_no_runaway_survives_its_timeout(void **state)
{
	(void)state;
	const struct str mark = mark_of("runaway");
	struct runner *s = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });

	for (size_t i = 0; i < ARRAY_LEN(runaways); i++) {
		const struct proc_result r = run_marked(s, runaways[i], mark, 300);
		assert_true(r.timed_out);
		assert_false(r.stuck);
		assert_int_equal(count_marked(mark), 0);
	}
	runner_free(s);
}

struct several {
	struct runner *s;
	const char *script;
	struct str mark;
	int64_t timeout_ms;
	bool timed_out;
};

static void *run_one(void *arg)
{
	struct several *t = arg;

	t->timed_out = run_marked(t->s, t->script, t->mark, t->timeout_ms).timed_out;
	return NULL;
}

static void test_eight_at_once(void **state)
{
	(void)state;
	struct several t[8];
	pthread_t thread[8];
	const struct str mark = mark_of("eight");
	struct runner *s = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });

	for (size_t i = 0; i < 8; i++) {
		t[i] = (struct several){ s, runaways[i], mark, 300, false };
		assert_int_equal(pthread_create(&thread[i], NULL, run_one, &t[i]), 0);
	}
	for (size_t i = 0; i < 8; i++) {
		(void)pthread_join(thread[i], NULL);
		assert_true(t[i].timed_out);
	}
	assert_int_equal(count_marked(mark), 0);
	runner_free(s);
}

/* The children of a process, which has one thread; the first one or 0. */
static pid_t first_child(pid_t pid)
{
	char path[384], text[256] = "";
	const struct dirent *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	while (tasks && !*text && (d = readdir(tasks))) {
		/* Any thread may have started it. */
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid,
			       d->d_name);
		AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
			*text = '\0';
	}
	if (tasks)
		(void)closedir(tasks);
	return (pid_t)atoi(text);
}

static void test_a_dead_spawner_is_started_again(void **state)
{
	(void)state;
	CAPTURE c = { 0 };
	struct runner *s = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });

	for (int i = 0; i < 6; i++) {
		/* Without a sandbox it gets ready in the background. */
		pid_t keeper, victim;
		while ((keeper = first_child(getpid())) <= 1 ||
		       (victim = i % 2 ? keeper : first_child(keeper)) <= 1)
			(void)usleep(1000);
		assert_int_equal(kill(victim, SIGKILL), 0);
		while (kill(victim, 0) == 0 && first_child(getpid()) == keeper && i % 2 == 0)
			(void)usleep(1000);
		/* The first may still be served by the reaper that was ready, the second by a new
		 * spawner; a dead keeper does not matter to either. */
		assert_int_equal(run_script(s, "exit 3", 0, &c).exit_code, 3);
		assert_int_equal(run_script(s, "exit 3", 0, &c).exit_code, 3);
		if (i % 2) {
			runner_free(s);
			s = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });
		}
	}
	runner_free(s);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_a_command_whose_reaper_dies_fails_and_leaves_nothing(void **state)
{
	(void)state;
	const struct str mark = mark_of("reaper");
	struct runner *s = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });
	struct proc_result r;
	struct err e = { 0 };
	CAPTURE c = { .count_only = true };
	const struct proc_sink sink = { capture_write, &c };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct proc_request q = {
		.command = STR("setsid sleep 50 & sleep 0.1; kill -9 $PPID; sleep 50"),
		.env = &mark,
		.env_count = 1,
		.cwd_fd = cwd,
	};

	assert_int_equal(proc_run(s, &q, &sink, NULL, &r, &e), -1);
	assert_int_equal(e.code, ERR_SPAWN_FAILED);
	assert_non_null(strstr(e.msg, "died"));
	assert_int_equal(count_marked_finally(mark), 0);
	assert_int_equal(run_script(s, "exit 3", 0, &c).exit_code, 3);
	runner_free(s);
}

/* A server of its own: runs the runaways at once, without end. */
_Noreturn static void be_server(struct str mark, enum sandbox_mode mode, const char *scratch,
				int at_death)
{
	char here[4096];
	struct several t[ARRAY_LEN(runaways)];
	pthread_t thread[ARRAY_LEN(runaways)];
	struct err e;
	struct runner *s;
	const struct runner_config config = {
		.at_death = at_death,
		.alive = -1,
		.sandbox = { .mode = mode,
			     .scratch = scratch,
			     .workspace = getcwd(here, sizeof(here)) },
	};

	if (runner_new(&config, &s, &e) < 0)
		_exit(1);
	for (size_t i = 0; i < ARRAY_LEN(runaways); i++) {
		t[i] = (struct several){ s, runaways[i], mark, 60000, false };
		(void)pthread_create(&thread[i], NULL, run_one, &t[i]);
	}
	for (;;)
		(void)pause();
}

/* Called in the keeper: leaves a sign that it was. */
static void leave_sign(int fd)
{
	(void)!write(fd, "!", 1);
}

static void kill_server(enum sandbox_mode mode, bool and_spawner)
{
	const struct str mark = mark_of("killed");
	char scratch[128], sign;
	int p[2];
	struct err e;

	assert_true(scratch_new(scratch, sizeof(scratch), &e) >= 0);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	AUTO_FD from = p[0];
	AUTO_FD to = p[1];
	const pid_t server = fork();
	if (server == 0)
		be_server(mark, mode, scratch, to);
	fd_closep(&to);
	int running = 0;
	for (int i = 0; i < 3000 && running < 20; i++) {
		(void)usleep(10000);
		running = count_marked(mark);
	}
	const pid_t keeper = first_child(server), spawner = keeper > 1 ? first_child(keeper) : 0;
	assert_int_equal(kill(server, SIGKILL), 0);
	assert_true(spawner > 1); /* 0 would be our own process group */
	if (and_spawner)
		(void)kill(spawner, SIGKILL);
	assert_int_equal(waitpid(server, NULL, 0), server);
	assert_true(running >= 20);
	/* The end of the pipe instead would mean that no keeper is left. */
	assert_int_equal(io_read_full(from, &sign, 1), 1);
	/* Without a spawner nobody waits for the reapers. */
	for (int i = 0; and_spawner && i < 3000 && count_marked(mark); i++)
		(void)usleep(10000);
	assert_int_equal(count_marked(mark), 0);
	assert_int_equal(access(scratch, F_OK), -1);
}

static void test_a_killed_server_leaves_nothing(void **state)
{
	(void)state;
	kill_server(SANDBOX_OFF, false);
}

static void test_a_server_killed_with_its_spawner_leaves_nothing(void **state)
{
	(void)state;
	kill_server(SANDBOX_OFF, true);
}

static void test_a_killed_server_leaves_nothing_in_its_sandbox(void **state)
{
	(void)state;
	if (landlock_abi() == 0)
		skip_because("this kernel has no Landlock");
	kill_server(SANDBOX_WORKSPACE, false);
}

static void test_scratch_is_removed_whatever_is_in_it(void **state)
{
	(void)state;
	char scratch[128], command[700];
	char outside[] = "/tmp/exec-outside-XXXXXX";
	struct err e;

	assert_non_null(mkdtemp(outside));
	assert_true(scratch_new(scratch, sizeof(scratch), &e) >= 0);
	(void)snprintf(command, sizeof(command),
		       "cd %s && mkdir -p a/b/c && touch a/b/c/f %s/stays && ln -s %s l && "
		       "ln -s %s a/b/l && mkfifo p && chmod 0 a/b/c && chmod 500 a",
		       scratch, outside, outside, outside);
	assert_int_equal(system(command), 0);
	scratch_remove(scratch);
	assert_int_equal(access(scratch, F_OK), -1);
	(void)snprintf(command, sizeof(command), "rm %s/stays && rmdir %s", outside, outside);
	assert_int_equal(system(command), 0);
}

static void test_no_process_left_is_a_clear_error(void **state)
{
	(void)state;
	if (geteuid() == 0)
		skip_because("the limit on processes does not hold for root");
	struct runner *s = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });
	const struct rlimit none = { 1, 1 };
	/* The spawner is the one that forks. */
	assert_int_equal(prlimit(first_child(first_child(getpid())), RLIMIT_NPROC, &none, NULL), 0);
	struct proc_result r;
	struct err e = { 0 };
	CAPTURE c = { .count_only = true };
	const struct proc_sink sink = { capture_write, &c };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct proc_request q = { .command = STR("true"), .cwd_fd = cwd };
	/* The first one finds a reaper that was made before. */
	(void)proc_run(s, &q, &sink, NULL, &r, &e);
	assert_int_equal(proc_run(s, &q, &sink, NULL, &r, &e), -1);
	assert_int_equal(e.code, ERR_SPAWN_FAILED);
	assert_non_null(strstr(e.msg, "No new process"));
	runner_free(s);
}

int main(int argc, char **argv)
{
	EXEC_MAIN(leave_sign)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_runaway_survives_its_timeout),
		cmocka_unit_test(test_eight_at_once),
		cmocka_unit_test(test_a_dead_spawner_is_started_again),
		cmocka_unit_test(test_a_command_whose_reaper_dies_fails_and_leaves_nothing),
		cmocka_unit_test(test_a_killed_server_leaves_nothing),
		cmocka_unit_test(test_a_server_killed_with_its_spawner_leaves_nothing),
		cmocka_unit_test(test_a_killed_server_leaves_nothing_in_its_sandbox),
		cmocka_unit_test(test_scratch_is_removed_whatever_is_in_it),
		cmocka_unit_test(test_no_process_left_is_a_clear_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
