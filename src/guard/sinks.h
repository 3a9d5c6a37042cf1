/* SPDX-License-Identifier: MIT */
/*
 * sinks: the names whose content is executed, or says what is executed, by programs of the person
 * who owns the workspace: later, and outside the sandbox.
 *
 * The table in sinks.c has all of them, with the reason of each. A *guarded* one cannot be changed by an
 * agent. A *noted* one can, because people track such files, and a checkout that cannot write one
 * leaves a stale file behind: it is named to whoever looks at the change.
 *
 * Guarded are names at the top of the workspace, where the person's programs are started; the same
 * names further down are noted. Names in a git directory are relative to it.
 */
#ifndef GUARD_SINKS_H
#define GUARD_SINKS_H

#include "base/err.h"
#include "guard/patterns.h"

enum sink_class { SINK_NONE, SINK_NOTED, SINK_GUARDED };

struct sink_rule {
	enum sink_class class;
	struct str rule; /* the pattern, as it is written in the table or by the operator */
	const char *why; /* a few words; lives as long as the program */
};

/* The zero value knows nothing. */
struct sinks {
	struct patterns table, own;
	struct buf lines, text; /* the patterns of the table, and the operator's */
};

/* `own` are the operator's patterns, one a line: more guarded names, or with "!" free ones. */
int sinks_init(struct sinks *s, struct str own, struct err *e);
void sinks_done(struct sinks *s);

/* What a path is, relative to the workspace and without links. False in *said: no pattern of the
 * operator speaks about it, and it is not in the table. */
struct sink_rule sinks_match(const struct sinks *s, struct str path, bool is_dir, bool *said);

/* What a path in a git directory is, relative to that. It may lie in that of a submodule; of a worktree
 * it is noted, because git makes such files with each new one. */
struct sink_rule sinks_in_git(struct str path);

/* The names of the table that are relative to the top of the workspace, guarded, in order; NULL
 * after the last. With their patterns: "/.claude/settings*.json". */
const char *sinks_pattern(size_t i);

/* Those in a git directory: "hooks", "config", … */
const char *sinks_git_name(size_t i);

/* Could a guarded name lie below that path? Of patterns that are about any directory none says so. */
bool sinks_lead(const struct sinks *s, struct str path);

/* Is a component of the path one with which a guarded name begins? */
bool sinks_has_name(struct str path);

#endif
