/* SPDX-License-Identifier: MIT */
/*
 * place: where a configuration file is, and how it is read and written.
 *
 * A file is replaced as a whole or not at all, keeps its mode, owner and attributes, and is
 * followed through symbolic links, so that a linked dotfile stays a link. Paths are absolute.
 */
#ifndef SETUP_PLACE_H
#define SETUP_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "setup/agents.h"

/* What a file contains; a missing file is empty and does not exist. */
struct place_content {
	struct buf bytes;
	bool exists;
	bool private; /* only its owner may read it: it has copies of configurations */
};

/* The path of an agent's file: the user's if `user`, else that of the project. INVALID_CONFIG if
 * the home directory is not known. */
int place_of(const struct agent_file *f, bool user, const char *project, char out[PATH_MAX],
	     struct err *e);

/* The directory for what --undo needs. */
int place_of_records(char out[PATH_MAX], struct err *e);

/* The directory in which the program was started. */
int place_of_project(char out[PATH_MAX], struct err *e);

/* The program as a configuration should name it: "sidecar" if PATH leads to this one, else its
 * path. */
int place_of_program(char out[PATH_MAX], struct err *e);

/* The first program of that name in PATH; false if there is none. */
bool place_find_program(const char *name, char out[PATH_MAX]);

/* Read a file. Anything but a regular file, and a link that leads nowhere, is an error. */
int place_read(const char *path, struct place_content *ret, struct err *e);
void place_content_done(struct place_content *c);

/* The first of the directories around a file that does not exist yet; "" if all of them do. */
void place_first_missing(const char *path, char out[PATH_MAX]);

/* Write or remove a file if it still has the content `from`; otherwise CONFLICT, and nothing has
 * changed. Directories are made; with a removed file, those up to `made` are removed if they are
 * empty. */
int place_change(const char *path, const struct place_content *from, const struct place_content *to,
		 const char *made, struct err *e);

#endif
