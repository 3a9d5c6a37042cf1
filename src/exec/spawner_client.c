/* SPDX-License-Identifier: MIT */
/* spawner: start the keeper, start it again when it died, hand over orders. */

#include "exec/spawner_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "sandbox/canonical.h"
#include "exec/environ.h"
#include "exec/keeper.h"
#include "sandbox/scratch.h"

struct spawner {
	pthread_mutex_t lock;	     /* over sock and keeper; held while a keeper starts */
	pthread_mutex_t report_lock; /* over report */
	pthread_t warmer;	     /* starts the first keeper when nobody has to wait for it */
	bool warming;
	int sock;
	unsigned generation; /* how many keepers there have been */
	pid_t keeper_pid;
	int keeper;	 /* pidfd; -1 when there is no keeper, or the kernel is older than 5.3 */
	int lifeline[2]; /* one pipe for all keepers: what an earlier one started goes on */
	int at_death;	 /* 0: none */
	size_t max;
	atomic_size_t running;
	struct keeper_setup setup;
	struct buf strings;
	size_t scratch_at;  /* where the private /tmp stands in them */
	struct buf program; /* with its NUL; empty: this one */
	struct sandbox_report report;
};

/* What does not exist at the start is not there later either. */
static uint32_t add_list(struct buf *b, struct path_list list, const char *workspace)
{
	char name[PATH_MAX];
	uint32_t count = 0;

	for (size_t i = 0; i < list.count; i++) {
		if (!canonical_name(list.item[i], workspace, name))
			continue;
		strings_add(b, str_of(name));
		count++;
	}
	return count;
}

static int keep_config(struct spawner *s, const struct spawner_config *c, struct err *e)
{
	const struct sandbox_config *sb = &c->sandbox;

	s->strings.max = LIMIT_ARGUMENTS;
	strings_add(&s->strings, str_of(sb->workspace));
	s->scratch_at = s->strings.n;
	strings_add(&s->strings, str_of(sb->scratch));
	s->setup = (struct keeper_setup){
		.mode = sb->mode,
		.no_network = sb->no_network,
		.read_only = sb->read_only,
		.open_files = c->open_files,
	};
	s->setup.write_count = add_list(&s->strings, sb->write, sb->workspace);
	s->setup.read_count = add_list(&s->strings, sb->read, sb->workspace);
	s->setup.hide_count = add_list(&s->strings, sb->hide, NULL);
	s->program.max = LIMIT_ARGUMENT;
	if (c->program) {
		buf_add(&s->program, str_of(c->program));
		buf_addc(&s->program, '\0');
	}
	s->at_death = c->at_death;
	s->max = c->max_commands;
	if (!s->max || s->max > LIMIT_COMMANDS)
		s->max = LIMIT_COMMANDS;
	if (s->strings.failed || s->program.failed)
		return err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for the spawner");
	return 0;
}

/* A descriptor that reads as empty: /dev/null or, in an empty root, a pipe without a writer. */
static int open_nothing(void)
{
	int p[2];
	const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd >= 0 || pipe2(p, O_CLOEXEC) < 0)
		return fd;
	(void)close(p[1]);
	return p[0];
}

/* Execute the program anew, with the socket as KEEPER_FD and nothing else of the server's. */
static int execute(const char *program, int sock, pid_t *ret)
{
	char name[] = "sidecar", verb[] = KEEPER_VERB;
	char *const argv[] = { name, verb, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;

	AUTO_FD nothing = open_nothing();
	if (nothing < 0)
		return errno;
	char **env = environ_merge(environ, NULL, 0);
	if (!env)
		return ENOMEM;
	(void)sigemptyset(&none);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_adddup2(&files, nothing, STDIN_FILENO);
	(void)posix_spawn_file_actions_adddup2(&files, nothing, STDOUT_FILENO);
	(void)posix_spawn_file_actions_adddup2(&files, sock, KEEPER_FD);
	const int error = posix_spawnp(ret, program, &files, &attr, argv, env);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	mem_free(env);
	return error;
}

static int greet(struct spawner *s, int sock, struct keeper_hello *hello, struct err *e)
{
	static const char silent[] = "The process that runs commands did not start";
	const int64_t deadline = io_now_ms() + LIMIT_SPAWNER_MS;
	int fds[MESSAGE_FDS];

	AUTO_FD strings = message_memfd("setup", buf_str(&s->strings));
	if (strings < 0)
		return err_set(e, ERR_SPAWN_FAILED, "%s: no memory for its settings", silent);
	const int give[] = { [KEEPER_LIFELINE] = s->lifeline[0],
			     [KEEPER_STRINGS] = strings,
			     [KEEPER_AT_DEATH] = s->at_death };
	const size_t count = s->at_death ? ARRAY_LEN(give) : KEEPER_AT_DEATH;
	if (message_send(sock, &s->setup, sizeof(s->setup), give, count, deadline) < 0 ||
	    io_wait(sock, POLLIN, deadline) <= 0 ||
	    message_recv(sock, hello, sizeof(*hello), fds) != sizeof(*hello))
		return err_set(e, ERR_SPAWN_FAILED, "%s", silent);
	if (hello->err.code != ERR_NONE) {
		*e = hello->err;
		return -1;
	}
	return 0;
}

/* Wait for the keeper where there are no pidfds. If the server reaps orphans, the number may be
 * gone already, and waiting says so at once. */
static bool reap_by_number(pid_t pid)
{
	const int64_t deadline = io_now_ms() + LIMIT_SPAWNER_MS;
	pid_t ended;

	while ((ended = waitpid(pid, NULL, WNOHANG)) == 0 && io_now_ms() < deadline)
		io_sleep_ms(LIMIT_KILL_PAUSE_MS);
	return ended != 0;
}

/* Wait for the keeper to end, which it does by itself. One that does not gets a signal; false when
 * that leaves it alive. */
static bool reap_keeper(struct spawner *s, int signal)
{
	const pid_t pid = TAKE(s->keeper_pid, 0);
	AUTO_FD keeper = TAKE(s->keeper, -1);
	siginfo_t info;

	if (keeper < 0)
		return pid == 0 || reap_by_number(pid);
	if (io_wait(keeper, POLLIN, io_now_ms() + LIMIT_SPAWNER_MS) == 0) {
		(void)syscall(SYS_pidfd_send_signal, keeper, signal, NULL, 0);
		if (signal != SIGKILL)
			return false;
	}
	(void)waitid(P_PIDFD, (id_t)keeper, &info, WEXITED);
	return true;
}

static int refuse_start(const struct spawner *s, struct err *e)
{
	if (s->program.n)
		return err_set(e, ERR_SPAWN_FAILED,
			       "Commands are started by the sidecar program, and \"%s\" cannot be "
			       "executed: install it, or set the program's path",
			       s->program.p);
	(void)err_errno(e, "The process that runs commands could not be started");
	e->code = ERR_SPAWN_FAILED;
	return -1;
}

/* Start a keeper in place of the one there was. */
static int start(struct spawner *s, struct err *e)
{
	struct keeper_hello hello = { 0 };
	int pair[2];
	pid_t pid = -1;

	if (message_pair(pair) < 0)
		return err_errno(e, "The process that runs commands could not be started");
	AUTO_FD mine = pair[0];
	AUTO_FD its = pair[1];
	errno = execute(s->program.n ? s->program.p : "/proc/self/exe", its, &pid);
	/* Without /proc, what is at our name now, which may be a newer program. */
	if (errno == ENOENT && !s->program.n)
		errno = execute((const char *)getauxval(AT_EXECFN), its, &pid);
	if (errno)
		return refuse_start(s, e);
	fd_closep(&its);
	fd_closep(&s->sock); /* an old keeper that only lost its spawner ends by this */
	(void)reap_keeper(s, SIGKILL);
	s->keeper_pid = pid;
	s->keeper = (int)syscall(SYS_pidfd_open, pid, 0);
	if (greet(s, mine, &hello, e) < 0) {
		fd_closep(&mine);
		(void)reap_keeper(s, SIGKILL);
		return -1;
	}
	(void)pthread_mutex_lock(&s->report_lock);
	s->report = hello.sandbox;
	s->setup.namespaces = hello.sandbox.namespaces;
	(void)pthread_mutex_unlock(&s->report_lock);
	s->sock = TAKE(mine, -1);
	s->generation++;
	return 0;
}

static void *warm(void *arg)
{
	struct spawner *s = arg;
	struct err ignored; /* the first order meets the same error, and has somebody to tell */

	(void)pthread_mutex_lock(&s->lock);
	if (s->sock < 0)
		(void)start(s, &ignored);
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Without a sandbox nothing has to be found out before the server may serve: the keeper starts on
 * its own while it already does. */
static int start_first(struct spawner *s, const struct spawner_config *config, struct err *e)
{
	struct sandbox_config settled = config->sandbox;

	if (sandbox_settle(&settled, &s->report, e) < 0)
		return -1;
	if (settled.mode == SANDBOX_OFF && pthread_create(&s->warmer, NULL, warm, s) == 0) {
		s->warming = true;
		return 0;
	}
	return start(s, e);
}

int spawner_new(const struct spawner_config *config, struct spawner **ret, struct err *e)
{
	struct spawner *s = mem_new(1, sizeof(*s));

	if (!s)
		return err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for the spawner");
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_mutex_init(&s->report_lock, NULL);
	s->sock = s->keeper = s->lifeline[0] = s->lifeline[1] = -1;
	if (pipe2(s->lifeline, O_CLOEXEC) < 0) {
		(void)err_errno(e, "The process that runs commands could not be started");
		spawner_free(s);
		return -1;
	}
	if (keep_config(s, config, e) < 0 || start_first(s, config, e) < 0) {
		spawner_free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void spawner_free(struct spawner *s)
{
	if (!s)
		return;
	if (s->warming)
		(void)pthread_join(s->warmer, NULL);
	fd_closep(&s->sock);
	fd_closep(&s->lifeline[1]);
	/* It may have been stopped, or have much to remove: then it goes on without us. */
	const bool gone = reap_keeper(s, SIGCONT);
	fd_closep(&s->lifeline[0]);
	/* If it never was, or has been killed, nobody else does it. */
	if (gone && !s->strings.failed && s->strings.n)
		scratch_remove(s->strings.p + s->scratch_at);
	buf_done(&s->strings);
	buf_done(&s->program);
	(void)pthread_mutex_destroy(&s->lock);
	(void)pthread_mutex_destroy(&s->report_lock);
	mem_free(s);
}

void spawner_report(struct spawner *s, struct sandbox_report *ret)
{
	(void)pthread_mutex_lock(&s->report_lock);
	*ret = s->report;
	(void)pthread_mutex_unlock(&s->report_lock);
}

bool spawner_is_sandboxed(struct spawner *s)
{
	(void)pthread_mutex_lock(&s->report_lock);
	const bool sandboxed = s->report.mode != SANDBOX_OFF;
	(void)pthread_mutex_unlock(&s->report_lock);
	return sandboxed;
}

size_t spawner_running(struct spawner *s)
{
	return atomic_load(&s->running);
}

int spawner_enter(struct spawner *s, struct err *e)
{
	if (atomic_fetch_add(&s->running, 1) < s->max)
		return 0;
	spawner_leave(s);
	return err_set(e, ERR_TOO_BUSY,
		       "%zu commands are running already; wait for one to end, or stop one",
		       s->max);
}

void spawner_leave(struct spawner *s)
{
	(void)atomic_fetch_sub(&s->running, 1);
}

/* Our own descriptor of the socket to a spawner; -1 with *e. If the last try found generation
 * `broken` dead, that one is replaced first, by whoever comes here first. */
static int borrow(struct spawner *s, unsigned broken, unsigned *generation, struct err *e)
{
	int fd = -1;

	(void)pthread_mutex_lock(&s->lock);
	if ((s->sock >= 0 && s->generation != broken) || start(s, e) == 0) {
		fd = fcntl(s->sock, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			(void)err_set(e, ERR_SPAWN_FAILED, "The server has no descriptor left");
	}
	*generation = s->generation;
	(void)pthread_mutex_unlock(&s->lock);
	return fd;
}

int spawner_send(struct spawner *s, const struct order *order, const int *fds, size_t fd_count,
		 struct err *e)
{
	unsigned generation = 0;

	/* The second try meets a spawner started just now. */
	for (int try = 0; try < 2; try++) {
		AUTO_FD sock = borrow(s, generation, &generation, e);
		if (sock < 0)
			return -1;
		const int64_t deadline = io_now_ms() + LIMIT_SPAWNER_MS;
		if (message_send(sock, order, sizeof(*order), fds, fd_count, deadline) == 0)
			return 0;
		if (errno != EPIPE && errno != ECONNRESET)
			break;
	}
	return err_set(e, ERR_SPAWN_FAILED,
		       "The process that runs commands does not take orders; try again");
}
