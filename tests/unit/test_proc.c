/* SPDX-License-Identifier: MIT */
/* test_proc: proc: one command, how it runs and how it ends. */
#include "exec_unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <netinet/in.h>

#include "exec/limits.h"

static struct runner *runner;

static int setup(void **state)
{
	(void)state;
	runner = runner_start(
		&(struct runner_config){ .at_death = -1, .alive = -1, .max_commands = 16 });
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	runner_free(runner);
	return 0;
}

/* What a script answers. */
static const struct {
	const char *script;
	int exit_code, signal;
	const char *out, *err;
} answers[] = {
	{ "true", 0, 0, "", "" },
	{ "exit 7", 7, 0, "", "" },
	{ "echo a; echo b >&2", 0, 0, "a\n", "b\n" },
	{ "printf 'x\\0y' | od -An -c", 0, 0, "   x  \\0   y\n", "" },
	{ "kill -9 $$", 137, SIGKILL, "", "" },
	{ "kill -TERM $$", 143, SIGTERM, "", "" },
	{ "cat", 0, 0, "", "" },
	{ "echo $0 $#", 0, 0, "bash 0\n", "" },
	{ "nosuchprogram", 127, 0, "", "bash: line 1: nosuchprogram: command not found\n" },
	{ "ls /proc/self/fd | wc -l", 0, 0, "4\n", "" },
	{ "[ -t 0 ] || echo none", 0, 0, "none\n", "" },
	{ "umask", 0, 0, "0022\n", "" },
	{ "trap", 0, 0, "", "" },
	{ "ps -o pid=,sid=,pgid= -p $$ | awk '{ print ($1 == $2 && $2 == $3) }'", 0, 0, "1\n", "" },
	{ "grep -E '^Sig(Blk|Ign)' /proc/self/status | sort -u", 0, 0,
	  "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", "" },
	{ "sleep 0.02 & wait; echo done", 0, 0, "done\n", "" },
	{ "(sleep 0.01; echo late) &", 0, 0, "late\n", "" },
};

static void test_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		CAPTURE c = { 0 };
		const struct proc_result r = run_script(runner, answers[i].script, 0, &c);
		assert_str(buf_str(&c.out), answers[i].out);
		assert_str(buf_str(&c.err), answers[i].err);
		assert_int_equal(r.exit_code, answers[i].exit_code);
		assert_int_equal(r.signal, answers[i].signal);
		assert_false(r.timed_out || r.cancelled || r.stuck || r.oom_killed);
		assert_int_equal(r.survivor_count, 0);
	}
}

static void test_arguments_without_shell(void **state)
{
	(void)state;
	CAPTURE c = { 0 };
	const struct str argv[] = { STR("printf"), STR("%s|"), STR("a b"), STR("$HOME"), STR("") };
	struct proc_request q = { .argv = argv, .argc = ARRAY_LEN(argv) };
	const struct proc_result r = run_request(runner, &q, &c);

	assert_int_equal(r.exit_code, 0);
	assert_str(buf_str(&c.out), "a b|$HOME||");
}

static void test_environment_is_clean_and_extended(void **state)
{
	(void)state;
	CAPTURE c = { 0 };
	const struct str env[] = { STR("ADDED=1=2"), STR("HOME=/nowhere"), STR("ADDED=3") };
	struct proc_request q = { .command =
					  STR("echo \"$ADDED $HOME\"; env | grep -c -e ^SIDECAR_ "
					      "-e ^LISTEN_ -e ^NOTIFY -e ^SOCKET_PATH"),
				  .env = env,
				  .env_count = ARRAY_LEN(env) };

	(void)run_request(runner, &q, &c);
	assert_str(buf_str(&c.out), "3 /nowhere\n0\n");
}

static void test_directory(void **state)
{
	(void)state;
	char dir[] = "/tmp/exec-test-XXXXXX";
	CAPTURE c = { 0 };

	assert_non_null(mkdtemp(dir));
	AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_request q = { .command = STR("pwd"), .cwd_fd = fd };
	(void)run_request(runner, &q, &c);
	assert_memory_equal(c.out.p, dir, strlen(dir));

	/* A directory that is gone can still be entered; the shell finds it strange but runs. */
	assert_int_equal(rmdir(dir), 0);
	q.command = STR("echo ran");
	buf_reset(&c.out, 0);
	(void)run_request(runner, &q, &c);
	assert_str(buf_str(&c.out), "ran\n");
}

static void test_refused(void **state)
{
	(void)state;
	const struct str nul_argv[] = { { "a\0b", 3 } }, empty_argv[] = { STR("") };
	const struct str missing[] = { STR("/nosuch/program") }, directory[] = { STR("/tmp") };
	const struct str bad_env[] = { STR("=x") }, nul_env[] = { { "A=\0", 3 } };
	AUTO_BUF long_one = { .max = 3 << 20 };
	while (long_one.n <= LIMIT_SCRIPT)
		buf_add(&long_one,
			STR("# a comment that is a long one, and repeated many times\n"));
	AUTO_FD file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct {
		struct proc_request q;
		enum err_code code;
		const char *says;
	} cases[] = {
		{ { .command = STR("") }, ERR_INVALID_ARGUMENTS, "Missing or invalid command" },
		{ { .command = { "a\0b", 3 } },
		  ERR_INVALID_ARGUMENTS,
		  "Missing or invalid command" },
		{ { .command = buf_str(&long_one) }, ERR_INVALID_ARGUMENTS, "longer than" },
		{ { .argv = nul_argv, .argc = 1 }, ERR_INVALID_ARGUMENTS, "argv" },
		{ { .argv = empty_argv, .argc = 1 }, ERR_INVALID_ARGUMENTS, "argv" },
		{ { .command = STR("true"), .env = bad_env, .env_count = 1 },
		  ERR_INVALID_ARGUMENTS,
		  "env" },
		{ { .command = STR("true"), .env = nul_env, .env_count = 1 },
		  ERR_INVALID_ARGUMENTS,
		  "env" },
		{ { .command = STR("true"), .env = bad_env, .env_count = LIMIT_VARIABLES + 1 },
		  ERR_INVALID_ARGUMENTS,
		  "variables" },
		{ { .argv = missing, .argc = 1 }, ERR_SPAWN_FAILED, "could not be started" },
		{ { .argv = directory, .argc = 1 }, ERR_SPAWN_FAILED, "could not be started" },
		{ { .command = STR("true"), .cwd_fd = file }, ERR_SPAWN_FAILED, "directory" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct proc_request q = cases[i].q;
		struct proc_result r;
		struct err e = { 0 };
		CAPTURE c = { .count_only = true };
		const struct proc_sink sink = { capture_write, &c };
		AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (!q.cwd_fd)
			q.cwd_fd = cwd;
		assert_int_equal(proc_run(runner, &q, &sink, NULL, &r, &e), -1);
		assert_int_equal(e.code, cases[i].code);
		assert_non_null(strstr(e.msg, cases[i].says));
	}
	assert_int_equal(runner_running(runner), 0);
}

static void test_long_script(void **state)
{
	(void)state;
	static const size_t sizes[] = { LIMIT_ARGUMENT - 1, LIMIT_ARGUMENT, LIMIT_ARGUMENT + 1,
					LIMIT_SCRIPT };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		AUTO_BUF b = { .max = LIMIT_SCRIPT };
		CAPTURE c = { 0 };
		static const char end[] =
			"\necho \"$0 $# $LINENO\"; ls /proc/self/fd | wc -l; exit 5";
		buf_add(&b, STR("echo first; set | grep -c '^1='\n#"));
		while (b.n < sizes[i] - strlen(end))
			buf_addc(&b, 'x');
		buf_add(&b, str_of(end));
		struct proc_request q = { .command = buf_str(&b) };
		const struct proc_result r = run_request(runner, &q, &c);
		assert_str(buf_str(&c.err), "");
		assert_str(buf_str(&c.out), "first\n0\nbash 0 3\n4\n");
		assert_int_equal(r.exit_code, 5);
	}
}

static void test_timeout_kills_what_ignores_sigterm(void **state)
{
	(void)state;
	static const struct {
		const char *script;
		const char *out;
		int64_t at_least_ms;
	} cases[] = {
		{ "echo begun; sleep 100", "begun\n", 100 },
		{ "trap 'echo bye; exit 0' TERM; echo begun; while :; do sleep 0.05; done",
		  "begun\nbye\n", 100 },
		{ "trap '' TERM; echo begun; sleep 100", "begun\n", 5000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CAPTURE c = { 0 };
		const struct proc_result r = run_script(runner, cases[i].script, 100, &c);
		assert_true(r.timed_out);
		assert_int_equal(r.exit_code, -1);
		assert_int_equal(r.limit, PROC_LIMIT_TIME);
		assert_str(buf_str(&c.out), cases[i].out);
		assert_true(r.duration_ms >= cases[i].at_least_ms);
	}
}

static int find_free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);
	AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &size) < 0)
		return -1;
	return ntohs(a.sin_port);
}

static void test_survivors_are_named_and_ended(void **state)
{
	(void)state;
	CAPTURE c = { 0 };
	const struct str env[] = { mark_of("survivor") };
	struct proc_request q = { .command = STR("sleep 1000 & setsid sleep 1001 & echo ok"),
				  .env = env,
				  .env_count = 1 };
	const struct proc_result r = run_request(runner, &q, &c);

	assert_int_equal(r.exit_code, 0);
	assert_str(buf_str(&c.out), "ok\n");
	assert_int_equal(r.survivor_count, 2);
	assert_non_null(strstr(r.survivors[0].command, "sleep 100"));
	assert_int_equal(r.fate, SURVIVORS_END);
	assert_int_equal(count_marked(mark_of("survivor")), 0);
}

static void test_survivors_ports(void **state)
{
	(void)state;
	char script[512];
	CAPTURE c = { 0 };
	const int port = find_free_port();

	if (port < 0 || system("python3 -c pass 2>/dev/null") != 0)
		skip_because("no python3 to listen with");
	(void)snprintf(script, sizeof(script),
		       "exec 3>&1; python3 -c 'import socket,time; s=socket.socket(); "
		       "s.bind((\"127.0.0.1\",%d)); s.listen(); print(\"up\",flush=True); "
		       "time.sleep(100)' > /tmp/exec-port-$$ & "
		       "until [ -s /tmp/exec-port-$$ ]; do sleep 0.05; done; rm /tmp/exec-port-$$",
		       port);
	const struct proc_result r = run_script(runner, script, 20000, &c);
	assert_int_equal(r.survivor_count, 1);
	assert_int_equal(r.survivors[0].ports.count, 1);
	assert_int_equal(r.survivors[0].ports.port[0], port);
}

static void test_survivors_are_kept_when_asked(void **state)
{
	(void)state;
	const struct str mark = mark_of("kept");
	struct runner *s = runner_start(&(struct runner_config){ .at_death = -1, .alive = -1 });
	CAPTURE c = { 0 };
	struct proc_request q = { .command =
					  STR("(while sleep 0.01; do echo alive; done) & echo ok"),
				  .env = &mark,
				  .env_count = 1,
				  .survivors = SURVIVORS_KEEP };
	const struct proc_result r = run_request(s, &q, &c);

	assert_true(r.survivor_count >= 1);
	assert_int_equal(r.fate, SURVIVORS_KEEP);
	assert_true(str_find(buf_str(&c.out), STR("ok\n")) >= 0);
	/* It can continue to write although its output is not read. */
	(void)usleep(300000);
	assert_true(count_marked(mark) >= 1);
	runner_free(s);
	assert_int_equal(count_marked(mark), 0);
}

struct slow {
	int64_t bytes;
	int pieces;
	bool order;
};

static int slow_write(void *arg, enum proc_stream stream, struct str piece)
{
	struct slow *s = arg;

	(void)stream;
	s->bytes += (int64_t)piece.n;
	if (++s->pieces < 50)
		(void)usleep(10000);
	return 0;
}

static int64_t peak_memory(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (int64_t)u.ru_maxrss * 1024;
}

static void test_much_output_in_bounded_memory(void **state)
{
	(void)state;
	struct slow slow = { 0 };
	struct proc_result r;
	struct err e = { 0 };
	const struct proc_sink sink = { slow_write, &slow };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_request q = { .command = STR("yes | head -c 100000000"), .cwd_fd = cwd };
	const int64_t before = peak_memory();

	assert_int_equal(proc_run(runner, &q, &sink, NULL, &r, &e), 0);
	assert_int_equal(slow.bytes, 100000000);
	assert_true(peak_memory() - before < 4 << 20);
}

static int refuse_write(void *arg, enum proc_stream stream, struct str piece)
{
	(void)stream, (void)piece;
	++*(int *)arg;
	return -1;
}

static void test_sink_that_refuses_ends_the_command(void **state)
{
	(void)state;
	int calls = 0;
	struct proc_result r;
	struct err e = { 0 };
	const struct proc_sink sink = { refuse_write, &calls };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_request q = { .command = STR("yes"), .cwd_fd = cwd };

	assert_int_equal(proc_run(runner, &q, &sink, NULL, &r, &e), 0);
	assert_int_equal(calls, 1);
	assert_true(r.cancelled);
	assert_int_equal(r.exit_code, -1);
}

/* A command that is cancelled, by another thread, when it has said something. */
struct cancelled {
	struct capture c;
	struct cancel cancel;
	sem_t begun;
};

static int note_begin(void *arg, enum proc_stream stream, struct str piece)
{
	struct cancelled *t = arg;

	(void)sem_post(&t->begun);
	return capture_write(&t->c, stream, piece);
}

static void *cancel_later(void *arg)
{
	struct cancelled *t = arg;

	(void)sem_wait(&t->begun);
	cancel_ask(&t->cancel);
	return NULL;
}

static void test_cancel(void **state)
{
	(void)state;
	struct cancelled t = { .c = { .out.max = 100, .err.max = 100 }, .cancel = CANCEL_INIT };
	pthread_t thread;
	struct proc_result r;
	struct err e = { 0 };
	const struct proc_sink sink = { note_begin, &t };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_request q = { .command = STR("echo begun; sleep 1000"), .cwd_fd = cwd };

	assert_int_equal(sem_init(&t.begun, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, cancel_later, &t), 0);
	assert_int_equal(proc_run(runner, &q, &sink, &t.cancel, &r, &e), 0);
	(void)pthread_join(thread, NULL);
	cancel_done(&t.cancel);
	assert_true(r.cancelled);
	assert_false(r.timed_out);
	assert_int_equal(r.exit_code, -1);
	assert_str(buf_str(&t.c.out), "begun\n");
	capture_done(&t.c);
}

static void test_limits(void **state)
{
	(void)state;
	char dir[] = "/tmp/exec-test-XXXXXX";

	assert_non_null(mkdtemp(dir));
	AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct {
		struct proc_request q;
		enum proc_limit limit;
	} cases[] = {
		{ { .command = STR("while :; do :; done"), .limits.cpu_seconds = 1, .cwd_fd = fd },
		  PROC_LIMIT_CPU },
		{ { .command = STR("exec head -c 100000 /dev/zero > big"),
		    .limits.file_size_bytes = 1000,
		    .cwd_fd = fd },
		  PROC_LIMIT_FILE },
		{ { .command = STR("head -c 100000 /dev/zero > big; exit $?"),
		    .limits.file_size_bytes = 1000,
		    .cwd_fd = fd },
		  PROC_LIMIT_FILE },
		{ { .command = STR("ulimit -v; ulimit -u"),
		    .limits = { .address_space_bytes = 1 << 30, .processes = 100 },
		    .cwd_fd = fd },
		  PROC_LIMIT_NONE },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct proc_request q = cases[i].q;
		CAPTURE c = { 0 };
		const struct proc_result r = run_request(runner, &q, &c);
		assert_int_equal(r.limit, cases[i].limit);
		if (cases[i].limit == PROC_LIMIT_CPU)
			assert_true(r.cpu_ms >= 300);
		if (cases[i].limit == PROC_LIMIT_NONE)
			assert_str(buf_str(&c.out), "1048576\n100\n");
		(void)unlinkat(fd, "big", 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void test_too_many_processes(void **state)
{
	(void)state;
	CAPTURE c = { 0 };
	const struct str mark = mark_of("many");
	struct proc_request q = { .command =
					  STR("for i in $(seq 60); do sleep 50 & done; sleep 50"),
				  .env = &mark,
				  .env_count = 1,
				  .timeout_ms = 20000,
				  .limits.processes = 20 };

	if (geteuid() != 0)
		skip_because("for other users the kernel counts");
	const struct proc_result r = run_request(runner, &q, &c);
	assert_int_equal(r.limit, PROC_LIMIT_PROCESSES);
	assert_int_equal(r.signal, SIGKILL);
	assert_false(r.timed_out);
	assert_int_equal(count_marked(mark), 0);
}

static void test_receipt(void **state)
{
	(void)state;
	CAPTURE c = { .count_only = true };
	const struct proc_result r =
		run_script(runner, "head -c 50000000 /dev/zero | tail -c 40000000 | wc -c", 0, &c);

	/* tail keeps what it may have to print. */
	assert_in_range(r.peak_memory_bytes, 40000000, 400000000);
	assert_true(r.duration_ms >= 0 && r.duration_ms < 60000);
}

static void test_too_busy(void **state)
{
	(void)state;
	struct runner *s = runner_start(
		&(struct runner_config){ .at_death = -1, .alive = -1, .max_commands = 1 });
	struct err e = { 0 };

	assert_int_equal(runner_enter(s, &e), 0);
	struct proc_result r;
	const struct proc_sink sink = { capture_write, NULL };
	const struct proc_request q = { .command = STR("true") };
	assert_int_equal(proc_run(s, &q, &sink, NULL, &r, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	runner_leave(s);
	CAPTURE c = { 0 };
	assert_int_equal(run_script(s, "true", 0, &c).exit_code, 0);
	runner_free(s);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(proc_signal_name(SIGKILL), "SIGKILL");
	assert_string_equal(proc_signal_name(0), "");
	assert_string_equal(proc_signal_name(40), "a real-time signal");
	assert_string_equal(proc_limit_name(PROC_LIMIT_FILE), "file_size");
}

int main(int argc, char **argv)
{
	EXEC_MAIN(NULL)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_arguments_without_shell),
		cmocka_unit_test(test_environment_is_clean_and_extended),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long_script),
		cmocka_unit_test(test_timeout_kills_what_ignores_sigterm),
		cmocka_unit_test(test_survivors_are_named_and_ended),
		cmocka_unit_test(test_survivors_ports),
		cmocka_unit_test(test_survivors_are_kept_when_asked),
		cmocka_unit_test(test_much_output_in_bounded_memory),
		cmocka_unit_test(test_sink_that_refuses_ends_the_command),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_too_many_processes),
		cmocka_unit_test(test_receipt),
		cmocka_unit_test(test_too_busy),
		cmocka_unit_test(test_names),
	};

	/* What a server has in its environment, for the tests to find it gone. */
	(void)setenv("SIDECAR_AUTH_TOKEN", "secret", 1);
	(void)setenv("LISTEN_FDS", "1", 1);
	(void)setenv("NOTIFY_SOCKET", "/nowhere", 1);
	(void)setenv("SOCKET_PATH", "/nowhere", 1);
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, setup, teardown);
}
