/* SPDX-License-Identifier: MIT */
/*
 * witness: is told of everything in the workspace that is about to change, before it does; and of
 * the content that a file was given.
 *
 * What makes, replaces or removes files takes a witness, or NULL. The witness cannot refuse, and it
 * may be told of a change that fails afterwards.
 */
#ifndef WORKSPACE_WITNESS_H
#define WORKSPACE_WITNESS_H

#include <stddef.h>

#include "base/str.h"

enum witness_act {
	WITNESS_MAKE,	 /* the name does not exist, and will */
	WITNESS_WRITE,	 /* the file of that name is written in place */
	WITNESS_REPLACE, /* the name gets another object, or goes away */
};

struct witness {
	void (*before)(void *arg, int dir, const char *name, enum witness_act act);
	void (*wrote)(void *arg, int dir, const char *name, struct str content); /* or NULL */
	void *arg;
};

static inline void witness_tell(const struct witness *w, int dir, const char *name,
				enum witness_act act)
{
	if (w)
		w->before(w->arg, dir, name, act);
}

/* The file that it was told of last has this content now. */
static inline void witness_tell_content(const struct witness *w, int dir, const char *name,
					struct str content)
{
	if (w && w->wrote)
		w->wrote(w->arg, dir, name, content);
}

#endif
