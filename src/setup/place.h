/* SPDX-License-Identifier: MIT */
/*
 * place: where a configuration file is, how it is read and written, and the record of that.
 *
 * A file is replaced as a whole or not at all, keeps its mode, owner and attributes, and is
 * followed through symbolic links, so that a linked dotfile stays a link. Paths are absolute.
 */
#ifndef SETUP_PLACE_H
#define SETUP_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
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

/* The program: its path, and as a configuration should name it: "sidecar" if PATH leads to this one,
 * else its path. */
int place_of_program(char self[PATH_MAX], char out[PATH_MAX], struct err *e);

/* The first program of that name in PATH; false if there is none. */
bool place_find_program(const char *name, char out[PATH_MAX]);

/* Whether a file is there, or a directory in which something is. */
bool place_has_content(const char *path);

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

/*
 * record: what setup has changed for one agent in one place, kept so that --undo can take it back.
 *
 * A record lives in the user's state directory, never next to the configuration, where the agent
 * could change it. It is written before the files are: if setup is interrupted, undo finds them
 * unchanged and leaves them alone.
 */

enum { RECORD_FILES = 2 };

struct record_file {
	struct str path;
	bool existed;
	struct str before;	 /* its content before the first setup */
	char after[SHA256_TEXT]; /* the hash of what setup wrote; "": it was edited in between */
	struct str made;	 /* the first directory that setup made for it, or empty */
};

struct setup_record {
	char path[PATH_MAX]; /* of the record itself */
	const char *project; /* its directory; NULL: the user's files */
	struct record_file file[RECORD_FILES];
	size_t count;
};

/* The record of an agent in a project, or of the user's files if project is NULL. Without one,
 * count is 0. The contents are in `memory`. */
int record_load(const char *agent, const char *project, struct arena *memory,
		struct setup_record *ret, struct err *e);

/* Write it to disk; a record without files is removed. */
int record_save(const struct setup_record *r, struct err *e);

/* What a record is of. */
struct record_name {
	struct record_name *next;
	const char *agent, *project; /* NULL: the user's files */
};

/* All records, in the arena; NULL: there are none. One that cannot be read is left out, and
 * *unreadable counts them. */
struct record_name *record_list(struct arena *memory, size_t *unreadable);

/* The file of that path, or NULL. */
struct record_file *record_find(struct setup_record *r, const char *path);

/* The hash of a content, and whether that is what setup wrote. */
void record_hash(struct str content, char out[SHA256_TEXT]);
bool record_matches(const struct record_file *f, struct str content);

#endif
