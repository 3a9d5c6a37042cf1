/* SPDX-License-Identifier: MIT */
/* patch: apply a patch of several files, and show what changed. */

#include <inttypes.h>
#include <unistd.h>

#include "base/jw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/cli.h"

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

static void print_file(const struct cli *c, const struct json *f, bool colour)
{
	AUTO_BUF line = { .max = LIMIT_ANSWER };
	const struct str from = json_text(f, STR("from"));

	buf_addf(&line, "%s%.*s ", colour ? "\033[1m" : "", STR_FMT(json_text(f, STR("kind"))));
	cli_add_name(&line, from);
	buf_add(&line, from.n ? STR(" -> ") : STR(""));
	cli_add_name(&line, json_text(f, STR("path")));
	buf_addf(&line, ", +%" PRId64 " -%" PRId64 "%s\n", cli_number(f, STR("added"), 0),
		 cli_number(f, STR("removed"), 0), colour ? "\033[m" : "");
	cli_print(buf_str(&line));
	cli_print_diff(c, json_text(f, STR("diff")));
}

static void report(const struct cli *c, const struct cli_patch_args *a, const struct json *result)
{
	const struct json *files = json_get(result, STR("files"));
	const struct json *fuzz = json_get(result, STR("fuzz"));
	const bool colour = cli_colour(c, STDOUT_FILENO);
	int64_t count = 0, added = 0, removed = 0;

	if (c->json) {
		cli_print_result(result);
		return;
	}
	for (const struct json *f = files ? files->first : NULL; f; f = f->next) {
		print_file(c, f, colour);
		count++;
		added += cli_number(f, STR("added"), 0);
		removed += cli_number(f, STR("removed"), 0);
	}
	for (const struct json *n = fuzz ? fuzz->first : NULL; n; n = n->next)
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
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
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
	jw_str(&w, "sessionId", STR("cli"));
	jw_end(&w);
	buf_addc(&body, '\0');
	const struct json *result = cli_request(c, "POST", "/patch", &body, &memory, &status);
	if (!result)
		return status;
	report(c, a, result);
	return EXIT_OK;
}

const struct verb verb_patch = {
	.name = "patch",
	.about = "apply a patch of several files, all of it or nothing",
	.operands = "[FILE]",
	.examples = "  git diff | sidecar patch --dry-run\n"
		    "  sidecar patch fix.patch\n"
		    "  sidecar patch -p 2 - < fix.patch\n",
	.options = patch_options,
	.args_size = sizeof(struct cli_patch_args),
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.most = 1,
	.kind = OPERANDS_LOCAL,
	.run = patch_run,
};
