/* SPDX-License-Identifier: MIT */
/* completion: scripts for shells, and what these ask for: how a word may go on. */

#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "cli/completion_data.h"
#include "cli/where.h"
#include "config/settings.h"
#include "search/grep.h"
#include "tools/limits.h"
#include "tools/tool.h"

/* A command line whose last word is to be completed. */
struct typed_line {
	struct cli *cli; /* with the options and operands before that word */
	const struct verb *verb;
	const char *word;
	struct buf out;
};

/* Offer a candidate, if the word is its beginning. `about` may be NULL. */
static void offer(struct typed_line *l, struct str candidate, const char *about)
{
	if (!str_starts(candidate, str_of(l->word)) || str_index(candidate, '\n') >= 0)
		return;
	buf_add(&l->out, candidate);
	if (about)
		buf_addf(&l->out, "\t%s", about);
	buf_addc(&l->out, '\n');
}

static void offer_words(struct typed_line *l, const char *const *words)
{
	for (; words && *words; words++)
		offer(l, str_of(*words), NULL);
}

/* Let the shell complete a file of this machine. */
static void offer_local(struct typed_line *l)
{
	buf_add(&l->out, STR(":files\n"));
}

static void offer_verbs(struct typed_line *l)
{
	for (const struct verb *const *v = l->cli->verbs; *v; v++)
		if (!((*v)->flags & VERB_HIDDEN))
			offer(l, str_of((*v)->name), (*v)->about);
}

/* Connect in silence; false if there is no server. */
static bool connect(struct typed_line *l)
{
	struct cli *c = l->cli;
	int status;

	c->quiet = true;
	c->json = false;
	c->timeout = 1;
	c->server = cli_connect(c, &status);
	return c->server;
}

/* Offer paths of the workspace. `from` is where the path begins in the word, after "path=". */
static void offer_paths(struct typed_line *l, size_t from, bool only_directories)
{
	const char *typed = l->word + from;
	const char *slash = strrchr(typed, '/');
	AUTO_BUF directory = { .max = LIMIT_BODY };
	AUTO_BUF candidate = { .max = LIMIT_BODY };

	if (!connect(l))
		return;
	buf_add(&directory, str_upto(str_of(typed), slash ? (size_t)(slash + 1 - typed) : 0));
	buf_add(&candidate, str_upto(str_of(l->word), from));
	buf_add(&candidate, buf_str(&directory));
	buf_addc(&directory, '\0');
	const size_t prefix = candidate.n;
	/* A tool's paths start in the workspace, as a model's do. */
	const char *path = l->verb->kind == OPERANDS_CALL
				   ? *directory.p ? directory.p : NULL
				   : cli_path(l->cli, *directory.p ? directory.p : NULL);
	struct sidecar_text *names = sidecar_ls(l->cli->server, path, LIMIT_HEAD_LINES, NULL);
	struct str line, rest = names ? (struct str){ names->content, names->length } : STR("");
	if (str_eq(rest, STR("(empty directory)")))
		rest = STR("");
	while (rest.n) {
		(void)str_cut(rest, '\n', &line, &rest);
		candidate.n = prefix;
		buf_add(&candidate, line);
		if (!only_directories || str_ends(line, STR("/")))
			offer(l, buf_str(&candidate), NULL);
	}
	sidecar_free(names);
}

static void offer_jobs(struct typed_line *l)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	int status;

	const struct json *result =
		connect(l) ? cli_request(l->cli, "GET", "/jobs", NULL, &memory, &status) : NULL;
	for (const struct json *j = json_items(result, STR("jobs")); j; j = j->next) {
		AUTO_BUF about = { .max = 4096 };
		cli_add_visible(&about, json_text(j, STR("command")));
		buf_addc(&about, '\0');
		offer(l, json_text(j, STR("jobId")), about.p);
	}
}

/* Offer the newest changes, or the sessions that have made them. */
static void offer_changes(struct typed_line *l, bool sessions)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	int status;

	const struct json *result =
		connect(l) ? cli_request(l->cli, "GET", "/changes", NULL, &memory, &status) : NULL;
	const struct json *first = json_items(result, STR("changes"));
	for (const struct json *i = first; i; i = i->next) {
		AUTO_BUF about = { .max = 4096 };
		char id[32];
		const struct str session = json_text(i, STR("session"));
		const struct json *same = first;
		while (same != i && !str_eq(json_text(same, STR("session")), session))
			same = same->next;
		if (sessions && same == i && session.n)
			offer(l, session, NULL);
		if (sessions)
			continue;
		cli_add_visible(&about, json_text(i, STR("tool")));
		buf_addc(&about, ' ');
		cli_add_visible(&about, json_text(i, STR("subject")));
		buf_addc(&about, '\0');
		(void)snprintf(id, sizeof id, "%lld", (long long)json_int(i, STR("id"), 0));
		offer(l, str_of(id), about.p);
	}
}

static void offer_pids(struct typed_line *l)
{
	for (const struct running_at *at = where_list(&l->cli->memory); at; at = at->next) {
		char pid[32];
		(void)snprintf(pid, sizeof pid, "%d", (int)at->pid);
		offer(l, str_of(pid),
		      at->is_mcp ? "mcp" : arena_dup(&l->cli->memory, at->workspace).p);
	}
}

/* Kinds of files: "cpp, cxx: *.cpp, *.cc", one a line. */
static void offer_types(struct typed_line *l)
{
	AUTO_BUF list = { .max = LIMIT_ANSWER };
	struct str line, names, name, rest;

	types_list(&list);
	rest = buf_str(&list);
	while (rest.n) {
		(void)str_cut(rest, '\n', &line, &rest);
		(void)str_cut(line, ':', &names, &line);
		while (names.n) {
			(void)str_cut(names, ',', &name, &names);
			offer(l, str_trim(name), arena_dup(&l->cli->memory, str_trim(line)).p);
		}
	}
}

static void offer_tools(struct typed_line *l)
{
	for (size_t i = 0; tool_at(i); i++)
		offer(l, str_of(tool_at(i)->name), tool_at(i)->title);
}

/* Offer the arguments of a tool, NAME= or NAME:=, and what follows those that are paths. */
static void offer_arguments(struct typed_line *l, const struct tool *t)
{
	const char *value = strchr(l->word, '=');

	if (value) {
		const struct str name = str_upto(str_of(l->word), (size_t)(value - l->word));
		if (str_eq(name, STR("path")) || str_eq(name, STR("cwd")))
			offer_paths(l, name.n + 1, str_eq(name, STR("cwd")));
		return;
	}
	for (const struct arg *a = t ? t->args : NULL; a && a->name; a++) {
		char text[128];
		const bool is_text = a->type == ARG_STR || a->type == ARG_CHOICE;
		(void)snprintf(text, sizeof text, "%s%s", a->name, is_text ? "=" : ":=");
		offer(l, str_of(text), a->about);
	}
}

static void offer_operands(struct typed_line *l)
{
	const struct cli *c = l->cli;
	const char *first = c->argc ? c->argv[0] : NULL;

	switch (l->verb->kind) {
	case OPERANDS_COMMANDS:
		if (!first)
			offer_verbs(l);
		return;
	case OPERANDS_CALL:
		for (size_t i = 0; !first && tool_at(i); i++)
			if (tool_at(i)->flags & TOOL_MODEL)
				offer(l, str_of(tool_at(i)->name), tool_at(i)->title);
		if (first)
			offer_arguments(l, tool_by_name(str_of(first), TOOL_MODEL));
		return;
	case OPERANDS_JOBS:
		if (!first)
			offer_words(l, l->verb->words);
		else if (strcmp(first, "start") == 0)
			offer_paths(l, 0, false);
		else if (strcmp(first, "list") != 0)
			offer_jobs(l);
		return;
	case OPERANDS_CHANGES:
		offer_changes(l, false);
		return;
	case OPERANDS_PATTERN:
		if (first)
			offer_paths(l, 0, false);
		return;
	case OPERANDS_PATHS:
		offer_paths(l, 0, false);
		return;
	case OPERANDS_LOCAL:
		offer_local(l);
		return;
	case OPERANDS_OTHER:
		if (!first)
			offer_words(l, l->verb->words);
		return;
	}
}

/* An option of a verb, or a setting that it takes as an option. */
struct item {
	const char *name, *about, *value;
	char letter;
	bool takes_value;
	const char *const *words;
};

/* The i-th option of a verb, settings after its own options. False: there are no more. */
static bool item_at(const struct verb *v, size_t i, struct item *ret)
{
	const struct option *table;

	for (size_t k = 0; (table = verb_options(v, k)); k++)
		for (const struct option *o = table; o->name; o++)
			if (verb_means(v, o) && i-- == 0) {
				*ret = (struct item){ o->name,
						      o->about,
						      o->value,
						      verb_letter(v, o),
						      o->type != OPTION_SWITCH,
						      o->words };
				return true;
			}
	for (size_t k = 0; (v->flags & VERB_SETTINGS) && k < setting_count(); k++) {
		const struct setting *s = setting_at(k);
		if (!s->flag || s->type == SETTING_HIDDEN ||
		    (s->listens && (v->flags & VERB_PIPES)) || i-- > 0)
			continue;
		*ret = (struct item){ s->flag,
				      s->help,
				      "FILE",
				      0,
				      s->type != SETTING_SWITCH,
				      s->choices[0] ? s->choices : NULL };
		return true;
	}
	return false;
}

/* The option that a word before ends with and whose value comes next. */
static bool awaits_value(const struct verb *v, const char *before, struct item *ret)
{
	const size_t n = strlen(before);

	if (before[0] != '-' || n < 2)
		return false;
	for (size_t i = 0; item_at(v, i, ret); i++)
		if (ret->takes_value && (before[1] == '-' ? strcmp(before + 2, ret->name) == 0
							  : before[n - 1] == ret->letter))
			return true;
	return false;
}

static void offer_value(struct typed_line *l, const struct item *it)
{
	const char *value = it->value ? it->value : "";

	if (it->words)
		offer_words(l, it->words);
	else if (strncmp(value, "ID", 2) == 0 || strcmp(it->name, "session") == 0)
		offer_changes(l, *value != 'I');
	else if (strcmp(value, "PID") == 0)
		offer_pids(l);
	else if (strcmp(value, "TYPE") == 0)
		offer_types(l);
	else if (strcmp(it->name, "tool") == 0)
		offer_tools(l);
	else if (strcmp(value, "DIR") == 0)
		offer_paths(l, 0, true);
	else if (strcmp(value, "FILE") == 0 || strcmp(value, "PATH") == 0)
		offer_local(l);
}

static void offer_options(struct typed_line *l)
{
	struct item it;

	for (size_t i = 0; item_at(l->verb, i, &it); i++) {
		char text[64];
		(void)snprintf(text, sizeof text, "--%s", it.name);
		offer(l, str_of(text), it.about);
	}
}

/* Offer how the last of the words may go on. */
static void complete(struct typed_line *l, int count, char **words)
{
	struct cli *c = l->cli;
	struct item it;
	struct err e;

	l->word = words[count - 1];
	if (count == 1) {
		offer_verbs(l);
		return;
	}
	l->verb = verb_by_name(c->verbs, words[0]);
	void *args = l->verb ? arena_array(&c->memory, 1, l->verb->args_size + 1) : NULL;
	if (!args)
		return;
	/* The line is not complete, so it may be wrong. What has been understood is enough. */
	c->argc = 0;
	(void)verb_parse(l->verb, count - 2, words + 1, c, args, &e);
	const bool options_ended = c->argc && (l->verb->flags & VERB_REST);
	if (!options_ended && count > 2 && awaits_value(l->verb, words[count - 2], &it))
		offer_value(l, &it);
	else if (!options_ended && *l->word == '-')
		offer_options(l);
	else
		offer_operands(l);
}

static int complete_run(struct cli *c, const void *args)
{
	struct cli typed = { .verbs = c->verbs, .memory = { .max = 16 << 20 } };
	struct typed_line l = { .cli = &typed, .out = { .max = LIMIT_ANSWER } };

	(void)args;
	if (c->argc)
		complete(&l, c->argc, c->argv);
	cli_print(buf_str(&l.out));
	sidecar_close(typed.server);
	arena_done(&typed.memory);
	buf_done(&l.out);
	return EXIT_OK;
}

const struct verb verb_complete = {
	.name = "__complete",
	.about = "print how the last word may go on, for completion scripts",
	.operands = "[WORD]...",
	.examples = "  sidecar __complete -- jobs st\n",
	.flags = VERB_HIDDEN | VERB_REST,
	.most = -1,
	.run = complete_run,
};

/* The scripts are completion.bash, .zsh and .fish. bash splits words at "=", which the program must
 * see whole, and replaces only what follows it. */
static const char *const shell_names[] = { "bash", "zsh", "fish", NULL };

static int completion_run(struct cli *c, const void *args)
{
	static const char *const scripts[] = { bash, zsh, fish };

	(void)args;
	for (size_t i = 0; shell_names[i]; i++)
		if (strcmp(shell_names[i], c->argv[0]) == 0) {
			cli_print(str_of(scripts[i]));
			return EXIT_OK;
		}
	return cli_misused(c, "there are scripts for bash, zsh and fish, not for \"%s\"",
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
