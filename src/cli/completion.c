/* SPDX-License-Identifier: MIT */
/* completion: scripts for shells, written from the tables. */

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "config/settings.h"
#include "tools/tool.h"

/* What a shell needs to know about one option. */
struct item {
	const char *name, *about;
	char letter;
	bool takes_value;
	char words[192]; /* possible values, separated by spaces; "": a file, or anything */
};

static void set_words(struct item *it, const char *const *words)
{
	for (size_t i = 0, n = 0; words && words[i]; i++, n = strlen(it->words))
		(void)snprintf(it->words + n, sizeof it->words - n, "%s%s", i ? " " : "", words[i]);
}

/* The i-th option of a verb, settings after its own options. False: there are no more. */
static bool item_at(const struct verb *v, size_t i, struct item *ret)
{
	const struct option *table;

	for (size_t k = 0; (table = verb_options(v, k)); k++)
		for (const struct option *o = table; o->name; o++)
			if (i-- == 0) {
				*ret = (struct item){ o->name, o->about, o->letter,
						      o->type != OPTION_SWITCH, "" };
				set_words(ret, o->words);
				return true;
			}
	for (size_t k = 0; (v->flags & VERB_SETTINGS) && k < setting_count(); k++) {
		const struct setting *s = setting_at(k);
		if (!s->flag || s->type == SETTING_HIDDEN ||
		    (s->listens && (v->flags & VERB_PIPES)) || i-- > 0)
			continue;
		*ret = (struct item){ s->flag, s->help, 0, s->type != SETTING_SWITCH, "" };
		set_words(ret, s->choices);
		return true;
	}
	return false;
}

/* Add the possible values of the first operand, each after a space; nothing: a file. */
static void add_operands(const struct cli *c, const struct verb *v, struct buf *out)
{
	if (v == &verb_help)
		for (size_t i = 0; c->verbs[i]; i++)
			buf_addf(out, " %s", c->verbs[i]->name);
	if (v == &verb_call)
		for (size_t i = 0; tool_at(i); i++)
			if (tool_at(i)->flags & TOOL_MODEL)
				buf_addf(out, " %s", tool_at(i)->name);
	for (size_t i = 0; v->words && v->words[i]; i++)
		buf_addf(out, " %s", v->words[i]);
}

/* Add text between single quotes; `special` characters get a backslash. */
static void add_quoted(struct buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_add(out, STR("'\\''"));
		else if (strchr(special, *text))
			buf_addf(out, "\\%c", *text);
		else
			buf_addc(out, *text);
	}
}

static void bash_verb(const struct cli *c, const struct verb *v, struct buf *out)
{
	struct item it;

	buf_addf(out, "\t%s)\n\t\toptions=\"", v->name);
	for (size_t i = 0; item_at(v, i, &it); i++)
		buf_addf(out, "%s--%s", i ? " " : "", it.name);
	buf_add(out, STR("\"\n\t\toperands=\""));
	add_operands(c, v, out);
	buf_add(out, STR("\"\n\t\tcase $previous in\n"));
	for (size_t i = 0; item_at(v, i, &it); i++) {
		if (!it.takes_value)
			continue;
		buf_addf(out, "\t\t--%s", it.name);
		if (it.letter)
			buf_addf(out, " | -%c", it.letter);
		buf_addf(out, ") values=\"%s\"; is_value=1 ;;\n", it.words);
	}
	buf_add(out, STR("\t\t*) ;;\n\t\tesac\n\t\t;;\n"));
}

static void bash(const struct cli *c, struct buf *out)
{
	buf_add(out, STR("# sidecar: completion for bash, written by \"sidecar completion bash\"\n"
			 "_sidecar() {\n"
			 "\tlocal word=$2 previous=$3 options= operands= values= is_value=\n"
			 "\tCOMPREPLY=()\n"
			 "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
			 "\t\tmapfile -t COMPREPLY < <(compgen -W \""));
	for (size_t i = 0; c->verbs[i]; i++)
		buf_addf(out, "%s%s", i ? " " : "", c->verbs[i]->name);
	buf_add(out, STR("\" -- \"$word\")\n\t\treturn\n\tfi\n"
			 "\tcase ${COMP_WORDS[1]} in\n"));
	for (size_t i = 0; c->verbs[i]; i++)
		bash_verb(c, c->verbs[i], out);
	buf_add(out, STR("\t*) return ;;\n\tesac\n"
			 "\tif [ -n \"$is_value\" ]; then\n"
			 "\t\tif [ -n \"$values\" ]; then\n"
			 "\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
			 "\t\telse\n"
			 "\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
			 "\t\tfi\n"
			 "\telif [[ $word == -* ]]; then\n"
			 "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
			 "\telif [ -n \"$operands\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
			 "\t\tmapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$word\")\n"
			 "\telse\n"
			 "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
			 "\tfi\n"
			 "}\n"
			 "complete -o filenames -F _sidecar sidecar\n"));
}

static void zsh_option(struct buf *out, const struct item *it, bool by_letter)
{
	if (by_letter)
		buf_addf(out, "\t\t\t'-%c[", it->letter);
	else
		buf_addf(out, "\t\t\t'--%s%s[", it->name, it->takes_value ? "=" : "");
	add_quoted(out, it->about, "[]:");
	buf_addc(out, ']');
	if (it->takes_value && *it->words)
		buf_addf(out, ":value:(%s)", it->words);
	else if (it->takes_value)
		buf_add(out, STR(":value:_files"));
	buf_add(out, STR("' \\\n"));
}

static void zsh_verb(const struct cli *c, const struct verb *v, struct buf *out)
{
	struct item it;
	AUTO_BUF operands = { .max = 4096 };

	buf_addf(out, "\t%s)\n\t\t_arguments -s \\\n", v->name);
	for (size_t i = 0; item_at(v, i, &it); i++) {
		zsh_option(out, &it, false);
		if (it.letter)
			zsh_option(out, &it, true);
	}
	add_operands(c, v, &operands);
	if (operands.n)
		buf_addf(out, "\t\t\t'1:what:(%.*s)' \\\n",
			 STR_FMT(str_from(buf_str(&operands), 1)));
	buf_add(out, STR("\t\t\t'*:file:_files'\n\t\t;;\n"));
}

static void zsh(const struct cli *c, struct buf *out)
{
	buf_add(out, STR("#compdef sidecar\n"
			 "# sidecar: completion for zsh, written by \"sidecar completion zsh\"\n"
			 "_sidecar() {\n"
			 "\tlocal -a verbs=(\n"));
	for (size_t i = 0; c->verbs[i]; i++) {
		buf_addf(out, "\t\t'%s:", c->verbs[i]->name);
		add_quoted(out, c->verbs[i]->about, "");
		buf_add(out, STR("'\n"));
	}
	buf_add(out, STR("\t)\n"
			 "\tif (( CURRENT == 2 )); then\n"
			 "\t\t_describe command verbs\n"
			 "\t\treturn\n"
			 "\tfi\n"
			 "\tlocal verb=$words[2]\n"
			 "\tshift words\n"
			 "\t(( CURRENT-- ))\n"
			 "\tcase $verb in\n"));
	for (size_t i = 0; c->verbs[i]; i++)
		zsh_verb(c, c->verbs[i], out);
	buf_add(out, STR("\tesac\n}\ncompdef _sidecar sidecar\n"));
}

static void fish_verb(const struct cli *c, const struct verb *v, struct buf *out)
{
	struct item it;
	AUTO_BUF operands = { .max = 4096 };

	buf_addf(out, "complete -c sidecar -n __fish_use_subcommand -f -a %s -d '", v->name);
	add_quoted(out, v->about, "");
	buf_add(out, STR("'\n"));
	for (size_t i = 0; item_at(v, i, &it); i++) {
		buf_addf(out, "complete -c sidecar -n '__sidecar_does %s' -l %s", v->name, it.name);
		if (it.letter)
			buf_addf(out, " -s %c", it.letter);
		if (it.takes_value)
			buf_add(out, STR(" -r"));
		if (*it.words)
			buf_addf(out, " -f -a '%s'", it.words);
		buf_add(out, STR(" -d '"));
		add_quoted(out, it.about, "");
		buf_add(out, STR("'\n"));
	}
	add_operands(c, v, &operands);
	if (operands.n)
		buf_addf(out, "complete -c sidecar -n '__sidecar_does %s' -f -a '%.*s'\n", v->name,
			 STR_FMT(str_from(buf_str(&operands), 1)));
}

static void fish(const struct cli *c, struct buf *out)
{
	buf_add(out, STR("# sidecar: completion for fish, written by \"sidecar completion fish\"\n"
			 "function __sidecar_does\n"
			 "\tset -l words (commandline -opc)\n"
			 "\ttest \"$words[2]\" = \"$argv[1]\"\n"
			 "end\n"));
	for (size_t i = 0; c->verbs[i]; i++)
		fish_verb(c, c->verbs[i], out);
}

static const char *const shell_names[] = { "bash", "zsh", "fish", NULL };

static int completion_run(struct cli *c, const void *args)
{
	static void (*const writers[])(const struct cli *, struct buf *) = { bash, zsh, fish };
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	(void)args;
	for (size_t i = 0; shell_names[i]; i++)
		if (strcmp(shell_names[i], c->argv[0]) == 0) {
			writers[i](c, &out);
			cli_print(buf_str(&out));
			return EXIT_OK;
		}
	return cli_misused(c, "There are scripts for bash, zsh and fish, not for \"%s\"",
			   c->argv[0]);
}

const struct verb verb_completion = {
	.name = "completion",
	.about = "print a completion script for a shell",
	.operands = "bash|zsh|fish",
	.examples = "  source <(sidecar completion bash)\n"
		    "  sidecar completion zsh > ~/.zfunc/_sidecar\n"
		    "  sidecar completion fish > ~/.config/fish/completions/sidecar.fish\n",
	.least = 1,
	.most = 1,
	.words = shell_names,
	.run = completion_run,
};
