/* SPDX-License-Identifier: MIT */
/* about: help and version. */

#include <unistd.h>

#include "base/limits.h"
#include "base/near.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/verbs.h"

struct help_args {
	bool mdoc_verbs, mdoc_settings;
};

static const struct option help_options_table[] = {
	{ "mdoc", 0, OPTION_SWITCH, offsetof(struct help_args, mdoc_verbs), NULL,
	  "the commands as in the manual sidecar(1)" },
	{ "mdoc-settings", 0, OPTION_SWITCH, offsetof(struct help_args, mdoc_settings), NULL,
	  "the settings as in the manual sidecar.conf(5)" },
	OPTION_END,
};

static int help_run(struct cli *c, const void *args)
{
	const struct help_args *a = args;
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	if (a->mdoc_verbs)
		help_mdoc_verbs(c->verbs, &out);
	if (a->mdoc_settings)
		help_mdoc_settings(&out);
	cli_print(buf_str(&out));
	if (a->mdoc_verbs || a->mdoc_settings)
		return EXIT_OK;
	if (c->argc == 0) {
		help_all(c->verbs, STDOUT_FILENO);
		return EXIT_OK;
	}
	const struct verb *v = verb_by_name(c->verbs, c->argv[0]);
	if (v) {
		help_verb(v);
		return EXIT_OK;
	}
	c->verb = NULL; /* the list of commands is what helps now */
	struct near near = near_to(str_of(c->argv[0]));
	for (size_t i = 0; c->verbs[i]; i++)
		near_try(&near, c->verbs[i]->name);
	return near.best ? cli_misused(c, "There is no command \"%s\"; did you mean \"%s\"?",
				       c->argv[0], near.best)
			 : cli_misused(c, "There is no command \"%s\"", c->argv[0]);
}

const struct verb verb_help = {
	.name = "help",
	.about = "examples and options of a command",
	.operands = "[COMMAND]",
	.examples = "  sidecar help grep\n",
	.options = help_options_table,
	.args_size = sizeof(struct help_args),
	.most = 1,
	.run = help_run,
};

static int version_run(struct cli *c, const void *args)
{
	(void)args;
	if (c->json)
		cli_print(STR("{\"name\":\"sidecar\",\"version\":\"" SIDECAR_VERSION "\"}\n"));
	else
		cli_print(STR("sidecar " SIDECAR_VERSION "\n"));
	return EXIT_OK;
}

const struct verb verb_version = {
	.name = "version",
	.about = "print the version",
	.operands = "",
	.examples = "  sidecar version\n",
	.flags = VERB_PRINTS,
	.run = version_run,
};
