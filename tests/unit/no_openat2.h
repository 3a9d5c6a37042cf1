/* SPDX-License-Identifier: MIT */
/* no_openat2: groups of tests run over both resolvers, and under a filter that hides openat2. */
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

/*
 * Call run(resolver) for each of the three: openat2, the walk by setting, the walk because openat2
 * is hidden (in a forked child, as a filter cannot be taken off). Returns the number of failures.
 */
static inline int over_all_resolvers(int (*run)(enum resolver))
{
	int status = 0;
	(void)fflush(NULL);
	const pid_t pid = fork();

	if (pid == 0) {
		if (!hide_openat2() || kernel_has_openat2()) {
			print_message("[  SKIPPED ] hidden openat2: seccomp is not permitted\n");
			exit(0);
		}
		exit(run(RESOLVER_HIDDEN));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	int failed = WEXITSTATUS(status) + run(RESOLVER_WALK);
	if (kernel_has_openat2())
		return failed + run(RESOLVER_KERNEL);
	print_message("[  SKIPPED ] openat2: this kernel has none\n");
	return failed;
}

#endif
