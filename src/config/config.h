/* SPDX-License-Identifier: MIT */
/*
 * config: what the operator set; constant after start.
 *
 * Every setting is one row of one table (config_table.c): its environment variable, its flag, its
 * type, its default and a sentence of help. A flag wins over the environment, the environment over
 * the user's file, that over the system's file (config_file.h), and that over the default. Where
 * each value came from is kept. In flags and in the environment booleans are true for "1", "true"
 * and "yes" in any case, and false for anything else.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

enum config_paths { CONFIG_SHORTHAND, CONFIG_STRICT, CONFIG_PATHS_AUTO };
enum config_reads { CONFIG_READS_AUTO, CONFIG_READS_OFF, CONFIG_READS_ON };
enum config_set { CONFIG_SET_AUTO, CONFIG_SET_CORE, CONFIG_SET_FULL };
enum config_surface { CONFIG_SURFACE_DEFAULT, CONFIG_SURFACE_AGENT_SANDBOX };
enum config_log { CONFIG_LOG_AUTO, CONFIG_LOG_TEXT, CONFIG_LOG_JSON };

/* Where a value came from; the later one wins. */
enum config_origin {
	CONFIG_DEFAULT,
	CONFIG_SYSTEM_FILE,
	CONFIG_USER_FILE,
	CONFIG_ENVIRONMENT,
	CONFIG_FLAG,
};

enum { CONFIG_SETTINGS = 64 };	/* room for origins; checked where the table is */
enum { CONFIG_ACTIVATED = 16 }; /* sockets taken from a service manager */

struct config {
	const char *workspace, *data_dir, *allowed_root;
	bool allow_outside;
	int64_t absolute_paths; /* enum config_paths */
	int64_t openat2;	/* 0: walk instead */

	const char *socket;  /* NULL: no Unix socket */
	int64_t socket_mode; /* octal digits */
	const char *tcp_host;
	int64_t tcp_port; /* -1: none */
	const char *token, *token_file;
	bool require_auth;
	const char *allowed_uids, *allowed_origins, *allowed_hosts;

	bool read_only, fsync;
	int64_t sandbox;	/* enum sandbox_mode */
	int64_t network;	/* 0: none */
	int64_t command_policy; /* enum policy_mode */
	const char *command_rules, *sandbox_write, *sandbox_read;
	int64_t scrub; /* 1: secrets are taken out of what models see */
	const char *scrub_patterns;
	int64_t read_before_write; /* enum config_reads: may a session change what it has not read?
				    */
	int64_t tool_set;	   /* enum config_set */
	int64_t surface;	   /* enum config_surface: whose routes are served, too */
	int64_t max_commands, search_seconds;
	int64_t survivors; /* 1: what commands leave running is kept */
	int64_t limit_memory_mb, limit_processes, limit_file_mb, limit_cpu_seconds; /* 0: none */
	int64_t grace_seconds;
	int64_t log;	   /* enum config_log */
	int64_t log_level; /* enum log_level */

	const char *program; /* not the operator's: the program that starts commands, for hosts
			      * that can do without them; NULL: this one */

	int64_t open_files; /* that commands may have; we have more (process.h). 0: as many as we */

	const char *activated[CONFIG_ACTIVATED]; /* socket files that a service manager has made */

	char default_socket[108], token_text[4096]; /* where those point to */
	char tcp_text[256];
	char here[4096]; /* the current directory */

	uint8_t origin[CONFIG_SETTINGS];	 /* enum config_origin of each row of the table */
	const char *files[CONFIG_USER_FILE + 1]; /* by origin: where they would be */
	bool was_read[CONFIG_USER_FILE + 1];
	struct arena memory; /* of strings from files and the environment */
};

#define AUTO_CONFIG CLEANUP(config_done) struct config

/* Everything as it is when nobody sets anything. */
void config_defaults(struct config *ret);

/*
 * Read files, environment and flags (argv without the program's and the command's name). Errors
 * name the file, variable or flag and what it must be: unknown flag, missing value, not a number.
 * config_done is due afterwards, also when this fails.
 */
int config_load(int argc, char **argv, struct config *ret, struct err *e);

/* Whether a server can be run with it: one of TCP_HOST and TCP_PORT alone, authentication required
 * without a token, TCP beyond loopback without a token, a file that tools can write. */
int config_check(const struct config *c, struct err *e);

/* Both. */
int config_read(int argc, char **argv, struct config *ret, struct err *e);

/* The same for `sidecar mcp`, which has no listeners: the workspace is the current directory unless
 * one is set, and only warnings are logged. */
int config_read_mcp(int argc, char **argv, struct config *ret, struct err *e);

/* Only what tells a client where the server is: socket, tcp_host, tcp_port, token, token_file. What
 * else is wrong in the environment is not the client's business. Of socket and tcp_host the one
 * that is to be used is set, the other NULL. */
int config_load_client(struct config *ret, struct err *e);

void config_done(struct config *c);

/* Is the socket the one a flag names, not one that is usual here? */
bool config_names_socket(const struct config *c);

/* Set host and port from "HOST:PORT", which `name` stands for. */
int config_set_tcp(struct config *c, const char *name, const char *text, enum config_origin from,
		   struct err *e);

/* Read the token from c->token_file into the config. */
int config_read_token(struct config *c, struct err *e);

/* Where the i-th setting's value came from, in words: "default", "the environment (SOCKET_PATH)",
 * "/etc/sidecar/config.json", "--socket". */
void config_origin_text(const struct config *c, size_t i, char *to, size_t size);

/* The settings as help text, one a line; without `listens` those about listening are left out. */
void config_help(struct buf *out, bool listens);

#endif
