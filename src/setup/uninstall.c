/* SPDX-License-Identifier: MIT */
/* uninstall: `sidecar uninstall`: take back each setup that was recorded, and name what stays. */

#include "setup/uninstall.h"

#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/limits.h"
#include "base/own.h"
#include "cli/where.h"
#include "config/config.h"
#include "sandbox/cache.h"
#include "setup/place.h"

struct uninstall_args {
	bool yes, dry_run;
};

static const struct option uninstall_options[] = {
	{ "yes", 'y', OPTION_SWITCH, offsetof(struct uninstall_args, yes), NULL, "do not ask" },
	{ "dry-run", 'n', OPTION_SWITCH, offsetof(struct uninstall_args, dry_run), NULL,
	  "show what would change" },
	OPTION_END,
};

/* What setup has not made, and who removes it. */
struct remains {
	struct buf out;
	int64_t journals, bytes;
};

static bool add_journal(void *arg, const struct sidecar_journal *j)
{
	struct remains *r = arg;

	r->journals++;
	r->bytes += j->bytes;
	return false;
}

static void add_caches(struct buf *out, const struct config *config)
{
	char path[PATH_MAX], size[HUMAN_SIZE];
	const int64_t bytes = config_caches(config, path) ? cache_measure(path) : 0;

	if (bytes)
		buf_addf(out,
			 "caches   of commands, %s, in %s: \"chmod -R u+w\" and \"rm -r\" remove "
			 "them\n",
			 human_bytes(bytes, size), path);
}

static void name_remains(struct cli *c)
{
	struct remains r = { .out = { .max = LIMIT_ANSWER } };
	AUTO_CONFIG config = { 0 };
	CLEANUP(place_content_done) struct place_content file = { .exists = false };
	char program[PATH_MAX], self[PATH_MAX], size[HUMAN_SIZE];
	struct sidecar_error error;
	struct err e;

	for (const struct running_at *at = where_list(&c->memory); at; at = at->next)
		buf_addf(&r.out,
			 "process  %d runs (\"sidecar ps\"); it ends with its agent, or by kill\n",
			 (int)at->pid);
	(void)sidecar_journals(add_journal, &r, &error);
	if (r.journals)
		buf_addf(&r.out,
			 "journals of %lld workspace%s, %s: \"sidecar journals\" says where, "
			 "\"sidecar journals rm\" removes them\n",
			 (long long)r.journals, r.journals == 1 ? "" : "s",
			 human_bytes(r.bytes, size));
	const bool configured = cli_locate(c, &config, &e) == 0;
	add_caches(&r.out, &config);
	if (configured && config.files[CONFIG_USER_FILE] &&
	    place_read(config.files[CONFIG_USER_FILE], &file, &e) == 0 && file.exists)
		buf_addf(&r.out, "settings %s\n", config.files[CONFIG_USER_FILE]);
	if (place_of_program(self, program, &e) == 0 &&
	    (strcmp(program, "sidecar") != 0 || place_find_program("sidecar", program)))
		buf_addf(&r.out,
			 "program  %s: removed by what has installed it (make uninstall, apt, npm, "
			 "pip)\n",
			 program);
	if (r.out.n)
		cli_say(c, "this is left:");
	cli_print(buf_str(&r.out));
	buf_done(&r.out);
}

static int uninstall_run(struct cli *c, const void *args)
{
	const struct uninstall_args *a = args;
	size_t unreadable, failed = 0;
	const struct record_name *list = record_list(&c->memory, &unreadable);

	if (!list && !unreadable)
		cli_say(c, "setup has changed nothing");
	for (const struct record_name *r = list; r; r = r->next)
		failed += setup_take_back(c, r->agent, r->project, a->yes, a->dry_run) != EXIT_OK;
	if (unreadable)
		cli_say(c, "%zu records of setup cannot be read", unreadable);
	name_remains(c);
	return failed + unreadable ? EXIT_FAILED : EXIT_OK;
}

const struct verb verb_uninstall = {
	.name = "uninstall",
	.about = "undo every setup, and name what is left",
	.operands = "",
	.examples = "  sidecar uninstall --dry-run\n"
		    "  sidecar uninstall                 it asks before it changes a file\n",
	.options = uninstall_options,
	.args_size = sizeof(struct uninstall_args),
	.run = uninstall_run,
};
