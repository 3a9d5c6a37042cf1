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
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "sidecar.h"

/*
 * verb: one command of the program, declared once.
 *
 * A verb is a table of options, a function, and a struct verb that names both, in one file; and one
 * entry in the list in main.c. Parsing, "did you mean", help, shell completion and the manual all
 * come from the tables. The function gets what all verbs share (struct cli) and its own argument
 * struct, which the table has filled, and returns the exit status.
 */

enum option_type {
	OPTION_SWITCH,	/* bool */
	OPTION_TEXT,	/* const char * */
	OPTION_NUMBER,	/* int64_t, 0 or more */
	OPTION_SECONDS, /* double, 0 or more */
	OPTION_WORD,	/* const char *: one of `words` */
	OPTION_LIST,	/* struct option_list: may be repeated */
};

enum { OPTION_LIST_MAX = 32 };

struct option_list {
	const char *item[OPTION_LIST_MAX + 1]; /* ends with NULL */
	size_t count;
};

struct option {
	const char *name; /* without "--" */
	char letter;	  /* the short form, or 0 */
	enum option_type type;
	size_t offset;
	const char *value; /* what help shows for the value; NULL for a switch */
	const char *about;
	const char *const *words; /* OPTION_WORD: ends with NULL */
};

#define OPTION_END                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}

enum {
	VERB_CONNECTS = 1 << 0,	   /* has cli_connect_options, and is connected before it runs */
	VERB_PRINTS = 1 << 1,	   /* has cli_print_options */
	VERB_SETTINGS = 1 << 2,	   /* also takes the flags of the settings (settings.h) */
	VERB_REST = 1 << 3,	   /* options end at the first operand: the rest is a command */
	VERB_OWN_TIMEOUT = 1 << 4, /* --timeout limits the command, not the server's silence */
	VERB_PIPES = 1 << 5,	   /* ignores the settings about listening */
	VERB_PATHS = 1 << 6,	   /* its paths start in the current directory: cli_path */
	VERB_HISTORY = 1 << 9,	   /* can do without a server, by the journal of the workspace */
	VERB_FINDS = 1 << 8,	   /* has cli_connect_options, and finds its server itself */
	VERB_HIDDEN = 1 << 7,	   /* for completion scripts, not for people */
};

/* What the operands are, for completion. */
enum operands {
	OPERANDS_OTHER,	   /* nothing that could be completed, or `words` */
	OPERANDS_PATHS,	   /* paths of the workspace */
	OPERANDS_PATTERN,  /* a pattern, then paths of the workspace */
	OPERANDS_LOCAL,	   /* a file or directory of this machine */
	OPERANDS_COMMANDS, /* names of verbs */
	OPERANDS_CALL,	   /* a tool and its arguments */
	OPERANDS_JOBS,	   /* an action, then numbers of jobs */
	OPERANDS_CHANGES,  /* numbers of changes */
};

struct cli;
struct progress;
struct sidecar;

struct verb {
	const char *name, *about;
	const char *operands; /* as help shows them; or "" */
	const char *examples; /* lines, each indented by two spaces */
	const struct option *options;
	size_t args_size;
	unsigned flags;
	int least, most; /* number of operands; most -1: any number */
	enum operands kind;
	const char *const *words; /* possible values of the first operand; or NULL */
	/* Before it connects: -1 to go on, or the exit status to end with; or NULL. */
	int (*check)(struct cli *c, const void *args);
	int (*run)(struct cli *c, const void *args);
};

/* What all verbs share. */
struct cli {
	const struct verb *const *verbs; /* all of them; ends with NULL */
	const struct verb *verb;	 /* the one that runs; or NULL */

	const char *socket, *url, *token_file, *workspace;
	double timeout, wait;
	bool json, quiet, verbose, no_color, help;

	struct sidecar *server;	   /* for VERB_CONNECTS */
	const char *here;	   /* VERB_PATHS: the current directory as a path of the workspace;
				    * NULL: it is not in the workspace, or is its root */
	struct progress *progress; /* or NULL */

	int argc;	   /* operands */
	int before_dashes; /* how many of them came before "--"; all, if there was none */
	char **argv;
	int settings_count; /* flags of settings and their values, for config_load */
	char **settings;
	struct arena memory; /* for both lists and the argument struct */
};

/* The options of VERB_CONNECTS and VERB_PRINTS, and --help; offsets are in struct cli. */
extern const struct option cli_connect_options[], cli_print_options[], cli_help_option[];

/* The i-th table of options that a verb has, from 0; NULL after the last. */
const struct option *verb_options(const struct verb *v, size_t i);

/* The letter of an option of that verb: 0 if an option that comes before it has the same. */
char verb_letter(const struct verb *v, const struct option *o);

/* Whether the option is the one that its name means to that verb: a verb's own comes first. */
bool verb_means(const struct verb *v, const struct option *o);

/* The verb of that name, or NULL. */
const struct verb *verb_by_name(const struct verb *const *verbs, const char *name);

/*
 * Fill the argument struct (args_size bytes, zeroed) and the cli from the words after the verb's
 * name. Options are "--name value", "--name=value", "-n value", "-nvalue" and "-qv"; "--" ends the
 * options; "-" is an operand. Errors are an unknown option (the sentence names the one that was
 * probably meant), a missing or wrong value, and too few or too many operands. After --help nothing
 * else is checked.
 */
int verb_parse(const struct verb *v, int argc, char **argv, struct cli *c, void *args,
	       struct err *e);

/* Add operands as one shell command, with a final NUL byte. One word is taken as a shell command;
 * several are a program and its arguments, quoted so that the shell passes them on unchanged. */
void verb_join_command(int count, char *const *words, struct buf *to);

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

/* The verbs in this folder, in doctor, setup and watch; main.c lists them all. */
extern const struct verb verb_audit, verb_call, verb_changes, verb_complete, verb_completion,
	verb_config, verb_diff, verb_doctor, verb_edit, verb_journals, verb_patch, verb_redo,
	verb_undo, verb_find, verb_grep, verb_health, verb_help, verb_jobs, verb_ls, verb_ps,
	verb_read, verb_run, verb_setup, verb_tools, verb_ui, verb_uninstall, verb_version,
	verb_watch, verb_write;

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

/* Send a request to a route that the library has no function for. `body` is JSON, which gets a NUL
 * byte at its end; NULL for none. Returns the member "result" of the answer; it and the text of the answer are in the
 * arena. On failure it sets *status to the exit status, prints a message, and returns NULL. */
const struct json *cli_request(const struct cli *c, const char *method, const char *target,
			       struct buf *body, struct arena *memory, int *status);

/* The same, but say nothing on failure: *error has the reason. */
const struct json *cli_ask(const struct cli *c, const char *method, const char *target,
			   struct buf *body, struct arena *memory, struct sidecar_error *error);

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

/* Say how many paths of a change cannot be brought back, if there are any. */
void cli_say_not_kept(const struct cli *c, int64_t change, int64_t count);

/* Report a failure, with --json also as {"error":{"code","message"}} on stdout. Returns the exit
 * status. */
int cli_fail(const struct cli *c, const struct sidecar_error *error);

/* Report that the command line is wrong. Returns EXIT_USAGE. */
int cli_misused(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status for an error code of the wire. */
int cli_status(const char *code);

/* Is it a terminal that understands escape sequences? */
bool cli_is_terminal(int fd);

/* Whether output on that descriptor may be coloured. */
bool cli_colour(const struct cli *c, int fd);

/* Show progress on the terminal, if there is one, until cli_progress_end. */
void cli_progress_begin(struct cli *c, const char *what, const char *unit);
bool cli_progress_end(struct cli *c); /* whether a line was erased */

/* Ask a person, and say whether the answer is yes. Without a terminal nothing can be asked: it says
 * `otherwise`. */
bool cli_agrees(const struct cli *c, const char *question, const char *otherwise);

/* Read all of stdin ("-") or of a local file. On failure it prints the reason and returns -1. */
int cli_read_input(const struct cli *c, const char *name, struct buf *to);

/* Add what turns a name below a directory, as a search returns it, into a path as it was typed:
 * "src/" for "src"; nothing for NULL and for ".". */
void cli_add_prefix(const char *directory, struct buf *to);

/* The path without links; false if there is nothing. */
bool cli_real_path(const char *path, char out[SIDECAR_PATH_MAX]);

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
void progress_pause(struct progress *p, bool stay);

/* help: what the tables of the verbs say, for a person at a terminal. */

/* Write examples and the list of verbs to stdout or stderr. */
void help_all(const struct verb *const *verbs, int fd);

/* Print examples, usage and options of one verb. */
void help_verb(const struct verb *v);

/* Report that there is no such verb, and which one was probably meant. Returns EXIT_USAGE. */
int help_unknown(struct cli *c, const char *name);

#endif
