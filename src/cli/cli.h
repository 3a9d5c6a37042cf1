/* SPDX-License-Identifier: MIT */
/*
 * cli: what the verbs of the command line share: the server, paths, output, messages and exit
 * statuses.
 *
 * Data goes to stdout, messages go to stderr. When the reader of stdout closes it (EPIPE), the
 * program ends without a message. Text that others chose (names, commands, messages of the server)
 * is shown on a terminal without control characters.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

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
	EXIT_REFUSED,	  /* by policy: outside the workspace, blocked, read-only, no token */
	EXIT_TIMED_OUT = 124,
	EXIT_SIGNAL = 128, /* plus the signal's number */
};

/* The verbs in this folder; main.c lists them all. */
extern const struct verb verb_call, verb_changes, verb_complete, verb_completion, verb_config,
	verb_diff, verb_edit, verb_patch, verb_undo, verb_find, verb_grep, verb_health, verb_help,
	verb_jobs, verb_ls, verb_read, verb_run, verb_tools, verb_version, verb_write;

struct config;

/* Find out where the server is that options, environment and files name, and which token it wants:
 * the members of config_load_client. The caller calls config_done even if this fails. */
int cli_locate(const struct cli *c, struct config *config, struct err *e);

/* Open the server that options, environment and files name, and for VERB_PATHS find out where in
 * its workspace the current directory is. On failure it prints the reason, sets *status to the exit
 * status and returns NULL. The cli must outlive the server. */
struct sidecar *cli_connect(struct cli *c, int *status);

/* A path that was typed, as the server takes it: a relative one starts in the current directory if
 * that is in the workspace, otherwise in the workspace. NULL is that directory; the result may be
 * NULL, too: the workspace. */
const char *cli_path(struct cli *c, const char *path);

/* Send a request to a route that the library has no function for. `body` ends with a NUL byte; NULL
 * for none. Returns the member "result" of the answer; it and the text of the answer are in the
 * arena. On failure it sets *status to the exit status, prints a message, and returns NULL. */
const struct json *cli_request(const struct cli *c, const char *method, const char *target,
			       const struct buf *body, struct arena *memory, int *status);

/* A number, or whether something is true, in such a result. */
int64_t cli_number(const struct json *object, struct str name, int64_t otherwise);
bool cli_truth(const struct json *object, struct str name);

/* Write to stdout. Ends the program if that fails. */
void cli_print(struct str text);

/* Print a diff as the server shows it: added and removed lines in colour. */
void cli_print_diff(const struct cli *c, struct str diff);

/* Print the result of an answer unchanged. It is the answer's last member, and its name points into
 * the text of the answer. */
void cli_print_result(const struct json *result);

/* Print a buf, and a newline unless it ends with one. */
void cli_print_line(const struct buf *b);

/* Add text with control characters written as \n, \t or \x1b. */
void cli_add_visible(struct buf *to, struct str text);

/* Add a name: unchanged, or if stdout is a terminal, visible. */
void cli_add_name(struct buf *to, struct str name);

/* Add lines of a file: unchanged, or if stdout is a terminal, visible but for newlines and tabs. */
void cli_add_text(struct buf *to, struct str text);

/* Print a message on stderr, "sidecar: …"; not with --quiet. */
void cli_say(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Report a failure, with --json also as {"error":{"code","message"}} on stdout. Returns the exit
 * status. */
int cli_fail(const struct cli *c, const struct sidecar_error *error);

/* Report that the command line is wrong. Returns EXIT_USAGE. */
int cli_misused(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status for an error code of the wire. */
int cli_status(const char *code);

/* Whether output on that descriptor may be coloured. */
bool cli_colour(const struct cli *c, int fd);

/* Show progress on the terminal, if there is one, until cli_progress_end. */
void cli_progress_begin(struct cli *c, const char *what, const char *unit);
bool cli_progress_end(struct cli *c); /* whether a line was erased */

/* Read all of stdin ("-") or of a local file. On failure it prints the reason and returns -1. */
int cli_read_input(const struct cli *c, const char *name, struct buf *to);

/* Add what turns a name below a directory, as a search returns it, into a path as it was typed:
 * "src/" for "src"; nothing for NULL and for ".". */
void cli_add_prefix(const char *directory, struct buf *to);

/* A time such as "10m" (s, m, h, d) in seconds; -1 if it is not one. */
int64_t cli_seconds(struct str text);

/* progress: a line on the terminal that shows how far something has come and how long it has taken:
 * "main( … 12,345 files, 1.2 s".
 *
 * It appears on stderr after half a second without output and is erased at the end. All functions
 * accept NULL.
 */

struct progress;

/* `what` is shown at the start of the line, `unit` is what is counted. NULL when there is no memory
 * or no thread for it. */
struct progress *progress_new(const char *what, const char *unit);

/* Erase the line and end the thread. Returns whether there was a line. */
bool progress_free(struct progress *p);

/* Set the count. */
void progress_count(struct progress *p, int64_t count);

/* Erase the line, because something else is about to be printed. It comes back by itself when that
 * was half a second ago; with `stay` it does not. */
void progress_hide(struct progress *p);
void progress_pause(struct progress *p, bool stay);

/* help: what the tables of the verbs say, for a person at a terminal. */

/* Write examples and the list of verbs to stdout or stderr. */
void help_all(const struct verb *const *verbs, int fd);

/* Print examples, usage and options of one verb. */
void help_verb(const struct verb *v);

/* Report that there is no such verb, and which one was probably meant. Returns EXIT_USAGE. */
int help_unknown(struct cli *c, const char *name);

#endif
