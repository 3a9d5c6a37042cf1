/* SPDX-License-Identifier: MIT */
/*
 * room: the directory of a store, made, locked and tidied up.
 */
#ifndef CHANGES_ROOM_H
#define CHANGES_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct room {
	int dir, links, stage, lock; /* the caller closes them */
	uint64_t seed;
};

/* Make the directory if it is missing, for this user alone, and take its lock. -1 with a sentence
 * for the operator. */
int room_open(const char *path, struct str workspace, struct room *ret, struct err *e);

/* "/home/me/project" → "project-0123456789abcdef": the name of its room. */
enum { ROOM_NAME = 96 };
void room_name(struct str workspace, char out[ROOM_NAME]);

/* Remove the room that `dir` is open on, which is called `name` in `parent`, file by file: what a
 * store does not put there stays, and the directory with it. */
void room_remove(int dir, int parent, const char *name);

/* Remove the links of a segment. */
void room_remove_links(int links, const char *segment);

/* Remove rooms in `parent` that no server uses, whose newest record is older than that, or whose
 * workspace does not exist any more and that are a day old. A directory that is not provably a
 * room is left alone, and so is one with a file that is none of a store's. */
void room_tidy(const char *parent, int64_t max_age_ms);

/* The numbers of the segments in the directory, in no order; at most `max`. */
size_t room_segments(int dir, uint32_t *to, size_t max);

/* How many bytes the links of a segment have, and the greatest number among them. */
void room_count_links(int links, uint32_t segment, int64_t *bytes, uint32_t *last);

/* The number of a link of that inode among those of a segment; false if there is none. */
bool room_find_inode(int links, uint32_t segment, uint64_t ino, uint32_t *number);

#endif
