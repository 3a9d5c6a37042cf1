/* SPDX-License-Identifier: MIT */
/* tools: the tools for models: `tools` prints what GET /tools answers, without a server, or their
 * manual; `call` calls one by its name, with arguments as JSON or as words. */

#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "tools/schema.h"
#include "tools/tool.h"

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
		schema_write_markdown(&out);
	} else if (a->mdoc) {
		schema_write_mdoc(&out);
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

/* Write an object with a member for each NAME=TEXT and NAME:=JSON. 0, or the exit status. */
static int write_members(const struct cli *c, struct jw *w)
{
	jw_object(w, NULL);
	for (int i = 1; i < c->argc; i++) {
		char name[128];
		struct str key, value;
		if (!str_cut(str_of(c->argv[i]), '=', &key, &value) || key.n == 0 ||
		    key.n >= sizeof name)
			return cli_misused(c, "\"%s\" is neither JSON, nor @FILE, nor NAME=VALUE",
					   c->argv[i]);
		const bool raw = key.n > 1 && key.p[key.n - 1] == ':';
		(void)snprintf(name, sizeof name, "%.*s", STR_FMT(str_upto(key, key.n - raw)));
		if (raw)
			jw_raw(w, name, value);
		else
			jw_str(w, name, value);
	}
	jw_end(w);
	return EXIT_OK;
}

/* Get the arguments as JSON text with a final NUL byte. 0, or the exit status. */
static int get_arguments(const struct cli *c, struct buf *to)
{
	const char *first = c->argc > 1 ? c->argv[1] : "";
	struct jw w = jw_to(to);
	int status = EXIT_OK;

	if (c->argc == 2 && (strcmp(first, "-") == 0 || *first == '@'))
		status = cli_read_input(c, *first == '@' ? first + 1 : first, to) < 0 ? EXIT_FAILED
										      : EXIT_OK;
	else if (c->argc == 2 && *first == '{')
		buf_add(to, str_of(first));
	else
		status = write_members(c, &w);
	buf_addc(to, '\0');
	return status;
}

static int check_name(const struct cli *c)
{
	struct near near = near_to(str_of(c->argv[0]));

	if (tool_by_name(str_of(c->argv[0]), TOOL_MODEL))
		return EXIT_OK;
	for (size_t i = 0; tool_at(i); i++)
		if (tool_at(i)->flags & TOOL_MODEL)
			near_try(&near, tool_at(i)->name);
	/* A newer server may have more tools: refuse only what looks like a typing error. */
	return near.best ? cli_misused(c, "there is no tool \"%s\"; did you mean \"%s\"?",
				       c->argv[0], near.best)
			 : EXIT_OK;
}

static int call_run(struct cli *c, const void *args)
{
	AUTO_BUF arguments = { .max = LIMIT_BODY };
	struct sidecar_error error;
	int status = check_name(c);

	(void)args;
	if (status == EXIT_OK)
		status = get_arguments(c, &arguments);
	if (status != EXIT_OK)
		return status;
	struct sidecar_observation *seen =
		sidecar_call_tool(c->server, c->argv[0], arguments.p, &error);
	if (!seen)
		return cli_fail(c, &error);
	cli_print((struct str){ seen->json, seen->length });
	cli_print(STR("\n"));
	status = seen->success ? EXIT_OK : cli_status(seen->code ? seen->code : "");
	sidecar_free(seen);
	return status;
}

const struct verb verb_call = {
	.name = "call",
	.about = "call a tool as a model would, and print the observation",
	.operands = "TOOL [JSON | - | @FILE | NAME=TEXT... | NAME:=JSON...]",
	.examples = "  sidecar call read_file path=src/main.c\n"
		    "  sidecar call search_files pattern=main context:=2\n"
		    "  sidecar call run_command '{\"command\":\"make\"}'\n"
		    "  echo '{\"path\":\".\"}' | sidecar call list_directory -\n",
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.least = 1,
	.most = -1,
	.kind = OPERANDS_CALL,
	.run = call_run,
};
