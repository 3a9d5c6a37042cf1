/* SPDX-License-Identifier: MIT */
/* What real commands do is seen and taken back: a shell under the filter, observed by this process.
 */

#include "changes_unit.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "changes/observer.h"
#include "supervise/listener.h"
#include "supervise/resolver.h"
#include "supervise/stopped.h"

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

/* A process that executes the script as soon as it gets a byte through `to`; its listener. */
static int start_command(const struct world *w, const char *script, pid_t *pid, int *to)
{
	int pair[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	*pid = fork();
	if (*pid == 0)
		be_command(w, pair[1], script);
	(void)close(pair[1]);
	const int listener = receive_fd(pair[0]);
	if (listener < 0) {
		(void)waitpid(*pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
			print_message("SKIP: another listener is installed\n");
			skip();
		}
		fail_msg("no listener: status %d", status);
	}
	*to = pair[0];
	return listener;
}

/* Run a script under observation; the number of its change, 0 if it changed nothing. */
static uint64_t run(struct world *w, const char *script)
{
	int to, status;
	pid_t pid;
	struct recording r = recording_of(
		w->j, &(struct recording_about){ .tool = STR("run"), .flags = CHANGE_COMMAND });
	struct observer o;
	struct supervisor *s;
	struct err e;
	const int listener = start_command(w, script, &pid, &to);

	assert_int_equal(observer_init(&o, &r, &e), 0);
	const struct judge judge = observer_judge(&o);
	sem_t ended;
	assert_int_equal(sem_init(&ended, 0, 0), 0);
	const struct supervision how = { &judge, 1, note_end, &ended };
	assert_int_equal(supervisor_start(listener, &how, &s, &e), 0);
	assert_int_equal(write(to, "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* What it left running goes on; here everything ends soon. */
	supervisor_leave(s);
	assert_int_equal(sem_wait(&ended), 0);
	observer_done(&o);
	(void)close(to);
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
		/* Another directory gets the name by which one was known. */
		"echo a > way/1.c; rm way; ln -s 'a b' way; echo b > 'way/c d'",
		"echo a > way/1.c; ln -s 'a b' new; mv -T new way; echo b > 'way/c d'",
		"mkdir ../o; : > ../o/1.c; rm -r ../o; ln -s \"$PWD/src\" ../o; echo b > ../o/1.c; "
		"rm ../o",
		"mkdir ../o; : > ../o/1.c; mv ../o ../p; ln -s \"$PWD/src\" ../o; echo b > "
		"../o/1.c; "
		"rm -r ../o ../p",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct world w = world_new();
		prepare(&w);
		/* The journal may have one more name of a file with several, for redo. */
		w.names_uncounted = true;
		char *before = describe(&w);
		const uint64_t id = run(&w, scripts[i]);
		char *after = describe(&w);
		assert_int_not_equal(id, 0);
		const uint64_t undone = undo(&w, id);
		assert_tree(&w, before, scripts[i]);
		(void)undo(&w, undone);
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

/* The inode of the directory to which the path of a call leads. */
static ino_t look(struct resolver *r, const struct stopped_call *call, enum intent_verb verb,
		  const char *path)
{
	struct stat st;

	resolver_begin(r, call);
	resolver_give(r, verb, path);
	const struct caller_place *p = resolver_place(r, 0);
	assert_int_equal(p->found, PLACE_FOUND);
	assert_int_equal(fstat(p->dir->fd, &st), 0);
	resolver_end(r);
	return st.st_ino;
}

/* A rename takes effect some time after it was let go; other calls may be looked at before that. */
static void a_directory_that_was_moved_is_not_taken_for_the_next_of_its_name(void **state)
{
	struct world w = world_new();
	struct stopped_call call;
	struct resolver r;
	pid_t pid;
	int to, status;

	(void)state;
	prepare(&w);
	AUTO_FD listener = start_command(&w, "echo x > new", &pid, &to);
	struct pollfd p = { .fd = listener, .events = POLLIN };
	assert_int_equal(write(to, "x", 1), 1);
	assert_int_equal(poll(&p, 1, -1), 1);
	assert_true(stopped_receive(listener, &call));
	resolver_init(&r, NULL);
	(void)look(&r, &call, INTENT_RENAME, "src");
	const ino_t before = look(&r, &call, INTENT_CHMOD, "src/new");
	const ino_t through_link = look(&r, &call, INTENT_CHMOD, "way/new");
	assert_int_equal(before, through_link);
	assert_int_equal(renameat(w.dir, "src", w.dir, "moved"), 0);
	assert_int_equal(mkdirat(w.dir, "src", 0700), 0);
	const ino_t after = look(&r, &call, INTENT_CHMOD, "src/new");
	assert_int_not_equal(after, before);
	assert_int_equal(look(&r, &call, INTENT_CHMOD, "way/new"), after);
	resolver_done(&r);
	/* The same for one that is removed. */
	resolver_init(&r, NULL);
	(void)look(&r, &call, INTENT_RMDIR, "src");
	assert_int_equal(look(&r, &call, INTENT_CHMOD, "src/new"), after);
	assert_int_equal(renameat(w.dir, "moved", w.dir, "src"), 0);
	assert_int_equal(look(&r, &call, INTENT_CHMOD, "src/new"), before);
	resolver_done(&r);
	do
		stopped_go_on(&call);
	while (poll(&p, 1, -1) == 1 && p.revents & POLLIN && stopped_receive(listener, &call));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	(void)close(to);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_commands_do_is_taken_back),
		cmocka_unit_test(what_reads_or_changes_elsewhere_is_not_a_change),
		cmocka_unit_test(a_directory_that_was_moved_is_not_taken_for_the_next_of_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
