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

__attribute__((noreturn)) static void skip_child(const char *why)
{
	print_message("SKIP: %s\n", why);
	(void)fflush(NULL);
	_exit(SKIPPED);
}

/* The child: it is traced from here on. */
static void work(struct world *w, unsigned how)
{
	struct err e = { .code = ERR_NONE };

	if (how & WITH_JOURNAL)
		open_journal(w);
	if (how & POOR && !be_poor())
		skip_child("no system-call filter can be set here");
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		skip_child("no process can be traced here");
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

/* What happens to the child. */
struct fate {
	unsigned how;
	int n;				 /* at its n-th call that has to do with files … */
	uint64_t call;			 /* or, if this is given, the first of this number … */
	int error;			 /* … the call fails; 0: it is killed … */
	void (*disturb)(struct world *); /* … or this is done before it */
	uint64_t number;		 /* which call it was */
};

/* Start the child, and stop it before its work. */
static pid_t begin(struct world *w, unsigned how)
{
	int status;
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
	return pid;
}

/* Let it run to the beginning or end of its next call; false if it has ended. */
static bool go_on(pid_t pid, struct __ptrace_syscall_info *info)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_true(WIFSTOPPED(status));
	if (WSTOPSIG(status) != (SIGTRAP | 0x80))
		fail_msg("the child got signal %d", WSTOPSIG(status));
	assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof *info, info) > 0);
	return true;
}

static enum outcome trace(struct world *w, struct fate *f)
{
	const pid_t pid = begin(w, f->how);
	struct __ptrace_syscall_info info;
	int seen = 0, status;
	bool failing = false, met = false;

	while (go_on(pid, &info)) {
		if (failing && info.op == PTRACE_SYSCALL_INFO_EXIT) {
			set_answer(pid, -f->error);
			failing = false;
		}
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_of_files(info.entry.nr) || met)
			continue;
		met = f->call ? info.entry.nr == f->call : seen++ == f->n;
		if (!met)
			continue;
		f->number = info.entry.nr;
		if (f->disturb) {
			f->disturb(w);
		} else if (f->error) {
			set_call(pid, -1);
			failing = true;
		} else {
			(void)kill(pid, SIGKILL);
			assert_int_equal(waitpid(pid, &status, 0), pid);
			return OUTCOME_KILLED;
		}
	}
	return met ? OUTCOME_FAILED : OUTCOME_END;
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
		struct fate fate = { .how = WITH_JOURNAL | how, .n = n };
		ended = trace(&w, &fate) == OUTCOME_END;
		open_journal(&w);
		(void)recording_recover(w.j);
		if (!is_new(&w)) {
			char what[80];
			(void)snprintf(what, sizeof what, "killed before call %d (%llu)", n,
				       (unsigned long long)fate.number);
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

/* Leave out the times of directories, which a failure may leave, or all times. */
static void drop_times(char *text, bool all)
{
	char *to = text;

	for (char *line = text; *line;) {
		char *end = strchr(line, '\n');
		const size_t length = (size_t)(end - line);
		const bool is_root = strncmp(line, "root ", 5) == 0;
		const bool is_dir = is_root || memmem(line, length, " 40", 3);
		char *time = is_root ? line + 4 : strchr(line, ' ');
		for (int i = 0; !is_root && i < 2; i++)
			time = strchr(time + 1, ' ');
		char *rest = memchr(time + 1, ' ', (size_t)(end - time - 1));
		rest = rest ? rest : end;
		const size_t before = (size_t)((is_dir || all ? time : rest) - line);
		memmove(to, line, before);
		to += before;
		memmove(to, rest, (size_t)(end + 1 - rest));
		to += end + 1 - rest;
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
		const int error = errors[(size_t)n % ARRAY_LEN(errors)];
		struct fate fate = { .how = how, .n = n, .error = error };
		ended = trace(&w, &fate) == OUTCOME_END;
		char *now = describe(&w);
		drop_times(old, false);
		drop_times(now, false);
		if (said->rc == 0 ? !is_new(&w) : strcmp(old, now) != 0)
			fail_msg("call %d (%llu) failed with %s: %d %s\n%s%s", n,
				 (unsigned long long)fate.number, strerror(error), said->rc,
				 said->e.msg, old, now);
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

static void swap_for_link(struct world *w)
{
	assert_int_equal(unlinkat(w->dir, "a", 0), 0);
	assert_int_equal(symlinkat("z", w->dir, "a"), 0);
}

static void swap_for_dir(struct world *w)
{
	assert_int_equal(unlinkat(w->dir, "a", 0), 0);
	assert_int_equal(mkdirat(w->dir, "a", 0755), 0);
}

static void swap_for_file(struct world *w)
{
	put(&w->s, "ws/theirs", "theirs\n");
	assert_int_equal(renameat(w->dir, "theirs", w->dir, "a"), 0);
}

static void write_to_it(struct world *w)
{
	put(&w->s, "ws/a", "theirs, longer\n");
}

static void take_away(struct world *w)
{
	assert_int_equal(unlinkat(w->dir, "a", 0), 0);
}

static void swap_removed(struct world *w)
{
	put(&w->s, "ws/theirs", "theirs\n");
	assert_int_equal(renameat(w->dir, "theirs", w->dir, "gone"), 0);
}

static void make_first(struct world *w)
{
	put(&w->s, "ws/x/new", "theirs\n");
}

/* Others change a file in the last moment, before the call that would replace, remove or make it:
 * what they did stays, and nothing else changes. */
static void disturbed_at_the_last_moment(void **state)
{
	static const struct {
		const char *name;
		uint64_t call;
		void (*disturb)(struct world *);
	} rows[] = {
		{ "link", SYS_renameat2, swap_for_link }, { "dir", SYS_renameat2, swap_for_dir },
		{ "file", SYS_renameat2, swap_for_file }, { "write", SYS_renameat2, write_to_it },
		{ "nothing", SYS_renameat2, take_away },  { "removed", SYS_renameat, swap_removed },
		{ "made", SYS_linkat, make_first },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (unsigned how = 0; how <= WITH_JOURNAL; how++) {
			struct world w = new_world(), other = new_world();
			struct fate fate = { how, .call = rows[i].call,
					     .disturb = rows[i].disturb };
			assert_int_equal(trace(&w, &fate), OUTCOME_FAILED);
			rows[i].disturb(&other);
			char *now = describe(&w), *expected = describe(&other);
			drop_times(now, true);
			drop_times(expected, true);
			if (said->rc == 0 || said->e.code != ERR_FILE_CHANGED ||
			    !strstr(said->e.msg, "Nothing was changed.") || strcmp(now, expected))
				fail_msg("%s: %d %s\n%s%s", rows[i].name, said->rc, said->e.msg,
					 expected, now);
			free(now);
			free(expected);
			world_free(&w);
			world_free(&other);
		}
	}
}

/* Others change the file at any moment: if that is too early, the error says so and nothing else,
 * and what they made stays. */
static void disturbed_at_each_call(void **state)
{
	static void (*const kinds[])(struct world *) = { swap_for_file, swap_for_link, swap_for_dir,
							 write_to_it, take_away };
	enum outcome outcome = OUTCOME_FAILED;
	size_t kind = 0;
	int refused = 0;

	(void)state;
	for (int n = 0; kind < ARRAY_LEN(kinds); n += step(5)) {
		struct world w = new_world();
		struct fate fate = { WITH_JOURNAL, .n = n, .disturb = kinds[kind] };
		outcome = trace(&w, &fate);
		if (said->rc < 0) {
			struct world other = new_world();
			kinds[kind](&other);
			char *now = describe(&w), *expected = describe(&other);
			drop_times(now, true);
			drop_times(expected, true);
			if (said->e.code != ERR_FILE_CHANGED || strcmp(now, expected) ||
			    !strstr(said->e.msg, "Nothing was changed."))
				fail_msg("%zu before call %d (%llu): %s\n%s%s", kind, n,
					 (unsigned long long)fate.number, said->e.msg, expected,
					 now);
			free(now);
			free(expected);
			world_free(&other);
			refused++;
		}
		/* Each kind begins at another call, so that together they meet all of them. */
		if (outcome == OUTCOME_END)
			n = (int)++kind - step(5);
		world_free(&w);
	}
	assert_true(refused > 50 / step(5));
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
		cmocka_unit_test(disturbed_at_the_last_moment),
		cmocka_unit_test(disturbed_at_each_call),
		cmocka_unit_test(failing_at_each_call),
		cmocka_unit_test(failing_without_journal),
		cmocka_unit_test(failing_on_a_poor_file_system),
	};

	said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(said != MAP_FAILED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
