/* SPDX-License-Identifier: MIT */
/* config: the settings, filled from defaults, files, environment and flags. */

#include "config/config.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "base/columns.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"

static enum config_origin origin_of(const struct config *c, size_t member)
{
	return (enum config_origin)c->origin[setting_of_member(member)];
}

#define ORIGIN_OF(c, member) origin_of(c, offsetof(struct config, member))

bool config_waives_auth(const struct config *c)
{
	return !c->require_auth && ORIGIN_OF(c, require_auth) != CONFIG_DEFAULT;
}

/* Replace every occurrence of a word in the sentence. */
static void replace_word(struct err *e, struct str word, const char *by)
{
	struct err old = *e;
	struct str rest = str_of(old.msg);
	struct buf to = buf_over(e->msg, sizeof e->msg - 1);
	ptrdiff_t i;

	while ((i = str_find(rest, word)) >= 0) {
		buf_add(&to, str_upto(rest, (size_t)i));
		buf_add(&to, str_of(by));
		rest = str_from(rest, (size_t)i + word.n);
	}
	buf_add(&to, rest);
	e->msg[to.n] = '\0';
}

void config_name_flags(const struct config *c, struct err *e)
{
	const struct str sentence = str_of(e->msg);

	for (size_t i = 0; i < setting_count(); i++)
		if (c->origin[i] == CONFIG_ENVIRONMENT &&
		    str_find(sentence, str_of(setting_at(i)->env)) >= 0)
			return;
	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *s = setting_at(i);
		char flag[64];
		if (s->type == SETTING_HIDDEN)
			continue;
		(void)snprintf(flag, sizeof flag, "--%s", s->flag ? s->flag : "tcp");
		replace_word(e, str_of(s->env), flag);
	}
}

bool config_sets_sandbox(const struct config *c)
{
	return ORIGIN_OF(c, sandbox) != CONFIG_DEFAULT;
}

bool config_names_address(const struct config *c)
{
	return ORIGIN_OF(c, socket) != CONFIG_DEFAULT || ORIGIN_OF(c, tcp_host) != CONFIG_DEFAULT;
}

bool config_names_socket(const struct config *c)
{
	return c->socket && ORIGIN_OF(c, socket) == CONFIG_FLAG;
}

/* Blanks around a value do not belong to it: a secret in a variable often ends in a newline, which
 * a header cannot carry. A blank variable is not set. */
static int read_environment(struct config *c, bool client, struct err *e)
{
	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *s = setting_at(i);
		const char *given = getenv(s->env);
		const struct str value = given ? str_trim(str_of(given)) : STR("");
		if (value.n == 0 || (client && !s->client))
			continue;
		const char *text = arena_dup(&c->memory, value).p;
		if (!text)
			return err_set(e, ERR_INVALID_ARGUMENTS, "%s is too long", s->env);
		c->origin[i] = CONFIG_ENVIRONMENT;
		if (setting_set(s, s->env, text, c, e) < 0)
			return -1;
	}
	return 0;
}

static int unknown_flag(struct str name, struct err *e)
{
	struct near near = near_to(name);
	const struct setting *hidden = setting_by_flag(name);

	if (hidden)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "A secret on a command line can be read by everybody: use %s, or "
			       "--token-file",
			       hidden->env);
	setting_near(&near, false);
	if (near.best)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Unknown flag --%.*s; did you mean --%s?",
			       STR_FMT(name), near.best);
	return err_set(e, ERR_INVALID_ARGUMENTS, "Unknown flag --%.*s; see --help", STR_FMT(name));
}

/* Flags that may be repeated: the values so far, if they came from flags too, and this one. */
static const char *add_pair(struct config *c, const struct setting *s, const char *text)
{
	const void *at = (const char *)c + s->offset;
	const char *so_far = *(const char *const *)at;
	AUTO_BUF lines = { .max = LIMIT_CONFIG_MEMORY };

	if (so_far && c->origin[setting_index(s)] == CONFIG_FLAG)
		buf_addf(&lines, "%s\n", so_far);
	buf_add(&lines, str_of(text));
	return lines.failed ? NULL : arena_dup(&c->memory, buf_str(&lines)).p;
}

/* One flag. Its value follows a "=", or is the `next` word. Returns how many words it took. */
static int read_flag(struct config *c, const char *word, const char *next, struct err *e)
{
	struct str name, value;
	char shown[64];

	if (!str_starts(str_of(word), STR("--")))
		return err_set(e, ERR_INVALID_ARGUMENTS, "Unexpected argument \"%s\"; see --help",
			       word);
	const bool given = str_cut(str_of(word + 2), '=', &name, &value);
	const struct setting *s = setting_by_flag(name);
	const bool tcp = str_eq(name, STR("tcp"));
	if (!tcp && (!s || s->type == SETTING_HIDDEN))
		return unknown_flag(name, e);
	const bool alone = !given && s && s->type == SETTING_SWITCH;
	const char *text = given ? value.p : alone ? "true" : next;
	if (!text)
		return err_set(e, ERR_INVALID_ARGUMENTS, "--%.*s needs a value", STR_FMT(name));
	(void)snprintf(shown, sizeof shown, "--%.*s", STR_FMT(name));
	if (s && s->type == SETTING_PAIRS && !(text = add_pair(c, s, text)))
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s is too long", shown);
	if (s)
		c->origin[setting_index(s)] = CONFIG_FLAG;
	if (tcp ? setting_set_tcp(c, shown, text, CONFIG_FLAG, e) < 0
		: setting_set(s, shown, text, c, e) < 0)
		return -1;
	return given || alone ? 1 : 2;
}

static int read_flags(int argc, char **argv, struct config *c, struct err *e)
{
	for (int i = 0; i < argc;) {
		const int taken = read_flag(c, argv[i], i + 1 < argc ? argv[i + 1] : NULL, e);
		if (taken < 0)
			return -1;
		i += taken;
	}
	return 0;
}

int config_read_token(struct config *c, struct err *e)
{
	AUTO_FD fd = open(c->token_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, c->token_text, sizeof c->token_text - 1);

	if (n < 0)
		return err_errno(e, "Cannot read the token file %s", c->token_file);
	const struct str token = str_trim((struct str){ c->token_text, (size_t)n });
	if (token.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The token file %s is empty",
			       c->token_file);
	memmove(c->token_text, token.p, token.n);
	c->token_text[token.n] = '\0';
	c->token = c->token_text;
	return 0;
}

bool config_caches(const struct config *c, char out[PATH_MAX])
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (c->read_only || (c->cache && strcmp(c->cache, "off") == 0))
		return false;
	if (c->cache && strcmp(c->cache, "auto") != 0)
		n = snprintf(out, PATH_MAX, "%s", c->cache);
	else if (xdg && *xdg == '/')
		n = snprintf(out, PATH_MAX, "%s/sidecar", xdg);
	else if (home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/.cache/sidecar", home);
	return n > 0 && n < PATH_MAX;
}

static void choose_socket(struct config *c)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (c->socket || c->tcp_host || c->private)
		return;
	if (geteuid() != 0 && runtime && *runtime == '/')
		(void)snprintf(c->default_socket, sizeof c->default_socket, "%s/sidecar.sock",
			       runtime);
	else
		(void)snprintf(c->default_socket, sizeof c->default_socket,
			       "/var/run/sidecar/sidecar.sock");
	c->socket = c->default_socket;
}

int config_check(const struct config *c, struct err *e)
{
	if (!c->tcp_host != (c->tcp_port < 0))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "TCP_HOST and TCP_PORT must be set both or neither: %s is missing",
			       c->tcp_host ? "TCP_PORT" : "TCP_HOST");
	if (c->require_auth && !c->token)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Authentication is required but no token is configured: set "
			       "SIDECAR_AUTH_TOKEN or SIDECAR_TOKEN_FILE");
	if (c->tcp_host && !c->token && !address_host_is_loopback(c->tcp_host))
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			"TCP_HOST %s can be reached from other machines: set SIDECAR_AUTH_TOKEN, "
			"or listen on 127.0.0.1",
			c->tcp_host);
	return config_file_check(c, e);
}

void config_defaults(struct config *ret)
{
	*ret = (struct config){ .memory = { .max = LIMIT_CONFIG_MEMORY } };
	for (size_t i = 0; i < setting_count(); i++)
		setting_default(setting_at(i), ret);
	ret->workspace = "/workspace";
}

static int begin(struct config *c, bool client, struct err *e)
{
	config_defaults(c);
	if (config_file_paths(c, e) < 0 || config_file_read(c, CONFIG_SYSTEM_FILE, e) < 0 ||
	    config_file_read(c, CONFIG_USER_FILE, e) < 0)
		return -1;
	return read_environment(c, client, e);
}

/* If no workspace is set, it is /workspace where that exists, else the current directory; but "/"
 * is served only if it is named. */
static void choose_workspace(struct config *c)
{
	struct stat st;

	if (ORIGIN_OF(c, workspace) == CONFIG_DEFAULT && stat(c->workspace, &st) < 0 &&
	    getcwd(c->here, sizeof c->here) && strcmp(c->here, "/") != 0)
		c->workspace = c->here;
}

/* A relative --workspace starts in the current directory. In a variable or a file it would not be
 * clear where it starts. */
static int resolve_workspace(struct config *c, struct err *e)
{
	const char *typed = c->workspace;

	if (*typed == '/' || ORIGIN_OF(c, workspace) != CONFIG_FLAG)
		return 0;
	c->workspace = c->here;
	if (!getcwd(c->here, sizeof c->here))
		return err_errno(e, "Cannot tell the current directory");
	const size_t n = strlen(c->here);
	if (snprintf(c->here + n, sizeof c->here - n, "/%s", typed) >= (int)(sizeof c->here - n))
		return err_set(e, ERR_INVALID_PATH, "--workspace is too long: \"%s\"", typed);
	return 0;
}

/* Complete the values: the token from its file, the socket, the workspace. */
static int finish(struct config *c, struct err *e)
{
	/* Of a token and a token file, the one with the higher origin wins. */
	if (c->token_file && ORIGIN_OF(c, token_file) >= ORIGIN_OF(c, token) &&
	    config_read_token(c, e) < 0)
		return -1;
	if (!c->workspace)
		c->workspace = "/workspace";
	choose_socket(c);
	choose_workspace(c);
	return resolve_workspace(c, e);
}

int config_load(int argc, char **argv, struct config *ret, struct err *e)
{
	if (begin(ret, false, e) < 0 || read_flags(argc, argv, ret, e) < 0)
		return -1;
	return finish(ret, e);
}

/* Others of this user can read the environment with which a process was started, in place. */
static void forget_secrets(void)
{
	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *s = setting_at(i);
		const size_t n = strlen(s->env);
		if (s->type != SETTING_HIDDEN)
			continue;
		for (char **at = environ; at && *at; at++)
			if (strncmp(*at, s->env, n) == 0 && (*at)[n] == '=')
				explicit_bzero(*at + n + 1, strlen(*at + n + 1));
		(void)unsetenv(s->env);
	}
}

int config_read(int argc, char **argv, struct config *ret, struct err *e)
{
	if (config_load(argc, argv, ret, e) < 0)
		return -1;
	forget_secrets();
	return config_check(ret, e);
}

int config_read_private(int argc, char **argv, struct config *ret, struct err *e)
{
	if (begin(ret, false, e) < 0)
		return -1;
	for (size_t i = 0; i < setting_count(); i++) {
		if (!setting_at(i)->listens)
			continue;
		setting_default(setting_at(i), ret);
		ret->origin[i] = CONFIG_DEFAULT;
	}
	ret->private = true;
	if (read_flags(argc, argv, ret, e) < 0 || finish(ret, e) < 0)
		return -1;
	return config_check(ret, e);
}

int config_read_mcp(int argc, char **argv, struct config *ret, struct err *e)
{
	if (config_load(argc, argv, ret, e) < 0)
		return -1;
	forget_secrets();
	ret->best_sandbox = !config_sets_sandbox(ret);
	if (ORIGIN_OF(ret, log_level) == CONFIG_DEFAULT)
		ret->log_level = LOG_WARN;
	if (ORIGIN_OF(ret, workspace) == CONFIG_DEFAULT &&
	    !(ret->workspace = getcwd(ret->here, sizeof ret->here)))
		return err_errno(e, "Cannot tell the current directory");
	return config_file_check(ret, e);
}

int config_load_client(struct config *ret, struct err *e)
{
	if (begin(ret, true, e) < 0)
		return -1;
	if (ret->tcp_host && ret->tcp_port < 0)
		ret->tcp_host = NULL;
	if (ret->socket && ret->tcp_host) {
		if (ORIGIN_OF(ret, socket) >= ORIGIN_OF(ret, tcp_host))
			ret->tcp_host = NULL;
		else
			ret->socket = NULL;
	}
	return finish(ret, e);
}

void config_done(struct config *c)
{
	arena_done(&c->memory);
}

void config_origin_text(const struct config *c, size_t i, char *to, size_t size)
{
	const struct setting *s = setting_at(i);

	switch ((enum config_origin)c->origin[i]) {
	case CONFIG_DEFAULT:
		(void)snprintf(to, size, "default");
		break;
	case CONFIG_SYSTEM_FILE:
	case CONFIG_USER_FILE:
		(void)snprintf(to, size, "%s", c->files[c->origin[i]]);
		break;
	case CONFIG_ENVIRONMENT:
		(void)snprintf(to, size, "environment %s", s->env);
		break;
	case CONFIG_FLAG:
		(void)snprintf(to, size, "flag --%s", s->flag ? s->flag : "tcp");
		break;
	}
}

void config_help(struct buf *out, bool listens, size_t columns)
{
	enum { INDENT = 8 };

	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *s = setting_at(i);
		AUTO_BUF help = { .max = 4096 };
		char value[64];
		if (s->listens && !listens)
			continue;
		setting_values(s, value, sizeof value);
		if (s->group)
			buf_addf(out, "\n%s:\n", s->group);
		/* One flag sets both the host and the port. */
		if (!s->flag && s->type != SETTING_TEXT)
			continue;
		if (!s->flag) {
			buf_add(out, STR("  --tcp HOST:PORT\n"));
			buf_add(&help, STR("listen on TCP (TCP_HOST and TCP_PORT)"));
		} else if (s->type == SETTING_HIDDEN) {
			buf_addf(out, "  %s=%s\n", s->env, value);
			buf_addf(&help, "%s", s->help);
		} else {
			buf_addf(out, "  --%s%s%s\n", s->flag, *value ? " " : "", value);
			buf_addf(&help, "%s (%s)", s->help, s->env);
		}
		buf_addf(out, "%*s", INDENT, "");
		columns_wrap(out, buf_str(&help), INDENT, columns);
	}
}
