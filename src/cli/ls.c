/* SPDX-License-Identifier: MIT */
/* ls: print the names in a directory. */

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_ls_args {
	int64_t limit;
};

static const struct option ls_options[] = {
	{ "limit", 'n', OPTION_NUMBER, offsetof(struct cli_ls_args, limit), "NUMBER",
	  "print at most this many names (default 500)" },
	OPTION_END,
};

static void print_json(struct str rest, bool truncated)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);
	struct str line;

	jw_object(&w, NULL);
	jw_array(&w, "names");
	while (rest.n) {
		(void)str_cut(rest, '\n', &line, &rest);
		jw_str(&w, NULL, line);
	}
	jw_end(&w);
	jw_bool(&w, "truncated", truncated);
	jw_end(&w);
	cli_print_line(&out);
}

static int ls_run(struct cli *c, const void *args)
{
	const struct cli_ls_args *a = args;
	struct sidecar_error error;
	struct sidecar_text *t =
		sidecar_ls(c->server, c->argc ? c->argv[0] : NULL, a->limit, &error);

	if (!t)
		return cli_fail(c, &error);
	/* The server says this instead of names; it is not data. */
	const struct str text = { t->content, t->length };
	const struct str names = str_eq(text, STR("(empty directory)")) ? STR("") : text;
	if (c->json) {
		print_json(names, t->truncated);
	} else if (names.n) {
		cli_print(names);
		cli_print(STR("\n"));
	}
	if (t->truncated)
		cli_say(c, "there are more; --limit shows them");
	sidecar_free(t);
	return EXIT_OK;
}

const struct verb verb_ls = {
	.name = "ls",
	.about = "list a directory of the workspace",
	.operands = "[PATH]",
	.examples = "  sidecar ls\n"
		    "  sidecar ls src --limit 20\n",
	.options = ls_options,
	.args_size = sizeof(struct cli_ls_args),
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.most = 1,
	.run = ls_run,
};
