/* SPDX-License-Identifier: MIT */
/* sinks: the table. */

#include "guard/sinks.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"

enum sink_place { TOP, ANYWHERE, IN_GIT };

static const char hook[] = "git runs what is in it";
static const char config[] = "it names programs that git runs";
static const char agent[] = "it names programs that an agent starts";
static const char editor[] = "it names programs that an editor starts";

static const struct {
	enum sink_place place;
	enum sink_class class;
	const char *pattern, *why;
} table[] = {
	/* clang-format off */
	{ IN_GIT,   SINK_GUARDED, "hooks",                     hook },
	{ IN_GIT,   SINK_GUARDED, "config",                    config },
	{ IN_GIT,   SINK_GUARDED, "config.worktree",           config },
	{ IN_GIT,   SINK_GUARDED, "info/attributes",           "it says which filters git runs" },
	{ IN_GIT,   SINK_GUARDED, "commondir",                 "it says where git finds its hooks" },
	/* Claude Code: servers; hooks, helpers and the status line; agents bring servers and hooks. */
	{ TOP,      SINK_GUARDED, "/.mcp.json",                agent },
	{ TOP,      SINK_GUARDED, "/.claude/settings*.json",   agent },
	{ TOP,      SINK_GUARDED, "/.claude/agents",           agent },
	/* Codex: servers and notify; hooks. */
	{ TOP,      SINK_GUARDED, "/.codex/config.toml",       agent },
	{ TOP,      SINK_GUARDED, "/.codex/hooks*",            agent },
	/* Gemini CLI and Qwen Code: servers, discovery commands; extensions bring their own. */
	{ TOP,      SINK_GUARDED, "/.gemini/settings.json",    agent },
	{ TOP,      SINK_GUARDED, "/.gemini/extensions",       agent },
	{ TOP,      SINK_GUARDED, "/.qwen/settings.json",      agent },
	{ TOP,      SINK_GUARDED, "/.qwen/extensions",         agent },
	/* opencode: plugins are programs; servers, formatters and language servers. */
	{ TOP,      SINK_GUARDED, "/.opencode",                agent },
	{ TOP,      SINK_GUARDED, "/opencode.json*",           agent },
	/* Cursor: servers; hooks. */
	{ TOP,      SINK_GUARDED, "/.cursor/mcp.json",         agent },
	{ TOP,      SINK_GUARDED, "/.cursor/hooks*",           agent },
	{ TOP,      SINK_GUARDED, "/.sidecarignore",           "it says what is hidden from agents" },

	{ ANYWHERE, SINK_NOTED,   "**/.vscode/tasks.json",     editor },
	{ ANYWHERE, SINK_NOTED,   "**/.vscode/settings.json",  editor },
	{ ANYWHERE, SINK_NOTED,   "**/.vscode/launch.json",    editor },
	{ ANYWHERE, SINK_NOTED,   "**/.vscode/mcp.json",       agent },
	{ ANYWHERE, SINK_NOTED,   ".idea/",                    editor },
	{ ANYWHERE, SINK_NOTED,   ".devcontainer*",            editor },
	{ ANYWHERE, SINK_NOTED,   ".envrc",                    "direnv runs it in a shell" },
	{ ANYWHERE, SINK_NOTED,   ".husky/",                   hook },
	{ ANYWHERE, SINK_NOTED,   "**/.github/hooks/",         agent },
	{ ANYWHERE, SINK_NOTED,   ".mcp.json",                 agent },
	{ ANYWHERE, SINK_NOTED,   "**/.claude/settings*.json", agent },
	{ ANYWHERE, SINK_NOTED,   "**/.claude/agents",         agent },
	{ ANYWHERE, SINK_NOTED,   "**/.codex/config.toml",     agent },
	{ ANYWHERE, SINK_NOTED,   "**/.codex/hooks*",          agent },
	{ ANYWHERE, SINK_NOTED,   "**/.gemini/settings.json",  agent },
	{ ANYWHERE, SINK_NOTED,   "**/.gemini/extensions",     agent },
	{ ANYWHERE, SINK_NOTED,   "**/.qwen/settings.json",    agent },
	{ ANYWHERE, SINK_NOTED,   "**/.qwen/extensions",       agent },
	{ ANYWHERE, SINK_NOTED,   ".opencode/",                agent },
	{ ANYWHERE, SINK_NOTED,   "opencode.json*",            agent },
	{ ANYWHERE, SINK_NOTED,   "**/.cursor/mcp.json",       agent },
	{ ANYWHERE, SINK_NOTED,   "**/.cursor/hooks*",         agent },
	/* clang-format on */
};

enum { ROWS = sizeof table / sizeof *table };

/* The rows outside git directories become rules from the last to the first, so that of two which
 * match the first decides. */
static size_t row_of(int rule)
{
	return ROWS - 1 - (size_t)rule;
}

int sinks_init(struct sinks *s, struct str own, struct err *e)
{
	s->lines.max = s->text.max = SIZE_MAX / 2;
	for (size_t i = ROWS; i-- > 0;)
		if (table[i].place != IN_GIT)
			buf_addf(&s->lines, "%s\n", table[i].pattern);
	buf_add(&s->text, own);
	if (s->lines.failed || s->text.failed || !patterns_add(&s->table, buf_str(&s->lines)))
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	if (!patterns_add(&s->own, buf_str(&s->text)))
		return err_set(e, ERR_INVALID_ARGUMENTS, "SIDECAR_SINK has more than %d patterns",
			       PATTERNS_MOST);
	return 0;
}

void sinks_done(struct sinks *s)
{
	patterns_done(&s->table);
	patterns_done(&s->own);
	buf_done(&s->lines);
	buf_done(&s->text);
}

struct sink_rule sinks_match(const struct sinks *s, struct str path, bool is_dir, bool *said)
{
	const struct sink_rule none = { .class = SINK_NONE };
	const int own = patterns_match(&s->own, path, is_dir);

	*said = true;
	if (own == PATTERNS_FREE)
		return none;
	if (own >= 0)
		return (struct sink_rule){ SINK_GUARDED, s->own.text[own],
					   "the operator guards it" };
	const int rule = patterns_match(&s->table, path, is_dir);
	*said = rule >= 0;
	if (rule < 0)
		return none;
	const size_t row = row_of(rule);
	return (struct sink_rule){ table[row].class, str_of(table[row].pattern), table[row].why };
}

static struct sink_rule match_in_git(struct str path)
{
	for (size_t i = 0; i < ROWS && table[i].place == IN_GIT; i++) {
		const struct str name = str_of(table[i].pattern);
		if (str_starts(path, name) && (path.n == name.n || path.p[name.n] == '/'))
			return (struct sink_rule){ table[i].class, name, table[i].why };
	}
	return (struct sink_rule){ .class = SINK_NONE };
}

struct sink_rule sinks_in_git(struct str path)
{
	struct sink_rule s = match_in_git(path);
	struct str part;

	if (s.class == SINK_NONE && str_starts(path, STR("worktrees/"))) {
		(void)str_cut(str_from(path, STR("worktrees/").n), '/', &part, &path);
		s = match_in_git(path);
		s.class = s.class == SINK_NONE ? SINK_NONE : SINK_NOTED;
		return s;
	}
	if (s.class != SINK_NONE || !str_starts(path, STR("modules/")))
		return s;
	/* The name of a submodule has one part or more. */
	(void)str_cut(path, '/', &part, &path);
	while (s.class == SINK_NONE && str_cut(path, '/', &part, &path))
		s = match_in_git(path);
	return s;
}

const char *sinks_pattern(size_t i)
{
	for (size_t row = 0; row < ROWS; row++)
		if (table[row].place == TOP && i-- == 0)
			return table[row].pattern;
	return NULL;
}

const char *sinks_git_name(size_t i)
{
	return i < ROWS && table[i].place == IN_GIT ? table[i].pattern : NULL;
}

/* Does the path match the beginning of a pattern, and is there more of that? */
static bool is_way(struct str pattern, struct str path)
{
	char part[NAME_MAX + 1], glob[NAME_MAX + 1];
	struct str one;

	while (path.n) {
		(void)str_cut(pattern, '/', &one, &pattern);
		(void)snprintf(glob, sizeof glob, "%.*s", STR_FMT(one));
		if (strcmp(glob, "**") == 0)
			return true;
		(void)str_cut(path, '/', &one, &path);
		(void)snprintf(part, sizeof part, "%.*s", STR_FMT(one));
		if (!pattern.n || fnmatch(glob, part, 0) != 0)
			return false;
	}
	return true;
}

/* One that begins with two stars may begin anywhere. */
static bool is_way_anywhere(struct str pattern, struct str path)
{
	struct str part;

	if (str_starts(pattern, STR("/")))
		pattern = str_from(pattern, 1);
	if (!str_starts(pattern, STR("**/")))
		return is_way(pattern, path);
	pattern = str_from(pattern, 3);
	do
		if (is_way(pattern, path))
			return true;
	while (str_cut(path, '/', &part, &path));
	return false;
}

bool sinks_lead(const struct sinks *s, struct str path)
{
	bool leads = false;

	for (size_t row = 0; row < ROWS && !leads; row++)
		leads = table[row].place == TOP &&
			is_way_anywhere(str_of(table[row].pattern), path);
	for (size_t i = 0; i < s->own.count && !leads; i++)
		leads = is_way_anywhere(s->own.text[i], path);
	return leads;
}

bool sinks_has_name(struct str path)
{
	struct str part, first, rest;

	while (path.n) {
		(void)str_cut(path, '/', &part, &path);
		if (str_eq(part, STR(".git")))
			return true;
		for (size_t row = 0; row < ROWS; row++) {
			if (table[row].place != TOP)
				continue;
			(void)str_cut(str_of(table[row].pattern + 1), '/', &first, &rest);
			if (str_eq(part, first))
				return true;
		}
	}
	return false;
}
