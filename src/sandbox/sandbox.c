/* SPDX-License-Identifier: MIT */
/* sandbox: settle the mode, put it in force in the spawner, enter it in a command. */

#include "sandbox/sandbox.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "sandbox/canonical.h"
#include "exec/environ.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/sandbox_probe.h"
#include "sandbox/sandbox_rules.h"
#include "sandbox/seccomp.h"

struct sandbox {
	bool namespaces;
	int rules;	/* Landlock */
	int private[2]; /* the directories that are the commands' own, by enum own_dir; or -1 */
	char **env;
	char extra[8][LIMIT_SANDBOX_VARIABLE]; /* "NAME=value" that env points to */
};

enum own_dir { OWN_TMP, OWN_SHM };

static const mode_t own_modes[] = { [OWN_TMP] = 0700, [OWN_SHM] = 01777 };

static const char *const mode_names[] = {
	[SANDBOX_OFF] = "off",
	[SANDBOX_WORKSPACE] = "workspace",
	[SANDBOX_STRICT] = "strict",
	[SANDBOX_AUTO] = "auto",
};

const char *sandbox_mode_name(enum sandbox_mode mode)
{
	return mode_names[mode];
}

static bool in_container(void)
{
	return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
	       getenv("KUBERNETES_SERVICE_HOST") || getenv("container");
}

static enum sandbox_mode choose(const struct sandbox_config *c, const char **why)
{
	*why = "as asked for";
	if (c->mode != SANDBOX_AUTO && (c->mode != SANDBOX_OFF || !c->read_only))
		return c->mode;
	if (c->read_only) {
		*why = "read-only mode needs the kernel to hold the workspace";
		return SANDBOX_WORKSPACE;
	}
	*why = "this is a container, which is the wall";
	if (in_container())
		return SANDBOX_OFF;
	*why = "this kernel has no Landlock";
	if (landlock_abi() == 0)
		return SANDBOX_OFF;
	*why = "the workspace is the whole file system";
	if (c->workspace && strcmp(c->workspace, "/") == 0)
		return SANDBOX_OFF;
	*why = "the default on a host";
	return SANDBOX_WORKSPACE;
}

int sandbox_settle(struct sandbox_config *c, struct sandbox_report *report, struct err *e)
{
	const char *why;

	c->mode = choose(c, &why);
	report->mode = c->mode;
	(void)snprintf(report->why, sizeof(report->why), "%s", why);
	if (c->mode == SANDBOX_OFF)
		return 0;
	if (c->mode == SANDBOX_STRICT)
		c->no_network = true;
	if (!c->workspace || !c->scratch)
		return err_set(e, ERR_SPAWN_FAILED,
			       "A sandbox needs a workspace and a private /tmp");
	if (strcmp(c->workspace, "/") == 0)
		return err_set(e, ERR_SPAWN_FAILED,
			       "The workspace is the whole file system, so a sandbox could protect "
			       "nothing; choose a directory, or SIDECAR_SANDBOX=off");
	if (landlock_abi() == 0)
		return err_set(e, ERR_SPAWN_FAILED,
			       "This kernel has no Landlock, which SIDECAR_SANDBOX=%s needs; use a "
			       "kernel that has it, or SIDECAR_SANDBOX=off%s",
			       sandbox_mode_name(c->mode),
			       c->read_only ? " without read-only mode" : "");
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
	/* What commands have left in /tmp must not make a spawner that replaces another weaker. */
	if (c->namespaces)
		return err_set(e, ERR_SPAWN_FAILED,
			       "The sandbox could not be made again as it was (%s); restart the "
			       "sidecar",
			       reason->msg);
	(void)snprintf(report->why, sizeof(report->why), "without namespaces: %.200s", reason->msg);
	return 0;
}

/* Give up every capability for good. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	/* Refused to those who have none to give up. */
	for (unsigned long cap = 0; cap < 64; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	(void)prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &head, none);
}

static bool is_below(const char *path, const char *dir)
{
	const size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool home_is_writable(const struct sandbox_config *c)
{
	const char *home = getenv("HOME");

	if (!home)
		return false;
	if (!c->read_only && is_below(home, c->workspace))
		return true;
	for (size_t i = 0; i < c->write.count; i++)
		if (is_below(home, c->write.item[i]))
			return true;
	return false;
}

static int make_environ(struct sandbox *sb, const struct sandbox_config *c, struct err *e)
{
	/* Where tools put what they can fetch again; below HOME unless told otherwise. */
	static const char *const names[][2] = {
		{ "TMPDIR", "" },
		{ "XDG_CACHE_HOME", "/.cache" },
		{ "npm_config_cache", "/.npm" },
		{ "PIP_CACHE_DIR", "/.pip" },
		{ "GOMODCACHE", "/.go" },
		{ "CARGO_HOME", "/.cargo" },
		{ "YARN_CACHE_FOLDER", "/.yarn" },
	};
	const size_t wanted = home_is_writable(c) ? 1 : ARRAY_LEN(names);
	char *list[ARRAY_LEN(names)];

	for (size_t i = 0; i < wanted; i++) {
		list[i] = sb->extra[i];
		(void)snprintf(list[i], sizeof(sb->extra[i]), "%s=%s%s", names[i][0],
			       sb->namespaces ? "/tmp" : c->scratch, names[i][1]);
	}
	sb->env = environ_merge(environ, list, wanted);
	return sb->env ? 0 : err_set(e, ERR_SPAWN_FAILED, "There is no memory for the sandbox");
}

/* A shared /dev/shm is not ours to mend. */
static void open_private(struct sandbox *sb, const struct sandbox_config *c)
{
	sb->private[OWN_TMP] = canonical_open(sb->namespaces ? "/tmp" : c->scratch);
	sb->private[OWN_SHM] = sb->namespaces ? canonical_open("/dev/shm") : -1;
	sandbox_mend(sb);
}

int sandbox_make(const struct sandbox_config *c, bool namespaces, struct sandbox **ret,
		 struct sandbox_report *report, struct err *e)
{
	*ret = NULL;
	report->namespaces = namespaces;
	if (c->mode == SANDBOX_OFF)
		return 0;
	if (namespaces && namespaces_arrange(c, e) < 0)
		return -1;
	struct sandbox *sb = mem_new(1, sizeof(*sb));
	if (!sb)
		return err_set(e, ERR_SPAWN_FAILED, "There is no memory for the sandbox");
	sb->namespaces = namespaces;
	if (make_environ(sb, c, e) < 0)
		return -1;
	open_private(sb, c);
	sb->rules = sandbox_rules(c, namespaces, e);
	if (sb->rules < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || drop_capabilities() < 0)
		return err_errno(e, "The sandbox cannot give up privileges");
	unsigned flags = 0;
	if (c->no_network)
		flags = SECCOMP_NO_UNIX | (namespaces ? 0 : SECCOMP_NO_INTERNET);
	if (seccomp_load_filter(flags, e) < 0 || sandbox_probe(sb, c, namespaces, report, e) < 0)
		return -1;
	*ret = sb;
	return 0;
}

char *const *sandbox_environ(const struct sandbox *sb)
{
	return sb ? sb->env : environ;
}

bool sandbox_has_mounts(const struct sandbox *sb)
{
	return sb && sb->namespaces;
}

void sandbox_mend(const struct sandbox *sb)
{
	char self[32];
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(sb->private); i++) {
		if (fstat(sb->private[i], &st) < 0 || (st.st_mode & 07777) == own_modes[i])
			continue;
		(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", sb->private[i]);
		(void)chmod(self, own_modes[i]);
	}
}

int sandbox_enter(const struct sandbox *sb)
{
	return landlock_enter(sb->rules);
}
