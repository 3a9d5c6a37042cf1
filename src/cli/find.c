/* SPDX-License-Identifier: MIT */
/* find: print the files and directories that match a glob: all of them, page by page. */

#include <unistd.h>

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_find_args {
	int64_t limit;
};

static const struct option find_options[] = {
	{ "limit", 'm', OPTION_NUMBER, offsetof(struct cli_find_args, limit), "NUMBER",
	  "print at most this many paths (default: all)" },
	OPTION_END,
};

static void write_request(const struct cli *c, const char *path, struct str cursor, int64_t limit,
			  struct buf *body)
{
	struct jw w = jw_to(body);

	buf_reset(body, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "pattern", str_of(c->argv[0]));
	if (path)
		jw_str(&w, "path", str_of(path));
	jw_int(&w, "limit", limit);
	jw_str(&w, "cursor", cursor);
	jw_end(&w);
	buf_addc(body, '\0');
}

/* Print the paths of a page. Returns how many there are. */
static int64_t print_page(struct cli *c, const struct json *page, int64_t before, struct jw *w)
{
	const struct json *files = json_get(page, STR("files"));
	AUTO_BUF path = { .max = LIMIT_ANSWER };
	AUTO_BUF lines = { .max = LIMIT_ANSWER };
	int64_t n = 0;

	cli_add_prefix(c->argc > 1 ? c->argv[1] : NULL, &path);
	const size_t prefix = path.n;
	if (isatty(STDOUT_FILENO) && files && files->first)
		(void)cli_progress_end(c);
	for (const struct json *f = files ? files->first : NULL; f; f = f->next, n++) {
		path.n = prefix;
		buf_add(&path, f->string);
		if (c->json) {
			jw_str(w, NULL, buf_str(&path));
		} else {
			cli_add_name(&lines, buf_str(&path));
			buf_addc(&lines, '\n');
		}
	}
	progress_hide(c->progress);
	cli_print(c->json ? buf_str(jw_buf(w)) : buf_str(&lines));
	if (c->json)
		buf_reset(jw_buf(w), SIZE_MAX);
	return before + n;
}

/* Print everything that matches. Returns the exit status; *found is how many, *more whether a limit
 * ended it. */
static int print_all(struct cli *c, int64_t limit, struct jw *w, int64_t *found, bool *more)
{
	AUTO_BUF body = { .max = LIMIT_BODY };
	AUTO_BUF cursor = { .max = LIMIT_BODY };
	const char *path = cli_path(c, c->argc > 1 ? c->argv[1] : NULL);

	for (;;) {
		AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
		const int64_t left = limit ? limit - *found : LIMIT_FIND_MOST;
		int status;
		write_request(c, path, buf_str(&cursor),
			      left < LIMIT_FIND_MOST ? left : LIMIT_FIND_MOST, &body);
		const struct json *page = cli_request(c, "POST", "/find", &body, &memory, &status);
		if (!page)
			return status;
		*found = print_page(c, page, *found, w);
		*more = cli_truth(page, STR("truncated"));
		const struct str next = json_text(page, STR("nextCursor"));
		if (*more && !next.n) {
			cli_say(c, "the search took too long and was stopped: there may be more");
			return EXIT_TIMED_OUT;
		}
		if (!*more || (limit && *found >= limit))
			return EXIT_OK;
		buf_reset(&cursor, SIZE_MAX);
		buf_add(&cursor, next);
	}
}

static int find_run(struct cli *c, const void *args)
{
	const struct cli_find_args *a = args;
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);
	int64_t found = 0;
	bool more = false;

	jw_object(&w, NULL);
	jw_array(&w, "paths");
	cli_progress_begin(c, c->argv[0], "files");
	const int status = print_all(c, a->limit, &w, &found, &more);
	(void)cli_progress_end(c);
	if (status != EXIT_OK && status != EXIT_TIMED_OUT)
		return status;
	if (c->json) {
		jw_end(&w);
		jw_bool(&w, "truncated", more);
		jw_end(&w);
		cli_print_line(&out);
	} else if (!found && status == EXIT_OK) {
		cli_say(c, "No files found");
	} else if (more && status == EXIT_OK) {
		cli_say(c, "there are more; --limit shows them");
	}
	return status ? status : found ? EXIT_OK : EXIT_FAILED;
}

const struct verb verb_find = {
	.name = "find",
	.about = "find files by a glob; skips what .gitignore hides",
	.operands = "GLOB [PATH]",
	.examples = "  sidecar find '*.c'\n"
		    "  sidecar find 'test_*.py' tests --limit 10\n",
	.options = find_options,
	.args_size = sizeof(struct cli_find_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.least = 1,
	.most = 2,
	.kind = OPERANDS_PATTERN,
	.run = find_run,
};
