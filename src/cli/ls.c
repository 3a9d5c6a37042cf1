/* SPDX-License-Identifier: MIT */
/* ls: names: `ls` prints those in a directory, `find` the files and directories that match a glob,
 * all of them, page by page. */

#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "tools/limits.h"

struct cli_ls_args {
	int64_t limit;
	const char *type;
	bool habit;
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

static void write_ls(struct str path, int64_t limit, int64_t offset, struct buf *body)
{
	struct jw w = jw_to(body);

	buf_reset(body, SIZE_MAX);
	jw_object(&w, NULL);
	if (path.n)
		jw_str(&w, "path", path);
	jw_int(&w, "limit", limit);
	jw_int(&w, "offset", offset);
	jw_end(&w);
}

/* Whether what is not a directory is the path itself, not a part of it: what it is in can be
 * listed. */
static bool is_file(const struct cli *c, const char *path)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	AUTO_BUF body = { .max = LIMIT_BODY };
	const char *name = strrchr(path, '/');
	struct sidecar_error error;

	if (name && !name[1])
		return false;
	write_ls((struct str){ path, name ? (size_t)(name - path) : 0 }, 1, 0, &body);
	return cli_ask(c, "POST", "/ls", &body, &memory, &error);
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
		struct sidecar_error error;
		write_ls(str_of(path ? path : ""), left + 1, done, &body);
		const struct json *result = cli_ask(c, "POST", "/ls", &body, &memory, &error);
		/* A file is listed by its name, as everywhere. */
		if (!result && path && strcmp(error.code, "NOT_A_DIRECTORY") == 0 &&
		    is_file(c, path)) {
			(void)add_names(c, str_of(c->argv[0]), 1, lines, w);
			return EXIT_OK;
		}
		if (!result)
			return cli_fail(c, &error);
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
	.about = "list a directory of the workspace; a file by its name",
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

/* The letters are those of find and fd; the server knows the words. */
static const char *const find_types[] = { "f", "file", "d", "directory", "l", "link", NULL };

static const struct option find_options[] = {
	{ "limit", 'm', OPTION_NUMBER, offsetof(struct cli_ls_args, limit), "NUMBER",
	  "print at most this many paths (default: all)" },
	{ "type", 't', OPTION_WORD, offsetof(struct cli_ls_args, type), NULL,
	  "print only files, directories or symbolic links", find_types },
	{ "hidden", 'H', OPTION_SWITCH, offsetof(struct cli_ls_args, habit), NULL,
	  "changes nothing: names that begin with a dot are always found" },
	OPTION_END,
};

static void write_request(const struct cli *c, const char *type, const char *path,
			  struct str cursor, int64_t limit, struct buf *body)
{
	struct jw w = jw_to(body);

	buf_reset(body, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "pattern", str_of(c->argv[0]));
	if (path)
		jw_str(&w, "path", str_of(path));
	for (size_t i = 1; type && find_types[i - 1]; i += 2)
		if (*type == *find_types[i])
			jw_str(&w, "type", str_of(find_types[i]));
	jw_int(&w, "limit", limit);
	jw_str(&w, "cursor", cursor);
	jw_end(&w);
}

/* Print the paths of a page. Returns how many there are. */
static int64_t print_page(struct cli *c, const struct json *page, int64_t before, struct jw *w)
{
	const struct json *files = json_items(page, STR("files"));
	AUTO_BUF path = { .max = LIMIT_ANSWER };
	AUTO_BUF lines = { .max = LIMIT_ANSWER };
	int64_t n = 0;

	cli_add_prefix(c->argc > 1 ? c->argv[1] : NULL, &path);
	const size_t prefix = path.n;
	if (isatty(STDOUT_FILENO) && files)
		(void)cli_progress_end(c);
	for (const struct json *f = files; f; f = f->next, n++) {
		path.n = prefix;
		buf_add(&path, f->string);
		if (c->json) {
			jw_str(w, NULL, buf_str(&path));
		} else {
			cli_add_name(&lines, buf_str(&path));
			buf_addc(&lines, '\n');
		}
	}
	progress_pause(c->progress, false);
	cli_print(c->json ? buf_str(jw_buf(w)) : buf_str(&lines));
	if (c->json)
		buf_reset(jw_buf(w), SIZE_MAX);
	return before + n;
}

/* Print everything that matches. Returns the exit status; *found is how many, *more whether a limit
 * ended it. */
static int print_all(struct cli *c, const struct cli_ls_args *a, struct jw *w, int64_t *found,
		     bool *more)
{
	const int64_t limit = a->limit;
	AUTO_BUF body = { .max = LIMIT_BODY };
	AUTO_BUF cursor = { .max = LIMIT_BODY };
	const char *path = cli_path(c, c->argc > 1 ? c->argv[1] : NULL);

	for (;;) {
		AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
		const int64_t left = limit ? limit - *found : LIMIT_FIND_MOST;
		int status;
		write_request(c, a->type, path, buf_str(&cursor),
			      left < LIMIT_FIND_MOST ? left : LIMIT_FIND_MOST, &body);
		const struct json *page = cli_request(c, "POST", "/find", &body, &memory, &status);
		if (!page)
			return status;
		*found = print_page(c, page, *found, w);
		*more = json_is_true(page, STR("truncated"));
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
	const struct cli_ls_args *a = args;
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);
	int64_t found = 0;
	bool more = false;

	jw_object(&w, NULL);
	jw_array(&w, "paths");
	cli_progress_begin(c, c->argv[0], "files");
	const int status = print_all(c, a, &w, &found, &more);
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
		    "  sidecar find 'test_*.py' tests --limit 10\n"
		    "  sidecar find -t d 'node_modules'\n",
	.options = find_options,
	.args_size = sizeof(struct cli_ls_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.least = 1,
	.most = 2,
	.kind = OPERANDS_PATTERN,
	.run = find_run,
};
