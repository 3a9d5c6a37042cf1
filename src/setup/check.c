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
		add_way(c, "%s is %s", keys, row->value);
	else if (row->kind == ROW_ITEM)
		add_way(c, "%s does not have %.*s", keys,
			STR_FMT(str_upto(str_of(row->value), 60)));
	else if (row->kind == ROW_VALUE)
		add_way(c, "%s is not %s", keys, row->value);
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
		for (size_t k = 0; change_other_server(text, k, &memory, &row); k++)
			if (change_look(&row, CONF_TOML, names, text, &state, &e) < 0 ||
			    state != CHANGE_APPLIED)
				add_way(c, "the MCP server %s in %s runs outside the sidecar",
					row.key[1], l->path[i]);
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

/* Whether a value runs nothing: it is empty or turned off, setup's own, or a server that is the
 * sidecar or turned off. */
static bool is_harmless(const struct agent *agent, enum conf_form form, struct str value)
{
	static const char *const nothing[] = { "false", "null", "{}", "[]", "\"\"" };
	static const struct key_path enabled = { .key = { STR("enabled") }, .n = 1 };
	struct str found;
	struct err e;

	for (size_t i = 0; value.n && i < ARRAY_LEN(nothing); i++)
		if (conf_same(form, value, str_of(nothing[i])))
			return true;
	for (const struct agent_row *row = agent->rows; value.n && row->value; row++)
		if (row->kind == ROW_ITEM && conf_same(form, value, str_of(row->value)))
			return true;
	if (form != CONF_JSON)
		return false;
	return change_runs_sidecar(form, value) || str_starts(value, STR("\"@ai-sdk/")) ||
	       (conf_find(form, value, &enabled, &found, &e) == 0 && str_eq(found, STR("false")));
}

/* What a text has at the keys from that one on, where "*" is any name. */
static void find_running(struct check *c, const struct agent *agent, const char *const *keys,
			 const char *file, enum conf_form form, struct str text, struct key_path at,
			 const struct change_names *names)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	const char *const wanted = keys[at.n];
	const bool last = at.n + 1 == KEY_PATH_MAX || !keys[at.n + 1];
	struct key_path next = at;
	struct str value;

	next.n++;
	for (size_t i = 0; conf_child(form, text, &at, i, &memory, &next.key[at.n], &value); i++) {
		const struct str name = next.key[at.n];
		const char *const want = strcmp(wanted, "@") == 0 ? names->project : wanted;
		if (strcmp(want, "*") != 0 && !str_eq(name, str_of(want)))
			continue;
		if (!last && name.n) {
			find_running(c, agent, keys, file, form, text, next, names);
			continue;
		}
		if (is_harmless(agent, form, value))
			continue;
		char room[256];
		struct buf path = buf_over(room, sizeof room - 1);
		for (size_t k = 0; k < next.n; k++)
			buf_addf(&path, "%s%.*s", k && next.key[k].n ? "." : "",
				 STR_FMT(next.key[k]));
		add_way(c, "%.*s in %s runs outside the sidecar, or undoes what holds it",
			STR_FMT(buf_str(&path)), file);
	}
}

static int check_type(const struct agent_file *f, const struct agent_type *t, struct str text,
		      struct err *e)
{
	const struct key_path at = { .key = { str_of(t->in) }, .n = t->in ? 1 : 0 };
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct str name, value;

	for (size_t i = 0; conf_child(f->form, text, &at, i, &memory, &name, &value); i++)
		if (str_is_listed(t->names, name) && !strchr(t->first, value.p[0]))
			return err_set(e, ERR_INVALID_CONFIG, "%.*s is not %s", STR_FMT(name),
				       t->what);
	return 0;
}

int check_text(const struct agent_file *f, const char *path, struct str text, struct err *e)
{
	struct err why;
	int rc = conf_check(f->form, f->rules, text, &why);

	for (const struct agent_type *t = f->types; rc == 0 && t && t->names; t++)
		rc = check_type(f, t, text, &why);
	if (rc == 0)
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
			find_running(c, agent, r->key, l->path[i], agent->file[file].form,
				     buf_str(&l->content[i].bytes), (struct key_path){ .n = 0 },
				     names);
		for (int user = 0; user < 2 && !r->key[0] && file == 0; user++) {
			if (place_of(&r->place, user, names->project, path, e) < 0)
				return -1;
			if (place_has_content(path))
				add_way(c, "%s is loaded by %s when it starts", path, agent->title);
		}
	}
	return 0;
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
	return 0;
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
