/* SPDX-License-Identifier: MIT */
/*
 * patching: what a patch makes of the files of the workspace, in memory.
 *
 * Every path is resolved before any file is read. Then the files of the patch are gone through in
 * its order, each about what the earlier ones have left; a unified patch's renames and copies are
 * about the files as they were, as in git. Nothing is written here: patching_apply does that, for
 * all files or none (changes/batch.h).
 */
#ifndef TOOLS_PATCHING_H
#define TOOLS_PATCHING_H

#include <sys/stat.h>

#include "base/buf.h"
#include "patch/patch.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "workspace/tracker.h"

/* One path that the patch is about. */
struct patched {
	struct path path;     /* without links */
	struct str shown;     /* as an agent knows it */
	bool was;	      /* there is a file now */
	struct stat st;	      /* of it */
	struct buf old, new;  /* its content now; and by the patch, if `changed` */
	bool stays;	      /* there is a file afterwards … */
	bool changed;	      /* … with other content than it has now */
	bool arrived;	      /* what is there was made, moved or copied to this path */
	bool left;	      /* what was there was moved to another path */
	bool copied;	      /* `from` is still there */
	unsigned mode;	      /* that the patch gives it; 0: it does not say */
	struct patched *from; /* where its content was; or NULL */
	enum tracker_verdict seen;
};

struct patching {
	struct call *c;
	struct patch patch;
	struct patched *files; /* in the order in which the patch names them */
	uint32_t *hashes;      /* of their paths */
	size_t count;
	size_t bytes; /* of all contents */
	struct edits_note *notes, *last_note;
	struct arena scratch; /* for one file at a time */
};

#define AUTO_PATCHING CLEANUP(patching_done) struct patching

void patching_done(struct patching *p);

/* Plan the patch, whose relative paths start in `base`, a directory; empty: the workspace. -1 with the reason, which names the file: INVALID_PATCH, TEXT_NOT_FOUND,
 * TEXT_NOT_UNIQUE, FILE_NOT_FOUND, FILE_EXISTS, FILE_NOT_READ, REDACTED_CONTENT … */
int patching_plan(struct call *c, struct str text, enum patch_format format, int strip,
		  struct str base, struct patching *p, struct err *e);

/* What becomes of a path, in a word: "created", "modified", "deleted", "renamed", "copied"; NULL if
 * nothing, or if another path tells it. */
const char *patching_kind(const struct patched *f);

/* The contents that a diff of it compares. */
struct str patching_old(const struct patched *f);
struct str patching_new(const struct patched *f);

/* Change the files; `tool` is the name of the tool for the journal. The caller has held locks_take_all
 * since before patching_plan. */
int patching_apply(struct patching *p, const char *tool, struct err *e);

#endif
