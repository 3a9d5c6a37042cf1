/* SPDX-License-Identifier: MIT */
/*
 * verb: one command of the program, declared once.
 *
 * A verb is a table of options, a function, and a struct verb that names both, in one file; and one
 * entry in the list in main.c. Parsing, "did you mean", help, shell completion and the manual all
 * come from the tables. The function gets what all verbs share (struct cli) and its own argument
 * struct, which the table has filled, and returns the exit status.
 */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

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
	int (*run)(struct cli *c, const void *args);
};

/* What all verbs share. */
struct cli {
	const struct verb *const *verbs; /* all of them; ends with NULL */
	const struct verb *verb;	 /* the one that runs; or NULL */

	const char *socket, *url, *token_file;
	double timeout, wait;
	bool json, quiet, verbose, no_color, help;

	struct sidecar *server;	   /* for VERB_CONNECTS */
	const char *here;	   /* VERB_PATHS: the current directory as a path of the workspace;
				    * NULL: it is not in the workspace, or is its root */
	struct progress *progress; /* or NULL */

	int argc; /* operands */
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

#endif
