/* SPDX-License-Identifier: MIT */
/* health: the configuration as it came out, as JSON and as log lines. */

#include "service/health.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "exec/tree.h"
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

static void write_journal(struct jw *w, const struct service *s, const struct config *c)
{
	jw_object(w, "journal");
	jw_bool(w, "on", s->history.journal != NULL);
	if (!s->history.journal) {
		jw_str(w, "why", str_of(s->history.why));
	} else {
		jw_int(w, "bytes", c->undo_bytes);
		jw_int(w, "days", c->undo_days);
	}
	jw_end(w);
}

int health_record(struct service *s, const struct config *c, const struct listening *at,
		  struct err *e)
{
	const struct path_rules *rules = ws_rules(s->ws);
	char mode[8], tcp[300];
	struct jw w = jw_members_to(&s->facts);

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
	write_journal(&w, s, c);
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

const char *health_observed(const struct service *s, const char **why)
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
	return s->observe == CONFIG_OBSERVE_ON || s->sandbox.mode != SANDBOX_OFF ? "all" : "models";
}

/* Without a sandbox it is known only when the first command can be run. */
static void write_observed(struct jw *w, const struct service *s)
{
	const char *why;

	jw_object(w, "observed");
	jw_str(w, "commands", str_of(health_observed(s, &why)));
	if (why)
		jw_str(w, "why", str_of(why));
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
	jw_int(&w, "calls", s->calls);
	jw_int(&w, "running", service_running(s));
	if (s->audit)
		jw_str(&w, "audit", audit_works(s->audit) ? STR("on") : STR("failing"));
	if (s->live.events)
		jw_int(&w, "event", (int64_t)events_last(s->live.events));
	buf_addc(out, ',');
	buf_add(out, buf_str(&s->facts));
	write_observed(&w, s);
	jw_end(&w);
}

void health_warn(const struct service *s, const struct config *c)
{
	const struct path_rules *r = ws_rules(s->ws);

	if (s->runner && c->best_sandbox && s->sandbox.mode == SANDBOX_OFF)
		log_event(LOG_WARN, "commands are not held by a sandbox",
			  LOG_STR("why", str_of(s->sandbox.why)));
	for (size_t i = 0; i < s->sandbox.count; i++)
		if (*s->sandbox.fact[i].note &&
		    strcmp(s->sandbox.fact[i].note, SANDBOX_NOT_ASKED) != 0)
			log_event(LOG_WARN,
				  s->sandbox.fact[i].in_force ? "protection takes more than asked"
							      : "protection not in force",
				  LOG_STR("name", str_of(s->sandbox.fact[i].name)),
				  LOG_STR("note", str_of(s->sandbox.fact[i].note)));
	for (size_t i = 0; i < s->sandbox.count; i++)
		if (s->sandbox.fact[i].in_force && *s->sandbox.fact[i].note)
			log_event(LOG_WARN, "protection in force takes more than it should",
				  LOG_STR("name", str_of(s->sandbox.fact[i].name)),
				  LOG_STR("note", str_of(s->sandbox.fact[i].note)));
	if (sandbox_unwatched(&s->sandbox))
		log_event(LOG_WARN, "commands are not observed: what they change cannot be undone",
			  LOG_STR("why", str_of(sandbox_unwatched(&s->sandbox))));
	if (s->audit && s->runner && s->sandbox.mode == SANDBOX_OFF)
		log_event(LOG_WARN,
			  "commands are not held by a sandbox: they can write the audit file");
	if (s->sandbox.mode != SANDBOX_OFF)
		commands_log_left_out(c, s->ws);
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
	if (s->history.journal)
		log_event(LOG_INFO, "changes are kept", LOG_INT("bytes", c->undo_bytes),
			  LOG_INT("days", c->undo_days));
	else
		log_event(LOG_WARN, "changes are not kept, and cannot be undone",
			  LOG_STR("why", str_of(s->history.why)));
	for (size_t i = 0; i < ARRAY_LEN(command_limits); i++)
		if (limit_of(c, i))
			log_event(LOG_INFO, "limit of commands",
				  LOG_INT(command_limits[i].name, limit_of(c, i)));
	health_warn(s, c);
}
