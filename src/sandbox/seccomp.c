/* SPDX-License-Identifier: MIT */
/* seccomp: the filter's table and its translation by libseccomp. */

#include "sandbox/steps.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own.h"

/* Newer than many versions of libseccomp; new calls have the same number on every architecture. */
enum { OPEN_TREE_ATTR = 467 };

static const int refused[] = {
	/* mounts and namespaces: the sandbox is made of them */
	SCMP_SYS(mount),
	SCMP_SYS(umount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(open_tree),
	SCMP_SYS(move_mount),
	SCMP_SYS(fsopen),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fspick),
	SCMP_SYS(mount_setattr),
	OPEN_TREE_ATTR,
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	/* other processes' memory and descriptors */
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(kcmp),
	/* large interfaces to the kernel that are not bound by the file rules */
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(fanotify_init),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(lookup_dcookie),
	/* keyrings are shared by all processes of a user */
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(keyctl),
	/* the machine itself */
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(reboot),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(acct),
	SCMP_SYS(quotactl),
	SCMP_SYS(iopl),
	SCMP_SYS(ioperm),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(vhangup),
	SCMP_SYS(syslog),
};

/* Typing into a terminal, and other requests to the console. */
static const unsigned long terminal_requests[] = { TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS };

static const unsigned long namespace_flags[] = {
	CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
	CLONE_NEWUSER, CLONE_NEWPID,	CLONE_NEWNET,
};

static const uint32_t eperm = SCMP_ACT_ERRNO(EPERM);

/* Refuse a call if its argument, an int, has that value in the bits of mask. */
static int refuse_value(scmp_filter_ctx f, int call, unsigned arg, unsigned mask, unsigned value)
{
	/* The kernel looks at the low 32 bits of such an argument, so the filter must, too. */
	const struct scmp_arg_cmp cmp = { arg, SCMP_CMP_MASKED_EQ, mask, value };

	return seccomp_rule_add_array(f, eperm, call, 1, &cmp);
}

/* Refuse a call whose family is not in the set, by bits of their numbers. */
static int refuse_families(scmp_filter_ctx f, int call, uint64_t allowed)
{
	int bad = 0;

	/* Families are small numbers; above them single bits are tested, so that no other value
	 * passes. */
	for (unsigned family = 0; family < 64; family++)
		if (!(allowed >> family & 1))
			bad |= refuse_value(f, call, 0, ~0U, family);
	for (unsigned bit = 6; bit < 32; bit++)
		bad |= refuse_value(f, call, 0, 1U << bit, 1U << bit);
	return bad;
}

/* Of netlink only what C libraries ask for interfaces, addresses and routes; to change these needs
 * a capability. Other protocols lead into many parts of the kernel, or to other programs. To those
 * who try them it is as if the kernel had none. */
static int refuse_netlink(scmp_filter_ctx f)
{
	const struct scmp_arg_cmp other[] = { { 0, SCMP_CMP_MASKED_EQ, ~0U, AF_NETLINK },
					      { 2, SCMP_CMP_NE, NETLINK_ROUTE, 0 } };

	return seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket),
				      ARRAY_LEN(other), other);
}

static int refuse_sockets(scmp_filter_ctx f, unsigned flags)
{
	const uint64_t internet = 1ULL << AF_INET | 1ULL << AF_INET6;
	const uint64_t local = 1ULL << AF_UNIX;
	int bad =
		refuse_families(f, SCMP_SYS(socket),
				1ULL << AF_NETLINK | (flags & SECCOMP_NO_INTERNET ? 0 : internet) |
					(flags & SECCOMP_NO_UNIX ? 0 : local));

	bad |= refuse_families(f, SCMP_SYS(socketpair), local);
	bad |= refuse_netlink(f);
	/* One end of a datagram pair can send to any address; a stream only to its other end.
	 * For a local socket SOCK_RAW means SOCK_DGRAM to the kernel. */
	if (flags & SECCOMP_NO_UNIX) {
		bad |= refuse_value(f, SCMP_SYS(socketpair), 1, 0xf, SOCK_DGRAM);
		bad |= refuse_value(f, SCMP_SYS(socketpair), 1, 0xf, SOCK_RAW);
	}
	return bad;
}

/* Refuse to connect by sending: only `connect` is looked at. The answer is that of a kernel on
 * which it is turned off. */
static int refuse_fast_open(scmp_filter_ctx f)
{
	static const struct {
		int call;
		unsigned flags;
	} sends[] = { { SCMP_SYS(sendto), 3 },
		      { SCMP_SYS(sendmsg), 2 },
		      { SCMP_SYS(sendmmsg), 3 } };
	int bad = 0;

	for (size_t i = 0; i < ARRAY_LEN(sends); i++) {
		const struct scmp_arg_cmp cmp = { sends[i].flags, SCMP_CMP_MASKED_EQ, MSG_FASTOPEN,
						  MSG_FASTOPEN };
		bad |= seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EOPNOTSUPP), sends[i].call, 1,
					      &cmp);
	}
	return bad;
}

/* Refuse to change the priority of the spawner, into which this filter is loaded: every later
 * command would inherit it. A command may change its own priority and that of other processes. */
static int refuse_priorities(scmp_filter_ctx f)
{
	static const int by_pid[] = { SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_setscheduler),
				      SCMP_SYS(sched_setparam), SCMP_SYS(sched_setattr) };
	enum { IOPRIO_WHO_USER = 3 };
	/* In a separate namespace the spawner's group has no number, and 0 means the caller's. */
	const pid_t who[] = { getpid(), getpgrp() };
	int bad = 0;

	for (size_t i = 0; i < ARRAY_LEN(by_pid); i++)
		bad |= refuse_value(f, by_pid[i], 0, ~0U, (unsigned)getpid());
	for (size_t i = 0; i < ARRAY_LEN(who) && who[i] > 0; i++) {
		bad |= refuse_value(f, SCMP_SYS(setpriority), 1, ~0U, (unsigned)who[i]);
		bad |= refuse_value(f, SCMP_SYS(ioprio_set), 1, ~0U, (unsigned)who[i]);
	}
	bad |= refuse_value(f, SCMP_SYS(setpriority), 0, ~0U, PRIO_USER);
	return bad | refuse_value(f, SCMP_SYS(ioprio_set), 0, ~0U, IOPRIO_WHO_USER);
}

static int fill(scmp_filter_ctx f, unsigned flags)
{
	int bad = 0;

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		/* A call that this architecture does not have cannot be made either. */
		const int r = refused[i] == __NR_SCMP_ERROR
				      ? 0
				      : seccomp_rule_add(f, eperm, refused[i], 0);
		bad |= r != -EDOM ? r : 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(terminal_requests); i++)
		bad |= refuse_value(f, SCMP_SYS(ioctl), 1, ~0U, (unsigned)terminal_requests[i]);
	for (size_t i = 0; i < ARRAY_LEN(namespace_flags); i++)
		bad |= refuse_value(f, SCMP_SYS(clone), 0, (unsigned)namespace_flags[i],
				    (unsigned)namespace_flags[i]);
	/* Only the caller's own limits: those of the server or spawner are a way to end it. */
	const struct scmp_arg_cmp other = { 0, SCMP_CMP_NE, 0, 0 };
	bad |= seccomp_rule_add_array(f, eperm, SCMP_SYS(prlimit64), 1, &other);
	/* A filter cannot read its flags, which are in memory; C libraries fall back to clone. */
	bad |= seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return bad | refuse_priorities(f) | refuse_sockets(f, flags) | refuse_fast_open(f);
}

int seccomp_load_filter(unsigned flags, struct err *e)
{
	const scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);

	if (!f)
		return err_set(e, ERR_SPAWN_FAILED, "There is no memory for the sandbox's filter");
	int bad = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	/* A tree instead of a list: fewer comparisons for each call that a command makes. */
	(void)seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	bad |= fill(f, flags);
	if (!bad)
		bad = seccomp_load(f);
	seccomp_release(f);
	if (bad)
		return err_set(e, ERR_SPAWN_FAILED,
			       "The kernel does not take the sandbox's system-call filter; set "
			       "SIDECAR_SANDBOX=off to run commands without a sandbox");
	return 0;
}
