/* SPDX-License-Identifier: MIT */
/* grep: print the lines that match a pattern: all of them, page by page. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "cli/cli.h"
#include "cli/matcher.h"
#include "search/grep.h"
#include "tools/limits.h"

enum { FIRST_PAGE = 200 }; /* matches: small, so that a person sees something soon */

struct cli_grep_args {
	struct option_list patterns, globs, types;
	const char *color;
	bool ignore_case, smart_case, literal, word, line, multiline, no_ignore, habit, type_list;
	bool invert, quiet, only, without, nul;
	bool files, count, number, no_number, name, no_name, heading, no_heading;
	int64_t context, before, after, limit;
};

#define AT(m) offsetof(struct cli_grep_args, m)

static const char *const colors[] = { "auto", "always", "never", NULL };

static const struct option grep_options[] = {
	{ "regexp", 'e', OPTION_LIST, AT(patterns), "PATTERN",
	  "search for this pattern; may be repeated; then all operands are paths" },
	{ "ignore-case", 'i', OPTION_SWITCH, AT(ignore_case), NULL,
	  "do not distinguish upper and lower case" },
	{ "smart-case", 'S', OPTION_SWITCH, AT(smart_case), NULL,
	  "the same if the pattern has no upper-case letter" },
	{ "invert-match", 'v', OPTION_SWITCH, AT(invert), NULL, "print the lines without a match" },
	{ "line-regexp", 'x', OPTION_SWITCH, AT(line), NULL, "match only whole lines" },
	{ "word", 'w', OPTION_SWITCH, AT(word), NULL, "match only whole words" },
	{ "literal", 'F', OPTION_SWITCH, AT(literal), NULL, "take the pattern as plain text" },
	{ "multiline", 'U', OPTION_SWITCH, AT(multiline), NULL,
	  "let a match cross lines; \\n may be part of the pattern" },
	{ "glob", 'g', OPTION_LIST, AT(globs), "GLOB",
	  "search only files that match; !GLOB: not those; may be repeated" },
	{ "type", 't', OPTION_LIST, AT(types), "TYPE",
	  "search only files of this kind: c, py, js ...; may be repeated" },
	{ "type-list", 0, OPTION_SWITCH, AT(type_list), NULL, "print the kinds of files and end" },
	{ "no-ignore", 0, OPTION_SWITCH, AT(no_ignore), NULL,
	  "also search what .gitignore and .ignore hide" },
	{ "files-with-matches", 'l', OPTION_SWITCH, AT(files), NULL,
	  "print only the paths of files with a match" },
	{ "files-without-match", 'L', OPTION_SWITCH, AT(without), NULL,
	  "print only the paths of files without a match" },
	{ "only-matching", 'o', OPTION_SWITCH, AT(only), NULL,
	  "print only what matches of each line, each match on a line of its own" },
	{ "quiet", 'q', OPTION_SWITCH, AT(quiet), NULL,
	  "print nothing and stop at the first match: the exit status is the answer" },
	{ "null", '0', OPTION_SWITCH, AT(nul), NULL, "print a NUL byte after each path" },
	{ "color", 0, OPTION_WORD, AT(color), NULL, "when to use colour", colors },
	{ "count", 'c', OPTION_SWITCH, AT(count), NULL,
	  "print only the number of matching lines of each file" },
	{ "after-context", 'A', OPTION_NUMBER, AT(after), "LINES",
	  "lines to print after each match, at most 100" },
	{ "before-context", 'B', OPTION_NUMBER, AT(before), "LINES",
	  "lines to print before each match, at most 100" },
	{ "context", 'C', OPTION_NUMBER, AT(context), "LINES", "the same before and after" },
	{ "limit", 'm', OPTION_NUMBER, AT(limit), "NUMBER",
	  "stop after this many matches (default: print all)" },
	{ "line-number", 'n', OPTION_SWITCH, AT(number), NULL,
	  "print line numbers (default on a terminal)" },
	{ "no-line-number", 'N', OPTION_SWITCH, AT(no_number), NULL, "print no line numbers" },
	{ "with-filename", 'H', OPTION_SWITCH, AT(name), NULL,
	  "print paths (default unless one file is searched)" },
	{ "no-filename", 'I', OPTION_SWITCH, AT(no_name), NULL, "print no paths" },
	{ "heading", 0, OPTION_SWITCH, AT(heading), NULL,
	  "print each path once, above its lines (default on a terminal)" },
	{ "no-heading", 0, OPTION_SWITCH, AT(no_heading), NULL,
	  "print the path at the start of each line" },
	{ "hidden", 0, OPTION_SWITCH, AT(habit), NULL,
	  "changes nothing: names that begin with a dot are always searched" },
	{ "recursive", 'r', OPTION_SWITCH, AT(habit), NULL,
	  "changes nothing: directories are always searched with all below them" },
	{ "extended", 'E', OPTION_SWITCH, AT(habit), NULL,
	  "changes nothing: patterns are always extended" },
	OPTION_END,
};

/* A search on its way to the terminal. */
struct search {
	struct cli *cli;
	const struct cli_grep_args *args;
	struct matcher matcher;
	int64_t limit; /* 0: none */
	int paths;     /* the first operand that is one */
	bool names, numbers, heading, colour;

	/* What has been printed. */
	struct buf path;  /* of the file that comes now … */
	struct buf shown; /* … and as it is printed */
	int64_t last;	  /* its last line; 0: none yet */
	struct buf after; /* lines after the last match, which may also belong to the next one … */
	int64_t after_n;  /* … how many, each with its newline */
	struct buf out;	  /* not written yet */
	bool any_file;	  /* something of a file has been printed */

	int64_t matches, cut, long_lines;
	bool limited;	/* --limit ended it */
	bool explained; /* why nothing was found has been said */
	int status;	/* of the worst that happened */
};

static void search_done(struct search *s)
{
	matcher_done(&s->matcher);
	buf_done(&s->path);
	buf_done(&s->shown);
	buf_done(&s->after);
	buf_done(&s->out);
}

static const char *paint(const struct search *s, const char *colour)
{
	return s->colour ? colour : "";
}

#define PATH_COLOUR   "\033[35m"
#define NUMBER_COLOUR "\033[32m"
#define MATCH_COLOUR  "\033[1;31m"
#define PLAIN	      "\033[m"

static void set_path(struct search *s, struct str path)
{
	buf_reset(&s->path, SIZE_MAX);
	buf_add(&s->path, path);
	buf_reset(&s->shown, SIZE_MAX);
	buf_add(&s->shown, str_of(paint(s, PATH_COLOUR)));
	cli_add_name(&s->shown, path);
	buf_add(&s->shown, str_of(paint(s, PLAIN)));
}

/* Add a line that matches, with its matches in colour. */
static void add_coloured(struct search *s, struct str text)
{
	struct regex_match m;
	size_t at = 0, from = 0;

	while (s->colour && matcher_next(&s->matcher, text, &from, &m)) {
		cli_add_text(&s->out, str_from(str_upto(text, m.start), at));
		buf_add(&s->out, STR(MATCH_COLOUR));
		cli_add_text(&s->out, str_from(str_upto(text, m.end), m.start));
		buf_add(&s->out, STR(PLAIN));
		at = m.end;
	}
	cli_add_text(&s->out, str_from(text, at));
}

static void add_line(struct search *s, int64_t number, struct str text, bool match)
{
	const char sign = match ? ':' : '-';

	if (s->names && !s->heading) {
		buf_add(&s->out, buf_str(&s->shown));
		buf_addc(&s->out, s->args->nul ? '\0' : sign);
	}
	if (s->numbers)
		buf_addf(&s->out, "%s%" PRId64 "%s%c", paint(s, NUMBER_COLOUR), number,
			 paint(s, PLAIN), sign);
	if (match)
		add_coloured(s, text);
	else
		cli_add_text(&s->out, text);
	buf_addc(&s->out, '\n');
	s->last = number;
}

/* Add a line that matches: all of it, or what matches of it. */
static void add_matching(struct search *s, int64_t number, struct str text)
{
	struct regex_match m;
	size_t from = 0;

	if (!s->args->only || s->args->invert)
		add_line(s, number, text, true);
	else
		while (matcher_next(&s->matcher, text, &from, &m))
			add_line(s, number, str_from(str_upto(text, m.end), m.start), true);
}

/* Add the lines kept from the last match, as far as they come before this line. */
static void add_kept(struct search *s, int64_t before)
{
	struct str line, rest = buf_str(&s->after);

	for (int64_t i = 0; i < s->after_n; i++) {
		(void)str_cut(rest, '\n', &line, &rest);
		if (s->last + 1 < before)
			add_line(s, s->last + 1, line, false);
	}
	s->after_n = 0;
	buf_reset(&s->after, SIZE_MAX);
}

/* Begin another file, unless it is the one that comes now. */
static void begin_file(struct search *s, struct str path)
{
	if (s->last && str_eq(path, buf_str(&s->path)))
		return;
	add_kept(s, INT64_MAX);
	set_path(s, path);
	s->last = 0;
	if (!s->heading || !s->names)
		return;
	if (s->any_file)
		buf_addc(&s->out, '\n');
	buf_add(&s->out, buf_str(&s->shown));
	buf_addc(&s->out, s->args->nul ? '\0' : '\n');
}

static int64_t count_of(const struct json *first)
{
	int64_t n = 0;

	for (const struct json *v = first; v; v = v->next)
		n++;
	return n;
}

static void add_match(struct search *s, struct str path, const struct json *match)
{
	const struct json *before = json_items(match, STR("before"));
	const struct json *lines = json_items(match, STR("lines"));
	const struct json *after = json_items(match, STR("after"));
	const int64_t line = json_int(match, STR("line"), 0);
	const bool context = s->args->before || s->args->after || s->args->context;
	int64_t number = line - count_of(before);

	begin_file(s, path);
	add_kept(s, line);
	/* Lines that were left out are marked; between files, the heading does that. */
	if (context && s->any_file && (s->last ? number > s->last + 1 : !s->heading))
		buf_add(&s->out, STR("--\n"));
	for (const struct json *v = before; v; v = v->next, number++)
		if (number > s->last)
			add_line(s, number, v->string, false);
	for (const struct json *v = lines; v; v = v->next, number++)
		if (number > s->last)
			add_matching(s, number, v->string);
	for (const struct json *v = after; v; v = v->next, s->after_n++) {
		buf_add(&s->after, v->string);
		buf_addc(&s->after, '\n');
	}
	s->any_file = true;
}

static void write_strings(struct jw *w, const char *name, const struct json *list)
{
	if (!list)
		return;
	jw_array(w, name);
	for (const struct json *v = list->first; v; v = v->next)
		jw_str(w, NULL, v->string);
	jw_end(w);
}

static void add_json(struct search *s, struct str path, const struct json *match)
{
	struct jw w = jw_to(&s->out);

	jw_object(&w, NULL);
	jw_str(&w, "type", STR("match"));
	jw_str(&w, "path", path);
	if (s->args->count)
		jw_int(&w, "count", json_int(match, STR("count"), 0));
	if (!s->args->files && !s->args->count && !s->args->without) {
		jw_int(&w, "line", json_int(match, STR("line"), 0));
		write_strings(&w, "lines", json_get(match, STR("lines")));
		write_strings(&w, "before", json_get(match, STR("before")));
		write_strings(&w, "after", json_get(match, STR("after")));
		if (json_is_true(match, STR("cut")))
			jw_bool(&w, "cut", true);
	}
	jw_end(&w);
	buf_addc(&s->out, '\n');
}

/* Add one line for a file: its path, or how many of its lines match. */
static void add_file(struct search *s, struct str path, const struct json *match)
{
	set_path(s, path);
	if (!s->args->count || s->names) {
		buf_add(&s->out, buf_str(&s->shown));
		buf_addc(&s->out, s->args->nul ? '\0' : s->args->count ? ':' : '\n');
	}
	if (s->args->count) {
		buf_addi(&s->out, json_int(match, STR("count"), 0));
		buf_addc(&s->out, '\n');
	}
}

static void flush(struct search *s)
{
	if (isatty(STDOUT_FILENO))
		(void)cli_progress_end(s->cli);
	progress_pause(s->cli->progress, false);
	cli_print(buf_str(&s->out));
	buf_reset(&s->out, SIZE_MAX);
}

/* Print a page. `typed` is what was searched, as it was typed; or NULL. */
static void print_page(struct search *s, const struct json *page, const char *typed)
{
	const bool is_file = json_is_true(page, STR("isFile"));
	AUTO_BUF path = { .max = LIMIT_ANSWER };

	if (!is_file)
		cli_add_prefix(typed, &path);
	const size_t prefix = path.n;
	/* As everywhere: if one file is searched, its name is known. */
	s->names =
		s->args->name || (!s->args->no_name && (!is_file || s->cli->argc - s->paths > 1));
	for (const struct json *m = json_items(page, STR("matches")); m; m = m->next) {
		path.n = prefix;
		buf_add(&path, is_file && typed ? str_of(typed) : json_text(m, STR("path")));
		if (s->args->quiet)
			(void)0;
		else if (s->cli->json)
			add_json(s, buf_str(&path), m);
		else if (s->args->files || s->args->count || s->args->without)
			add_file(s, buf_str(&path), m);
		else
			add_match(s, buf_str(&path), m);
		s->matches++;
		s->cut += json_is_true(m, STR("cut"));
		if (s->out.n > 1 << 20)
			flush(s);
	}
	s->long_lines += json_int(json_get(page, STR("skipped")), STR("longLines"), 0);
	if (s->out.n)
		flush(s);
}

static void write_list(struct jw *w, const char *name, const struct option_list *list)
{
	if (!list->count)
		return;
	jw_array(w, name);
	for (size_t i = 0; i < list->count; i++)
		jw_str(w, NULL, str_of(list->item[i]));
	jw_end(w);
}

static void write_request(struct search *s, const char *path, struct str cursor, int64_t limit,
			  struct buf *body)
{
	const struct cli_grep_args *a = s->args;
	struct jw w = jw_to(body);

	buf_reset(body, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "pattern", str_of(s->matcher.pattern));
	if (path)
		jw_str(&w, "path", str_of(path));
	write_list(&w, "globs", &a->globs);
	write_list(&w, "types", &a->types);
	jw_bool(&w, "ignoreCase", s->matcher.ignore_case);
	jw_bool(&w, "literal", s->matcher.literal);
	jw_bool(&w, "multiline", a->multiline);
	jw_bool(&w, "noIgnore", a->no_ignore);
	jw_bool(&w, "invert", a->invert);
	jw_str(&w, "mode",
	       a->files	    ? STR("files")
	       : a->count   ? STR("counts")
	       : a->without ? STR("without")
			    : STR("lines"));
	jw_int(&w, "before", a->before ? a->before : a->context);
	jw_int(&w, "after", a->after ? a->after : a->context);
	jw_int(&w, "limit", limit);
	jw_str(&w, "cursor", cursor);
	jw_end(&w);
}

/* Say what the last page knows about the whole search. */
static void say_end(struct search *s, const struct json *page, const char *typed)
{
	static const struct str nothing = STR("no matches; ");
	const struct str note = json_text(page, STR("note"));

	if (str_starts(note, nothing) && !s->args->quiet) {
		cli_say(s->cli, "No matches found%s%s: %.*s%s", typed ? " in " : "",
			typed ? typed : "", STR_FMT(str_from(note, nothing.n)),
			str_find(note, STR("ignored")) >= 0 ? " (--no-ignore)" : "");
		s->explained = true;
	}
	if (str_eq(json_text(page, STR("stoppedBecause")), STR("timeout"))) {
		cli_say(s->cli, "the search took too long and was stopped: there may be more");
		s->status = EXIT_TIMED_OUT;
	}
}

/* Search one path, page by page. */
static void search_path(struct search *s, const char *typed)
{
	AUTO_BUF body = { .max = LIMIT_BODY };
	AUTO_BUF cursor = { .max = LIMIT_BODY };
	const char *path = cli_path(s->cli, typed);
	int64_t size = FIRST_PAGE;

	add_kept(s, INT64_MAX);
	s->last = 0; /* a file that is named twice is printed twice */
	for (;;) {
		AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
		const int64_t left = s->limit ? s->limit - s->matches : INT64_MAX;
		int status;
		if (left == 0) {
			s->limited = true;
			return;
		}
		write_request(s, path, buf_str(&cursor), left < size ? left : size, &body);
		const struct json *page =
			cli_request(s->cli, "POST", "/search", &body, &memory, &status);
		if (!page) {
			s->status = status;
			return;
		}
		print_page(s, page, typed);
		const struct str next = json_text(page, STR("nextCursor"));
		if (!next.n) {
			say_end(s, page, typed);
			return;
		}
		buf_reset(&cursor, SIZE_MAX);
		buf_add(&cursor, next);
		size = LIMIT_PAGE_MATCHES;
	}
}

static int finish(struct search *s)
{
	struct jw w = jw_to(&s->out);

	add_kept(s, INT64_MAX);
	if (s->cli->json && !s->args->quiet) {
		jw_object(&w, NULL);
		jw_str(&w, "type", STR("done"));
		jw_int(&w, "matches", s->matches);
		jw_bool(&w, "truncated", s->limited || s->status == EXIT_TIMED_OUT);
		jw_end(&w);
		buf_addc(&s->out, '\n');
	}
	flush(s);
	(void)cli_progress_end(s->cli);
	if (s->limited && !s->args->quiet)
		cli_say(s->cli, "stopped at the limit of %" PRId64 " matches", s->matches);
	if (s->cut && !s->args->quiet)
		cli_say(s->cli, "%" PRId64 " lines are longer than shown (%d bytes)", s->cut,
			LIMIT_SEARCH_TEXT);
	if (s->long_lines)
		cli_say(s->cli,
			"%" PRId64 " lines over %d KB were not searched: such a pattern is "
			"tried on shorter lines only",
			s->long_lines, LIMIT_PCRE_LINE >> 10);
	/* As of grep: 1 is that nothing matches, 2 that it could not be found out. */
	if (s->status && !(s->args->quiet && s->matches))
		return s->status == EXIT_FAILED ? EXIT_USAGE : s->status;
	if (!s->matches && !s->explained && !s->cli->json && !s->args->quiet)
		cli_say(s->cli, "No matches found");
	return s->matches ? EXIT_OK : EXIT_FAILED;
}

static int grep_check(struct cli *c, const void *args)
{
	const struct cli_grep_args *a = args;
	AUTO_BUF list = { .max = LIMIT_ANSWER };

	if (a->type_list) {
		types_list(&list);
		cli_print(buf_str(&list));
		return EXIT_OK;
	}
	if (!a->patterns.count && !c->argc)
		return cli_misused(c, "missing argument PATTERN");
	for (size_t i = 0; i < a->patterns.count; i++)
		if (!*a->patterns.item[i])
			return cli_misused(c, "the pattern is empty");
	if (!a->patterns.count && !*c->argv[0])
		return cli_misused(c, "the pattern is empty");
	if (a->files + a->count + a->without > 1)
		return cli_misused(c, "only one of -l, -L and -c can be used");
	if (a->multiline && (a->only || a->invert))
		return cli_misused(c, "%s and -U cannot be used together", a->only ? "-o" : "-v");
	return -1;
}

static int run_grep(struct cli *c, const void *args)
{
	const struct cli_grep_args *a = args;
	const bool terminal = isatty(STDOUT_FILENO);
	const char *const *typed =
		a->patterns.count ? a->patterns.item : (const char *const *)c->argv;
	const struct matcher_options how = { a->literal, a->ignore_case, a->smart_case, a->word,
					     a->line };
	struct sidecar_error error;
	struct err e;
	int ready = 0;
	CLEANUP(search_done)
	struct search s = {
		.cli = c,
		.args = a,
		.limit = a->quiet ? 1 : a->limit,
		.paths = a->patterns.count ? 0 : 1,
		.numbers = a->number || (terminal && !a->no_number),
		.heading = a->heading || (terminal && !a->no_heading),
		.colour = a->color && a->color != colors[0] ? a->color == colors[1]
							    : cli_colour(c, STDOUT_FILENO),
		.path = { .max = LIMIT_ANSWER },
		.shown = { .max = LIMIT_ANSWER },
		.after = { .max = LIMIT_ANSWER },
		.out = { .max = LIMIT_ANSWER },
	};

	if (matcher_init(&s.matcher, &how, typed, a->patterns.count ? a->patterns.count : 1,
			 &c->memory, &e) == 0 &&
	    (a->only || s.colour))
		ready = matcher_compile(&s.matcher, &e);
	/* A pattern that cannot be compiled here (look-around) is only not coloured. */
	if (!s.matcher.pattern || (a->only && ready < 0)) {
		(void)snprintf(error.code, sizeof error.code, "%s", err_name(e.code));
		(void)snprintf(error.message, sizeof error.message, "%s", e.msg);
		(void)cli_fail(c, &error);
		return EXIT_USAGE;
	}
	cli_progress_begin(c, typed[0], "files");
	for (int i = s.paths; i < c->argc && !s.limited; i++)
		search_path(&s, c->argv[i]);
	if (c->argc == s.paths)
		search_path(&s, NULL);
	return finish(&s);
}

const struct verb verb_grep = {
	.name = "grep",
	.about = "search the contents of files, in linear time",
	.operands = "PATTERN [PATH]...",
	.examples = "  sidecar grep 'int main'\n"
		    "  sidecar grep -i -C 2 -t py 'def test_' tests\n"
		    "  sidecar grep -lw main src docs\n"
		    "  sidecar grep -Io -e 'E[A-Z]+' -e 'ERR_\\w+' src\n"
		    "  sidecar grep -F 'a[0]' src/main.c\n",
	.options = grep_options,
	.args_size = sizeof(struct cli_grep_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.most = -1,
	.kind = OPERANDS_PATTERN,
	.check = grep_check,
	.run = run_grep,
};
