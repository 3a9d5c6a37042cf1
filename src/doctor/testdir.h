/* SPDX-License-Identifier: MIT */
/*
 * testdir: a directory with a random name, to try things out in.
 *
 * Other processes may work next to it, and some of them may be hostile. So it is held open, and
 * everything in it is made and inspected by descriptor, never through a link. Every user may write
 * in it, because the server that is attacked may run as another user.
 */
#ifndef DOCTOR_TESTDIR_H
#define DOCTOR_TESTDIR_H

#include <limits.h>
#include <stdbool.h>

struct testdir {
	int fd;	       /* -1: it was not made */
	char name[40]; /* the last part of its path */
	char path[PATH_MAX];
};

/* Choose a random name. */
void testdir_name(struct testdir *d);

/* Make a directory in `parent`. 0, or -1 with errno; then d->fd is -1. */
int testdir_make(struct testdir *d, const char *parent);

/* Remove it and everything in it. Accepts one that was not made. */
void testdir_remove(struct testdir *d);

/* These work in an open directory; 0 (testdir_open: a descriptor) or -1 with errno. */
int testdir_put(int dir, const char *name, const char *content); /* make a new file */
int testdir_copy_program(int dir, const char *name);		 /* make a copy of this program */
int testdir_open(int dir, const char *name);			 /* make a directory and open it */
int testdir_link(int dir, const char *name, const char *to);
int testdir_swap(int dir, const char *one, const char *other); /* exchange two names */

bool testdir_has(int dir, const char *name);

/* Whether it is a file with that content. */
bool testdir_has_content(int dir, const char *name, const char *content);

/* Remove all files except one. Returns how many there were. */
int testdir_remove_others(int dir, const char *except);

#endif
