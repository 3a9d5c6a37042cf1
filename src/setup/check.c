/* SPDX-License-Identifier: MIT */
/* check: what the files that an agent reads here say, layer by layer. */

#include "setup/change.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "setup/conf.h"
#include "setup/place.h"

/* The files that one entry of the table stands for, those that count first. */
enum { LAYER_LOCAL, LAYER_PROJECT, LAYER_USER, LAYERS };

struct layers {
	char path[LAYERS][PATH_MAX];
	struct place_content content[LAYERS];
};

static void layers_done(struct layers *l)
{
	for (int i = 0; i < LAYERS; i++)
		place_content_done(&l->content[i]);
}

static int layers_read(const struct agent_file *f, const char *project, struct layers *ret,
		       struct err *e)
{
	const struct agent_file local = { .project = f->local };

	if (f->local && place_of(&local, false, project, ret->path[LAYER_LOCAL], e) < 0)
		return -1;
	if (f->project && place_of(f, false, project, ret->path[LAYER_PROJECT], e) < 0)
		return -1;
	if (place_of(f, true, project, ret->path[LAYER_USER], e) < 0)
		return -1;
	for (int i = 0; i < LAYERS; i++)
		if (ret->path[i][0] &&
		    (place_read(ret->path[i], &ret->content[i], e) < 0 ||
		     check_text(f, ret->path[i], buf_str(&ret->content[i].bytes), e) < 0))
			return -1;
	return 0;
}

__attribute__((format(printf, 2, 3))) static void add_way(struct check *c, const char *fmt, ...)
{
	char line[1024];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	buf_addf(c->reasons, "  %s\n", line);
	c->ways++;
}

/* What the files together say about a row: for a value the first file that has it decides, an item
 * may be in any. */
static int look(const struct agent_row *row, const struct agent_file *f,
		const struct change_names *names, const struct layers *l, int first,
		enum change_state *ret, struct err *e)
{
	const bool any = row->kind == ROW_ITEM || row->kind == ROW_SERVER || row->kind == ROW_NEVER;

	*ret = CHANGE_ABSENT;
	for (int i = first; i < LAYERS; i++) {
		enum change_state state;
		if (!l->content[i].exists)
			continue;
		if (change_look(row, f->form, names, buf_str(&l->content[i].bytes), &state, e) <
		    0) {
			const struct err inner = *e;
			return err_set(e, ERR_INVALID_CONFIG, "%s: %s", l->path[i], inner.msg);
		}
		if (state == CHANGE_APPLIED || (!any && state == CHANGE_DIFFERS)) {
			*ret = state;
			return 0;
		}
	}
	return 0;
}

static void report(struct check *c, const struct agent_row *row)
{
	char keys[256];
	struct buf b = buf_over(keys, sizeof keys - 1);

	for (size_t i = 0; i < KEY_PATH_MAX && row->key[i]; i++)
		buf_addf(&b, "%s%s", i ? "." : "", row->key[i]);
	keys[b.n] = 0;
	if (row->kind == ROW_SERVER)
		add_way(c, "it is not connected: no MCP server runs the sidecar");
	else if (row->kind == ROW_NEVER)
		add_way(c, "%s %s %s", keys, row->value[0] == '"' ? "has" : "is", row->value);
	else if (row->kind == ROW_ITEM)
		add_way(c, "%s does not have %.*s", keys,
			STR_FMT(str_upto(str_of(row->value), 60)));
	else if (row->kind == ROW_VALUE)
		add_way(c, "%s is not %s", keys, row->value);
	c->settable += row->kind != ROW_NEVER;
}

/* Servers that are not the sidecar and not turned off. */
static void other_servers(struct check *c, const struct change_names *names, const struct layers *l,
			  int first)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct agent_row row;

	for (int i = first; i < LAYERS; i++) {
		const struct str text = buf_str(&l->content[i].bytes);
		enum change_state state;
		struct err e;
		for (size_t k = 0; change_other_server(text, k, &memory, &row); k++) {
			if (change_look(&row, CONF_TOML, names, text, &state, &e) == 0 &&
			    state == CHANGE_APPLIED)
				continue;
			add_way(c, "the MCP server %s in %s runs outside the sidecar", row.key[1],
				l->path[i]);
			c->settable += i == LAYER_PROJECT;
		}
	}
}

/* opencode: rules that allow more. */
static void other_permissions(struct check *c, const struct layers *l)
{
	static const char harmless[] =
		"sidecar_* todowrite todoread webfetch websearch question doom_loop";
	static const struct key_path permission = { .key = { STR("permission") }, .n = 1 };
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };

	for (int i = 0; i < LAYERS; i++) {
		const struct str text = buf_str(&l->content[i].bytes);
		struct str name, value;
		for (size_t k = 0;
		     conf_child(CONF_JSON, text, &permission, k, &memory, &name, &value); k++) {
			if (!str_eq(value, STR("\"deny\"")) && !str_is_listed(harmless, name))
				add_way(c, "permission.%.*s in %s is not \"deny\"", STR_FMT(name),
					l->path[i]);
		}
	}
}

/* One text in which is looked for what runs. */
struct finder {
	struct check *check;
	const struct agent *agent;
	const struct agent_running *wanted;
	const struct change_names *names;
	enum conf_form form;
	const char *file;
	struct str text;
};

static void add_running(const struct finder *f, const struct key_path *at)
{
	char room[256];
	struct buf path = buf_over(room, sizeof room - 1);

	for (size_t k = 0; k < at->n; k++)
		buf_addf(&path, "%s%.*s", k && at->key[k].n ? "." : "", STR_FMT(at->key[k]));
	add_way(f->check, "%.*s in %s runs outside the sidecar, or undoes what holds it",
		STR_FMT(buf_str(&path)), f->file);
}

static struct str without_quotes(struct str value)
{
	const bool quoted = value.n > 1 && strchr("\"'", value.p[0]);

	return quoted ? str_from(str_upto(value, value.n - 1), 1) : value;
}

/* A word of the sidecar's command line that lets commands do no more than without it. */
static bool is_harmless_word(const struct change_names *names, struct str value)
{
	static const char harmless[] = "mcp --workspace . ${workspaceFolder} --read-only "
				       "--sandbox workspace strict "
				       "--network none on --command-policy --scrub all "
				       "--read-before-write --tool-set "
				       "core "
				       "full --mcp-results text structured --result-bytes";
	const struct str word = without_quotes(value);
	size_t digits = 0;

	while (digits < word.n && word.p[digits] >= '0' && word.p[digits] <= '9')
		digits++;
	return change_is_program(names, value) || str_is_listed(harmless, word) ||
	       str_eq(word, str_of(names->project)) || (word.n && digits == word.n);
}

/* Variables, or words of a command line. */
static void check_words(const struct finder *f, const struct key_path *at, bool variables)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct key_path item = *at;
	struct str *name = &item.key[item.n++];
	struct str value;

	for (size_t i = 0; conf_child(f->form, f->text, at, i, &memory, name, &value); i++)
		if (variables ? !str_is_listed(agent_variables, *name)
			      : !is_harmless_word(f->names, value))
			add_running(f, &item);
}

/* What a server that runs the sidecar has besides that: variables, arguments and other members may
 * make it another one, or one that holds less. */
static void check_server(const struct finder *f, const struct key_path *at)
{
	static const char harmless[] =
		"type enabled disabled timeout trust alwaysLoad description includeTools "
		"excludeTools enabled_tools disabled_tools required "
		"default_tools_approval_mode "
		"startup_timeout_sec tool_timeout_sec";
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct key_path member = *at;
	struct str *name = &member.key[member.n++];
	struct str value;

	for (size_t i = 0; conf_child(f->form, f->text, at, i, &memory, name, &value); i++) {
		const bool variables = str_is_listed("env environment", *name);
		if (variables || str_is_listed("args command", *name))
			check_words(f, &member, variables);
		else if (!str_is_listed(harmless, *name))
			add_running(f, &member);
	}
}

/* Whether a value runs nothing: it is empty or turned off, one of opencode's own packages, or
 * setup's own. */
static bool is_harmless(const struct finder *f, struct str name, struct str value)
{
	static const char *const nothing[] = { "false", "null", "{}", "[]", "\"\"" };
	static const struct key_path enabled = { .key = { STR("enabled") }, .n = 1 };
	const struct str package = without_quotes(value);
	struct str found;
	struct err e;

	if (str_is_listed(f->wanted->harmless, name))
		return true;
	for (size_t i = 0; value.n && i < ARRAY_LEN(nothing); i++)
		if (conf_same(f->form, value, str_of(nothing[i])))
			return true;
	for (const struct agent_row *row = f->agent->rows; value.n && row->value; row++)
		if (row->kind == ROW_ITEM && conf_same(f->form, value, str_of(row->value)))
			return true;
	if (str_starts(package, STR("@ai-sdk/"))) /* and not @ai-sdk/x@file:/y */
		return str_index(str_from(package, 8), '@') < 0 &&
		       str_index(str_from(package, 8), '/') < 0;
	return f->wanted->enabled && conf_find(f->form, value, &enabled, &found, &e) == 0 &&
	       str_eq(found, STR("false"));
}

/* What a text has at the keys from that one on, where "*" is any name. */
static void find_running(const struct finder *f, struct key_path at)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	const char *const *keys = f->wanted->key;
	const bool last = at.n + 1 == KEY_PATH_MAX || !keys[at.n + 1];
	const char *const wanted = strcmp(keys[at.n], "@") == 0 ? f->names->project : keys[at.n];
	struct key_path next = at;
	struct str *name = &next.key[next.n++];
	struct str value;

	for (size_t i = 0; conf_child(f->form, f->text, &at, i, &memory, name, &value); i++) {
		if (strcmp(wanted, "*") != 0 && !str_eq(*name, str_of(wanted)))
			continue;
		if (!last && name->n)
			find_running(f, next);
		else if (last && change_runs_sidecar(f->form, f->names, f->text, &next))
			check_server(f, &next);
		else if (!is_harmless(f, *name, value))
			add_running(f, &next);
	}
}

static bool is_taken(const struct agent_type *t, struct str value)
{
	return (!t->first || (value.n && strchr(t->first, value.p[0]))) &&
	       (!t->values || str_is_listed(t->values, without_quotes(value)));
}

static bool are_taken(const struct agent_file *f, const struct agent_type *t, struct str text,
		      const struct key_path *list)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct str name, value;
	bool taken = true;

	for (size_t i = 0; taken && conf_child(f->form, text, list, i, &memory, &name, &value); i++)
		taken = is_taken(t, value);
	return taken;
}

/* The row by which the agent does not take a member, and all of its file; or NULL. *judged is whether
 * the rows say all. */
static const struct agent_type *refusing(const struct agent_file *f, struct str text,
					 const struct key_path *at, struct str value, bool *judged)
{
	const struct str name = at->key[at->n - 1],
			 in = at->n > 1 ? at->key[0] : (struct str){ NULL, 0 };

	*judged = false;
	for (const struct agent_type *t = f->types; t->names; t++) {
		if (!str_eq(str_of(t->in), in) || !str_is_listed(t->names, name))
			continue;
		*judged = !t->doubt;
		if (t->items ? !are_taken(f, t, text, at) : !is_taken(t, value))
			return t;
	}
	return NULL;
}

/* Each member of a file, and of the objects in it that the table knows. In c: those that cannot be
 * judged. */
static int check_types(const struct agent_file *f, struct str text, const char *path,
		       struct check *c, struct err *e)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct str value;
	bool judged;

	for (const struct agent_type *t = f->types; t && t->names; t++) {
		const struct key_path at = { .key = { str_of(t->in) }, .n = t->in ? 1 : 0 };
		struct key_path member = at;
		struct str *name = &member.key[member.n++];
		if (t > f->types && str_eq(str_of(t->in), str_of(t[-1].in)))
			continue;
		for (size_t i = 0; conf_child(f->form, text, &at, i, &memory, name, &value); i++) {
			const struct agent_type *by = refusing(f, text, &member, value, &judged);
			if (by)
				return err_set(e, ERR_INVALID_CONFIG, "%.*s is not %s",
					       STR_FMT(*name), by->what);
			if (c && !judged)
				add_way(c,
					"%s has %.*s: it cannot be judged whether the "
					"agent "
					"reads such a file",
					path, STR_FMT(*name));
		}
	}
	return 0;
}

int check_text(const struct agent_file *f, const char *path, struct str text, struct err *e)
{
	struct err why;

	if (conf_check(f->form, f->rules, text, &why) == 0 &&
	    check_types(f, text, path, NULL, &why) == 0)
		return 0;
	return err_set(e, ERR_INVALID_CONFIG, "%s: %s; the agent does not read such a file at all",
		       path, why.msg);
}

/* What runs besides the rows: values of the agent's files, and files of their own. */
static int check_running(const struct agent *agent, const struct change_names *names, size_t file,
			 const struct layers *l, int first, struct check *c, struct err *e)
{
	for (const struct agent_running *r = agent->runs; r && (r->key[0] || r->place.user); r++) {
		char path[PATH_MAX];
		for (int i = first; i < LAYERS && r->key[0] && r->file == file; i++)
			find_running(&(struct finder){ c, agent, r, names, agent->file[file].form,
						       l->path[i], buf_str(&l->content[i].bytes) },
				     (struct key_path){ .n = 0 });
		for (int user = !r->place.project; user < 2 && !r->key[0] && file == 0; user++) {
			if (place_of(&r->place, user, names->project, path, e) < 0)
				return -1;
			if (place_has_content(path))
				add_way(c, "%s is loaded by %s when it starts", path, agent->title);
		}
	}
	return 0;
}

/* One of the agent's files, in a directory around the project. */
static int check_outer(const struct agent *agent, const struct agent_file *f,
		       const struct change_names *names, const char *dir, struct check *c,
		       struct err *e)
{
	char path[PATH_MAX], users[PATH_MAX];

	if (!f->upwards)
		return 0;
	if (place_of(f, false, dir, path, e) < 0 || place_of(f, true, names->project, users, e) < 0)
		return -1;
	if (strcmp(path, users) != 0 && place_has_content(path))
		add_way(c, "%s reads %s as well", agent->title, path);
	return 0;
}

/* The directories around the project, up to that of the repository. */
static int check_around(const struct agent *agent, const struct change_names *names,
			struct check *c, struct err *e)
{
	char dir[PATH_MAX], git[PATH_MAX];
	const struct agent_file repository = { .project = ".git" };

	(void)snprintf(dir, sizeof dir, "%s", names->project);
	for (;;) {
		char *slash = strrchr(dir, '/');
		if (place_of(&repository, false, dir, git, e) < 0)
			return -1;
		if (!slash || place_has_content(git))
			return 0;
		*slash = 0;
		for (size_t i = 0; i < ARRAY_LEN(agent->file); i++)
			if (check_outer(agent, &agent->file[i], names, dir, c, e) < 0)
				return -1;
		for (const struct agent_running *r = agent->runs; r && (r->key[0] || r->place.user);
		     r++)
			if (check_outer(agent, &r->place, names, dir, c, e) < 0)
				return -1;
	}
}

/* The rows of one file. `first` is the first layer that the agent reads. */
static int check_rows(const struct agent *agent, size_t file, const struct change_names *names,
		      int first, struct check *c, struct err *e)
{
	const struct agent_file *f = &agent->file[file];
	CLEANUP(layers_done) struct layers l = { .path = { "" } };

	if (layers_read(f, names->project, &l, e) < 0)
		return -1;
	if (first > LAYER_PROJECT && l.content[LAYER_PROJECT].exists)
		add_way(c, "%s is not read: this project is not trusted", l.path[LAYER_PROJECT]);
	for (const struct agent_row *row = agent->rows; row->value; row++) {
		enum change_state state;
		if (row->file != file || (row->flags & (ROW_TRUST | ROW_EASES)))
			continue;
		if (look(row, f, names, &l, first, &state, e) < 0)
			return -1;
		const bool fine = (state == CHANGE_APPLIED) == (row->kind != ROW_NEVER);
		if (row->kind == ROW_SERVER)
			c->connected = fine;
		if (!fine && ((row->flags & ROW_HOLDS) || row->kind == ROW_SERVER))
			report(c, row);
	}
	for (int i = first; i < LAYERS; i++) {
		char also[PATH_MAX];
		if (check_types(f, buf_str(&l.content[i].bytes), l.path[i], c, e) < 0)
			return -1;
		if (f->also && l.content[i].exists &&
		    !str_ends(str_of(l.path[i]), str_of(f->also)) &&
		    snprintf(also, sizeof also, "%s%s", l.path[i], f->also) < PATH_MAX &&
		    place_has_content(also))
			add_way(c, "%s reads %s as well", agent->title, also);
	}
	if (agent->disables_servers && file == 0)
		other_servers(c, names, &l, first);
	if (agent->has_permissions)
		other_permissions(c, &l);
	return check_running(agent, names, file, &l, first, c, e);
}

int check_agent(const struct agent *agent, const struct change_names *names, struct check *ret,
		struct err *e)
{
	int first = LAYER_LOCAL;

	if (agent->cannot)
		add_way(ret, "%s cannot be held: %s", agent->title, agent->cannot);
	for (const struct agent_row *row = agent->rows; row->value; row++) {
		CLEANUP(layers_done) struct layers l = { .path = { "" } };
		enum change_state state;
		if (!(row->flags & ROW_TRUST))
			continue;
		if (layers_read(&agent->file[row->file], names->project, &l, e) < 0 ||
		    look(row, &agent->file[row->file], names, &l, 0, &state, e) < 0)
			return -1;
		if (state != CHANGE_APPLIED)
			first = LAYER_USER; /* the project's files are not read */
	}
	for (size_t i = 0; i < ARRAY_LEN(agent->file); i++)
		if (agent->file[i].user && check_rows(agent, i, names, first, ret, e) < 0)
			return -1;
	return check_around(agent, names, ret, e);
}

void check_list(const struct change_names *names, struct buf *out)
{
	for (const struct agent *a = agents; a->name; a++) {
		AUTO_BUF reasons = { .max = LIMIT_ANSWER };
		struct check c = { .reasons = &reasons };
		char path[PATH_MAX];
		bool installed = false;
		struct err e;
		for (size_t i = 0; i < ARRAY_LEN(a->programs) && a->programs[i]; i++)
			installed = installed || place_find_program(a->programs[i], path);
		const int status = check_agent(a, names, &c, &e);
		buf_addf(out, "%-9s %-12s %-14s %s\n", a->name, a->title,
			 installed ? "installed" : "not installed",
			 status < 0	? e.msg
			 : !c.connected ? "not connected"
			 : c.ways == 0	? "connected, held"
			 : a->cannot	? "connected, cannot be held"
					: "connected, not held");
	}
}
