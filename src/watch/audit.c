/* SPDX-License-Identifier: MIT */
/* audit: `sidecar audit`: check the record of calls, or show it. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/human.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/utc.h"
#include "cli/cli.h"
#include "service/chain.h"
#include "watch/limits.h"
#include "watch/view.h"

struct audit_args {
	const char *key_file, *last, *tool;
	bool refused;
};

static const struct option audit_options[] = {
	{ "key-file", 'k', OPTION_TEXT, offsetof(struct audit_args, key_file), "FILE",
	  "verify: the key that the lines were made with" },
	{ "last", 0, OPTION_TEXT, offsetof(struct audit_args, last), "SEQ:MAC",
	  "verify: a line that must be there, as the server's log names the last one" },
	{ "tool", 0, OPTION_TEXT, offsetof(struct audit_args, tool), "NAME",
	  "show: only calls of this tool" },
	{ "refused", 0, OPTION_SWITCH, offsetof(struct audit_args, refused), NULL,
	  "show: only what was refused" },
	OPTION_END,
};

static const char *const actions[] = { "verify", "show", NULL };

/* Files that are checked one after another. */
struct verifying {
	const struct cli *cli;
	struct chain chain;
	struct buf out;
	struct jw w; /* with --json */
	const char *name;
	int64_t faults;
	char wanted[2][SHA256_TEXT + 32]; /* --last: how the line begins and ends, or "" */
	bool found;			  /* that line */
};

static void tell_people(struct verifying *v, const struct chain_finding *f)
{
	buf_addf(&v->out, "%s: ", v->name);
	if (f->fault == CHAIN_MISSING && f->first == f->last)
		buf_addf(&v->out,
			 "before line %" PRId64 " the line numbered %" PRId64 " is missing\n",
			 f->line, f->first);
	else if (f->fault == CHAIN_MISSING)
		buf_addf(&v->out,
			 "before line %" PRId64 " the lines numbered %" PRId64 " to %" PRId64
			 " are missing\n",
			 f->line, f->first, f->last);
	else
		buf_addf(&v->out, "line %" PRId64 " %s\n", f->line,
			 f->fault == CHAIN_CHANGED  ? "was changed"
			 : f->fault == CHAIN_PUT_IN ? "was put in"
			 : f->fault == CHAIN_MOVED  ? "is not in its place"
						    : "has no end: it was cut off");
}

static void tell(void *arg, const struct chain_finding *f)
{
	static const char *const words[] = { "changed", "missing", "put in", "moved", "cut off" };
	struct verifying *v = arg;

	v->faults++;
	if (!v->cli->json) {
		tell_people(v, f);
		return;
	}
	jw_object(&v->w, NULL);
	jw_int(&v->w, "line", f->line);
	jw_str(&v->w, "fault", str_of(words[f->fault]));
	if (f->fault == CHAIN_MISSING) {
		jw_int(&v->w, "first", f->first);
		jw_int(&v->w, "last", f->last);
	}
	jw_end(&v->w);
}

static bool has_type(struct str line, struct str type)
{
	char member[64];

	(void)snprintf(member, sizeof member, ",\"type\":\"%.*s\"", STR_FMT(type));
	return str_find(line, str_of(member)) >= 0;
}

/* What the lines say of their own completeness: whether the last one closes the file, and how many
 * servers began after one that had not ended in order. */
static bool is_closed(struct str text, int64_t *unclosed)
{
	bool closed = true;
	struct str line;

	*unclosed = 0;
	for (bool first = true; str_cut(text, '\n', &line, &text); first = false) {
		*unclosed += has_type(line, STR("audit.start")) && !closed && !first;
		closed = has_type(line, STR("audit.stop")) || has_type(line, STR("audit.rotate"));
	}
	return closed;
}

static void sum_up_people(struct verifying *v, const struct chain_report *r, bool closed,
			  int64_t unclosed)
{
	buf_addf(&v->out, "%s: %" PRId64 " line%s, ", v->name, r->lines, r->lines == 1 ? "" : "s");
	if (r->faults)
		buf_addf(&v->out, "%" PRId64 " fault%s\n", r->faults, r->faults == 1 ? "" : "s");
	else
		buf_addf(&v->out, "nothing was changed, removed, put in or moved%s\n",
			 v->chain.key.n ? "" : " by accident (without a key a forger can hide it)");
	if (r->lines && r->good == 0)
		buf_addf(&v->out, "%s: no line fits: %s\n", v->name,
			 v->chain.key.n ? "is it the right key?"
					: "if they were made with a key, give it with --key-file");
	if (r->continued)
		buf_addf(&v->out, "%s: it goes on from another file, which was not given\n",
			 v->name);
	if (unclosed)
		buf_addf(&v->out,
			 "%s: %" PRId64
			 " time%s a server began after one that did not end in order: "
			 "lines before that may be missing\n",
			 v->name, unclosed, unclosed == 1 ? "" : "s");
	if (!closed)
		buf_addf(&v->out, "%s: there is no closing line: the end may be missing\n",
			 v->name);
}

/* Understand --last. False if it is not SEQ:MAC. */
static bool parse_last(struct verifying *v, const char *text)
{
	struct str number, mac;
	int64_t seq;

	if (!str_cut(str_of(text), ':', &number, &mac) || !str_int(number, &seq) || seq <= 0 ||
	    mac.n != SHA256_TEXT - 1)
		return false;
	(void)snprintf(v->wanted[0], sizeof v->wanted[0], "{\"seq\":%" PRId64 ",", seq);
	(void)snprintf(v->wanted[1], sizeof v->wanted[1], "\"mac\":\"%.*s\"}", STR_FMT(mac));
	return true;
}

static void look_for_last(struct verifying *v, struct str text)
{
	struct str line;

	while (*v->wanted[0] && !v->found && str_cut(text, '\n', &line, &text))
		v->found = str_starts(line, str_of(v->wanted[0])) &&
			   str_ends(line, str_of(v->wanted[1]));
}

static void sum_up_last(struct verifying *v, const char *last)
{
	if (!last)
		return;
	v->faults += !v->found;
	if (v->cli->json)
		jw_bool(&v->w, "last", v->found);
	else if (!v->found)
		buf_addf(&v->out,
			 "the line %.*s is not there: the end was cut off, or this is another "
			 "record\n",
			 (int)strcspn(last, ":"), last);
}

static int verify_file(struct verifying *v, const char *name, struct err *e)
{
	AUTO_BUF text = { .max = LIMIT_AUDIT_FILE };
	struct chain_report report;
	int64_t unclosed;

	const size_t before = v->out.n;
	v->name = name;
	if (cli_read_input(v->cli, name, &text) < 0)
		return EXIT_FAILED;
	if (v->cli->json) {
		jw_object(&v->w, NULL);
		jw_str(&v->w, "file", str_of(name));
		jw_array(&v->w, "faults");
	}
	if (chain_check(&v->chain, buf_str(&text), tell, v, &report, e) < 0) {
		cli_say(v->cli, "%s", e->msg);
		return EXIT_FAILED;
	}
	const bool closed = is_closed(buf_str(&text), &unclosed);
	look_for_last(v, buf_str(&text));
	if (!v->cli->json) {
		/* With the wrong key there is nothing to be said of single lines. */
		if (report.good == 0)
			v->out.n = before;
		sum_up_people(v, &report, closed, unclosed);
		return EXIT_OK;
	}
	jw_end(&v->w);
	jw_int(&v->w, "lines", report.lines);
	jw_int(&v->w, "fitting", report.good);
	jw_bool(&v->w, "closed", closed);
	jw_bool(&v->w, "continued", report.continued);
	jw_int(&v->w, "unclosed", unclosed);
	jw_end(&v->w);
	return EXIT_OK;
}

static int verify(struct cli *c, const struct audit_args *a)
{
	AUTO_BUF key = { .max = 64 << 10 };
	struct verifying v = { .cli = c, .out = { .max = LIMIT_ANSWER } };
	int status = EXIT_OK;
	struct err e;

	if (a->last && !parse_last(&v, a->last))
		return cli_misused(c, "--last needs the number and the code of a line, "
				      "as in 41:0f3a…");
	if (a->key_file && cli_read_input(c, a->key_file, &key) < 0)
		return EXIT_USAGE;
	v.chain = chain_begin(str_trim(buf_str(&key)));
	v.w = jw_to(&v.out);
	if (c->json) {
		jw_object(&v.w, NULL);
		jw_array(&v.w, "files");
	}
	for (int i = 1; i < c->argc && status == EXIT_OK; i++)
		status = verify_file(&v, c->argv[i], &e);
	if (c->json)
		jw_end(&v.w);
	sum_up_last(&v, a->last);
	if (c->json && status == EXIT_OK) {
		jw_bool(&v.w, "ok", v.faults == 0);
		jw_end(&v.w);
		buf_addc(&v.out, '\n');
	}
	if (status == EXIT_OK)
		cli_print(buf_str(&v.out));
	buf_done(&v.out);
	return status == EXIT_OK && v.faults ? EXIT_FAILED : status;
}

/* A line about the audit itself, and the date when it changes. */
static void show_own(const struct cli *c, const struct json *line, struct str type, char date[11])
{
	AUTO_BUF out = { .max = 64 << 10 };
	const bool coloured = cli_colour(c, STDOUT_FILENO);
	char text[512], when[HUMAN_SIZE] = "";
	int64_t seconds;

	if (utc_seconds(json_text(line, STR("time")), &seconds) &&
	    memcmp(date, human_when(seconds, when), 10) != 0) {
		memcpy(date, when, 10);
		columns_paint(&out, coloured, LOG_BOLD, str_of(date));
		buf_addc(&out, '\n');
	}
	if (str_starts(type, STR("audit."))) {
		char shown[512];
		struct buf cell = buf_over(shown, sizeof shown);
		(void)snprintf(text, sizeof text, "%s  %.*s  %.*s", when + HUMAN_CLOCK,
			       STR_FMT(type), STR_FMT(json_text(line, STR("workspace"))));
		(void)columns_fit(&cell, str_of(text), columns_of(STDOUT_FILENO));
		columns_paint(&out, coloured, LOG_DIM, buf_str(&cell));
		buf_addc(&out, '\n');
	}
	cli_print(buf_str(&out));
}

static int show_file(const struct cli *c, const char *name, struct view *v, char date[11])
{
	AUTO_BUF text = { .max = LIMIT_AUDIT_FILE };
	AUTO_ARENA memory = { .max = 1 << 20 };
	struct str line, rest;
	struct err e;

	if (cli_read_input(c, name, &text) < 0)
		return EXIT_FAILED;
	rest = buf_str(&text);
	if (c->json) {
		cli_print(rest);
		return EXIT_OK;
	}
	for (int64_t number = 1; rest.n; number++) {
		const struct json *object;
		(void)str_cut(rest, '\n', &line, &rest);
		if (json_parse(line, &memory, &object, &e) == 0) {
			const struct str type = json_text(object, STR("type"));
			view_pause(v);
			show_own(c, object, type, date);
			view_event(v, object, line);
		} else {
			cli_say(c, "%s: line %" PRId64 " is damaged", name, number);
		}
		arena_reset(&memory);
	}
	view_pause(v);
	return EXIT_OK;
}

static int show(struct cli *c, const struct audit_args *a)
{
	const struct view_options o = { .coloured = cli_colour(c, STDOUT_FILENO),
					.tool = str_of(a->tool),
					.refused = a->refused };
	struct view *v = view_new(&o);
	int status = v ? EXIT_OK : EXIT_FAILED;
	char date[11] = "";

	for (int i = 1; i < c->argc && status == EXIT_OK; i++)
		status = show_file(c, c->argv[i], v, date);
	view_free(v);
	return status;
}

static int audit_run(struct cli *c, const void *args)
{
	if (strcmp(c->argv[0], "verify") == 0)
		return verify(c, args);
	if (strcmp(c->argv[0], "show") == 0)
		return show(c, args);
	return cli_misused(c, "say what to do: verify or show, not \"%s\"", c->argv[0]);
}

const struct verb verb_audit = {
	.name = "audit",
	.about = "check the record of calls that --audit has made, or show it",
	.operands = "verify|show FILE...",
	.examples = "  sidecar audit verify audit.log --key-file audit.key\n"
		    "  sidecar audit verify audit.log --key-file audit.key --last 41:0f3a…\n"
		    "  sidecar audit verify audit.log.1 audit.log\n"
		    "  sidecar audit show audit.log\n",
	.options = audit_options,
	.args_size = sizeof(struct audit_args),
	.flags = VERB_PRINTS,
	.least = 2,
	.most = -1,
	.words = actions,
	.run = audit_run,
};
