/* SPDX-License-Identifier: MIT */
/*
 * wrapper_table: how the commands that run others are written: their options, and where in their
 * words the other command stands. A new one is a new row.
 */
#ifndef POLICY_WRAPPER_TABLE_H
#define POLICY_WRAPPER_TABLE_H

#include "base/str.h"

enum form {
	FORM_COMMAND,  /* the words behind options and operands are a command */
	FORM_XARGS,    /* likewise, and words from its input follow */
	FORM_TEXT,     /* they are joined into shell text */
	FORM_ARGUMENT, /* the first of them is shell text */
	FORM_PARALLEL, /* joined up to :::, or the arguments behind it one by one */
	FORM_FIND,     /* behind -exec and the like */
	FORM_SHELL,    /* bash -c TEXT, or what it reads from its input */
	FORM_SOURCE,   /* . /dev/stdin */
	FORM_OPTION,   /* nothing but the text option */
};

struct wrapper {
	const char *names; /* separated by blanks */
	enum form form;
	const char *values; /* letters of options that take a value */
	const char *longs;  /* names of long options that take one as the next word */
	const char *query;  /* letters that make it run nothing */
	char text;	    /* the option whose value is shell text, 0: none */
	const char *text_long;
	unsigned operands; /* words before the command */
	bool assigns;	   /* NAME=value may stand before the command */
};

/* The row for the name, or NULL. */
const struct wrapper *wrapper_find(struct str name);

/* What an option that has been read means for the words behind it. */
struct option {
	bool query;
	bool text;	  /* its value is shell text */
	struct str value; /* when it is attached */
	bool next;	  /* its value is the next word */
};

/* Read a word that begins with -, and is not -- alone. */
struct option wrapper_option(const struct wrapper *w, struct str text);

/* Is the name among names, which are separated by blanks (or NULL)? */
bool wrapper_listed(const char *names, struct str name);

#endif
