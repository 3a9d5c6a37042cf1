/* SPDX-License-Identifier: MIT */
/* listener: the list of calls, as a program for the kernel. */

#include "supervise/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

/* Newer than many headers; new calls have the same number on every architecture. */
enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466, FILE_SETATTR = 469 };

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Calls that can change a file in a way that file rules know. */
static const uint16_t ruled[] = {
#ifdef SYS_rename
	SYS_creat,    SYS_rename,   SYS_unlink,	   SYS_rmdir,	 SYS_mkdir,
	SYS_mknod,    SYS_link,	    SYS_symlink,
#endif
#ifdef SYS_renameat
	SYS_renameat,
#endif
	SYS_openat2,  SYS_truncate, SYS_renameat2, SYS_unlinkat, SYS_mkdirat,
	SYS_mknodat,  SYS_linkat,   SYS_symlinkat, SYS_bind,
};

static const uint16_t unruled[] = {
#ifdef SYS_chmod
	SYS_chmod,	  SYS_chown,  SYS_lchown,    SYS_utime,	    SYS_utimes,	   SYS_futimesat,
#endif
	SYS_fchmodat,	  FCHMODAT2,  SYS_fchownat,  SYS_setxattr,  SYS_lsetxattr, SYS_removexattr,
	SYS_lremovexattr, SETXATTRAT, REMOVEXATTRAT, SYS_utimensat, FILE_SETATTR,
};

static const uint16_t refused[] = {
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_open_by_handle_at,
};

/* The flags with which an open may change something. */
enum { CHANGING = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY) };

enum { MOST = 2 * (ARRAY_LEN(ruled) + ARRAY_LEN(unruled) + ARRAY_LEN(refused)) + 64 };

struct program {
	struct sock_filter code[MOST];
	unsigned short n;
};

static void add(struct program *p, struct sock_filter one)
{
	p->code[p->n++] = one;
}

static void load(struct program *p, size_t offset)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct program *p, uint32_t action)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* If it is that call: the answer. */
static void answer_call(struct program *p, uint32_t number, uint32_t action)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
	answer(p, action);
}

static void answer_calls(struct program *p, const uint16_t *numbers, size_t count, uint32_t action)
{
	for (size_t i = 0; i < count; i++)
		answer_call(p, numbers[i], action);
}

/* If it is that call: stop it if it has one of these flags. */
static void answer_open(struct program *p, uint32_t number, unsigned argument, uint32_t flags)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4));
	load(p, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1));
	answer(p, SECCOMP_RET_USER_NOTIF);
	answer(p, SECCOMP_RET_ALLOW);
}

#ifdef THIS_ARCHITECTURE

static size_t low_half(unsigned argument)
{
	return offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
}

/* If it is that call, for Unix sockets that can send to any address: stop it. For them SOCK_RAW
 * means SOCK_DGRAM. */
static void answer_datagrams(struct program *p, uint32_t number)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 8));
	load(p, low_half(0));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 5));
	load(p, low_half(1));
	add(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 1, 0));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_RAW, 0, 1));
	answer(p, SECCOMP_RET_USER_NOTIF);
	answer(p, SECCOMP_RET_ALLOW);
}

/* If it makes an Internet socket: stop it. */
static void answer_internet(struct program *p)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5));
	load(p, low_half(0));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1));
	answer(p, SECCOMP_RET_USER_NOTIF);
	load(p, offsetof(struct seccomp_data, nr));
}

/* If it is that call: stop it, unless that argument is a null pointer. */
static void answer_pointer(struct program *p, uint32_t number, unsigned argument)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 6));
	load(p, low_half(argument));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2));
	load(p, low_half(argument) + sizeof(uint32_t));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
	answer(p, SECCOMP_RET_USER_NOTIF);
	answer(p, SECCOMP_RET_ALLOW);
}

static void build(struct program *p, unsigned calls)
{
	load(p, offsetof(struct seccomp_data, arch));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0));
	answer(p, SECCOMP_RET_ERRNO | ENOSYS);
	load(p, offsetof(struct seccomp_data, nr));
	/* The x32 calls of x86-64 have other numbers. */
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
	answer(p, SECCOMP_RET_ERRNO | ENOSYS);
	if (calls & LISTENER_INTERNET)
		answer_internet(p);
	if (calls & LISTENER_SOCKETS) {
		answer_call(p, SYS_connect, SECCOMP_RET_USER_NOTIF);
		answer_datagrams(p, SYS_socket);
		answer_datagrams(p, SYS_socketpair);
	}
	if (calls & LISTENER_SENDS)
		answer_pointer(p, SYS_sendto, 4); /* with an address */
	if (calls & LISTENER_EMPTYING)		  /* its flags lie in memory */
		answer_call(p, SYS_openat2, SECCOMP_RET_ERRNO | ENOSYS);
	if (calls & (LISTENER_CHANGES | LISTENER_EMPTYING)) {
		const uint32_t flags = calls & LISTENER_CHANGES ? CHANGING : O_TRUNC;
		answer_open(p, SYS_openat, 2, flags);
#ifdef SYS_open
		answer_open(p, SYS_open, 1, flags);
#endif
		answer_call(p, SYS_truncate, SECCOMP_RET_USER_NOTIF);
	}
	if (calls & (LISTENER_CHANGES | LISTENER_UNRULED)) {
		/* Without a path it is by descriptor, which no other call stops for. */
		answer_pointer(p, SYS_utimensat, 1);
		answer_calls(p, unruled, ARRAY_LEN(unruled), SECCOMP_RET_USER_NOTIF);
	}
	if (calls & LISTENER_CHANGES)
		answer_calls(p, ruled, ARRAY_LEN(ruled), SECCOMP_RET_USER_NOTIF);
	answer_calls(p, refused, ARRAY_LEN(refused), SECCOMP_RET_ERRNO | EPERM);
	answer(p, SECCOMP_RET_ALLOW);
}

int listener_install(unsigned calls)
{
	struct program p = { .n = 0 };
	const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	build(&p, calls);
	const struct sock_fprog program = { .len = p.n, .filter = p.code };
	/* Without it a signal would end a call that waits to be looked at. Not every kernel has it.
	 */
	const int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				    flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
	if (fd >= 0 || errno != EINVAL)
		return fd;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

#else

int listener_install(unsigned calls)
{
	(void)calls;
	errno = EINVAL;
	return -1;
}

#endif

static bool is_in(const uint16_t *numbers, size_t count, int call)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == call)
			return true;
	return false;
}

/* Is it an open by flags in a register? */
static bool is_open(int call, const uint64_t args[6], uint64_t *flags)
{
#ifdef SYS_open
	if (call == SYS_open) {
		*flags = args[1];
		return true;
	}
#endif
	*flags = args[2];
	return call == SYS_openat;
}

bool listener_is_unruled(int call)
{
	return is_in(unruled, ARRAY_LEN(unruled), call);
}

bool listener_is_emptying(int call, const uint64_t args[6])
{
	uint64_t flags;

	if (!is_open(call, args, &flags))
		return call == SYS_truncate;
	/* There is a fourth way besides reading, writing and both: neither. */
	const uint64_t way = flags & O_ACCMODE;
	return flags & O_TRUNC && !(flags & O_PATH) && way != O_WRONLY && way != O_RDWR;
}

bool listener_may_go_on(unsigned calls, int call, const uint64_t args[6])
{
	uint64_t flags;

	if (calls & LISTENER_GUARDED)
		return false;
	if (listener_is_emptying(call, args))
		return !(calls & LISTENER_EMPTYING);
	return is_open(call, args, &flags) || listener_is_unruled(call) ||
	       is_in(ruled, ARRAY_LEN(ruled), call);
}
