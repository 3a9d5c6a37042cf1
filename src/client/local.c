/* SPDX-License-Identifier: MIT */
/* local: the routes of a sidecar, carried out where they are asked for. */

#include "client/local.h"

#include "api/observation.h"
#include "api/reply.h"
#include "api/wire.h"
#include "base/io.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/own.h"
#include "service/executor.h"
#include "service/facts.h"
#include "net/http_url.h"
#include "tools/schema.h"

struct local {
	struct executor executor;
	struct service service; /* only what takes secrets out of observations */
	struct buf address, facts;
	int64_t started_ms;
};

static void config_of(const struct sidecar_settings *s, struct config *ret)
{
	config_defaults(ret);
	ret->workspace = s->local->workspace_root;
	ret->data_dir = s->local->data_dir;
	ret->allowed_root = s->local->allowed_root;
	ret->allow_outside = s->local->allow_outside;
	ret->program = s->program ? s->program : "sidecar";
}

struct local *local_new(const struct sidecar_settings *settings, struct err *e)
{
	struct local *l = mem_new(1, sizeof *l);
	struct config config;

	if (!settings->local->workspace_root) {
		(void)err_set(e, ERR_INVALID_CONFIG, "A local executor needs a workspace root");
		mem_free(l);
		return NULL;
	}
	config_of(settings, &config);
	if (!l || executor_init(&config, &l->executor, e) < 0) {
		if (!l)
			(void)err_set(e, ERR_TOO_BUSY, "Not enough memory for the executor");
		mem_free(l);
		return NULL;
	}
	const struct facts facts = {
		.config = &config,
		.ws = l->executor.ws,
		.sandbox = &l->executor.report,
		.socket = "",
	};
	l->service.scrub = l->executor.scrub;
	l->facts.max = LIMIT_FACTS;
	l->address.max = 8 << 10;
	l->started_ms = io_now_ms();
	facts_write(&facts, &l->facts);
	buf_addf(&l->address, "local:%s", ws_rules(l->executor.ws)->root.p);
	buf_addc(&l->address, '\0');
	if (!l->facts.failed && !l->address.failed)
		return l;
	(void)err_set(e, ERR_TOO_BUSY, "Not enough memory for the executor");
	local_free(l);
	return NULL;
}

void local_free(struct local *l)
{
	if (!l)
		return;
	executor_done(&l->executor);
	buf_done(&l->facts);
	buf_done(&l->address);
	mem_free(l);
}

const char *local_address(const struct local *l)
{
	return l->address.p;
}

static void health(const struct local *l, struct answer *ret)
{
	struct jw w = jw_to(&ret->body);

	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_str(&w, "version", STR(SIDECAR_VERSION));
	jw_int(&w, "uptimeMs", io_now_ms() - l->started_ms);
	buf_addc(&ret->body, ',');
	buf_add(&ret->body, buf_str(&l->facts));
	jw_end(&w);
}

static void refuse(struct answer *ret, const struct err *e)
{
	ret->status = 400;
	wire_error(&ret->body, e);
}

static void definitions(struct str query, struct answer *ret)
{
	struct jw w = jw_to(&ret->body);
	struct str format = STR(""), set = STR("");
	char room[2][64];
	struct err e;

	(void)http_query(query, STR("format"), room[0], sizeof room[0], &format);
	(void)http_query(query, STR("set"), room[1], sizeof room[1], &set);
	if (schema_write_named(&w, format, set, 0, &e) < 0)
		refuse(ret, &e);
}

/* A stream of output on its way to the request's taker, in the lines a sidecar would send. */
struct lines {
	const struct request *q;
	struct answer *answer;
	struct err *e; /* what the taker said … */
	bool refused;  /* … when it wants no more */
};

static int send_line(struct lines *l)
{
	struct buf *line = &l->answer->body;

	if (!l->refused && !line->failed && l->q->piece(l->q->arg, buf_str(line), l->e) < 0)
		l->refused = true;
	buf_reset(line, SIZE_MAX);
	return l->refused ? -1 : 0;
}

static int begin(void *arg)
{
	struct lines *l = arg;

	l->answer->streamed = true;
	return 0;
}

static int emit(void *arg, bool is_stderr, struct str text)
{
	struct lines *l = arg;

	wire_output_line(&l->answer->body, is_stderr, text);
	return send_line(l);
}

static bool is_cancelled(const struct request *q)
{
	return cancel_asked(q->cancel);
}

/* Run a command. What it says goes to the taker; 0, or -1 when that ended it or it was called off.
 */
static int stream_call(const struct tool *t, struct call *c, const struct json *object,
		       const struct request *q, struct answer *ret, struct err *e)
{
	struct lines lines = { .q = q, .answer = ret, .e = e };
	const struct call_stream stream = { .begin = begin, .emit = emit, .arg = &lines };
	struct err failure = { .code = ERR_NONE };
	char members[512];
	struct buf result = buf_over(members, sizeof members);
	struct jw w = jw_members_to(&result);

	c->stream = &stream;
	c->out = &w;
	if (tool_call(t, c, object, &failure) < 0 && !ret->streamed) {
		refuse(ret, &failure);
		return 0;
	}
	if (is_cancelled(q))
		return err_set(e, ERR_CANCELLED, "The call was cancelled");
	if (lines.refused)
		return -1;
	wire_last_line(&ret->body, buf_str(&result), &failure);
	return send_line(&lines);
}

static int call_wire(struct local *l, struct arena *arena, const struct json *object,
		     const struct request *q, struct answer *ret, struct err *e)
{
	const struct tool *t = tool_by_name(str_of(q->target + 1), TOOL_WIRE);
	struct call c = l->executor.call;
	struct err failure;

	if (!t)
		return err_set(e, ERR_INVALID_ARGUMENTS, "There is no %s", q->target);
	c.arena = arena;
	c.session = json_text(object, STR("sessionId"));
	c.cancel = q->cancel;
	if (t->flags & TOOL_STREAM)
		return stream_call(t, &c, object, q, ret, e);
	const struct call_progress progress = { .seen = q->seen, .arg = q->seen_arg };
	c.progress = &progress;
	if (wire_result(&ret->body, t, &c, object, &failure) < 0)
		ret->status = 400;
	return 0;
}

static void call_model(struct local *l, struct arena *arena, const struct json *object,
		       struct answer *ret)
{
	struct call c = l->executor.model_call;
	struct model_call m = { .name = STR("") };
	const struct tool *t = NULL;
	struct err e;

	reply_read(object, arena, &m, &e);
	if (m.arguments && observation_tool(m.name, &t, &e) < 0)
		t = NULL;
	c.arena = arena;
	c.session = m.session;
	(void)observation_write(&l->service, &c, t, m.name, m.arguments, &ret->body, &e);
}

int local_call(struct local *l, const struct request *q, struct answer *ret, struct err *e)
{
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	const struct json *object;
	struct str path, query;

	*ret = (struct answer){ .status = 200, .body = ret->body };
	buf_reset(&ret->body, SIZE_MAX);
	(void)str_cut(str_of(q->target), '?', &path, &query);
	if (!q->body.p && str_eq(path, STR("/health"))) {
		health(l, ret);
		return 0;
	}
	if (!q->body.p) {
		definitions(query, ret);
		return 0;
	}
	if (json_parse(q->body, &arena, &object, e) < 0)
		return -1;
	if (!str_eq(path, STR("/tools")))
		return call_wire(l, &arena, object, q, ret, e);
	call_model(l, &arena, object, ret);
	return 0;
}
