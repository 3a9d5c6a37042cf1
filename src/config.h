/* SPDX-License-Identifier: MIT */
/*
 * config: what the operator set; constant after start.
 *
 * Every setting is one row of one table (config.c): its environment variable, its flag, its type,
 * its default and a sentence of help. A flag wins over the environment, the environment over the
 * default. Booleans are true for "1", "true" and "yes" in any case, and false for anything else.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum config_paths { CONFIG_SHORTHAND, CONFIG_STRICT };
enum config_set { CONFIG_SET_AUTO, CONFIG_SET_CORE, CONFIG_SET_FULL };
enum config_log { CONFIG_LOG_AUTO, CONFIG_LOG_TEXT, CONFIG_LOG_JSON };

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
	int64_t read_before_write; /* 1: a session changes only what it has read */
	int64_t tool_set;	   /* enum config_set */
	int64_t max_commands, search_seconds;
	int64_t grace_seconds;
	int64_t log;	   /* enum config_log */
	int64_t log_level; /* enum log_level */

	char default_socket[108], token_text[4096]; /* where those point to */
	char tcp_text[256];
};

/* Where a value came from. */
enum config_origin { CONFIG_DEFAULT, CONFIG_ENVIRONMENT, CONFIG_FLAG };

/*
 * Read the environment and the flags (argv without the program's and the command's name). Errors
 * name the variable or flag and what it must be: unknown flag, missing value, not a number, one of
 * TCP_HOST and TCP_PORT alone, authentication required without a token, TCP beyond loopback
 * without a token.
 */
int config_read(int argc, char **argv, struct config *ret, struct err *e);

/* The settings as help text, one a line. */
void config_help(struct buf *out);

#endif
