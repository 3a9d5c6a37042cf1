/* SPDX-License-Identifier: MIT */
/* namespaces: fork into them, map the user, bring up the loopback. */

#include "sandbox/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/mounts.h"

static pid_t fork_with(unsigned long flags)
{
	/* Like fork: no new stack, nothing shared, SIGCHLD at the end. All but the order of the
	 * arguments is the same on every architecture, and these are all zero. */
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static int write_file(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);
	const ssize_t n = (ssize_t)strlen(text);

	return fd >= 0 && write(fd, text, (size_t)n) == n ? 0 : -1;
}

/* In a new user namespace nobody is anybody until the user is mapped to itself. */
static int map_user(uid_t uid, gid_t gid)
{
	char text[64];

	/* Without privilege a group can be mapped only after setgroups has been given up. */
	if (write_file("/proc/self/setgroups", "deny") < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%u %u 1", uid, uid);
	if (write_file("/proc/self/uid_map", text) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%u %u 1", gid, gid);
	return write_file("/proc/self/gid_map", text);
}

pid_t namespaces_fork(bool no_network)
{
	unsigned long flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC;
	const uid_t uid = geteuid();
	const gid_t gid = getegid();

	if (no_network)
		flags |= CLONE_NEWNET;
	pid_t pid = fork_with(flags);
	if (pid >= 0 || errno != EPERM)
		return pid;
	pid = fork_with(flags | CLONE_NEWUSER);
	if (pid == 0 && map_user(uid, gid) < 0)
		_exit(1);
	return pid;
}

static void raise_loopback(void)
{
	struct ifreq r = { .ifr_flags = IFF_UP | IFF_RUNNING, .ifr_name = "lo" };
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		(void)ioctl(fd, SIOCSIFFLAGS, &r);
}

int namespaces_arrange(const struct sandbox_config *config, struct err *e)
{
	if (config->no_network)
		raise_loopback();
	return mounts_arrange(config, e);
}
