/* SPDX-License-Identifier: MIT */
/* journals: `sidecar journals`: where changes are kept, of which workspaces, and removing that. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utc.h"
#include "cli/cli.h"

struct journals_options {
	bool gone, yes;
};

static const struct option journals_options[] = {
	{ "gone", 0, OPTION_SWITCH, offsetof(struct journals_options, gone), NULL,
	  "rm: those of all workspaces that do not exist any more" },
	{ "yes", 'y', OPTION_SWITCH, offsetof(struct journals_options, yes), NULL,
	  "rm: do not ask" },
	OPTION_END,
};

/* What is done with them. */
struct tour {
	struct cli *cli;
	const struct journals_options *o;
	bool removes;
	struct buf out;
	struct jw w;
	size_t seen, removed, used;
};

static void add_row(struct tour *t, const struct sidecar_journal *j)
{
	char size[HUMAN_SIZE], when[UTC_TEXT];

	if (t->cli->json) {
		jw_object(&t->w, NULL);
		jw_str(&t->w, "workspace", str_of(j->workspace));
		jw_str(&t->w, "directory", str_of(j->directory));
		jw_int(&t->w, "bytes", j->bytes);
		jw_int(&t->w, "changes", j->changes);
		jw_str(&t->w, "lastUsed", utc_iso(j->last_used, 0, when));
		jw_bool(&t->w, "gone", j->is_gone);
		jw_bool(&t->w, "used", j->is_used);
		jw_end(&t->w);
		return;
	}
	buf_addf(&t->out, "%8s  %7" PRId64 "  %.10s  ", human_bytes(j->bytes, size), j->changes,
		 human_when(j->last_used, when));
	cli_add_name(&t->out, str_of(j->workspace));
	buf_add(&t->out, j->is_used   ? STR(" (in use)\n")
			 : j->is_gone ? STR(" (gone)\n")
				      : STR("\n"));
}

/* Whether it is one of those that are named, by workspace or by directory. */
static bool is_named(const struct tour *t, const struct sidecar_journal *j)
{
	char real[SIDECAR_PATH_MAX];

	for (int i = 1; i < t->cli->argc; i++) {
		const char *name = t->cli->argv[i];
		if (strcmp(name, j->workspace) == 0 || strcmp(name, j->directory) == 0 ||
		    (cli_real_path(name, real) && strcmp(real, j->workspace) == 0))
			return true;
	}
	return t->o->gone && j->is_gone;
}

static bool visit(void *arg, const struct sidecar_journal *j)
{
	struct tour *t = arg;

	if (!t->removes) {
		add_row(t, j);
		t->seen++;
		return false;
	}
	if (!is_named(t, j))
		return false;
	t->seen++;
	t->used += j->is_used;
	if (j->is_used) {
		cli_say(t->cli,
			"the journal of %s is in use: end the sidecars of that workspace first",
			j->workspace);
		return false;
	}
	char question[SIDECAR_PATH_MAX + 200], size[HUMAN_SIZE];
	(void)snprintf(question, sizeof question,
		       "Remove the journal of %s (%" PRId64
		       " changes, %s)? They cannot be undone then.",
		       j->workspace, j->changes, human_bytes(j->bytes, size));
	const bool agreed =
		t->o->yes || cli_agrees(t->cli, question, "nothing was removed: say --yes");
	t->removed += agreed;
	return agreed;
}

static int journals_run(struct cli *c, const void *args)
{
	struct tour t = { .cli = c, .o = args, .out = { .max = LIMIT_ANSWER } };
	struct sidecar_error error;

	t.removes = c->argc > 0;
	if (c->argc && strcmp(c->argv[0], "rm") != 0)
		return cli_misused(c, "\"%s\" is not \"rm\"", c->argv[0]);
	if (t.removes && c->argc < 2 && !t.o->gone)
		return cli_misused(c, "say which: a workspace, or --gone");
	t.w = jw_to(&t.out);
	if (c->json && !t.removes) {
		jw_object(&t.w, NULL);
		jw_array(&t.w, "journals");
	} else if (!t.removes) {
		buf_add(&t.out, STR("    SIZE  CHANGES  LAST USED   WORKSPACE\n"));
	}
	if (sidecar_journals(visit, &t, &error) < 0) {
		buf_done(&t.out);
		return cli_fail(c, &error);
	}
	if (c->json && !t.removes) {
		jw_end(&t.w);
		jw_end(&t.w);
		cli_print_line(&t.out);
	} else if (!t.removes && t.seen) {
		cli_print(buf_str(&t.out));
	}
	buf_done(&t.out);
	if (!t.seen && !c->json)
		cli_say(c, t.removes ? "there is no such journal" : "No journals");
	else if (t.removes)
		cli_say(c, "%zu removed", t.removed);
	return t.removes && (!t.seen || t.used) ? EXIT_FAILED : EXIT_OK;
}

const struct verb verb_journals = {
	.name = "journals",
	.about = "list where changes are kept, or remove that",
	.operands = "[rm WORKSPACE...]",
	.examples = "  sidecar journals\n"
		    "  sidecar journals rm ~/project\n"
		    "  sidecar journals rm --gone\n",
	.options = journals_options,
	.args_size = sizeof(struct journals_options),
	.flags = VERB_PRINTS,
	.most = -1,
	.kind = OPERANDS_LOCAL,
	.run = journals_run,
};
