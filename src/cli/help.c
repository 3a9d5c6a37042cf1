/* SPDX-License-Identifier: MIT */
/* help: the tables as text for a terminal. */

#include "cli/help.h"

#include <unistd.h>

#include "base/io.h"
#include "cli/cli.h"
#include "config/config.h"

const struct option *help_options(const struct verb *v, size_t i)
{
	const struct option *const tables[] = {
		v->options,
		v->flags & VERB_CONNECTS ? cli_connect_options : NULL,
		v->flags & VERB_PRINTS ? cli_print_options : NULL,
		cli_help_option,
	};

	for (size_t k = 0; k < ARRAY_LEN(tables); k++)
		if (tables[k] && i-- == 0)
			return tables[k];
	return NULL;
}

void help_all(const struct verb *const *verbs, int fd)
{
	AUTO_BUF b = { .max = 64 << 10 };

	buf_add(&b, STR("Examples:\n"
			"  sidecar serve --workspace /workspace        run the server\n"
			"  sidecar read src/main.c                     what the server sees\n"
			"  sidecar grep 'main\\(' --glob '*.c'          search it\n"
			"  sidecar run -- make test                    run a command in there\n"
			"  sidecar doctor --prove                      does the sandbox hold?\n"
			"\n"
			"Usage: sidecar COMMAND [OPTION]... [ARGUMENT]...\n"
			"\n"
			"Commands:\n"));
	for (size_t i = 0; verbs[i]; i++)
		buf_addf(&b, "  %-11s %s\n", verbs[i]->name, verbs[i]->about);
	buf_add(&b, STR("\n\"sidecar help COMMAND\" has examples and options for each.\n"));
	if (fd == STDOUT_FILENO)
		cli_print(buf_str(&b));
	else
		(void)io_write_all(fd, buf_str(&b), IO_FOREVER);
}

static void add_option(struct buf *b, const struct option *o)
{
	AUTO_BUF left = { .max = 1024 };

	if (o->letter)
		buf_addf(&left, "-%c, --%s", o->letter, o->name);
	else
		buf_addf(&left, "    --%s", o->name);
	if (o->value)
		buf_addf(&left, " %s", o->value);
	for (size_t i = 0; o->words && o->words[i]; i++)
		buf_addf(&left, "%s%s", i ? "|" : " ", o->words[i]);
	if (left.n > 28)
		buf_addf(b, "  %.*s\n  %-28s  %s\n", STR_FMT(buf_str(&left)), "", o->about);
	else
		buf_addf(b, "  %-28.*s  %s\n", STR_FMT(buf_str(&left)), o->about);
}

void help_verb(const struct verb *v)
{
	AUTO_BUF b = { .max = 64 << 10 };

	buf_addf(&b, "Examples:\n%s\nUsage: sidecar %s [OPTION]...%s%s\n\n%s\n", v->examples,
		 v->name, *v->operands ? " " : "", v->operands, v->about);
	buf_add(&b, STR("\nOptions:\n"));
	const struct option *table;
	for (size_t i = 0; (table = help_options(v, i)); i++)
		for (const struct option *o = table; o->name; o++)
			add_option(&b, o);
	if (v->flags & VERB_SETTINGS) {
		buf_add(&b, STR("\nSettings, each with its environment variable (the option wins; "
				"sidecar.conf(5) has the file):\n"));
		config_help(&b, !(v->flags & VERB_PIPES));
	}
	if (v->flags & VERB_PIPES)
		buf_add(&b,
			STR("\nThe other flags of \"sidecar serve\" are understood, too; there is "
			    "nothing here for them to change.\n"));
	cli_print(buf_str(&b));
}
