/* SPDX-License-Identifier: MIT */
/* banner: a few lines on a terminal, the last of which can be copied. */

#include "service/banner.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "workspace/workspace.h"

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
	const char *why, *whose = health_observed(s, &why);

	if (c->undo_days)
		(void)snprintf(days, sizeof days, " for %lld days", (long long)c->undo_days);
	if (!s->history.journal)
		(void)snprintf(text, sizeof text, "cannot be undone: %s", s->history.why);
	else
		(void)snprintf(text, sizeof text, "can be undone%s%s%s%s", days,
			       whose[0] == 'a'	 ? ", those of commands too"
			       : whose[0] == 'm' ? ", those of models' commands too"
						 : ", but not those of commands",
			       why ? ": " : "", why ? why : "");
	log_note(STR("changes"), str_of(text), s->history.journal ? LOG_PLAIN : LOG_YELLOW);
}

void banner_log(const struct service *s, const struct config *c, const struct listening *at)
{
	const bool loose = s->runner && s->sandbox.mode == SANDBOX_OFF;
	/* "Commands are not run here." → "are not run here" */
	const struct str verb = str_from(str_of(s->held), sizeof "Commands");

	log_note(STR(""), STR("sidecar " SIDECAR_VERSION), LOG_BOLD);
	log_note(STR("workspace"), ws_rules(s->ws)->root, LOG_PLAIN);
	note_listeners(c, at);
	log_note(STR("commands"), str_upto(verb, verb.n - 1), loose ? LOG_YELLOW : LOG_PLAIN);
	note_changes(s, c);
	if ((at->socket && *at->socket) || c->tcp_host)
		note_connect(c, at);
	log_note(STR(""), STR(""), LOG_PLAIN);
	health_warn(s, c);
}
