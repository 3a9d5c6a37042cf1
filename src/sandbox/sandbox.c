/* SPDX-License-Identifier: MIT */
/* sandbox: the list of what is set up, in order, and the steps on it. */

#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/canonical.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"
#include "sandbox/steps.h"

enum { VARIABLES = 7 };

struct sandbox {
	bool namespaces;
	int rules;	/* Landlock; -1: this kernel has none, and the namespaces hold alone */
	int private[2]; /* the commands' own directories, by enum own_dir, for reading; or -1 */
	char *variable[VARIABLES];
	size_t variable_count;
	char text[VARIABLES][LIMIT_SANDBOX_VARIABLE]; /* of the variables */
};

enum own_dir { OWN_TMP, OWN_SHM };

static const char *const own_paths[] = { [OWN_TMP] = "/tmp", [OWN_SHM] = "/dev/shm" };
static const mode_t own_modes[] = { [OWN_TMP] = 0700, [OWN_SHM] = 01777 };

/* A tree of mounts taken before everything is made read-only, to be put back in its place. */
struct kept {
	const char *path;
	int tree;
	bool is_dir;
	bool read_only;
};

/* What the steps know and make. */
struct setup {
	const struct sandbox_config *config;
	struct sandbox *sandbox;
	struct sandbox_report *report;
	int scratch;	   /* the tree of mounts that becomes /tmp */
	struct kept *kept; /* the workspace and the directories of the lists */
	size_t kept_count;
	bool unruled;		/* the kernel has no Landlock */
	struct stat outside[2]; /* what is at own_paths outside the sandbox */
	struct err e;
};

/*
 * The functions on the list below. Each returns 0; or -1 with s->e, or with errno if the name of
 * the step says enough.
 */

/* This may fail: commands can do without a loopback. */
static int raise_loopback(struct setup *s)
{
	struct ifreq r = { .ifr_flags = IFF_UP | IFF_RUNNING, .ifr_name = "lo" };
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)s;
	if (fd >= 0)
		(void)ioctl(fd, SIOCSIFFLAGS, &r);
	return 0;
}

static int keep(struct kept *k, const char *path, bool read_only)
{
	struct stat st;

	*k = (struct kept){ .path = path, .tree = mounts_take(path), .read_only = read_only };
	if (k->tree < 0 || fstat(k->tree, &st) < 0)
		return -1;
	k->is_dir = S_ISDIR(st.st_mode);
	return 0;
}

/* What is gone, or has become a link, is left out. */
static int keep_list(struct setup *s, struct path_list list, bool read_only)
{
	for (size_t i = 0; i < list.count; i++) {
		if (keep(&s->kept[s->kept_count], list.item[i], read_only) == 0)
			s->kept_count++;
		else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			return -1;
	}
	return 0;
}

static int take_trees(struct setup *s)
{
	const struct sandbox_config *c = s->config;
	/* Without rules no others can be opened. */
	const struct path_list devices = s->unruled ? sandbox_devices() : (struct path_list){ 0 };

	s->scratch = mounts_take(c->scratch);
	s->kept = mem_new(devices.count + c->read.count + 1 + c->write.count, sizeof(*s->kept));
	if (s->scratch < 0 || !s->kept || keep_list(s, devices, false) < 0 ||
	    keep_list(s, c->read, true) < 0 ||
	    keep(&s->kept[s->kept_count++], c->workspace, c->read_only) < 0)
		return -1;
	return keep_list(s, c->write, false);
}

static int make_root_read_only(struct setup *s)
{
	return mounts_make_read_only("/", s->unruled);
}

static int put_tmp(struct setup *s)
{
	AUTO_FD scratch = TAKE(s->scratch, -1);

	return mounts_put(scratch, "/tmp");
}

static int put_back(struct kept *k)
{
	AUTO_FD tree = TAKE(k->tree, -1);

	if (mounts_put(tree, k->path) < 0)
		return -1;
	return k->read_only ? mounts_make_read_only(k->path, false) : 0;
}

/* /run is where other programs have their sockets. The resolver's file is often there, too. */
static int hide_run(struct setup *s)
{
	char resolver[PATH_MAX];
	struct stat run, var_run;
	struct kept k = { .tree = -1 };

	(void)s;
	if (realpath("/etc/resolv.conf", resolver) && strncmp(resolver, "/run/", 5) == 0)
		(void)keep(&k, resolver, true);
	if (mounts_hide("/run") < 0)
		return -1;
	if (k.tree >= 0 && (mounts_make_place(resolver, k.is_dir) < 0 || put_back(&k) < 0))
		return -1;
	if (stat("/run", &run) < 0 || stat("/var/run", &var_run) < 0 ||
	    (run.st_dev == var_run.st_dev && run.st_ino == var_run.st_ino))
		return 0;
	return mounts_hide("/var/run");
}

/* Commands could rename the directories above a mount in a private directory, and the mount would
 * go along: the next command would not find its workspace. So the highest of these directories
 * becomes a mount, which cannot be renamed and in which nothing can be changed. */
static int pin_place(const char *path)
{
	static const char *const private[] = { "/tmp/", "/dev/shm/" };
	char top[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(private); i++) {
		const size_t n = strlen(private[i]);
		const char *slash =
			strncmp(path, private[i], n) == 0 ? strchr(path + n, '/') : NULL;
		if (!slash)
			continue;
		(void)snprintf(top, sizeof(top), "%.*s", (int)(slash - path), path);
		if (mount(top, top, NULL, MS_BIND, NULL) < 0 ||
		    mounts_make_read_only(top, false) < 0)
			return -1;
	}
	return 0;
}

/* All places are made before any is pinned or mounted, because afterwards none can be made. */
static int put_trees_back(struct setup *s)
{
	for (size_t i = 0; i < s->kept_count; i++)
		if (mounts_make_place(s->kept[i].path, s->kept[i].is_dir) < 0)
			return -1;
	for (size_t i = 0; i < s->kept_count; i++)
		if (pin_place(s->kept[i].path) < 0)
			return -1;
	for (size_t i = 0; i < s->kept_count; i++)
		if (put_back(&s->kept[i]) < 0)
			return -1;
	mem_free(TAKE(s->kept, NULL));
	return 0;
}

static int hide_listed(struct setup *s)
{
	return mounts_hide_list(s->config->hide.item, s->config->hide.count, s->config->workspace);
}

static int protect_listed(struct setup *s)
{
	return mounts_protect_list(s->config->protect.item, s->config->protect.count,
				   s->config->workspace);
}

/* Called for everything in /etc, directories first. */
static int hide_secret(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const bool dir = S_ISDIR(st->st_mode);

	(void)at;
	if (type == FTW_SL || type == FTW_NS || st->st_mode & (dir ? S_IXOTH : S_IROTH))
		return FTW_CONTINUE;
	if (mounts_hide(path) < 0)
		return FTW_STOP;
	return dir ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}

/* Password hashes, host keys and the like: strict mode lets commands read /etc, but not what other
 * users may not read there, even if the server's user owns it. */
static int hide_secrets(struct setup *s)
{
	enum { DIRS = 16 }; /* open at once */

	(void)s;
	if (access("/etc", F_OK) < 0)
		return 0;
	return nftw("/etc", hide_secret, DIRS, FTW_PHYS | FTW_ACTIONRETVAL) == 0 ? 0 : -1;
}

/* The working directory may lie on a mount that is covered now. */
static int leave_covered_mounts(struct setup *s)
{
	(void)s;
	return chdir("/");
}

static bool home_is_writable(const struct sandbox_config *c)
{
	const char *home = getenv("HOME");

	if (!home)
		return false;
	if (!c->read_only && canonical_is_in(home, c->workspace))
		return true;
	for (size_t i = 0; i < c->write.count; i++)
		if (canonical_is_in(home, c->write.item[i]))
			return true;
	return false;
}

static int set_variables(struct setup *s)
{
	/* Where tools keep what they can fetch again, which is below HOME by default. */
	static const char *const names[VARIABLES][2] = {
		{ "TMPDIR", "" },
		{ "XDG_CACHE_HOME", "/.cache" },
		{ "npm_config_cache", "/.npm" },
		{ "PIP_CACHE_DIR", "/.pip" },
		{ "GOMODCACHE", "/.go" },
		{ "CARGO_HOME", "/.cargo" },
		{ "YARN_CACHE_FOLDER", "/.yarn" },
	};
	struct sandbox *sb = s->sandbox;
	const char *const tmp = sb->namespaces ? "/tmp" : s->config->scratch;
	const char *const cache = s->config->cache ? s->config->cache : tmp;

	sb->variable_count = home_is_writable(s->config) ? 1 : VARIABLES;
	for (size_t i = 0; i < sb->variable_count; i++) {
		sb->variable[i] = sb->text[i];
		(void)snprintf(sb->text[i], sizeof(sb->text[i]), "%s=%s%s", names[i][0],
			       i ? cache : tmp, names[i][1]);
	}
	return 0;
}

/* Open a private directory for reading, so that its permissions can be set by descriptor: that does
 * not stop under a listener. A command of an earlier spawner may have made it unreadable. */
static int open_own(const char *path, enum own_dir which)
{
	char self[32];
	AUTO_FD dir = canonical_open(path);

	if (dir < 0)
		return -1;
	const int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 || errno != EACCES)
		return fd;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", dir);
	(void)chmod(self, own_modes[which]);
	return openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_private(struct setup *s)
{
	struct sandbox *sb = s->sandbox;

	if (!sb->namespaces)
		sb->private[OWN_TMP] = open_own(s->config->scratch, OWN_TMP);
	/* A directory that is the workspace, or that commands may write, is everybody's and keeps
	 * the permissions that it has. */
	for (size_t i = 0; sb->namespaces && i < ARRAY_LEN(own_paths); i++) {
		struct stat st;
		sb->private[i] = open_own(own_paths[i], (enum own_dir)i);
		if (fstat(sb->private[i], &st) == 0 && st.st_ino == s->outside[i].st_ino &&
		    st.st_dev == s->outside[i].st_dev)
			fd_closep(&sb->private[i]);
	}
	sandbox_reset_permissions(sb);
	return 0;
}

/* The usual one is a device, which cannot be opened without rules. This may fail, as the terminals
 * themselves may. */
static int put_ptmx(struct setup *s)
{
	(void)s;
	(void)mount("/dev/pts/ptmx", "/dev/ptmx", NULL, MS_BIND, NULL);
	return 0;
}

static int make_rules(struct setup *s)
{
	if (s->unruled)
		return 0;
	s->sandbox->rules = sandbox_rules(s->config, s->sandbox->namespaces, &s->e);
	return s->sandbox->rules < 0 ? -1 : 0;
}

/* Give up everything, but for the one capability without which root's commands could not work where
 * root's file tools can. The rules say where commands may write, with or without it. */
static int drop_privileges(struct setup *s)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const uint32_t kept = sandbox_needs_override(s->config) ? CAP_TO_MASK(CAP_DAC_OVERRIDE) : 0;
	const struct __user_cap_data_struct sets[2] = { { kept, kept, kept } };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	/* The kernel refuses these to a process that has no capabilities to give up. */
	for (unsigned long cap = 0; cap < 64; cap++)
		if (!kept || cap != CAP_DAC_OVERRIDE)
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	(void)prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &head, sets) < 0)
		return -1;
	if (kept)
		(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0);
	return 0;
}

/* The spawner and its reapers have descriptors that lead out of the sandbox, and answer the calls
 * that stop. Without rules commands could trace them, and open these in /proc. A command can be
 * traced again: exec undoes this. */
static int refuse_tracing(struct setup *s)
{
	(void)s;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int load_filter(struct setup *s)
{
	unsigned flags = 0;

	/* What this filter refuses is never stopped. */
	if ((s->config->no_network && !s->config->brokered && !s->sandbox->namespaces) ||
	    !sandbox_knows_ports(s->config))
		flags |= SECCOMP_NO_INTERNET;
	if (s->config->no_network || !sandbox_knows_sockets(s->config))
		flags |= SECCOMP_NO_UNIX;
	return seccomp_load_filter(flags, &s->e);
}

static int try_out(struct setup *s)
{
	return probe_run(s->sandbox->rules, s->config, s->sandbox->namespaces, s->report, &s->e);
}

enum { WHEN_DEV_SHM = WHEN_OTHER, WHEN_UNRULED = WHEN_OTHER << 1 };

/* A step is a function, or else a mount. */
static const struct sandbox_step {
	const char *name;
	unsigned when; /* WHEN_… */
	int (*run)(struct setup *s);
	const char *at, *type, *options;
	unsigned long flags;
	bool may_fail;
} steps[] = {
	/* What commands see. */
	{ "loopback", WHEN_NAMESPACES | WHEN_NO_NETWORK, raise_loopback },
	{ "own mounts", WHEN_NAMESPACES, .at = "/", .flags = MS_REC | MS_PRIVATE },
	{ "take the directories that stay", WHEN_NAMESPACES, take_trees },
	{ "everything read-only", WHEN_NAMESPACES, make_root_read_only },
	{ "private /tmp", WHEN_NAMESPACES, put_tmp },
	{ "private /dev/shm", WHEN_NAMESPACES | WHEN_DEV_SHM, .at = "/dev/shm", .type = "tmpfs",
	  .options = "mode=1777", .flags = MS_NOSUID | MS_NODEV },
	/* Without it commands have no terminals of their own, and no others either. */
	{ "private /dev/pts", WHEN_NAMESPACES, .at = "/dev/pts", .type = "devpts",
	  .options = "ptmxmode=0666,mode=620", .flags = MS_NOSUID | MS_NOEXEC, .may_fail = true },
	{ "own terminals", WHEN_NAMESPACES | WHEN_UNRULED, put_ptmx },
	{ "own /proc", WHEN_NAMESPACES, .at = "/proc", .type = "proc",
	  .flags = MS_NOSUID | MS_NODEV | MS_NOEXEC },
	/* Root's commands own the settings of the kernel in it. */
	{ "read-only /proc", WHEN_NAMESPACES | WHEN_UNRULED, .at = "/proc",
	  .flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "hide /run", WHEN_NAMESPACES, hide_run },
	{ "put the directories back", WHEN_NAMESPACES, put_trees_back },
	{ "hide the server's files", WHEN_NAMESPACES, hide_listed },
	{ "protect what runs later", WHEN_NAMESPACES, protect_listed },
	{ "hide secrets in /etc", WHEN_NAMESPACES | WHEN_STRICT, hide_secrets },
	{ "leave covered mounts", WHEN_NAMESPACES, leave_covered_mounts },
	/* What commands find. */
	{ "variables", 0, set_variables },
	{ "private directories", 0, open_private },
	/* What commands may do; then everything is tried. */
	{ "file rules", 0, make_rules },
	{ "no privileges", 0, drop_privileges },
	{ "no tracing", WHEN_UNRULED, refuse_tracing },
	{ "system-call filter", 0, load_filter },
	{ "trials", 0, try_out },
};

static int run_step(struct setup *s, const struct sandbox_step *step)
{
	if (step->run)
		return step->run(s);
	const int bad = mount("none", step->at, step->type, step->flags, step->options);
	return step->may_fail ? 0 : bad;
}

static int run_steps(struct setup *s, struct err *e)
{
	const unsigned given = sandbox_given(s->config, s->sandbox->namespaces) |
			       (access("/dev/shm", F_OK) == 0 ? WHEN_DEV_SHM : 0) |
			       (s->unruled ? WHEN_UNRULED : 0);

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if ((steps[i].when & ~given) || run_step(s, &steps[i]) == 0)
			continue;
		if (s->e.code == ERR_NONE)
			return err_errno(e, "The sandbox cannot be set up (%s)", steps[i].name);
		*e = s->e;
		return -1;
	}
	return 0;
}

int sandbox_make(const struct sandbox_config *c, bool namespaces, struct sandbox **ret,
		 struct sandbox_report *report, struct err *e)
{
	struct sandbox_report found = *report;
	struct sandbox *sb = NULL;

	if (c->mode != SANDBOX_OFF) {
		sb = mem_new(1, sizeof(*sb));
		if (!sb)
			return err_set(e, ERR_SPAWN_FAILED, "There is no memory for the sandbox");
		sb->namespaces = namespaces;
		sb->rules = sb->private[OWN_TMP] = sb->private[OWN_SHM] = -1;
		struct setup s = { .config = c,
				   .sandbox = sb,
				   .report = &found,
				   .scratch = -1,
				   .unruled = namespaces && landlock_abi() == 0 };
		for (size_t i = 0; i < ARRAY_LEN(own_paths); i++)
			(void)stat(own_paths[i], &s.outside[i]);
		if (run_steps(&s, e) < 0)
			return -1;
	}
	found.namespaces = namespaces;
	*report = found;
	*ret = sb;
	return 0;
}

char *const *sandbox_variables(const struct sandbox *sb, size_t *count)
{
	*count = sb->variable_count;
	return sb->variable;
}

bool sandbox_has_mounts(const struct sandbox *sb)
{
	return sb && sb->namespaces;
}

void sandbox_reset_permissions(const struct sandbox *sb)
{
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(sb->private); i++)
		if (fstat(sb->private[i], &st) == 0 && (st.st_mode & 07777) != own_modes[i])
			(void)fchmod(sb->private[i], own_modes[i]);
}

int sandbox_enter(const struct sandbox *sb)
{
	return sb->rules < 0 ? 0 : landlock_enter(sb->rules);
}

static pid_t fork_with(unsigned long flags)
{
	/* Like fork: no new stack, nothing shared, SIGCHLD at the end. Architectures differ only in
	 * the order of the other arguments, which are all zero. */
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static int write_file(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);
	const ssize_t n = (ssize_t)strlen(text);

	return fd >= 0 && write(fd, text, (size_t)n) == n ? 0 : -1;
}

/* A new user namespace has no users until the user is mapped to itself. */
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

pid_t sandbox_fork(bool no_network)
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
