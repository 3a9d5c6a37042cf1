/* SPDX-License-Identifier: MIT */
/* stopped: the ioctls of a listener, process_vm_readv, pidfd_getfd and /proc. */

#include "supervise/stopped.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

/* Newer than many headers. */
enum { OF_THREAD = O_EXCL, AND_ANSWER = 1 << 1 };

enum { PAGE = 4096 };

bool stopped_is_waiting(const struct stopped_call *call)
{
	int bad;

	do
		bad = ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id);
	while (bad && errno == EINTR);
	return bad == 0;
}

static void answer(int listener, const struct seccomp_notif_resp *r)
{
	/* It fails only if the call does not wait any more, or a signal was in the way. */
	while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, r) < 0 && errno == EINTR)
		;
}

void stopped_answer(const struct stopped_call *call, int64_t value, int error)
{
	answer(call->listener, &(struct seccomp_notif_resp){
				       .id = call->id,
				       .val = error ? 0 : value,
				       .error = -error,
			       });
}

void stopped_go_on(const struct stopped_call *call)
{
	answer(call->listener, &(struct seccomp_notif_resp){
				       .id = call->id,
				       .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
			       });
}

bool stopped_receive(int listener, struct stopped_call *ret)
{
	struct seccomp_notif n = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return false;
	*ret = (struct stopped_call){
		.listener = listener,
		.id = n.id,
		.pid = (pid_t)n.pid,
		.number = n.data.nr,
	};
	for (size_t i = 0; i < ARRAY_LEN(ret->args); i++)
		ret->args[i] = n.data.args[i];
	return true;
}

/* Read a file of the caller in /proc; its length, 0 if it cannot be read. */
static size_t read_proc(const struct stopped_call *s, const char *name, char *to, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)s->pid, name);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, to, size - 1);
	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* A number in /proc/PID/status; 0 if it is not there. */
static uint64_t status_value(const char *status, const char *name, int base)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

int stopped_give(const struct stopped_call *call, int file, bool close_on_exec)
{
	struct seccomp_notif_addfd add = {
		.id = call->id,
		.flags = AND_ANSWER,
		.srcfd = (uint32_t)file,
		.newfd_flags = close_on_exec ? O_CLOEXEC : 0,
	};

	if (ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0)
		return 0;
	/* Before Linux 5.14 in two steps. */
	add.flags = 0;
	const int fd =
		errno == EINVAL ? ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) : -1;
	if (fd < 0)
		return -1;
	stopped_answer(call, fd, 0);
	return 0;
}

mode_t stopped_umask(const struct stopped_call *s)
{
	char status[PAGE];

	/* Without it nobody else gets anything. */
	if (!read_proc(s, "status", status, sizeof status) || !strstr(status, "\nUmask:"))
		return 077;
	return (mode_t)status_value(status, "\nUmask:", 8) & 0777;
}

bool stopped_is_signalled(const struct stopped_call *s)
{
	char status[PAGE];

	if (!read_proc(s, "status", status, sizeof status))
		return false;
	const uint64_t pending =
		status_value(status, "\nSigPnd:", 16) | status_value(status, "\nShdPnd:", 16);
	return pending & ~status_value(status, "\nSigBlk:", 16) &
	       status_value(status, "\nSigCgt:", 16);
}

/* Up to n bytes, as many as are mapped; page by page, because a page may be missing. */
static ssize_t read_some(const struct stopped_call *s, uint64_t address, void *to, size_t n)
{
	struct iovec remote[PATH_MAX / PAGE + 2] UNINITIALISED;
	const struct iovec local = { to, n };
	size_t count = 0, left = n;

	while (left && count < ARRAY_LEN(remote)) {
		const size_t here = PAGE - address % PAGE, take = here < left ? here : left;
		remote[count++] = (struct iovec){ (void *)(uintptr_t)address, take };
		address += take;
		left -= take;
	}
	return process_vm_readv(s->pid, &local, 1, remote, count, 0);
}

int stopped_read(const struct stopped_call *s, uint64_t address, void *to, size_t n)
{
	const ssize_t got = n ? read_some(s, address, to, n) : 0;

	if (got == (ssize_t)n)
		return 0;
	if (got >= 0)
		errno = EFAULT;
	return -1;
}

int stopped_text(const struct stopped_call *s, uint64_t address, char to[PATH_MAX])
{
	enum { MOSTLY = 256 }; /* most paths are short */
	ssize_t n = read_some(s, address, to, MOSTLY);

	if (n > 0 && !memchr(to, '\0', (size_t)n))
		n = read_some(s, address, to, PATH_MAX);
	if (n > 0 && memchr(to, '\0', (size_t)n))
		return 0;
	if (n >= 0)
		errno = n == PATH_MAX ? ENAMETOOLONG : EFAULT;
	return -1;
}

/* A descriptor for the caller, a thread if the kernel has such descriptors; before Linux 6.9 for
 * its process. */
static int open_caller(const struct stopped_call *s)
{
	char status[PAGE];
	int fd = (int)syscall(SYS_pidfd_open, s->pid, OF_THREAD);

	if (fd >= 0 || errno != EINVAL)
		return fd;
	fd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (fd >= 0 || !read_proc(s, "status", status, sizeof status))
		return fd;
	return (int)syscall(SYS_pidfd_open, (pid_t)status_value(status, "\nTgid:", 10), 0);
}

int stopped_take(const struct stopped_call *s, int fd)
{
	AUTO_FD caller = open_caller(s);

	return caller < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, caller, fd, 0);
}

int stopped_proc(const struct stopped_call *s)
{
	char name[32];

	(void)snprintf(name, sizeof name, "/proc/%d", (int)s->pid);
	return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}
