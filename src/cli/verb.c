/* SPDX-License-Identifier: MIT */
/* verb: read the words of a command line as options and operands. */

#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"

#define AT(member) offsetof(struct cli, member)

const struct option cli_connect_options[] = {
	{ "socket", 's', OPTION_TEXT, AT(socket), "PATH", "the server's Unix socket" },
	{ "url", 0, OPTION_TEXT, AT(url), "URL", "the server as http://HOST:PORT or unix:PATH" },
	{ "token-file", 0, OPTION_TEXT, AT(token_file), "FILE",
	  "file with the token to send (or set SIDECAR_AUTH_TOKEN)" },
	{ "timeout", 't', OPTION_SECONDS, AT(timeout), "SECONDS",
	  "give up after this time; exit status 124" },
	{ "workspace", 0, OPTION_TEXT, AT(workspace), "DIR",
	  "the sidecar that serves this directory (default: the current one)" },
	{ "wait", 0, OPTION_SECONDS, AT(wait), "SECONDS",
	  "wait this long for a server that is starting (default: not at all)" },
	OPTION_END,
};

const struct option cli_print_options[] = {
	{ "json", 'j', OPTION_SWITCH, AT(json), NULL,
	  "print JSON; streamed output has one object per line" },
	{ "quiet", 'q', OPTION_SWITCH, AT(quiet), NULL, "print no messages, only data" },
	{ "verbose", 'v', OPTION_SWITCH, AT(verbose), NULL,
	  "say which server was used and how long it took" },
	{ "no-color", 0, OPTION_SWITCH, AT(no_color), NULL, "use no colour, even on a terminal" },
	OPTION_END,
};

const struct option cli_help_option[] = {
	{ "help", 'h', OPTION_SWITCH, AT(help), NULL, "show examples and options" },
	OPTION_END,
};

/* A command line that is being parsed. */
struct command_line {
	const struct verb *verb;
	struct cli *cli;
	void *args;
	int argc, at;
	char **argv;
	bool only_operands, has_dashes;
};

const struct verb *verb_by_name(const struct verb *const *verbs, const char *name)
{
	for (; *verbs; verbs++)
		if (strcmp((*verbs)->name, name) == 0)
			return *verbs;
	return NULL;
}

const struct option *verb_options(const struct verb *v, size_t i)
{
	const struct option *const tables[] = {
		v->options,
		v->flags & (VERB_CONNECTS | VERB_FINDS) ? cli_connect_options : NULL,
		v->flags & VERB_PRINTS ? cli_print_options : NULL,
		cli_help_option,
	};

	for (size_t k = 0; k < ARRAY_LEN(tables); k++)
		if (tables[k] && i-- == 0)
			return tables[k];
	return NULL;
}

/* The option with that name or letter, and the struct it belongs to. */
static const struct option *find(const struct command_line *line, struct str name, char letter,
				 void **to)
{
	const struct option *table;

	for (size_t i = 0; (table = verb_options(line->verb, i)); i++)
		for (const struct option *o = table; o->name; o++)
			if (name.n ? str_eq(str_of(o->name), name) : o->letter == letter) {
				*to = table == line->verb->options ? line->args : line->cli;
				return o;
			}
	return NULL;
}

char verb_letter(const struct verb *v, const struct option *o)
{
	const struct option *table;

	for (size_t i = 0; (table = verb_options(v, i)); i++)
		for (const struct option *other = table; other->name; other++)
			if (other->letter == o->letter)
				return other == o ? o->letter : 0;
	return 0;
}

bool verb_means(const struct verb *v, const struct option *o)
{
	const struct option *table;

	for (size_t i = 0; (table = verb_options(v, i)); i++)
		for (const struct option *other = table; other->name; other++)
			if (strcmp(other->name, o->name) == 0)
				return other == o;
	return false;
}

static int unknown(const struct command_line *line, struct str name, struct err *e)
{
	struct near near = near_to(name);
	const struct option *table;

	for (size_t i = 0; (table = verb_options(line->verb, i)); i++)
		for (const struct option *o = table; o->name; o++)
			near_try(&near, o->name);
	if (line->verb->flags & VERB_SETTINGS)
		setting_near(&near, false);
	if (str_starts(name, STR("token")) && !near.best)
		near.best = "token-file";
	return err_set(e, ERR_INVALID_ARGUMENTS, "unknown option --%.*s%s%s%s", STR_FMT(name),
		       near.best ? "; did you mean --" : "", near.best ? near.best : "",
		       near.best ? "?" : "");
}

static int set_number(const struct option *o, const char *value, void *at, struct err *e)
{
	int64_t number;
	char *end;

	if (o->type == OPTION_NUMBER && str_int(str_of(value), &number) && number >= 0) {
		*(int64_t *)at = number;
		return 0;
	}
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
static char *next_word(struct command_line *line)
{
	return line->at < line->argc ? line->argv[line->at++] : NULL;
}

/* Keep the flag of a setting and its value for config_load, which checks it. */
static bool keep_setting(struct command_line *line, struct str name, bool given)
{
	const struct setting *s = setting_by_flag(name);
	struct cli *c = line->cli;

	if (!(line->verb->flags & VERB_SETTINGS) || (!s && !str_eq(name, STR("tcp"))))
		return false;
	c->settings[c->settings_count++] = line->argv[line->at - 1];
	if (!given && !(s && s->type == SETTING_SWITCH) && line->at < line->argc)
		c->settings[c->settings_count++] = line->argv[line->at++];
	return true;
}

static int read_long(struct command_line *line, const char *word, struct err *e)
{
	struct str name, value;
	void *to;
	const bool given = str_cut(str_of(word + 2), '=', &name, &value);
	const struct option *o = name.n ? find(line, name, 0, &to) : NULL;

	if (!o)
		return keep_setting(line, name, given) ? 0 : unknown(line, name, e);
	if (o->type == OPTION_SWITCH && given)
		return err_set(e, ERR_INVALID_ARGUMENTS, "--%s takes no value", o->name);
	const char *text = given ? value.p : o->type == OPTION_SWITCH ? "" : next_word(line);
	if (!text)
		return err_set(e, ERR_INVALID_ARGUMENTS, "--%s needs a value", o->name);
	return set(o, text, to, e);
}

static int read_short(struct command_line *line, const char *letters, struct err *e)
{
	for (; *letters; letters++) {
		void *to;
		const struct option *o = find(line, (struct str){ NULL, 0 }, *letters, &to);
		if (!o)
			return err_set(e, ERR_INVALID_ARGUMENTS, "unknown option -%c", *letters);
		const bool alone = o->type == OPTION_SWITCH;
		const char *text = alone ? "" : letters[1] ? letters + 1 : next_word(line);
		if (!text)
			return err_set(e, ERR_INVALID_ARGUMENTS, "-%c needs a value", *letters);
		if (set(o, text, to, e) < 0)
			return -1;
		if (!alone)
			return 0;
	}
	return 0;
}

static int read_word(struct command_line *line, char *word, struct err *e)
{
	if (!line->only_operands && strcmp(word, "--") == 0) {
		line->only_operands = true;
		line->has_dashes = true;
		line->cli->before_dashes = line->cli->argc;
		return 0;
	}
	if (!line->only_operands && str_starts(str_of(word), STR("--")))
		return read_long(line, word, e);
	if (!line->only_operands && word[0] == '-' && word[1])
		return read_short(line, word + 1, e);
	struct cli *c = line->cli;
	c->argv[c->argc++] = word;
	if (line->verb->flags & VERB_REST ||
	    (line->verb->kind == OPERANDS_JOBS && c->argc == 2 && strcmp(c->argv[0], "start") == 0))
		line->only_operands = true;
	return 0;
}

static int check_operands(const struct verb *v, const struct cli *c, struct err *e)
{
	struct str word, rest = str_of(v->operands);

	if (v->most >= 0 && c->argc > v->most)
		return err_set(e, ERR_INVALID_ARGUMENTS, "unexpected argument \"%s\"",
			       c->argv[v->most]);
	if (c->argc >= v->least)
		return 0;
	/* The operands that must be given come first, one word each. */
	for (int i = 0; i <= c->argc; i++)
		(void)str_cut(rest, ' ', &word, &rest);
	if (str_ends(word, STR("...")))
		word.n -= STR("...").n;
	return err_set(e, ERR_INVALID_ARGUMENTS, "missing argument %.*s", STR_FMT(word));
}

int verb_parse(const struct verb *v, int argc, char **argv, struct cli *c, void *args,
	       struct err *e)
{
	struct command_line line = {
		.verb = v, .cli = c, .args = args, .argc = argc, .argv = argv
	};

	c->verb = v;
	c->argv = arena_array(&c->memory, (size_t)argc + 1, sizeof *c->argv);
	c->settings = arena_array(&c->memory, (size_t)argc + 1, sizeof *c->settings);
	if (!c->argv || !c->settings)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory");
	while (line.at < argc) {
		char *word = argv[line.at++];
		if (read_word(&line, word, e) < 0)
			return -1;
		if (c->help)
			return 0;
	}
	if (!line.has_dashes)
		c->before_dashes = c->argc;
	return check_operands(v, c, e);
}

static void quote(const char *word, struct buf *to)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./,:@%+";

	/* "=" is not plain: NAME=value as the first word would be an assignment. */
	if (*word && strspn(word, plain) == strlen(word)) {
		buf_add(to, str_of(word));
		return;
	}
	buf_addc(to, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_add(to, STR("'\\''"));
		else
			buf_addc(to, *word);
	}
	buf_addc(to, '\'');
}

void verb_join_command(int count, char *const *words, struct buf *to)
{
	for (int i = 0; i < count; i++) {
		if (i)
			buf_addc(to, ' ');
		if (count == 1)
			buf_add(to, str_of(words[i]));
		else
			quote(words[i], to);
	}
	buf_addc(to, '\0');
}
