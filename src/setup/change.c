/* SPDX-License-Identifier: MIT */
/* change: rows of the table as edits of JSON and TOML. */

#include "setup/change.h"

#include "base/jw.h"
#include "base/limits.h"
#include "setup/jsonc.h"
#include "setup/jsonc_read.h"
#include "setup/toml.h"

static struct key_path keys_of(const struct agent_row *row, const struct change_names *names)
{
	struct key_path k = { .n = 0 };

	while (k.n < KEY_PATH_MAX && row->key[k.n]) {
		const struct str key = str_of(row->key[k.n]);
		k.key[k.n++] = str_eq(key, STR("@")) ? str_of(names->project) : key;
	}
	return k;
}

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

static int find(enum agent_form form, struct str text, const struct key_path *at, struct str *ret,
		struct err *e)
{
	return form == FORM_TOML ? toml_find(text, at, ret, e) : jsonc_find(text, at, ret, e);
}

/* Read the edited text again, and what is there now: an agent that cannot read its file has lost
 * all of it. `want` is NULL where anything may be there. */
static int reread(enum agent_form form, const struct buf *edited, const struct key_path *at,
		  const struct str *want, struct err *e)
{
	struct err why = { 0 };
	struct str now;

	if (find(form, buf_str(edited), at, &now, &why) == 0 &&
	    (!want || (form == FORM_TOML ? str_eq(now, *want) : jsonc_same(now, *want))))
		return 0;
	return err_set(e, ERR_INVALID_CONFIG,
		       "%.*s cannot be changed without breaking the file%s%s; change it by hand",
		       STR_FMT(at->key[at->n - 1]), why.code ? ": " : "", why.msg);
}

static int set(enum agent_form form, struct str text, const struct key_path *at, struct str value,
	       struct buf *out, struct err *e)
{
	const int status = form == FORM_TOML ? toml_set(text, at, value, out, e)
					     : jsonc_set(text, at, value, out, e);

	return status < 0 ? -1 : reread(form, out, at, &value, e);
}

static int cut(enum agent_form form, struct str text, const struct key_path *at, struct buf *out,
	       struct err *e)
{
	const int status =
		form == FORM_TOML ? toml_remove(text, at, out, e) : jsonc_remove(text, at, out, e);

	return status < 0 ? -1 : reread(form, out, at, NULL, e);
}

/* Whether an MCP server's text runs a sidecar: a string in it is "sidecar" or ends with
 * "/sidecar", as its command or the first word of it. */
static bool runs_sidecar(enum agent_form form, struct str server)
{
	const struct key_path command = { .key = { STR("command") }, .n = 1 };
	struct str value = server, name;
	struct err e;

	if (form == FORM_JSON && (jsonc_find(server, &command, &value, &e) < 0 || !value.p))
		return false;
	if (value.n && value.p[0] == '[' && !jsonc_at(value, 0, &name, &value))
		return false;
	return str_eq(value, STR("\"sidecar\"")) || str_ends(value, STR("/sidecar\""));
}

int change_look(const struct agent_row *row, enum agent_form form, const struct change_names *names,
		struct str text, enum change_state *ret, struct err *e)
{
	const struct key_path at = keys_of(row, names);
	AUTO_BUF value = { .max = 2 * PATH_MAX };
	struct str found;
	bool same = false;

	if (find(form, text, &at, &found, e) < 0)
		return -1;
	add_value(&value, row->value, names);
	switch (found.p ? row->kind : ROW_NEVER) {
	case ROW_SERVER:
		same = runs_sidecar(form, found);
		break;
	case ROW_ITEM:
		same = jsonc_has_item(found, buf_str(&value));
		break;
	case ROW_OBJECT:
		same = found.p[0] == '{';
		break;
	case ROW_VALUE:
	case ROW_NEVER:
		same = found.p && (form == FORM_TOML ? str_eq(found, buf_str(&value))
						     : jsonc_same(found, buf_str(&value)));
		break;
	}
	*ret = same ? CHANGE_APPLIED : found.p ? CHANGE_DIFFERS : CHANGE_ABSENT;
	return 0;
}

/* The member "args" beside the member "command" of a server in TOML. */
static struct key_path args_beside(struct key_path at)
{
	at.key[at.n - 1] = STR("args");
	return at;
}

int change_apply(const struct agent_row *row, enum agent_form form,
		 const struct change_names *names, struct str text, struct buf *out, struct err *e)
{
	const struct key_path at = keys_of(row, names);
	AUTO_BUF value = { .max = 2 * PATH_MAX };
	enum change_state state;

	if (change_look(row, form, names, text, &state, e) < 0)
		return -1;
	if (state == CHANGE_APPLIED || row->kind == ROW_NEVER) {
		buf_add(out, text);
		return 0;
	}
	if (row->kind == ROW_SERVER && state == CHANGE_DIFFERS)
		return err_set(
			e, ERR_CONFLICT,
			"there is an MCP server named sidecar that does not run the sidecar");
	add_value(&value, row->value, names);
	if (row->kind == ROW_ITEM)
		return jsonc_add_item(text, &at, buf_str(&value), out, e) < 0
			       ? -1
			       : reread(form, out, &at, NULL, e);
	if (!row->second)
		return set(form, text, &at, buf_str(&value), out, e);
	const struct key_path args = args_beside(at);
	AUTO_BUF half = { .max = out->max };
	if (set(form, text, &at, buf_str(&value), &half, e) < 0)
		return -1;
	return set(form, buf_str(&half), &args, str_of(row->second), out, e);
}

/* Remove what is empty now and was not there before, from the inside out. */
static int prune(enum agent_form form, struct key_path at, struct str before, struct buf *text,
		 struct err *e)
{
	for (at = key_path_parent(&at); at.n; at = key_path_parent(&at)) {
		AUTO_BUF less = { .max = text->max };
		struct str was, is;
		if (find(form, before, &at, &was, e) < 0 ||
		    find(form, buf_str(text), &at, &is, e) < 0)
			return -1;
		const bool empty =
			form == FORM_TOML || jsonc_same(is, STR("{}")) || jsonc_same(is, STR("[]"));
		if (was.p || !is.p || !empty)
			return 0;
		if (cut(form, buf_str(text), &at, &less, e) < 0)
			return -1;
		const struct buf old = *text;
		*text = less;
		less = old;
	}
	return 0;
}

/* Give the value at these keys back what it was before, if it was anything. */
static int restore(enum agent_form form, const struct key_path *at, struct str before,
		   struct str text, struct buf *out, struct err *e)
{
	struct str was;

	if (find(form, before, at, &was, e) < 0)
		return -1;
	if (was.p)
		return set(form, text, at, was, out, e);
	return cut(form, text, at, out, e);
}

int change_revert(const struct agent_row *row, enum agent_form form,
		  const struct change_names *names, struct str before, struct str text,
		  struct buf *out, struct err *e)
{
	struct key_path at = keys_of(row, names);
	AUTO_BUF value = { .max = 2 * PATH_MAX };
	AUTO_BUF half = { .max = out->max };
	enum change_state was, is;
	int status;

	if (change_look(row, form, names, before, &was, e) < 0 ||
	    change_look(row, form, names, text, &is, e) < 0)
		return -1;
	if (was == CHANGE_APPLIED || is != CHANGE_APPLIED || row->kind == ROW_NEVER) {
		buf_add(out, text);
		return 0;
	}
	add_value(&value, row->value, names);
	if (row->kind == ROW_OBJECT) { /* its members are other rows: it goes when they have gone */
		struct str now;
		status = find(form, text, &at, &now, e) < 0 ? -1
			 : was == CHANGE_DIFFERS && jsonc_same(now, STR("{}"))
				 ? restore(form, &at, before, text, out, e)
				 : (buf_add(out, text), 0);
	} else if (row->kind == ROW_ITEM) {
		status = jsonc_remove_item(text, &at, buf_str(&value), out, e);
		at.n++; /* so that the list itself is pruned, too */
	} else if (row->second) {
		const struct key_path args = args_beside(at);
		status = restore(form, &at, before, text, &half, e) < 0
				 ? -1
				 : restore(form, &args, before, buf_str(&half), out, e);
	} else {
		status = restore(form, &at, before, text, out, e);
	}
	return status < 0 ? -1 : prune(form, at, before, out, e);
}

void change_add_keys(struct buf *out, const struct agent_row *row)
{
	for (size_t i = 0; i < KEY_PATH_MAX && row->key[i]; i++)
		buf_addf(out, "%s%s", i ? "." : "", row->key[i]);
}

static struct key_path server_keys(struct str server)
{
	return (struct key_path){ .key = { STR("mcp_servers"), server, STR("enabled") }, .n = 3 };
}

bool change_other_server(struct str text, size_t i, struct arena *memory, struct str *name)
{
	const struct key_path servers = { .key = { STR("mcp_servers") }, .n = 1 };
	size_t found = 0;

	for (size_t k = 0; toml_name(text, &servers, k, memory, name); k++) {
		const struct key_path at = server_keys(*name);
		struct str enabled;
		struct err e;
		if (str_eq(*name, STR("sidecar")) || toml_find(text, &at, &enabled, &e) < 0 ||
		    str_eq(enabled, STR("false")))
			continue;
		if (found++ == i)
			return true;
	}
	return false;
}

int change_disable(struct str text, struct str server, struct buf *out, struct err *e)
{
	const struct key_path at = server_keys(server);

	return set(FORM_TOML, text, &at, STR("false"), out, e);
}

int change_enable(struct str before, struct str text, struct buf *out, struct err *e)
{
	const struct key_path servers = { .key = { STR("mcp_servers") }, .n = 1 };
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct str name;

	buf_add(out, text);
	for (size_t i = 0; toml_name(before, &servers, i, &memory, &name); i++) {
		const struct key_path at = server_keys(name);
		AUTO_BUF next = { .max = out->max };
		struct str now;
		if (toml_find(buf_str(out), &at, &now, e) < 0)
			return -1;
		if (str_eq(name, STR("sidecar")) || !str_eq(now, STR("false")))
			continue;
		if (restore(FORM_TOML, &at, before, buf_str(out), &next, e) < 0)
			return -1;
		const struct buf old = *out;
		*out = next;
		next = old;
	}
	return 0;
}
