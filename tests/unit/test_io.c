/* SPDX-License-Identifier: MIT */
/* io: reads and writes are whole through short ones, signals and full pipes. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "base/io.h"
#include "base/own.h"

enum { MEBIBYTE = 1 << 20 };

struct ends {
	int read, write;
};

static struct ends open_pipe(int flags)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | flags), 0);
	return (struct ends){ fds[0], fds[1] };
}

static int open_memory(struct str content)
{
	const int fd = memfd_create("io", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, content, IO_FOREVER), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void the_clock_never_goes_back(void **unused)
{
	int64_t last = io_now_ms();

	(void)unused;
	assert_true(last >= 0);
	for (int i = 0; i < 1000; i++) {
		const int64_t now = io_now_ms();
		assert_true(now >= last);
		last = now;
	}
}

static void a_timeout_fits_poll(void **unused)
{
	const int64_t now = io_now_ms();

	(void)unused;
	assert_int_equal(io_timeout(IO_FOREVER), -1);
	assert_int_equal(io_timeout(IO_FOREVER - 1), INT_MAX);
	assert_int_equal(io_timeout(0), 0);
	assert_int_equal(io_timeout(-1), 0);
	assert_int_equal(io_timeout(now - 1), 0);
	const int left = io_timeout(now + 1000000);
	assert_true(left > 0 && left <= 1000000);
}

static void waiting_ends_with_the_event_or_the_deadline(void **unused)
{
	const struct ends p = open_pipe(0);
	AUTO_FD from = p.read, to = p.write;

	(void)unused;
	assert_int_equal(io_wait(from, POLLIN, 0), 0);
	const int64_t start = io_now_ms();
	assert_int_equal(io_wait(from, POLLIN, start + 20), 0);
	assert_true(io_now_ms() >= start + 20);
	assert_int_equal(io_wait(to, POLLOUT, 0), 1);
	assert_int_equal(write(to, "x", 1), 1);
	assert_int_equal(io_wait(from, POLLIN, IO_FOREVER), 1);
	char c;
	assert_int_equal(read(from, &c, 1), 1);
	/* The other side is gone: that is an event, too. */
	fd_closep(&to);
	assert_int_equal(io_wait(from, POLLIN, IO_FOREVER), 1);
}

static void reading_goes_on_to_the_end(void **unused)
{
	static const struct {
		size_t want, got;
	} cases[] = { { 0, 0 }, { 1, 1 }, { 5, 5 }, { 6, 6 }, { 7, 6 }, { 100, 6 } };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FD fd = open_memory(STR("ab\0def"));
		char to[100];
		memset(to, '#', sizeof to);
		assert_int_equal(io_read_full(fd, to, cases[i].want), cases[i].got);
		assert_memory_equal(to, "ab\0def", cases[i].got);
		assert_int_equal(to[cases[i].got], '#');
	}
}

static void reading_at_an_offset_leaves_the_position(void **unused)
{
	AUTO_FD fd = open_memory(STR("abcdef"));
	char to[10];

	(void)unused;
	assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
	assert_int_equal(io_pread_full(fd, to, sizeof to, 4), 2);
	assert_memory_equal(to, "ef", 2);
	assert_int_equal(io_pread_full(fd, to, 3, 0), 3);
	assert_memory_equal(to, "abc", 3);
	assert_int_equal(io_pread_full(fd, to, 3, 6), 0);
	assert_int_equal(io_pread_full(fd, to, 3, 1000), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 1);
}

static void failures_are_told_by_errno(void **unused)
{
	const struct ends p = open_pipe(O_NONBLOCK);
	AUTO_FD from = p.read, to = p.write;
	char c;

	(void)unused;
	errno = 0;
	assert_int_equal(io_read_full(-1, &c, 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(io_read_full(from, &c, 1), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(io_pread_full(from, &c, 1, 0), -1);
	assert_int_equal(errno, ESPIPE);
	assert_int_equal(io_write_all(-1, STR("x"), IO_FOREVER), -1);
	assert_int_equal(errno, EBADF);
	fd_closep(&from);
	assert_int_equal(io_write_all(to, STR("x"), IO_FOREVER), -1);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(io_write_all(-1, STR(""), IO_FOREVER), 0); /* nothing to do */
}

static void a_full_pipe_times_out(void **unused)
{
	static const char many[MEBIBYTE];
	const struct ends p = open_pipe(O_NONBLOCK);
	AUTO_FD from = p.read, to = p.write;
	const int64_t start = io_now_ms();

	(void)unused;
	errno = 0;
	assert_int_equal(io_write_all(to, (struct str){ many, sizeof many }, start + 20), -1);
	assert_int_equal(errno, ETIMEDOUT);
	assert_true(io_now_ms() >= start + 20);
	/* A deadline that has passed forbids waiting, not writing. */
	char room[4096];
	assert_int_equal(read(from, room, sizeof room), sizeof room);
	assert_int_equal(io_write_all(to, STR("x"), 0), 0);
}

struct reader {
	int fd;
	ssize_t got;
	char *to;
};

static atomic_int interrupts;

/* Starts to read once the writer, which by then waits for room, has been interrupted often. */
static void *read_all(void *arg)
{
	struct reader *r = arg;

	while (interrupts < 20)
		(void)usleep(1000);
	r->got = io_read_full(r->fd, r->to, MEBIBYTE);
	return NULL;
}

static void count_interrupt(int signal_number)
{
	(void)signal_number;
	interrupts++;
}

/* A megabyte through a pipe, while a timer interrupts whatever waits. */
static void transfers_are_whole_in_spite_of_signals(void **unused)
{
	const struct sigaction interrupt = { .sa_handler = count_interrupt }; /* no SA_RESTART */
	const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };
	static const int modes[] = { 0, O_NONBLOCK };
	struct sigaction before;
	sigset_t alarm_only;
	char *out = mem_new(MEBIBYTE, 1), *in = mem_new(MEBIBYTE, 1);

	(void)unused;
	assert_non_null(out);
	assert_non_null(in);
	io_random(out, MEBIBYTE);
	assert_int_equal(sigemptyset(&alarm_only), 0);
	assert_int_equal(sigaddset(&alarm_only, SIGALRM), 0);
	assert_int_equal(sigaction(SIGALRM, &interrupt, &before), 0);
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const struct ends p = open_pipe(0);
		AUTO_FD from = p.read, to = p.write;
		struct reader r = { .fd = from, .to = in };
		pthread_t thread;
		assert_int_equal(fcntl(to, F_SETFL, modes[i]), 0);
		interrupts = 0;
		/* The signals are for the writer: the reader inherits a mask without them. */
		assert_int_equal(pthread_sigmask(SIG_BLOCK, &alarm_only, NULL), 0);
		assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
		assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL), 0);
		assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
		assert_int_equal(io_write_all(to, (struct str){ out, MEBIBYTE }, IO_FOREVER), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		/* A wait that is interrupted goes on to its deadline. */
		const int64_t start = io_now_ms();
		assert_int_equal(io_wait(from, POLLIN, start + 10), 0);
		assert_true(io_now_ms() >= start + 10);
		struct pollfd empty = { .fd = from, .events = POLLIN };
		assert_int_equal(io_poll_awake(&empty, 1, 1000, start + 20), 0);
		assert_true(io_now_ms() >= start + 20);
		AUTO_FD epoll = epoll_create1(EPOLL_CLOEXEC);
		struct epoll_event ev = { .events = EPOLLIN };
		assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, from, &ev), 0);
		assert_int_equal(io_epoll_awake(epoll, &ev, 1000, start + 30), 0);
		assert_true(io_now_ms() >= start + 30);
		io_sleep_ms(10);
		assert_true(io_now_ms() >= start + 40);
		assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
		assert_int_equal(r.got, MEBIBYTE);
		assert_memory_equal(in, out, MEBIBYTE);
	}
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	mem_free(out);
	mem_free(in);
}

static void random_bytes_differ(void **unused)
{
	char a[1000] = { 0 }, b[1000] = { 0 };
	size_t zeros = 0;

	(void)unused;
	io_random(a, sizeof a);
	io_random(b, sizeof b);
	assert_memory_not_equal(a, b, sizeof a);
	for (size_t i = 0; i < sizeof a; i++)
		zeros += a[i] == 0;
	assert_true(zeros < 100); /* filled to the end */
	io_random(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_never_goes_back),
		cmocka_unit_test(a_timeout_fits_poll),
		cmocka_unit_test(waiting_ends_with_the_event_or_the_deadline),
		cmocka_unit_test(reading_goes_on_to_the_end),
		cmocka_unit_test(reading_at_an_offset_leaves_the_position),
		cmocka_unit_test(failures_are_told_by_errno),
		cmocka_unit_test(a_full_pipe_times_out),
		cmocka_unit_test(transfers_are_whole_in_spite_of_signals),
		cmocka_unit_test(random_bytes_differ),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
