/* SPDX-License-Identifier: MIT */
/*
 * record: what setup has changed for one agent in one place, kept so that --undo can take it back.
 *
 * A record lives in the user's state directory, never next to the configuration, where the agent
 * could change it. It is written before the files are: if setup is interrupted, undo finds them
 * unchanged and leaves them alone.
 */
#ifndef SETUP_RECORD_H
#define SETUP_RECORD_H

#include <limits.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"

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
	struct record_file file[RECORD_FILES];
	size_t count;
};

/* The record of an agent in a project, or of the user's files if project is NULL. Without one,
 * count is 0. The contents are in `memory`. */
int record_load(const char *agent, const char *project, struct arena *memory,
		struct setup_record *ret, struct err *e);

/* Write it to disk; a record without files is removed. */
int record_save(const struct setup_record *r, struct err *e);

/* The file of that path, or NULL. */
struct record_file *record_find(struct setup_record *r, const char *path);

/* The hash of a content, and whether that is what setup wrote. */
void record_hash(struct str content, char out[SHA256_TEXT]);
bool record_matches(const struct record_file *f, struct str content);

#endif
