/* SPDX-License-Identifier: MIT */
/*
 * Attempts by a real program inside the sandbox, each one harmless if it succeeds: everything
 * happens in directories, files, sockets and processes that this test made for it.
 */
#include "exec_unit.h"

#include <linux/capability.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "sandbox/landlock.h"
#include "sandbox/scratch.h"

/* What the attempts are made on. */
static struct place {
	char outside[512], workspace[512], scratch[512];
	char program[4096];
	pid_t server;
	int tcp_port, udp_port;
	char abstract[64];
} place;

/*
 * The attempts. They run in the sandbox, in the workspace, with the place's members as variables of
 * the environment. 0: it worked.
 */

static const char *in_outside(const char *name)
{
	static char path[600];

	(void)snprintf(path, sizeof(path), "%s/%s", getenv("OUTSIDE"), name);
	return path;
}

static int close_if(int fd)
{
	return fd < 0 ? -1 : close(fd);
}

static int try_create(void)
{
	return close_if(open(in_outside("new"), O_CREAT | O_WRONLY, 0600));
}

static int try_overwrite(void)
{
	return close_if(open(in_outside("file"), O_WRONLY));
}

static int try_truncate(void)
{
	return truncate(in_outside("file"), 1);
}

static int try_rename_out(void)
{
	(void)close_if(open("mine", O_CREAT | O_WRONLY, 0600));
	return rename("mine", in_outside("moved"));
}

static int try_link(void)
{
	return link(in_outside("file"), "linked");
}

static int try_remove(void)
{
	return unlink(in_outside("victim"));
}

static int try_mkdir(void)
{
	return mkdir(in_outside("dir"), 0700);
}

static int try_through_symlink(void)
{
	(void)unlink("way-out");
	if (symlink(getenv("OUTSIDE"), "way-out") < 0)
		return -1;
	return close_if(open("way-out/by-link", O_CREAT | O_WRONLY, 0600));
}

static int try_through_proc_root(void)
{
	char path[700];

	(void)snprintf(path, sizeof(path), "/proc/self/root%s", in_outside("by-root"));
	return close_if(open(path, O_CREAT | O_WRONLY, 0600));
}

static int try_chmod(void)
{
	return chmod(in_outside("file"), 0640);
}

static int try_read(void)
{
	return close_if(open(in_outside("file"), O_RDONLY));
}

static int try_read_hidden(void)
{
	char c;
	const int fd = open(in_outside("hidden"), O_RDONLY);
	const ssize_t n = fd < 0 ? -1 : read(fd, &c, 1);

	(void)close_if(fd);
	return n == 1 ? 0 : -1;
}

static int try_signal(void)
{
	return kill(atoi(getenv("SERVER")), 0);
}

static int try_ptrace(void)
{
	return (int)ptrace(PTRACE_SEIZE, atoi(getenv("SERVER")), NULL, NULL);
}

static int try_mount(void)
{
	(void)mkdir("mountpoint", 0700);
	return mount("none", "mountpoint", "tmpfs", 0, "size=4k") < 0 ? -1 : umount("mountpoint");
}

static int try_unshare(void)
{
	return unshare(CLONE_NEWUSER);
}

static int try_clone(void)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -1 : (waitpid(pid, NULL, 0), 0);
}

static int try_io_uring(void)
{
	struct io_uring_params p = { 0 };

	return close_if((int)syscall(SYS_io_uring_setup, 1, &p));
}

static int try_keyring(void)
{
	return syscall(SYS_keyctl, 0, -3, 1) < 0 ? -1 : 0;
}

static int try_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0) < 0 && errno == EPERM ? -1 : 0;
}

static int try_typing(void)
{
	char c = 'x';
	const int fd = open("/dev/null", O_RDONLY);
	const int r = ioctl(fd, TIOCSTI, &c);
	const int high = (int)syscall(SYS_ioctl, fd, 0x100000000UL | TIOCSTI, &c);

	(void)close(fd);
	/* If this is not a terminal the kernel says so; a filter says EPERM. */
	return r < 0 && high < 0 && errno == EPERM ? -1 : 0;
}

static int connect_inet(int type, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	const int fd = socket(AF_INET, type, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || write(fd, "x", 1) != 1)
		return -1;
	/* A datagram to a port that is not open makes the next call fail. */
	(void)usleep(10000);
	return write(fd, "x", 1) == 1 ? close(fd) : -1;
}

static int try_tcp(void)
{
	return connect_inet(SOCK_STREAM, getenv("TCP"));
}

static int try_udp(void)
{
	return connect_inet(SOCK_DGRAM, getenv("UDP"));
}

static int connect_unix(const char *name, bool abstract)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	const size_t n = strlen(name);

	memcpy(a.sun_path + abstract, name, n);
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&a, size);
}

static int try_abstract(void)
{
	return connect_unix(getenv("ABSTRACT"), true);
}

static int try_pathname(void)
{
	/* The whole name may be too long for an address. */
	return chdir(getenv("OUTSIDE")) < 0 ? -1 : connect_unix("sock", false);
}

static int try_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	return syscall(SYS_capget, &head, caps) == 0 && (caps[0].effective || caps[1].effective)
		       ? 0
		       : -1;
}

static int try_sysctl(void)
{
	return close_if(open("/proc/sys/kernel/core_pattern", O_WRONLY));
}

static int try_work(void)
{
	char path[600];

	(void)snprintf(path, sizeof(path), "%s/steps",
		       getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (close_if(open("made", O_CREAT | O_WRONLY, 0600)) < 0 || rename("made", "renamed") < 0 ||
	    close_if(open(path, O_CREAT | O_WRONLY, 0600)) < 0 || unlink(path) < 0)
		return -1;
	if (mkdir("d", 0700) < 0 || rename("renamed", "d/renamed") < 0 || unlink("d/renamed") < 0 ||
	    rmdir("d") < 0)
		return -1;
	return close_if(open("/dev/null", O_WRONLY));
}

/* Which modes it must fail in. off is always allowed everything. */
enum {
	FLOOR = 1 << 0,
	WORKSPACE = 1 << 1,
	STRICT = 1 << 2,
	NO_NET = 1 << 3,
	NO_NET_FLOOR = 1 << 4,
	READ_ONLY = 1 << 5,
	SANDBOXED = FLOOR | WORKSPACE | STRICT | NO_NET | NO_NET_FLOOR | READ_ONLY,
	WITH_NAMESPACES = WORKSPACE | STRICT | NO_NET | READ_ONLY
};

static const struct attempt {
	const char *name;
	int (*run)(void);
	unsigned refused;
	bool needs_root;	    /* to work without a sandbox */
	int abi;		    /* Landlock's, from which on it is refused without namespaces */
	bool needs_user_namespaces; /* likewise: a chroot has none */
} attempts[] = {
	{ "work", try_work, READ_ONLY, false, 0 },
	{ "create", try_create, SANDBOXED, false, 0 },
	{ "overwrite", try_overwrite, SANDBOXED, false, 0 },
	{ "truncate", try_truncate, SANDBOXED, false, LANDLOCK_TRUNCATE },
	{ "rename out", try_rename_out, SANDBOXED, false, 0 },
	{ "link", try_link, SANDBOXED, false, 0 },
	{ "remove", try_remove, SANDBOXED, false, 0 },
	{ "mkdir", try_mkdir, SANDBOXED, false, 0 },
	{ "through a symlink", try_through_symlink, SANDBOXED, false, 0 },
	{ "through /proc/self/root", try_through_proc_root, SANDBOXED, false, 0 },
	{ "chmod", try_chmod, WITH_NAMESPACES, false, 0 },
	{ "read", try_read, STRICT, false, 0 },
	{ "read hidden", try_read_hidden, WITH_NAMESPACES, false, 0 },
	{ "signal", try_signal, SANDBOXED, false, LANDLOCK_SCOPE },
	{ "ptrace", try_ptrace, SANDBOXED, false, 0 },
	{ "mount", try_mount, SANDBOXED, true, 0 },
	{ "unshare", try_unshare, SANDBOXED, false, 0, true },
	{ "clone", try_clone, SANDBOXED, false, 0, true },
	{ "io_uring", try_io_uring, SANDBOXED, false, 0 },
	{ "keyring", try_keyring, SANDBOXED, false, 0 },
	{ "bpf", try_bpf, SANDBOXED, true, 0 },
	{ "typing", try_typing, SANDBOXED, false, 0 },
	{ "tcp", try_tcp, STRICT | NO_NET | NO_NET_FLOOR, false, 0 },
	{ "udp", try_udp, STRICT | NO_NET | NO_NET_FLOOR, false, 0 },
	{ "abstract socket", try_abstract, SANDBOXED, false, 0 },
	{ "pathname socket", try_pathname, SANDBOXED, false, 0 },
	{ "capabilities", try_capabilities, SANDBOXED, true, 0 },
	{ "sysctl", try_sysctl, SANDBOXED, true, 0 },
};

static int attempt_main(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(attempts); i++)
		if (strcmp(attempts[i].name, name) == 0)
			return attempts[i].run() == 0 ? 0 : 1;
	return 2;
}

static int listen_unix(const char *name, bool abstract)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const size_t n = strlen(name);

	memcpy(a.sun_path + abstract, name, n);
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
	assert_int_equal(listen(fd, 64), 0);
	return fd;
}

static int bind_inet(int type, int *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);
	const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static void put_file(const char *dir, const char *name)
{
	char path[600];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	AUTO_FD fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, "content", 7) == 7);
}

static struct runner *start_mode(enum sandbox_mode mode, unsigned kind,
				 struct sandbox_report *report)
{
	static char hidden[600], program_dir[4096];
	const char *const hide[] = { hidden };
	const char *const read[] = { program_dir };
	struct err e;

	(void)snprintf(hidden, sizeof(hidden), "%s/hidden", place.outside);
	(void)snprintf(program_dir, sizeof(program_dir), "%s", place.program);
	*strrchr(program_dir, '/') = '\0';
	assert_true(scratch_new(place.scratch, sizeof(place.scratch), &e) >= 0);
	const struct runner_config c = {
		.at_death = -1,
		.alive = -1,
		.sandbox = { .mode = mode,
			     .no_network = (kind & (NO_NET | NO_NET_FLOOR)) != 0,
			     .read_only = kind == READ_ONLY,
			     .workspace = place.workspace,
			     .scratch = place.scratch,
			     .read = { read, 1 },
			     .hide = { hide, 1 } },
	};
	struct runner *s = runner_start(&c);
	runner_report(s, report);
	return s;
}

/* Whether a child can do this. */
static bool possible(bool (*works)(void))
{
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(!works());
	(void)waitpid(pid, &status, 0);
	return status == 0;
}

static bool makes_user_namespaces(void)
{
	return unshare(CLONE_NEWUSER) == 0;
}

/* Within a chroot there are namespaces, but its root cannot be made private. */
static bool arranges_mounts(void)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0)
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool have_namespaces(void)
{
	return possible(arranges_mounts);
}

/* Make every attempt in one mode; kind is 0 for off. */
static void attempt_everything(enum sandbox_mode mode, unsigned kind)
{
	struct sandbox_report report;
	char text[8][700];
	struct runner *s = start_mode(mode, kind, &report);
	AUTO_FD cwd = open(place.workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(report.mode, mode);
	assert_int_equal(report.namespaces, (kind & WITH_NAMESPACES) != 0);
	(void)snprintf(text[0], sizeof(text[0]), "OUTSIDE=%s", place.outside);
	(void)snprintf(text[1], sizeof(text[1]), "SERVER=%d", (int)place.server);
	(void)snprintf(text[2], sizeof(text[2]), "TCP=%d", place.tcp_port);
	(void)snprintf(text[3], sizeof(text[3]), "UDP=%d", place.udp_port);
	(void)snprintf(text[4], sizeof(text[4]), "ABSTRACT=%s", place.abstract);
	struct str env[5];
	for (size_t i = 0; i < 5; i++)
		env[i] = str_of(text[i]);
	for (size_t i = 0; i < ARRAY_LEN(attempts); i++) {
		const struct attempt *a = &attempts[i];
		CAPTURE c = { 0 };
		const struct str argv[] = { str_of(place.program), STR("attempt"),
					    str_of(a->name) };
		struct proc_request q = {
			.argv = argv, .argc = 3, .env = env, .env_count = 5, .cwd_fd = cwd
		};
		put_file(place.outside, "file");
		put_file(place.outside, "victim");
		const int code = run_request(s, &q, &c).exit_code;
		const bool must_fail = (a->refused & kind) != 0;
		if (a->needs_root && geteuid() != 0 && !must_fail)
			continue;
		if (a->needs_user_namespaces && !must_fail && !possible(makes_user_namespaces))
			continue;
		if (must_fail && !(kind & WITH_NAMESPACES) && a->abi > landlock_abi())
			continue;
		if (code != must_fail)
			fail_msg("%s in %s: exit %d, want %d", a->name, sandbox_mode_name(mode),
				 code, must_fail);
	}
	runner_free(s);
	assert_int_equal(access(place.scratch, F_OK), -1);
}

static void test_off_allows_everything(void **state)
{
	(void)state;
	attempt_everything(SANDBOX_OFF, 0);
}

static void need(bool namespaces)
{
	if (landlock_abi() == 0)
		skip_because("this kernel has no Landlock");
	if (namespaces && !have_namespaces())
		skip_because("this machine gives no namespaces");
}

static void test_workspace(void **state)
{
	(void)state;
	need(true);
	attempt_everything(SANDBOX_WORKSPACE, WORKSPACE);
}

static void test_workspace_without_network(void **state)
{
	(void)state;
	need(true);
	attempt_everything(SANDBOX_WORKSPACE, NO_NET);
}

static void test_read_only(void **state)
{
	(void)state;
	need(true);
	attempt_everything(SANDBOX_WORKSPACE, READ_ONLY);
}

static void test_strict(void **state)
{
	(void)state;
	need(true);
	attempt_everything(SANDBOX_STRICT, STRICT);
}

/* As in a container that gives no namespaces. Only for the process that calls it, and its children.
 */
static void take_namespaces_away(void)
{
	const scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	const unsigned long flags[] = { CLONE_NEWUSER, CLONE_NEWNS };

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		const struct scmp_arg_cmp cmp = { 0, SCMP_CMP_MASKED_EQ, flags[i], flags[i] };
		assert_int_equal(
			seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, &cmp),
			0);
	}
	assert_int_equal(seccomp_load(f), 0);
	seccomp_release(f);
}

static void floor_holds(void **state)
{
	(void)state;
	need(false);
	attempt_everything(SANDBOX_WORKSPACE, FLOOR);
	attempt_everything(SANDBOX_WORKSPACE, NO_NET_FLOOR);
}

static void strict_names_the_remedy(void **state)
{
	(void)state;
	struct runner *s;
	struct err e = { 0 };
	const struct runner_config c = { .at_death = -1,
					 .alive = -1,
					 .sandbox = { .mode = SANDBOX_STRICT,
						      .workspace = place.workspace,
						      .scratch = place.outside } };

	assert_int_equal(runner_new(&c, &s, &e), -1);
	assert_int_equal(e.code, ERR_SPAWN_FAILED);
	assert_non_null(strstr(e.msg, "SIDECAR_SANDBOX=workspace"));
}

static void test_settings(void **state)
{
	(void)state;
	struct sandbox_report r = { 0 };
	struct err e = { 0 };
	struct sandbox_config c = { .mode = SANDBOX_STRICT, .workspace = "/", .scratch = "/tmp" };
	assert_int_equal(sandbox_settle(&c, &r, &e), -1);
	assert_non_null(strstr(e.msg, "SIDECAR_SANDBOX=off"));
	assert_false(c.no_network);
	assert_string_equal(r.why, "");
	c = (struct sandbox_config){ .mode = SANDBOX_WORKSPACE, .workspace = "/w" };
	assert_int_equal(sandbox_settle(&c, &r, &e), -1);
	assert_non_null(strstr(e.msg, "a private /tmp"));
	c = (struct sandbox_config){
		.mode = SANDBOX_OFF, .read_only = true, .workspace = "/w", .scratch = "/t"
	};
	if (landlock_abi() > 0) {
		assert_int_equal(sandbox_settle(&c, &r, &e), 0);
		assert_int_equal(c.mode, SANDBOX_WORKSPACE);
	}
	c = (struct sandbox_config){ .mode = SANDBOX_AUTO, .workspace = "/w", .scratch = "/t" };
	assert_int_equal(sandbox_settle(&c, &r, &e), 0);
	assert_true(c.mode == SANDBOX_OFF || c.mode == SANDBOX_WORKSPACE);
	assert_true(strlen(r.why) > 0);
}

static void test_a_private_directory_needs_a_place(void **state)
{
	char path[700], base[600], *was = getenv("TMPDIR");
	struct err e;

	(void)state;
	(void)snprintf(base, sizeof(base), "%s/missing", place.outside);
	assert_int_equal(setenv("TMPDIR", base, 1), 0);
	assert_int_equal(scratch_new(path, sizeof(path), &e), -1);
	assert_non_null(strstr(e.msg, "cannot be made"));
	(void)snprintf(base, sizeof(base), "/%0500d", 0);
	assert_int_equal(setenv("TMPDIR", base, 1), 0);
	assert_int_equal(scratch_new(path, 400, &e), -1);
	assert_non_null(strstr(e.msg, "too long"));
	/* Its canonical name is longer than the one by which it was made. */
	(void)snprintf(base, sizeof(base), "%s/short", place.outside);
	assert_int_equal(symlink(place.workspace, base), 0);
	assert_int_equal(setenv("TMPDIR", base, 1), 0);
	assert_int_equal(
		scratch_new(place.scratch, strlen(base) + sizeof("/sidecar-tmp-XXXXXX"), &e) < 0,
		strlen(place.workspace) > strlen(base));
	scratch_remove(place.scratch);
	assert_int_equal(unlink(base), 0);
	assert_int_equal(was ? setenv("TMPDIR", was, 1) : unsetenv("TMPDIR"), 0);
}

/* There is nothing that could become /tmp. */
static void test_a_failed_step_is_named(void **state)
{
	(void)state;
	char missing[sizeof(place.outside) + 16];
	struct runner *s;
	struct err e = { 0 };
	const struct runner_config c = { .at_death = -1,
					 .alive = -1,
					 .sandbox = { .mode = SANDBOX_STRICT,
						      .workspace = place.workspace,
						      .scratch = missing } };

	need(true);
	(void)snprintf(missing, sizeof(missing), "%s/missing", place.outside);
	assert_int_equal(runner_new(&c, &s, &e), -1);
	assert_non_null(strstr(e.msg, "(take the directories that stay)"));
}

/* The tree is ended inside of namespaces as outside. */
static void test_runaways_in_the_sandbox(void **state)
{
	(void)state;
	static const char *const scripts[] = {
		"setsid sh -c 'trap \"\" TERM; setsid sleep 50 & sleep 50' & sleep 50",
		"for i in $(seq 40); do setsid sleep 50 & done; trap '' TERM; sleep 50",
	};
	const struct str mark = mark_of("boxed");
	struct sandbox_report report;

	need(true);
	struct runner *s = start_mode(SANDBOX_STRICT, STRICT, &report);
	AUTO_FD cwd = open(place.workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		CAPTURE c = { .count_only = true };
		struct proc_request q = { .command = str_of(scripts[i]),
					  .env = &mark,
					  .env_count = 1,
					  .timeout_ms = 300,
					  .cwd_fd = cwd };
		assert_true(run_request(s, &q, &c).timed_out);
		assert_int_equal(count_marked(mark), 0);
	}
	runner_free(s);
}

/* Steps build on each other in the private /tmp; a workspace that lies in the real one stays. */
static void test_private_tmp(void **state)
{
	(void)state;
	char dir[] = "/tmp/exec-inside-XXXXXX", scratch[128], step[160];
	struct err e;
	CAPTURE c = { 0 };

	need(true);
	assert_non_null(mkdtemp(dir));
	assert_true(scratch_new(scratch, sizeof(scratch), &e) >= 0);
	struct runner *s = runner_start(&(struct runner_config){
		.at_death = -1,
		.alive = -1,
		.sandbox = { .mode = SANDBOX_WORKSPACE, .workspace = dir, .scratch = scratch } });
	AUTO_FD cwd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_request q = { .command = STR("echo one > /tmp/step; echo two > kept; pwd"),
				  .cwd_fd = cwd };
	assert_int_equal(run_request(s, &q, &c).exit_code, 0);
	assert_memory_equal(c.out.p, dir, strlen(dir));
	buf_reset(&c.out, 0);
	q.command = STR("cat /tmp/step \"$TMPDIR/step\" kept; ls -A /run; cd ..; ls | wc -l");
	assert_int_equal(run_request(s, &q, &c).exit_code, 0);
	assert_str(buf_str(&c.out), "one\none\ntwo\n2\n");
	(void)snprintf(step, sizeof(step), "%s/step", scratch);
	assert_int_equal(access(step, F_OK), 0);
	runner_free(s);
	assert_int_equal(access(scratch, F_OK), -1);
	assert_int_equal(faccessat(cwd, "kept", F_OK, 0), 0);
	scratch_remove(dir);
}

static int make_place(void **state)
{
	(void)state;
	char here[4096];
	const ssize_t n = readlink("/proc/self/exe", place.program, sizeof(place.program) - 1);

	assert_true(n > 0 && getcwd(here, sizeof(here)));
	place.program[n] = '\0';
	/* Not in /tmp, which is another one inside. */
	(void)snprintf(place.outside, sizeof(place.outside), "/var/tmp/exec-outside-XXXXXX");
	(void)snprintf(place.workspace, sizeof(place.workspace), "/var/tmp/exec-inside-XXXXXX");
	assert_non_null(mkdtemp(place.outside));
	assert_non_null(mkdtemp(place.workspace));
	put_file(place.outside, "hidden");
	place.server = getpid();
	(void)bind_inet(SOCK_STREAM, &place.tcp_port);
	(void)bind_inet(SOCK_DGRAM, &place.udp_port);
	(void)snprintf(place.abstract, sizeof(place.abstract), "exec-test-%d", (int)getpid());
	(void)listen_unix(place.abstract, true);
	assert_int_equal(chdir(place.outside), 0);
	(void)listen_unix("sock", false);
	assert_int_equal(chdir(here), 0);
	return 0;
}

static int remove_place(void **state)
{
	(void)state;
	scratch_remove(place.outside);
	scratch_remove(place.workspace);
	return 0;
}

int main(int argc, char **argv)
{
	EXEC_MAIN(NULL)
	if (argc == 3 && strcmp(argv[1], "attempt") == 0)
		return attempt_main(argv[2]);
	const struct CMUnitTest on_the_floor[] = {
		cmocka_unit_test(floor_holds),
		cmocka_unit_test(strict_names_the_remedy),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_off_allows_everything),
		cmocka_unit_test(test_workspace),
		cmocka_unit_test(test_workspace_without_network),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_private_tmp),
		cmocka_unit_test(test_a_private_directory_needs_a_place),
		cmocka_unit_test(test_a_failed_step_is_named),
		cmocka_unit_test(test_runaways_in_the_sandbox),
	};

	if (argc == 2 && strcmp(argv[1], "floor") == 0) {
		take_namespaces_away();
		return cmocka_run_group_tests(on_the_floor, make_place, remove_place);
	}
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
