/* SPDX-License-Identifier: MIT */
/* observation: call a tool, take the secrets out of its result, and say how it went. */

#include "api/observation.h"

#include "base/jw.h"
#include "base/limits.h"

int observation_tool(struct str name, const struct tool **ret, struct err *e)
{
	char text[512];
	struct buf names = buf_over(text, sizeof text);

	*ret = tool_by_name(name, TOOL_MODEL);
	if (*ret)
		return 0;
	tool_names(TOOL_MODEL, &names);
	return err_set(e, ERR_UNKNOWN_TOOL, "There is no tool \"%.*s\". The tools are: %.*s",
		       STR_FMT(str_upto(name, 100)), STR_FMT(buf_str(&names)));
}

void observation_fail(struct buf *out, struct str name, const struct err *e)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_bool(&w, "success", false);
	jw_str(&w, "tool", name);
	jw_null(&w, "output");
	jw_object(&w, "error");
	jw_str(&w, "code", str_of(err_name(e->code)));
	jw_str(&w, "message", str_of(e->msg));
	jw_end(&w);
	jw_end(&w);
}

/* What takes the secrets out of one observation. */
struct cleaner {
	struct service *service;
	struct buf *out; /* of the observation: fails when a string could not be looked at */
	struct buf aside;
};

static void cleaner_done(struct cleaner *c)
{
	buf_done(&c->aside);
}

static struct str clean(void *arg, struct str value)
{
	struct cleaner *c = arg;
	const struct str text =
		scrub_text(c->service->scrub, &c->service->scrubbed, value, &c->aside);

	if (c->aside.failed)
		c->out->failed = true;
	return text;
}

static int call(struct service *s, struct call *c, const struct tool *t, struct str name,
		const struct json *arguments, struct buf *out, struct err *e)
{
	struct jw w = jw_to(out);
	CLEANUP(cleaner_done)
	struct cleaner cleaner = { .service = s, .out = out, .aside = { .max = LIMIT_ANSWER } };
	AUTO_BUF pieces = { .max = LIMIT_ANSWER };
	const struct jw_filter filter = { .apply = clean, .arg = &cleaner, .pieces = &pieces };

	c->out = &w;
	jw_object(&w, NULL);
	jw_bool(&w, "success", true);
	jw_str(&w, "tool", name);
	jw_object(&w, "output");
	if (t->flags & TOOL_SCRUB && s->scrub)
		jw_set_filter(&w, &filter);
	if (tool_call(t, c, arguments, e) < 0)
		return -1;
	jw_end(&w);
	jw_null(&w, "error");
	jw_end(&w);
	return out->failed
		       ? err_set(e, ERR_EXECUTION_ERROR, "The answer is too large: ask for less")
		       : 0;
}

bool observation_write(struct service *s, struct call *c, const struct tool *t, struct str name,
		       const struct json *arguments, struct buf *out, struct err *e)
{
	if (t && call(s, c, t, name, arguments, out, e) == 0)
		return true;
	buf_reset(out, SIZE_MAX);
	observation_fail(out, name, e);
	return false;
}
