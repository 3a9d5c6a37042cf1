/* SPDX-License-Identifier: MIT */
/* edit: replace a text in a file, and show what changed. */

#include <inttypes.h>
#include <string.h>

#include "base/jw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/cli.h"

struct cli_edit_args {
	const char *old, *new, *old_file, *new_file;
	bool replace_all, dry_run;
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
	{ "replace-all", 'a', OPTION_SWITCH, offsetof(struct cli_edit_args, replace_all), NULL,
	  "replace every occurrence, not only a single one" },
	{ "dry-run", 0, OPTION_SWITCH, offsetof(struct cli_edit_args, dry_run), NULL,
	  "show the diff and change nothing" },
	OPTION_END,
};

/* Get a text given in one of two ways. 0, or -1 after a message. */
static int get_text(const struct cli *c, const char *which, const char *text, const char *file,
		    struct buf *to)
{
	if (!text == !file) {
		(void)cli_misused(c,
				  text ? "give only one of --%s and --%s-file"
				       : "missing option --%s or --%s-file",
				  which, which);
		return -1;
	}
	if (text)
		buf_add(to, str_of(text));
	else if (cli_read_input(c, file, to) < 0)
		return -1;
	if (utf8_valid(buf_str(to)))
		return 0;
	cli_say(c, "the %s text is not UTF-8, so an edit cannot match it", which);
	return -1;
}

static void report(const struct cli *c, const struct cli_edit_args *a, const struct json *result)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);
	const struct str diff = json_text(result, STR("diff"));
	const int64_t places = cli_number(result, STR("replacements"), 1);

	if (c->json) {
		jw_object(&w, NULL);
		jw_str(&w, "path", json_text(result, STR("path")));
		jw_str(&w, "diff", diff);
		jw_int(&w, "replacements", places);
		jw_end(&w);
		cli_print_line(&out);
		return;
	}
	cli_print_diff(c, diff);
	if (a->dry_run)
		cli_say(c, "nothing was changed (--dry-run); %" PRId64 " place%s would be", places,
			places == 1 ? "" : "s");
	else if (a->replace_all)
		cli_say(c, "replaced %" PRId64 " place%s", places, places == 1 ? "" : "s");
}

static int edit_run(struct cli *c, const void *args)
{
	const struct cli_edit_args *a = args;
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	AUTO_BUF old = { .max = LIMIT_BODY };
	AUTO_BUF new = { .max = LIMIT_BODY };
	AUTO_BUF body = { .max = 2 * (size_t)LIMIT_BODY };
	struct jw w = jw_to(&body);
	int status;

	if (get_text(c, "old", a->old, a->old_file, &old) < 0 ||
	    get_text(c, "new", a->new, a->new_file, &new) < 0)
		return EXIT_USAGE;
	if (old.n == 0)
		return cli_misused(c, "the old text is empty; to write a whole file use write");
	jw_object(&w, NULL);
	jw_str(&w, "path", str_of(cli_path(c, c->argv[0])));
	jw_str(&w, "oldText", buf_str(&old));
	jw_str(&w, "newText", buf_str(&new));
	jw_bool(&w, "replaceAll", a->replace_all);
	jw_bool(&w, "dryRun", a->dry_run);
	jw_bool(&w, "hints", true);
	jw_str(&w, "sessionId", STR("cli"));
	jw_end(&w);
	buf_addc(&body, '\0');
	const struct json *result = cli_request(c, "POST", "/edit", &body, &memory, &status);
	if (!result)
		return status;
	report(c, a, result);
	return EXIT_OK;
}

const struct verb verb_edit = {
	.name = "edit",
	.about = "replace a text in a file and show the diff",
	.operands = "PATH",
	.examples = "  sidecar edit src/main.c --old 'return 0;' --new 'return 1;'\n"
		    "  sidecar edit src/main.c --old tmp --new temp --replace-all --dry-run\n"
		    "  sidecar edit src/main.c --old-file before.txt --new-file - < after.txt\n",
	.options = edit_options,
	.args_size = sizeof(struct cli_edit_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.least = 1,
	.most = 1,
	.kind = OPERANDS_PATHS,
	.run = edit_run,
};
