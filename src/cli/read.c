/* SPDX-License-Identifier: MIT */
/* read: print a file of the workspace; a long one takes several requests. */

#include <inttypes.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_read_args {
	int64_t offset, limit;
};

static const struct option read_options[] = {
	{ "offset", 'o', OPTION_NUMBER, offsetof(struct cli_read_args, offset), "LINE",
	  "first line to print, counting from 1" },
	{ "limit", 'n', OPTION_NUMBER, offsetof(struct cli_read_args, limit), "LINES",
	  "number of lines to print (default: all)" },
	OPTION_END,
};

static void print_json(const struct sidecar_file *f)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);

	jw_object(&w, NULL);
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

/* Print one answer. 1: there is more to ask for, after `got` lines; 0: no more; -1: failed. */
static int print_part(const struct cli *c, const struct sidecar_file *f,
		      const struct sidecar_lines *part, int64_t left, int64_t *got)
{
	const struct str text = { f->content, f->length };

	if (f->mime_type && isatty(STDOUT_FILENO)) {
		cli_say(c, "%s cannot be shown on a terminal; redirect it to a file", f->mime_type);
		return -1;
	}
	cli_print(text);
	if (f->mime_type || !f->has_more)
		return 0;
	*got = (int64_t)bytes_count(text, '\n') + 1;
	/* A line of 50 KB or more is sent as empty text; asking again would not help. */
	if (text.n == 0) {
		cli_say(c,
			"line %" PRId64
			" is too long for an answer; try: sidecar run sed -n %" PRId64 "p FILE",
			part->offset, part->offset);
		return -1;
	}
	cli_print(STR("\n"));
	return left == 0 || *got < left;
}

static int read_run(struct cli *c, const void *args)
{
	const struct cli_read_args *a = args;
	struct sidecar_lines part = { .offset = a->offset > 0 ? a->offset : 1, .limit = a->limit };
	struct sidecar_error error;
	int more = 1;

	while (more == 1) {
		int64_t got = 0;
		struct sidecar_file *f = sidecar_read_file(c->server, c->argv[0], &part, &error);
		if (!f)
			return cli_fail(c, &error);
		if (c->json) {
			print_json(f);
			more = 0;
		} else {
			more = print_part(c, f, &part, part.limit, &got);
		}
		part.offset += got;
		part.limit -= part.limit ? got : 0;
		sidecar_free(f);
	}
	return more < 0 ? EXIT_FAILED : EXIT_OK;
}

const struct verb verb_read = {
	.name = "read",
	.about = "print a file of the workspace, or some of its lines",
	.operands = "PATH",
	.examples = "  sidecar read src/main.c\n"
		    "  sidecar read --offset 100 --limit 20 src/main.c\n"
		    "  sidecar read logo.png > copy.png\n",
	.options = read_options,
	.args_size = sizeof(struct cli_read_args),
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.least = 1,
	.most = 1,
	.run = read_run,
};
