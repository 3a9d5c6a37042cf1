/* SPDX-License-Identifier: MIT */
/* help: the tables as text for a terminal and as mdoc; the verbs help and version. */

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/io.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "config/config.h"
#include "config/settings.h"

/* The heading of the verb of that name and of those that follow it in the list; or NULL. */
static const char *heading(const char *name)
{
	static const char *const groups[][2] = {
		{ "setup", "Connect agents" }, { "ps", "See what they do" },
		{ "undo", "Take it back" },    { "read", "Use the tools yourself" },
		{ "health", "The program" },
	};

	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (strcmp(groups[i][0], name) == 0)
			return groups[i][1];
	return NULL;
}

void help_all(const struct verb *const *verbs, int fd)
{
	AUTO_BUF b = { .max = 64 << 10 };

	buf_add(&b,
		STR("sidecar runs the tools of LLM agents in one directory, in a sandbox, and can "
		    "undo what they did.\n"
		    "\n"
		    "Examples:\n"
		    "  sidecar serve                run the server for the current directory\n"
		    "  sidecar read src/main.c:1-9  print lines of a file\n"
		    "  sidecar grep -t c 'main\\('   search all C files\n"
		    "  sidecar run make test        run a command\n"
		    "  sidecar doctor --prove       test the sandbox\n"
		    "  sidecar setup claude --only  let an agent use the sidecar and nothing else\n"
		    "\n"
		    "Usage: sidecar COMMAND [OPTION]... [ARGUMENT]...\n"));
	for (size_t i = 0; verbs[i]; i++) {
		const char *title = heading(verbs[i]->name);
		if (verbs[i]->flags & VERB_HIDDEN)
			continue;
		if (title)
			buf_addf(&b, "\n%s:\n", title);
		buf_addf(&b, "  %-11s %s\n", verbs[i]->name, verbs[i]->about);
	}
	buf_add(&b, STR("\n\"sidecar help COMMAND\" shows examples and options of a command.\n"));
	if (fd == STDOUT_FILENO)
		cli_print(buf_str(&b));
	else
		(void)io_write_all(fd, buf_str(&b), IO_FOREVER);
}

static void add_option(struct buf *b, const struct verb *v, const struct option *o, size_t columns)
{
	AUTO_BUF left = { .max = 1024 };
	const char letter = verb_letter(v, o);

	if (letter)
		buf_addf(&left, "-%c, --%s", letter, o->name);
	else
		buf_addf(&left, "    --%s", o->name);
	if (o->value)
		buf_addf(&left, " %s", o->value);
	for (size_t i = 0; o->words && o->words[i]; i++)
		buf_addf(&left, "%s%s", i ? "|" : " ", o->words[i]);
	if (left.n > 28)
		buf_addf(b, "  %.*s\n  %-28s  ", STR_FMT(buf_str(&left)), "");
	else
		buf_addf(b, "  %-28.*s  ", STR_FMT(buf_str(&left)));
	columns_wrap(b, str_of(o->about), 32, columns);
}

void help_verb(const struct verb *v)
{
	const size_t columns = cli_is_terminal(STDOUT_FILENO) ? columns_of(STDOUT_FILENO) : 0;
	AUTO_BUF b = { .max = 64 << 10 };

	buf_addf(&b, "Examples:\n%s\nUsage: sidecar %s [OPTION]...%s%s\n\n%c%s.\n\nOptions:\n",
		 v->examples, v->name, *v->operands ? " " : "", v->operands, toupper(v->about[0]),
		 v->about + 1);
	const struct option *table;
	for (size_t i = 0; (table = verb_options(v, i)); i++)
		for (const struct option *o = table; o->name; o++)
			if (verb_means(v, o))
				add_option(&b, v, o, columns);
	if (v->flags & VERB_SETTINGS) {
		buf_add(&b, STR("\nSettings, each with its environment variable. The option wins;\n"
				"sidecar.conf(5) describes the file.\n"));
		config_help(&b, !(v->flags & VERB_PIPES), columns);
	}
	if (v->flags & VERB_PIPES)
		buf_add(&b, STR("\nThe other options of \"sidecar serve\" are accepted and change "
				"nothing here.\n"));
	cli_print(buf_str(&b));
}

/* What other programs call what a verb does. */
static const struct {
	const char *name, *meant;
} synonyms[] = {
	{ "cat", "read" },	   { "show", "read" },
	{ "head", "read" },	   { "get", "read" },
	{ "put", "write" },	   { "cp", "write" },
	{ "upload", "write" },	   { "replace", "edit" },
	{ "sed", "edit" },	   { "dir", "ls" },
	{ "list", "ls" },	   { "search", "grep" },
	{ "rg", "grep" },	   { "exec", "run" },
	{ "bash", "run" },	   { "shell", "run" },
	{ "start", "jobs start" }, { "logs", "jobs output" },
	{ "log", "jobs output" },  { "output", "jobs output" },
	{ "wait", "jobs wait" },   { "stop", "jobs stop" },
	{ "kill", "jobs stop" },   { "status", "health" },
	{ "info", "health" },	   { "ping", "health" },
	{ "settings", "config" },  { "check", "doctor" },
	{ "server", "serve" },	   { "up", "serve" },
	{ "tool", "call" },	   { "apply", "patch" },
	{ "install", "setup" },	   { "connect", "setup" },
	{ "agent", "setup" },	   { "init", "setup" },
};

int help_unknown(struct cli *c, const char *name)
{
	struct near near = near_to(str_of(name));

	c->verb = NULL; /* point to the list of commands, not to the help of one */
	for (size_t i = 0; c->verbs[i]; i++)
		if (!(c->verbs[i]->flags & VERB_HIDDEN))
			near_try(&near, c->verbs[i]->name);
	for (size_t i = 0; i < ARRAY_LEN(synonyms); i++)
		if (strcmp(synonyms[i].name, name) == 0)
			near.best = synonyms[i].meant;
	return near.best ? cli_misused(c, "unknown command \"%s\"; did you mean \"%s\"?", name,
				       near.best)
			 : cli_misused(c, "unknown command \"%s\"", name);
}

/* Add text and escape the characters that mean something to the formatter. */
static void add_mdoc(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if ((text.p[i] == '.' || text.p[i] == '\'') && (i == 0 || text.p[i - 1] == '\n'))
			buf_add(out, STR("\\&"));
		if (text.p[i] == '\\')
			buf_add(out, STR("\\e"));
		else if (text.p[i] == '-')
			buf_add(out, STR("\\-"));
		else
			buf_addc(out, text.p[i]);
	}
}

/* The same with a capital letter at the start. */
static void add_mdoc_sentence(struct buf *out, const char *text)
{
	buf_addc(out, (char)toupper((unsigned char)*text));
	add_mdoc(out, str_of(text + 1));
}

static void add_mdoc_option(struct buf *out, const struct option *o)
{
	buf_add(out, STR(".It "));
	if (o->letter)
		buf_addf(out, "Fl %c , ", o->letter);
	buf_addf(out, "Fl \\-%s", o->name);
	if (o->value)
		buf_addf(out, " Ar %s", o->value);
	for (size_t i = 0; o->words && o->words[i]; i++)
		buf_addf(out, "%s%s", i ? " | " : " Cm ", o->words[i]);
	buf_addc(out, '\n');
	add_mdoc_sentence(out, o->about);
	buf_add(out, STR(".\n"));
}

static void add_mdoc_table(struct buf *out, const struct option *table)
{
	buf_add(out, STR(".Bl -tag -width Ds\n"));
	for (const struct option *o = table; o->name; o++)
		add_mdoc_option(out, o);
	buf_add(out, STR(".El\n"));
}

static void write_mdoc_verbs(const struct verb *const *verbs, struct buf *out)
{
	for (; *verbs; verbs++) {
		const struct verb *v = *verbs;
		if (v->flags & VERB_HIDDEN)
			continue;
		buf_addf(out, ".Ss %s\n.Bd -literal -compact\n", v->name);
		buf_addf(out, "sidecar %s [option ...]%s%s\n.Ed\n.Pp\n", v->name,
			 *v->operands ? " " : "", v->operands);
		add_mdoc_sentence(out, v->about);
		buf_add(out, STR(".\n.Bd -literal -offset indent\n"));
		add_mdoc(out, str_upto(str_of(v->examples), strlen(v->examples) - 1));
		buf_add(out, STR("\n.Ed\n"));
		if (v->options)
			add_mdoc_table(out, v->options);
	}
	buf_add(out, STR(".Ss Options of all commands that connect\n"));
	add_mdoc_table(out, cli_connect_options);
	buf_add(out, STR(".Ss Options of all commands that print\n"));
	add_mdoc_table(out, cli_print_options);
}

static void write_mdoc_settings(struct buf *out)
{
	static const char *const types[] = {
		[SETTING_TEXT] = "string",	     [SETTING_SWITCH] = "boolean",
		[SETTING_NUMBER] = "number",	     [SETTING_OCTAL] = "string, octal",
		[SETTING_CHOICE] = "string",	     [SETTING_HIDDEN] = "string, secret",
		[SETTING_PAIRS] = "list of strings", [SETTING_SIZE] = "number or string",
	};

	buf_add(out, STR(".Bl -tag -width Ds\n"
			 ".It Cm tcp Pq string , Ev TCP_HOST No and Ev TCP_PORT\n"
			 "HOST:PORT: listen on TCP.\n"));
	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *s = setting_at(i);
		char values[64];
		if (!s->flag)
			continue;
		setting_values(s, values, sizeof values);
		buf_addf(out, ".It Cm %s Pq %s , Ev %s\n", s->flag, types[s->type], s->env);
		add_mdoc_sentence(out, s->help);
		if (s->choices[0]) {
			buf_add(out, STR(": "));
			add_mdoc(out, str_of(values));
		}
		buf_add(out, STR(".\n"));
	}
	buf_add(out, STR(".El\n"));
}

struct help_args {
	bool mdoc_verbs, mdoc_settings;
};

static const struct option help_options[] = {
	{ "mdoc", 0, OPTION_SWITCH, offsetof(struct help_args, mdoc_verbs), NULL,
	  "print the commands for the manual sidecar(1)" },
	{ "mdoc-settings", 0, OPTION_SWITCH, offsetof(struct help_args, mdoc_settings), NULL,
	  "print the settings for the manual sidecar.conf(5)" },
	OPTION_END,
};

static int help_run(struct cli *c, const void *args)
{
	const struct help_args *a = args;
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	if (a->mdoc_verbs)
		write_mdoc_verbs(c->verbs, &out);
	if (a->mdoc_settings)
		write_mdoc_settings(&out);
	cli_print(buf_str(&out));
	if (a->mdoc_verbs || a->mdoc_settings)
		return EXIT_OK;
	if (c->argc == 0) {
		help_all(c->verbs, STDOUT_FILENO);
		return EXIT_OK;
	}
	const struct verb *v = verb_by_name(c->verbs, c->argv[0]);
	if (!v)
		return help_unknown(c, c->argv[0]);
	help_verb(v);
	return EXIT_OK;
}

const struct verb verb_help = {
	.name = "help",
	.about = "show examples and options of a command",
	.operands = "[COMMAND]",
	.examples = "  sidecar help grep\n",
	.options = help_options,
	.args_size = sizeof(struct help_args),
	.most = 1,
	.kind = OPERANDS_COMMANDS,
	.run = help_run,
};

static int version_run(struct cli *c, const void *args)
{
	(void)args;
	if (c->json)
		cli_print(STR("{\"name\":\"sidecar\",\"version\":\"" SIDECAR_VERSION "\"}\n"));
	else
		cli_print(STR("sidecar " SIDECAR_VERSION "\n"));
	return EXIT_OK;
}

const struct verb verb_version = {
	.name = "version",
	.about = "print the version",
	.operands = "",
	.examples = "  sidecar version\n",
	.flags = VERB_PRINTS,
	.run = version_run,
};
