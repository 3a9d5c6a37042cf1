/* SPDX-License-Identifier: MIT */
/*
 * config_file: settings from a JSON file.
 *
 *	{ "workspace": "/workspace", "read-only": true, "max-commands": 8, "tcp": "127.0.0.1:8080" }
 *
 * A member has the name of its flag. Switches are booleans, numbers are numbers, everything else
 * is a string. A file decides what the server allows, so a file that other users could have written
 * is refused: it must belong to this user or to root and must not be writable by everybody. A file
 * that contains a token must not be readable by everybody.
 */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include "config/settings.h"

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
