/* SPDX-License-Identifier: MIT */
/*
 * config_file: settings from a JSON file.
 *
 *	{ "workspace": "/workspace", "read-only": true, "max-commands": 8, "tcp": "127.0.0.1:8080" }
 *
 * A member has the name of its flag. Switches are booleans, numbers are numbers, everything else
 * is a string. A file is a way to change what the server allows, so one that others could have
 * written is refused: it must belong to this user or to root and must not be writable by everybody;
 * one that holds a token must not be readable by everybody.
 */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include "config/config.h"

/* Where the user's and the system's file are, in config->files: absolute, in the config's memory;
 * NULL where there is no such place. */
int config_file_places(struct config *c, struct err *e);

/* Read one of them, CONFIG_USER_FILE or CONFIG_SYSTEM_FILE. No such file is no error. The sentence
 * names the file and the member. */
int config_file_read(struct config *c, enum config_origin which, struct err *e);

/* The same from its text, which must live as long as the config; `is_public` when everybody can
 * read it. A name that is set twice is an error, and so is one nobody knows. */
int config_file_set(struct config *c, enum config_origin which, struct str text, bool is_public,
		    struct err *e);

/* A file that the tools themselves may change is no authority over them: an error when one that
 * was read lies in the workspace or in the data directory. */
int config_file_check(const struct config *c, struct err *e);

#endif
