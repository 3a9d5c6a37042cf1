/* SPDX-License-Identifier: MIT */
/*
 * homes: the homes of a user's workspaces (home.h), which lie beside each other.
 */
#ifndef CHANGES_HOMES_H
#define CHANGES_HOMES_H

#include <stdbool.h>
#include <stdint.h>

/* A home among others. */
struct home_facts {
	const char *name;
	char workspace[4096];
	int64_t bytes;	  /* of segments and links */
	int64_t changes;  /* that are finished */
	int64_t newest_s; /* when it was last written to, since 1970 */
	bool is_gone;	  /* its workspace does not exist */
	bool is_used;	  /* by a program that lives */
};

/* Visit the homes in a directory. What is not provably a home, by its owner, mode, files and name,
 * is left out. With true from the visitor it is removed, unless it is used: file by file; what is
 * none of a home's files stays, and the directory with it. */
typedef bool homes_visitor(void *arg, const struct home_facts *f);
void homes_visit(const char *parent, homes_visitor *visit, void *arg);

/* Whether that is the path of a home. */
bool homes_is_one(const char *path);

/* Remove homes that nobody uses, whose newest record is older than that, whether their workspace is
 * there or not: it may be on a disk that comes back. */
void homes_tidy(const char *parent, int64_t max_age_ms);

#endif
