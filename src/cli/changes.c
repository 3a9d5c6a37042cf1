/* SPDX-License-Identifier: MIT */
/* changes: what calls have changed: `changes`, `diff` and `undo`. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jw.h"
#include "base/limits.h"
#include "base/utc.h"
#include "cli/cli.h"

/* The number of a change, or 0 if it is not one. */
static int64_t number_of(const char *text)
{
	int64_t number;

	return text && str_int(str_of(text), &number) && number > 0 ? number : 0;
}

static void add_counts(struct buf *out, const struct json *change)
{
	static const struct str kinds[] = { STR("created"), STR("modified"), STR("deleted"),
					    STR("renamed") };
	bool first = true;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const int64_t n = cli_number(change, kinds[i], 0);
		if (!n)
			continue;
		buf_addf(out, "%s%" PRId64 " %.*s", first ? "" : ", ", n, STR_FMT(kinds[i]));
		first = false;
	}
}

static void add_change(struct buf *out, const struct json *change)
{
	const struct json *undone = json_get(change, STR("undone_by"));
	struct str time = json_text(change, STR("time"));

	time = str_upto(time, STR("2026-01-01T00:00:00").n);
	buf_addf(out, "%-5" PRId64 " %.*s  %-12.*s ", cli_number(change, STR("id"), 0),
		 STR_FMT(time), STR_FMT(json_text(change, STR("tool"))));
	add_counts(out, change);
	if (!cli_truth(change, STR("complete")))
		buf_add(out, STR(" or more"));
	if (undone && undone->type == JSON_NUMBER)
		buf_addf(out, " (undone by %" PRId64 ")", undone->integer);
	else if (cli_truth(change, STR("open")))
		buf_add(out, STR(" (goes on)"));
	else if (!cli_truth(change, STR("undoable")))
		buf_add(out, STR(" (cannot be undone)"));
	buf_add(out, STR("  "));
	cli_add_visible(out, json_text(change, STR("subject")));
	buf_addc(out, '\n');
}

static int list(struct cli *c)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	int status;
	const struct json *result = cli_request(c, "GET", "/changes", NULL, &c->memory, &status);
	const struct json *changes = result ? json_get(result, STR("changes")) : NULL;

	if (!result)
		return status;
	if (c->json) {
		cli_print_result(result);
		return EXIT_OK;
	}
	if (!changes || !changes->first)
		cli_say(c, "No changes");
	for (const struct json *i = changes ? changes->first : NULL; i; i = i->next)
		add_change(&out, i);
	cli_print(buf_str(&out));
	return EXIT_OK;
}

static int show(struct cli *c, int64_t id)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	char target[64];
	int status;

	(void)snprintf(target, sizeof target, "/changes/%" PRId64, id);
	const struct json *result = cli_request(c, "GET", target, NULL, &c->memory, &status);
	const struct json *paths = result ? json_get(result, STR("paths")) : NULL;
	if (!result)
		return status;
	if (c->json) {
		cli_print_result(result);
		return EXIT_OK;
	}
	add_change(&out, result);
	for (const struct json *p = paths ? paths->first : NULL; p; p = p->next) {
		buf_addf(&out, "  %-9.*s", STR_FMT(json_text(p, STR("kind"))));
		cli_add_name(&out, json_text(p, STR("path")));
		if (json_text(p, STR("from")).n) {
			buf_add(&out, STR(" (was "));
			cli_add_name(&out, json_text(p, STR("from")));
			buf_addc(&out, ')');
		}
		if (!cli_truth(p, STR("saved")))
			buf_add(&out, STR(" (old content not saved)"));
		buf_addc(&out, '\n');
	}
	if (cli_truth(result, STR("more")))
		buf_add(&out, STR("  …\n"));
	cli_print(buf_str(&out));
	return EXIT_OK;
}

static int changes_run(struct cli *c, const void *args)
{
	const int64_t id = c->argc ? number_of(c->argv[0]) : 0;

	(void)args;
	if (c->argc && !id)
		return cli_misused(c, "\"%s\" is not the number of a change", c->argv[0]);
	return id ? show(c, id) : list(c);
}

const struct verb verb_changes = {
	.name = "changes",
	.about = "list what tools and commands have changed",
	.operands = "[ID]",
	.examples = "  sidecar changes\n"
		    "  sidecar changes 41                the paths of one change\n",
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.most = 1,
	.run = changes_run,
};

/* The newest change that is in force and is not an undo; 0 and *status if there is none. */
static int64_t last_change(struct cli *c, int *status)
{
	const struct json *result =
		cli_request(c, "GET", "/changes?limit=1000", NULL, &c->memory, status);
	const struct json *changes = result ? json_get(result, STR("changes")) : NULL;
	int64_t id = 0;

	if (!result)
		return 0;
	for (const struct json *i = changes ? changes->first : NULL; i; i = i->next) {
		const struct json *undone = json_get(i, STR("undone_by"));
		if (!str_eq(json_text(i, STR("tool")), STR("undo")) &&
		    (!undone || undone->type != JSON_NUMBER))
			id = cli_number(i, STR("id"), 0);
	}
	if (!id) {
		cli_say(c, "There is no change that could be undone");
		*status = EXIT_FAILED;
	}
	return id;
}

/* Whether a line of a diff begins a file, and whether the file is one of the paths. */
static bool begins_file(struct str line)
{
	return str_starts(line, STR("--- ")) || (line.n && strchr("@+- \\", line.p[0]) == NULL);
}

static bool is_wanted(const struct cli *c, int first, struct str head)
{
	for (int i = first; i < c->argc; i++)
		if (str_find(head, str_of(c->argv[i])) >= 0)
			return true;
	return first >= c->argc;
}

/* Print the files of a diff that are asked for. */
static void print_diff(const struct cli *c, int first, struct str text)
{
	AUTO_BUF out = { .max = SIZE_MAX };
	bool wanted = true;

	while (text.n) {
		struct str line, rest, second;
		(void)str_cut(text, '\n', &line, &rest);
		(void)str_cut(rest, '\n', &second, &(struct str){ NULL, 0 });
		if (begins_file(line))
			wanted = is_wanted(c, first, line) ||
				 (str_starts(second, STR("+++ ")) && is_wanted(c, first, second));
		if (wanted)
			cli_add_text(&out, str_upto(text, text.n - rest.n));
		text = rest;
	}
	cli_print(buf_str(&out));
}

static int diff_run(struct cli *c, const void *args)
{
	struct sidecar_error error;
	const int64_t given = c->argc ? number_of(c->argv[0]) : 0;
	char target[64];
	int status = EXIT_OK, http = 0;

	(void)args;
	const int64_t id = given ? given : last_change(c, &status);
	if (!id)
		return status;
	(void)snprintf(target, sizeof target, "/changes/%" PRId64 "/diff", id);
	struct sidecar_text *text = sidecar_request(c->server, "GET", target, NULL, &http, &error);
	if (!text)
		return cli_fail(c, &error);
	if (http == 200) {
		print_diff(c, given ? 1 : 0, (struct str){ text->content, text->length });
	} else {
		cli_say(c, "There is no change %" PRId64, id);
		status = EXIT_FAILED;
	}
	sidecar_free(text);
	return status;
}

const struct verb verb_diff = {
	.name = "diff",
	.about = "show what a change did to files, as a unified diff",
	.operands = "[ID] [PATH]...",
	.examples = "  sidecar diff                      the last change\n"
		    "  sidecar diff 41 src/a.c\n",
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.most = -1,
	.run = diff_run,
};

struct undo_options {
	const char *since, *session;
	bool dry_run, force, yes;
};

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

/* The first change that is not older than so many seconds; 0 and *status if there is none. */
static int64_t first_since(struct cli *c, int64_t seconds, int *status)
{
	const struct json *result =
		cli_request(c, "GET", "/changes?limit=1000", NULL, &c->memory, status);
	const struct json *changes = result ? json_get(result, STR("changes")) : NULL;
	char text[UTC_TEXT];
	/* Times of this form sort as texts. */
	const struct str from = utc_iso(time(NULL) - seconds, 0, text);

	if (!result)
		return 0;
	for (const struct json *i = changes ? changes->first : NULL; i; i = i->next) {
		if (str_cmp(json_text(i, STR("time")), from) >= 0)
			return cli_number(i, STR("id"), 0);
	}
	cli_say(c, "There is no change that recent");
	*status = EXIT_FAILED;
	return 0;
}

/* What is to be undone. */
struct choice {
	int64_t id, since;
	const char *session;
	int first_path; /* of the operands */
	bool is_last;	/* nothing was named: it is the last change */
};

static int choose(struct cli *c, const struct undo_options *o, struct choice *ret)
{
	int status = EXIT_OK;

	*ret = (struct choice){ .session = o->session };
	if (o->since) {
		const int64_t seconds = cli_seconds(str_of(o->since));
		ret->since = seconds < 0 ? number_of(o->since) : first_since(c, seconds, &status);
		if (!ret->since && status == EXIT_OK)
			return cli_misused(c, "--since must be the number of a change, or a time "
					      "such as 10m");
		return ret->since ? EXIT_OK : status;
	}
	if (o->session)
		return EXIT_OK;
	ret->id = c->argc ? number_of(c->argv[0]) : 0;
	ret->first_path = ret->id ? 1 : 0;
	if (ret->id)
		return EXIT_OK;
	ret->is_last = true;
	ret->id = last_change(c, &status);
	return ret->id ? EXIT_OK : status;
}

static const struct json *send_undo(struct cli *c, const struct undo_options *o,
				    const struct choice *what, bool dry_run, int *status)
{
	AUTO_BUF body = { .max = LIMIT_BODY };
	struct jw w = jw_to(&body);

	jw_object(&w, NULL);
	if (what->id)
		jw_int(&w, "id", what->id);
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
	buf_addc(&body, '\0');
	return cli_request(c, "POST", "/changes/undo", &body, &c->memory, status);
}

/* A person sees the beginning of a long list, a program all of it. */
enum { SHOWN_PATHS = 20 };

static void add_paths(struct buf *out, const char *word, const struct json *paths)
{
	const size_t most = isatty(STDOUT_FILENO) ? SHOWN_PATHS : SIZE_MAX;
	size_t n = 0;

	for (const struct json *p = paths ? paths->first : NULL; p; p = p->next) {
		if (n++ >= most)
			continue;
		buf_addf(out, "%-9s", word);
		if (p->type == JSON_STRING) {
			cli_add_name(out, p->string);
		} else {
			cli_add_name(out, json_text(p, STR("from")));
			buf_add(out, STR(" -> "));
			cli_add_name(out, json_text(p, STR("to")));
		}
		buf_addc(out, '\n');
	}
	if (n > most)
		buf_addf(out, "%-9s… and %zu more (--json shows all)\n", word, n - most);
}

static void print_result(const struct cli *c, const struct json *result)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	if (c->json) {
		cli_print_result(result);
		return;
	}
	add_paths(&out, "restore", json_get(result, STR("restored")));
	add_paths(&out, "remove", json_get(result, STR("removed")));
	add_paths(&out, "rename", json_get(result, STR("renamed")));
	cli_print(buf_str(&out));
	const struct json *complete = json_get(result, STR("complete"));
	if (complete && !complete->boolean)
		cli_say(c, "this may be a part: not everything that was changed is known");
}

/* Whether the user agrees; without a terminal nothing can be asked. */
static bool agrees(const struct cli *c)
{
	char answer[8] = "";

	if (!isatty(STDIN_FILENO)) {
		cli_say(c, "nothing was undone: say --yes, or which change");
		return false;
	}
	(void)fprintf(stderr, "Undo this? [y/N] ");
	if (!fgets(answer, sizeof answer, stdin))
		return false;
	return answer[0] == 'y' || answer[0] == 'Y';
}

static int undo_run(struct cli *c, const void *args)
{
	const struct undo_options *o = args;
	struct choice what;
	int status = choose(c, o, &what);

	if (status != EXIT_OK)
		return status;
	const bool ask = what.is_last && !o->yes && !o->dry_run;
	if (ask || o->dry_run) {
		const struct json *plan = send_undo(c, o, &what, true, &status);
		if (!plan)
			return status;
		print_result(c, plan);
		if (o->dry_run)
			return EXIT_OK;
		if (!agrees(c))
			return EXIT_FAILED;
	}
	const struct json *result = send_undo(c, o, &what, false, &status);
	if (!result)
		return status;
	if (!ask || c->json)
		print_result(c, result);
	cli_say(c, "undone; to do it again: sidecar undo %" PRId64,
		cli_number(result, STR("change"), 0));
	return EXIT_OK;
}

const struct verb verb_undo = {
	.name = "undo",
	.about = "take back what tools and commands have changed",
	.operands = "[ID] [PATH]...",
	.examples = "  sidecar undo                      the last change; it asks first\n"
		    "  sidecar undo 41 src/a.c           only this file of change 41\n"
		    "  sidecar undo --since 10m --dry-run\n",
	.options = undo_options,
	.args_size = sizeof(struct undo_options),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.most = -1,
	.run = undo_run,
};
