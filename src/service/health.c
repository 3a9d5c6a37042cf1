/* SPDX-License-Identifier: MIT */
/* health: the configuration as it came out: as JSON, as log lines, and for people. */

#include "service/health.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "base/utc.h"
#include "exec/tree.h"
#include "guard/hidden.h"
#include "policy/policy.h"
#include "service/commands.h"
#include "workspace/workspace.h"

static struct str auth_word(const struct config *c)
{
	return c->require_auth ? STR("required") : c->token ? STR("optional") : STR("none");
}

static struct str paths_word(const struct config *c)
{
	if (c->allow_outside)
		return STR("outside");
	return c->absolute_paths == CONFIG_STRICT ? STR("strict") : STR("shorthand");
}

static struct str policy_word(const struct config *c)
{
	return c->command_policy == POLICY_STRICT ? STR("strict")
	       : c->command_policy == POLICY_OFF  ? STR("off")
						  : STR("default");
}

static struct str survivors_word(const struct config *c)
{
	static const char *const words[] = {
		[SURVIVORS_END] = "end", [SURVIVORS_KEEP] = "keep", [SURVIVORS_ADOPT] = "adopt"
	};

	return str_of(words[c->survivors]);
}

/* The limits of commands, which are mentioned when they are set. */
static const struct {
	size_t offset;
	const char *member, *name;
} command_limits[] = {
	{ offsetof(struct config, limit_memory_mb), "memoryMb", "memory_mb" },
	{ offsetof(struct config, limit_processes), "processes", "processes" },
	{ offsetof(struct config, limit_file_mb), "fileMb", "file_mb" },
	{ offsetof(struct config, limit_cpu_seconds), "cpuSeconds", "cpu_seconds" },
};

static int64_t limit_of(const struct config *c, size_t i)
{
	const void *at = (const char *)c + command_limits[i].offset;

	return *(const int64_t *)at;
}

static struct str resolver_word(const struct workspace *ws)
{
	return ws_uses_openat2(ws) ? STR("openat2") : STR("walk");
}

/* The permissions of the Unix socket, or empty. */
static struct str mode_word(const struct listening *at, char out[8])
{
	if (str_of(at->socket).n == 0)
		return STR("");
	(void)snprintf(out, 8, "%04o", (unsigned)at->socket_mode & 07777);
	return str_of(out);
}

/* "host:port", or empty. */
static struct str tcp_word(const struct config *c, const struct listening *at, char out[300])
{
	if (!c->tcp_host)
		return STR("");
	(void)snprintf(out, 300, "%s:%lld", c->tcp_host, (long long)at->tcp_port);
	return str_of(out);
}

static void optional(struct jw *w, const char *name, struct str value)
{
	if (value.n)
		jw_str(w, name, value);
	else
		jw_null(w, name);
}

static void write_sandbox(struct jw *w, const struct sandbox_report *r)
{
	jw_object(w, "sandbox");
	jw_str(w, "mode", str_of(sandbox_mode_name(r->mode)));
	jw_str(w, "why", str_of(r->why));
	jw_bool(w, "namespaces", r->namespaces);
	jw_array(w, "protections");
	for (size_t i = 0; i < r->count; i++) {
		jw_object(w, NULL);
		jw_str(w, "name", str_of(r->fact[i].name));
		jw_bool(w, "inForce", r->fact[i].in_force);
		if (*r->fact[i].note)
			jw_str(w, "note", str_of(r->fact[i].note));
		jw_end(w);
	}
	jw_end(w);
	jw_end(w);
}

/* What sandboxed commands may do with a git directory outside the workspace; empty if there is
 * nothing to say. */
static struct str git_word(const struct service *s, char *out, size_t size)
{
	const struct gitdir *g = &s->git.workspace;
	const char *unwatched = sandbox_unwatched(&s->sandbox);
	char what[PATH_MAX + 64];

	*out = '\0';
	if (s->sandbox.mode == SANDBOX_OFF || g->kind == GITDIR_NONE)
		return STR("");
	if (g->kind == GITDIR_FOREIGN) {
		(void)snprintf(
			out, size,
			"commands cannot write the git directory: it lies outside the "
			"workspace and does not point back to it; --sandbox-write allows it");
		return str_of(out);
	}
	gitdir_describe(g, ws_rules(s->ws)->root.p, what, sizeof what);
	(void)snprintf(out, size, "%s%s%s", what,
		       unwatched ? "; commands cannot write its git directory: " : "",
		       unwatched ? unwatched : "");
	return str_of(out);
}

/* How what a person's programs run later is kept from agents. A guard rail is called that. */
static const char *sinks_word(const struct service *s)
{
	const char *unwatched = sandbox_unwatched(&s->sandbox);

	if (!s->guard)
		return "not guarded: --sinks allow";
	if (!s->runner)
		return "guarded from tools";
	if (unwatched)
		return s->sandbox.namespaces ? "guarded from tools, and by mounts what exists; for "
					       "what does not, no listener can be had"
					     : "guarded from tools; not from commands: no listener "
					       "can be had";
	if (s->sandbox.mode == SANDBOX_OFF)
		return "guarded from models' tools, and from their observed commands by a guard "
		       "rail: a race can win, and what got through is named";
	return s->sandbox.namespaces
		       ? "guarded by mounts what exists; what does not, by a guard rail: a race "
			 "can "
			 "win, and what got through is named"
		       : "guarded by a guard rail: a race can win, and what got through is named";
}

/* What is hidden from agents, and from whom it is not. */
static const char *hidden_word(const struct service *s, const struct config *c)
{
	const bool commands = s->runner != NULL;

	if (!s->hidden || (c->hide && !*c->hide))
		return s->hidden ? "the token's file alone: --hide ''" : "nothing: --hide ''";
	if (commands && s->sandbox.mode == SANDBOX_OFF)
		return "nothing from commands: they have no sandbox";
	if (commands && !s->sandbox.namespaces)
		return hidden_is_here(s->hidden, false)
			       ? "from tools only: commands can read what .sidecarignore names, "
				 "and ~/.ssh, no user namespaces here"
			       : "from tools only: commands can read ~/.ssh, no user namespaces "
				 "here";
	return c->hide || hidden_is_here(s->hidden, false)
		       ? "what --hide or .sidecarignore names, and keys and credentials in the "
			 "home "
			 "directory"
		       : "keys and credentials in the home directory";
}

int health_record(struct service *s, const struct config *c, const struct listening *at,
		  struct err *e)
{
	const struct path_rules *rules = ws_rules(s->ws);
	char mode[8], tcp[300], git[PATH_MAX + 300], started[UTC_TEXT];
	struct jw w = jw_members_to(&s->facts);

	jw_str(&w, "started", utc_iso(time(NULL), 0, started));
	jw_str(&w, "workspace", rules->root);
	optional(&w, "socket", str_of(at->socket));
	optional(&w, "socketMode", mode_word(at, mode));
	optional(&w, "tcp", tcp_word(c, at, tcp));
	jw_str(&w, "auth", auth_word(c));
	jw_str(&w, "absolutePaths", paths_word(c));
	optional(&w, "allowedRoot", rules->allowed);
	optional(&w, "dataDir", rules->data);
	jw_str(&w, "resolver", resolver_word(s->ws));
	jw_bool(&w, "readOnly", c->read_only);
	jw_str(&w, "commandPolicy", policy_word(c));
	jw_str(&w, "survivors", survivors_word(c));
	jw_bool(&w, "readBeforeWrite", c->read_before_write > CONFIG_READS_OFF);
	jw_bool(&w, "scrub", c->scrub != CONFIG_SCRUB_OFF);
	write_sandbox(&w, &s->sandbox);
	if (git_word(s, git, sizeof git).n)
		jw_str(&w, "git", str_of(git));
	jw_str(&w, "sinks", str_of(sinks_word(s)));
	jw_str(&w, "hidden", str_of(hidden_word(s, c)));
	jw_object(&w, "limits");
	jw_int(&w, "bodyBytes", LIMIT_BODY);
	jw_int(&w, "connections", LIMIT_CONNECTIONS);
	jw_int(&w, "commands", c->max_commands);
	jw_int(&w, "searchSeconds", c->search_seconds);
	for (size_t i = 0; i < ARRAY_LEN(command_limits); i++)
		if (limit_of(c, i))
			jw_int(&w, command_limits[i].member, limit_of(c, i));
	jw_end(&w);
	return s->facts.failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory to start") : 0;
}

/* Whose commands are observed: "all", "models" or "none", and then *why; else *why is NULL. */
static const char *observed(const struct service *s, const char **why)
{
	struct sandbox_report now = { .mode = SANDBOX_OFF };

	if (s->runner)
		runner_report(s->runner, &now);
	*why = !s->runner			  ? "commands are not run"
	       : s->observe == CONFIG_OBSERVE_OFF ? "it is turned off"
	       : !s->history.journal		  ? "changes are not kept"
						  : sandbox_unwatched(&now);
	if (*why)
		return "none";
	return service_observes_all(s) ? "all" : "models";
}

/* Without a sandbox it is known only when the first command can be run. */
static void write_observed(struct jw *w, const struct service *s)
{
	const char *why;

	jw_object(w, "observed");
	jw_str(w, "commands", str_of(observed(s, &why)));
	if (why)
		jw_str(w, "why", str_of(why));
	jw_end(w);
}

static void write_journal(struct jw *w, const struct service *s)
{
	struct store_facts f;

	jw_object(w, "journal");
	jw_bool(w, "on", s->history.journal != NULL);
	if (s->history.journal) {
		store_get_facts(journal_store(s->history.journal), &f);
		jw_int(w, "bytes", f.max_bytes);
		jw_int(w, "days", s->history.days);
		jw_int(w, "used", f.bytes);
		jw_int(w, "linked", f.linked);
		if (f.failed)
			jw_str(w, "failing", str_of(strerror(f.failed)));
	} else {
		jw_str(w, "why", str_of(s->history.why));
	}
	jw_end(w);
}

void health_write(struct service *s, struct buf *out)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_str(&w, "version", STR(SIDECAR_VERSION));
	jw_int(&w, "uptimeMs", io_now_ms() - s->started_ms);
	jw_int(&w, "pid", getpid());
	jw_str(&w, "kind", str_of(s->kind));
	if (*s->client)
		jw_str(&w, "client", str_of(s->client));
	jw_int(&w, "calls", s->calls - s->looks);
	jw_int(&w, "running", roster_count(&s->roster));
	if (s->audit)
		jw_str(&w, "audit", audit_works(s->audit) ? STR("on") : STR("failing"));
	if (s->live.events)
		jw_int(&w, "event", (int64_t)events_last(s->live.events));
	buf_addc(out, ',');
	buf_add(out, buf_str(&s->facts));
	write_journal(&w, s);
	write_observed(&w, s);
	jw_end(&w);
}

/* Log what is not in force, and an operator may not expect. */
static void warn(const struct service *s, const struct config *c)
{
	const struct path_rules *r = ws_rules(s->ws);

	if (s->runner && c->best_sandbox && s->sandbox.mode == SANDBOX_OFF)
		log_event(LOG_WARN, "commands run without a sandbox",
			  LOG_STR("why", str_of(s->sandbox.why)));
	for (size_t i = 0; i < s->sandbox.count; i++)
		if (*s->sandbox.fact[i].note &&
		    strcmp(s->sandbox.fact[i].note, SANDBOX_NOT_ASKED) != 0)
			log_event(LOG_WARN,
				  s->sandbox.fact[i].in_force ? "protection takes more than asked"
							      : "protection not in force",
				  LOG_STR("name", str_of(s->sandbox.fact[i].name)),
				  LOG_STR("note", str_of(s->sandbox.fact[i].note)));
	if (sandbox_unwatched(&s->sandbox))
		log_event(LOG_WARN, "commands are not observed: what they change cannot be undone",
			  LOG_STR("why", str_of(sandbox_unwatched(&s->sandbox))));
	if (s->audit && s->runner && s->sandbox.mode == SANDBOX_OFF)
		log_event(LOG_WARN,
			  "commands run without a sandbox: they can write the audit file");
	if (s->sandbox.mode != SANDBOX_OFF)
		commands_log_left_out(c, s->ws, s->sandbox.namespaces);
	if (!tree_is_listed())
		log_event(LOG_WARN,
			  "/proc does not list children: commands are ended more slowly, and "
			  "how many processes they start is not counted");
	if (c->allow_outside && r->allowed.n == 0)
		log_event(
			LOG_WARN,
			"ALLOWED_ROOT_DIRECTORY not set: every path on this machine may be touched",
			LOG_BOOL("allow_outside", true));
}

void health_log(const struct service *s, const struct config *c, const struct listening *at)
{
	const struct path_rules *r = ws_rules(s->ws);
	char mode[8], tcp[300];
	const char *why;

	log_event(LOG_INFO, "sidecar " SIDECAR_VERSION " is ready", LOG_STR("workspace", r->root),
		  LOG_STR("socket", str_of(at->socket)), LOG_STR("mode", mode_word(at, mode)),
		  LOG_STR("tcp", tcp_word(c, at, tcp)), LOG_STR("auth", auth_word(c)));
	log_event(LOG_INFO, "boundary", LOG_STR("allowed_root", r->allowed),
		  LOG_STR("data_dir", r->data), LOG_STR("absolute_paths", paths_word(c)),
		  LOG_STR("resolver", resolver_word(s->ws)), LOG_BOOL("read_only", c->read_only));
	log_event(LOG_INFO, "sandbox", LOG_STR("mode", str_of(sandbox_mode_name(s->sandbox.mode))),
		  LOG_BOOL("namespaces", s->sandbox.namespaces),
		  LOG_STR("why", str_of(s->sandbox.why)), LOG_STR("policy", policy_word(c)),
		  LOG_INT("max_commands", c->max_commands),
		  LOG_STR("survivors", survivors_word(c)));
	log_event(LOG_INFO, "guards", LOG_STR("sinks", str_of(sinks_word(s))),
		  LOG_STR("hidden", str_of(hidden_word(s, c))));
	if (s->history.journal)
		log_event(LOG_INFO, "changes are kept", LOG_INT("bytes", c->undo_bytes),
			  LOG_INT("days", c->undo_days),
			  LOG_STR("commands_observed", str_of(observed(s, &why))));
	else
		log_event(LOG_WARN, "changes are not kept, and cannot be undone",
			  LOG_STR("why", str_of(s->history.why)));
	for (size_t i = 0; i < ARRAY_LEN(command_limits); i++)
		if (limit_of(c, i))
			log_event(LOG_INFO, "limit of commands",
				  LOG_INT(command_limits[i].name, limit_of(c, i)));
	warn(s, c);
}

static void note_listeners(const struct config *c, const struct listening *at)
{
	char text[512];

	if (at->socket && *at->socket) {
		(void)snprintf(text, sizeof text, "%s (mode %04o%s)", at->socket,
			       (unsigned)at->socket_mode & 07777,
			       c->require_auth ? ", with a token" : "");
		log_note(STR("listens on"), str_of(text), LOG_PLAIN);
	}
	if (c->tcp_host) {
		(void)snprintf(text, sizeof text, "http://%s:%lld (%s%s)", c->tcp_host,
			       (long long)at->tcp_port,
			       c->token_file ? "with the token in "
			       : c->token    ? "with the token"
					     : "without a token",
			       c->token_file ? c->token_file : "");
		log_note(STR("listens on"), str_of(text), LOG_PLAIN);
	}
}

/* Whether a shell would take the text for one word. */
static bool is_plain(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "/._-+@%:,=")] == '\0';
}

/* The line that a person copies into another terminal. */
static void note_connect(const struct config *c, const struct listening *at)
{
	char text[512];

	if (at->socket && *at->socket) {
		const char *quote = is_plain(at->socket) ? "" : "'";
		(void)snprintf(text, sizeof text, "sidecar ls --socket %s%s%s", quote, at->socket,
			       quote);
	} else {
		const char *file = c->token_file ? c->token_file : "";
		const char *quote = is_plain(file) ? "" : "'";
		(void)snprintf(text, sizeof text, "%ssidecar ls --url http://%s:%lld%s%s%s%s",
			       c->token && !*file ? "SIDECAR_AUTH_TOKEN=… " : "", c->tcp_host,
			       (long long)at->tcp_port, *file ? " --token-file " : "", quote, file,
			       quote);
	}
	log_note(STR("try"), str_of(text), LOG_BOLD);
}

static void note_changes(const struct service *s, const struct config *c)
{
	char text[640], days[48] = "";
	const char *why, *whose = observed(s, &why);

	if (c->undo_days)
		(void)snprintf(days, sizeof days, " for %lld days", (long long)c->undo_days);
	if (!s->history.journal)
		(void)snprintf(text, sizeof text, "cannot be undone: %s", s->history.why);
	else
		(void)snprintf(text, sizeof text, "can be undone%s%s%s%s", days,
			       whose[0] == 'a'	 ? ", those of commands too"
			       : whose[0] == 'm' ? ", those of models' commands too, not those of "
						   "/bash (--observe on)"
						 : ", but not those of commands",
			       why ? ": " : "", why ? why : "");
	log_note(STR("changes"), str_of(text), s->history.journal ? LOG_PLAIN : LOG_YELLOW);
}

void health_show(const struct service *s, const struct config *c, const struct listening *at)
{
	char git[PATH_MAX + 300];
	const bool loose = s->runner && s->sandbox.mode == SANDBOX_OFF;
	/* "Commands are not run here." → "are not run here" */
	const struct str verb = str_from(str_of(s->held), sizeof "Commands");

	log_note(STR(""), STR("sidecar " SIDECAR_VERSION), LOG_BOLD);
	log_note(STR("workspace"), ws_rules(s->ws)->root, LOG_PLAIN);
	note_listeners(c, at);
	log_note(STR("commands"), str_upto(verb, verb.n - 1), loose ? LOG_YELLOW : LOG_PLAIN);
	if (git_word(s, git, sizeof git).n)
		log_note(STR("git"), str_of(git), LOG_PLAIN);
	log_note(STR("runs later"), str_of(sinks_word(s)), s->guard ? LOG_PLAIN : LOG_YELLOW);
	log_note(STR("hidden"), str_of(hidden_word(s, c)), LOG_PLAIN);
	note_changes(s, c);
	if ((at->socket && *at->socket) || c->tcp_host)
		note_connect(c, at);
	log_note(STR(""), STR(""), LOG_PLAIN);
	warn(s, c);
}
