/* SPDX-License-Identifier: MIT */
/*
 * sandbox_config: what is asked of a sandbox, and the report of what is in force.
 */
#ifndef SANDBOX_SANDBOX_CONFIG_H
#define SANDBOX_SANDBOX_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

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

/* What the operator asked for. All paths are canonical (sandbox/canonical.h), except in the lists
 * given to runner_new, which makes them canonical. */
struct sandbox_config {
	enum sandbox_mode mode;
	bool no_network;
	bool read_only;		  /* the workspace cannot be written either */
	bool namespaces;	  /* are required, because they were in force before */
	bool listens;		  /* commands may run under a listener that sees changes */
	bool brokered;		  /* … and do, and the server makes their connections */
	bool supervised;	  /* … and without namespaces do, and the server judges what file
				   * rules do not hold (sandbox/floor.h) */
	bool allow_truncate;	  /* also where nothing holds that files outside are emptied */
	const char *workspace;	  /* required unless the mode is off and read_only is not set */
	const char *scratch;	  /* the private /tmp (sandbox/scratch.h) */
	struct path_list write;	  /* more that may be written (DATA_DIR, SIDECAR_SANDBOX_WRITE) */
	struct path_list read;	  /* more that may be read (SIDECAR_SANDBOX_READ), also if it lies
				   * below a private directory such as /tmp */
	struct path_list hide;	  /* with namespaces: made invisible (sandbox/covers.h) */
	struct path_list sockets; /* of other programs, which commands may use
				   * (SIDECAR_SANDBOX_SOCKETS): sockets, and directories with them */
	uint16_t ports[SANDBOX_PORTS]; /* on which the server listens by TCP; then zeros */
};

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

/* The devices that every command may write, and whether it is one of them. */
struct path_list sandbox_devices(void);
bool sandbox_is_device(const char *name, bool namespaces);

/* Whether root may write to the workspace only by its privilege, as in a container whose workspace
 * belongs to a user of the host. Then commands keep CAP_DAC_OVERRIDE. */
bool sandbox_needs_override(const struct sandbox_config *c);

#endif
