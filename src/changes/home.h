/* SPDX-License-Identifier: MIT */
/*
 * home: the directory in which the history of one workspace lies, and the programs that use it.
 *
 *	<name of the workspace>-<hash of its path>/	0700
 *		workspace		the path of the workspace
 *		key			the seed of all checksums and hashes
 *		lock			flock: shared by all who use the home, alone by who removes it
 *		turns			ranges: who changes files takes turns (workspace/locks.h)
 *		numbers			a byte for each change that ever was: its size is the last number;
 *					locked by who looks whether the home is complete
 *		segments		the same for segments
 *		writers/W		a program that uses the home; its pid. Two locks, see below
 *		0000002a-W.log		a segment of records (store.h) that W appends to
 *		00000029.log		one that nobody appends to any more
 *		links/2a/7		inodes of removed and replaced files, by segment
 *		stage/			what an undo is moving
 *
 * Any number of programs of one user may use a home at once: servers, agents' MCP servers, the
 * command line. There is no server between them, and none ever waits for another to finish a
 * record. What they share:
 *
 * - **Numbers.** A new change appends a byte to `numbers`; where that ends is its number. The kernel
 *   makes appends one after the other, so numbers are unique and in order, and a program that is
 *   stopped or dies between two system calls holds nobody up.
 * - **Segments.** Each has one owner or none, and its name says which: renaming it is the only way
 *   to change that. The owner alone appends to it. A change lies in one segment, with everything
 *   that was kept for it, so a segment can be removed without leaving a half.
 * - **Writers.** W is a random number. Its file has two locks. The program alone has the first (a
 *   range): who gets that knows that W appends no record any more, and takes over its segments. The
 *   processes that run its commands inherit the second (flock): who gets that knows that W's
 *   commands change nothing any more either, and finishes their changes.
 *
 * | who dies, when | what is left | who mends it |
 * |---|---|---|
 * | W, at any time | its segments; what it had begun | the next program that starts, lists or undoes takes the first lock, renames the segments to its own, and takes back what W did itself: an undo, a patch |
 * | its commands, soon after | what they have changed | whoever lists or undoes once the second lock is free (recording.h) |
 * | who mends, on the way | segments of two owners | the same, again: each rename is one step |
 * | who removes a segment, before its links | links without a segment | the next start |
 * | who makes a home, before it is complete | a home without key | the next start completes it |
 * | who removes a home, on the way | the rest of it | whoever uses that workspace next, or removes old homes |
 *
 * Nobody removes what another one needs: only segments without owner are removed, by one unlink of
 * that name, which fails if somebody has taken it over meanwhile. A home is removed only by who has
 * its lock alone.
 */
#ifndef CHANGES_HOME_H
#define CHANGES_HOME_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct home {
	int dir, links, stage; /* directories */
	int lock, turns, numbers;
	int writer, self; /* of the writer's file: for its commands' processes; for itself alone */
	uint64_t id;	  /* the number of this writer */
	uint64_t seed;
};

#define HOME_NONE                                                                                  \
	((struct home){ .dir = -1,                                                                 \
			.links = -1,                                                               \
			.stage = -1,                                                               \
			.lock = -1,                                                                \
			.turns = -1,                                                               \
			.numbers = -1,                                                             \
			.writer = -1,                                                              \
			.self = -1 })

/* Make the directory if it is missing, for this user alone, and become one of its writers. -1 with
 * a sentence for the operator. */
int home_open(const char *path, struct str workspace, struct home *ret, struct err *e);

/* Leave it. With `empty` it is removed, unless others use it. */
void home_close(struct home *h, const char *path, bool empty);

/* The number of a new change, or segment: greater than `last`, the greatest that is known. 0 with
 * errno. Not by two threads at once. */
uint64_t home_number(const struct home *h, uint64_t last);
uint32_t home_segment_number(const struct home *h, uint32_t last);

/* A descriptor that has the first lock of that writer, which is dead; -1 if it lives, or somebody
 * else takes care of it. */
int home_claim(const struct home *h, uint64_t writer);

/* Remove the files of dead writers that have no segments any more, but those of which processes of
 * commands still live. False: there are such. */
bool home_sweep(const struct home *h);

/* "/home/me/project" → "project-0123456789abcdef": the name of its home. */
enum { HOME_NAME = 96 };
void home_name(struct str workspace, char out[HOME_NAME]);

/* The names of segments. */
enum { SEGMENT_NAME = 40 };
void home_segment_name(uint32_t number, uint64_t owner, char out[SEGMENT_NAME]);

typedef void segment_visit(void *arg, uint32_t number, uint64_t owner);
void home_segments(int dir, segment_visit *visit, void *arg);

/* Remove the links of a segment; and of all that have no segment. */
void home_remove_links(int links, uint32_t segment);
void home_remove_lost_links(const struct home *h);

/* How many bytes the links of a segment have, and the greatest number among them. */
void home_count_links(int links, uint32_t segment, int64_t *bytes, uint32_t *last);

/* The number of a link of that inode among those of a segment; false if there is none. */
bool home_find_inode(int links, uint32_t segment, uint64_t ino, uint32_t *number);

/* For homes.h: the files and directories of a home; the entries of a directory, but "." and ".."
 * (NULL: none can be had, or there are no more); whether a name is that of a segment; the beginning
 * of a file, as a text; whether nobody else uses the home of that lock, which nobody can do then
 * before it is closed; and removing the home that `dir` is open on, which is called `name` in
 * `parent`, file by file: what is none of a home's files stays, and the directory with it. */
extern const char *const home_files[], *const home_dirs[];
DIR *home_entries(int dir, const char *name);
const char *home_next(DIR *d);
void home_close_dir(DIR **d);
bool home_is_segment(const char *name, uint32_t *number, uint64_t *owner);
int home_read_file(int dir, const char *name, char *to, size_t size);
bool home_is_alone(int lock);
void home_remove(int dir, int parent, const char *name);

#endif
