/* SPDX-License-Identifier: MIT */
/*
 * cli: the command line: which verb, what is printed, how it ends.
 *
 * Data goes to stdout, messages go to stderr. A reader who has had enough (EPIPE) ends the program
 * without a word.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/buf.h"
#include "base/json.h"
#include "cli/verb.h"
#include "sidecar.h"

/* Exit statuses; `run` and `jobs` pass on the command's own. */
enum {
	EXIT_OK,
	EXIT_FAILED,	  /* the tool failed, or nothing matched */
	EXIT_USAGE,	  /* the command line or the configuration is wrong */
	EXIT_UNREACHABLE, /* there is no server, or no connection to it */
	EXIT_REFUSED,	  /* by policy: outside of the workspace, blocked, read-only, no token */
	EXIT_TIMED_OUT = 124,
	EXIT_SIGNAL = 128, /* and the signal's number */
};

/* Find the verb, parse, run: the exit status. */
int cli_main(const struct verb *const *verbs, int argc, char **argv);

/* The server that options, environment and files name; NULL, and why has been said: then *status is
 * the exit status. The cli must live as long: it has the progress to show. */
struct sidecar *cli_connect(struct cli *c, int *status);

/* Write to stdout at once; ends the program when nobody reads it or it cannot be written. */
void cli_print(struct str text);

/* Print a buf, and a newline unless it ends with one. */
void cli_print_line(const struct buf *b);

/* A message on stderr: "sidecar: …". Not with --quiet. */
void cli_say(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Say what failed, with --json also as {"error":{"code","message"}} on stdout: the exit status. */
int cli_fail(const struct cli *c, const struct sidecar_error *error);

/* The command line is wrong: say so; EXIT_USAGE. */
int cli_misused(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status that goes with a code of the wire. */
int cli_status(const char *code);

/* Is it a terminal that understands more than text? */
bool cli_is_terminal(int fd);

/* May there be colour on that descriptor? */
bool cli_colour(const struct cli *c, int fd);

/* All of stdin ("-") or of a file. 0, or -1 and why has been said. */
int cli_read_input(const struct cli *c, const char *name, struct buf *to);

/* What makes names below a directory, as a search has them, names that other commands understand:
 * "src/" for "src"; nothing for NULL and the workspace itself. */
void cli_add_prefix(const char *directory, struct buf *to);

/*
 * A route of the server that the library has no function for. 0 and the member "result" of the
 * answer, its last one, which lives in `a` as the answer's text does; or -1 and the exit status,
 * and why has been said.
 */
int cli_request(const struct cli *c, const char *method, const char *target, const struct buf *body,
		struct arena *a, const struct json **ret, int *status);

#endif
