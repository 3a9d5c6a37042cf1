/* SPDX-License-Identifier: MIT */
/*
 * Connections of a process under the listener, made by a broker in this one. All sockets are the
 * test's own, below its scratch directory.
 */

#include "scratch.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/message.h"
#include "base/own.h"
#include "supervise/broker.h"
#include "supervise/listener.h"

/* A workspace and a directory outside, each with a socket on which this test listens. */
static struct world {
	struct scratch s;
	char ws[PATH_MAX], outside[PATH_MAX], abstract[32];
	int in, out, listed, hidden, nameless, tcp;
	in_port_t port;
	struct bounds *bounds;
	const char *lists[2][1];
} w;

static socklen_t address_of(struct sockaddr_un *a, const char *path)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(a->sun_path, sizeof a->sun_path, "%s", path);
	if (*path == '@')
		a->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + (*path != '@'));
}

static int listen_at(const char *path, int backlog)
{
	struct sockaddr_un a;
	const socklen_t n = address_of(&a, path);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

static const char *below(const char *dir, const char *name)
{
	static char path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%.3000s/%.1000s", dir, name);
	return path;
}

static int world_new(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof a;

	(void)state;
	w.s = scratch_new();
	(void)snprintf(w.ws, sizeof w.ws, "%s/ws", w.s.path);
	(void)snprintf(w.outside, sizeof w.outside, "%s/outside", w.s.path);
	assert_int_equal(mkdir(w.ws, 0755) | mkdir(w.outside, 0755), 0);
	assert_int_equal(chdir(w.ws), 0);
	w.in = listen_at("in", 200);
	w.hidden = listen_at("hidden", 1);
	assert_int_equal(chdir(w.outside), 0);
	w.out = listen_at("out", 200);
	w.listed = listen_at("listed", 200);
	(void)snprintf(w.abstract, sizeof w.abstract, "@sidecar-test-%d", (int)getpid());
	w.nameless = listen_at(w.abstract, 200);
	assert_int_equal(chdir(w.ws), 0);
	assert_int_equal(symlink("../outside/out", "link"), 0);
	assert_int_equal(symlink("in", "own-link"), 0);
	w.tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(w.tcp, (struct sockaddr *)&a, n) | listen(w.tcp, 200), 0);
	assert_int_equal(getsockname(w.tcp, (struct sockaddr *)&a, &n), 0);
	w.port = a.sin_port;
	w.lists[0][0] = strdup(below(w.outside, "listed"));
	w.lists[1][0] = strdup(below(w.ws, "hidden"));
	const struct sandbox_config config = { .mode = SANDBOX_WORKSPACE,
					       .workspace = w.ws,
					       .scratch = "/nowhere",
					       .sockets = { w.lists[0], 1 },
					       .hide = { w.lists[1], 1 } };
	w.bounds = bounds_new(&config, false);
	assert_non_null(w.bounds);
	return 0;
}

static int world_free(void **state)
{
	(void)state;
	(void)chdir("/");
	bounds_release(w.bounds);
	for (size_t i = 0; i < ARRAY_LEN(w.lists); i++)
		free((char *)(uintptr_t)w.lists[i][0]);
	const int all[] = { w.in, w.out, w.listed, w.hidden, w.nameless, w.tcp };
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		(void)close(all[i]);
	scratch_free(&w.s);
	return 0;
}

static void note_end(void *ended)
{
	(void)sem_post(ended);
}

_Noreturn static void be_command(int to, int (*act)(void))
{
	char byte;

	(void)alarm(60); /* a broken broker may leave it waiting */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	const int listener = listener_install(LISTENER_SOCKETS);
	if (listener < 0)
		_exit(errno == EBUSY ? SKIPPED : 121);
	if (message_send(to, "x", 1, &listener, 1, INT64_MAX) < 0 || read(to, &byte, 1) != 1)
		_exit(122);
	(void)close(listener);
	_exit(act());
}

/* Run an act under a broker; what it returns, usually an errno. Its denials are in *ret, if it is
 * wanted. `signal` is sent to it after a while, if it is not 0; then the result is negative. */
static int run(int (*act)(void), struct denials **ret, int signal)
{
	int pair[2], fds[MESSAGE_FDS], status;
	char byte;
	struct supervisor *supervisor;
	struct err e;
	sem_t ended;

	assert_int_equal(message_pair(pair), 0);
	const pid_t pid = fork();
	if (pid == 0)
		be_command(pair[1], act);
	(void)close(pair[1]);
	if (message_recv(pair[0], &byte, 1, fds) != 1) {
		(void)waitpid(pid, &status, 0);
		(void)close(pair[0]);
		if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
			print_message("SKIP: another listener is installed\n");
			skip();
		}
		fail_msg("no listener: status %d", status);
	}
	struct denials *denials = denials_new(bounds_hold(w.bounds), NULL, NULL);
	struct broker *broker = broker_new(denials);
	assert_non_null(broker);
	const struct judge judge = broker_judge(broker);
	const struct supervision how = { &judge, 1, note_end, &ended };
	assert_int_equal(sem_init(&ended, 0, 0), 0);
	assert_int_equal(supervisor_start(fds[0], &how, &supervisor, &e), 0);
	assert_int_equal(write(pair[0], "x", 1), 1);
	if (signal) {
		(void)usleep(200000); /* it must be under way, and cannot say so */
		(void)kill(pid, signal);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(sem_wait(&ended), 0);
	broker_free(broker);
	supervisor_stop(supervisor);
	(void)close(pair[0]);
	if (ret)
		*ret = denials;
	else
		denials_free(denials);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* How many connections have come; they are closed. */
static int arrived(int listener)
{
	int count = 0;

	for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0; count++)
		(void)close(fd);
	return count;
}

/*
 * The acts. They run in the workspace, and return 0 or an errno.
 */

static const char *target; /* of act_connect */
static int type = SOCK_STREAM;

static int act_connect(void)
{
	struct sockaddr_un a;
	const socklen_t n = address_of(&a, target);
	const int fd = socket(AF_UNIX, type, 0);

	return fd < 0 ? errno : connect(fd, (struct sockaddr *)&a, n) < 0 ? errno : 0;
}

static int act_by_directory(void)
{
	char path[64];
	const int dir = open(w.ws, O_PATH | O_DIRECTORY), other = open(w.outside, O_PATH);

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/in", dir);
	target = path;
	const int first = act_connect();
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/out", other);
	return first ? 100 : act_connect();
}

static int act_by_descriptor(void)
{
	char path[64];
	const int file = open(below(w.outside, "out"), O_PATH);

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	target = path;
	return act_connect();
}

static int act_tcp(void)
{
	const struct sockaddr_in a = { .sin_family = AF_INET,
				       .sin_port = w.port,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int one = socket(AF_INET, SOCK_STREAM, 0);
	const int two = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = two, .events = POLLOUT };
	int error = -1;
	socklen_t n = sizeof error;

	if (connect(one, (const struct sockaddr *)&a, sizeof a) < 0)
		return errno;
	if (connect(two, (const struct sockaddr *)&a, sizeof a) < 0 && errno != EINPROGRESS)
		return errno;
	if (poll(&p, 1, -1) != 1 || getsockopt(two, SOL_SOCKET, SO_ERROR, &error, &n) < 0)
		return errno;
	return error;
}

/* What cannot be right fails as it does without a broker. */
static int act_wrong(void)
{
	struct sockaddr_un a;
	const socklen_t n = address_of(&a, "in");
	struct sockaddr *at = (struct sockaddr *)&a;
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0), null = open("/dev/null", O_RDONLY);

	if (connect(99, at, n) == 0 || errno != EBADF)
		return 1;
	if (connect(null, at, n) == 0 || errno != ENOTSOCK)
		return 2;
	if (connect(fd, (struct sockaddr *)8, n) == 0 || errno != EFAULT)
		return 3;
	if (connect(fd, at, 129) == 0 || errno != EINVAL)
		return 4;
	if (connect(fd, at, 2) == 0 || errno != EINVAL)
		return 5;
	a.sun_family = AF_INET;
	if (connect(fd, at, n) == 0 || errno != EINVAL)
		return 6;
	a.sun_family = AF_UNIX;
	return connect(fd, at, n) == 0 ? 0 : 7;
}

static int act_datagrams(void)
{
	int pair[2];
	const int types[] = { SOCK_DGRAM, SOCK_RAW, SOCK_DGRAM | SOCK_NONBLOCK };

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (socket(AF_UNIX, types[i], 0) >= 0 || errno != EACCES)
			return 1;
		if (socketpair(AF_UNIX, types[i], 0, pair) == 0 || errno != EACCES)
			return 2;
	}
	if (syscall(SYS_socket, AF_UNIX | 1UL << 32, SOCK_DGRAM, 0) >= 0)
		return 3;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 4;
	return socket(AF_INET, SOCK_DGRAM, 0) < 0 ? 5 : 0;
}

/* Another thread exchanges the address, or the descriptor, while the call is looked at. */
static struct {
	struct sockaddr_un a, good, bad;
	int fd, socks[2];
	bool done, swap_fds;
} race;

static void *exchange(void *arg)
{
	while (!__atomic_load_n(&race.done, __ATOMIC_RELAXED)) {
		if (race.swap_fds) {
			(void)dup2(race.socks[0], race.fd);
			(void)dup2(race.socks[1], race.fd);
			continue;
		}
		memcpy(&race.a, &race.bad, sizeof race.a);
		memcpy(&race.a, &race.good, sizeof race.a);
	}
	return arg;
}

static int act_race(void)
{
	enum { ROUNDS = 1000 };
	pthread_t thread;
	int good = 0;

	(void)address_of(&race.good, "in");
	const socklen_t n = address_of(&race.bad, "../outside/out");
	race.a = race.good;
	if (pthread_create(&thread, NULL, exchange, NULL) != 0)
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		good += connect(fd, (struct sockaddr *)&race.a, n) == 0;
		(void)close(fd);
	}
	__atomic_store_n(&race.done, true, __ATOMIC_RELAXED);
	(void)pthread_join(thread, NULL);
	return good ? 0 : 2;
}

/* The other descriptor is a socket of another kind, which is already connected. */
static int act_race_of_descriptors(void)
{
	enum { ROUNDS = 500 };
	pthread_t thread;
	struct sockaddr_un a;
	const socklen_t n = address_of(&a, "../outside/out");

	race.swap_fds = true;
	race.fd = dup(0);
	race.socks[0] = socket(AF_INET, SOCK_STREAM, 0);
	race.socks[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (pthread_create(&thread, NULL, exchange, NULL) != 0)
		return 1;
	for (int i = 0; i < ROUNDS; i++)
		if (connect(race.fd, (struct sockaddr *)&a, n) == 0)
			return 2;
	__atomic_store_n(&race.done, true, __ATOMIC_RELAXED);
	(void)pthread_join(thread, NULL);
	return 0;
}

static void *connect_once(void *arg)
{
	int *error = arg;

	*error = act_connect();
	return NULL;
}

static int act_many(void)
{
	enum { MANY = 60 };
	pthread_t threads[MANY];
	int errors[MANY];

	target = "in";
	for (int i = 0; i < MANY; i++)
		if (pthread_create(&threads[i], NULL, connect_once, &errors[i]) != 0)
			return 1;
	for (int i = 0; i < MANY; i++) {
		(void)pthread_join(threads[i], NULL);
		if (errors[i])
			return errors[i];
	}
	return 0;
}

static int act_undumpable(void)
{
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	target = "in";
	const int own = act_connect();
	target = "../outside/out";
	return own && own != EACCES ? 100 : act_connect();
}

/* A socket of this process with room for one: the second connection blocks. */
static int fill_backlog(void)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un a;
	const socklen_t n = address_of(&a, "full");

	(void)unlink("full");
	if (bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, 0) < 0)
		return -1;
	target = "full";
	return act_connect();
}

static void on_signal(int signal)
{
	(void)signal;
}

static int act_block_until_signal(void)
{
	const struct sigaction handled = { .sa_handler = on_signal };

	(void)sigaction(SIGUSR1, &handled, NULL);
	if (fill_backlog() != 0)
		return 1;
	return act_connect(); /* EINTR */
}

static void *connect_to_full(void *arg)
{
	struct sockaddr_un a;
	const socklen_t n = address_of(&a, "full");

	(void)connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, n);
	return arg;
}

/* One thread blocks; another one connects meanwhile. */
static int act_beside_a_blocked_one(void)
{
	pthread_t thread;

	if (fill_backlog() != 0 || pthread_create(&thread, NULL, connect_to_full, NULL) != 0)
		return 1;
	(void)usleep(50000); /* so that it blocks, most likely: either way the test holds */
	target = "in";
	return act_connect();
}

/*
 * The tests. Each begins with no connection waiting, whatever an earlier one has left.
 */

static int take_all(void **state)
{
	const int all[] = { w.in, w.out, w.listed, w.hidden, w.nameless };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		(void)arrived(all[i]);
	return 0;
}

static int connect_with(const char *to, struct denials **d)
{
	target = to;
	return run(act_connect, d, 0);
}

static void assert_denied(struct denials *d, const char *operation, const char *path)
{
	assert_int_equal(denials_count(d), 1);
	const struct denial one = denials_at(d, 0);
	assert_string_equal(denial_operation(&one), operation);
	assert_string_equal(one.path, path);
	assert_string_equal(denial_by_name(&one), "seccomp");
	denials_free(d);
}

static void what_is_inside_is_reached(void **state)
{
	struct denials *d;

	(void)state;
	assert_int_equal(connect_with("in", NULL), 0);
	assert_int_equal(connect_with("own-link", NULL), 0);
	assert_int_equal(connect_with(below(w.ws, "in"), &d), 0);
	assert_int_equal(denials_count(d), 0);
	denials_free(d);
	assert_int_equal(arrived(w.in), 3);
	assert_int_equal(connect_with(below(w.outside, "listed"), NULL), 0);
	assert_int_equal(arrived(w.listed), 1);
}

/* By which a sidecar knows that it is a command. */
static void the_socket_of_a_command_has_a_name(void **state)
{
	struct sockaddr_un a;
	socklen_t n = sizeof a;

	(void)state;
	assert_int_equal(connect_with("in", NULL), 0);
	AUTO_FD fd = accept4(w.in, (struct sockaddr *)&a, &n, SOCK_CLOEXEC);
	assert_true(fd >= 0 && n > sizeof a.sun_family);
}

static void the_servers_socket_is_known_by_any_name(void **state)
{
	(void)state;
	assert_int_equal(link("hidden", "hard"), 0);
	assert_int_equal(connect_with("hard", NULL), EACCES);
	assert_int_equal(rename("hard", "moved"), 0);
	assert_int_equal(connect_with("moved", NULL), EACCES);
	assert_int_equal(unlink("moved"), 0);
	assert_int_equal(arrived(w.hidden), 0);
}

static void what_is_outside_is_not(void **state)
{
	struct denials *d;
	char out[PATH_MAX];

	(void)state;
	(void)snprintf(out, sizeof out, "%s", below(w.outside, "out"));
	assert_int_equal(connect_with(out, &d), EACCES);
	assert_denied(d, "connect", out);
	assert_int_equal(connect_with("../outside/out", &d), EACCES);
	assert_denied(d, "connect", out);
	assert_int_equal(connect_with("link", &d), EACCES);
	assert_denied(d, "connect", out);
	assert_int_equal(connect_with(w.abstract, &d), EACCES);
	assert_denied(d, "connect", w.abstract);
	assert_int_equal(connect_with("hidden", &d), EACCES);
	assert_denied(d, "connect", w.lists[1][0]);
	assert_int_equal(run(act_by_directory, NULL, 0), EACCES);
	assert_int_equal(run(act_by_descriptor, &d, 0), EACCES);
	assert_denied(d, "connect", out);
	type = SOCK_SEQPACKET;
	assert_int_equal(connect_with(out, &d), EACCES);
	assert_denied(d, "connect", out);
	type = SOCK_STREAM;
	assert_int_equal(run(act_undumpable, NULL, 0), EACCES);
	assert_int_equal(arrived(w.out) + arrived(w.nameless) + arrived(w.hidden), 0);
	(void)arrived(w.in);
}

static void what_is_not_there_is_no_denial(void **state)
{
	struct denials *d;

	(void)state;
	assert_int_equal(connect_with("/var/run/nscd/sidecar-test", &d), ENOENT);
	assert_int_equal(denials_count(d), 0);
	denials_free(d);
	assert_int_equal(connect_with("/dev/null", &d), ECONNREFUSED);
	assert_int_equal(denials_count(d), 0);
	denials_free(d);
	assert_int_equal(run(act_wrong, &d, 0), 0);
	assert_int_equal(denials_count(d), 0);
	denials_free(d);
	(void)arrived(w.in);
}

/* The kernel judges permissions for the command, not for a server that may do everything. */
static void roots_rights_are_lowered(void **state)
{
	struct denials *d;

	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: needs root to give files away\n");
		skip();
	}
	assert_int_equal(chown("in", 12345, 12345) | chmod("in", 0600), 0);
	assert_int_equal(connect_with("in", &d), EACCES);
	assert_int_equal(denials_count(d), 0);
	denials_free(d);
	assert_int_equal(chown("in", 0, 0), 0);
	assert_int_equal(connect_with("in", NULL), 0);
	(void)arrived(w.in);
}

static void datagrams_are_refused(void **state)
{
	struct denials *d;

	(void)state;
	assert_int_equal(run(act_datagrams, &d, 0), 0);
	assert_denied(d, "socket", "a datagram Unix socket");
}

static void the_network_is_as_it_was(void **state)
{
	(void)state;
	assert_int_equal(run(act_tcp, NULL, 0), 0);
}

static void nothing_can_be_exchanged(void **state)
{
	(void)state;
	assert_int_equal(run(act_race, NULL, 0), 0);
	assert_int_equal(run(act_race_of_descriptors, NULL, 0), 0);
	assert_int_equal(arrived(w.out), 0);
	(void)arrived(w.in);
}

static void many_connect_at_once(void **state)
{
	(void)state;
	assert_int_equal(run(act_many, NULL, 0), 0);
	assert_int_equal(arrived(w.in), 60);
	assert_int_equal(run(act_beside_a_blocked_one, NULL, 0), 0);
	assert_int_equal(arrived(w.in), 1);
}

static void a_blocked_one_is_given_up(void **state)
{
	(void)state;
	assert_int_equal(run(act_block_until_signal, NULL, SIGUSR1), EINTR);
	assert_int_equal(run(act_block_until_signal, NULL, SIGKILL), -SIGKILL);
	assert_int_equal(run(act_block_until_signal, NULL, SIGTERM), -SIGTERM);
}

static void what_may_go_on_is_what_the_rules_hold(void **state)
{
	(void)state;
	const uint64_t args[6] = { 0, 0, O_RDONLY | O_TRUNC },
		       for_writing[6] = { 0, 0, O_WRONLY | O_TRUNC };
	const unsigned all = LISTENER_CHANGES | LISTENER_SOCKETS | LISTENER_UNRULED;
	const int go_on[] = { SYS_openat, SYS_unlinkat, SYS_fchmodat, SYS_truncate };
	const int must_not[] = { SYS_connect, SYS_socket, SYS_socketpair };

	assert_false(listener_may_go_on(LISTENER_INTERNET, SYS_socket, args));
	for (size_t i = 0; i < ARRAY_LEN(go_on); i++)
		assert_true(listener_may_go_on(all, go_on[i], args));
	for (size_t i = 0; i < ARRAY_LEN(must_not); i++)
		assert_false(listener_may_go_on(all, must_not[i], args));
	/* Where they do not hold that a file is emptied: */
	assert_false(listener_may_go_on(all | LISTENER_EMPTYING, SYS_openat, args));
	/* What would have been judged does not happen unjudged. */
	assert_false(listener_may_go_on(all | LISTENER_GUARDED, SYS_openat, args));
	assert_false(listener_may_go_on(all | LISTENER_GUARDED, SYS_renameat2, args));
	assert_false(listener_may_go_on(all | LISTENER_GUARDED, SYS_fchmodat, args));
	assert_false(listener_may_go_on(all | LISTENER_EMPTYING, SYS_truncate, args));
	assert_true(listener_may_go_on(all | LISTENER_EMPTYING, SYS_openat, for_writing));
}

static void here_it_is_possible(void **state)
{
	const char *why;

	(void)state;
	assert_true(broker_is_possible(&why));
	assert_string_equal(why, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(here_it_is_possible, take_all),
		cmocka_unit_test_setup(what_may_go_on_is_what_the_rules_hold, take_all),
		cmocka_unit_test_setup(what_is_inside_is_reached, take_all),
		cmocka_unit_test_setup(the_socket_of_a_command_has_a_name, take_all),
		cmocka_unit_test_setup(the_servers_socket_is_known_by_any_name, take_all),
		cmocka_unit_test_setup(what_is_outside_is_not, take_all),
		cmocka_unit_test_setup(what_is_not_there_is_no_denial, take_all),
		cmocka_unit_test_setup(roots_rights_are_lowered, take_all),
		cmocka_unit_test_setup(datagrams_are_refused, take_all),
		cmocka_unit_test_setup(the_network_is_as_it_was, take_all),
		cmocka_unit_test_setup(nothing_can_be_exchanged, take_all),
		cmocka_unit_test_setup(many_connect_at_once, take_all),
		cmocka_unit_test_setup(a_blocked_one_is_given_up, take_all),
	};

	return cmocka_run_group_tests(tests, world_new, world_free);
}
