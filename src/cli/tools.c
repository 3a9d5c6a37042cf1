/* SPDX-License-Identifier: MIT */
/* tools: print what GET /tools answers, without a server, or the manual of the tools. */

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "tools/manual.h"
#include "tools/schema.h"

struct tools_args {
	const char *format, *set;
	bool markdown, mdoc;
};

static const struct option tools_options[] = {
	{ "format", 'f', OPTION_WORD, offsetof(struct tools_args, format), NULL,
	  "the API they are for (default ollama)", schema_formats },
	{ "set", 0, OPTION_WORD, offsetof(struct tools_args, set), NULL,
	  "five tools for small models, or all (default: depends on the format)", schema_sets },
	{ "markdown", 0, OPTION_SWITCH, offsetof(struct tools_args, markdown), NULL,
	  "print a page to read instead" },
	{ "mdoc", 0, OPTION_SWITCH, offsetof(struct tools_args, mdoc), NULL,
	  "print the list for the manual sidecar(1)" },
	OPTION_END,
};

static int tools_run(struct cli *c, const void *args)
{
	const struct tools_args *a = args;
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);
	struct schema_offer offer;
	struct err e;

	if (c->json && (a->markdown || a->mdoc))
		return cli_misused(c, "--json cannot be used with --markdown or --mdoc");
	if (a->markdown) {
		manual_write_markdown(&out);
	} else if (a->mdoc) {
		manual_write_mdoc(&out);
	} else {
		if (schema_choose(str_of(a->format), str_of(a->set), 0, &offer, &e) < 0)
			return cli_misused(c, "%s", e.msg);
		schema_write(&w, NULL, &offer);
		buf_addc(&out, '\n');
	}
	cli_print(buf_str(&out));
	return EXIT_OK;
}

const struct verb verb_tools = {
	.name = "tools",
	.about = "print the definitions of the tools for models",
	.operands = "",
	.examples = "  sidecar tools\n"
		    "  sidecar tools --format anthropic --set full\n"
		    "  sidecar tools --markdown\n",
	.options = tools_options,
	.args_size = sizeof(struct tools_args),
	.flags = VERB_PRINTS,
	.run = tools_run,
};
