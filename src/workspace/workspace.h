/* SPDX-License-Identifier: MIT */
/*
 * workspace: the one way to a file.
 *
 * A workspace is a directory held open. The data directory and, if the operator allows paths
 * outside, the outermost allowed directory are held open beside it. A path named by a caller
 * becomes an open descriptor in two steps:
 *
 *	struct path p;
 *	if (ws_resolve(ws, requested, PATH_SHORTHAND, &p, e) < 0)	what it means (path.h)
 *		return -1;
 *	AUTO_FD fd = ws_open_file(ws, &p, &st, e);	opened by the kernel, beneath
 *
 * If the operator allows paths outside, a link that leads out of the workspace is followed as well;
 * the kernel then resolves the path beneath the outermost directory.
 *
 * No other module opens, stats, renames or makes anything by a path that came from a request.
 * Many threads may use one workspace: after ws_new only its locks change, and the held directories
 * if others have taken their places. That is noticed by the next call; a link above them within a
 * second. While nothing is there, every call fails with FILE_NOT_FOUND and says that the workspace
 * does not exist any more; only what makes a file makes the workspace again.
 */
#ifndef WORKSPACE_WORKSPACE_H
#define WORKSPACE_WORKSPACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/str.h"
#include "workspace/beneath.h"
#include "workspace/path.h"

struct pending;
struct workspace;

/* What the operator decides; strings are copied. */
struct ws_options {
	const char *root;	  /* WORKSPACE_ROOT: absolute; made with its parents if missing */
	const char *data_dir;	  /* DATA_DIR, always reachable by absolute path; or NULL */
	const char *allowed_root; /* ALLOWED_ROOT_DIRECTORY, the outermost directory; or NULL */
	bool allow_outside;	  /* absolute paths are literal, within allowed_root */
	bool walk_only;		  /* never use openat2 */
};

/* Check and open everything. The error is one sentence for the operator; on failure nothing on disk
 * has changed. */
int ws_new(const struct ws_options *o, struct workspace **ret, struct err *e);
void ws_free(struct workspace *ws);

void ws_freep(struct workspace **ws);

/* Remove the directories that ws_new made, for a program that will not start after all. */
void ws_unmake(const struct workspace *ws);

#define AUTO_WORKSPACE CLEANUP(ws_freep) struct workspace *

/* The rules in force, with the canonical paths of root, data directory and allowed root. */
const struct path_rules *ws_rules(const struct workspace *ws);

/* Changes that commands make in this git directory, a canonical path, are kept as well. False if
 * there are too many already. To be called before there are threads. */
bool ws_add_git(struct workspace *ws, const char *path);

/* What `hides` says of an open file or directory is PATH_HIDDEN from now on. To be called before there
 * are threads. */
void ws_hide(struct workspace *ws, bool (*hides)(void *arg, int fd), void *arg);
bool ws_hides(const struct workspace *ws, int fd);
bool ws_hides_any(const struct workspace *ws);

/* How often a held directory has been replaced by another one of the same path. */
unsigned ws_generation(const struct workspace *ws);

/* Whether paths are resolved by openat2; if not, they are walked (beneath.h). */
bool ws_uses_openat2(const struct workspace *ws);

/* What a requested path means; nothing is opened. */
int ws_resolve(const struct workspace *ws, struct str requested, enum path_policy policy,
	       struct path *ret, struct err *e);

/* Open whatever exists at the path, with open flags as in beneath_open. */
int ws_open(const struct workspace *ws, const struct path *p, int flags, struct err *e);

/* Open an existing regular file for reading; *st is its status. NOT_A_FILE for anything else, which
 * is neither read nor waited for. */
int ws_open_file(const struct workspace *ws, const struct path *p, struct stat *st, struct err *e);

/* Open a directory for listing; NOT_A_DIRECTORY for anything else. */
int ws_open_dir(const struct workspace *ws, const struct path *p, struct err *e);

/* The status of what the path leads to, links followed. */
int ws_stat(const struct workspace *ws, const struct path *p, struct stat *st, struct err *e);

/* Where the file is or would be (beneath.h); with make_dirs its directories are made. */
int ws_place(const struct workspace *ws, const struct path *p, bool make_dirs,
	     const struct witness *witness, struct file_place *ret, struct err *e);

/* The same path without links, so that two names of one file become equal. Parts that do not exist
 * stay as they are. */
int ws_canonical(const struct workspace *ws, const struct path *p, struct path *ret, struct err *e);

/* The locks of its files (locks.h). */
struct file_locks;
struct file_locks *ws_locks(const struct workspace *ws);

/* The temporary names in use (pending.h). */
struct pending *ws_pending(const struct workspace *ws);

/* The path as an agent knows it: relative to the workspace root ("." for the root), or absolute for
 * the other bases. */
struct str ws_display(const struct workspace *ws, const struct path *p, char out[2 * PATH_MAX]);

/* The absolute path, for every base. */
struct str ws_absolute(const struct workspace *ws, const struct path *p, char out[2 * PATH_MAX]);

/* The canonical paths of the directories whose contents may be used, without those inside another
 * one; NULL after the last. They are valid as long as the workspace. */
enum { WS_TREES = PATH_BASES + 1 };
void ws_trees(const struct workspace *ws, const char *ret[WS_TREES]);

/* The path relative to the workspace root, also for the other bases: "../outside/f". */
struct str ws_relative(const struct workspace *ws, const struct path *p, char out[2 * PATH_MAX]);

/*
 * Visit the entries of an open directory, without "." and "..", in no particular order. The visitor
 * returns 0 to go on or -1 to stop with *e set. `type` is a DT_ constant, and DT_UNKNOWN only if
 * the entry has vanished. The directory's descriptor is closed in any case.
 */
typedef int ws_visit(void *arg, struct str name, unsigned char type, struct err *e);
int ws_list(int dir, ws_visit *visit, void *arg, struct err *e);

/*
 * Remove what the last name of the path stands for; of a link the link, never its target. A
 * directory that is not empty needs `tree`; without it: DIRECTORY_NOT_EMPTY. Of the workspace itself, and of
 * the other bases, only the content is removed. A tree is removed by descriptor, one level at a
 * time and never through a link: whatever other processes exchange meanwhile, nothing outside is
 * touched. `may_go_on` is asked before each entry of a tree: -1 and its error end the work.
 */
struct removal {
	const struct witness *witness; /* or NULL */
	bool tree;
	int (*may_go_on)(void *arg, struct err *e);
	void *arg;
};
int ws_remove(const struct workspace *ws, const struct removal *how, const struct path *p,
	      struct err *e);

/* Make a directory. FILE_EXISTS if something has that name; with `parents` missing directories are
 * made as well, and one that exists is none to make. */
int ws_mkdir(const struct workspace *ws, const struct witness *witness, const struct path *p,
	     bool parents, struct err *e);

/* Give what has one name (of a link the link itself) another name of the same base, whose missing
 * directories are made. FILE_EXISTS if something has it: nothing is replaced. Neither may be the
 * base itself. */
int ws_rename(const struct workspace *ws, const struct witness *witness, const struct path *from,
	      const struct path *to, struct err *e);

#endif
