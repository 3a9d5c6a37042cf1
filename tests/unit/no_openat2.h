/* SPDX-License-Identifier: MIT */
/* no_openat2: tests that run with each way to resolve a path, one of them under a filter that hides
 * openat2. */
#ifndef TESTS_NO_OPENAT2_H
#define TESTS_NO_OPENAT2_H

#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/own.h"
#include "scratch.h"

/* Whether the kernel has openat2, found out without the code under test. */
static inline bool kernel_has_openat2(void)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	const int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/* From now on openat2 answers ENOSYS, in this process and its children. */
static inline bool hide_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = ARRAY_LEN(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

enum resolver { RESOLVER_KERNEL, RESOLVER_WALK, RESOLVER_HIDDEN };

/* Whether run(resolver) may be called here; says on a line of TAP why not. */
static inline bool resolver_is_there(enum resolver resolver)
{
	if (resolver == RESOLVER_KERNEL && !kernel_has_openat2())
		print_message("1..0 # SKIP this kernel has no openat2\n");
	else if (resolver == RESOLVER_HIDDEN && (!hide_openat2() || kernel_has_openat2()))
		print_message("1..0 # SKIP no system-call filter can be set here\n");
	else
		return true;
	return false;
}

/*
 * main() of a program that has tests for each way to resolve a path: "kernel" is openat2, "walk"
 * the walk by setting, "hidden" the walk because openat2 is hidden. Without an argument all of
 * them, each in a child, as a filter cannot be taken off again.
 */
static inline int resolver_main(int argc, char **argv, int (*run)(enum resolver))
{
	static const char *const names[] = { "kernel", "walk", "hidden" };
	int failed = 0;

	for (enum resolver r = RESOLVER_KERNEL; r <= RESOLVER_HIDDEN; r++) {
		if (argc == 2 && strcmp(argv[1], names[r]) == 0)
			return resolver_is_there(r) ? run(r) : 0;
		int status = 0;
		(void)fflush(NULL);
		const pid_t pid = argc == 1 ? fork() : -1;
		if (pid == 0)
			exit(resolver_is_there(r) ? run(r) : 0);
		failed += pid > 0 && waitpid(pid, &status, 0) == pid && status != 0;
	}
	return argc == 1 ? failed : 2;
}

#endif
