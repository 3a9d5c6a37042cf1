/* SPDX-License-Identifier: MIT */
/* config: one table of settings, filled from defaults, environment and flags. */

#include "config.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "exec/policy.h"
#include "exec/sandbox.h"
#include "net/listen.h"

enum type {
	TEXT,	/* const char *; an empty value is as good as none */
	SWITCH, /* bool; the flag alone turns it on */
	NUMBER, /* int64_t within [min, max] */
	OCTAL,	/* int64_t, written in octal */
	CHOICE, /* int64_t: the index of the word in `choices` */
	HIDDEN, /* TEXT that has no flag: what is on a command line everybody can read */
};

struct setting {
	const char *env, *flag;
	enum type type;
	size_t offset;
	const char *value; /* what the help shows for the value */
	const char *choices[5];
	int64_t def, min, max;
	const char *help;
};

#define AT(member) offsetof(struct config, member)

static const struct setting settings[] = {
	{ "WORKSPACE_ROOT", "workspace", TEXT, AT(workspace), "DIR",
	  .help = "the directory tools work in; made when missing (default /workspace)" },
	{ "SOCKET_PATH", "socket", TEXT, AT(socket), "PATH",
	  .help = "Unix socket to listen on (default /var/run/sidecar/sidecar.sock, for a user "
		  "$XDG_RUNTIME_DIR/sidecar.sock; none when only TCP is set)" },
	{ "SIDECAR_SOCKET_MODE", "socket-mode", OCTAL, AT(socket_mode), "MODE", .def = 0660,
	  .max = 0777, .help = "its permissions (default 0660)" },
	{ "TCP_HOST", NULL, TEXT, AT(tcp_host), "HOST", .help = "with TCP_PORT: listen on TCP" },
	{ "TCP_PORT", NULL, NUMBER, AT(tcp_port), "PORT", .def = -1, .min = -1, .max = 65535,
	  .help = "with TCP_HOST: listen on TCP" },
	{ "SIDECAR_AUTH_TOKEN", NULL, HIDDEN, AT(token), "TOKEN",
	  .help = "bearer token clients must send" },
	{ "SIDECAR_TOKEN_FILE", "token-file", TEXT, AT(token_file), "FILE",
	  .help = "file with that token" },
	{ "SIDECAR_REQUIRE_AUTH", "require-auth", SWITCH, AT(require_auth),
	  .help = "refuse requests without a token, also on the Unix socket" },
	{ "SIDECAR_ALLOWED_UIDS", "allowed-uids", TEXT, AT(allowed_uids), "UID,...",
	  .help = "only these users may connect to the Unix socket" },
	{ "SIDECAR_ALLOWED_ORIGINS", "allowed-origins", TEXT, AT(allowed_origins), "ORIGIN,...",
	  .help = "browser pages that may call over TCP" },
	{ "SIDECAR_ALLOWED_HOSTS", "allowed-hosts", TEXT, AT(allowed_hosts), "HOST,...",
	  .help = "names of this server over TCP besides localhost" },
	{ "SIDECAR_ALLOW_OUTSIDE_WORKSPACE_ROOT", "allow-outside", SWITCH, AT(allow_outside),
	  .help = "absolute paths are literal, within ALLOWED_ROOT_DIRECTORY" },
	{ "ALLOWED_ROOT_DIRECTORY", "allowed-root", TEXT, AT(allowed_root), "DIR",
	  .help = "outermost directory that may ever be touched" },
	{ "DATA_DIR", "data-dir", TEXT, AT(data_dir), "DIR",
	  .help = "directory that may always be reached by absolute path" },
	{ "SIDECAR_ABSOLUTE_PATHS",
	  "absolute-paths",
	  CHOICE,
	  AT(absolute_paths),
	  NULL,
	  { "shorthand", "strict" },
	  .help = "what /x means: x below the workspace, or an error (default shorthand)" },
	{ "SIDECAR_READ_ONLY", "read-only", SWITCH, AT(read_only),
	  .help = "nothing in the workspace may be changed" },
	{ "SIDECAR_SANDBOX",
	  "sandbox",
	  CHOICE,
	  AT(sandbox),
	  NULL,
	  { "off", "workspace", "strict", "auto" },
	  .def = SANDBOX_AUTO,
	  .help = "what holds commands: workspace on a bare host, off in a container (default "
		  "auto)" },
	{ "SIDECAR_SANDBOX_WRITE", "sandbox-write", TEXT, AT(sandbox_write), "DIR:...",
	  .help = "more that sandboxed commands may write" },
	{ "SIDECAR_SANDBOX_READ", "sandbox-read", TEXT, AT(sandbox_read), "DIR:...",
	  .help = "more that strictly sandboxed commands may read" },
	{ "SIDECAR_NETWORK",
	  "network",
	  CHOICE,
	  AT(network),
	  NULL,
	  { "none", "on" },
	  .def = 1,
	  .help = "whether sandboxed commands have a network (default on)" },
	{ "SIDECAR_COMMAND_POLICY",
	  "command-policy",
	  CHOICE,
	  AT(command_policy),
	  NULL,
	  { "off", "default", "strict" },
	  .def = POLICY_DEFAULT,
	  .help = "which commands of models are refused; strict also refuses chaining (default "
		  "default)" },
	{ "SIDECAR_COMMAND_RULES", "command-rules", TEXT, AT(command_rules), "RULE;...",
	  .help = "more commands to refuse, or !NAME to allow (docs/command-policy.md)" },
	{ "SIDECAR_SCRUB",
	  "scrub",
	  CHOICE,
	  AT(scrub),
	  NULL,
	  { "off", "on" },
	  .def = 1,
	  .help = "take secrets out of what models see of commands and searches (default on)" },
	{ "SIDECAR_SCRUB_PATTERNS", "scrub-patterns", TEXT, AT(scrub_patterns), "TEXT",
	  .help = "more shapes of secrets, one a line (docs/scrubbing.md)" },
	{ "SIDECAR_READ_BEFORE_WRITE",
	  "read-before-write",
	  CHOICE,
	  AT(read_before_write),
	  NULL,
	  { "off", "on" },
	  .help = "whether a session changes only files it has read (default off)" },
	{ "SIDECAR_TOOL_SET",
	  "tool-set",
	  CHOICE,
	  AT(tool_set),
	  NULL,
	  { "auto", "core", "full" },
	  .help = "the tools shown to models (default core, for MCP full)" },
	{ "SIDECAR_MAX_COMMANDS", "max-commands", NUMBER, AT(max_commands), "N", .def = 64,
	  .min = 1, .max = LIMIT_COMMANDS, .help = "commands running at once (default 64)" },
	{ "SIDECAR_SEARCH_SECONDS", "search-seconds", NUMBER, AT(search_seconds), "SECONDS",
	  .def = 30, .min = 1, .max = 3600, .help = "how long a search may take (default 30)" },
	{ "SIDECAR_FSYNC", "fsync", SWITCH, AT(fsync),
	  .help = "files are on disk before a write is answered" },
	{ "SIDECAR_OPENAT2",
	  "openat2",
	  CHOICE,
	  AT(openat2),
	  NULL,
	  { "off", "auto" },
	  .def = 1,
	  .help = "resolve paths by openat2, or always by walking (default auto)" },
	{ "SIDECAR_GRACE_SECONDS", "grace", NUMBER, AT(grace_seconds), "SECONDS", .def = 10,
	  .max = 3600, .help = "how long running calls may take after SIGTERM (default 10)" },
	{ "SIDECAR_LOG",
	  "log",
	  CHOICE,
	  AT(log),
	  NULL,
	  { "auto", "text", "json" },
	  .help = "form of the log on stderr (default text on a terminal, else json)" },
	{ "SIDECAR_LOG_LEVEL",
	  "log-level",
	  CHOICE,
	  AT(log_level),
	  NULL,
	  { "debug", "info", "warn", "error" },
	  .def = LOG_INFO,
	  .help = "least level that is logged (default info)" },
};

static void *slot(const struct setting *s, struct config *c)
{
	return (char *)c + s->offset;
}

static int set_number(const struct setting *s, const char *name, const char *text, int64_t *to,
		      struct err *e)
{
	char *end;
	int64_t v = 0;
	const bool ok = s->type == OCTAL ? (v = strtol(text, &end, 8), *text && !*end)
					 : str_int(str_of(text), &v);

	if (!ok || v < s->min || v > s->max)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       s->type == OCTAL ? "%s must be an octal mode up to %llo, not \"%s\""
						: "%s must be a number up to %lld, not \"%s\"",
			       name, (long long)s->max, text);
	*to = v;
	return 0;
}

static int set_choice(const struct setting *s, const char *name, const char *text, int64_t *to,
		      struct err *e)
{
	char list[128] = "";

	for (int i = 0; s->choices[i]; i++) {
		if (str_eq_nocase(str_of(s->choices[i]), str_trim(str_of(text)))) {
			*to = i;
			return 0;
		}
		const size_t n = strlen(list);
		(void)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", s->choices[i]);
	}
	return err_set(e, ERR_INVALID_ARGUMENTS, "%s must be one of %s, not \"%s\"", name, list,
		       text);
}

/* `name` is the variable or the flag, as the operator wrote it. */
static int set(const struct setting *s, const char *name, const char *text, struct config *c,
	       struct err *e)
{
	switch (s->type) {
	case TEXT:
	case HIDDEN:
		*(const char **)slot(s, c) = *text ? text : NULL;
		return 0;
	case SWITCH:
		*(bool *)slot(s, c) = str_truthy(str_of(text));
		return 0;
	case NUMBER:
	case OCTAL:
		return set_number(s, name, text, slot(s, c), e);
	case CHOICE:
		return set_choice(s, name, text, slot(s, c), e);
	}
	return 0;
}

static void set_defaults(struct config *c)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const struct setting *s = &settings[i];
		if (s->type == NUMBER || s->type == OCTAL || s->type == CHOICE)
			*(int64_t *)slot(s, c) = s->def;
	}
}

static int read_environment(struct config *c, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const char *text = getenv(settings[i].env);
		if (text && *text && set(&settings[i], settings[i].env, text, c, e) < 0)
			return -1;
	}
	return 0;
}

static const struct setting *find_flag(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (settings[i].flag && str_eq(str_of(settings[i].flag), name))
			return &settings[i];
	return NULL;
}

/* --tcp HOST:PORT is the one flag that sets two settings. */
static int set_tcp(const char *text, struct config *c, struct err *e)
{
	int64_t port;
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || (size_t)(colon - text) >= sizeof c->tcp_text ||
	    !str_int(str_of(colon + 1), &port) || port < 0 || port > 65535)
		return err_set(e, ERR_INVALID_ARGUMENTS, "--tcp must be HOST:PORT, not \"%s\"",
			       text);
	struct str host = { text, (size_t)(colon - text) };
	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct str){ host.p + 1, host.n - 2 };
	memcpy(c->tcp_text, host.p, host.n);
	c->tcp_text[host.n] = '\0';
	c->tcp_host = c->tcp_text;
	c->tcp_port = port;
	return 0;
}

static int read_flags(int argc, char **argv, struct config *c, struct err *e)
{
	for (int i = 0; i < argc; i++) {
		struct str name, value;
		if (!str_starts(str_of(argv[i]), STR("--")))
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "Unexpected argument \"%s\"; see --help", argv[i]);
		const bool given = str_cut(str_of(argv[i] + 2), '=', &name, &value);
		const struct setting *s = find_flag(name);
		const bool tcp = str_eq(name, STR("tcp"));
		if (!s && !tcp)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Unknown flag --%.*s; see --help",
				       STR_FMT(name));
		const char *text = given ? value.p : s && s->type == SWITCH ? "true" : argv[i + 1];
		if (!given && !(s && s->type == SWITCH) && ++i >= argc)
			return err_set(e, ERR_INVALID_ARGUMENTS, "--%.*s needs a value",
				       STR_FMT(name));
		char shown[64];
		(void)snprintf(shown, sizeof shown, "--%.*s", STR_FMT(name));
		if (tcp ? set_tcp(text, c, e) < 0 : set(s, shown, text, c, e) < 0)
			return -1;
	}
	return 0;
}

static int read_token_file(struct config *c, struct err *e)
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

static void choose_socket(struct config *c)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (c->socket || c->tcp_host)
		return;
	if (geteuid() != 0 && runtime && *runtime == '/')
		(void)snprintf(c->default_socket, sizeof c->default_socket, "%s/sidecar.sock",
			       runtime);
	else
		(void)snprintf(c->default_socket, sizeof c->default_socket,
			       "/var/run/sidecar/sidecar.sock");
	c->socket = c->default_socket;
}

static int check(const struct config *c, struct err *e)
{
	if (!c->tcp_host != (c->tcp_port < 0))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "TCP_HOST and TCP_PORT must be set both or neither: %s is missing",
			       c->tcp_host ? "TCP_PORT" : "TCP_HOST");
	if (c->require_auth && !c->token)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Authentication is required but no token is configured: set "
			       "SIDECAR_AUTH_TOKEN or SIDECAR_TOKEN_FILE");
	if (c->tcp_host && !c->token && !listen_is_loopback(c->tcp_host))
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			"TCP_HOST %s can be reached from other machines: set SIDECAR_AUTH_TOKEN, "
			"or listen on 127.0.0.1",
			c->tcp_host);
	return 0;
}

int config_read(int argc, char **argv, struct config *ret, struct err *e)
{
	*ret = (struct config){ 0 };
	set_defaults(ret);
	if (read_environment(ret, e) < 0 || read_flags(argc, argv, ret, e) < 0)
		return -1;
	if (ret->token_file && read_token_file(ret, e) < 0)
		return -1;
	if (!ret->workspace)
		ret->workspace = "/workspace";
	choose_socket(ret);
	return check(ret, e);
}

void config_help(struct buf *out)
{
	buf_addf(out, "  --tcp HOST:PORT\n        listen on TCP (TCP_HOST and TCP_PORT)\n");
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const struct setting *s = &settings[i];
		char value[64] = "";
		for (int j = 0; s->choices[j]; j++) {
			const size_t n = strlen(value);
			(void)snprintf(value + n, sizeof value - n, "%s%s", j ? "|" : " ",
				       s->choices[j]);
		}
		if (s->value)
			(void)snprintf(value, sizeof value, " %s", s->value);
		if (s->flag)
			buf_addf(out, "  --%s%s\n        %s (%s)\n", s->flag, value, s->help,
				 s->env);
		else
			buf_addf(out, "  %s=%s\n        %s\n", s->env, s->value, s->help);
	}
}
