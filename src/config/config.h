/* SPDX-License-Identifier: MIT */
/*
 * config: read what the operator set, from flags, environment and files; constant after start.
 *
 * The settings are rows of one table (settings.h). A flag wins over the environment, the
 * environment over the user's file, that over the system's file, and that over the default.
 * Where each value came from is kept.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <limits.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "config/settings.h"

#define AUTO_CONFIG CLEANUP(config_done) struct config

/* Everything as it is if the operator sets nothing. */
void config_defaults(struct config *ret);

/*
 * Read files, environment and flags (argv without the names of program and command). Errors name
 * the file, variable or flag and what it must be: unknown flag, missing value, not a number. The
 * caller calls config_done even if this fails.
 */
int config_load(int argc, char **argv, struct config *ret, struct err *e);

/* Check whether a server can run with it. Errors: only one of TCP_HOST and TCP_PORT, authentication
 * required without a token, TCP beyond loopback without a token, a file that tools can write. */
int config_check(const struct config *c, struct err *e);

/* config_load, then config_check. A secret in the environment is overwritten there. */
int config_read(int argc, char **argv, struct config *ret, struct err *e);

/* The same for `sidecar serve --private`: what files and environment say about listening is meant
 * for another server, and is ignored. Without --socket and --tcp, socket is NULL. */
int config_read_private(int argc, char **argv, struct config *ret, struct err *e);

/* The same for `sidecar mcp`, which has no listeners: by default the workspace is the current
 * directory, the sandbox is the strongest that can be had, and only warnings are logged. */
int config_read_mcp(int argc, char **argv, struct config *ret, struct err *e);

/* Read only what tells a client where the server is: socket, tcp_host, tcp_port, token, token_file.
 * Other mistakes in the environment do not concern a client. Only one of socket and tcp_host is set
 * afterwards; the other is NULL. */
int config_load_client(struct config *ret, struct err *e);

void config_done(struct config *c);

/* Did the operator say that a token is not required? */
bool config_waives_auth(const struct config *c);

/* In a sentence about settings, write flags instead of the names of variables, unless the operator
 * set one of those variables. */
void config_name_flags(const struct config *c, struct err *e);

/* Whether the operator has chosen a sandbox. */
bool config_sets_sandbox(const struct config *c);

/* Whether somebody has said where to listen, or whom to speak to. */
bool config_names_address(const struct config *c);

/* Whether a flag names the socket. */
bool config_names_socket(const struct config *c);

/* The directory in which the caches of all workspaces are (SIDECAR_CACHE); false: there is to be none. */
bool config_caches(const struct config *c, char out[PATH_MAX]);

/* Read the token from c->token_file into the config. */
int config_read_token(struct config *c, struct err *e);

/* Where the i-th setting's value came from, in words: "default", "the environment (SOCKET_PATH)",
 * "/etc/sidecar/config.json", "--socket". */
void config_origin_text(const struct config *c, size_t i, char *to, size_t size);

/* The settings as help text, one a line; without `listens` those about listening are left out. Lines are
 * wrapped to that many columns, if it is not 0. */
void config_help(struct buf *out, bool listens, size_t columns);

/* config_file: settings from a JSON file.
 *
 *	{ "workspace": "/workspace", "read-only": true, "max-commands": 8, "tcp": "127.0.0.1:8080" }
 *
 * A member has the name of its flag. Switches are booleans, numbers are numbers, everything else
 * is a string. A file decides what the server allows, so a file that other users could have written
 * is refused: it must belong to this user or to root and must not be writable by everybody. A file
 * that contains a token must not be readable by everybody.
 */

/* Set config->files to the absolute paths of the system's and the user's file; NULL if the user has
 * no directory for one. */
int config_file_paths(struct config *c, struct err *e);

/* Read one of them, CONFIG_USER_FILE or CONFIG_SYSTEM_FILE. A missing file is not an error. The
 * error's sentence names the file and the member. */
int config_file_read(struct config *c, enum config_origin which, struct err *e);

/* The same from its text, which must outlive the config; `is_public` if everybody can read it. A
 * name that is set twice is an error, and so is an unknown one. */
int config_file_set(struct config *c, enum config_origin which, struct str text, bool is_public,
		    struct err *e);

/* Refuse a file that lies in the workspace or in the data directory: tools could change it, and
 * with it what they are allowed to do. */
int config_file_check(const struct config *c, struct err *e);

#endif
