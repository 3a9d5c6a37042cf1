/* SPDX-License-Identifier: MIT */
/* check: every row of the table, looked for in the files that the agent reads. */

#include "setup/check.h"

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
		if (ret->path[i][0] && place_read(ret->path[i], &ret->content[i], e) < 0)
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
		enum change_state *ret, int *where, struct err *e)
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
			*where = i;
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

/* opencode: rules that allow more, and agents with rules of their own. */
static void other_permissions(struct check *c, const struct layers *l)
{
	static const struct str harmless[] = { STR("sidecar_*"), STR("todowrite"), STR("todoread"),
					       STR("webfetch"),	 STR("websearch"), STR("question"),
					       STR("doom_loop") };
	static const struct key_path permission = { .key = { STR("permission") }, .n = 1 };
	static const struct key_path overriding[] = { { .key = { STR("agent") }, .n = 1 },
						      { .key = { STR("mode") }, .n = 1 } };
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };

	for (int i = 0; i < LAYERS; i++) {
		const struct str text = buf_str(&l->content[i].bytes);
		struct str all, name, value;
		struct err e;
		for (size_t k = 0;
		     conf_child(CONF_JSON, text, &permission, k, &memory, &name, &value); k++) {
			bool known = str_eq(value, STR("\"deny\""));
			for (size_t h = 0; h < ARRAY_LEN(harmless); h++)
				known = known || str_eq(name, harmless[h]);
			if (!known)
				add_way(c, "permission.%.*s in %s is not \"deny\"", STR_FMT(name),
					l->path[i]);
		}
		for (size_t k = 0; k < ARRAY_LEN(overriding); k++) {
			if (conf_find(CONF_JSON, text, &overriding[k], &all, &e) < 0)
				continue;
			if (str_find(all, STR("\"permission\"")) >= 0 ||
			    str_find(all, STR("\"tools\"")) >= 0)
				add_way(c, "an agent in %s has permissions of its own", l->path[i]);
		}
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
		int where = LAYER_USER;
		if (row->file != file || (row->flags & (ROW_TRUST | ROW_EASES)))
			continue;
		if (look(row, f, names, &l, first, &state, &where, e) < 0)
			return -1;
		const bool fine = (state == CHANGE_APPLIED) == (row->kind != ROW_NEVER);
		if (row->kind == ROW_SERVER)
			c->connected = fine;
		if (fine && (row->flags & ROW_HOLDS) && where != LAYER_USER)
			c->in_project = true;
		if (!fine && ((row->flags & ROW_HOLDS) || row->kind == ROW_SERVER))
			report(c, row);
	}
	if (agent->disables_servers && file == 0)
		other_servers(c, names, &l, first);
	if (agent->has_permissions)
		other_permissions(c, &l);
	return 0;
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
		int where;
		if (!(row->flags & ROW_TRUST))
			continue;
		if (layers_read(&agent->file[row->file], names->project, &l, e) < 0 ||
		    look(row, &agent->file[row->file], names, &l, 0, &state, &where, e) < 0)
			return -1;
		if (state != CHANGE_APPLIED)
			first = LAYER_USER; /* the project's files are not read */
	}
	for (size_t i = 0; i < ARRAY_LEN(agent->file); i++)
		if (agent->file[i].user && check_rows(agent, i, names, first, ret, e) < 0)
			return -1;
	return 0;
}
