/* SPDX-License-Identifier: MIT */
/*
 * config_table: the settings, one row each, and everything that follows from a row.
 *
 * A row names the environment variable, the flag, the member of struct config, the type, the
 * default and a sentence of help. The flag's name is also the member's name in a configuration
 * file. From the rows come reading (config.c, config_file.c), help, completion, the manual and
 * `sidecar config`.
 */
#ifndef CONFIG_CONFIG_TABLE_H
#define CONFIG_CONFIG_TABLE_H

#include "config/config.h"

enum setting_type {
	SETTING_TEXT,	/* const char *; an empty value is as good as none */
	SETTING_SWITCH, /* bool; the flag alone turns it on */
	SETTING_NUMBER, /* int64_t within [min, max] */
	SETTING_OCTAL,	/* int64_t, written in octal */
	SETTING_CHOICE, /* int64_t: the index of the word in `choices` */
	SETTING_HIDDEN, /* TEXT that a command line, which everybody can read, must not hold */
};

struct setting {
	const char *env, *flag;
	enum setting_type type;
	size_t offset;
	const char *value; /* what the help shows for the value */
	const char *choices[5];
	int64_t def, min, max;
	const char *help;
	bool client;  /* also where a client finds the server */
	bool lenient; /* a switch that any other word leaves off, which is the safe side */
	bool listens; /* about being connected to: means nothing to `sidecar mcp` */
};

size_t setting_count(void);
const struct setting *setting_at(size_t i);
size_t setting_index(const struct setting *s);

/* The row with that flag, hidden ones included, or NULL. */
const struct setting *setting_by_flag(struct str name);

/* The index of the row for a member of struct config: setting_of_member(offsetof(…)). */
size_t setting_of_member(size_t offset);

/* Set the value a text stands for, which must live as long as the config. `name` is what the
 * operator called it: it begins the error's sentence. */
int setting_set(const struct setting *s, const char *name, const char *text, struct config *c,
		struct err *e);

void setting_default(const struct setting *s, struct config *c);

/* The value as the operator would write it; "set" for a secret. False: it has none. */
bool setting_text(const struct setting *s, const struct config *c, char *to, size_t size);

/* What its value may be: "DIR", or "off|on"; "" for a switch. */
void setting_values(const struct setting *s, char *to, size_t size);

#endif
