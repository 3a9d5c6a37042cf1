/* SPDX-License-Identifier: MIT */
/* change: rows of the table as edits of JSON and TOML. */

#include "setup/change.h"

#include "base/jw.h"
#include "base/limits.h"
#include "setup/conf.h"

/* The value with the program's path for "@"; what it stands in is a string in both forms. */
static void add_value(struct buf *out, const char *value, const struct change_names *names)
{
	const ptrdiff_t at = str_find(str_of(value), STR("\"@\""));

	if (at < 0) {
		buf_add(out, str_of(value));
		return;
	}
	buf_add(out, str_upto(str_of(value), (size_t)at + 1));
	jw_escape(out, str_of(names->program));
	buf_add(out, str_from(str_of(value), (size_t)at + 2));
}

/* The value of a row, and where it is. An item is seen in `value`. */
static struct key_path read_row(const struct agent_row *row, const struct change_names *names,
				struct buf *value)
{
	struct key_path k = { .n = 0 };

	for (; k.n < KEY_PATH_MAX && row->key[k.n]; k.n++) {
		const bool project = (row->flags & ROW_TRUST) && strcmp(row->key[k.n], "@") == 0;
		k.key[k.n] = str_of(project ? names->project : row->key[k.n]);
	}
	add_value(value, row->value, names);
	if (row->kind == ROW_ITEM || (row->kind == ROW_NEVER && row->value[0] == '"'))
		k.item = buf_str(value);
	return k;
}

bool change_is_program(const struct change_names *names, struct str value)
{
	AUTO_BUF self = { .max = 2 * PATH_MAX };

	buf_addc(&self, '"');
	jw_escape(&self, str_of(names->self));
	buf_addc(&self, '"');
	return str_eq(value, STR("\"sidecar\"")) || str_eq(value, buf_str(&self));
}

/* Its command, or the first word of that. */
bool change_runs_sidecar(enum conf_form form, const struct change_names *names, struct str text,
			 const struct key_path *server)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct key_path command = *server;
	struct str value, name;
	struct err e;

	/* So deep, where the words of its command line would have no path, there are no servers. */
	if (command.n + 2 > KEY_PATH_MAX)
		return false;
	command.key[command.n++] = STR("command");
	if (conf_find(form, text, &command, &value, &e) < 0 || !value.n)
		return false;
	if (value.p[0] == '[' && !conf_child(form, text, &command, 0, &memory, &name, &value))
		return false;
	return change_is_program(names, value);
}

int change_look(const struct agent_row *row, enum conf_form form, const struct change_names *names,
		struct str text, enum change_state *ret, struct err *e)
{
	AUTO_BUF value = { .max = 2 * PATH_MAX };
	const struct key_path at = read_row(row, names, &value);
	struct key_path server = at;
	struct str found;
	bool same = false;

	if (conf_find(form, text, &at, &found, e) < 0)
		return -1;
	switch (found.p ? row->kind : ROW_NEVER) {
	case ROW_SERVER:
		server.n -= row->second != NULL; /* "command" */
		same = change_runs_sidecar(form, names, text, &server);
		break;
	case ROW_OBJECT:
		same = found.p[0] == '{';
		break;
	case ROW_VALUE:
	case ROW_ITEM:
	case ROW_NEVER:
		same = found.p && conf_same(form, found, buf_str(&value));
		break;
	}
	*ret = same ? CHANGE_APPLIED : found.p ? CHANGE_DIFFERS : CHANGE_ABSENT;
	return 0;
}

/* Give the value at these keys, or remove it if p is NULL. */
static int set(enum conf_form form, const struct key_path *at, struct str value, struct buf *text,
	       struct err *e)
{
	AUTO_BUF next = { .max = text->max };
	const struct buf old = *text;

	if ((value.p ? conf_set(form, buf_str(text), at, value, &next, e)
		     : conf_remove(form, buf_str(text), at, &next, e)) < 0)
		return -1;
	*text = next;
	next = old;
	return 0;
}

/* The member "args" beside the member "command" of a server in TOML. */
static struct key_path args_beside(struct key_path at)
{
	at.key[at.n - 1] = STR("args");
	return at;
}

int change_apply(const struct agent_row *row, enum conf_form form, const struct change_names *names,
		 struct buf *text, struct err *e)
{
	AUTO_BUF value = { .max = 2 * PATH_MAX };
	const struct key_path at = read_row(row, names, &value), args = args_beside(at);
	enum change_state state;

	if (change_look(row, form, names, buf_str(text), &state, e) < 0)
		return -1;
	if (state == CHANGE_APPLIED || row->kind == ROW_NEVER)
		return 0;
	if (row->kind == ROW_SERVER && state == CHANGE_DIFFERS)
		return err_set(
			e, ERR_CONFLICT,
			"there is an MCP server named sidecar that does not run the sidecar");
	if (set(form, &at, buf_str(&value), text, e) < 0)
		return -1;
	return row->second ? set(form, &args, str_of(row->second), text, e) : 0;
}

/* Give the value at these keys back what it was before, if it was anything. */
static int restore(enum conf_form form, const struct key_path *at, struct str before,
		   struct buf *text, struct err *e)
{
	struct str was;

	if (conf_find(form, before, at, &was, e) < 0)
		return -1;
	return set(form, at, was, text, e);
}

/* Remove what is empty now around these keys and was not there before, from the inside out. */
static int prune(enum conf_form form, struct key_path at, struct str before, struct buf *text,
		 struct err *e)
{
	at.n -= !at.item.p;
	at.item = (struct str){ NULL, 0 };
	for (; at.n; at.n--) {
		struct str was, is;
		if (conf_find(form, before, &at, &was, e) < 0 ||
		    conf_find(form, buf_str(text), &at, &is, e) < 0)
			return -1;
		const bool empty =
			!is.n || conf_same(form, is, STR("{}")) || conf_same(form, is, STR("[]"));
		if (was.p || !is.p || !empty)
			return 0;
		if (set(form, &at, was, text, e) < 0)
			return -1;
	}
	return 0;
}

int change_revert(const struct agent_row *row, enum conf_form form,
		  const struct change_names *names, struct str before, struct buf *text,
		  struct err *e)
{
	AUTO_BUF value = { .max = 2 * PATH_MAX };
	const struct key_path at = read_row(row, names, &value), args = args_beside(at);
	enum change_state was, is;
	struct str now;

	if (change_look(row, form, names, before, &was, e) < 0 ||
	    change_look(row, form, names, buf_str(text), &is, e) < 0 ||
	    conf_find(form, buf_str(text), &at, &now, e) < 0)
		return -1;
	if (was == CHANGE_APPLIED || is != CHANGE_APPLIED || row->kind == ROW_NEVER)
		return 0;
	/* The members of an object are other rows: it goes when they have gone. */
	if (row->kind == ROW_OBJECT && !conf_same(form, now, STR("{}")))
		return 0;
	if (restore(form, &at, before, text, e) < 0 ||
	    (row->second && restore(form, &args, before, text, e) < 0))
		return -1;
	return prune(form, at, before, text, e);
}

bool change_other_server(struct str text, size_t i, struct arena *memory, struct agent_row *ret)
{
	const struct key_path servers = { .key = { STR("mcp_servers") }, .n = 1 };
	struct str name, value;

	for (size_t k = 0; conf_child(CONF_TOML, text, &servers, k, memory, &name, &value); k++) {
		if (str_eq(name, STR("sidecar")) || i-- > 0)
			continue;
		*ret = (struct agent_row){ .kind = ROW_VALUE,
					   .key = { "mcp_servers", name.p, "enabled" },
					   .value = "false" };
		return true;
	}
	return false;
}
