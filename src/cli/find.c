/* SPDX-License-Identifier: MIT */
/* find: print the files and directories that match a glob. */

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_find_args {
	int64_t limit;
};

static const struct option find_options[] = {
	{ "limit", 'n', OPTION_NUMBER, offsetof(struct cli_find_args, limit), "NUMBER",
	  "print at most this many paths (default 1000)" },
	OPTION_END,
};

static void print(const struct cli *c, const struct sidecar_names *found)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	AUTO_BUF path = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);

	cli_add_prefix(c->argc > 1 ? c->argv[1] : NULL, &path);
	const size_t prefix = path.n;
	if (c->json) {
		jw_object(&w, NULL);
		jw_array(&w, "paths");
	}
	for (size_t i = 0; i < found->count; i++) {
		path.n = prefix;
		buf_add(&path, str_of(found->names[i]));
		if (c->json)
			jw_str(&w, NULL, buf_str(&path));
		else
			buf_addf(&out, "%.*s\n", STR_FMT(buf_str(&path)));
	}
	if (!c->json) {
		cli_print(buf_str(&out));
		return;
	}
	jw_end(&w);
	jw_bool(&w, "truncated", found->truncated);
	jw_end(&w);
	cli_print_line(&out);
}

static int find_run(struct cli *c, const void *args)
{
	const struct cli_find_args *a = args;
	struct sidecar_error error;

	cli_progress_begin(c, c->argv[0], "files");
	struct sidecar_names *found = sidecar_find(
		c->server, c->argv[0], c->argc > 1 ? c->argv[1] : NULL, a->limit, &error);
	cli_progress_end(c);
	if (!found)
		return cli_fail(c, &error);
	print(c, found);
	if (found->truncated)
		cli_say(c, "there are more; --limit shows them");
	const bool any = found->count > 0;
	if (!any && !c->json)
		cli_say(c, "No files found");
	sidecar_free(found);
	return any ? EXIT_OK : EXIT_FAILED;
}

const struct verb verb_find = {
	.name = "find",
	.about = "find files by a glob; skips what .gitignore hides",
	.operands = "GLOB [PATH]",
	.examples = "  sidecar find '*.c'\n"
		    "  sidecar find 'test_*.py' tests --limit 10\n",
	.options = find_options,
	.args_size = sizeof(struct cli_find_args),
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.least = 1,
	.most = 2,
	.run = find_run,
};
