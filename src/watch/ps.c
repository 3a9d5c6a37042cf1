/* SPDX-License-Identifier: MIT */
/* ps: `sidecar ps`, the running sidecars as a table or as JSON. */

#include "watch/watch.h"

#include "base/jw.h"
#include "base/limits.h"
#include "config/config.h"
#include "watch/running.h"

static void write_number(struct jw *w, const char *name, int64_t n)
{
	if (n < 0)
		jw_null(w, name);
	else
		jw_int(w, name, n);
}

static void write_list(const struct running *list, struct buf *out)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_array(&w, "sidecars");
	for (const struct running *r = list; r; r = r->next) {
		AUTO_BUF name = { .max = 1024 };
		subject_name(&r->target, &name);
		jw_object(&w, NULL);
		jw_int(&w, "pid", r->pid);
		jw_str(&w, "kind", r->kind);
		jw_str(&w, "workspace", r->workspace);
		jw_str(&w, "client", r->client);
		jw_str(&w, "since", r->since);
		write_number(&w, "calls", r->calls);
		write_number(&w, "running", r->under_way);
		jw_str(&w, "address", buf_str(&name));
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
}

static int ps_run(struct cli *c, const void *args)
{
	AUTO_CONFIG config = { 0 };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct err e;

	(void)args;
	if (cli_locate(c, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	const struct running *list = running_list(&c->memory, config.token);
	if (c->json)
		write_list(list, &out);
	else if (list)
		running_show(list, &out);
	else
		cli_say(c, "no sidecar of yours runs here; \"sidecar serve\" starts one");
	if (out.n)
		cli_print_line(&out);
	return EXIT_OK;
}

const struct verb verb_ps = {
	.name = "ps",
	.about = "list your running sidecars",
	.operands = "",
	.examples = "  sidecar ps\n"
		    "  sidecar ps --json\n",
	.flags = VERB_PRINTS,
	.run = ps_run,
};
