/* SPDX-License-Identifier: MIT */
/* edit: replace a text in a file, and show what changed. */

#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

struct cli_edit_args {
	const char *old, *new, *old_file, *new_file;
};

static const struct option edit_options[] = {
	{ "old", 'o', OPTION_TEXT, offsetof(struct cli_edit_args, old), "TEXT",
	  "text to replace; it must occur exactly once" },
	{ "new", 'n', OPTION_TEXT, offsetof(struct cli_edit_args, new), "TEXT",
	  "text to put in its place" },
	{ "old-file", 0, OPTION_TEXT, offsetof(struct cli_edit_args, old_file), "FILE",
	  "local file with the old text; - is stdin" },
	{ "new-file", 0, OPTION_TEXT, offsetof(struct cli_edit_args, new_file), "FILE",
	  "local file with the new text; - is stdin" },
	OPTION_END,
};

/* Get a text given in one of two ways, with a final NUL byte. 0, or -1 after a message. */
static int get_text(const struct cli *c, const char *which, const char *text, const char *file,
		    struct buf *to)
{
	if (!text == !file) {
		(void)cli_misused(c, "give either --%s or --%s-file", which, which);
		return -1;
	}
	if (text)
		buf_add(to, str_of(text));
	else if (cli_read_input(c, file, to) < 0)
		return -1;
	buf_addc(to, '\0');
	if (strlen(to->p) == to->n - 1)
		return 0;
	cli_say(c, "%s contains NUL bytes, which an edit cannot match", file);
	return -1;
}

static void print_diff(const struct cli *c, const char *diff)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	const bool colour = cli_colour(c, STDOUT_FILENO);

	for (struct str rest = str_of(diff), line; rest.n;) {
		(void)str_cut(rest, '\n', &line, &rest);
		const char *paint = !colour || line.n == 0 ? ""
				    : line.p[0] == '+'	   ? "\033[32m"
				    : line.p[0] == '-'	   ? "\033[31m"
							   : "";
		buf_addf(&out, "%s%.*s%s\n", paint, STR_FMT(line), *paint ? "\033[m" : "");
	}
	cli_print(buf_str(&out));
}

static void report(const struct cli *c, const struct sidecar_change *change)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);

	if (!c->json) {
		print_diff(c, change->diff ? change->diff : "");
		return;
	}
	jw_object(&w, NULL);
	jw_str(&w, "path", str_of(change->path));
	jw_str(&w, "diff", str_of(change->diff ? change->diff : ""));
	jw_end(&w);
	cli_print_line(&out);
}

static int edit_run(struct cli *c, const void *args)
{
	const struct cli_edit_args *a = args;
	AUTO_BUF old = { .max = LIMIT_BODY };
	AUTO_BUF new = { .max = LIMIT_BODY };
	struct sidecar_error error;

	if (get_text(c, "old", a->old, a->old_file, &old) < 0 ||
	    get_text(c, "new", a->new, a->new_file, &new) < 0)
		return EXIT_USAGE;
	struct sidecar_change *change =
		sidecar_edit_file(c->server, c->argv[0], old.p, new.p, &error);
	if (!change)
		return cli_fail(c, &error);
	report(c, change);
	sidecar_free(change);
	return EXIT_OK;
}

const struct verb verb_edit = {
	.name = "edit",
	.about = "replace a text in a file and show the diff",
	.operands = "PATH",
	.examples = "  sidecar edit src/main.c --old 'return 0;' --new 'return 1;'\n"
		    "  sidecar edit src/main.c --old-file before.txt --new-file - < after.txt\n",
	.options = edit_options,
	.args_size = sizeof(struct cli_edit_args),
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.least = 1,
	.most = 1,
	.run = edit_run,
};
