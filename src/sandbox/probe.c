/* SPDX-License-Identifier: MIT */
/* probe: attempts against the sandbox, made by a child inside it. */

#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"

struct attempt {
	const struct sandbox_config *config;
	bool namespaces;
	struct sockaddr_un abstract; /* an address on which the parent listens */
	socklen_t abstract_size;
};

/* Each of these returns true if the attempt failed as it should. */

/* Without a sandbox every process may write its own name in /proc. In an empty root, where there is
 * no /proc, try the directory in which the private /tmp was made. */
static bool cannot_write_outside(const struct attempt *a)
{
	char parent[LIMIT_SANDBOX_VARIABLE];
	AUTO_FD fd = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) {
		(void)snprintf(parent, sizeof(parent), "%s/..", a->config->scratch);
		fd = open(parent, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	}
	return fd < 0 && (errno == EACCES || errno == EROFS);
}

static bool has_rules(const struct attempt *a)
{
	(void)a;
	return landlock_abi() > 0;
}

static bool sees_read_only_mounts(const struct attempt *a)
{
	struct statvfs root;

	(void)a;
	return statvfs("/", &root) == 0 && (root.f_flag & ST_RDONLY);
}

/* Make a file and remove it again. */
static bool can_make_file(const char *dir)
{
	char path[LIMIT_SANDBOX_VARIABLE];

	(void)snprintf(path, sizeof(path), "%s/.sidecar-probe-%d", dir, (int)getpid());
	AUTO_FD fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	return fd >= 0 && unlink(path) == 0;
}

static bool cannot_write_workspace(const struct attempt *a)
{
	return !can_make_file(a->config->workspace);
}

static bool has_private_tmp(const struct attempt *a)
{
	(void)a;
	return can_make_file("/tmp");
}

static bool cannot_gain_privileges(const struct attempt *a)
{
	(void)a;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static bool has_no_capabilities(const struct attempt *a)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];
	const uint32_t kept = sandbox_needs_override(a->config) ? CAP_TO_MASK(CAP_DAC_OVERRIDE) : 0;

	return syscall(SYS_capget, &head, caps) == 0 && !(caps[0].effective & ~kept) &&
	       !(caps[0].permitted & ~kept) && !caps[1].effective && !caps[1].permitted;
}

/* Asks for nothing at all, which only a filter can refuse. */
static bool cannot_unshare(const struct attempt *a)
{
	(void)a;
	return syscall(SYS_unshare, 0) < 0 && errno == EPERM;
}

static bool cannot_use_io_uring(const struct attempt *a)
{
	(void)a;
	return syscall(SYS_io_uring_setup, 0, NULL) < 0 && errno == EPERM;
}

static bool cannot_use_keyrings(const struct attempt *a)
{
	enum { GET_KEYRING_ID = 0, SESSION_KEYRING = -3 };

	(void)a;
	return syscall(SYS_keyctl, GET_KEYRING_ID, SESSION_KEYRING, 0) < 0 && errno == EPERM;
}

static bool cannot_type(const struct attempt *a)
{
	char c = 0;

	(void)a;
	return ioctl(STDIN_FILENO, TIOCSTI, &c) < 0 && errno == EPERM;
}

static bool cannot_trace(const struct attempt *a)
{
	(void)a;
	return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) < 0 && errno == EPERM;
}

static bool cannot_signal(const struct attempt *a)
{
	(void)a;
	return kill(getppid(), 0) < 0 && errno == EPERM;
}

static bool cannot_reach_abstract(const struct attempt *a)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ||
	       (connect(fd, (const struct sockaddr *)&a->abstract, a->abstract_size) < 0 &&
		errno == EPERM);
}

static bool is_internet_refused(void)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0;
}

/* The address is reserved for documentation, and connecting a datagram socket sends nothing. */
static bool cannot_reach_network(const struct attempt *a)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };

	if (sandbox_stops_internet(a->config, a->namespaces))
		return a->config->refuses(SANDBOX_STOPS_INTERNET, is_internet_refused);
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(0xc0000201);
	return fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0;
}

/* To empty this changes nothing. */
static bool is_truncate_refused(void)
{
	return truncate("/proc/self/comm", 0) < 0 && (errno == EACCES || errno == EROFS);
}

/* With namespaces the mounts hold it, but for /proc, which is the commands' own. In an empty root,
 * where there is no /proc, nobody judges calls either. */
static bool cannot_empty_outside(const struct attempt *a)
{
	int status = 0;

	if (is_truncate_refused() || (a->namespaces && sees_read_only_mounts(a)))
		return true;
	if (!a->config->supervised)
		return landlock_abi() >= LANDLOCK_TRUNCATE;
	const pid_t pid = fork();
	if (pid == 0)
		_exit(a->config->refuses(SANDBOX_STOPS_EMPTYING, is_truncate_refused));
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 1;
}

static bool is_connect_refused(void)
{
	const struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/.no-such-socket" };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno == EACCES;
}

/* The last attempt, because of what it does to this process. Without a broker there is no Unix
 * socket, or the kernel knows which ones are allowed. */
static bool cannot_reach_sockets(const struct attempt *a)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return true;
	if (!a->config->brokered)
		return landlock_abi() >= LANDLOCK_UNIX;
	return a->config->refuses(SANDBOX_STOPS_CONNECTIONS, is_connect_refused);
}

static bool sees_own_processes_only(const struct attempt *a)
{
	char name[32] = "";
	AUTO_FD fd = open("/proc/1/comm", O_RDONLY | O_CLOEXEC);

	(void)a;
	return fd >= 0 && read(fd, name, sizeof(name) - 1) > 0 &&
	       strcmp(name, "sidecar-spawner\n") == 0;
}

/* Expected only of newer kernels. */
enum { WHEN_POSSIBLE = WHEN_OTHER };

static const struct probe {
	const char *name;
	unsigned when; /* WHEN_…: then it must be in force */
	bool (*stopped)(const struct attempt *a);
	const char *note; /* if it is not in force */
} probes[] = {
	{ "outside-writes-refused", 0, cannot_write_outside, "" },
	{ "outside-truncation-refused", WHEN_POSSIBLE, cannot_empty_outside,
	  "commands can empty files outside: Linux 6.2 or namespaces would hold that" },
	{ "landlock", WHEN_POSSIBLE, has_rules,
	  "without Landlock mounts alone hold commands: they can read and trace each other, and "
	  "strict cannot be had" },
	{ "read-only-mounts", WHEN_NAMESPACES, sees_read_only_mounts,
	  "without namespaces chmod, times and attributes outside are not stopped by descriptor" },
	{ "processes-hidden", WHEN_NAMESPACES, sees_own_processes_only,
	  "without namespaces processes, sockets and secret files outside can be seen" },
	{ "private-tmp", WHEN_NAMESPACES, has_private_tmp,
	  "without namespaces only TMPDIR is private; /tmp cannot be written, /dev/shm is shared" },
	{ "read-only-workspace", WHEN_READ_ONLY, cannot_write_workspace, SANDBOX_NOT_ASKED },
	{ "no-new-privileges", 0, cannot_gain_privileges, "" },
	{ "no-capabilities", 0, has_no_capabilities, "" },
	{ "new-namespaces-refused", 0, cannot_unshare, "" },
	{ "io-uring-refused", 0, cannot_use_io_uring, "" },
	{ "keyrings-refused", 0, cannot_use_keyrings, "" },
	{ "terminal-injection-refused", 0, cannot_type, "" },
	{ "tracing-refused", 0, cannot_trace, "" },
	{ "signals-scoped", WHEN_POSSIBLE, cannot_signal,
	  "signals to other processes of the user are stopped from Linux 6.12 on" },
	{ "abstract-sockets-scoped", WHEN_POSSIBLE, cannot_reach_abstract,
	  "abstract sockets are stopped from Linux 6.12 on" },
	{ "network-off", WHEN_NO_NETWORK, cannot_reach_network, SANDBOX_NOT_ASKED },
	{ "foreign-sockets-refused", 0, cannot_reach_sockets, "" },
};

static int listen_abstract(struct attempt *a)
{
	unsigned char name[8];
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	io_random(name, sizeof(name));
	a->abstract = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(a->abstract.sun_path + 1, name, sizeof(name));
	a->abstract_size = offsetof(struct sockaddr_un, sun_path) + 1 + sizeof(name);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&a->abstract, a->abstract_size) < 0 ||
			listen(fd, 1) < 0)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Let a child try everything and send the results. */
static int attempt_all(int rules, const struct sandbox_config *c, bool namespaces,
		       bool stopped[ARRAY_LEN(probes)])
{
	struct attempt a = { .config = c, .namespaces = namespaces };
	const size_t size = sizeof(bool) * ARRAY_LEN(probes);
	AUTO_FD listener = listen_abstract(&a);
	int p[2];

	(void)listener; /* only has to be open */
	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	AUTO_FD from = p[0];
	AUTO_FD to = p[1];
	const pid_t pid = fork();
	if (pid == 0) {
		if (rules >= 0 && landlock_enter(rules) < 0)
			_exit(1);
		for (size_t i = 0; i < ARRAY_LEN(probes); i++)
			stopped[i] = probes[i].stopped(&a);
		_exit(write(to, stopped, size) < 0);
	}
	fd_closep(&to);
	const ssize_t n = pid < 0 ? -1 : io_read_full(from, stopped, size);
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return n == (ssize_t)size ? 0 : -1;
}

/* Say more of a fact; one that takes more from commands than was asked for is in force. */
static void note(struct sandbox_report *report, bool (*probe)(const struct attempt *a),
		 bool in_force, const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(probes); i++) {
		if (probes[i].stopped != probe)
			continue;
		report->fact[i].in_force |= in_force;
		(void)snprintf(report->fact[i].note, sizeof(report->fact[i].note), "%s", text);
	}
}

int probe_run(int rules, const struct sandbox_config *c, bool namespaces,
	      struct sandbox_report *report, struct err *e)
{
	const unsigned given = sandbox_given(c, namespaces);
	bool stopped[ARRAY_LEN(probes)] = { 0 };

	_Static_assert(ARRAY_LEN(probes) <= ARRAY_LEN(report->fact), "every probe is a fact");
	if (attempt_all(rules, c, namespaces, stopped) < 0)
		return err_set(e, ERR_SPAWN_FAILED, "The sandbox could not be tried out");
	for (size_t i = 0; i < ARRAY_LEN(probes); i++)
		if (!(probes[i].when & ~given) && !stopped[i])
			return err_set(e, ERR_SPAWN_FAILED,
				       "The sandbox does not hold on this kernel (%s); set "
				       "SIDECAR_SANDBOX=off to run commands without it",
				       probes[i].name);
	for (size_t i = 0; i < ARRAY_LEN(probes); i++) {
		const struct probe *p = &probes[i];
		struct sandbox_fact *f = &report->fact[i];
		*f = (struct sandbox_fact){
			.in_force = p->when == WHEN_POSSIBLE ? stopped[i] : !(p->when & ~given),
		};
		(void)snprintf(f->name, sizeof(f->name), "%s", p->name);
		if (!f->in_force)
			(void)snprintf(f->note, sizeof(f->note), "%s", p->note);
	}
	report->count = ARRAY_LEN(probes);
	if (!sandbox_knows_sockets(c))
		note(report, cannot_reach_sockets, true,
		     "commands cannot use Unix sockets at all: no process can judge which are "
		     "theirs");
	if (!sandbox_knows_ports(c))
		note(report, cannot_reach_network, true,
		     "commands have no network: this server listens on TCP, and no process can "
		     "keep them from it");
	if (!namespaces && !c->supervised)
		note(report, sees_read_only_mounts, false,
		     "without namespaces chmod, times and attributes outside are not stopped: no "
		     "process can judge calls");
	return 0;
}
