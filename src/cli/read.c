/* SPDX-License-Identifier: MIT */
/* read: print files of the workspace; a long one takes several requests. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_read_args {
	int64_t offset, limit;
	bool number;
};

static const struct option read_options[] = {
	{ "offset", 'o', OPTION_NUMBER, offsetof(struct cli_read_args, offset), "LINE",
	  "first line to print, counting from 1" },
	{ "limit", 'm', OPTION_NUMBER, offsetof(struct cli_read_args, limit), "LINES",
	  "number of lines to print (default: all)" },
	{ "number", 'n', OPTION_SWITCH, offsetof(struct cli_read_args, number), NULL,
	  "print the number of each line" },
	OPTION_END,
};

/* One file of the command line. */
struct wanted {
	const char *typed;
	const char *path; /* as the server takes it */
	struct sidecar_lines lines;
};

/* Split FILE:10-20, FILE:10- and FILE:10. False if the name does not end like that. The limit is
 * -1 if the last line comes before the first. */
static bool split_range(struct cli *c, const char *typed, struct wanted *ret)
{
	const char *colon = strrchr(typed, ':');
	struct str first, last;
	int64_t from, to;

	if (!colon || colon == typed)
		return false;
	const bool range = str_cut(str_of(colon + 1), '-', &first, &last);
	if (!str_int(first, &from) || *first.p == '-')
		return false;
	to = range ? INT64_MAX : from;
	if (last.n && !str_int(last, &to))
		return false;
	const struct str name = { typed, (size_t)(colon - typed) };
	ret->typed = arena_dup(&c->memory, name).p;
	ret->path = ret->typed ? cli_path(c, ret->typed) : NULL;
	ret->lines = (struct sidecar_lines){ from, !from || to < from ? -1
						   : to == INT64_MAX  ? 0
								      : to - from + 1 };
	return ret->path;
}

static void print_json(const struct cli *c, const struct wanted *wanted,
		       const struct sidecar_file *f)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);

	jw_object(&w, NULL);
	if (c->argc > 1)
		jw_str(&w, "path", str_of(wanted->typed));
	if (f->mime_type) {
		jw_str(&w, "mimeType", str_of(f->mime_type));
		jw_base64(&w, "data", (struct str){ f->content, f->length });
	} else {
		jw_str(&w, "content", (struct str){ f->content, f->length });
		jw_int(&w, "totalLines", f->total_lines);
		jw_bool(&w, "hasMore", f->has_more);
	}
	jw_end(&w);
	cli_print_line(&out);
}

static void print_numbered(struct str text, int64_t number)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	while (text.n) {
		struct str line;
		const bool whole = str_cut(text, '\n', &line, &text);
		buf_addf(&out, "%6" PRId64 "\t", number++);
		cli_add_text(&out, line);
		if (whole)
			buf_addc(&out, '\n');
	}
	cli_print(buf_str(&out));
}

/* Print one answer. 1: there is more to ask for, after `got` lines; 0: no more; -1: failed. */
static int print_part(const struct cli *c, const struct sidecar_file *f,
		      const struct wanted *wanted, bool number, int64_t *got)
{
	const struct sidecar_lines *part = &wanted->lines;
	const struct str text = { f->content, f->length };
	AUTO_BUF shown = { .max = SIZE_MAX };

	if (f->mime_type && isatty(STDOUT_FILENO)) {
		cli_say(c, "%s is an image (%s); redirect it to a file", wanted->typed,
			f->mime_type);
		return -1;
	}
	if (number && !f->mime_type)
		print_numbered(text, part->offset);
	else
		cli_add_text(&shown, text);
	cli_print(buf_str(&shown));
	if (f->mime_type || !f->has_more)
		return 0;
	*got = (int64_t)bytes_count(text, '\n') + 1;
	if (f->too_long) {
		cli_say(c,
			"line %" PRId64
			" is too long for an answer; try: sidecar run sed -n %" PRId64 "p %s",
			part->offset, part->offset, wanted->typed);
		return -1;
	}
	if (number && (text.n == 0 || text.p[text.n - 1] == '\n'))
		print_numbered(STR("\n"), part->offset + *got - 1);
	else
		cli_print(STR("\n"));
	return part->limit == 0 || *got < part->limit;
}

/* Print one file, part by part. Returns the exit status; *error if a request failed. */
static int print_file(const struct cli *c, struct wanted wanted, bool number,
		      struct sidecar_error *error)
{
	struct sidecar_lines *part = &wanted.lines;
	int more = 1;

	while (more == 1) {
		int64_t got = 0;
		struct sidecar_file *f = sidecar_read_file(c->server, wanted.path, part, error);
		if (!f)
			return cli_status(error->code);
		if (c->json) {
			print_json(c, &wanted, f);
			more = 0;
		} else {
			more = print_part(c, f, &wanted, number, &got);
		}
		part->offset += got;
		part->limit -= part->limit ? got : 0;
		sidecar_free(f);
	}
	return more < 0 ? EXIT_FAILED : EXIT_OK;
}

/* Print what an operand names: a file, or lines of one if there is no file of that whole name. */
static int print_operand(struct cli *c, const char *typed, const struct cli_read_args *a)
{
	struct sidecar_error error = { "", "" };
	struct wanted wanted, range;
	int status;

	wanted = (struct wanted){ typed,
				  cli_path(c, typed),
				  { a->offset > 0 ? a->offset : 1, a->limit } };
	const bool split = !a->offset && !a->limit && split_range(c, typed, &range);
	const bool has_range = split && range.lines.limit >= 0;
	status = print_file(c, has_range ? range : wanted, a->number, &error);
	if (split && !has_range && strcmp(error.code, "FILE_NOT_FOUND") == 0)
		return cli_misused(c,
				   range.lines.offset ? "%s: the last line comes before the first"
						      : "%s: the first line has the number 1",
				   typed);
	if (has_range && strcmp(error.code, "FILE_NOT_FOUND") == 0) {
		struct sidecar_error first = error;
		error.code[0] = '\0';
		status = print_file(c, wanted, a->number, &error);
		if (strcmp(error.code, "FILE_NOT_FOUND") == 0)
			error = first;
	}
	const int64_t from = has_range ? range.lines.offset : wanted.lines.offset;
	if (strcmp(error.code, "INVALID_ARGUMENTS") == 0 && from > 1)
		(void)snprintf(error.message, sizeof error.message,
			       "%s: the file ends before line %" PRId64, typed, from);
	return *error.code ? cli_fail(c, &error) : status;
}

static int read_run(struct cli *c, const void *args)
{
	const struct cli_read_args *a = args;
	int worst = EXIT_OK;

	for (int i = 0; i < c->argc; i++) {
		const int status = print_operand(c, c->argv[i], a);
		worst = status ? status : worst;
	}
	return worst;
}

const struct verb verb_read = {
	.name = "read",
	.about = "print files of the workspace, or lines of them: PATH:10-20",
	.operands = "PATH...",
	.examples = "  sidecar read src/main.c\n"
		    "  sidecar read src/main.c:100-120 README.md:1-5\n"
		    "  sidecar read -n --offset 100 --limit 20 src/main.c\n"
		    "  sidecar read logo.png > copy.png\n",
	.options = read_options,
	.args_size = sizeof(struct cli_read_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.least = 1,
	.most = -1,
	.kind = OPERANDS_PATHS,
	.run = read_run,
};
