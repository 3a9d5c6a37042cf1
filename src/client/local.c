/* SPDX-License-Identifier: MIT */
/* local: a sidecar's routes, in the process of its client. */

#include "client/client.h"

#include <stdio.h>
#include <string.h>

#include "api/routes.h"
#include "base/limits.h"
#include "base/own.h"
#include "service/health.h"
#include "workspace/workspace.h"

struct local {
	struct config config;
	bool history_only;
	struct service service;
	struct front front;
	struct buf address;
};

/* What changes of a workspace are kept is looked at as the settings of servers say. */
static int config_of_history(const struct sidecar_options *o, struct config *ret, struct err *e)
{
	if (config_load_client(ret, e) < 0)
		return -1;
	ret->workspace = o->workspace_root;
	ret->data_dir = ret->allowed_root = ret->audit = NULL;
	ret->guest = true;
	return 0;
}

static void config_of(const struct sidecar_settings *s, struct config *ret)
{
	config_defaults(ret);
	ret->journal = "off"; /* the host's process leaves no traces */
	ret->workspace = s->local->workspace_root;
	ret->data_dir = s->local->data_dir;
	ret->allowed_root = s->local->allowed_root;
	ret->allow_outside = s->local->allow_outside;
	ret->program = s->program ? s->program : "sidecar";
}

static int start(struct local *l, const struct sidecar_settings *settings, struct err *e)
{
	struct config *config = &l->config;

	if (!settings->local->workspace_root)
		return err_set(e, ERR_INVALID_CONFIG, "A local executor needs a workspace root");
	l->history_only = settings->local->history_only;
	if (!l->history_only)
		config_of(settings, config);
	else if (config_of_history(settings->local, config, e) < 0)
		return -1;
	if (service_init(&l->service, config, e) < 0 ||
	    health_record(&l->service, config, &(struct listening){ 0 }, e) < 0)
		return -1;
	l->service.quiet = true; /* standard error is the host's */
	l->front.service = &l->service;
	l->address.max = 8 << 10;
	buf_addf(&l->address, "local:%s", ws_rules(l->service.ws)->root.p);
	buf_addc(&l->address, '\0');
	return l->address.failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory for the executor")
				 : 0;
}

struct local *local_new(const struct sidecar_settings *settings, struct err *e)
{
	struct local *l = mem_new(1, sizeof *l);

	if (!l)
		(void)err_set(e, ERR_TOO_BUSY, "Not enough memory for the executor");
	else if (start(l, settings, e) == 0)
		return l;
	local_free(l);
	return NULL;
}

void local_free(struct local *l)
{
	if (!l)
		return;
	service_done(&l->service);
	config_done(&l->config);
	buf_done(&l->address);
	mem_free(l);
}

const char *local_address(const struct local *l)
{
	return l->address.p;
}

bool local_has_routes(const struct local *l)
{
	return l->history_only;
}

bool sidecar_find_history(const char *directory, char found[SIDECAR_PATH_MAX])
{
	struct config config = { 0 };
	struct err e;
	bool is_kept = false;

	if (snprintf(found, SIDECAR_PATH_MAX, "%s", directory) >= SIDECAR_PATH_MAX ||
	    config_load_client(&config, &e) < 0)
		*found = '\0';
	while (*found && !(is_kept = history_exists(&config, str_of(found)))) {
		char *slash = strrchr(found, '/');
		if (slash == found && slash[1])
			slash++; /* "/" itself may be one */
		*(slash ? slash : found) = '\0';
	}
	config_done(&config);
	return is_kept;
}

struct journal_visit {
	sidecar_journal_visitor *visit;
	void *arg;
};

static bool visit_journal(void *arg, const char *place, const struct home_facts *f)
{
	const struct journal_visit *v = arg;
	char directory[SIDECAR_PATH_MAX];

	(void)snprintf(directory, sizeof directory, "%s/%s", place, f->name);
	return v->visit(v->arg, &(struct sidecar_journal){ .workspace = f->workspace,
							   .directory = directory,
							   .bytes = f->bytes,
							   .changes = f->changes,
							   .last_used = f->newest_s,
							   .is_gone = f->is_gone,
							   .is_used = f->is_used });
}

int sidecar_journals(sidecar_journal_visitor *visit, void *arg, struct sidecar_error *error)
{
	struct config config = { 0 };
	struct err e;
	const int rc = config_load_client(&config, &e);

	if (rc == 0)
		history_visit(&config, visit_journal, &(struct journal_visit){ visit, arg });
	else
		client_error(error, &e);
	config_done(&config);
	return rc;
}

/* An answer on its way to the caller's memory. */
struct delivery {
	const struct request *q;
	struct answer *answer;
	struct err *e; /* what the taker of a stream said … */
	bool refused;  /* … when it wants no more */
};

static void deliver(struct exchange *x, const struct http_answer *answer)
{
	struct delivery *d = x->to;

	d->answer->status = answer->status;
	/* Most answers have been built where the caller wants them. */
	if (answer->body.p != d->answer->body.p) {
		buf_reset(&d->answer->body, SIZE_MAX);
		buf_add(&d->answer->body, answer->body);
	}
}

static int stream_begin(struct exchange *x, const char *type, const char *extra)
{
	struct delivery *d = x->to;

	(void)type;
	(void)extra;
	d->answer->streamed = true;
	return 0;
}

static int stream_write(struct exchange *x, struct str piece)
{
	struct delivery *d = x->to;

	/* A caller that cancelled is told that, not how the command was ended. */
	if (cancel_asked(d->q->cancel))
		return -1;
	if (!d->refused && d->q->piece(d->q->arg, piece, d->e) < 0)
		d->refused = true;
	return d->refused ? -1 : 0;
}

static void stream_end(struct exchange *x)
{
	(void)x;
}

static bool is_ready(struct exchange *x)
{
	(void)x;
	return true;
}

static void tell_seen(struct exchange *x, int64_t files)
{
	const struct delivery *d = x->to;

	d->q->seen(d->q->seen_arg, files);
}

static const struct exchange_outlet into_memory = {
	.send = deliver,
	.stream_begin = stream_begin,
	.stream_write = stream_write,
	.stream_end = stream_end,
	.is_ready = is_ready,
	.tell_seen = tell_seen,
};

/* The request as the routes know it. */
static void make_request(const struct request *q, struct http_request *ret)
{
	struct http_head *h = &ret->head;

	*h = (struct http_head){ .method = q->body.p ? HTTP_POST : HTTP_GET };
	(void)str_cut(str_of(q->target), '?', &h->path, &h->query);
	h->headers[h->header_count++] =
		(struct http_header){ STR("content-type"), STR("application/json") };
	if (q->seen)
		h->headers[h->header_count++] =
			(struct http_header){ STR("sidecar-progress"), STR("1") };
	if (q->hints)
		h->headers[h->header_count++] =
			(struct http_header){ STR("sidecar-hints"), STR("1") };
	ret->body = q->body;
}

int local_call(struct local *l, const struct request *q, struct answer *ret, struct err *e)
{
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	struct delivery d = { .q = q, .answer = ret, .e = e };
	struct http_request request UNINITIALISED;
	struct exchange x = {
		.front = &l->front,
		.outlet = &into_memory,
		.to = &d,
		.uid = (uid_t)-1,
		.arena = &arena,
		.out = &ret->body,
		.cancel = q->cancel,
	};

	*ret = (struct answer){ .status = 200, .body = ret->body };
	buf_reset(&ret->body, SIZE_MAX);
	make_request(q, &request);
	routes_answer(&x, &request);
	if (ret->streamed && cancel_asked(q->cancel))
		return err_set(e, ERR_CANCELLED, "The call was cancelled");
	return d.refused ? -1 : 0;
}
