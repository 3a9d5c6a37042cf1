/* SPDX-License-Identifier: MIT */
/*
 * The sandbox while the kernel refuses one of the calls that it is made with: it fails closed.
 *
 * For each call and mode a child with a filter for the call starts a runner. Either that fails and
 * says why, or a command that it runs cannot do what the mode forbids. All that the command tries
 * is done to files of this test.
 */

#include "exec_unit.h"

#include <seccomp.h>
#include <sys/mman.h>

#include "sandbox/landlock.h"
#include "scratch.h"

static const struct {
	const char *name;
	int number;
} calls[] = {
	{ "capset", SCMP_SYS(capset) },
	{ "chdir", SCMP_SYS(chdir) },
	{ "chmod", SCMP_SYS(chmod) },
	{ "clone", SCMP_SYS(clone) },
	{ "close_range", SCMP_SYS(close_range) },
	{ "dup2", SCMP_SYS(dup2) },
	{ "fchdir", SCMP_SYS(fchdir) },
	{ "fchmod", SCMP_SYS(fchmod) },
	{ "getcwd", SCMP_SYS(getcwd) },
	{ "getdents64", SCMP_SYS(getdents64) },
	{ "ioctl", SCMP_SYS(ioctl) },
	{ "landlock_add_rule", SCMP_SYS(landlock_add_rule) },
	{ "landlock_create_ruleset", SCMP_SYS(landlock_create_ruleset) },
	{ "landlock_restrict_self", SCMP_SYS(landlock_restrict_self) },
	{ "mkdir", SCMP_SYS(mkdir) },
	{ "mount", SCMP_SYS(mount) },
	{ "mount_setattr", SCMP_SYS(mount_setattr) },
	{ "move_mount", SCMP_SYS(move_mount) },
	{ "open_tree", SCMP_SYS(open_tree) },
	{ "openat2", SCMP_SYS(openat2) },
	{ "pidfd_open", SCMP_SYS(pidfd_open) },
	{ "pipe2", SCMP_SYS(pipe2) },
	{ "prctl", SCMP_SYS(prctl) },
	{ "readlink", SCMP_SYS(readlink) },
	{ "seccomp", SCMP_SYS(seccomp) },
	{ "setsid", SCMP_SYS(setsid) },
	{ "signalfd4", SCMP_SYS(signalfd4) },
	{ "socket", SCMP_SYS(socket) },
	{ "socketpair", SCMP_SYS(socketpair) },
	{ "statfs", SCMP_SYS(statfs) },
	{ "umask", SCMP_SYS(umask) },
	{ "unlink", SCMP_SYS(unlink) },
	{ "unshare", SCMP_SYS(unshare) },
	{ "vfork", SCMP_SYS(vfork) },
};

static struct scratch place;

static struct {
	int rc;
	bool namespaces;
	struct err e;
	char output[4096];
} * said; /* by the child, in memory that it shares */

struct trial {
	const char *name;
	enum sandbox_mode mode;
	bool read_only;
};

static bool refuse(int number)
{
	const scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	const bool refused = f && number >= 0 &&
			     seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), number, 0) == 0 &&
			     seccomp_load(f) == 0;

	seccomp_release(f);
	return refused;
}

/* What must not be possible: each leaves a trace outside, in the workspace, or in the output. */
static void attempt(struct runner *r)
{
	CAPTURE c = { 0 };
	struct proc_result result;
	struct err e;
	const struct proc_sink sink = { capture_write, &c };
	char script[3 * PATH_MAX];
	AUTO_FD cwd = open(in(&place, "ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_request q = { .cwd_fd = cwd, .umask = 022, .timeout_ms = 20000 };

	(void)snprintf(
		script, sizeof script,
		"cd ../outside 2>/dev/null; echo changed > %s/outside/file; echo changed > file; "
		"chmod 4777 %s/outside/mode; cat %s/outside/secret; echo changed > %s/ws/file",
		place.path, place.path, place.path, place.path);
	q.command = str_of(script);
	c.out.max = c.err.max = sizeof said->output - 1;
	if (proc_run(r, &q, &sink, NULL, &result, &e) == 0)
		(void)snprintf(said->output, sizeof said->output, "%.*s", STR_FMT(buf_str(&c.out)));
}

/* In the child. */
static int try_one(const struct trial *t, int number)
{
	char workspace[PATH_MAX], tmp[PATH_MAX], writable[PATH_MAX];
	const char *const write[] = { writable };
	struct runner *r = NULL;
	struct err e = { .code = ERR_NONE };

	(void)alarm(60);
	(void)snprintf(workspace, sizeof workspace, "%s", in(&place, "ws"));
	(void)snprintf(tmp, sizeof tmp, "%s", in(&place, "tmp"));
	(void)snprintf(writable, sizeof writable, "%s", in(&place, "writable"));
	const struct runner_config config = {
		.at_death = -1,
		.alive = -1,
		.max_commands = 4,
		.sandbox = { .mode = t->mode,
			     .read_only = t->read_only,
			     .workspace = workspace,
			     .scratch = tmp,
			     .write = { write, 1 } },
	};
	if (!refuse(number))
		return SKIPPED;
	said->rc = runner_new(&config, &r, &e);
	said->e = e;
	if (said->rc == 0) {
		struct sandbox_report report;
		runner_report(r, &report);
		said->namespaces = report.namespaces;
		attempt(r);
		runner_free(r);
	}
	return 0;
}

static const char *judge(const struct trial *t)
{
	struct stat st;

	if (said->rc < 0)
		return said->e.code == ERR_NONE || strlen(said->e.msg) < 10 ? "no clear error"
									    : NULL;
	if (strcmp(get(&place, "outside/file"), "untouched") != 0)
		return "a file outside was written";
	if (stat(in(&place, "outside/mode"), &st) < 0 ||
	    (said->namespaces && (st.st_mode & 07777) != 0600))
		return "the mode of a file outside was changed";
	if (t->mode == SANDBOX_STRICT && (!said->namespaces || strstr(said->output, "a secret")))
		return "a file outside was read";
	if (t->read_only && strcmp(get(&place, "ws/file"), "untouched") != 0)
		return "a read-only workspace was written";
	return NULL;
}

static void refused_one_by_one(void **state)
{
	const struct trial *t = *state;
	int status, started = 0;

	if (landlock_abi() == 0) {
		print_message("SKIP: this kernel has no Landlock\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		place = scratch_new();
		put_dir(&place, "ws");
		put(&place, "ws/file", "untouched");
		put_dir(&place, "writable");
		put_dir(&place, "tmp");
		put_dir(&place, "outside");
		put(&place, "outside/file", "untouched");
		put(&place, "outside/secret", "a secret");
		put(&place, "outside/mode", "");
		assert_int_equal(chmod(in(&place, "outside/mode"), 0600), 0);
		memset(said, 0, sizeof *said);
		const pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			_exit(try_one(t, calls[i].number));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		const char *wrong = status == 0 ? judge(t) : NULL;
		if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED))
			wrong = "the child crashed";
		started += status == 0 && said->rc == 0;
		if (getenv("REFUSED_VERBOSE"))
			print_message("# %s %s: %d %d %s\n", t->name, calls[i].name, said->rc,
				      said->namespaces, said->e.msg);
		if (wrong)
			fail_msg("%s, %s refused: %s", t->name, calls[i].name, wrong);
		scratch_free(&place);
	}
	/* Not every call is needed: then there was a sandbox to be tried. On a machine without
	 * namespaces there is none that is strict. */
	assert_true(started > 0 || t->mode == SANDBOX_STRICT);
}

int main(int argc, char **argv)
{
	static const struct trial trials[] = {
		{ "workspace", SANDBOX_WORKSPACE, false },
		{ "read_only", SANDBOX_WORKSPACE, true },
		{ "strict", SANDBOX_STRICT, false },
	};
	static struct CMUnitTest tests[ARRAY_LEN(trials)];

	EXEC_MAIN(NULL)
	/* Not in /tmp, which is private in the sandbox: there would be nothing outside to be seen.
	 */
	(void)setenv("TMPDIR", "/var/tmp", 1);
	said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(trials); i++)
		tests[i] = (struct CMUnitTest){ .name = trials[i].name,
						.test_func = refused_one_by_one,
						.initial_state = (void *)&trials[i] };
	return _cmocka_run_group_tests("sandbox_refused", tests, ARRAY_LEN(tests), NULL, NULL);
}
