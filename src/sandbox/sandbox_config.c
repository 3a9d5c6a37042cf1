/* SPDX-License-Identifier: MIT */
/* sandbox_config: look for a container, choose the mode, and write its file rules. */

#include "sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/message.h"
#include "base/own.h"
#include "sandbox/canonical.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"

/* Left by Docker, Podman and CRI-O, systemd, and systemd-nspawn. Only root can make them. */
static const char *const marks[] = { "/.dockerenv", "/run/.containerenv", "/run/systemd/container",
				     "/run/host/container-manager" };

/* What the names of control groups of containers contain. */
static const char *const groups[] = { "/docker/",     "/docker-",     "/kubepods",
				      "/libpod-",     "/crio-",	      "/lxc/",
				      "/lxc.payload", "/containerd-", "/cri-containerd-" };

/* The kernel gives this number to the PID namespace that it boots with. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

enum { FILE_ROOM = 64 << 10 };

/* The beginning of a file of /proc; "" if it cannot be read. */
static struct str read_file(const char *root, const char *name, char room[FILE_ROOM])
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s%s", root, name);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, room, FILE_ROOM);
	return (struct str){ room, n > 0 ? (size_t)n : 0 };
}

static bool has_mark(const char *root)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		(void)snprintf(path, sizeof path, "%s%s", root, marks[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool is_grouped(const char *root, char room[FILE_ROOM])
{
	const struct str text = read_file(root, "/proc/self/cgroup", room);

	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (str_find(text, str_of(groups[i])) >= 0)
			return true;
	return false;
}

static bool has_pid_namespace(const char *root)
{
	char path[PATH_MAX], name[64];

	(void)snprintf(path, sizeof path, "%s/proc/self/ns/pid", root);
	const ssize_t n = readlink(path, name, sizeof name);
	return n > 0 && !str_eq((struct str){ name, (size_t)n }, STR(FIRST_PID_NAMESPACE));
}

/* Is the root of the file system made of layers? A line of mountinfo: 36 35 98:0 / / rw,noatime
 * master:1 - overlay overlay rw. Of several, the last one is on top. */
static bool has_layers(const char *root, char room[FILE_ROOM])
{
	struct str text = read_file(root, "/proc/self/mountinfo", room), line, field;
	bool layers = false;

	while (text.n) {
		(void)str_cut(text, '\n', &line, &text);
		const ptrdiff_t dash = str_find(line, STR(" - "));
		struct str rest = line;
		for (int i = 0; i < 5; i++)
			(void)str_cut(rest, ' ', &field, &rest);
		if (dash < 0 || !str_eq(field, STR("/")))
			continue;
		(void)str_cut(str_from(line, (size_t)dash + 3), ' ', &field, &rest);
		layers = str_find(field, STR("overlay")) >= 0;
	}
	return layers;
}

const char *container_evidence(const char *root)
{
	char room[FILE_ROOM] UNINITIALISED;

	if (has_mark(root))
		return "its runtime has left a mark";
	if (is_grouped(root, room))
		return "the control group is one of a container";
	if (!has_pid_namespace(root))
		return NULL;
	if (has_layers(root, room))
		return "there are a PID namespace and a root of layers";
	return getenv("KUBERNETES_SERVICE_HOST") || getenv("container")
		       ? "there are a PID namespace and a runtime's variable"
		       : NULL;
}

static const char *const mode_names[] = {
	[SANDBOX_OFF] = "off",	 [SANDBOX_WORKSPACE] = "workspace", [SANDBOX_STRICT] = "strict",
	[SANDBOX_AUTO] = "auto", [SANDBOX_BEST] = "workspace",
};

const char *sandbox_mode_name(enum sandbox_mode mode)
{
	return mode_names[mode];
}

unsigned sandbox_given(const struct sandbox_config *c, bool namespaces)
{
	return (namespaces ? WHEN_NAMESPACES : 0) | (c->no_network ? WHEN_NO_NETWORK : 0) |
	       (c->read_only ? WHEN_READ_ONLY : 0) | (c->mode == SANDBOX_STRICT ? WHEN_STRICT : 0);
}

size_t sandbox_string_count(const struct sandbox_config *c)
{
	return 3 + c->write.count + c->read.count + c->sockets.count + c->git.count +
	       c->hide.count + c->protect.count;
}

void sandbox_add_strings(const struct sandbox_config *c, struct buf *out)
{
	const struct path_list lists[] = { c->write, c->read, c->sockets,
					   c->git,   c->hide, c->protect };

	strings_add(out, str_of(c->workspace));
	strings_add(out, str_of(c->scratch));
	strings_add(out, str_of(c->cache));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i].count; k++)
			strings_add(out, str_of(lists[i].item[k]));
}

void sandbox_point_to(struct sandbox_config *c, const char *const *string)
{
	struct path_list *const lists[] = { &c->write, &c->read, &c->sockets,
					    &c->git,   &c->hide, &c->protect };

	c->workspace = *string[0] ? string[0] : NULL;
	c->scratch = *string[1] ? string[1] : NULL;
	c->cache = *string[2] ? string[2] : NULL;
	string += 3;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		lists[i]->item = string;
		string += lists[i]->count;
	}
}

static enum sandbox_mode choose(const struct sandbox_config *c, const char **why)
{
	*why = "as asked for";
	const bool open = c->mode == SANDBOX_AUTO || c->mode == SANDBOX_BEST;
	if (!open && (c->mode != SANDBOX_OFF || !c->read_only))
		return c->mode;
	if (c->read_only) {
		*why = "read-only mode needs the kernel to hold the workspace";
		return SANDBOX_WORKSPACE;
	}
	*why = "inside a container: the container is the boundary";
	if (c->mode == SANDBOX_AUTO && container_evidence(""))
		return SANDBOX_OFF;
	*why = "the workspace is the whole file system";
	if (c->workspace && strcmp(c->workspace, "/") == 0)
		return SANDBOX_OFF;
	*why = c->mode == SANDBOX_BEST ? "the default for MCP" : "the default on a host";
	return SANDBOX_WORKSPACE;
}

/* Can a sandbox of this mode be made for what is asked for, on this kernel? */
static int check(const struct sandbox_config *c, enum sandbox_mode mode, struct err *e)
{
	if (mode == SANDBOX_OFF)
		return 0;
	if (!c->workspace || !c->scratch)
		return err_set(e, ERR_SPAWN_FAILED,
			       "A sandbox needs a workspace and a private /tmp");
	if (strcmp(c->workspace, "/") == 0)
		return err_set(e, ERR_SPAWN_FAILED,
			       "The workspace is the whole file system, so a sandbox could protect "
			       "nothing; choose a directory, or SIDECAR_SANDBOX=off");
	/* Mounts do not hide most of what can be read. */
	if (mode == SANDBOX_STRICT && landlock_abi() == 0)
		return err_set(e, ERR_SPAWN_FAILED,
			       "This kernel has no Landlock, which SIDECAR_SANDBOX=strict needs; "
			       "use a kernel that has it, or SIDECAR_SANDBOX=workspace");
	return 0;
}

int sandbox_settle(struct sandbox_config *c, struct sandbox_report *report, struct err *e)
{
	const char *why;
	const enum sandbox_mode mode = choose(c, &why);

	if (check(c, mode, e) < 0)
		return -1;
	c->mode = report->mode = mode;
	c->no_network |= mode == SANDBOX_STRICT;
	(void)snprintf(report->why, sizeof(report->why), "%s", why);
	return 0;
}

int sandbox_forgo_namespaces(const struct sandbox_config *c, const struct err *reason,
			     struct sandbox_report *report, struct err *e)
{
	if (c->mode == SANDBOX_STRICT)
		return err_set(
			e, ERR_SPAWN_FAILED,
			"SIDECAR_SANDBOX=strict needs namespaces, and this system does not give "
			"them (%s); use SIDECAR_SANDBOX=workspace",
			reason->msg);
	/* What commands have left in /tmp must not make the sandbox of a new spawner weaker. */
	if (c->namespaces)
		return err_set(e, ERR_SPAWN_FAILED,
			       "The sandbox could not be made again as it was (%s); restart the "
			       "sidecar",
			       reason->msg);
	if (landlock_abi() == 0)
		return err_set(
			e, ERR_SPAWN_FAILED,
			"This kernel has no Landlock, and the system does not give namespaces "
			"(%s): SIDECAR_SANDBOX=%s needs one of them; allow user namespaces, "
			"use a kernel with Landlock, or SIDECAR_SANDBOX=off%s",
			reason->msg, sandbox_mode_name(c->mode),
			c->read_only ? " without read-only mode" : "");
	(void)snprintf(report->why, sizeof(report->why), "without namespaces: %.200s", reason->msg);
	return 0;
}

const char *sandbox_unwatched(const struct sandbox_report *report)
{
	switch (report->unwatched) {
	case 0:
		return NULL;
	case EBUSY:
		return "another program above this one receives system calls already";
	case EINVAL:
	case ENOSYS:
		return "this kernel cannot pass system calls on";
	case EPERM:
		return "the memory of commands cannot be read: kernel.yama.ptrace_scope or the "
		       "container forbids it";
	default:
		return "the kernel refuses it";
	}
}

static const char *const devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};

/* Terminals are private only with namespaces. */
static const char *const terminals[] = { "/dev/ptmx", "/dev/pts" };

bool sandbox_knows_sockets(const struct sandbox_config *c)
{
	return c->brokered || landlock_abi() >= LANDLOCK_UNIX;
}

bool sandbox_knows_ports(const struct sandbox_config *c)
{
	return c->brokered || c->no_network || !c->ports[0];
}

bool sandbox_stops_internet(const struct sandbox_config *c, bool namespaces)
{
	return c->brokered && c->no_network && !namespaces;
}

struct path_list sandbox_devices(void)
{
	return (struct path_list){ devices, ARRAY_LEN(devices) };
}

bool sandbox_is_device(const char *name, bool namespaces)
{
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		if (strcmp(name, devices[i]) == 0)
			return true;
	for (size_t i = 0; namespaces && i < ARRAY_LEN(terminals); i++)
		if (canonical_is_in(name, terminals[i]))
			return true;
	return false;
}

static const char *const readable_in_strict[] = {
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/opt",
	"/etc",
	"/proc",
	"/sys/devices/system/cpu",
	"/run",
};

static void close_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* The system chose this path, so it may lead through links. */
static int allow(int rules, const char *path, enum landlock_grant grant, struct err *e)
{
	AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);

	return landlock_allow(rules, fd, grant, e);
}

static int allow_all(int rules, const char *const *paths, size_t count, enum landlock_grant grant,
		     struct err *e)
{
	for (size_t i = 0; i < count; i++)
		if (allow(rules, paths[i], grant, e) < 0)
			return -1;
	return 0;
}

/* The configuration names this path, and commands may have put links there: follow none. */
static int allow_named(int rules, const char *name, enum landlock_grant grant, struct err *e)
{
	AUTO_FD fd = canonical_open(name);

	return landlock_allow(rules, fd, grant, e);
}

static int allow_list(int rules, struct path_list list, enum landlock_grant grant, struct err *e)
{
	for (size_t i = 0; i < list.count; i++)
		if (allow_named(rules, list.item[i], grant, e) < 0)
			return -1;
	return 0;
}

/* The directories in which programs are found, wherever they are. */
static int allow_path_variable(int rules, struct err *e)
{
	struct str rest = str_of(getenv("PATH")), dir;
	bool more = rest.n > 0;

	while (more) {
		char path[LIMIT_SANDBOX_VARIABLE];
		more = str_cut(rest, ':', &dir, &rest);
		if (!dir.n || dir.p[0] != '/' || dir.n >= sizeof(path) || dir.n == 1)
			continue;
		(void)snprintf(path, sizeof(path), "%.*s", STR_FMT(dir));
		if (allow(rules, path, LANDLOCK_READ, e) < 0)
			return -1;
	}
	return 0;
}

/* Everything but what lies in /dev, where the devices that commands may use are granted one by one:
 * the others are the user's terminals and disks. A rule holds for everything below, so the root
 * itself gets none, and what is put there later cannot be read. */
static int allow_all_but_devices(int rules, struct err *e)
{
	CLEANUP(close_dir) DIR *root = opendir("/");
	const struct dirent *d;

	if (!root)
		return err_errno(e, "The file rules of the sandbox cannot be made");
	if (landlock_allow(rules, dirfd(root), LANDLOCK_LIST, e) < 0)
		return -1;
	while ((d = readdir(root))) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
		    strcmp(d->d_name, "dev") == 0)
			continue;
		/* Where a link leads has a rule of its own, or shall have none. */
		AUTO_FD fd = openat(dirfd(root), d->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (landlock_allow(rules, fd, LANDLOCK_READ, e) < 0)
			return -1;
	}
	return 0;
}

static int allow_reading(int rules, const struct sandbox_config *c, struct err *e)
{
	if (c->mode != SANDBOX_STRICT)
		return allow_all_but_devices(rules, e);
	if (allow_all(rules, readable_in_strict, ARRAY_LEN(readable_in_strict), LANDLOCK_READ, e) <
	    0)
		return -1;
	if (allow_list(rules, c->read, LANDLOCK_READ, e) < 0)
		return -1;
	return allow_path_variable(rules, e);
}

static int allow_writing(int rules, const struct sandbox_config *c, bool namespaces, struct err *e)
{
	if (allow_all(rules, devices, ARRAY_LEN(devices), LANDLOCK_DEVICE, e) < 0)
		return -1;
	if (namespaces && allow_all(rules, terminals, ARRAY_LEN(terminals), LANDLOCK_DEVICE, e) < 0)
		return -1;
	if (allow_named(rules, namespaces ? "/tmp" : c->scratch, LANDLOCK_WRITE, e) < 0 ||
	    allow(rules, "/dev/shm", LANDLOCK_WRITE, e) < 0 ||
	    allow_list(rules, c->write, LANDLOCK_WRITE, e) < 0 ||
	    allow_list(rules, c->sockets, LANDLOCK_SOCKET, e) < 0)
		return -1;
	return allow_named(rules, c->workspace, c->read_only ? LANDLOCK_READ : LANDLOCK_WRITE, e);
}

/* Before ABI 3 file rules do not hold that a file is emptied. */
static int check_emptying(const struct sandbox_config *c, bool namespaces, struct err *e)
{
	const int abi = landlock_abi();

	if (namespaces || c->supervised || c->allow_truncate || abi >= LANDLOCK_TRUNCATE)
		return 0;
	return err_set(e, ERR_SPAWN_FAILED,
		       "Commands could empty files outside the sandbox: Landlock does not hold "
		       "that before Linux 6.2, there are no namespaces, and this process cannot "
		       "judge their system calls; set SIDECAR_ALLOW_TRUNCATE=true to start all the "
		       "same, or SIDECAR_SANDBOX=off%s",
		       c->read_only ? " without read-only mode" : "");
}

int sandbox_rules(const struct sandbox_config *c, bool namespaces, struct err *e)
{
	if (check_emptying(c, namespaces, e) < 0)
		return -1;
	/* A command that has its own network may use TCP on the loopback. */
	AUTO_FD rules = landlock_new(c->no_network && !namespaces, e);

	if (rules < 0 || allow_reading(rules, c, e) < 0 ||
	    allow_writing(rules, c, namespaces, e) < 0)
		return -1;
	return TAKE(rules, -1);
}

bool sandbox_needs_override(const struct sandbox_config *c)
{
	struct stat st;

	if (geteuid() != 0 || c->read_only || stat(c->workspace, &st) < 0)
		return false;
	const unsigned shift = st.st_uid == 0 ? 6 : st.st_gid == getegid() ? 3 : 0;
	const mode_t wanted = S_IWOTH | S_IXOTH;
	return (st.st_mode >> shift & wanted) != wanted;
}
