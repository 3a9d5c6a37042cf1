/* SPDX-License-Identifier: MIT */
/* landlock: build and enter rule sets, with all the rights that this kernel knows. */

#include "sandbox/landlock.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

/*
 * The kernel's interface is declared here because the headers of the build system are often older
 * than the kernel on which the program runs.
 */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct path_attr {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

enum { CREATE_VERSION = 1, RULE_PATH = 1 };

enum fs_right {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_ANY = 0x7f << 6, /* character device, directory, file, socket, fifo, block, link */
	FS_REFER = 1 << 13,
	FS_TRUNCATE = 1 << 14,
	FS_IOCTL_DEV = 1 << 15,
	FS_RESOLVE_UNIX = 1 << 16,
};

enum { NET_BIND_AND_CONNECT_TCP = 3, SCOPE_ABSTRACT_AND_SIGNAL = 3 };

static const uint64_t read_rights = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
static const uint64_t device_rights = FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
static const uint64_t file_rights =
	FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV | FS_RESOLVE_UNIX;

int landlock_abi(void)
{
	const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static uint64_t all_rights(int abi)
{
	uint64_t rights =
		read_rights | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_ANY;

	if (abi >= LANDLOCK_REFER)
		rights |= FS_REFER;
	if (abi >= LANDLOCK_TRUNCATE)
		rights |= FS_TRUNCATE;
	if (abi >= LANDLOCK_IOCTL)
		rights |= FS_IOCTL_DEV;
	if (abi >= LANDLOCK_UNIX)
		rights |= FS_RESOLVE_UNIX;
	return rights;
}

int landlock_new(bool no_tcp, struct err *e)
{
	const int abi = landlock_abi();
	const struct ruleset_attr a = {
		.fs = all_rights(abi),
		.net = no_tcp && abi >= LANDLOCK_NET ? NET_BIND_AND_CONNECT_TCP : 0,
		.scoped = abi >= LANDLOCK_SCOPE ? SCOPE_ABSTRACT_AND_SIGNAL : 0,
	};
	/* Fields that an older kernel does not know are zero, which it accepts. */
	const int fd = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof(a), 0);

	return fd < 0 ? err_errno(e, "The file rules of the sandbox cannot be made") : fd;
}

int landlock_allow(int rules, int fd, enum landlock_grant grant, struct err *e)
{
	const uint64_t known = all_rights(landlock_abi());
	uint64_t rights = known;
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0)
		return err_errno(e, "The file rules of the sandbox cannot be made");
	if (grant == LANDLOCK_LIST)
		rights = FS_READ_DIR;
	if (grant == LANDLOCK_READ)
		rights = read_rights;
	if (grant == LANDLOCK_DEVICE)
		rights = device_rights & known;
	if (grant == LANDLOCK_SOCKET)
		rights = FS_RESOLVE_UNIX & known;
	if (rights == 0)
		return 0;
	/* The kernel refuses rights that only make sense for a directory on anything else. */
	if (!S_ISDIR(st.st_mode))
		rights &= file_rights;
	const struct path_attr a = { .allowed = rights, .parent = fd };
	if (syscall(SYS_landlock_add_rule, rules, RULE_PATH, &a, 0) < 0)
		return err_errno(e, "The file rules of the sandbox cannot be made");
	return 0;
}

int landlock_enter(int rules)
{
	return (int)syscall(SYS_landlock_restrict_self, rules, 0);
}
