/* SPDX-License-Identifier: MIT */
/*
 * agents: what is known of each agent: where its configuration is, and which values connect it to
 * the sidecar and take its own tools away.
 *
 * One table, a row for each value. The same rows are written by `setup`, looked for by `--check`
 * and taken out by `--undo`. docs/guide.md says for each agent what was seen with the real program.
 */
#ifndef SETUP_AGENTS_H
#define SETUP_AGENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "setup/conf.h"

/* Members that must have a type, or else the agent does not read their file. One that no row names
 * is not judged. Rows for the same object stand together. */
struct agent_type {
	const char *what;   /* "a list" */
	const char *first;  /* the characters with which its values begin; NULL: any */
	const char *names;  /* with blanks between them */
	const char *in;	    /* the object that has them; NULL: the file itself */
	const char *values; /* the words that it may be; NULL: any */
	bool items;	    /* a list, and this is what its items are */
	bool doubt;	    /* more is asked of it than this table knows */
};

/* A configuration file. In a project it is relative to the project's directory; a user's file is
 * in the directory that the variable `env` names, or in `home` below the home directory. */
struct agent_file {
	const char *project; /* NULL: the user's file is meant in a project as well */
	const char *user, *env, *home;
	const char *local; /* one more file that the agent reads in a project; or NULL */
	const char *also;  /* another ending that the name may have: "c" for opencode.jsonc */
	bool upwards;	   /* read in the directories around the project as well */
	enum conf_form form;
	enum conf_rules rules;		/* of JSON */
	const struct agent_type *types; /* the last one has no names; or NULL */
};

/* What an agent runs, or what undoes the rows: a value in one of its files, or without a key
 * a file or directory of its own. */
struct agent_running {
	size_t file;
	const char *key[KEY_PATH_MAX]; /* "*" is any name or item, "@" the project's directory */
	struct agent_file place;
	const char *harmless; /* names at "*" that run nothing */
	bool enabled;	      /* its member "enabled" can turn it off */
};

enum agent_row_kind {
	ROW_SERVER, /* an MCP server: one that runs a sidecar already stays as it is */
	ROW_VALUE,  /* a value */
	ROW_ITEM,   /* an item of a list */
	ROW_OBJECT, /* an object: anything else in its place is replaced by {} */
	ROW_NEVER, /* a value, or a text in a list, that undoes the rest: nothing is written, --check
		     * reports it */
};

enum {
	ROW_HOLDS = 1 << 0,   /* only with --only */
	ROW_PROJECT = 1 << 1, /* only in a project */
	ROW_TRUST = 1 << 2,   /* without it the agent does not read the project's files */
	ROW_EASES = 1 << 3,   /* the agent does not ask before it uses the sidecar: not checked */
};

struct agent_row {
	enum agent_row_kind kind;
	unsigned flags;
	size_t file;
	const char *key[KEY_PATH_MAX]; /* "@" is the project's directory if ROW_TRUST */
	const char *value;  /* compact, in the file's form; "@" is the sidecar's program */
	const char *second; /* ROW_SERVER in TOML: the value of its "args" */
};

struct agent {
	const char *name, *title;
	const char *programs[3]; /* as they are found in PATH */
	struct agent_file file[2];
	const struct agent_row *rows;	  /* the last one has no value */
	const struct agent_running *runs; /* the last one is empty; or NULL */
	const char *cannot;		  /* why it cannot be held; NULL: it can */
	const char *note;		  /* what a person should know once it is held; or NULL */
	bool disables_servers; /* other MCP servers of the file must be turned off one by one */
	bool has_permissions;  /* opencode: members of "permission" and of agents can undo rows */
};

/* Variables that run nothing and lead nowhere else. */
extern const char agent_variables[];

extern const struct agent agents[];
extern const char *const agent_names[]; /* ends with NULL */

const struct agent *agent_by_name(const char *name);

#endif
