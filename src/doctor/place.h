/* SPDX-License-Identifier: MIT */
/*
 * place: a directory with a random name, to try things out in.
 *
 * It may lie where others are at work, some of them hostile: it is held open, and what is in it is
 * made and looked at by descriptor, never through a link. Everybody may write in it, because the
 * server that is attacked may be another user.
 */
#ifndef DOCTOR_PLACE_H
#define DOCTOR_PLACE_H

#include <limits.h>
#include <stdbool.h>

struct place {
	int dir;       /* -1: there is none */
	char name[40]; /* the last part of its path */
	char path[PATH_MAX];
};

/* A name nobody has. */
void place_name(struct place *p);

/* Make a directory in `parent`. 0, or -1 with errno; then p->dir is -1. */
int place_make(struct place *p, const char *parent);

/* Remove it and everything in it. Accepts one that was not made. */
void place_remove(struct place *p);

/* In a directory: make a file that is not there yet; a directory, held open; a link. 0 (or a
 * descriptor) or -1 with errno. */
int place_put(int dir, const char *name, const char *content);
int place_dir(int dir, const char *name);
int place_link(int dir, const char *name, const char *to);

bool place_has(int dir, const char *name);

/* Is it a file with that content? */
bool place_holds(int dir, const char *name, const char *content);

/* Remove all files but one. How many there were. */
int place_weed(int dir, const char *but);

/* Two names change places, whatever they are. 0 or -1. */
int place_swap(int dir, const char *one, const char *other);

#endif
