/* SPDX-License-Identifier: MIT */
/* runner: start the keeper, start it again when it died, hand over orders. */

#include "exec/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "exec/keeper.h"
#include "exec/launch.h"
#include "exec/limits.h"
#include "guard/guard.h"
#include "guard/hidden.h"
#include "sandbox/canonical.h"
#include "sandbox/covers.h"
#include "sandbox/scratch.h"
#include "supervise/resolver.h"

struct runner {
	pthread_mutex_t lock;	     /* protects sock and keeper; held while a keeper starts */
	pthread_mutex_t report_lock; /* protects report */
	pthread_t warmer; /* starts the first keeper if the server need not wait for it */
	bool warming;
	int sock;
	unsigned generation; /* how many keepers there have been */
	unsigned followed;   /* the generation of the sandbox's directories */
	pid_t keeper_pid;
	int keeper; /* pidfd; -1 if there is no keeper, or the kernel is older than 5.3 */
	pid_t retired[LIMIT_COMMANDS + LIMIT_JOBS]; /* keepers of spawners that end by themselves */
	size_t retired_count;
	int lifeline[2]; /* one pipe for all keepers: what an earlier one started continues */
	int gifts[KEEPER_GIFTS]; /* at_death and alive (struct runner_config), or -1 */
	int held, held_cache;	 /* the locks on the private /tmp and the cache; or -1 */
	size_t max;
	atomic_size_t running;
	struct keeper_setup setup;
	struct buf strings;
	size_t scratch_at; /* the offset of the private /tmp in them */
	size_t hidden_at;  /* … and of what is hidden, which is last and may change */
	struct covers *covers;
	struct guard *guard;
	struct hidden *hidden;
	struct buf program; /* with its NUL; empty: this one */
	struct sandbox_report report;
	struct bounds *bounds; /* NULL: no sandbox, or not started yet */
};

/* What does not exist when the server starts is left out for good. */
static size_t add_list(struct buf *b, struct path_list list, const char *workspace)
{
	char name[PATH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < list.count; i++) {
		if (!canonical_name(list.item[i], workspace, name))
			continue;
		strings_add(b, str_of(name));
		count++;
	}
	return count;
}

/* A socket may be made later; its directory is there. */
static size_t add_sockets(struct buf *b, struct path_list list, const char *workspace)
{
	char name[PATH_MAX], dir[PATH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < list.count; i++) {
		const char *last = strrchr(list.item[i], '/');
		if (canonical_name(list.item[i], workspace, name)) {
			strings_add(b, str_of(name));
			count++;
			continue;
		}
		(void)snprintf(dir, sizeof(dir), "%.*s/", (int)(last - list.item[i]), list.item[i]);
		if (errno != ENOENT || !last[1] || !canonical_name(dir, workspace, name) ||
		    strlen(name) + strlen(last) >= sizeof(name))
			continue;
		memcpy(name + strlen(name), last, strlen(last) + 1);
		strings_add(b, str_of(name));
		count++;
	}
	return count;
}

static int keep_config(struct runner *r, const struct runner_config *c, struct err *e)
{
	const struct sandbox_config *sb = &c->sandbox;

	r->strings.max = LIMIT_ARGUMENTS;
	strings_add(&r->strings, str_of(sb->workspace));
	r->scratch_at = r->strings.n;
	strings_add(&r->strings, str_of(sb->scratch));
	strings_add(&r->strings, str_of(sb->cache));
	r->setup = (struct keeper_setup){ .config = *sb,
					  .open_files = c->open_files,
					  .gives = { c->at_death >= 0, c->alive >= 0 } };
	r->setup.config.listens = c->listens;
	r->setup.config.brokered = c->brokers;
	r->setup.config.supervised = resolver_is_possible();
	r->setup.config.write.count = add_list(&r->strings, sb->write, sb->workspace);
	r->setup.config.read.count = add_list(&r->strings, sb->read, sb->workspace);
	r->setup.config.sockets.count = add_sockets(&r->strings, sb->sockets, sb->workspace);
	for (size_t i = 0; i < sb->git.count; i++) /* canonical already, and in pairs */
		strings_add(&r->strings, str_of(sb->git.item[i]));
	r->hidden_at = r->strings.n;
	r->covers = covers_new(sb->hide, sb->workspace);
	r->guard = c->guard;
	r->hidden = c->hidden;
	r->setup.config.guarded = c->guard;
	r->program.max = LIMIT_ARGUMENT;
	if (c->program) {
		buf_add(&r->program, str_of(c->program));
		buf_addc(&r->program, '\0');
	}
	r->gifts[0] = c->at_death;
	r->gifts[1] = c->alive;
	r->held = sb->scratch ? scratch_hold(sb->scratch) : -1;
	r->held_cache = sb->cache ? scratch_hold(sb->cache) : -1;
	const bool is_less = c->max_commands && c->max_commands < LIMIT_COMMANDS;
	r->max = is_less ? c->max_commands : LIMIT_COMMANDS;
	if (r->strings.failed || r->program.failed || !r->covers)
		return err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for the spawner");
	return 0;
}

/* A descriptor that reads as empty: /dev/null or, in an empty root, a pipe that has no writer. */
static int open_nothing(void)
{
	int p[2];
	const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd >= 0 || pipe2(p, O_CLOEXEC) < 0)
		return fd;
	(void)close(p[1]);
	return p[0];
}

/* Execute the program with the socket as KEEPER_FD and nothing else of the server's. Returns 0 or
 * an errno value. */
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

/* Look into a process in the place of a command, as the judges will, and let its call fail with
 * what failed here. */
static void answer_trial(int *listener, int64_t deadline)
{
	struct stopped_call call;
	struct sockaddr to;
	AUTO_FD from = TAKE(*listener, -1);
	struct pollfd p = { .fd = from, .events = POLLIN };

	/* If the process was killed there is nothing to receive, for which older kernels wait. */
	if (io_wait(from, POLLIN, deadline) <= 0 || poll(&p, 1, 0) != 1 || !(p.revents & POLLIN) ||
	    !stopped_receive(from, &call))
		return;
	int error = stopped_read(&call, call.args[1], &to, sizeof(to)) < 0 ? errno : 0;
	if (!error && call.number == SYS_connect) {
		AUTO_FD taken = stopped_take(&call, (int)call.args[0]);
		error = taken < 0 ? errno : 0;
	}
	stopped_answer(&call, 0, error);
}

static int greet(struct runner *r, int sock, struct spawner_hello *hello, struct err *e)
{
	static const char silent[] = "The process that runs commands did not start";
	const int64_t deadline = io_now_ms() + LIMIT_SPAWNER_MS;
	int fds[MESSAGE_FDS];

	AUTO_FD strings = message_memfd("setup", buf_str(&r->strings));
	if (strings < 0)
		return err_set(e, ERR_SPAWN_FAILED, "%s: no memory for its settings", silent);
	int give[KEEPER_FDS] = { [KEEPER_LIFELINE] = r->lifeline[0], [KEEPER_STRINGS] = strings };
	size_t count = KEEPER_OPTIONAL;
	for (size_t i = 0; i < KEEPER_GIFTS; i++)
		if (r->setup.gives[i])
			give[count++] = r->gifts[i];
	if (message_send(sock, &r->setup, sizeof(r->setup), give, count, deadline) < 0)
		return err_set(e, ERR_SPAWN_FAILED, "%s", silent);
	for (bool trial = true; trial;) {
		if (io_wait(sock, POLLIN, deadline) <= 0 ||
		    message_recv(sock, hello, sizeof(*hello), fds) != sizeof(*hello))
			return err_set(e, ERR_SPAWN_FAILED, "%s", silent);
		trial = fds[0] >= 0;
		if (trial)
			answer_trial(&fds[0], deadline);
	}
	if (hello->err.code != ERR_NONE) {
		*e = hello->err;
		return -1;
	}
	return 0;
}

/* Wait for the keeper on a kernel without pidfds. If the server reaps orphans, the pid may be gone
 * already; then waitpid fails at once. */
static bool reap_by_number(pid_t pid)
{
	const int64_t deadline = io_now_ms() + LIMIT_SPAWNER_MS;
	pid_t ended;

	while ((ended = waitpid(pid, NULL, WNOHANG)) == 0 && io_now_ms() < deadline)
		io_sleep_ms(LIMIT_KILL_PAUSE_MS);
	return ended != 0;
}

/* Wait for the keeper to end, which it does by itself. If it does not, send it the signal; false if
 * it is still alive after that. */
static bool reap_keeper(struct runner *r, int signal)
{
	const pid_t pid = TAKE(r->keeper_pid, 0);
	AUTO_FD keeper = TAKE(r->keeper, -1);
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

static int refuse_start(const struct runner *r, struct err *e)
{
	if (r->program.n)
		return err_set(e, ERR_SPAWN_FAILED,
			       "Commands are started by the sidecar program, and \"%s\" cannot be "
			       "executed: install it, or set the program's path",
			       r->program.p);
	(void)err_errno(e, "The process that runs commands could not be started");
	e->code = ERR_SPAWN_FAILED;
	return -1;
}

/* The same rules as the spawner has. */
static int keep_bounds(struct runner *r, const struct sandbox_report *report)
{
	struct sandbox_config config = r->setup.config;
	const size_t count = sandbox_string_count(&config);
	const char **string, *next = r->strings.p;

	if (r->bounds || report->mode == SANDBOX_OFF)
		return 0;
	string = mem_new(count, sizeof(*string));
	if (!string)
		return -1;
	for (size_t i = 0; i < count; i++, next += strlen(next) + 1)
		string[i] = next;
	sandbox_point_to(&config, string);
	config.mode = report->mode;
	config.no_network |= report->mode == SANDBOX_STRICT;
	r->bounds = bounds_new(&config, report->namespaces);
	mem_free(string);
	return r->bounds ? 0 : -1;
}

/* What commands must not see and not change, as it is now. */
static int list_covers(struct runner *r, struct err *e)
{
	uint32_t hidden = 0;

	r->strings.n = r->hidden_at;
	r->strings.failed = false;
	r->setup.config.hide.count = covers_list(r->covers, &r->strings);
	if (r->hidden && hidden_covers(r->hidden, &r->strings, &hidden, e) < 0)
		return -1;
	r->setup.config.hide.count += hidden;
	r->setup.config.protect.count = r->guard ? guard_covers(r->guard, &r->strings) : 0;
	return 0;
}

/* The keeper is killed, so that it does not remove the private /tmp, which the next one uses. The
 * spawner sees the hang-up and ends its commands. */
static void dismiss(struct runner *r)
{
	if (r->keeper >= 0)
		(void)syscall(SYS_pidfd_send_signal, r->keeper, SIGKILL, NULL, 0);
	else if (r->keeper_pid > 0)
		(void)kill(r->keeper_pid, SIGKILL);
	fd_closep(&r->sock);
}

/* Start a keeper in place of the last one. */
static int start(struct runner *r, struct err *e)
{
	struct spawner_hello hello = { 0 };
	int pair[2];
	pid_t pid = -1;

	if (list_covers(r, e) < 0)
		return -1;
	if (message_pair(pair) < 0)
		return err_errno(e, "The process that runs commands could not be started");
	AUTO_FD mine = pair[0];
	AUTO_FD its = pair[1];
	errno = execute(r->program.n ? r->program.p : "/proc/self/exe", its, &pid);
	/* Without /proc, execute the file that has our name now, which may be a newer program. */
	if (errno == ENOENT && !r->program.n)
		errno = execute((const char *)getauxval(AT_EXECFN), its, &pid);
	if (errno)
		return refuse_start(r, e);
	fd_closep(&its);
	dismiss(r);
	(void)reap_keeper(r, SIGKILL);
	r->keeper_pid = pid;
	r->keeper = (int)syscall(SYS_pidfd_open, pid, 0);
	if (greet(r, mine, &hello, e) < 0) {
		fd_closep(&mine);
		(void)reap_keeper(r, SIGKILL);
		return -1;
	}
	(void)pthread_mutex_lock(&r->report_lock);
	r->report = hello.sandbox;
	r->setup.config.namespaces = hello.sandbox.namespaces;
	const int kept = keep_bounds(r, &hello.sandbox);
	(void)pthread_mutex_unlock(&r->report_lock);
	if (kept < 0)
		return err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for the spawner");
	r->sock = TAKE(mine, -1);
	r->generation++;
	return 0;
}

static void *warm(void *arg)
{
	struct runner *r = arg;
	struct err ignored; /* the first order gets the same error, and has a client to tell */

	(void)pthread_mutex_lock(&r->lock);
	if (r->sock < 0)
		(void)start(r, &ignored);
	(void)pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* Without a sandbox the server need not wait for the result of the trials: it serves while the
 * keeper starts. */
static int start_first(struct runner *r, const struct runner_config *config, struct err *e)
{
	struct sandbox_config settled = config->sandbox;

	if (sandbox_settle(&settled, &r->report, e) < 0)
		return -1;
	if (settled.mode == SANDBOX_OFF && pthread_create(&r->warmer, NULL, warm, r) == 0) {
		r->warming = true;
		return 0;
	}
	return start(r, e);
}

int runner_new(const struct runner_config *config, struct runner **ret, struct err *e)
{
	struct runner *r = mem_new(1, sizeof(*r));

	if (!r)
		return err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for the spawner");
	(void)pthread_mutex_init(&r->lock, NULL);
	(void)pthread_mutex_init(&r->report_lock, NULL);
	r->sock = r->keeper = r->lifeline[0] = r->lifeline[1] = r->held = -1;
	r->held_cache = -1;
	if (pipe2(r->lifeline, O_CLOEXEC) < 0) {
		(void)err_errno(e, "The process that runs commands could not be started");
		runner_free(r);
		return -1;
	}
	if (keep_config(r, config, e) < 0 || start_first(r, config, e) < 0) {
		runner_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void runner_free(struct runner *r)
{
	if (!r)
		return;
	if (r->warming)
		(void)pthread_join(r->warmer, NULL);
	fd_closep(&r->sock);
	fd_closep(&r->lifeline[1]);
	/* It may be stopped, or have much to remove: then it continues after we have ended. */
	bool gone = reap_keeper(r, SIGCONT);
	for (size_t i = 0; i < r->retired_count; i++)
		gone &= reap_by_number(r->retired[i]);
	fd_closep(&r->lifeline[0]);
	/* If there never was a keeper, or it was killed, removing the directory is left to us. */
	if (gone && !r->strings.failed && r->strings.n)
		scratch_remove(r->strings.p + r->scratch_at);
	fd_closep(&r->held);
	fd_closep(&r->held_cache);
	buf_done(&r->strings);
	buf_done(&r->program);
	covers_free(r->covers);
	bounds_release(r->bounds);
	(void)pthread_mutex_destroy(&r->lock);
	(void)pthread_mutex_destroy(&r->report_lock);
	mem_free(r);
}

void runner_report(struct runner *r, struct sandbox_report *ret)
{
	(void)pthread_mutex_lock(&r->report_lock);
	*ret = r->report;
	(void)pthread_mutex_unlock(&r->report_lock);
}

struct bounds *runner_bounds(struct runner *r, bool *brokers, bool *judges)
{
	(void)pthread_mutex_lock(&r->report_lock);
	struct bounds *b = bounds_hold(r->bounds);
	*brokers = b && r->report.brokered;
	*judges = b && !b->namespaces && r->setup.config.supervised && !r->report.unwatched;
	(void)pthread_mutex_unlock(&r->report_lock);
	return b;
}

bool runner_can_watch(struct runner *r)
{
	/* The first command waits for the answer, as it would for its process. */
	if (r->warming)
		(void)warm(r);
	(void)pthread_mutex_lock(&r->report_lock);
	const bool can = r->setup.config.listens && !r->report.unwatched;
	(void)pthread_mutex_unlock(&r->report_lock);
	return can;
}

bool runner_is_sandboxed(struct runner *r)
{
	(void)pthread_mutex_lock(&r->report_lock);
	const bool sandboxed = r->report.mode != SANDBOX_OFF;
	(void)pthread_mutex_unlock(&r->report_lock);
	return sandboxed;
}

size_t runner_running(struct runner *r)
{
	return atomic_load(&r->running);
}

int runner_enter(struct runner *r, struct err *e)
{
	if (atomic_fetch_add(&r->running, 1) < r->max)
		return 0;
	runner_leave(r);
	return err_set(e, ERR_TOO_BUSY,
		       "%zu commands are running already; wait for one to end, or stop one",
		       r->max);
}

void runner_leave(struct runner *r)
{
	(void)atomic_fetch_sub(&r->running, 1);
}

/* Let the commands of the spawner go on, and give it no more. */
static void retire(struct runner *r)
{
	static const char message[SPAWNER_RETIRES];
	const int64_t deadline = io_now_ms() + LIMIT_SPAWNER_MS;

	if (r->retired_count == ARRAY_LEN(r->retired) ||
	    message_send(r->sock, message, sizeof(message), NULL, 0, deadline) < 0) {
		dismiss(r);
		return;
	}
	fd_closep(&r->sock);
	fd_closep(&r->keeper);
	r->retired[r->retired_count++] = TAKE(r->keeper_pid, 0);
}

/* Those whose commands have ended. */
static void reap_retired(struct runner *r)
{
	for (size_t i = r->retired_count; i-- > 0;)
		if (waitpid(r->retired[i], NULL, WNOHANG) != 0)
			r->retired[i] = r->retired[--r->retired_count];
}

static bool has_changed(const struct runner *r)
{
	return covers_have_changed(r->covers) || (r->guard && guard_has_changed(r->guard)) ||
	       (r->hidden && hidden_has_changed(r->hidden));
}

/* Start a spawner if there is none, or if another file has the name of one that is hidden from
 * commands; twice if that happens while it starts. */
static int renew(struct runner *r, bool dead, struct err *e)
{
	for (int i = 0; i < 2; i++, dead = false) {
		if (!dead && !(r->setup.config.namespaces && has_changed(r)))
			return 0;
		if (!dead)
			retire(r);
		if (start(r, e) < 0)
			return -1;
	}
	return 0;
}

/* A duplicate of the socket to a spawner; -1 with *e. If the last try found generation `broken`
 * dead, the first thread that comes here replaces that spawner. */
static int borrow(struct runner *r, unsigned broken, unsigned *generation, struct err *e)
{
	int fd = -1;

	(void)pthread_mutex_lock(&r->lock);
	reap_retired(r);
	if (renew(r, r->sock < 0 || r->generation == broken, e) == 0) {
		fd = fcntl(r->sock, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			(void)err_set(e, ERR_SPAWN_FAILED, "The server has no descriptor left");
	}
	*generation = r->generation;
	(void)pthread_mutex_unlock(&r->lock);
	return fd;
}

void runner_follow(struct runner *r, unsigned generation)
{
	(void)pthread_mutex_lock(&r->lock);
	if (generation != r->followed && r->sock >= 0 && runner_is_sandboxed(r))
		dismiss(r);
	r->followed = generation;
	(void)pthread_mutex_unlock(&r->lock);
}

int runner_send(struct runner *r, const struct order *order, const int *fds, size_t fd_count,
		struct err *e)
{
	unsigned generation = 0;

	/* The second try goes to a spawner that has just been started. */
	for (int try = 0; try < 2; try++) {
		AUTO_FD sock = borrow(r, generation, &generation, e);
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
