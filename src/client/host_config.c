/* SPDX-License-Identifier: MIT */
/* host_config: open an executor as the JSON configuration of the host program says. */

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "client/client.h"
#include "client/limits.h"

/* An object of the configuration and its full name, "plugins.coding.sidecar". */
struct section {
	const struct json *object; /* NULL: it is missing */
	const char *name;
	struct arena *arena; /* where strings are copied to */
};

/* Say that a member must be something and what it is instead; `is` NULL: it is missing. */
static int mistake(struct err *e, struct section s, const char *member, const char *must,
		   const struct json *is)
{
	if (is && is->type == JSON_STRING)
		return err_set(e, ERR_INVALID_CONFIG, "%s%s%s must be %s, not \"%.*s\"", s.name,
			       *s.name && *member ? "." : "", member, must,
			       STR_FMT(str_upto(is->string, 100)));
	return err_set(e, ERR_INVALID_CONFIG, "%s%s%s must be %s%s%s", s.name,
		       *s.name && *member ? "." : "", member, must,
		       is ? ", not " : "; it is missing", is ? json_type_name(is) : "");
}

/* The member; NULL if it is missing or null. */
static const struct json *member(struct section s, const char *name)
{
	const struct json *v = json_get(s.object, str_of(name));

	return v && v->type != JSON_NULL ? v : NULL;
}

/* Get a member that is an object; ret->object is NULL if it is missing. */
static int get_section(struct section in, const char *member_name, const char *full,
		       struct section *ret, struct err *e)
{
	const struct json *v = member(in, member_name);

	if (v && v->type != JSON_OBJECT)
		return mistake(e, in, member_name, "an object", v);
	*ret = (struct section){ v, full, in.arena };
	return 0;
}

static int get_text(struct section s, const char *name, const char **ret, struct err *e)
{
	const struct json *v = member(s, name);

	if (!v)
		return 0;
	if (v->type != JSON_STRING || v->string.n == 0 || memchr(v->string.p, '\0', v->string.n))
		return mistake(e, s, name, "a string that is not empty", v);
	*ret = arena_dup(s.arena, v->string).p;
	return *ret ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory for the configuration");
}

static int get_number(struct section s, const char *name, int64_t least, int64_t most, int64_t *ret,
		      struct err *e)
{
	const struct json *v = member(s, name);

	if (!v)
		return 0;
	if (v->type != JSON_NUMBER)
		return mistake(e, s, name, "a number", v);
	if (!v->whole || v->integer < least || v->integer > most)
		return err_set(e, ERR_INVALID_CONFIG,
			       "%s.%s must be a whole number from %lld to %lld, not %.15g", s.name,
			       name, (long long)least, (long long)most, v->number);
	*ret = v->integer;
	return 0;
}

static int get_switch(struct section s, const char *name, bool *ret, struct err *e)
{
	const struct json *v = member(s, name);

	if (!v)
		return 0;
	if (v->type != JSON_BOOL)
		return mistake(e, s, name, "true or false", v);
	*ret = v->boolean;
	return 0;
}

/* Refuse unknown members: they are probably misspelt. `names` are separated by spaces. */
static int check_names(struct section s, const char *names, struct err *e)
{
	for (const struct json *v = s.object ? s.object->first : NULL; v; v = v->next) {
		struct str rest = str_of(names), name;
		bool known = false;
		while (rest.n && !known) {
			(void)str_cut(rest, ' ', &name, &rest);
			known = str_eq(name, v->name);
		}
		if (!known)
			return err_set(e, ERR_INVALID_CONFIG,
				       "%s has no member \"%.*s\"; it may have: %s", s.name,
				       STR_FMT(str_upto(v->name, 100)), names);
	}
	return 0;
}

static int read_tcp(struct section sidecar, struct sidecar_settings *ret, struct err *e)
{
	struct section tcp = { 0 };
	int64_t port = 0;

	if (get_section(sidecar, "tcp", "plugins.coding.sidecar.tcp", &tcp, e) < 0 ||
	    check_names(tcp, "host port", e) < 0 || get_text(tcp, "host", &ret->host, e) < 0 ||
	    get_number(tcp, "port", 1, 65535, &port, e) < 0)
		return -1;
	ret->port = (int)port;
	if (tcp.object && !ret->host)
		return mistake(e, tcp, "host", "a name or an address", NULL);
	if (tcp.object && !port)
		return mistake(e, tcp, "port", "a number", NULL);
	if (tcp.object && ret->socket_path)
		return err_set(e, ERR_INVALID_CONFIG, "%s must have socketPath or tcp, not both",
			       sidecar.name);
	if (!tcp.object && !ret->socket_path)
		return err_set(e, ERR_INVALID_CONFIG,
			       "%s must have socketPath or tcp; it has neither", sidecar.name);
	return 0;
}

static int read_auth(struct section sidecar, struct sidecar_settings *ret, struct err *e)
{
	struct section auth = { 0 };
	bool required = false;

	if (get_section(sidecar, "auth", "plugins.coding.sidecar.auth", &auth, e) < 0 ||
	    check_names(auth, "token required", e) < 0 ||
	    get_text(auth, "token", &ret->token, e) < 0 ||
	    get_switch(auth, "required", &required, e) < 0)
		return -1;
	if (required && !ret->token)
		return err_set(e, ERR_INVALID_CONFIG, "%s.required is true and %s.token is missing",
			       auth.name, auth.name);
	return 0;
}

static int read_sidecar(struct section coding, struct sidecar_settings *ret, struct err *e)
{
	struct section s = { 0 };

	if (get_section(coding, "sidecar", "plugins.coding.sidecar", &s, e) < 0)
		return -1;
	if (!s.object)
		return mistake(e, coding, "sidecar", "an object when the mode is \"sidecar\"",
			       NULL);
	if (check_names(s, "socketPath tcp auth waitForReadyMs timeoutMs session", e) < 0 ||
	    get_text(s, "socketPath", &ret->socket_path, e) < 0 || read_tcp(s, ret, e) < 0 ||
	    read_auth(s, ret, e) < 0 ||
	    get_number(s, "waitForReadyMs", 1, LIMIT_READY_MOST_MS, &ret->wait_for_ready_ms, e) <
		    0 ||
	    get_number(s, "timeoutMs", 0, INT64_MAX, &ret->timeout_ms, e) < 0)
		return -1;
	return get_text(s, "session", &ret->session, e);
}

static int read_local(struct section coding, struct sidecar_options *ret, struct err *e)
{
	struct section s = { 0 };

	if (get_section(coding, "local", "plugins.coding.local", &s, e) < 0)
		return -1;
	if (check_names(s, "workspaceRoot allowOutsideWorkspaceRoot", e) < 0 ||
	    get_text(s, "workspaceRoot", &ret->workspace_root, e) < 0 ||
	    get_switch(s, "allowOutsideWorkspaceRoot", &ret->allow_outside, e) < 0)
		return -1;
	if (!ret->workspace_root || *ret->workspace_root != '/')
		return mistake(e, s, "workspaceRoot", "an absolute path",
			       member(s, "workspaceRoot"));
	return 0;
}

static int read_mode(struct section coding, bool *local, struct err *e)
{
	const struct json *v = member(coding, "mode");

	*local = v && v->type == JSON_STRING && str_eq(v->string, STR("local"));
	if (*local || (v && v->type == JSON_STRING && str_eq(v->string, STR("sidecar"))))
		return 0;
	return mistake(e, coding, "mode", "\"sidecar\" or \"local\"", v);
}

/* Read the settings; their strings are in the arena. */
static int read_config(struct str text, struct arena *a, struct sidecar_settings *ret,
		       struct sidecar_options *options, struct err *e)
{
	struct section root = { .name = "", .arena = a }, plugins = { 0 }, coding = { 0 };
	struct err why;
	bool enabled = true, local;

	if (json_parse(text, a, &root.object, &why) < 0)
		return err_set(e, ERR_INVALID_CONFIG, "The configuration is not JSON: %.500s",
			       why.msg);
	if (root.object->type != JSON_OBJECT)
		return mistake(e, root, "The configuration", "an object", root.object);
	if (get_section(root, "plugins", "plugins", &plugins, e) < 0 ||
	    get_section(plugins, "coding", "plugins.coding", &coding, e) < 0)
		return -1;
	if (!coding.object)
		return mistake(e, coding, "", "an object", NULL);
	if (check_names(coding, "enabled mode sidecar local", e) < 0 ||
	    get_switch(coding, "enabled", &enabled, e) < 0)
		return -1;
	if (!enabled)
		return err_set(e, ERR_DISABLED, "plugins.coding.enabled is false");
	if (read_mode(coding, &local, e) < 0)
		return -1;
	if (!local)
		return read_sidecar(coding, ret, e);
	ret->local = options;
	return read_local(coding, options, e);
}

struct sidecar *sidecar_open_json(const char *json, struct sidecar_error *error)
{
	AUTO_ARENA arena = { .max = LIMIT_CONFIG_MEMORY };
	struct sidecar_options options = { 0 };
	struct sidecar_settings settings = { 0 };
	struct err e;

	if (read_config(str_of(json), &arena, &settings, &options, &e) == 0)
		return sidecar_open(&settings, error);
	client_error(error, &e);
	return NULL;
}
