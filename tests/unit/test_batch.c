/* SPDX-License-Identifier: MIT */
/*
 * Several files change together, or none does: when the process is killed at any of its system
 * calls, and when any one of these fails.
 *
 * A child changes the files; this program traces it. It is ended before its n-th call, for each n;
 * or that call fails, for some reasons. Then the tree is what it was, to the last time and
 * attribute, or what it was to become.
 */

#include "changes_unit.h"

#include <elf.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "changes/batch.h"

/* What the child says, in memory that it shares. */
static struct {
	int rc;
	struct err e;
} * said;

static const struct {
	const char *path, *old, *new;
	unsigned mode;
} plan[] = {
	{ "a", "old a\n", "new a\n", 0 },
	{ "d/sub/gone", "old\n", NULL, 0 },
	{ "gone", "old\n", NULL, 0 },
	{ "linked", "old linked\n", "new and longer\n", 0 },
	{ "m", "old m\n", "new m\n", 0100755 },
	{ "n/e/w", NULL, "made\n", 0 },
	{ "x/new", NULL, "made too\n", 0100755 },
	{ "z", "old z\n", "new z\n", 0 },
};

static void fill(const struct world *w)
{
	static const char *const dirs[] = { "ws/d", "ws/d/sub", "ws/x" };
	char name[64];

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		put_dir(&w->s, dirs[i]);
	for (size_t i = 0; i < ARRAY_LEN(plan); i++) {
		(void)snprintf(name, sizeof name, "ws/%s", plan[i].path);
		if (plan[i].old)
			put(&w->s, name, plan[i].old);
	}
	assert_int_equal(link(in(&w->s, "ws/linked"), in(&w->s, "ws/x/other")), 0);
	assert_int_equal(chmod(in(&w->s, "ws/m"), 0640), 0);
	(void)setxattr(in(&w->s, "ws/z"), "user.test", "kept", 4, 0);
}

static int apply(struct world *w, struct err *e)
{
	struct swap_file files[ARRAY_LEN(plan)];
	struct path paths[ARRAY_LEN(plan)];
	struct change made;

	for (size_t i = 0; i < ARRAY_LEN(plan); i++) {
		struct swap_file *f = &files[i];
		*f = (struct swap_file){ .path = &paths[i],
					 .shown = str_of(plan[i].path),
					 .was = plan[i].old,
					 .stays = plan[i].new,
					 .mode = plan[i].mode };
		f->old = str_of(plan[i].old ? plan[i].old : "");
		f->new = str_of(plan[i].new ? plan[i].new : "");
		paths[i] = (struct path){ .base = PATH_WORKSPACE };
		(void)snprintf(paths[i].name, sizeof paths[i].name, "%s", plan[i].path);
		(void)fstatat(w->dir, plan[i].path, &f->st, AT_SYMLINK_NOFOLLOW);
	}
	struct batch b = { .ws = w->ws,
			   .journal = w->j,
			   .about = { .tool = STR("test") },
			   .prune = true,
			   .files = files,
			   .count = ARRAY_LEN(plan) };
	return batch_apply(&b, &w->a, &made, e);
}

/* Whether every file is the new one. */
static bool is_new(const struct world *w)
{
	char name[64];
	struct stat st;
	bool all = true;

	for (size_t i = 0; i < ARRAY_LEN(plan); i++) {
		(void)snprintf(name, sizeof name, "ws/%s", plan[i].path);
		const char *now = get(&w->s, name);
		all &= strcmp(now, plan[i].new ? plan[i].new : "(none)") == 0;
	}
	return all && strcmp(get(&w->s, "ws/x/other"), "new and longer\n") == 0 &&
	       stat(in(&w->s, "ws/m"), &st) == 0 && (st.st_mode & 0777) == 0750;
}

/* Whether nothing else is there. */
static bool is_tidy(const struct world *w)
{
	struct stat st;

	return stat(in(&w->s, "ws/d"), &st) < 0 && count_entries(w->root, ".sidecar-") == 0 &&
	       count_entries(in(&w->s, "ws/x"), ".sidecar-") == 0;
}

/* A file system that has no nameless files and cannot exchange two names. */
static bool be_poor(void)
{
	const scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	const bool poor =
		f &&
		seccomp_rule_add(f, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(openat), 1,
				 SCMP_A2(SCMP_CMP_MASKED_EQ, O_TMPFILE, O_TMPFILE)) == 0 &&
		seccomp_rule_add(f, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(renameat2), 1,
				 SCMP_A4(SCMP_CMP_MASKED_EQ, RENAME_EXCHANGE, RENAME_EXCHANGE)) ==
			0 &&
		seccomp_load(f) == 0;

	seccomp_release(f);
	return poor;
}

enum { WITH_JOURNAL = 1, POOR = 2 };

/* The child: it is traced from here on. */
static void work(struct world *w, unsigned how)
{
	struct err e = { .code = ERR_NONE };

	if (how & WITH_JOURNAL)
		open_journal(w);
	if (how & POOR && !be_poor())
		_exit(SKIPPED);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		_exit(SKIPPED);
	(void)raise(SIGSTOP);
	said->rc = apply(w, &e);
	said->e = e;
	_exit(0);
}

#if defined __x86_64__
static void set_call(pid_t pid, long number)
{
	(void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), number);
}

static void set_answer(pid_t pid, long answer)
{
	(void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), answer);
}
#elif defined __aarch64__
static void set_call(pid_t pid, long number)
{
	int n = (int)number;
	struct iovec io = { &n, sizeof n };

	(void)ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &io);
}

static void set_answer(pid_t pid, long answer)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof regs };

	(void)ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io);
	regs.regs[0] = (unsigned long)answer;
	(void)ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &io);
}
#endif

/* Calls that have nothing to do with files: the program itself needs them. */
static bool is_of_files(uint64_t number)
{
	static const uint64_t others[] = {
		SYS_mmap,	SYS_munmap, SYS_mprotect,	SYS_brk,
		SYS_exit_group, SYS_futex,  SYS_rt_sigprocmask, SYS_madvise,
		SYS_getrandom,	SYS_close,  SYS_gettid,		SYS_getpid
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (number == others[i])
			return false;
	return true;
}

enum outcome { OUTCOME_END, OUTCOME_KILLED, OUTCOME_FAILED };

/* Let the child run to its n-th call that has to do with files. Then it is killed (error 0), or the
 * call fails. */
static enum outcome trace(struct world *w, unsigned how, int n, int error, uint64_t *number)
{
	struct __ptrace_syscall_info info;
	int status, seen = 0;
	bool failing = false, failed = false;
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		work(w, how);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_true(WIFSTOPPED(status));
	assert_int_equal(
		ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	for (;;) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return failed ? OUTCOME_FAILED : OUTCOME_END;
		}
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			fail_msg("the child got signal %d", WSTOPSIG(status));
		assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0);
		if (failing && info.op == PTRACE_SYSCALL_INFO_EXIT) {
			set_answer(pid, -error);
			failing = false;
			failed = true;
		}
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_of_files(info.entry.nr) ||
		    seen++ != n)
			continue;
		*number = info.entry.nr;
		if (!error) {
			(void)kill(pid, SIGKILL);
			assert_int_equal(waitpid(pid, &status, 0), pid);
			return OUTCOME_KILLED;
		}
		set_call(pid, -1);
		failing = true;
	}
}

/* A world without a journal: the child opens it. */
static struct world new_world(void)
{
	struct world w = world_new();

	journal_free(w.j);
	w.j = NULL;
	fill(&w);
	return w;
}

/* Each takes some ten milliseconds. Without BATCH_EVERY_CALL, only every so many are tried. */
static int step(int n)
{
	return getenv("BATCH_EVERY_CALL") ? 1 : SANITIZED ? 7 : n;
}

static void kill_at_each_call(unsigned how, int every)
{
	bool ended = false;
	int n = 0, olds = 0;

	for (; !ended; n += step(every)) {
		struct world w = new_world();
		char *old = describe(&w);
		uint64_t number = 0;
		ended = trace(&w, WITH_JOURNAL | how, n, 0, &number) == OUTCOME_END;
		open_journal(&w);
		(void)recording_recover(w.j);
		if (!is_new(&w)) {
			char what[80];
			(void)snprintf(what, sizeof what, "killed before call %d (%llu)", n,
				       (unsigned long long)number);
			assert_false(ended);
			assert_tree(&w, old, what);
			olds++;
		} else {
			assert_true(is_tidy(&w));
		}
		free(old);
		world_free(&w);
	}
	assert_true(n > 60 && olds > 60 / step(every) - 3);
}

static void killed_at_each_call(void **state)
{
	(void)state;
	kill_at_each_call(0, 1);
}

static void killed_on_a_poor_file_system(void **state)
{
	(void)state;
	kill_at_each_call(POOR, 3);
}

/* What a failure may leave: other times of directories, because files were made in them. */
static void drop_times(char *text)
{
	bool is_dir = false;
	char *to = text;

	for (char *line = text; *line;) {
		char *end = strchr(line, '\n');
		const int length = (int)(end - line);
		is_dir = strncmp(line, "root ", 5) == 0 || memmem(line, (size_t)length, " 40", 3);
		char *cut = is_dir ? memrchr(line, ' ', (size_t)length) : NULL;
		const size_t keep = (size_t)((cut ? cut : end) - line);
		memmove(to, line, keep);
		to += keep;
		*to++ = '\n';
		line = end + 1;
	}
	*to = '\0';
}

static void fail_each_call(unsigned how, int every)
{
	static const int errors[] = { EIO, ENOSPC, EPERM, ENOENT, EINVAL };
	bool ended = false;

	for (int n = 0; !ended; n += step(every)) {
		struct world w = new_world();
		char *old = describe(&w);
		uint64_t number = 0;
		const int error = errors[(size_t)n % ARRAY_LEN(errors)];
		ended = trace(&w, how, n, error, &number) == OUTCOME_END;
		char *now = describe(&w);
		drop_times(old);
		drop_times(now);
		if (said->rc == 0 ? !is_new(&w) : strcmp(old, now) != 0)
			fail_msg("call %d (%llu) failed with %s: %d %s\n%s%s", n,
				 (unsigned long long)number, strerror(error), said->rc, said->e.msg,
				 old, now);
		if (said->rc < 0 && !strstr(said->e.msg, "Nothing was changed."))
			fail_msg("%s", said->e.msg);
		free(old);
		free(now);
		world_free(&w);
	}
}

static void failing_at_each_call(void **state)
{
	(void)state;
	fail_each_call(WITH_JOURNAL, 2);
}

static void failing_without_journal(void **state)
{
	(void)state;
	fail_each_call(0, 5);
}

static void failing_on_a_poor_file_system(void **state)
{
	(void)state;
	fail_each_call(POOR, 5);
}

/* One change, which undo takes back, and back again. */
static void undone(void **state)
{
	struct world w = new_world();
	char *old = describe(&w);
	struct err e;

	(void)state;
	open_journal(&w);
	assert_int_equal(apply(&w, &e), 0);
	assert_true(is_new(&w) && is_tidy(&w));
	const uint64_t back = undo(&w, 1);
	assert_tree(&w, old, "undone");
	(void)undo(&w, back);
	assert_true(is_new(&w));
	free(old);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undone),
		cmocka_unit_test(killed_at_each_call),
		cmocka_unit_test(killed_on_a_poor_file_system),
		cmocka_unit_test(failing_at_each_call),
		cmocka_unit_test(failing_without_journal),
		cmocka_unit_test(failing_on_a_poor_file_system),
	};

	said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(said != MAP_FAILED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
