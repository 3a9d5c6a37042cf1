/* SPDX-License-Identifier: MIT */
/*
 * gitdir: a git directory that lies outside the directory whose files it keeps, and what of it
 * sandboxed commands may write.
 *
 * In a linked worktree and in a submodule `.git` is a file that names the git directory. A command
 * that cannot write there cannot commit. Commands can write the file `.git`, so it alone proves
 * nothing: the git directory, which they cannot write, must point back.
 *
 * Nothing of this is a rule of the sandbox, for which all of it stays read-only: Landlock and mounts
 * know no names that do not exist yet, and git makes a new file beside the old one for each change.
 * The server makes the changes that the rule below allows (supervise/gitwriter.c).
 */
#ifndef SANDBOX_GITDIR_H
#define SANDBOX_GITDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum gitdir_kind {
	GITDIR_NONE, /* no repository, or its git directory lies inside */
	GITDIR_WORKTREE,
	GITDIR_SUBMODULE,
	GITDIR_FOREIGN, /* it lies outside and does not point back */
};

/* Canonical paths. A linked worktree has a directory of its own below the common one; a submodule
 * has only one. */
struct gitdir {
	enum gitdir_kind kind;
	char own[PATH_MAX], common[PATH_MAX];
};

/* What `.git` in this directory, a canonical path, leads to. */
void gitdir_find(const char *dir, struct gitdir *ret);

/* "linked worktree of ../main", "submodule of ..": seen from the directory of its files. */
void gitdir_describe(const struct gitdir *g, const char *dir, char *out, size_t size);

enum gitdir_use {
	GITDIR_READ,	  /* not to be changed */
	GITDIR_DIRECTORY, /* may be made, and removed, as a directory */
	GITDIR_MODULE,	  /* may be written, but nothing is moved there from elsewhere */
	GITDIR_WRITE,
};

/*
 * What commands may do with a name in the git directory: what a commit needs. Never hooks, the
 * configuration, attributes, or where the other directories are, neither here nor in submodules of
 * this worktree; nor the directory of another worktree, unless its files lie in `workspace`, or it is
 * only being made. The name has no links and dots in it.
 */
enum gitdir_use gitdir_rule(const char *own, const char *common, const char *workspace,
			    const char *name);

#endif
