/* SPDX-License-Identifier: MIT */
/* What real commands do is seen and taken back: a shell under the filter, observed by this process.
 */

#include "changes_unit.h"

#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "changes/observer.h"
#include "sandbox/listener.h"

/* Send a descriptor, and one byte with it. */
static void send_fd(int to, int fd)
{
	char room[CMSG_SPACE(sizeof fd)] = { 0 }, byte = 'x';
	struct iovec piece = { &byte, 1 };
	struct msghdr m = { .msg_iov = &piece,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof room };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	(void)sendmsg(to, &m, 0);
}

static int receive_fd(int from)
{
	int fd = -1;
	char room[CMSG_SPACE(sizeof fd)], byte;
	struct iovec piece = { &byte, 1 };
	struct msghdr m = { .msg_iov = &piece,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof room };

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

_Noreturn static void be_command(const struct world *w, int to, const char *script)
{
	char byte;

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (chdir(w->root) < 0)
		_exit(120);
	const int listener = listener_install(LISTENER_CHANGES);
	if (listener < 0)
		_exit(errno == EBUSY ? SKIPPED : 121);
	send_fd(to, listener);
	if (read(to, &byte, 1) != 1)
		_exit(122);
	(void)execl("/bin/sh", "sh", "-c", script, NULL);
	_exit(123);
}

static void note_end(void *ended)
{
	(void)sem_post(ended);
}

/* Run a script under observation; the number of its change, 0 if it changed nothing. */
static uint64_t run(struct world *w, const char *script)
{
	int pair[2], status;
	struct recording r = recording_of(
		w->j, &(struct recording_about){ .tool = STR("run"), .flags = CHANGE_COMMAND });
	struct observer o;
	struct supervisor *s;
	struct err e;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	const pid_t pid = fork();
	if (pid == 0)
		be_command(w, pair[1], script);
	(void)close(pair[1]);
	const int listener = receive_fd(pair[0]);
	if (listener < 0) {
		(void)waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
			print_message("SKIP: another listener is installed\n");
			skip();
		}
		fail_msg("no listener: status %d", status);
	}
	assert_int_equal(observer_init(&o, &r, &e), 0);
	const struct judge judge = observer_judge(&o);
	sem_t ended;
	assert_int_equal(sem_init(&ended, 0, 0), 0);
	const struct supervision how = { &judge, 1, note_end, &ended };
	assert_int_equal(supervisor_start(listener, &how, &s, &e), 0);
	assert_int_equal(write(pair[0], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* What it left running goes on; here everything ends soon. */
	supervisor_leave(s);
	assert_int_equal(sem_wait(&ended), 0);
	observer_done(&o);
	(void)close(pair[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s: status %x", script, status);
	assert_false(r.missed);
	struct change c;
	return recording_finish(&r, &w->a, &c) ? c.id : 0;
}

static void prepare(struct world *w)
{
	char script[PATH_MAX + 1024];

	(void)snprintf(script, sizeof script,
		       "cd %s && mkdir -p src/deep/er empty 'a b' && for i in 1 2 3 4 5 6 7 8; do "
		       "echo \"file $i\" > src/$i.c; echo \"deep $i\" > src/deep/er/$i.h; done && "
		       "head -c 100000 /dev/urandom > src/large && ln -s 1.c src/link && "
		       "ln src/2.c src/hard && echo x > 'a b/c d' && ln -s src way && "
		       "mkfifo pipe && chmod 750 src/3.c && touch -d 2001-02-03 src/4.c src/deep",
		       w->root);
	assert_int_equal(system(script), 0);
}

static void what_commands_do_is_taken_back(void **state)
{
	static const char *const scripts[] = {
		"rm -rf src empty 'a b' way pipe",
		"rm -r src/deep; echo new > src/deep",
		"find . -name '*.c' -delete",
		"sed -i s/file/FILE/ src/*.c",
		"mv src moved; echo changed > moved/1.c; rm moved/2.c; mkdir src; echo other > "
		"src/1.c",
		"mv src/1.c src/2.c; mv src/large large; mv 'a b/c d' src/3.c",
		"ln -f src/1.c src/3.c; ln -sf 5.c src/link; rm src/hard",
		"chmod -R go-rwx src; chmod 700 .; touch src/5.c",
		"echo through > way/1.c; echo more >> src/link; : > src/large",
		"cd src/deep; echo up > ../../up; echo x > er/../new; rm -f er/1.h ../6.c",
		"echo a > /proc/self/cwd/a; echo b > b; cp src/1.c src/copied; mkdir -p x/y/z; "
		"rmdir x/y/z",
		"tar cf /dev/null src && tar cf - src | (mkdir t && cd t && tar xf -); rm -r src",
		"setsid sh -c 'sleep 0.1; echo late > late; rm src/7.c' > /dev/null 2>&1 &",
		"mv src/1.c t1; mv src/3.c src/1.c; mv t1 src/3.c; rm src/1.c",
		"dd if=/dev/zero of=src/large bs=1 count=10 conv=notrunc 2> /dev/null; "
		"truncate -s 5 src/8.c",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct world w = world_new();
		prepare(&w);
		char *before = describe(&w);
		const uint64_t id = run(&w, scripts[i]);
		w.names_uncounted = true;
		char *after = describe(&w);
		w.names_uncounted = false;
		assert_int_not_equal(id, 0);
		const uint64_t undone = undo(&w, id);
		assert_tree(&w, before, scripts[i]);
		(void)undo(&w, undone);
		w.names_uncounted = true;
		assert_tree(&w, after, scripts[i]);
		free(before);
		free(after);
		world_free(&w);
	}
}

static void what_reads_or_changes_elsewhere_is_not_a_change(void **state)
{
	struct world w = world_new();
	char script[2 * PATH_MAX];

	(void)state;
	prepare(&w);
	assert_int_equal(run(&w, "cat src/1.c src/link > /dev/null; ls -lR > /dev/null"), 0);
	assert_int_equal(run(&w, "echo x > new; rm new"), 0);
	(void)snprintf(script, sizeof script,
		       "echo x > %s/outside; ln -s %s out; rm out; "
		       "echo y > ../other",
		       w.s.path, w.s.path);
	assert_int_equal(run(&w, script), 0);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_commands_do_is_taken_back),
		cmocka_unit_test(what_reads_or_changes_elsewhere_is_not_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
