/* SPDX-License-Identifier: MIT */
/* verb: words of a command line as options and operands. */

#include "cli/verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "config/config_table.h"

#define AT(member) offsetof(struct cli, member)

const struct option cli_connect_options[] = {
	{ "socket", 's', OPTION_TEXT, AT(socket), "PATH", "the server's Unix socket" },
	{ "url", 0, OPTION_TEXT, AT(url), "URL", "http://HOST:PORT or unix:PATH instead" },
	{ "token-file", 0, OPTION_TEXT, AT(token_file), "FILE",
	  "file with the token to send (or SIDECAR_AUTH_TOKEN in the environment)" },
	{ "timeout", 't', OPTION_SECONDS, AT(timeout), "SECONDS",
	  "give up after this time; exit status 124" },
	{ "wait", 0, OPTION_SECONDS, AT(wait), "SECONDS",
	  "wait so long for a server that is still starting (default 1)" },
	OPTION_END,
};

const struct option cli_print_options[] = {
	{ "json", 'j', OPTION_SWITCH, AT(json), NULL,
	  "print JSON; one object a line where output is streamed" },
	{ "quiet", 'q', OPTION_SWITCH, AT(quiet), NULL, "no messages, only data and exit status" },
	{ "verbose", 'v', OPTION_SWITCH, AT(verbose), NULL,
	  "say where it was done and how long it took" },
	{ "no-color", 0, OPTION_SWITCH, AT(no_color), NULL, "no colour, even on a terminal" },
	OPTION_END,
};

const struct option cli_help_option[] = {
	{ "help", 'h', OPTION_SWITCH, AT(help), NULL, "show examples and options" },
	OPTION_END,
};

/* A parse under way. */
struct parse {
	const struct verb *verb;
	struct cli *cli;
	void *args;
	int argc, at;
	char **argv;
	bool only_operands;
};

const struct verb *verb_by_name(const struct verb *const *verbs, const char *name)
{
	for (; *verbs; verbs++)
		if (strcmp((*verbs)->name, name) == 0)
			return *verbs;
	return NULL;
}

static const struct option *find_in(const struct option *table, struct str name, char letter)
{
	for (const struct option *o = table; o && o->name; o++)
		if (name.n ? str_eq(str_of(o->name), name) : o->letter == letter)
			return o;
	return NULL;
}

/* The option with that name or letter, and the struct it belongs to. */
static const struct option *find(const struct parse *p, struct str name, char letter, void **to)
{
	const struct option *o = find_in(p->verb->options, name, letter);

	*to = p->args;
	if (o)
		return o;
	*to = p->cli;
	if ((p->verb->flags & VERB_CONNECTS) && (o = find_in(cli_connect_options, name, letter)))
		return o;
	if ((p->verb->flags & VERB_PRINTS) && (o = find_in(cli_print_options, name, letter)))
		return o;
	return find_in(cli_help_option, name, letter);
}

static void try_all(struct near *near, const struct option *table)
{
	for (const struct option *o = table; o && o->name; o++)
		near_try(near, o->name);
}

static int unknown(const struct parse *p, struct str name, struct err *e)
{
	struct near near = near_to(name);

	try_all(&near, p->verb->options);
	try_all(&near, cli_help_option);
	if (p->verb->flags & VERB_CONNECTS)
		try_all(&near, cli_connect_options);
	if (p->verb->flags & VERB_PRINTS)
		try_all(&near, cli_print_options);
	for (size_t i = 0; (p->verb->flags & VERB_SETTINGS) && i < setting_count(); i++)
		if (setting_at(i)->flag && setting_at(i)->type != SETTING_HIDDEN)
			near_try(&near, setting_at(i)->flag);
	if (str_starts(name, STR("token")) && !near.best)
		near.best = "token-file";
	return err_set(e, ERR_INVALID_ARGUMENTS, "Unknown option --%.*s%s%s%s", STR_FMT(name),
		       near.best ? "; did you mean --" : "", near.best ? near.best : "",
		       near.best ? "?" : "");
}

static int set_number(const struct option *o, const char *value, void *at, struct err *e)
{
	char *end;

	if (o->type == OPTION_NUMBER && str_int(str_of(value), at) && *(int64_t *)at >= 0)
		return 0;
	const double seconds = strtod(value, &end);
	if (o->type == OPTION_SECONDS && *value && !*end && seconds >= 0 && seconds <= 1e9) {
		*(double *)at = seconds;
		return 0;
	}
	return err_set(e, ERR_INVALID_ARGUMENTS, "--%s must be a number of 0 or more, not \"%s\"",
		       o->name, value);
}

static int set_word(const struct option *o, const char *value, void *at, struct err *e)
{
	char list[256] = "";

	for (size_t i = 0, n = 0; o->words[i]; i++, n = strlen(list)) {
		if (strcmp(o->words[i], value) == 0) {
			*(const char **)at = o->words[i];
			return 0;
		}
		(void)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", o->words[i]);
	}
	return err_set(e, ERR_INVALID_ARGUMENTS, "--%s must be one of %s, not \"%s\"", o->name,
		       list, value);
}

static int set(const struct option *o, const char *value, void *to, struct err *e)
{
	void *at = (char *)to + o->offset;
	struct option_list *list = at;

	switch (o->type) {
	case OPTION_SWITCH:
		*(bool *)at = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)at = value;
		return 0;
	case OPTION_NUMBER:
	case OPTION_SECONDS:
		return set_number(o, value, at, e);
	case OPTION_WORD:
		return set_word(o, value, at, e);
	case OPTION_LIST:
		if (list->count == OPTION_LIST_MAX)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "--%s may be given %d times at most", o->name,
				       OPTION_LIST_MAX);
		list->item[list->count++] = value;
		return 0;
	}
	return 0;
}

/* The next word as a value. */
static char *next_word(struct parse *p)
{
	return p->at < p->argc ? p->argv[p->at++] : NULL;
}

/* A flag of a setting is kept, with its value, for config_load, which judges it. */
static bool keep_setting(struct parse *p, struct str name, bool given)
{
	const struct setting *s = setting_by_flag(name);
	struct cli *c = p->cli;

	if (!(p->verb->flags & VERB_SETTINGS) || (!s && !str_eq(name, STR("tcp"))))
		return false;
	c->settings[c->settings_count++] = p->argv[p->at - 1];
	if (!given && !(s && s->type == SETTING_SWITCH) && p->at < p->argc)
		c->settings[c->settings_count++] = p->argv[p->at++];
	return true;
}

static int read_long(struct parse *p, const char *word, struct err *e)
{
	struct str name, value;
	void *to;
	const bool given = str_cut(str_of(word + 2), '=', &name, &value);
	const struct option *o = name.n ? find(p, name, 0, &to) : NULL;

	if (!o)
		return keep_setting(p, name, given) ? 0 : unknown(p, name, e);
	if (o->type == OPTION_SWITCH && given)
		return err_set(e, ERR_INVALID_ARGUMENTS, "--%s takes no value", o->name);
	const char *text = given ? value.p : o->type == OPTION_SWITCH ? "" : next_word(p);
	if (!text)
		return err_set(e, ERR_INVALID_ARGUMENTS, "--%s needs a value", o->name);
	return set(o, text, to, e);
}

static int read_short(struct parse *p, const char *letters, struct err *e)
{
	for (; *letters; letters++) {
		void *to;
		const struct option *o = find(p, (struct str){ NULL, 0 }, *letters, &to);
		if (!o)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Unknown option -%c", *letters);
		const bool alone = o->type == OPTION_SWITCH;
		const char *text = alone ? "" : letters[1] ? letters + 1 : next_word(p);
		if (!text)
			return err_set(e, ERR_INVALID_ARGUMENTS, "-%c needs a value", *letters);
		if (set(o, text, to, e) < 0)
			return -1;
		if (!alone)
			return 0;
	}
	return 0;
}

static int read_word(struct parse *p, char *word, struct err *e)
{
	if (!p->only_operands && strcmp(word, "--") == 0) {
		p->only_operands = true;
		return 0;
	}
	if (!p->only_operands && str_starts(str_of(word), STR("--")))
		return read_long(p, word, e);
	if (!p->only_operands && word[0] == '-' && word[1])
		return read_short(p, word + 1, e);
	p->cli->argv[p->cli->argc++] = word;
	if (p->verb->flags & VERB_REST)
		p->only_operands = true;
	return 0;
}

static int check_operands(const struct verb *v, const struct cli *c, struct err *e)
{
	if (c->argc < v->least)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Something is missing: sidecar %s %s",
			       v->name, v->operands);
	if (v->most >= 0 && c->argc > v->most)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Unexpected argument \"%s\": sidecar %s%s%s", c->argv[v->most],
			       v->name, *v->operands ? " " : "", v->operands);
	return 0;
}

int verb_parse(const struct verb *v, int argc, char **argv, struct cli *c, void *args,
	       struct err *e)
{
	struct parse p = { .verb = v, .cli = c, .args = args, .argc = argc, .argv = argv };

	c->verb = v;
	c->argv = arena_array(&c->memory, (size_t)argc + 1, sizeof *c->argv);
	c->settings = arena_array(&c->memory, (size_t)argc + 1, sizeof *c->settings);
	if (!c->argv || !c->settings)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory");
	while (p.at < argc) {
		char *word = argv[p.at++];
		if (read_word(&p, word, e) < 0)
			return -1;
		if (c->help)
			return 0;
	}
	return check_operands(v, c, e);
}
