/* SPDX-License-Identifier: MIT */
/*
 * sandbox: what a command cannot do, whatever it tries.
 *
 * The spawner (exec/keeper.h) itself lives in most of it: namespaces, system-call filter,
 * no_new_privs, no capabilities; all commands inherit that for free. A new process only enters a
 * Landlock domain of its own, one system call between vfork and exec. There are two strengths:
 *
 *	the floor	Landlock, seccomp, no_new_privs, no capabilities. Works on every kernel
 *			that has Landlock. Where it has none, the namespaces hold alone, with
 *			a read-only /proc, few devices, and a spawner that cannot be traced.
 *	namespaces	Everything outside is mounted read-only; other processes, foreign sockets
 *			and secret files are not there at all. Commands of one server share
 *			the namespaces, and with them /tmp.
 *
 * In namespaces a command sees
 *
 *	processes	only commands, and the spawner as process 1: its death ends them all
 *	mounts		everything read-only except what may be written; private /tmp, /dev/shm and
 *			/dev/pts; an empty /run; nothing of what is to be hidden
 *	IPC		its own
 *	network		its own, with a loopback and nothing else, if there is to be no network
 *
 * They need no privilege where the kernel lets users make user namespaces, and no user namespace
 * where the server has the privilege.
 *
 * What is in force is found by trying (sandbox/probe.c) and listed in a struct sandbox_report. What
 * was asked for and is not possible is an error that names the remedy; nothing is weakened
 * silently.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* sandbox_config: what is asked of a sandbox, and the report of what is in force. */

enum sandbox_mode {
	SANDBOX_OFF,
	SANDBOX_WORKSPACE,
	SANDBOX_STRICT,
	SANDBOX_AUTO, /* workspace; off in a container and where it cannot be had */
	SANDBOX_BEST, /* workspace; off where it cannot be had. No setting: the default of MCP */
};

struct path_list {
	const char *const *item;
	size_t count;
};

enum { SANDBOX_PORTS = 16 };

/* Calls that no rule of the sandbox holds, and that stop therefore. */
enum sandbox_stop { SANDBOX_STOPS_EMPTYING, SANDBOX_STOPS_CONNECTIONS, SANDBOX_STOPS_INTERNET };

/* What the operator asked for. All paths are canonical (sandbox/canonical.h), except in the lists
 * given to runner_new, which makes them canonical. */
struct sandbox_config {
	enum sandbox_mode mode;
	bool no_network;
	bool read_only;		/* the workspace cannot be written either */
	bool namespaces;	/* are required, because they were in force before */
	bool listens;		/* commands may run under a listener that sees changes */
	bool guarded;		/* … and do, and without a server nothing is changed */
	bool brokered;		/* … and do, and the server makes their connections */
	bool supervised;	/* … and without namespaces do, and the server judges what file
				   * rules do not hold (supervise/floor.c) */
	bool allow_truncate;	/* also where nothing holds that files outside are emptied */
	const char *workspace;	/* required unless the mode is off and read_only is not set */
	const char *scratch;	/* the private /tmp (sandbox/scratch.h) */
	const char *cache;	/* kept between sessions (sandbox/cache.h), and in `write`;
				 * NULL: none */
	struct path_list write; /* more that may be written (DATA_DIR, SIDECAR_SANDBOX_WRITE) */
	struct path_list read;	/* more that may be read (SIDECAR_SANDBOX_READ), also if it lies
				   * below a private directory such as /tmp */
	struct path_list hide;	/* with namespaces: made invisible (sandbox/covers.h) */
	struct path_list
		protect; /* with namespaces: in the workspace, cannot be changed or moved */
	struct path_list sockets; /* of other programs, which commands may use
				   * (SIDECAR_SANDBOX_SOCKETS): sockets, and directories with them */
	struct path_list git; /* git directories of which commands may write a part, in pairs: own
			       * and common (sandbox/gitdir.h) */
	uint16_t ports[SANDBOX_PORTS]; /* on which the server listens by TCP; then zeros */

	/* If calls of commands stop: does such an attempt fail while there is no server to judge
	 * it? `attempt` says whether its call did. The process that asks makes none afterwards. */
	bool (*refuses)(enum sandbox_stop what, bool (*attempt)(void));
};

/* The strings of a configuration as they are passed on: workspace, scratch and cache (empty: NULL),
 * then the lists. How many they are; add them, each with its NUL; and let a configuration with the same
 * counts point to them. */
size_t sandbox_string_count(const struct sandbox_config *config);
void sandbox_add_strings(const struct sandbox_config *config, struct buf *out);
void sandbox_point_to(struct sandbox_config *config, const char *const *string);

/* One protection, and whether an attempt against it failed as it should. */
struct sandbox_fact {
	char name[32];
	bool in_force;
	char note[128]; /* what it cannot stop, or why it is not in force; may be empty */
};

/* The note of a protection that is not in force because it was not asked for. */
#define SANDBOX_NOT_ASKED "not asked for"

struct sandbox_report {
	enum sandbox_mode mode; /* off, workspace or strict */
	bool namespaces;
	bool brokered; /* the server makes the connections of commands */
	int unwatched; /* commands cannot be watched: errno of the attempt; 0: they can, or it was
			* not asked for */
	char why[256]; /* one sentence: how the mode was chosen */
	size_t count;
	struct sandbox_fact fact[24];
};

/* When something applies: if all of these are given. */
enum sandbox_when {
	WHEN_NAMESPACES = 1 << 0,
	WHEN_NO_NETWORK = 1 << 1,
	WHEN_READ_ONLY = 1 << 2,
	WHEN_STRICT = 1 << 3,
	WHEN_OTHER = 1 << 4, /* the first one that a table may define for itself */
};

/* What is given with a settled configuration, as WHEN_… */
unsigned sandbox_given(const struct sandbox_config *config, bool namespaces);

const char *sandbox_mode_name(enum sandbox_mode mode);

/* Decide what is asked for: auto and best become off or workspace, read_only brings at least
 * workspace, strict has no network. The report gets the mode and the reason. Fails if this kernel
 * cannot enforce the mode. */
int sandbox_settle(struct sandbox_config *config, struct sandbox_report *report, struct err *e);

/* Namespaces could not be made, for that reason. 0: the mode can do without them, and the report
 * says so; -1: it cannot, and *e names the remedy. */
int sandbox_forgo_namespaces(const struct sandbox_config *config, const struct err *reason,
			     struct sandbox_report *report, struct err *e);

/* Why commands cannot be watched, in a few words; NULL: they can, or it was not asked for. */
const char *sandbox_unwatched(const struct sandbox_report *report);

/* The Landlock rule set of a settled configuration, which is the table in docs/security.md of what
 * may be read and written: a descriptor, or -1. */
int sandbox_rules(const struct sandbox_config *config, bool namespaces, struct err *e);

/* Is another program's socket refused to commands, and their own is not? Either the server makes
 * their connections, or the kernel knows which sockets they may use. */
bool sandbox_knows_sockets(const struct sandbox_config *config);

/* Are commands kept from the server's own ports, and from nothing else? Otherwise they have no
 * Internet sockets: no process could judge where a connection leads. */
bool sandbox_knows_ports(const struct sandbox_config *config);

/* Are Internet sockets stopped and refused by the server, which can then name them? Without
 * namespaces, if there is to be no network. */
bool sandbox_stops_internet(const struct sandbox_config *config, bool namespaces);

/* The devices that every command may write, and whether it is one of them. */
struct path_list sandbox_devices(void);
bool sandbox_is_device(const char *name, bool namespaces);

/* Whether root may write to the workspace only by its privilege, as in a container whose workspace
 * belongs to a user of the host. Then commands keep CAP_DAC_OVERRIDE. */
bool sandbox_needs_override(const struct sandbox_config *c);

/*
 * container: does this process live in a container?
 *
 * It is concluded from what the kernel shows and from the files that runtimes leave in the root of
 * a container. Everyone can set a variable, so a variable alone proves nothing: it only counts for
 * a process that has a PID namespace of its own.
 */

/* What shows it, in a few words; NULL if nothing does. `root` stands for "/" (tests give another
 * directory); "" is the real one. */
const char *container_evidence(const char *root);

/* Complete the report by trying: a child enters the sandbox and attempts, harmlessly, what it must
 * not be able to do. If such an attempt succeeds although its protection was asked for, that is an
 * error. What this kernel cannot stop, or cannot stop without namespaces, is listed as not in force,
 * with the reason. `rules` is the Landlock rule set that commands enter, or -1; everything else is
 * already in force in the calling process. */
int probe_run(int rules, const struct sandbox_config *config, bool namespaces,
	      struct sandbox_report *report, struct err *e);

struct sandbox;

/* In the keeper, which has one thread: fork into new namespaces, in which the user stays the same.
 * Returns as fork does. */
pid_t sandbox_fork(bool no_network);

/* In the spawner, which has one thread and has just been forked (with namespaces: by sandbox_fork):
 * put in force what its children inherit, prepare what each of them enters, and try everything out
 * in a child. The configuration has been settled. The sandbox is NULL if the mode is off. After a
 * failure part of it may be in force, and the process must end. */
int sandbox_make(const struct sandbox_config *config, bool namespaces, struct sandbox **ret,
		 struct sandbox_report *report, struct err *e);

/* The variables that a command gets in addition: TMPDIR, and if HOME cannot be written, where tools
 * keep what they fetch: in the cache, or without one in the private /tmp. The strings belong to the sandbox. */
char *const *sandbox_variables(const struct sandbox *sb, size_t *count);

/* Does a process of this sandbox see other mounts than the server? NULL sees the same. */
bool sandbox_has_mounts(const struct sandbox *sb);

/* Give the private directories their permissions back if a command has changed them: otherwise the
 * next one could not use /tmp, nor a workspace that lies in it. */
void sandbox_reset_permissions(const struct sandbox *sb);

/* Put the calling process, which is about to exec, into the sandbox. 0, or -1 with errno. */
int sandbox_enter(const struct sandbox *sb);

#endif
