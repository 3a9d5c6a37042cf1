/* SPDX-License-Identifier: MIT */
/* changes: what calls have changed: `changes` and `diff`. */

#include "cli/changes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/human.h"
#include "base/limits.h"
#include "base/utc.h"

int64_t changes_number(const char *text)
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
		const int64_t n = json_int(change, kinds[i], 0);
		if (!n)
			continue;
		buf_addf(out, "%s%" PRId64 " %.*s", first ? "" : ", ", n, STR_FMT(kinds[i]));
		first = false;
	}
}

/* What has become of it; empty: nothing. */
static struct str note_of(const struct json *change, char room[64])
{
	const struct json *undone = json_get(change, STR("undone_by"));

	if (undone && undone->type == JSON_NUMBER) {
		(void)snprintf(room, 64, "undone by %" PRId64, undone->integer);
		return str_of(room);
	}
	return json_is_true(change, STR("open"))	? STR("goes on")
	       : !json_is_true(change, STR("undoable")) ? STR("cannot be undone")
							: STR("");
}

/* "2026-05-04 09:13:02" */
static struct str when_of(const struct json *change, char room[HUMAN_SIZE])
{
	int64_t seconds = -1;

	(void)utc_seconds(json_text(change, STR("time")), &seconds);
	return str_of(human_when(seconds, room));
}

/* For programs that read lines. */
static void add_change(struct buf *out, const struct json *change)
{
	char when[HUMAN_SIZE], room[64];
	const struct str note = note_of(change, room);

	buf_addf(out, "%-5" PRId64 " %.*s  %-12.*s ", json_int(change, STR("id"), 0),
		 STR_FMT(when_of(change, when)), STR_FMT(json_text(change, STR("tool"))));
	add_counts(out, change);
	if (!json_is_true(change, STR("complete")))
		buf_add(out, STR(" or more"));
	if (note.n)
		buf_addf(out, " (%.*s)", STR_FMT(note));
	buf_add(out, STR("  "));
	cli_add_visible(out, json_text(change, STR("subject")));
	buf_addc(out, '\n');
}

enum { ID_WIDTH = 6, WHEN_WIDTH = 14, TOOL_WIDTH = 12, FILES_WIDTH = 22, LEAST_SUBJECT = 12 };
enum { LEAST_WITH_TOOL = 60 }; /* columns of a terminal */

/* A table for people, as wide as the terminal. */
struct changes_table {
	struct buf out;
	bool coloured;
	size_t tool, files, subject; /* columns of these cells; of a tool that is left out 0 */
};

/* A cell, and what is between it and the next. */
static void add_cell(struct buf *out, struct str text, size_t width)
{
	if (!width)
		return;
	columns_cell(out, text, width);
	buf_add(out, STR("  "));
}

static struct changes_table open_table(const struct cli *c)
{
	const size_t columns = columns_of(STDOUT_FILENO);
	const size_t tool = columns < LEAST_WITH_TOOL ? 0 : TOOL_WIDTH;
	const size_t before = ID_WIDTH + 2 + WHEN_WIDTH + 2 + (tool ? tool + 2 : 0) + 2;
	const size_t rest = columns > before + LEAST_SUBJECT ? columns - before : LEAST_SUBJECT;
	const size_t files = rest < FILES_WIDTH + LEAST_SUBJECT ? rest / 2 : FILES_WIDTH;
	struct changes_table t = {
		.out = { .max = LIMIT_ANSWER },
		.coloured = cli_colour(c, STDOUT_FILENO),
		.tool = tool,
		.files = files,
		.subject = rest - files,
	};
	AUTO_BUF head = { .max = 256 };

	buf_addf(&head, "%*s  %-*s  ", ID_WIDTH, "CHANGE", WHEN_WIDTH, "TIME");
	add_cell(&head, STR("TOOL"), tool);
	add_cell(&head, STR("FILES"), files);
	buf_add(&head, STR("SUBJECT"));
	columns_paint(&t.out, t.coloured, LOG_BOLD, buf_str(&head));
	buf_addc(&t.out, '\n');
	return t;
}

static void add_row(struct changes_table *t, const struct json *change)
{
	AUTO_BUF files = { .max = 256 }, shown = { .max = 4096 };
	char when[HUMAN_SIZE], room[64];
	const struct str note = note_of(change, room);
	const bool deletes = !json_int(change, STR("created"), 0) &&
			     !json_int(change, STR("modified"), 0) &&
			     !json_int(change, STR("renamed"), 0);

	/* The year says nothing: changes are kept for days. */
	buf_addf(&t->out, "%*" PRId64 "  %-*.*s  ", ID_WIDTH, json_int(change, STR("id"), 0),
		 WHEN_WIDTH, STR_FMT(str_from(when_of(change, when), 5)));
	add_cell(&t->out, json_text(change, STR("tool")), t->tool);
	add_counts(&files, change);
	if (!json_is_true(change, STR("complete")))
		buf_add(&files, STR(" or more"));
	columns_cell(&shown, note.n ? note : buf_str(&files), t->files);
	columns_paint(&t->out, t->coloured,
		      note.n	? LOG_DIM
		      : deletes ? LOG_RED
				: LOG_GREEN,
		      buf_str(&shown));
	buf_add(&t->out, STR("  "));
	(void)columns_fit(&t->out, json_text(change, STR("subject")), t->subject);
	buf_addc(&t->out, '\n');
}

struct changes_options {
	int64_t limit, before;
	const char *since, *session, *tool, *path;
};

static const struct option changes_options[] = {
	{ "limit", 'n', OPTION_NUMBER, offsetof(struct changes_options, limit), "N",
	  "at most this many (default: the newest 100)" },
	{ "since", 0, OPTION_TEXT, offsetof(struct changes_options, since), "ID|10m",
	  "from this change on, or those of the last 10 minutes (s, m, h, d)" },
	{ "before", 0, OPTION_NUMBER, offsetof(struct changes_options, before), "ID",
	  "only older ones than this" },
	{ "session", 0, OPTION_TEXT, offsetof(struct changes_options, session), "NAME",
	  "only of this session" },
	{ "tool", 0, OPTION_TEXT, offsetof(struct changes_options, tool), "NAME",
	  "only by this tool: run_command, edit_file, bash …" },
	{ "path", 0, OPTION_TEXT, offsetof(struct changes_options, path), "PATH",
	  "only of this path, or what is below it" },
	OPTION_END,
};

/* The first change that is not older than that many seconds; 0 and *status if there is none. */
static int64_t first_since(struct cli *c, int64_t seconds, int *status)
{
	const struct json *result =
		cli_request(c, "GET", "/changes?limit=1000", NULL, &c->memory, status);
	char text[UTC_TEXT];
	/* Times of this form sort as texts. */
	const struct str from = utc_iso(time(NULL) - seconds, 0, text);

	if (!result)
		return 0;
	for (const struct json *i = json_items(result, STR("changes")); i; i = i->next) {
		if (str_cmp(json_text(i, STR("time")), from) >= 0)
			return json_int(i, STR("id"), 0);
	}
	cli_say(c, "There is no change that recent");
	*status = EXIT_FAILED;
	return 0;
}

int64_t changes_since(struct cli *c, const char *since, int *status)
{
	const int64_t seconds = cli_seconds(str_of(since));
	const int64_t id = seconds < 0 ? changes_number(since) : first_since(c, seconds, status);

	if (!id && *status == EXIT_OK)
		*status = cli_misused(
			c, "--since must be the number of a change, or a time such as 10m");
	return id;
}

static void add_query(struct buf *target, const char *name, const char *value)
{
	buf_addf(target, "%c%s=", target->n > STR("/changes").n ? '&' : '?', name);
	for (; *value; value++) {
		const unsigned char byte = (unsigned char)*value;
		if (strchr("/-_.~", byte) || (byte >= '0' && byte <= '9') ||
		    ((byte | 32) >= 'a' && (byte | 32) <= 'z'))
			buf_addc(target, (char)byte);
		else
			buf_addf(target, "%%%02x", byte);
	}
}

static void add_number(struct buf *target, const char *name, int64_t n)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%" PRId64, n);
	add_query(target, name, text);
}

/* The request for the changes that are asked for; -1 and *status if that cannot be told. */
static int make_target(struct cli *c, const struct changes_options *o, struct buf *target,
		       int *status)
{
	const char *const texts[][2] = { { "session", o->session },
					 { "tool", o->tool },
					 { "path", o->path ? cli_path(c, o->path) : NULL } };

	buf_add(target, STR("/changes"));
	if (o->since) {
		const int64_t id = changes_since(c, o->since, status);
		if (!id)
			return -1;
		add_number(target, "since", id - 1);
	}
	if (o->before)
		add_number(target, "before", o->before);
	if (o->limit)
		add_number(target, "limit", o->limit);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i][1])
			add_query(target, texts[i][0], texts[i][1]);
	buf_addc(target, '\0');
	return 0;
}

/* How many there are, and how to get the others. */
static void say_rest(const struct cli *c, const struct json *result, int64_t shown)
{
	const int64_t total = json_int(result, STR("total"), shown);
	const int64_t older = json_int(result, STR("older"), 0);

	if (older)
		cli_say(c, "%" PRId64 " of %" PRId64 " changes; older ones: --before %" PRId64,
			shown, total, older);
	else if (json_is_true(result, STR("more")))
		cli_say(c, "%" PRId64 " of %" PRId64 " changes; --limit shows more", shown, total);
}

static void print_changes(const struct cli *c, const struct json *first)
{
	AUTO_BUF lines = { .max = LIMIT_ANSWER };

	if (!cli_is_terminal(STDOUT_FILENO)) {
		for (const struct json *i = first; i; i = i->next)
			add_change(&lines, i);
		cli_print(buf_str(&lines));
	} else if (first) {
		struct changes_table t = open_table(c);
		for (const struct json *i = first; i; i = i->next)
			add_row(&t, i);
		cli_print(buf_str(&t.out));
		buf_done(&t.out);
	}
}

static int list(struct cli *c, const struct changes_options *o)
{
	AUTO_BUF target = { .max = LIMIT_HTTP_HEAD };
	int status = EXIT_OK;
	int64_t shown = 0;

	if (make_target(c, o, &target, &status) < 0)
		return status;
	const struct json *result = cli_request(c, "GET", target.p, NULL, &c->memory, &status);
	const struct json *changes = json_items(result, STR("changes"));

	if (!result)
		return status;
	if (c->json) {
		cli_print_result(result);
		return EXIT_OK;
	}
	if (!changes)
		cli_say(c, "No changes");
	print_changes(c, changes);
	for (const struct json *i = changes; i; i = i->next)
		shown++;
	say_rest(c, result, shown);
	return EXIT_OK;
}

static int show(struct cli *c, int64_t id)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	char target[64];
	int status;

	(void)snprintf(target, sizeof target, "/changes/%" PRId64, id);
	const struct json *result = cli_request(c, "GET", target, NULL, &c->memory, &status);
	if (!result)
		return status;
	if (c->json) {
		cli_print_result(result);
		return EXIT_OK;
	}
	add_change(&out, result);
	for (const struct json *p = json_items(result, STR("paths")); p; p = p->next) {
		buf_addf(&out, "  %-9.*s", STR_FMT(json_text(p, STR("kind"))));
		cli_add_name(&out, json_text(p, STR("path")));
		if (json_text(p, STR("from")).n) {
			buf_add(&out, STR(" (was "));
			cli_add_name(&out, json_text(p, STR("from")));
			buf_addc(&out, ')');
		}
		if (!json_is_true(p, STR("saved")))
			buf_add(&out, STR(" (old content not saved)"));
		buf_addc(&out, '\n');
	}
	cli_print(buf_str(&out));
	if (json_is_true(result, STR("more")))
		cli_say(c, "there are more paths: --json with ?offset= in the HTTP API has all");
	return EXIT_OK;
}

static int changes_run(struct cli *c, const void *args)
{
	const int64_t id = c->argc ? changes_number(c->argv[0]) : 0;

	if (c->argc && !id)
		return cli_misused(c, "\"%s\" is not the number of a change", c->argv[0]);
	return id ? show(c, id) : list(c, args);
}

const struct verb verb_changes = {
	.name = "changes",
	.about = "list what tools and commands have changed",
	.operands = "[ID]",
	.examples = "  sidecar changes\n"
		    "  sidecar changes 41                the paths of one change\n"
		    "  sidecar changes --since 1h --tool run_command\n",
	.options = changes_options,
	.args_size = sizeof(struct changes_options),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS | VERB_HISTORY,
	.most = 1,
	.kind = OPERANDS_CHANGES,
	.run = changes_run,
};

const struct json *changes_last(struct cli *c, bool is_undo, int *status)
{
	const struct json *result =
		cli_request(c, "GET", "/changes?limit=1000", NULL, &c->memory, status);
	const struct json *last = NULL;

	if (!result)
		return NULL;
	for (const struct json *i = json_items(result, STR("changes")); i; i = i->next) {
		const struct json *undone = json_get(i, STR("undone_by"));
		if (str_eq(json_text(i, STR("tool")), STR("undo")) == is_undo &&
		    (!undone || undone->type != JSON_NUMBER))
			last = i;
	}
	if (!last) {
		cli_say(c, is_undo ? "There is no undo that could be taken back"
				   : "There is no change that could be undone");
		*status = EXIT_FAILED;
	}
	return last;
}

int changes_fail_path(const struct cli *c, int64_t id, const char *verb, const char *path)
{
	cli_say(c,
		"%s is not the number of a change, and change %" PRId64
		" has nothing to %s at that path; \"sidecar changes --path %s\" lists those that "
		"have",
		path, id, verb, path);
	return EXIT_FAILED;
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

/* Print the files of a diff that are asked for. False: it has none of them. */
static bool print_diff(const struct cli *c, int first, struct str text)
{
	AUTO_BUF out = { .max = SIZE_MAX };
	bool wanted = first >= c->argc;

	while (text.n) {
		struct str line, rest, second;
		(void)str_cut(text, '\n', &line, &rest);
		(void)str_cut(rest, '\n', &second, &(struct str){ NULL, 0 });
		if (begins_file(line))
			wanted = is_wanted(c, first, line) ||
				 (str_starts(second, STR("+++ ")) && is_wanted(c, first, second));
		if (wanted)
			buf_add(&out, str_upto(text, text.n - rest.n));
		text = rest;
	}
	cli_print_diff(c, buf_str(&out));
	return out.n || first >= c->argc;
}

static int diff_run(struct cli *c, const void *args)
{
	struct sidecar_error error;
	const int64_t given = c->argc ? changes_number(c->argv[0]) : 0;
	char target[64];
	int status = EXIT_OK, http = 0;

	(void)args;
	const struct json *last = given ? NULL : changes_last(c, false, &status);
	if (!given && !last)
		return status;
	const int64_t id = given ? given : json_int(last, STR("id"), 0);
	(void)snprintf(target, sizeof target, "/changes/%" PRId64 "/diff", id);
	struct sidecar_text *text = sidecar_request(c->server, "GET", target, NULL, &http, &error);
	if (!text)
		return cli_fail(c, &error);
	const int first = given ? 1 : 0;
	if (http != 200) {
		cli_say(c, "There is no change %" PRId64, id);
		status = EXIT_FAILED;
	} else if (!print_diff(c, first, (struct str){ text->content, text->length })) {
		status = changes_fail_path(c, id, "show", c->argv[first]);
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
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_HISTORY,
	.most = -1,
	.kind = OPERANDS_CHANGES,
	.run = diff_run,
};
