/* SPDX-License-Identifier: MIT */
/*
 * tracer: something is done in a child, which this program traces. It is ended before its n-th
 * system call, or that call fails, or something else happens at that moment.
 */
#ifndef TESTS_TRACER_H
#define TESTS_TRACER_H

#include "changes_unit.h"

#include <elf.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

/* What the child says, in memory that it shares. */
static struct {
	int rc;
	struct err e;
} * said;

/* A file system that has no nameless files and cannot exchange two names. */
static inline bool be_poor(void)
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

__attribute__((noreturn)) static inline void skip_child(const char *why)
{
	print_message("SKIP: %s\n", why);
	(void)fflush(NULL);
	_exit(SKIPPED);
}

enum outcome { OUTCOME_END, OUTCOME_KILLED, OUTCOME_FAILED };

/* What happens to the child. */
struct fate {
	int (*act)(struct world *, struct err *); /* what it does */
	unsigned how;
	int n;				 /* at its n-th call that has to do with files … */
	uint64_t call;			 /* or, if this is given, the first of this number … */
	int error;			 /* … the call fails; 0: it is killed … */
	void (*disturb)(struct world *); /* … or this is done before it */
	int again;			 /* after it, the so-manieth call fails as well; 0: none */
	uint64_t number;		 /* which call it was */
};

/* The child: it is traced from here on. */
static inline void work(struct world *w, const struct fate *f)
{
	const unsigned how = f->how;
	struct err e = { .code = ERR_NONE };

	if (how & WITH_JOURNAL)
		open_journal(w);
	if (how & POOR && !be_poor())
		skip_child("no system-call filter can be set here");
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		skip_child("no process can be traced here");
	(void)raise(SIGSTOP);
	said->rc = f->act(w, &e);
	said->e = e;
	_exit(0);
}

#if defined __x86_64__
static inline void set_call(pid_t pid, long number)
{
	(void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), number);
}

static inline void set_answer(pid_t pid, long answer)
{
	(void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), answer);
}
#elif defined __aarch64__
static inline void set_call(pid_t pid, long number)
{
	int n = (int)number;
	struct iovec io = { &n, sizeof n };

	(void)ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &io);
}

static inline void set_answer(pid_t pid, long answer)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof regs };

	(void)ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io);
	regs.regs[0] = (unsigned long)answer;
	(void)ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &io);
}
#endif

/* Calls that have nothing to do with files: the program itself needs them. */
static inline bool is_of_files(uint64_t number)
{
	static const uint64_t others[] = {
		SYS_mmap,   SYS_munmap,		SYS_mprotect,	SYS_brk,       SYS_exit_group,
		SYS_futex,  SYS_rt_sigprocmask, SYS_madvise,	SYS_getrandom, SYS_close,
		SYS_gettid, SYS_getpid,		SYS_sigaltstack
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (number == others[i])
			return false;
	return true;
}

/* Start the child, and stop it before its work. */
static inline pid_t begin(struct world *w, const struct fate *f)
{
	int status;
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		work(w, f);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_true(WIFSTOPPED(status));
	assert_int_equal(
		ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	return pid;
}

/* Let it run to the beginning or end of its next call; false if it has ended. */
static inline bool go_on(pid_t pid, struct __ptrace_syscall_info *info)
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

static inline enum outcome trace(struct world *w, struct fate *f)
{
	const pid_t pid = begin(w, f);
	struct __ptrace_syscall_info info;
	int seen = 0, since = 0, status;
	bool failing = false, met = false;

	while (go_on(pid, &info)) {
		if (failing && info.op == PTRACE_SYSCALL_INFO_EXIT) {
			set_answer(pid, since ? -EIO : -f->error);
			failing = false;
		}
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_of_files(info.entry.nr))
			continue;
		if (met && ++since == f->again) {
			set_call(pid, -1);
			failing = true;
		}
		if (met)
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

/* For main, before all tests. */
static inline void trace_begin(void)
{
	said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(said != MAP_FAILED);
}

#endif
