/* SPDX-License-Identifier: MIT */
/*
 * verb: one thing the program can be told to do, declared once.
 *
 * A verb is one file: a table of options, a function, and a struct verb that names them; and one
 * line in main.c. From the tables come parsing, "did you mean", help, completion for shells and the
 * manual. The function gets what all verbs share (struct cli) and its own argument struct, filled
 * by the table, and returns the exit status.
 */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum option_type {
	OPTION_SWITCH,	/* bool */
	OPTION_TEXT,	/* const char * */
	OPTION_NUMBER,	/* int64_t, 0 or more */
	OPTION_SECONDS, /* double, 0 or more */
	OPTION_WORD,	/* const char *: one of `words` */
	OPTION_LIST,	/* struct option_list: may be given again and again */
};

enum { OPTION_LIST_MAX = 32 };

struct option_list {
	const char *item[OPTION_LIST_MAX + 1]; /* NULL behind the last */
	size_t count;
};

struct option {
	const char *name; /* without "--" */
	char letter;	  /* of the short form; 0: none */
	enum option_type type;
	size_t offset;
	const char *value; /* what help shows for the value; NULL for a switch */
	const char *about;
	const char *const *words; /* OPTION_WORD: NULL behind the last */
};

#define OPTION_END                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}

enum {
	VERB_CONNECTS = 1 << 0, /* has the options that say where the server is, and gets it */
	VERB_PRINTS = 1 << 1,	/* has the options about the form of what it prints */
	VERB_SETTINGS = 1 << 2, /* takes the flags of the settings (config_table.h), too */
	VERB_REST = 1 << 3,	/* options end at the first operand: the rest is a command */
	VERB_PATIENT = 1 << 4, /* --timeout is the command's; the server may be silent for longer */
	VERB_PIPES = 1 << 5,   /* of the settings, those about listening mean nothing to it */
};

struct cli;
struct progress;
struct sidecar;

struct verb {
	const char *name, *about;
	const char *operands; /* as help shows them; "" for none */
	const char *examples; /* lines, each indented by two blanks */
	const struct option *options;
	size_t args_size;
	unsigned flags;
	int least, most;	  /* operands; most -1: any number */
	const char *const *words; /* what the first operand can be, for completion; or NULL */
	int (*run)(struct cli *c, const void *args);
};

/* What all verbs get. */
struct cli {
	const struct verb *const *verbs; /* all of them; NULL behind the last */
	const struct verb *verb;	 /* this one; NULL: none was named */

	const char *socket, *url, *token_file;
	double timeout, wait;
	bool json, quiet, verbose, no_color, help;

	struct sidecar *server;	   /* of a verb that connects */
	struct progress *progress; /* the line that is shown meanwhile; or NULL */

	int argc; /* operands */
	char **argv;
	int settings_count; /* flags of settings, for config_load */
	char **settings;
	struct arena memory; /* of the two lists */
};

/* The options of VERB_CONNECTS and VERB_PRINTS, and --help; offsets are in struct cli. */
extern const struct option cli_connect_options[], cli_print_options[], cli_help_option[];

/* The verb of that name, or NULL. */
const struct verb *verb_by_name(const struct verb *const *verbs, const char *name);

/*
 * Fill the argument struct (args_size bytes, zeroed) and the cli from the words behind the verb's
 * name. "--name value", "--name=value", "-n value", "-nvalue", "-qv"; "--" ends the options; "-" is
 * an operand. Errors are a sentence: unknown option (with the one that was probably meant), a value
 * missing or wrong, operands too few or too many. With --help nothing else is checked.
 */
int verb_parse(const struct verb *v, int argc, char **argv, struct cli *c, void *args,
	       struct err *e);

#endif
