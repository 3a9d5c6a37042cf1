/* SPDX-License-Identifier: MIT */
/* mdoc: the tables as lists of a manual page. */

#include "cli/help.h"
#include "config/config_table.h"

/* Text in which no character means something to the formatter. */
static void add_text(struct buf *out, struct str text)
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

static void add_option(struct buf *out, const struct option *o)
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
	add_text(out, str_of(o->about));
	buf_add(out, STR(".\n"));
}

static void add_table(struct buf *out, const struct option *table)
{
	buf_add(out, STR(".Bl -tag -width Ds\n"));
	for (const struct option *o = table; o->name; o++)
		add_option(out, o);
	buf_add(out, STR(".El\n"));
}

void help_mdoc_verbs(const struct verb *const *verbs, struct buf *out)
{
	for (; *verbs; verbs++) {
		const struct verb *v = *verbs;
		buf_addf(out, ".Ss %s\n.Bd -literal -compact\n", v->name);
		buf_addf(out, "sidecar %s [option ...]%s%s\n.Ed\n.Pp\n", v->name,
			 *v->operands ? " " : "", v->operands);
		add_text(out, str_of(v->about));
		buf_add(out, STR(".\n.Bd -literal -offset indent\n"));
		add_text(out, str_upto(str_of(v->examples), strlen(v->examples) - 1));
		buf_add(out, STR("\n.Ed\n"));
		if (v->options)
			add_table(out, v->options);
	}
	buf_add(out, STR(".Ss Options of all commands that connect\n"));
	add_table(out, cli_connect_options);
	buf_add(out, STR(".Ss Options of all commands that print\n"));
	add_table(out, cli_print_options);
}

void help_mdoc_settings(struct buf *out)
{
	static const char *const types[] = {
		[SETTING_TEXT] = "string",   [SETTING_SWITCH] = "boolean",
		[SETTING_NUMBER] = "number", [SETTING_OCTAL] = "string, octal",
		[SETTING_CHOICE] = "string", [SETTING_HIDDEN] = "string, secret",
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
		add_text(out, str_of(s->help));
		if (s->choices[0]) {
			buf_add(out, STR(": "));
			add_text(out, str_of(values));
		}
		buf_add(out, STR(".\n"));
	}
	buf_add(out, STR(".El\n"));
}
