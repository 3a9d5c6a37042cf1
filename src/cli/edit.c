/* SPDX-License-Identifier: MIT */
/* edit: change files: `edit` replaces a text, `write` a whole file, `patch` applies a patch of
 * several files. */

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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

static void report_edit(const struct cli *c, const struct cli_edit_args *a,
			const struct json *result)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&out);
	const struct str diff = json_text(result, STR("diff"));
	const int64_t places = json_int(result, STR("replacements"), 1);

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
	const struct json *result = cli_request(c, "POST", "/edit", &body, &c->memory, &status);
	if (!result)
		return status;
	report_edit(c, a, result);
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

struct cli_write_args {
	const char *content, *from;
};

static const struct option write_options[] = {
	{ "content", 'c', OPTION_TEXT, offsetof(struct cli_write_args, content), "TEXT",
	  "content to write, instead of stdin" },
	{ "from", 'f', OPTION_TEXT, offsetof(struct cli_write_args, from), "FILE",
	  "local file with the content; - is stdin" },
	OPTION_END,
};

static void report_write(const struct cli *c, const struct sidecar_change *change)
{
	AUTO_BUF out = { .max = 64 << 10 };
	struct jw w = jw_to(&out);

	if (!c->json) {
		cli_say(c, "wrote %" PRId64 " byte%s to %s", change->bytes,
			change->bytes == 1 ? "" : "s", change->path);
		return;
	}
	jw_object(&w, NULL);
	jw_str(&w, "path", str_of(change->path));
	jw_int(&w, "bytes", change->bytes);
	jw_end(&w);
	cli_print_line(&out);
}

static int write_run(struct cli *c, const void *args)
{
	const struct cli_write_args *a = args;
	AUTO_BUF content = { .max = LIMIT_BODY };
	struct sidecar_error error;

	if (c->argc > 1 && (strcmp(c->argv[1], "-") != 0 || a->content || a->from))
		return cli_misused(c, "the content comes from stdin (-), --content or --from");
	if (a->content && a->from)
		return cli_misused(c, "--content and --from cannot be used together");
	if (a->content)
		buf_add(&content, str_of(a->content));
	else if (cli_read_input(c, a->from ? a->from : "-", &content) < 0)
		return EXIT_FAILED;
	struct sidecar_change *change = sidecar_write_file(
		c->server, cli_path(c, c->argv[0]), content.n ? content.p : "", content.n, &error);
	if (!change)
		return cli_fail(c, &error);
	report_write(c, change);
	cli_say_not_kept(c, change->change, change->not_kept);
	sidecar_free(change);
	return EXIT_OK;
}

const struct verb verb_write = {
	.name = "write",
	.about = "write a whole file from stdin or --content; any bytes",
	.operands = "PATH [-]",
	.examples = "  echo 'hello' | sidecar write notes.txt\n"
		    "  sidecar write notes.txt --content 'hello'\n"
		    "  sidecar write logo.png --from ./logo.png\n",
	.options = write_options,
	.args_size = sizeof(struct cli_write_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.least = 1,
	.most = 2,
	.kind = OPERANDS_PATHS,
	.run = write_run,
};

struct cli_patch_args {
	const char *format, *strip;
	bool dry_run;
};

static const char *const patch_words[] = { "auto", "v4a", "unified", "blocks", NULL };

static const struct option patch_options[] = {
	{ "dry-run", 'n', OPTION_SWITCH, offsetof(struct cli_patch_args, dry_run), NULL,
	  "show what would change and change nothing" },
	{ "format", 'f', OPTION_WORD, offsetof(struct cli_patch_args, format), NULL,
	  "what it is: *** Begin Patch, a unified diff, or SEARCH/REPLACE blocks (default auto)",
	  patch_words },
	{ "strip", 'p', OPTION_TEXT, offsetof(struct cli_patch_args, strip), "N",
	  "take N directories off the paths of a unified diff (default: a/ and b/)" },
	OPTION_END,
};

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_patched(const struct cli *c, const struct json *f, bool colour)
{
	AUTO_BUF line = { .max = LIMIT_ANSWER };
	const struct str from = json_text(f, STR("from"));

	buf_addf(&line, "%s%.*s ", colour ? "\033[1m" : "", STR_FMT(json_text(f, STR("kind"))));
	cli_add_name(&line, from);
	buf_add(&line, from.n ? STR(" -> ") : STR(""));
	cli_add_name(&line, json_text(f, STR("path")));
	buf_addf(&line, ", +%" PRId64 " -%" PRId64 "%s\n", json_int(f, STR("added"), 0),
		 json_int(f, STR("removed"), 0), colour ? "\033[m" : "");
	cli_print(buf_str(&line));
	cli_print_diff(c, json_text(f, STR("diff")));
}

static void report_patch(const struct cli *c, const struct cli_patch_args *a,
			 const struct json *result)
{
	const bool colour = cli_colour(c, STDOUT_FILENO);
	int64_t count = 0, added = 0, removed = 0;

	if (c->json) {
		cli_print_result(result);
		return;
	}
	for (const struct json *f = json_items(result, STR("files")); f; f = f->next) {
		print_patched(c, f, colour);
		count++;
		added += json_int(f, STR("added"), 0);
		removed += json_int(f, STR("removed"), 0);
	}
	for (const struct json *n = json_items(result, STR("fuzz")); n; n = n->next)
		cli_say(c, "%.*s", STR_FMT(n->string));
	if (a->dry_run)
		cli_say(c,
			"nothing was changed (--dry-run); %" PRId64 " file%s would be, +%" PRId64
			" -%" PRId64,
			count, plural(count), added, removed);
	else if (!c->quiet)
		cli_say(c, "patched %" PRId64 " file%s, +%" PRId64 " -%" PRId64, count,
			plural(count), added, removed);
}

static int patch_run(struct cli *c, const void *args)
{
	const struct cli_patch_args *a = args;
	AUTO_BUF text = { .max = LIMIT_BODY };
	AUTO_BUF body = { .max = 2 * (size_t)LIMIT_BODY };
	struct jw w = jw_to(&body);
	int64_t strip = -1;
	int status;

	if (a->strip && (!str_int(str_of(a->strip), &strip) || strip < 0 || strip > 100))
		return cli_misused(c, "--strip takes a number from 0 to 100, not %s", a->strip);
	if (cli_read_input(c, c->argc ? c->argv[0] : "-", &text) < 0)
		return EXIT_USAGE;
	if (!utf8_valid(buf_str(&text))) {
		cli_say(c, "the patch is not UTF-8");
		return EXIT_FAILED;
	}
	jw_object(&w, NULL);
	jw_str(&w, "patch", buf_str(&text));
	jw_str(&w, "format", str_of(a->format ? a->format : "auto"));
	jw_bool(&w, "dryRun", a->dry_run);
	if (strip >= 0)
		jw_int(&w, "strip", strip);
	if (c->here)
		jw_str(&w, "cwd", str_of(c->here));
	jw_str(&w, "sessionId", STR("cli"));
	jw_end(&w);
	const struct json *result = cli_request(c, "POST", "/patch", &body, &c->memory, &status);
	if (!result)
		return status;
	report_patch(c, a, result);
	return EXIT_OK;
}

const struct verb verb_patch = {
	.name = "patch",
	.about = "apply a patch of several files, all of it or nothing",
	.operands = "[FILE]",
	.examples = "  git diff | sidecar patch --dry-run\n"
		    "  sidecar patch fix.patch\n"
		    "  sidecar patch -p 2 - < fix.patch\n"
		    "  git diff --relative | sidecar patch -n    in a subdirectory\n",
	.options = patch_options,
	.args_size = sizeof(struct cli_patch_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.most = 1,
	.kind = OPERANDS_LOCAL,
	.run = patch_run,
};
