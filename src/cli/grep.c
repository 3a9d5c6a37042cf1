/* SPDX-License-Identifier: MIT */
/* grep: print the lines that match a pattern. */

#include <string.h>

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_grep_args {
	const char *glob;
	bool ignore_case, literal;
	int64_t context, limit;
};

static const struct option grep_options[] = {
	{ "glob", 'g', OPTION_TEXT, offsetof(struct cli_grep_args, glob), "GLOB",
	  "search only files that match" },
	{ "ignore-case", 'i', OPTION_SWITCH, offsetof(struct cli_grep_args, ignore_case), NULL,
	  "do not distinguish upper and lower case" },
	{ "literal", 'F', OPTION_SWITCH, offsetof(struct cli_grep_args, literal), NULL,
	  "take the pattern as plain text" },
	{ "context", 'C', OPTION_NUMBER, offsetof(struct cli_grep_args, context), "LINES",
	  "lines to print before and after each match" },
	{ "limit", 'n', OPTION_NUMBER, offsetof(struct cli_grep_args, limit), "NUMBER",
	  "print at most this many matching lines (default 100)" },
	OPTION_END,
};

/* Add the result of a search in a directory, with paths that other commands understand. */
static void add_paths(const char *directory, struct str text, struct buf *to)
{
	AUTO_BUF prefix = { .max = LIMIT_ANSWER };
	struct str line, rest = text;
	bool more = true;

	cli_add_prefix(directory, &prefix);
	while (more) {
		more = str_cut(rest, '\n', &line, &rest);
		/* A match is never an empty line; after one comes the server's notice. */
		if (line.n == 0) {
			buf_addc(to, '\n');
			buf_add(to, rest);
			return;
		}
		buf_add(to, buf_str(&prefix));
		buf_add(to, line);
		if (more)
			buf_addc(to, '\n');
	}
}

static bool is_directory(const struct cli *c, const char *path)
{
	struct sidecar_text *names = sidecar_ls(c->server, path, 1, NULL);
	const bool is = names != NULL;

	sidecar_free(names);
	return is;
}

/* Lines are data; the server's notice after them, that a limit was reached, is a message. */
static void print_lines(const struct cli *c, struct str text, bool truncated)
{
	const char *notice = truncated ? memmem(text.p, text.n, "\n\n[", 3) : NULL;
	const size_t lines = notice ? (size_t)(notice - text.p) : text.n;

	cli_print(str_upto(text, lines));
	cli_print(STR("\n"));
	if (notice)
		cli_say(c, "%.*s", STR_FMT(str_from(text, lines + 2)));
}

static void print(const struct cli *c, struct str text, bool truncated, bool nothing)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);

	if (c->json) {
		jw_object(&w, NULL);
		jw_str(&w, "content", nothing ? STR("") : text);
		jw_bool(&w, "matched", !nothing);
		jw_bool(&w, "truncated", truncated);
		jw_end(&w);
		cli_print_line(&out);
	} else if (nothing) {
		cli_say(c, "%.*s", STR_FMT(text));
	} else {
		print_lines(c, text, truncated);
	}
}

static int grep_run(struct cli *c, const void *args)
{
	const struct cli_grep_args *a = args;
	const struct sidecar_grep_options options = {
		.path = c->argc > 1 ? c->argv[1] : NULL,
		.glob = a->glob,
		.ignore_case = a->ignore_case,
		.literal = a->literal,
		.context = a->context,
		.limit = a->limit,
	};
	struct sidecar_error error;

	cli_progress_begin(c, c->argv[0], "files");
	struct sidecar_text *t = sidecar_grep(c->server, c->argv[0], &options, &error);
	cli_progress_end(c);
	if (!t)
		return cli_fail(c, &error);
	/* The server says this instead of lines; a line would begin with a path and ":". */
	const struct str text = { t->content, t->length };
	const bool nothing =
		str_starts(text, STR("No matches found")) && (text.n == 16 || text.p[16] == '\n');
	AUTO_BUF named = { .max = LIMIT_ANSWER };
	if (!nothing && options.path && is_directory(c, options.path)) {
		add_paths(options.path, text, &named);
		print(c, buf_str(&named), t->truncated, nothing);
	} else {
		print(c, text, t->truncated, nothing);
	}
	sidecar_free(t);
	return nothing ? EXIT_FAILED : EXIT_OK;
}

const struct verb verb_grep = {
	.name = "grep",
	.about = "search the contents of files, in linear time",
	.operands = "PATTERN [PATH]",
	.examples = "  sidecar grep 'int main'\n"
		    "  sidecar grep -i -C 2 --glob '*.py' 'def test_' tests\n"
		    "  sidecar grep -F 'a[0]' src/main.c\n",
	.options = grep_options,
	.args_size = sizeof(struct cli_grep_args),
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.least = 1,
	.most = 2,
	.run = grep_run,
};
