/* SPDX-License-Identifier: MIT */
/* settings: the table, and what the values may be. */

#include "config/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/limits.h"
#include "base/own.h"

/* The largest limit that an operator can set for commands: no unit overflows. */
enum { LIMIT_SETTING = 1000000 };

#define AT(member) offsetof(struct config, member)
#define WORDS(...)                                                                                 \
	NULL,                                                                                      \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static const struct setting settings[] = {
	{ "WORKSPACE_ROOT", "workspace", SETTING_TEXT, AT(workspace), "DIR",
	  .group = "Where it works, and who may call",
	  .help = "directory tools work in; created if missing (default: /workspace where that "
		  "exists, else the current directory; mcp: the current directory)" },
	{ "SOCKET_PATH", "socket", SETTING_TEXT, AT(socket), "PATH",
	  .help = "Unix socket to listen on (default /var/run/sidecar/sidecar.sock, for a user "
		  "$XDG_RUNTIME_DIR/sidecar.sock; none when only TCP is set)",
	  .client = true, .listens = true },
	{ "SIDECAR_SOCKET_MODE", "socket-mode", SETTING_OCTAL, AT(socket_mode), "MODE", .def = 0660,
	  .max = 0777, .help = "permissions of the Unix socket (default 0660)", .listens = true },
	{ "TCP_HOST", NULL, SETTING_TEXT, AT(tcp_host), "HOST",
	  .help = "with TCP_PORT: listen on TCP", .client = true, .listens = true },
	{ "TCP_PORT", NULL, SETTING_NUMBER, AT(tcp_port), "PORT", .def = -1, .min = -1,
	  .max = 65535, .help = "with TCP_HOST: listen on TCP", .client = true, .listens = true },
	{ "SIDECAR_AUTH_TOKEN", "token", SETTING_HIDDEN, AT(token), "TOKEN",
	  .help = "bearer token clients must send", .client = true, .listens = true },
	{ "SIDECAR_TOKEN_FILE", "token-file", SETTING_TEXT, AT(token_file), "FILE",
	  .help = "file with that token", .client = true, .listens = true },
	{ "SIDECAR_REQUIRE_AUTH", "require-auth", SETTING_SWITCH, AT(require_auth),
	  .help = "refuse requests without a token, also on the Unix socket; false: TCP on "
		  "loopback needs none",
	  .listens = true },
	{ "SIDECAR_ALLOWED_UIDS", "allowed-uids", SETTING_TEXT, AT(allowed_uids), "UID,...",
	  .help = "only these users may connect to the Unix socket", .listens = true },
	{ "SIDECAR_ALLOWED_ORIGINS", "allowed-origins", SETTING_TEXT, AT(allowed_origins),
	  "ORIGIN,...", .help = "browser pages that may call over TCP", .listens = true },
	{ "SIDECAR_ALLOWED_HOSTS", "allowed-hosts", SETTING_TEXT, AT(allowed_hosts), "HOST,...",
	  .help = "names of this server over TCP besides localhost", .listens = true },
	{ "SIDECAR_ALLOW_OUTSIDE_WORKSPACE_ROOT", "allow-outside", SETTING_SWITCH,
	  AT(allow_outside), .group = "Paths",
	  .help = "absolute paths are literal, within ALLOWED_ROOT_DIRECTORY", .lenient = true },
	{ "ALLOWED_ROOT_DIRECTORY", "allowed-root", SETTING_TEXT, AT(allowed_root), "DIR",
	  .help = "outermost directory that may ever be touched" },
	{ "DATA_DIR", "data-dir", SETTING_TEXT, AT(data_dir), "DIR",
	  .help = "directory that may always be reached by absolute path" },
	{ "SIDECAR_ABSOLUTE_PATHS", "absolute-paths", SETTING_CHOICE, AT(absolute_paths),
	  WORDS("shorthand", "strict", "auto"), .usual = "auto",
	  .help = "what /x means: x below the workspace, or an error (default shorthand, for "
		  "models strict)" },
	{ "SIDECAR_READ_ONLY", "read-only", SETTING_SWITCH, AT(read_only),
	  .help = "nothing in the workspace may be changed" },
	{ "SIDECAR_SANDBOX", "sandbox", SETTING_CHOICE, AT(sandbox),
	  WORDS("off", "workspace", "strict", "auto"), .usual = "auto",
	  .group = "The sandbox, and what is guarded and hidden",
	  .help = "sandbox of commands; auto: workspace on a bare host, off in a container "
		  "(default auto; mcp: workspace where it can be had)" },
	{ "SIDECAR_SANDBOX_WRITE", "sandbox-write", SETTING_TEXT, AT(sandbox_write), "DIR:...",
	  .help = "more directories that sandboxed commands may write" },
	{ "SIDECAR_SANDBOX_READ", "sandbox-read", SETTING_TEXT, AT(sandbox_read), "DIR:...",
	  .help = "more directories that strictly sandboxed commands may read" },
	{ "SIDECAR_SANDBOX_SOCKETS", "sandbox-socket", SETTING_TEXT, AT(sandbox_sockets),
	  "PATH:...",
	  .help = "sockets of other programs, or directories with them, that sandboxed commands "
		  "may use, such as $SSH_AUTH_SOCK" },
	{ "SIDECAR_CACHE", "cache", SETTING_TEXT, AT(cache), "DIR",
	  .help = "where sandboxed commands keep what they can fetch again, a directory for each "
		  "workspace; auto or off (default auto: $XDG_CACHE_HOME/sidecar, else "
		  "~/.cache/sidecar)" },
	{ "SIDECAR_GIT", "git", SETTING_CHOICE, AT(git), WORDS("off", "auto"), .usual = "auto",
	  .help = "in a linked worktree or a submodule, whether sandboxed commands may write what "
		  "a "
		  "commit needs in the git directory outside (default auto)" },
	{ "SIDECAR_SINKS", "sinks", SETTING_CHOICE, AT(sinks), WORDS("allow", "protect"),
	  .usual = "protect",
	  .help = "whether agents are kept from what a person's programs run later, such as "
		  ".git/hooks (default protect: models' tools, and sandboxed commands)" },
	{ "SIDECAR_SINK", "sink", SETTING_PAIRS, AT(sink), "PATTERN",
	  .help = "one more such path, or !PATTERN for one that is free, in gitignore's syntax; "
		  "may be repeated (in the variable: one a line)" },
	{ "SIDECAR_HIDE", "hide", SETTING_PAIRS, AT(hide), "PATTERN",
	  .help = "a path that agents do not see, or !PATTERN, in gitignore's syntax, below the "
		  "workspace, ~/ or /; may be repeated (default with a sandbox: keys and "
		  "credentials in the home directory; an empty one hides nothing)" },
	{ "SIDECAR_ALLOW_TRUNCATE", "allow-truncate", SETTING_SWITCH, AT(allow_truncate),
	  .help = "start with a sandbox although its commands can empty files outside, where "
		  "nothing holds that (Linux before 6.2)" },
	{ "SIDECAR_NETWORK", "network", SETTING_CHOICE, AT(network), WORDS("none", "on"),
	  .usual = "on", .help = "whether sandboxed commands have a network (default on)" },
	{ "SIDECAR_COMMAND_POLICY", "command-policy", SETTING_CHOICE, AT(command_policy),
	  WORDS("off", "default", "strict"), .usual = "default",
	  .group = "Models: what they may run and what they get",
	  .help = "which commands of models are refused; strict also refuses chaining (default "
		  "default)" },
	{ "SIDECAR_COMMAND_RULES", "command-rules", SETTING_TEXT, AT(command_rules), "RULE;...",
	  .help = "more commands to refuse, or !NAME to allow (docs/security.md)" },
	{ "SIDECAR_SCRUB", "scrub", SETTING_CHOICE, AT(scrub), WORDS("off", "on", "all"),
	  .usual = "on",
	  .help = "remove secrets from what models see of commands and searches; all: of files, "
		  "too (default on)" },
	{ "SIDECAR_SCRUB_PATTERNS", "scrub-patterns", SETTING_TEXT, AT(scrub_patterns), "TEXT",
	  .help = "more patterns of secrets, one per line (docs/security.md)" },
	{ "SIDECAR_READ_BEFORE_WRITE", "read-before-write", SETTING_CHOICE, AT(read_before_write),
	  WORDS("auto", "off", "overwrites", "on"),
	  .help = "a session may replace, or (on) change, only files it has read (default for MCP "
		  "overwrites, else off)" },
	{ "SIDECAR_TOOL_SET", "tool-set", SETTING_CHOICE, AT(tool_set),
	  WORDS("auto", "core", "full"),
	  .help = "the tools of models; core: only the five (default: the five are shown, to MCP "
		  "all, and all can be called)" },
	{ "SIDECAR_MCP_RESULTS", "mcp-results", SETTING_CHOICE, AT(mcp_results),
	  WORDS("text", "structured"),
	  .help = "results over MCP: text for models, or observations in JSON with a schema "
		  "(default text)" },
	{ "SIDECAR_RESULT_BYTES", "result-bytes", SETTING_NUMBER, AT(result_bytes), "BYTES",
	  .min = 0, .max = LIMIT_RESULT_MOST,
	  .help = "the longest result over MCP and in text replies, at least 1000 (default 0: "
		  "32000, "
		  "less for MCP clients that are known to cut it)" },
	{ "SIDECAR_SURFACE", "surface", SETTING_CHOICE, AT(surface),
	  WORDS("default", "agent-sandbox"),
	  .help = "also serve the runtime routes of agent-sandbox (default default)",
	  .listens = true },
	{ "SIDECAR_COMMAND_ENV", "command-env", SETTING_PAIRS, AT(command_env), "NAME=value",
	  .group = "Commands and their limits",
	  .help = "variable of models' commands; may be repeated (in the variable: one a line)" },
	{ "SIDECAR_COMMAND_TIMEOUT", "command-timeout", SETTING_NUMBER, AT(command_seconds),
	  "SECONDS", .max = LIMIT_COMMAND_MS / 1000,
	  .help = "how long a model's command may run if the call does not say (default for MCP "
		  "120, else 30)" },
	{ "SIDECAR_COMMAND_TIMEOUT_MAX", "command-timeout-max", SETTING_NUMBER, AT(most_seconds),
	  "SECONDS", .max = LIMIT_COMMAND_MS / 1000,
	  .help = "the longest that a call may ask for (default for MCP 3600, else 86400)" },
	{ "SIDECAR_MAX_COMMANDS", "max-commands", SETTING_NUMBER, AT(max_commands), "N", .def = 64,
	  .min = 1, .max = LIMIT_COMMANDS, .help = "commands running at once (default 64)" },
	{ "SIDECAR_SURVIVORS", "survivors", SETTING_CHOICE, AT(survivors),
	  WORDS("end", "keep", "adopt"), .usual = "adopt",
	  .help = "end or keep processes that a command leaves running, or adopt them as a job "
		  "(default adopt)" },
	{ "SIDECAR_LIMIT_MEMORY_MB", "limit-memory", SETTING_NUMBER, AT(limit_memory_mb), "MB",
	  .max = LIMIT_SETTING,
	  .help = "address space of each process of a command (default 0: any)" },
	{ "SIDECAR_LIMIT_PROCESSES", "limit-processes", SETTING_NUMBER, AT(limit_processes), "N",
	  .max = LIMIT_SETTING, .help = "processes of a command at once (default 0: 2048)" },
	{ "SIDECAR_LIMIT_FILE_MB", "limit-file", SETTING_NUMBER, AT(limit_file_mb), "MB",
	  .max = LIMIT_SETTING, .help = "largest file a command may write (default 0: any)" },
	{ "SIDECAR_LIMIT_CPU_SECONDS", "limit-cpu", SETTING_NUMBER, AT(limit_cpu_seconds),
	  "SECONDS", .max = LIMIT_SETTING,
	  .help = "CPU time of each process of a command (default 0: any)" },
	{ "SIDECAR_SEARCH_SECONDS", "search-seconds", SETTING_NUMBER, AT(search_seconds), "SECONDS",
	  .def = 30, .min = 1, .max = 3600,
	  .help = "how long a search, or reading a file, may take (default 30)" },
	{ "SIDECAR_FSYNC", "fsync", SETTING_SWITCH, AT(fsync), .group = "Changes and undo",
	  .help = "files are on disk before a write is answered" },
	{ "SIDECAR_JOURNAL", "journal", SETTING_TEXT, AT(journal), "DIR",
	  .help = "where changes are kept, to undo them; auto or off (default auto: "
		  "$XDG_STATE_HOME/sidecar, else /var/lib/sidecar)",
	  .client = true },
	{ "SIDECAR_OBSERVE", "observe", SETTING_CHOICE, AT(observe), WORDS("auto", "on", "off"),
	  .usual = "auto",
	  .help = "whose commands are observed, so that their changes are kept; auto: all in a "
		  "sandbox or by root, else those of models (default auto)" },
	{ "SIDECAR_UNDO_BYTES", "undo-bytes", SETTING_SIZE, AT(undo_bytes), "SIZE",
	  .def = 256 << 20, .min = 1 << 20, .max = (int64_t)1 << 40,
	  .help = "how much of old content is copied, e.g. 512M (default 256M)", .client = true },
	{ "SIDECAR_UNDO_DAYS", "undo-days", SETTING_NUMBER, AT(undo_days), "DAYS", .def = 7,
	  .max = 36500, .help = "how long changes are kept (default 7; 0: any time)",
	  .client = true },
	{ "SIDECAR_UNDO_MAX_FILE", "undo-max-file", SETTING_SIZE, AT(undo_max_file), "SIZE",
	  .def = 64 << 20, .min = 1, .max = (int64_t)2 << 30,
	  .help = "largest file whose old content is copied (default 64M)", .client = true },
	{ "SIDECAR_OPENAT2", "openat2", SETTING_CHOICE, AT(openat2), WORDS("off", "auto"),
	  .usual = "auto", .group = "Running, watching and logging",
	  .help = "resolve paths by openat2, or always by walking (default auto)" },
	{ "SIDECAR_GRACE_SECONDS", "grace", SETTING_NUMBER, AT(grace_seconds), "SECONDS", .def = 10,
	  .max = 3600, .help = "how long running calls may go on after SIGTERM (default 10)",
	  .listens = true },
	{ "SIDECAR_EVENTS", "events", SETTING_CHOICE, AT(events), WORDS("off", "on"), .usual = "on",
	  .help = "whether calls can be watched by /events and /calls (default on)" },
	{ "SIDECAR_AUDIT", "audit", SETTING_TEXT, AT(audit), "FILE",
	  .help = "record every call there, in lines that cannot be changed unseen "
		  "(docs/undo.md)" },
	{ "SIDECAR_AUDIT_KEY_FILE", "audit-key-file", SETTING_TEXT, AT(audit_key_file), "FILE",
	  .help = "file with the key without which such lines cannot be made" },
	{ "SIDECAR_WATCHABLE", "watchable", SETTING_CHOICE, AT(watchable), WORDS("off", "on"),
	  .usual = "on",
	  .help = "whether \"sidecar mcp\" opens a socket for \"sidecar watch\" and \"sidecar ui\" "
		  "with its first call (default on)" },
	{ "SIDECAR_LOG", "log", SETTING_CHOICE, AT(log), WORDS("auto", "text", "json"),
	  .help = "format of the log on stderr (default: for people on a terminal, else json)" },
	{ "SIDECAR_LOG_LEVEL", "log-level", SETTING_CHOICE, AT(log_level),
	  WORDS("debug", "info", "warn", "error"), .usual = "info",
	  .help = "lowest level that is logged (default info)" },
};

_Static_assert(ARRAY_LEN(settings) <= CONFIG_SETTINGS, "struct config has an origin for each");

size_t setting_count(void)
{
	return ARRAY_LEN(settings);
}

const struct setting *setting_at(size_t i)
{
	return &settings[i];
}

const struct setting *setting_by_flag(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (settings[i].flag && str_eq(str_of(settings[i].flag), name))
			return &settings[i];
	return NULL;
}

void setting_near(struct near *near, bool hidden)
{
	near_try(near, "tcp");
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (settings[i].flag && (hidden || settings[i].type != SETTING_HIDDEN))
			near_try(near, settings[i].flag);
}

size_t setting_index(const struct setting *s)
{
	return (size_t)(s - settings);
}

size_t setting_of_member(size_t offset)
{
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(settings) && settings[i].offset != offset)
		i++;
	return i;
}

static void *slot(const struct setting *s, struct config *c)
{
	return (char *)c + s->offset;
}

static int set_number(const struct setting *s, const char *name, const char *text, int64_t *to,
		      struct err *e)
{
	char *end;
	int64_t v = 0;
	const bool ok = s->type == SETTING_OCTAL ? (v = strtol(text, &end, 8), *text && !*end)
						 : str_int(str_of(text), &v);

	if (ok && v >= s->min && v <= s->max) {
		*to = v;
		return 0;
	}
	if (s->type == SETTING_OCTAL)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "%s must be an octal mode up to %llo, not \"%s\"", name,
			       (unsigned long long)s->max, text);
	/* The only negative minimum is that of a port: -1 means that it is not set. */
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "%s must be a number from %lld to %lld, not \"%s\"", name,
		       (long long)(s->min < 0 ? 0 : s->min), (long long)s->max, text);
}

/* "256M" */
static int set_size(const struct setting *s, const char *name, const char *text, int64_t *to,
		    struct err *e)
{
	static const char units[] = "KMG";
	struct str digits = str_trim(str_of(text));
	const char last = digits.n ? digits.p[digits.n - 1] : '0';
	const char *unit = last ? strchr(units, last & ~0x20) : NULL;
	const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	int64_t v;

	if (unit)
		digits.n--;
	if (str_int(digits, &v) && v >= 0 && v <= s->max >> shift && v << shift >= s->min) {
		*to = v << shift;
		return 0;
	}
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "%s must be a number of bytes from %lld to %lld, plain or with K, M or G, "
		       "not \"%s\"",
		       name, (long long)s->min, (long long)s->max, text);
}

/* A misspelt restriction must not be off without an error. */
static int set_switch(const struct setting *s, const char *name, const char *text, bool *to,
		      struct err *e)
{
	static const char *const off[] = { "", "0", "false", "no", "off" };
	const struct str word = str_trim(str_of(text));
	const bool on = str_truthy(word) || (!s->lenient && str_eq_nocase(word, STR("on")));
	bool known = on || s->lenient;

	for (size_t i = 0; i < ARRAY_LEN(off); i++)
		known |= str_eq_nocase(str_of(off[i]), word);
	if (known) {
		*to = on;
		return 0;
	}
	return err_set(e, ERR_INVALID_ARGUMENTS, "%s must be true or false, not \"%s\"", name,
		       text);
}

/* The words, with a text between them. */
static void list_choices(const struct setting *s, const char *between, char *to, size_t size)
{
	*to = '\0';
	for (int i = 0; s->choices[i]; i++) {
		const size_t n = strlen(to);
		(void)snprintf(to + n, size - n, "%s%s", i ? between : "", s->choices[i]);
	}
}

static int set_choice(const struct setting *s, const char *name, const char *text, int64_t *to,
		      struct err *e)
{
	char list[128];

	for (int i = 0; s->choices[i]; i++)
		if (str_eq_nocase(str_of(s->choices[i]), str_trim(str_of(text)))) {
			*to = i;
			return 0;
		}
	list_choices(s, ", ", list, sizeof list);
	return err_set(e, ERR_INVALID_ARGUMENTS, "%s must be one of %s, not \"%s\"", name, list,
		       text);
}

bool setting_next_pair(struct str *lines, struct str *pair)
{
	while (lines->n) {
		(void)str_cut(*lines, '\n', pair, lines);
		if (str_trim(*pair).n)
			return true;
	}
	return false;
}

static int set_pairs(const char *name, const char *text, const char **to, struct err *e)
{
	struct str lines = str_of(text), pair;

	while (setting_next_pair(&lines, &pair))
		if (str_index(pair, '=') <= 0)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "%s must be NAME=value, not \"%.*s\"", name,
				       STR_FMT(str_upto(pair, 80)));
	*to = *text ? text : NULL;
	return 0;
}

int setting_set(const struct setting *s, const char *name, const char *text, struct config *c,
		struct err *e)
{
	switch (s->type) {
	case SETTING_TEXT:
	case SETTING_HIDDEN:
		*(const char **)slot(s, c) = *text ? text : NULL;
		return 0;
	case SETTING_PAIRS:
		if (strchr(s->value, '='))
			return set_pairs(name, text, slot(s, c), e);
		*(const char **)slot(s, c) = text;
		return 0;
	case SETTING_SWITCH:
		return set_switch(s, name, text, slot(s, c), e);
	case SETTING_NUMBER:
	case SETTING_OCTAL:
		return set_number(s, name, text, slot(s, c), e);
	case SETTING_SIZE:
		return set_size(s, name, text, slot(s, c), e);
	case SETTING_CHOICE:
		return set_choice(s, name, text, slot(s, c), e);
	}
	return 0;
}

int setting_set_tcp(struct config *c, const char *name, const char *text, enum config_origin from,
		    struct err *e)
{
	struct str host;
	int64_t port;

	if (!address_split(str_of(text), &host, &port) || host.n >= sizeof c->tcp_text)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s must be HOST:PORT, not \"%s\"", name,
			       text);
	memcpy(c->tcp_text, host.p, host.n);
	c->tcp_text[host.n] = '\0';
	c->tcp_host = c->tcp_text;
	c->tcp_port = port;
	c->origin[setting_of_member(AT(tcp_host))] = (uint8_t)from;
	c->origin[setting_of_member(AT(tcp_port))] = (uint8_t)from;
	return 0;
}

void setting_default(const struct setting *s, struct config *c)
{
	struct err e;

	if (s->type == SETTING_NUMBER || s->type == SETTING_OCTAL || s->type == SETTING_SIZE)
		*(int64_t *)slot(s, c) = s->def;
	else if (s->type == SETTING_CHOICE)
		(void)set_choice(s, "", s->usual ? s->usual : s->choices[0], slot(s, c), &e);
	else if (s->type == SETTING_SWITCH)
		*(bool *)slot(s, c) = false;
	else
		*(const char **)slot(s, c) = NULL;
}

bool setting_text(const struct setting *s, const struct config *c, char *to, size_t size)
{
	const void *at = (const char *)c + s->offset;
	const char *text = "";

	if (s->type == SETTING_TEXT || s->type == SETTING_HIDDEN || s->type == SETTING_PAIRS) {
		text = *(const char *const *)at;
		(void)snprintf(to, size, "%s",
			       !text			   ? ""
			       : s->type == SETTING_HIDDEN ? "set"
							   : text);
		return text != NULL;
	}
	if (s->type == SETTING_SWITCH)
		(void)snprintf(to, size, "%s", *(const bool *)at ? "true" : "false");
	else if (s->type == SETTING_CHOICE)
		(void)snprintf(to, size, "%s", s->choices[*(const int64_t *)at]);
	else
		(void)snprintf(to, size, s->type == SETTING_OCTAL ? "%04llo" : "%lld",
			       (long long)*(const int64_t *)at);
	/* The only negative number is that of a port that is not set. */
	return s->type != SETTING_NUMBER || *(const int64_t *)at >= 0;
}

void setting_values(const struct setting *s, char *to, size_t size)
{
	if (s->value)
		(void)snprintf(to, size, "%s", s->value);
	else
		list_choices(s, "|", to, size);
}
