/* SPDX-License-Identifier: MIT */
/* write: a whole file, from stdin, a local file or the command line. */

#include <inttypes.h>
#include <string.h>

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"

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

static void report(const struct cli *c, const struct sidecar_change *change)
{
	AUTO_BUF out = { .max = 64 << 10 };
	struct jw w = jw_to(&out);

	if (!c->json) {
		cli_say(c, "wrote %" PRId64 " byte%s to %s", change->bytes,
			change->bytes == 1 ? "" : "s", c->argv[0]);
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
	report(c, change);
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
