/* SPDX-License-Identifier: MIT */
/* ls: print the names in a directory. */

#include "base/jw.h"
#include "cli/cli.h"
#include "tools/limits.h"

struct cli_ls_args {
	int64_t limit;
};

static const struct option ls_options[] = {
	{ "limit", 'm', OPTION_NUMBER, offsetof(struct cli_ls_args, limit), "NUMBER",
	  "print at most this many names (default: all)" },
	OPTION_END,
};

/* Add the names of one answer, at most `most`. Returns how many it had. */
static int64_t add_names(const struct cli *c, struct str rest, int64_t most, struct buf *lines,
			 struct jw *w)
{
	int64_t n = 0;

	for (; rest.n; n++) {
		struct str line;
		(void)str_cut(rest, '\n', &line, &rest);
		if (n >= most)
			continue;
		if (c->json) {
			jw_str(w, NULL, line);
		} else {
			cli_add_name(lines, line);
			buf_addc(lines, '\n');
		}
	}
	return n;
}

/* Add all names, answer by answer. `limit` 0: no limit. Returns the exit status. */
static int add_all(struct cli *c, int64_t limit, struct buf *lines, struct jw *w, bool *more)
{
	AUTO_BUF body = { .max = LIMIT_BODY };
	const char *path = cli_path(c, c->argc ? c->argv[0] : NULL);
	int64_t n, done = 0;

	do {
		AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
		/* The answer does not say whether there are more names: ask for one more. */
		const int64_t left = limit ? limit - done : LIMIT_HEAD_LINES;
		struct jw q = jw_to(&body);
		int status;
		buf_reset(&body, SIZE_MAX);
		jw_object(&q, NULL);
		if (path)
			jw_str(&q, "path", str_of(path));
		jw_int(&q, "limit", left + 1);
		jw_int(&q, "offset", done);
		jw_end(&q);
		buf_addc(&body, '\0');
		const struct json *result = cli_request(c, "POST", "/ls", &body, &memory, &status);
		if (!result)
			return status;
		const struct str text = json_text(result, STR("output"));
		/* The server says this instead of names; it is not data. */
		n = add_names(c, str_eq(text, STR("(empty directory)")) ? STR("") : text, left,
			      lines, w);
		*more = n > left;
		done += n > left ? left : n;
		*more |= json_get(result, STR("truncation")) != NULL;
	} while (*more && n && (!limit || done < limit));
	return EXIT_OK;
}

static int ls_run(struct cli *c, const void *args)
{
	const struct cli_ls_args *a = args;
	AUTO_BUF lines = { .max = LIMIT_ANSWER };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);
	bool more = false;

	jw_object(&w, NULL);
	jw_array(&w, "names");
	const int status = add_all(c, a->limit, &lines, &w, &more);
	if (status != EXIT_OK)
		return status;
	jw_end(&w);
	jw_bool(&w, "truncated", more);
	jw_end(&w);
	if (c->json)
		cli_print_line(&out);
	else
		cli_print(buf_str(&lines));
	if (more)
		cli_say(c, "there are more; --limit shows them");
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
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.most = 1,
	.kind = OPERANDS_PATHS,
	.run = ls_run,
};
