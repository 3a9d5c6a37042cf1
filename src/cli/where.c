/* SPDX-License-Identifier: MIT */
/* where: the registry, compared with the current directory. */

#include "cli/where.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/json.h"
#include "config/registry.h"

/* What one has entered. False: it listens on nothing that this program can use. */
static bool read_entry(const struct registry_found *f, struct arena *a, struct running_at *ret)
{
	const struct json *entry = &json_empty;
	struct err e;

	if (f->object.n && json_parse(f->object, a, &entry, &e) < 0)
		return false;
	const struct str socket = f->socket.n ? f->socket : json_text(entry, STR("socket"));
	struct str host;
	int64_t port;
	*ret = (struct running_at){ .pid = f->pid,
				    .workspace = json_text(entry, STR("workspace")),
				    .since = json_text(entry, STR("since")),
				    .is_mcp = f->socket.n > 0,
				    .needs_token = json_is_true(entry, STR("token")) };
	if (socket.n)
		return (ret->socket = arena_dup(a, socket).p);
	if (!address_split(json_text(entry, STR("tcp")), &host, &port))
		return false;
	/* What listens everywhere listens here. */
	if (str_eq(host, STR("0.0.0.0")) || str_eq(host, STR("::")))
		host = STR("127.0.0.1");
	ret->port = (int)port;
	return (ret->host = arena_dup(a, host).p);
}

struct running_at *where_list(struct arena *a)
{
	struct running_at *list = NULL;

	for (const struct registry_found *f = registry_list(a); f; f = f->next) {
		struct running_at *r = arena_array(a, 1, sizeof *r), **at = &list;
		if (!r || !read_entry(f, a, r))
			continue;
		while (*at && (*at)->pid < r->pid)
			at = &(*at)->next;
		r->next = *at;
		*at = r;
	}
	return list;
}

size_t where_holds(struct str workspace, struct str directory)
{
	if (!workspace.n || !str_starts(directory, workspace))
		return 0;
	const bool ends =
		directory.n == workspace.n || workspace.n == 1 || directory.p[workspace.n] == '/';
	return ends ? workspace.n : 0;
}

/* The one that serves the directory; of several that do, the one at the usual place. */
static const struct running_at *serving(const struct running_at *list, const char *directory,
					const char *usual)
{
	const struct running_at *best = NULL;
	size_t most = 0;

	for (const struct running_at *r = list; r; r = r->next) {
		const size_t n = r->is_mcp ? 0 : where_holds(r->workspace, str_of(directory));
		const bool is_usual = r->socket && usual && strcmp(r->socket, usual) == 0;
		if (n > most || (n && n == most && is_usual)) {
			most = n;
			best = r;
		}
	}
	return best;
}

/* The directory that is meant, without links. */
static int find_directory(const struct where_asked *q, char out[SIDECAR_PATH_MAX], struct err *e)
{
	if (!q->directory)
		return getcwd(out, SIDECAR_PATH_MAX)
			       ? 0
			       : err_errno(e, "Cannot tell the current directory");
	return realpath(q->directory, out) ? 0 : err_errno(e, "Cannot use %s", q->directory);
}

static int fail(const struct where_asked *q, const struct running_at *list, const char *directory,
		struct err *e)
{
	char room[700];
	struct buf others = buf_over(room, sizeof room - 1);
	size_t agents = 0;

	for (const struct running_at *r = list; r; r = r->next) {
		agents += r->is_mcp;
		if (!r->is_mcp)
			buf_addf(&others, "%s%.*s (pid %d)", others.n ? ", " : "",
				 STR_FMT(r->workspace), (int)r->pid);
	}
	room[others.n] = '\0';
	if (agents)
		(void)snprintf(room + others.n, sizeof room - others.n,
			       "%s%zu for agents by MCP, which take no other calls",
			       others.n ? "; " : "", agents);
	return err_set(
		e, ERR_NOT_READY,
		"No sidecar serves %.200s%s. %s%s%sStart one there with \"sidecar serve\", or "
		"name one with --socket%s.",
		directory, q->history ? ", and no changes of it are kept" : "",
		*room ? "Running: " : "", room, *room ? ". " : "",
		q->history ? ", or with SIDECAR_JOURNAL the directory that an agent's sidecar had "
			     "as --journal"
			   : "");
}

static void use(struct config *config, const struct running_at *r)
{
	config->socket = r->socket;
	config->tcp_host = r->host;
	config->tcp_port = r->port;
	if (r->host && r->needs_token && !config->token &&
	    registry_find_token(r->host, r->port, config->token_text))
		config->token = config->token_text;
}

int where_find(const struct where_asked *q, struct config *config, struct arena *a,
	       char workspace[SIDECAR_PATH_MAX], enum where *ret, struct err *e)
{
	char directory[SIDECAR_PATH_MAX];

	*ret = WHERE_SERVER;
	if (q->is_named || config_names_address(config))
		return 0;
	if (find_directory(q, directory, e) < 0)
		return -1;
	const struct running_at *list = where_list(a);
	const struct running_at *found = serving(list, directory, config->socket);
	if (found) {
		use(config, found);
		return 0;
	}
	*ret = WHERE_HISTORY;
	if (q->history && sidecar_find_history(directory, workspace))
		return 0;
	*ret = WHERE_USUAL;
	return list || q->history ? fail(q, list, directory, e) : 0;
}

int where_check(const struct where_asked *q, struct sidecar *s, struct sidecar_error *error)
{
	AUTO_ARENA a = { .max = LIMIT_ANSWER };
	char directory[SIDECAR_PATH_MAX];
	const struct json *facts = &json_empty;
	struct err e;
	struct sidecar_health *h = sidecar_health(s, error);

	if (!h)
		return -1;
	const bool known = json_parse((struct str){ h->json, h->length }, &a, &facts, &e) == 0;
	const struct str workspace = json_text(facts, STR("workspace"));
	const bool serves = known && find_directory(q, directory, &e) == 0 &&
			    where_holds(workspace, str_of(directory));
	if (!serves) {
		(void)snprintf(error->code, sizeof error->code, "%s", err_name(ERR_NOT_READY));
		(void)snprintf(error->message, sizeof error->message,
			       "The sidecar at %s serves %.*s, and not this directory. Go there, "
			       "or name the sidecar with --socket.",
			       sidecar_address(s), STR_FMT(workspace));
	}
	sidecar_free(h);
	return serves ? 0 : -1;
}
