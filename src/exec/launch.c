/* SPDX-License-Identifier: MIT */
/* launch: the steps between vfork and exec. */

#include "exec/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"
#include "exec/limits.h"
#include "sandbox/sandbox.h"

static const char private_names[] =
	"SOCKET_PATH TCP_HOST TCP_PORT NOTIFY_SOCKET LISTEN_PID LISTEN_FDS "
	"LISTEN_FDNAMES LISTEN_PIDFDID WATCHDOG_PID WATCHDOG_USEC "
	"CREDENTIALS_DIRECTORY";

static struct str name_of(const char *variable)
{
	struct str name, value;

	(void)str_cut(str_of(variable), '=', &name, &value);
	return name;
}

static bool is_private(const char *variable)
{
	const struct str name = name_of(variable);

	return str_starts(name, STR("SIDECAR_")) || str_is_listed(private_names, name);
}

static char **find(char **list, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(name_of(list[i]), name))
			return &list[i];
	return NULL;
}

char **environ_merge(char *const *base, char *const *extra, size_t extra_count)
{
	size_t count = 0;

	while (base[count])
		count++;
	char **list = mem_new(count + extra_count + 1, sizeof(*list));
	if (!list)
		return NULL;
	count = 0;
	for (size_t i = 0; base[i]; i++)
		if (!is_private(base[i]))
			list[count++] = base[i];
	for (size_t i = 0; i < extra_count; i++) {
		char **old = find(list, count, name_of(extra[i]));
		if (old)
			*old = extra[i];
		else
			list[count++] = extra[i];
	}
	return list;
}

static const char *value_of(char *const *env, const char *name)
{
	const size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Are there variables that make bash do something before, or instead of, its command? */
static bool is_shell_prepared(char *const *env)
{
	for (size_t i = 0; env[i]; i++)
		if (strncmp(env[i], "BASH_FUNC_", 10) == 0)
			return true;
	return value_of(env, "BASH_ENV") || value_of(env, "BASHOPTS") || value_of(env, "SHELLOPTS");
}

static bool is_program(const char *path)
{
	struct stat st;

	return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Search PATH as the shell does. If a directory in it depends on the working directory, or the
 * program is not found, the shell has to search. */
static bool find_program(const char *name, const char *path, char *at, size_t size)
{
	if (strchr(name, '/'))
		return snprintf(at, size, "%s", name) < (int)size;
	while (path && *path == '/') {
		const size_t n = strcspn(path, ":");
		if (snprintf(at, size, "%.*s/%s", (int)n, path, name) >= (int)size)
			return false;
		if (is_program(at))
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static char *variable(struct arena *a, const char *name, const char *value)
{
	const size_t size = strlen(name) + strlen(value) + 2;
	char *text = arena_alloc(a, size);

	if (text)
		(void)snprintf(text, size, "%s=%s", name, value);
	return text;
}

/* Add what the shell sets for the programs that it executes. */
static char **complete(char *const *env, const char *program, const char *cwd, struct arena *a)
{
	char *more[] = { variable(a, "PWD", cwd), variable(a, "_", program) };

	return a->failed ? NULL : environ_merge(env, more, ARRAY_LEN(more));
}

bool plain_prepare(struct plain *p, char *const *words, size_t count, char *const *env,
		   const char *cwd, struct arena *a)
{
	/* Without the name of the directory only the shell can set PWD. */
	if (*cwd != '/' || is_shell_prepared(env) ||
	    !find_program(words[0], value_of(env, "PATH"), p->program, sizeof(p->program)))
		return false;
	p->argv = arena_array(a, count + 1, sizeof(*p->argv));
	p->env = p->argv ? complete(env, p->program, cwd, a) : NULL;
	for (size_t i = 0; p->env && i < count; i++)
		p->argv[i] = words[i];
	return p->env != NULL;
}

/*
 * Runs a script from descriptor 3 as if it had been given to -c: $0 and $# are the same, the
 * descriptor is closed before the script begins, no variable remains, lines keep their numbers.
 */
static const char script_reader[] = "set -- \"$(cat <&3)\"; exec 3<&-; eval \"shift; $1\"";

enum { SCRIPT_FD = 3 };

const char *launch_shell(void)
{
	static const char *const places[] = { "/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash" };

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return "/bin/sh";
}

static int prepare_argv(struct launch *l, const char *shell, const struct strings *s)
{
	const char **argv = mem_new((size_t)l->order->argc + 4, sizeof(*argv));
	size_t n = 0;

	if (!argv) {
		errno = ENOMEM;
		return -1;
	}
	if (l->order->shell) {
		const char *slash = strrchr(shell, '/');
		argv[n++] = slash ? slash + 1 : shell;
		argv[n++] = "-c";
	}
	for (size_t i = 0; i < l->order->argc; i++)
		argv[n++] = s->item[1 + i];
	if (l->order->script)
		argv[n++] = script_reader;
	l->argv = argv;
	l->program = l->order->shell ? shell : argv[0];
	return 0;
}

int launch_prepare(struct launch *l, const char *shell, char *const *base)
{
	struct strings s;

	l->failed = LAUNCH_ORDER;
	if (strings_map(l->fd[ORDER_STRINGS], &s) < 0) {
		l->error = errno;
		return -1;
	}
	const size_t first_word = 1 + (size_t)l->order->argc;
	const size_t first_variable = first_word + l->order->words;
	if (s.count < first_variable || (!l->order->shell && !l->order->argc)) {
		l->error = EBADMSG;
		return -1;
	}
	l->cwd_name = s.item[0];
	l->env = environ_merge(base, s.item + first_variable, s.count - first_variable);
	if (!l->env || prepare_argv(l, shell, &s) < 0) {
		l->error = ENOMEM;
		return -1;
	}
	struct arena arena = { .max = LIMIT_PLAIN };
	l->is_plain =
		l->order->words && plain_prepare(&l->plain, s.item + first_word, l->order->words,
						 l->env, l->cwd_name, &arena);
	l->failed = LAUNCH_DONE;
	return 0;
}

static int set_limit(__rlimit_resource_t which, int64_t value, rlim_t spare)
{
	struct rlimit r;

	if (value <= 0)
		return 0;
	if (getrlimit(which, &r) < 0)
		return -1;
	/* Never raised: the limits that the operator set for the server apply to its commands. */
	if (r.rlim_max > (rlim_t)value + spare)
		r.rlim_max = (rlim_t)value + spare;
	r.rlim_cur = r.rlim_max < (rlim_t)value ? r.rlim_max : (rlim_t)value;
	return setrlimit(which, &r);
}

static int set_limits(const struct proc_limits *l)
{
	/* At the hard limit of CPU time the kernel kills. It sends SIGXCPU a second earlier, by
	 * which we know why. */
	if (set_limit(RLIMIT_AS, l->address_space_bytes, 0) < 0 ||
	    set_limit(RLIMIT_FSIZE, l->file_size_bytes, 0) < 0 ||
	    set_limit(RLIMIT_NPROC, l->processes, 0) < 0 ||
	    set_limit(RLIMIT_CPU, l->cpu_seconds, 1) < 0)
		return -1;
	return 0;
}

/*
 * A directory descriptor of the server belongs to the server's mounts: ".." would lead from there
 * out of the sandbox's mounts. So the directory is opened again by name, and must be the same one.
 */
static int enter_cwd(const struct launch *l)
{
	struct stat asked, found;

	if (!sandbox_has_mounts(l->sandbox))
		return fchdir(l->fd[ORDER_CWD]);
	AUTO_FD dir = open(l->cwd_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(l->fd[ORDER_CWD], &asked) < 0 || fstat(dir, &found) < 0)
		return -1;
	if (asked.st_dev != found.st_dev || asked.st_ino != found.st_ino) {
		errno = ENOENT;
		return -1;
	}
	return fchdir(dir);
}

static int place_descriptors(const struct launch *l)
{
	/* Standard input is already /dev/null in the spawner. */
	if (l->order->input && dup2(l->fd[ORDER_STDIN], STDIN_FILENO) < 0)
		return -1;
	if (dup2(l->fd[ORDER_OUT], STDOUT_FILENO) < 0 || dup2(l->fd[ORDER_ERR], STDERR_FILENO) < 0)
		return -1;
	/* Every descriptor here is close-on-exec anyway; this makes it certain. */
	(void)syscall(SYS_close_range, SCRIPT_FD, ~0U, CLOSE_RANGE_CLOEXEC);
	if (!l->order->script)
		return 0;
	const int fd = l->fd[ORDER_SCRIPT];
	return fd == SCRIPT_FD ? fcntl(fd, F_SETFD, 0) : dup2(fd, SCRIPT_FD);
}

struct launch_failure {
	enum launch_step step;
	int error;
};

_Noreturn static void fail(int to, enum launch_step step)
{
	const struct launch_failure f = { step, errno };

	(void)!write(to, &f, sizeof(f));
	_exit(127);
}

/* Runs in the memory of the reaper, which waits, and must change nothing there. Until the program
 * runs, the pipe can tell which step failed. */
_Noreturn static void child(const struct launch *l, int to)
{
	sigset_t none;

	if (setsid() < 0)
		fail(to, LAUNCH_SESSION);
	(void)umask((mode_t)l->order->umask);
	if (l->sandbox)
		sandbox_reset_permissions(l->sandbox);
	if (enter_cwd(l) < 0)
		fail(to, LAUNCH_CWD);
	if (l->sandbox && sandbox_enter(l->sandbox) < 0)
		fail(to, LAUNCH_SANDBOX);
	if (place_descriptors(l) < 0)
		fail(to, LAUNCH_STDIO);
	if (set_limits(&l->order->limits) < 0)
		fail(to, LAUNCH_LIMITS);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (l->is_plain)
		(void)execve(l->plain.program, l->plain.argv, l->plain.env);
	(void)execvp(l->program, (char *const *)(uintptr_t)l->argv);
	fail(to, LAUNCH_EXEC);
}

pid_t launch_start(struct launch *l)
{
	struct launch_failure f;
	int p[2];

	l->failed = LAUNCH_FORK;
	if (pipe2(p, O_CLOEXEC) < 0) {
		l->error = errno;
		return -1;
	}
	AUTO_FD from = p[0];
	AUTO_FD to = p[1]; /* greater than `from`, so it is never SCRIPT_FD */
	/* execvp searches the PATH of the environment that the command will have. */
	environ = l->env;
	const pid_t pid = vfork();
	if (pid == 0)
		child(l, to);
	if (pid < 0) {
		l->error = errno;
		return -1;
	}
	fd_closep(&to);
	l->failed = LAUNCH_DONE;
	if (io_read_full(from, &f, sizeof(f)) != sizeof(f))
		return pid;
	l->failed = f.step;
	l->error = f.error;
	return -1;
}

static const char *const reasons[] = {
	[LAUNCH_DONE] = "The command did not start",
	[LAUNCH_ORDER] = "The command could not be handed to the spawner",
	[LAUNCH_FORK] = "No new process could be made for the command; end others and try again",
	[LAUNCH_SESSION] = "The command could not get its own session",
	[LAUNCH_CWD] = "The working directory cannot be entered",
	[LAUNCH_SANDBOX] = "The sandbox could not be put in force, so the command was not run",
	[LAUNCH_LIMITS] = "A resource limit could not be set",
	[LAUNCH_STDIO] = "The command's input and output could not be connected",
	[LAUNCH_EXEC] = "The program could not be started",
};

int launch_error(struct err *e, enum launch_step step, int error, struct str program)
{
	const size_t i = (size_t)step < ARRAY_LEN(reasons) ? (size_t)step : LAUNCH_DONE;
	const struct str shown = i == LAUNCH_EXEC ? str_upto(program, 200) : STR("");

	errno = error;
	(void)err_errno(e, "%s%s%.*s", reasons[i], shown.n ? ": " : "", STR_FMT(shown));
	e->code = ERR_SPAWN_FAILED;
	return -1;
}
