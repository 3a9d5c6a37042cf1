/* SPDX-License-Identifier: MIT */
/* connect: the server that options, environment and files name. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "config/config.h"

/* --url: http://HOST:PORT, tcp:HOST:PORT or unix:PATH. */
static int set_url(struct config *config, const char *url, struct err *e)
{
	char text[512];
	struct str rest = str_of(url);

	config->socket = NULL;
	config->tcp_host = NULL;
	if (str_starts(rest, STR("unix:"))) {
		rest = str_from(rest, 5);
		config->socket = str_starts(rest, STR("//")) ? rest.p + 2 : rest.p;
		return 0;
	}
	if (str_starts(rest, STR("http://")))
		rest = str_from(rest, 7);
	else if (str_starts(rest, STR("tcp:")))
		rest = str_from(rest, 4);
	else
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "--url must be http://HOST:PORT or unix:PATH, not \"%s\"", url);
	(void)str_cut(rest, '/', &rest, &(struct str){ NULL, 0 });
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(rest));
	return config_set_tcp(config, "--url", text, CONFIG_FLAG, e);
}

static int locate(const struct cli *c, struct config *config, struct err *e)
{
	if (config_load_client(config, e) < 0)
		return -1;
	if (c->socket && c->url)
		return err_set(e, ERR_INVALID_ARGUMENTS, "--socket and --url exclude each other");
	if (c->socket) {
		config->socket = c->socket;
		config->tcp_host = NULL;
	}
	if (c->url && set_url(config, c->url, e) < 0)
		return -1;
	config->token_file = c->token_file;
	return c->token_file ? config_read_token(config, e) : 0;
}

static void show_progress(void *arg, int64_t files)
{
	const struct cli *c = arg;

	progress_count(c->progress, files);
}

struct sidecar *cli_connect(struct cli *c, int *status)
{
	AUTO_CONFIG config = { 0 };
	struct sidecar_error error;
	struct err e;
	char path[SIDECAR_PATH_MAX];

	if (locate(c, &config, &e) < 0) {
		*status = cli_misused(c, "%s", e.msg);
		return NULL;
	}
	/* The library wants absolute paths; a person may be in the right directory already. */
	if (config.socket && *config.socket != '/') {
		char *here = getcwd(path, sizeof path);
		const size_t n = here ? strlen(path) : 0;
		(void)snprintf(path + n, sizeof path - n, "/%s", config.socket);
		config.socket = path;
	}
	const struct sidecar_settings settings = {
		.socket_path = config.socket,
		.host = config.socket ? NULL : config.tcp_host,
		.port = config.socket ? 0 : (int)config.tcp_port,
		.token = config.token,
		.session = "cli",
		/* Enough for a busy server, too little to annoy when there is none. */
		.wait_for_ready_ms = c->wait > 0 ? (int64_t)(c->wait * 1000) : LIMIT_CLI_READY_MS,
		.timeout_ms = c->verb->flags & VERB_PATIENT ? 0 : (int64_t)(c->timeout * 1000),
		.progress = progress_is_wanted(c) ? show_progress : NULL,
		.progress_arg = c,
	};
	struct sidecar *s = sidecar_open(&settings, &error);
	if (!s)
		*status = cli_fail(c, &error);
	else if (c->verbose)
		cli_say(c, "%s", sidecar_address(s));
	return s;
}

static struct str string_of(const struct json *object, struct str name, struct str otherwise)
{
	const struct json *v = json_get(object, name);

	return v && v->type == JSON_STRING ? v->string : otherwise;
}

int cli_request(const struct cli *c, const char *method, const char *target, const struct buf *body,
		struct arena *a, const struct json **ret, int *status)
{
	struct sidecar_error error = { .code = "BAD_ANSWER" };
	const struct json *answer = NULL, *result = NULL;
	struct err e;
	int http;
	struct sidecar_text *text =
		sidecar_request(c->server, method, target, body ? body->p : NULL, &http, &error);

	if (!text) {
		*status = cli_fail(c, &error);
		return -1;
	}
	const struct str copy = arena_dup(a, (struct str){ text->content, text->length });
	sidecar_free(text);
	if (copy.p && json_parse(copy, a, &answer, &e) == 0)
		result = json_get(answer, STR("result"));
	if (result && !result->next) {
		*ret = result;
		return 0;
	}
	const struct str code = string_of(answer, STR("code"), str_of(error.code));
	const struct str sentence =
		string_of(answer, STR("error"), STR("what answered is no sidecar"));
	(void)snprintf(error.code, sizeof error.code, "%.*s", STR_FMT(code));
	(void)snprintf(error.message, sizeof error.message, "%.*s", STR_FMT(sentence));
	*status = cli_fail(c, &error);
	return -1;
}
