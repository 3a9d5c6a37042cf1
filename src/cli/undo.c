/* SPDX-License-Identifier: MIT */
/* undo: what was changed is taken back, or done again: `undo` and `redo`. */

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utc.h"
#include "cli/changes.h"

/* Changes that can be named at once. */
enum { LIMIT_UNDO_IDS = 64 };

struct undo_options {
	const char *since, *session;
	bool dry_run, force, yes;
};

/* From here on they are those of redo, too. */
enum { REDO_OPTIONS = 2 };

static const struct option undo_options[] = {
	{ "since", 0, OPTION_TEXT, offsetof(struct undo_options, since), "ID|10m",
	  "undo this change and all after it, or those of the last 10 minutes (s, m, h, d)" },
	{ "session", 0, OPTION_TEXT, offsetof(struct undo_options, session), "NAME",
	  "undo all changes of this session" },
	{ "dry-run", 'n', OPTION_SWITCH, offsetof(struct undo_options, dry_run), NULL,
	  "only say what would be done" },
	{ "force", 'f', OPTION_SWITCH, offsetof(struct undo_options, force), NULL,
	  "overwrite what has changed since, and restore what was saved" },
	{ "yes", 'y', OPTION_SWITCH, offsetof(struct undo_options, yes), NULL, "do not ask" },
	OPTION_END,
};

/* What is to be undone. */
struct choice {
	int64_t ids[LIMIT_UNDO_IDS];
	size_t id_count;
	int64_t since;
	const char *session;
	int first_path; /* of the operands */
	bool is_named;	/* by numbers: then it is not asked for again */
};

/* Numbers first; then paths, which may begin after "--". */
static int read_operands(struct cli *c, struct choice *ret)
{
	int i = 0;

	for (; i < c->before_dashes && changes_number(c->argv[i]); i++) {
		if (ret->id_count == LIMIT_UNDO_IDS)
			return cli_misused(c, "at most %d changes can be named", LIMIT_UNDO_IDS);
		ret->ids[ret->id_count++] = changes_number(c->argv[i]);
	}
	ret->first_path = i;
	ret->is_named = ret->id_count > 0;
	return EXIT_OK;
}

static int choose(struct cli *c, const struct undo_options *o, bool redo, struct choice *ret)
{
	int status = EXIT_OK;

	*ret = (struct choice){ .session = o->session };
	if (o->since) {
		ret->since = changes_since(c, o->since, &status);
		return ret->since ? EXIT_OK : status;
	}
	if (o->session)
		return EXIT_OK;
	if (!redo && (status = read_operands(c, ret)) != EXIT_OK)
		return status;
	if (ret->id_count)
		return EXIT_OK;
	const struct json *last = changes_last(c, redo, &status);
	if (!last)
		return status;
	ret->ids[ret->id_count++] = json_int(last, STR("id"), 0);
	return EXIT_OK;
}

static const struct json *send_undo(struct cli *c, const struct undo_options *o,
				    const struct choice *what, bool dry_run, int *status)
{
	AUTO_BUF body = { .max = LIMIT_BODY };
	struct jw w = jw_to(&body);

	jw_object(&w, NULL);
	if (what->id_count) {
		jw_array(&w, "ids");
		for (size_t i = 0; i < what->id_count; i++)
			jw_int(&w, NULL, what->ids[i]);
		jw_end(&w);
	}
	if (what->since)
		jw_int(&w, "since", what->since);
	if (what->session)
		jw_str(&w, "session", str_of(what->session));
	jw_bool(&w, "dryRun", dry_run);
	jw_bool(&w, "force", o->force);
	if (what->first_path < c->argc) {
		jw_array(&w, "paths");
		for (int i = what->first_path; i < c->argc; i++)
			jw_str(&w, NULL, str_of(cli_path(c, c->argv[i])));
		jw_end(&w);
	}
	jw_end(&w);
	return cli_request(c, "POST", "/changes/undo", &body, &c->memory, status);
}

/* A person sees the beginning of a long list, a program all that the server lists. */
enum { SHOWN_PATHS = 20 };

static void add_paths(const struct cli *c, struct buf *out, const char *word,
		      enum log_colour colour, const struct json *first, int64_t count)
{
	const int64_t most = isatty(STDOUT_FILENO) ? SHOWN_PATHS : INT64_MAX;
	int64_t n = 0;

	for (const struct json *p = first; p && n < most; p = p->next, n++) {
		columns_paint(out, cli_colour(c, STDOUT_FILENO), colour, str_of(word));
		buf_addf(out, "%*s", (int)(9 - strlen(word)), "");
		if (p->type == JSON_STRING) {
			cli_add_name(out, p->string);
		} else {
			cli_add_name(out, json_text(p, STR("from")));
			buf_add(out, STR(" -> "));
			cli_add_name(out, json_text(p, STR("to")));
		}
		buf_addc(out, '\n');
	}
	if (count > n)
		buf_addf(out, "%-9s… and %" PRId64 " more\n", word, count - n);
}

static int64_t count_paths(const struct json *result)
{
	return json_int(result, STR("restored_count"), 0) +
	       json_int(result, STR("removed_count"), 0) +
	       json_int(result, STR("renamed_count"), 0);
}

static void print_result(const struct cli *c, const struct json *result)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	if (c->json) {
		cli_print_result(result);
		return;
	}
	add_paths(c, &out, "restore", LOG_GREEN, json_items(result, STR("restored")),
		  json_int(result, STR("restored_count"), 0));
	add_paths(c, &out, "remove", LOG_RED, json_items(result, STR("removed")),
		  json_int(result, STR("removed_count"), 0));
	add_paths(c, &out, "rename", LOG_CYAN, json_items(result, STR("renamed")),
		  json_int(result, STR("renamed_count"), 0));
	cli_print(buf_str(&out));
	const struct json *complete = json_get(result, STR("complete"));
	if (complete && !complete->boolean)
		cli_say(c, "this may be a part: not everything that was changed is known");
}

/* What was named is not among what was changed. */
static int fail_paths(struct cli *c, const struct choice *what)
{
	const char *first = c->argv[what->first_path];

	if (what->id_count == 1)
		return changes_fail_path(c, what->ids[0], "undo", first);
	cli_say(c, "there is nothing to undo at %s", first);
	return EXIT_FAILED;
}

/* "12 seconds", "3 minutes", "5 hours", "2 days" since that time. */
static void add_age(struct buf *out, struct str time_text)
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" } };
	int64_t then;

	if (!utc_seconds(time_text, &then))
		return;
	const int64_t age = time(NULL) > then ? time(NULL) - then : 0;
	size_t i = 0;
	while (i + 1 < ARRAY_LEN(units) && age < units[i].seconds)
		i++;
	const int64_t n = age / units[i].seconds;
	buf_addf(out, ", %" PRId64 " %s%s ago", n, units[i].name, n == 1 ? "" : "s");
}

/* Undo change 41 (run_command "rm -rf src", 2 minutes ago, 10 paths)? */
static bool agrees(struct cli *c, const struct choice *what, const struct json *plan)
{
	AUTO_BUF question = { .max = 4096 };
	const int64_t paths = count_paths(plan);
	char target[64];
	int status;

	if (what->id_count == 1) {
		(void)snprintf(target, sizeof target, "/changes/%" PRId64 "?limit=1", what->ids[0]);
		const struct json *change =
			cli_request(c, "GET", target, NULL, &c->memory, &status);
		if (!change)
			return false;
		buf_addf(&question, "Undo change %" PRId64 " (%.*s \"", what->ids[0],
			 STR_FMT(json_text(change, STR("tool"))));
		cli_add_visible(&question, str_upto(json_text(change, STR("subject")), 60));
		buf_addc(&question, '"');
		add_age(&question, json_text(change, STR("time")));
		buf_addf(&question, ", %" PRId64 " path%s)?", paths, paths == 1 ? "" : "s");
	} else {
		buf_addf(&question, "Undo all of this (%" PRId64 " path%s)?", paths,
			 paths == 1 ? "" : "s");
	}
	buf_addc(&question, '\0');
	return cli_agrees(c, question.p, "nothing was undone: say --yes, or which change");
}

static int take_back(struct cli *c, const struct undo_options *o, bool redo)
{
	struct choice what;
	int status = choose(c, o, redo, &what);

	if (status != EXIT_OK)
		return status;
	const bool ask = !what.is_named && !o->yes && !o->dry_run;
	if (ask || o->dry_run) {
		const struct json *plan = send_undo(c, o, &what, true, &status);
		if (!plan)
			return status;
		print_result(c, plan);
		if (what.first_path < c->argc && count_paths(plan) == 0)
			return fail_paths(c, &what);
		if (o->dry_run)
			return EXIT_OK;
		if (!agrees(c, &what, plan))
			return EXIT_FAILED;
	}
	const struct json *result = send_undo(c, o, &what, false, &status);
	if (!result)
		return status;
	if (!ask || c->json)
		print_result(c, result);
	if (json_int(result, STR("change"), 0) == 0) {
		cli_say(c, "nothing is different: what was changed had been changed back");
		return EXIT_OK;
	}
	const int64_t paths = count_paths(result);
	cli_say(c, "undone (%" PRId64 " path%s); to do it again: sidecar %s%" PRId64, paths,
		paths == 1 ? "" : "s", redo ? "undo " : "redo, or undo ",
		json_int(result, STR("change"), 0));
	return EXIT_OK;
}

static int undo_run(struct cli *c, const void *args)
{
	return take_back(c, args, false);
}

static int redo_run(struct cli *c, const void *args)
{
	return take_back(c, args, true);
}

const struct verb verb_undo = {
	.name = "undo",
	.about = "take back what tools and commands have changed",
	.operands = "[ID]... [[--] PATH...]",
	.examples = "  sidecar undo                      the last change; it asks first\n"
		    "  sidecar undo 41 42                two changes\n"
		    "  sidecar undo 41 -- src/a.c        only this file of change 41\n"
		    "  sidecar undo --since 10m --dry-run\n",
	.options = undo_options,
	.args_size = sizeof(struct undo_options),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS | VERB_HISTORY,
	.most = -1,
	.kind = OPERANDS_CHANGES,
	.run = undo_run,
};

const struct verb verb_redo = {
	.name = "redo",
	.about = "take the last undo back",
	.operands = "",
	.examples = "  sidecar redo                      it asks first\n",
	.options = &undo_options[REDO_OPTIONS],
	.args_size = sizeof(struct undo_options),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_HISTORY,
	.run = redo_run,
};
