/* SPDX-License-Identifier: MIT */
/* doctor: run the checks, then the trials. */

#include "doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "config/config.h"
#include "doctor/limits.h"
#include "exec/runner.h"
#include "sandbox/canonical.h"
#include "sandbox/gitdir.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox.h"
#include "sandbox/scratch.h"
#include "supervise/broker.h"

/* checks: what this machine offers, and whether the configuration can work on it. */

enum { SHORT_TOKEN = 16 };

/* Whether the sandbox was asked for by name, so that what it needs must be available. */
static bool is_needed(const struct config *c)
{
	return c->sandbox == SANDBOX_WORKSPACE || c->sandbox == SANDBOX_STRICT;
}

static void check_openat2(struct report *r)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	AUTO_FD fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);

	if (fd >= 0)
		report_add(r, FOUND_OK, "openat2", "paths are resolved by the kernel");
	else
		report_add(r, FOUND_WARN, "openat2",
			   "%s: paths are resolved step by step, which is as safe but slower; "
			   "openat2 needs Linux 5.6, a container runtime that allows it, and no "
			   "RestrictSUIDSGID= in the unit",
			   strerror(errno));
}

static void check_landlock(struct report *r, const struct config *c)
{
	const int abi = landlock_abi();

	if (abi >= LANDLOCK_SCOPE)
		report_add(r, FOUND_OK, "landlock", "ABI %d", abi);
	else if (abi > 0)
		report_add(r, FOUND_WARN, "landlock",
			   "ABI %d is %sold: ABI %d (Linux 6.12) and later also restrict signals "
			   "and abstract sockets",
			   abi, abi < LANDLOCK_TRUNCATE ? "very " : "", LANDLOCK_SCOPE);
	else
		report_add(r, c->sandbox == SANDBOX_STRICT ? FOUND_FAIL : FOUND_WARN, "landlock",
			   "not available, so only namespaces can hold commands: boot with "
			   "lsm=landlock,... (Linux 5.13 and later), or allow landlock_* in the "
			   "container runtime's seccomp profile");
}

static void check_seccomp(struct report *r, const struct config *c)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		report_add(r, FOUND_OK, "seccomp", "filters can be loaded");
	else
		report_add(r, is_needed(c) ? FOUND_FAIL : FOUND_WARN, "seccomp",
			   "%s: the kernel needs CONFIG_SECCOMP_FILTER", strerror(errno));
}

/* A child process tries; its namespaces end with it. */
static bool has_namespaces(void)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

/* Start what a server would run commands with, in a directory of its own if there is no workspace
 * yet, and end it again. The report says what is in force. */
static int try_commands(const struct config *c, enum sandbox_mode mode, struct sandbox_report *ret,
			struct err *e)
{
	char scratch[128], workspace[PATH_MAX];
	const char *unbrokered;
	struct stat st;
	struct runner *runner;

	AUTO_FD held = scratch_new(scratch, sizeof scratch, e);
	if (held < 0)
		return -1;
	const bool there = canonical_name(c->workspace, NULL, workspace) &&
			   stat(workspace, &st) == 0 && S_ISDIR(st.st_mode);
	const struct runner_config asked = {
		.sandbox = { .mode = mode,
			     .no_network = c->network == 0,
			     .read_only = c->read_only && mode != SANDBOX_OFF,
			     .allow_truncate = c->allow_truncate,
			     .workspace = there ? workspace : scratch,
			     .scratch = scratch },
		.at_death = -1,
		.alive = -1,
		.listens = c->observe != CONFIG_OBSERVE_OFF,
		.brokers = broker_is_possible(&unbrokered),
	};
	if (runner_new(&asked, &runner, e) < 0) {
		scratch_remove(scratch);
		return -1;
	}
	(void)runner_can_watch(runner); /* waits until it is known */
	runner_report(runner, ret);
	runner_free(runner);
	return 0;
}

/* What agents must not leave behind, and must not see. */
static void check_guards(struct report *r, const struct config *c,
			 const struct sandbox_report *found)
{
	const bool off = found->mode == SANDBOX_OFF, walls = !off && found->namespaces;
	const char *unwatched = c->observe == CONFIG_OBSERVE_OFF ? NULL : sandbox_unwatched(found);

	if (!c->sinks)
		report_add(r, FOUND_OFF, "what runs later", "not guarded: --sinks allow");
	else if (unwatched)
		report_add(r, FOUND_WARN, "what runs later",
			   "hooks, git's configuration and agents' settings are guarded from "
			   "tools%s; what does not exist yet is not guarded from commands: %s",
			   walls ? ", and by mounts what exists" : "", unwatched);
	else
		report_add(r, FOUND_OK, "what runs later",
			   "hooks, git's configuration and agents' settings are guarded %s",
			   walls ? "by mounts, and by a guard rail where nothing exists yet"
			   : off ? "from models, by a guard rail: a race can win"
				 : "by a guard rail: a race can win");
	if (c->hide && !*c->hide)
		report_add(r, FOUND_OFF, "hidden files", "--hide ''");
	else if (walls)
		report_add(r, FOUND_OK, "hidden files", "keys and credentials in ~%s",
			   c->hide ? ", and what --hide names" : "");
	else
		report_add(r, off ? FOUND_OFF : FOUND_WARN, "hidden files",
			   "commands can read ~/.ssh: %s",
			   off ? "they have no sandbox" : "there are no user namespaces here");
}

static void check_listener(struct report *r, const struct config *c, bool named)
{
	const int abi = landlock_abi();
	struct sandbox_report found;
	struct err e;

	const bool failed = try_commands(c, (enum sandbox_mode)c->sandbox, &found, &e) < 0 &&
			    try_commands(c, SANDBOX_OFF, &found, &e) < 0;
	if (!failed && sandbox_unwatched(&found) && abi > 0 && abi < LANDLOCK_TRUNCATE &&
	    !has_namespaces())
		report_add(r, is_needed(c) && !c->allow_truncate ? FOUND_FAIL : FOUND_WARN,
			   "emptying files",
			   "sandboxed commands can empty files outside: nothing holds that before "
			   "Linux 6.2 without namespaces and without passing system calls on; "
			   "--sandbox workspace needs --allow-truncate");
	if (!failed && !named)
		check_guards(r, c, &found);
	if (c->observe == CONFIG_OBSERVE_OFF)
		report_add(r, FOUND_OFF, "observing commands", "--observe off");
	else if (failed)
		report_add(r, FOUND_WARN, "observing commands", "%s", e.msg);
	else if (sandbox_unwatched(&found))
		report_add(r, FOUND_WARN, "observing commands",
			   "what commands change cannot be undone: %s", sandbox_unwatched(&found));
	else
		report_add(r, FOUND_OK, "observing commands", "system calls can be passed on");
}

static void check_git(struct report *r, const struct config *c)
{
	char workspace[PATH_MAX], what[PATH_MAX + 64];
	struct gitdir g;

	if (!canonical_name(c->workspace, NULL, workspace))
		return;
	gitdir_find(workspace, &g);
	if (g.kind == GITDIR_NONE)
		return;
	if (g.kind == GITDIR_FOREIGN) {
		report_add(r, FOUND_WARN, "git",
			   "the git directory lies outside the workspace and does not point back "
			   "to it: sandboxed commands can write it only with --sandbox-write");
		return;
	}
	gitdir_describe(&g, workspace, what, sizeof what);
	if (c->git)
		report_add(r, FOUND_OK, "git", "%s: sandboxed commands can commit", what);
	else
		report_add(r, FOUND_OFF, "git", "%s; --git off", what);
}

static void check_namespaces(struct report *r)
{
	if (has_namespaces())
		report_add(r, FOUND_OK, "user namespaces", "can be created");
	else
		report_add(r, FOUND_WARN, "user namespaces",
			   "cannot be created, so commands see other processes and mounts: check "
			   "user.max_user_namespaces, kernel.unprivileged_userns_clone and "
			   "kernel.apparmor_restrict_unprivileged_userns (sysctl)");
}

static void check_cgroup(struct report *r)
{
	char text[4096], path[PATH_MAX + 64];
	AUTO_FD fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	char *own = strstr(text, "0::/");
	if (own) {
		own[strcspn(own, "\n")] = '\0';
		(void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/cgroup.procs", own + 3);
	}
	if (own && access(path, W_OK) == 0)
		report_add(r, FOUND_OK, "cgroup", "%s is delegated to this user", own + 3);
	else
		report_add(r, FOUND_OFF, "cgroup",
			   "not delegated, but not needed: process trees are ended without it "
			   "(systemd: Delegate=yes)");
}

static void check_limit(struct report *r, const char *name, int which, rlim_t enough)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) < 0)
		report_add(r, FOUND_WARN, name, "%s", strerror(errno));
	else if (limit.rlim_max == RLIM_INFINITY)
		report_add(r, FOUND_OK, name, "no limit");
	else
		report_add(r, limit.rlim_max < enough ? FOUND_WARN : FOUND_OK, name, "%llu%s",
			   (unsigned long long)limit.rlim_max,
			   limit.rlim_max < enough
				   ? ": raise it (ulimit, LimitNOFILE=, LimitNPROC=, "
				     "the runtime's --ulimit)"
				   : "");
}

/* openat2, Landlock, seccomp, user namespaces, cgroups, limits; and what depends on the workspace and
 * the sandbox, unless a server that runs is named, which has its own. */
static void check_kernel(struct report *r, const struct config *c, bool named)
{
	check_openat2(r);
	check_landlock(r, c);
	check_seccomp(r, c);
	check_listener(r, c, named);
	if (!named)
		check_git(r, c);
	check_namespaces(r);
	check_cgroup(r);
	check_limit(r, "open files", RLIMIT_NOFILE, 4096);
	check_limit(r, "processes", RLIMIT_NPROC, 512);
}

/* The workspace does not exist: can the server create it? */
static void check_creation(struct report *r, const char *workspace)
{
	char parent[PATH_MAX];
	struct stat st;

	(void)snprintf(parent, sizeof parent, "%s", workspace);
	do {
		char *slash = strrchr(parent, '/');
		if (!slash)
			break;
		slash[slash == parent] = '\0';
	} while (stat(parent, &st) < 0 && errno == ENOENT && parent[1]);
	if (access(parent, W_OK | X_OK) == 0)
		report_add(r, FOUND_WARN, "workspace",
			   "%s does not exist; the server creates it (--workspace)", workspace);
	else
		report_add(r, FOUND_FAIL, "workspace",
			   "%s does not exist, and user %u cannot create it in %s: create it, or "
			   "name another directory (--workspace)",
			   workspace, (unsigned)geteuid(), parent);
}

static void check_workspace(struct report *r, const struct config *c)
{
	struct stat st;

	if (stat(c->workspace, &st) < 0 && errno == ENOENT)
		check_creation(r, c->workspace);
	else if (stat(c->workspace, &st) < 0)
		report_add(r, FOUND_FAIL, "workspace",
			   "%s cannot be accessed: give this user permission, or name another "
			   "directory (--workspace)",
			   c->workspace);
	else if (!S_ISDIR(st.st_mode))
		report_add(r, FOUND_FAIL, "workspace", "%s is not a directory (--workspace)",
			   c->workspace);
	else if (!c->read_only && access(c->workspace, W_OK | X_OK) < 0)
		report_add(r, FOUND_FAIL, "workspace",
			   "%s cannot be written by user %u: chown it, or use --read-only",
			   c->workspace, (unsigned)geteuid());
	else
		report_add(r, FOUND_OK, "workspace", "%s%s", c->workspace,
			   c->read_only ? ", read-only" : " is writable");
}

/* Whether a server accepts connections there. */
static bool accepts(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof at.sun_path)
		return false;
	memcpy(at.sun_path, path, strlen(path) + 1);
	return connect(fd, (const struct sockaddr *)&at, sizeof at) == 0;
}

static void check_socket(struct report *r, const struct config *c)
{
	struct stat st;

	if (!c->socket) {
		report_add(r, FOUND_OFF, "socket", "only TCP is configured");
		return;
	}
	if (lstat(c->socket, &st) < 0) {
		report_add(r, FOUND_OK, "socket", "%s is free: no server runs there", c->socket);
		return;
	}
	if (!S_ISSOCK(st.st_mode)) {
		report_add(r, FOUND_FAIL, "socket",
			   "%s exists and is not a socket: remove it, or choose another (--socket)",
			   c->socket);
		return;
	}
	if (!accepts(c->socket))
		report_add(r, FOUND_WARN, "socket",
			   "%s is stale, or this user may not connect (owner %u, mode %04o); a "
			   "server started by its owner replaces it",
			   c->socket, (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
	else if (st.st_mode & S_IWOTH)
		report_add(r, c->require_auth ? FOUND_OK : FOUND_WARN, "socket",
			   "%s is open to every user (mode %04o): use --socket-mode 0660",
			   c->socket, (unsigned)st.st_mode & 07777);
	else
		report_add(r, FOUND_OK, "socket", "%s answers (owner %u, mode %04o)", c->socket,
			   (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
}

static void check_token(struct report *r, const struct config *c)
{
	struct stat st;

	if (!c->token && c->tcp_host && !config_waives_auth(c) && !container_evidence(""))
		report_add(r, FOUND_OK, "token",
			   "not set: a server makes one for TCP at each start, and its log names "
			   "the file");
	else if (!c->token && c->tcp_host)
		report_add(
			r, FOUND_WARN, "token",
			"not set: every user and program here can connect by TCP (--token-file)");
	else if (!c->token)
		report_add(r, FOUND_OFF, "token",
			   "not set: every user who may open the socket may use it (--token-file)");
	else if (c->token_file && stat(c->token_file, &st) == 0 && (st.st_mode & S_IROTH))
		report_add(r, FOUND_WARN, "token", "every user can read %s: chmod o-r %s",
			   c->token_file, c->token_file);
	else if (strlen(c->token) < SHORT_TOKEN)
		report_add(r, FOUND_WARN, "token",
			   "shorter than %d characters: it can be guessed (openssl rand -hex 32)",
			   SHORT_TOKEN);
	else
		report_add(r, FOUND_OK, "token", "set%s", c->require_auth ? ", and required" : "");
}

/* What would hold the commands of a server, or of `sidecar mcp`. */
static void check_sandbox(struct report *r, const struct config *c, const char *name,
			  enum sandbox_mode mode)
{
	struct sandbox_report found, better;
	struct err e;
	/* Then commands run without one. */
	const bool may_fail = mode == SANDBOX_BEST || (mode == SANDBOX_AUTO && landlock_abi() == 0);

	if (try_commands(c, mode, &found, &e) < 0) {
		config_name_flags(c, &e);
		report_add(r, may_fail ? FOUND_WARN : FOUND_FAIL, name, "%s%s",
			   may_fail ? "off, because no sandbox can be made here: " : "", e.msg);
	} else if (found.mode == SANDBOX_OFF) {
		const bool can = try_commands(c, SANDBOX_WORKSPACE, &better, &e) == 0;
		if (!can)
			config_name_flags(c, &e);
		report_add(r, FOUND_WARN, name, "off (%s): commands can do what user %u can; %s%s",
			   found.why, (unsigned)geteuid(),
			   can ? "--sandbox workspace holds them" : "no sandbox can be made here: ",
			   can ? "" : e.msg);
	} else if (!found.brokered && landlock_abi() < LANDLOCK_UNIX) {
		report_add(r, FOUND_WARN, name,
			   "%s (%s), but commands cannot use Unix sockets, not even in the "
			   "workspace: the server cannot look into them",
			   sandbox_mode_name(found.mode), found.why);
	} else {
		report_add(r, FOUND_OK, name, "%s (%s)", sandbox_mode_name(found.mode), found.why);
	}
}

/* Only the socket and the token, for a server that runs already. */
static void check_client(struct report *r, const struct config *c)
{
	check_socket(r, c);
	check_token(r, c);
}

/* The settings as a whole, the workspace, the socket, the token. */
static void check_setup(struct report *r, const struct config *c)
{
	struct err e;

	if (config_check(c, &e) == 0) {
		report_add(r, FOUND_OK, "settings", "consistent");
	} else {
		config_name_flags(c, &e);
		report_add(r, FOUND_FAIL, "settings", "%s", e.msg);
	}
	check_workspace(r, c);
	check_sandbox(r, c, "sandbox of serve", (enum sandbox_mode)c->sandbox);
	check_sandbox(r, c, "sandbox of mcp",
		      config_sets_sandbox(c) ? (enum sandbox_mode)c->sandbox : SANDBOX_BEST);
	check_client(r, c);
}

static const struct {
	const char *word, *colour;
} looks[] = {
	[FOUND_OK] = { "ok", "\033[32m" },
	[FOUND_OFF] = { "off", "\033[2m" },
	[FOUND_WARN] = { "warn", "\033[33m" },
	[FOUND_FAIL] = { "fail", "\033[31m" },
};

static void add_json(struct report *r, enum verdict verdict, const char *name, const char *text)
{
	if (r->json.max == 0) {
		r->json.max = LIMIT_ANSWER;
		r->writer = jw_to(&r->json);
		jw_object(&r->writer, NULL);
		jw_array(&r->writer, "findings");
	}
	jw_object(&r->writer, NULL);
	jw_str(&r->writer, "name", str_of(name));
	jw_str(&r->writer, "verdict", str_of(looks[verdict].word));
	jw_str(&r->writer, "text", str_of(text));
	jw_end(&r->writer);
}

void report_add(struct report *r, enum verdict verdict, const char *name, const char *fmt, ...)
{
	const bool colour = cli_colour(r->cli, STDOUT_FILENO);
	AUTO_BUF line = { .max = 8 << 10 };
	char text[1024];
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(text, sizeof text, fmt, list);
	va_end(list);
	r->count[verdict]++;
	if (r->cli->json) {
		add_json(r, verdict, name, text);
		return;
	}
	if (r->cli->quiet && verdict < FOUND_WARN)
		return;
	buf_addf(&line, "%s%-4s%s  %-22s ", colour ? looks[verdict].colour : "",
		 looks[verdict].word, colour ? "\033[m" : "", name);
	cli_add_text(&line, str_of(text));
	buf_addc(&line, '\n');
	cli_print(buf_str(&line));
}

/* Print the rest of the report. Returns the exit status. */
static int report_finish(struct report *r)
{
	const bool held = r->count[FOUND_FAIL] == 0;

	if (r->cli->json && r->json.max) {
		jw_end(&r->writer);
		jw_bool(&r->writer, "ok", held);
		jw_end(&r->writer);
		cli_print_line(&r->json);
	}
	buf_done(&r->json);
	if (!r->cli->json && !r->cli->quiet)
		cli_say(r->cli, "%zu ok, %zu off, %zu warnings, %zu failed", r->count[FOUND_OK],
			r->count[FOUND_OFF], r->count[FOUND_WARN], r->count[FOUND_FAIL]);
	return held ? EXIT_OK : EXIT_FAILED;
}

struct doctor_args {
	bool prove;
	const char *url;
};

static const struct option doctor_options[] = {
	{ "prove", 'p', OPTION_SWITCH, offsetof(struct doctor_args, prove), NULL,
	  "attack the server at --socket or --url, or a temporary one, and say what held" },
	{ "url", 0, OPTION_TEXT, offsetof(struct doctor_args, url), "URL",
	  "the server to attack, as http://HOST:PORT or unix:PATH" },
	OPTION_END,
};

/* Attack the running server that the command line names. 0, or the exit status. */
static int attack_named(struct report *r, const struct cli *c, const char *url,
			const struct config *config)
{
	struct cli at = *c;
	int status = EXIT_FAILED;

	at.url = url;
	at.socket = url ? NULL : config->socket;
	at.token_file = config->token_file;
	at.timeout = LIMIT_PROVE_SILENCE_MS / 1000.0;
	struct sidecar *s = cli_connect(&at, &status);
	if (!s)
		return status;
	prove_running(r, s);
	sidecar_close(s);
	return EXIT_OK;
}

static int doctor_run(struct cli *c, const void *args)
{
	const struct doctor_args *a = args;
	struct report report = { .cli = c };
	AUTO_CONFIG config = { 0 };
	int status = EXIT_OK;
	struct err e;

	if (config_load(c->settings_count, c->settings, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	if (a->url && !a->prove)
		return cli_misused(c, "--url needs --prove");
	const bool named = a->prove && (a->url || config_names_socket(&config));
	check_kernel(&report, &config, named);
	if (!named)
		check_setup(&report, &config);
	else if (!a->url)
		check_client(&report, &config);
	if (named)
		status = attack_named(&report, c, a->url, &config);
	else if (a->prove)
		prove_settings(&report, &config, c->settings_count, c->settings);
	const int found = report_finish(&report);
	return status ? status : found;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.about = "check this machine and the settings; with --prove, attack a server",
	.operands = "",
	.examples = "  sidecar doctor\n"
		    "  sidecar doctor --prove\n"
		    "  sidecar doctor --prove --socket /run/sidecar/sidecar.sock\n"
		    "  sidecar doctor --prove --sandbox strict --workspace $PWD --json\n",
	.options = doctor_options,
	.args_size = sizeof(struct doctor_args),
	.flags = VERB_PRINTS | VERB_SETTINGS,
	.run = doctor_run,
};
