/* SPDX-License-Identifier: MIT */
/* kernel: what this kernel, and whoever configured it, lets us have. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "doctor/checks.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox.h"

/* Is the sandbox asked for by name, so that what it needs must be there? */
static bool is_needed(const struct config *c)
{
	return c->sandbox == SANDBOX_WORKSPACE || c->sandbox == SANDBOX_STRICT;
}

static void check_openat2(struct report *r)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	AUTO_FD fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);

	if (fd >= 0)
		report_add(r, FOUND_OK, "openat2", "paths are resolved by the kernel");
	else
		report_add(r, FOUND_WARN, "openat2",
			   "%s: paths are resolved by walking, which holds as well and is slower; "
			   "needs Linux 5.6, a container runtime that lets it through, and no "
			   "RestrictSUIDSGID= in the unit",
			   strerror(errno));
}

static void check_landlock(struct report *r, const struct config *c)
{
	const int abi = landlock_abi();

	if (abi >= LANDLOCK_SCOPE)
		report_add(r, FOUND_OK, "landlock", "ABI %d", abi);
	else if (abi > 0)
		report_add(r, FOUND_WARN, "landlock",
			   "ABI %d: %sold; from ABI %d (Linux 6.12) on signals and abstract "
			   "sockets are held, too",
			   abi, abi < LANDLOCK_TRUNCATE ? "very " : "", LANDLOCK_SCOPE);
	else
		report_add(r, is_needed(c) ? FOUND_FAIL : FOUND_WARN, "landlock",
			   "not there: boot with lsm=landlock,... (Linux 5.13 and later), or let "
			   "the container runtime's seccomp profile pass landlock_*");
}

static void check_seccomp(struct report *r, const struct config *c)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		report_add(r, FOUND_OK, "seccomp", "filters can be loaded");
	else
		report_add(r, is_needed(c) ? FOUND_FAIL : FOUND_WARN, "seccomp",
			   "%s: the kernel needs CONFIG_SECCOMP_FILTER", strerror(errno));
}

/* Tried in a child, whose namespaces end with it. */
static void check_namespaces(struct report *r)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0)
		report_add(r, FOUND_OK, "user namespaces", "can be made");
	else
		report_add(r, FOUND_WARN, "user namespaces",
			   "cannot be made, so commands see other processes and mounts: look at "
			   "user.max_user_namespaces, kernel.unprivileged_userns_clone and "
			   "kernel.apparmor_restrict_unprivileged_userns (sysctl)");
}

static void check_cgroup(struct report *r)
{
	char text[4096], path[PATH_MAX + 64];
	AUTO_FD fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	char *own = strstr(text, "0::/");
	if (own) {
		own[strcspn(own, "\n")] = '\0';
		(void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/cgroup.procs", own + 3);
	}
	if (own && access(path, W_OK) == 0)
		report_add(r, FOUND_OK, "cgroup", "%s is ours to divide", own + 3);
	else
		report_add(r, FOUND_OFF, "cgroup",
			   "not delegated, and not needed: process trees are ended without it "
			   "(systemd: Delegate=yes)");
}

static void check_limit(struct report *r, const char *name, int which, rlim_t enough)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) < 0)
		report_add(r, FOUND_WARN, name, "%s", strerror(errno));
	else if (limit.rlim_max == RLIM_INFINITY)
		report_add(r, FOUND_OK, name, "no limit");
	else
		report_add(r, limit.rlim_max < enough ? FOUND_WARN : FOUND_OK, name, "%llu%s",
			   (unsigned long long)limit.rlim_max,
			   limit.rlim_max < enough
				   ? ": raise it (ulimit, LimitNOFILE=, LimitNPROC=, "
				     "the runtime's --ulimit)"
				   : "");
}

void check_kernel(struct report *r, const struct config *c)
{
	check_openat2(r);
	check_landlock(r, c);
	check_seccomp(r, c);
	check_namespaces(r);
	check_cgroup(r);
	check_limit(r, "open files", RLIMIT_NOFILE, 4096);
	check_limit(r, "processes", RLIMIT_NPROC, 512);
}
