/* SPDX-License-Identifier: MIT */
/* doctor: the verb that checks the machine, and with --prove attacks a server. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <limits.h>
#include <stdbool.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "config/config.h"
#include "sidecar.h"

/* report: findings, one per line: what was checked, the verdict, and what to do about it. */

enum verdict {
	FOUND_OK,
	FOUND_OFF,  /* not in force, because the configuration does not ask for it */
	FOUND_WARN, /* works, but could be better */
	FOUND_FAIL,
};

struct report {
	const struct cli *cli;
	size_t count[FOUND_FAIL + 1];
	struct buf json; /* with --json: the array so far */
	struct jw writer;
};

/* Add a finding. The text of a warning or a failure also says what to do about it. */
void report_add(struct report *r, enum verdict verdict, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* testdir: a directory with a random name, to try things out in.
 *
 * Other processes may work next to it, and some of them may be hostile. So it is held open, and
 * everything in it is made and inspected by descriptor, never through a link. Every user may write
 * in it, because the server that is attacked may run as another user.
 */

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
void testdir_take(int dir, const char *name); /* remove a file, if it is there */

/* Whether it is a file with that content. */
bool testdir_has_content(int dir, const char *name, const char *content);

/* Remove all files except one. Returns how many there were. */
int testdir_remove_others(int dir, const char *except);

/* trials: the attacks on a server.
 *
 * A trial does no harm even if the guard it tests is broken. It touches nothing but two directories
 * with random names (struct testdir): one in the server's workspace, and one outside, which the attacks
 * try to reach. If the server's files cannot be seen from here, because it runs on another machine
 * or in a container, a trial that needs to see them reports that it was not tried.
 */

/* The server that is attacked. */
struct target {
	struct sidecar *sidecar;
	struct testdir inside;	/* in the workspace; its fd is -1 if it cannot be seen from here */
	struct testdir outside; /* what must not be reached: "canary" is a file in it */
	char note[512];		/* the reason for the last verdict */

	/* What the server says about itself. */
	char workspace[PATH_MAX], data[PATH_MAX]; /* or "" */
	char sandbox[32], why[256];		  /* the mode in force, and why */
	char observed[16], unobserved[256];	  /* whose commands; if none are, why */
	char sinks[256];			  /* how what runs later is guarded */
	bool allows_outside, read_only, scrubs, no_network;
	int64_t search_ms;
};

#define CANARY "the canary sings" /* the content of "canary" */

/* One attack: returns its verdict; the reason is in t->note. */
struct trial {
	const char *name;
	enum verdict (*run)(struct target *t);
};

/* planting.c */
enum verdict planting(struct target *t);

extern const struct trial trials[]; /* ends with a NULL name */

/* The path of something inside, as the server knows it. */
enum { TARGET_PATH = 128 };
const char *target_path(const struct target *t, const char *name, char to[TARGET_PATH]);

/* prove: attack a server to see whether its guards hold.
 *
 * The server is attacked through the client library, as any client could: a server that runs, in
 * its real configuration, or a temporary one with the same settings, on a scratch directory in the
 * workspace. The guards that must hold are those the server says it has (GET /health).
 */

/* Attack a server that runs. */
void prove_running(struct report *r, struct sidecar *s);

/* Start a server with these settings, attack it and end it. `flags` are the flags of the command
 * line from which the settings were read. */
void prove_settings(struct report *r, const struct config *c, int flag_count, char **flags);

#endif
