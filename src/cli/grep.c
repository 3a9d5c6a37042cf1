/* SPDX-License-Identifier: MIT */
/* grep: print the lines that match a pattern: all of them, page by page. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "cli/cli.h"
#include "regex/regex.h"
#include "tools/limits.h"

enum { FIRST_PAGE = 200 }; /* matches: small, so that a person sees something soon */

struct cli_grep_args {
	struct option_list globs, types;
	bool ignore_case, literal, word, multiline, no_ignore, habit;
	bool files, count, number, no_number, name, no_name, heading, no_heading;
	int64_t context, before, after, limit;
};

#define AT(m) offsetof(struct cli_grep_args, m)

static const struct option grep_options[] = {
	{ "ignore-case", 'i', OPTION_SWITCH, AT(ignore_case), NULL,
	  "do not distinguish upper and lower case" },
	{ "word", 'w', OPTION_SWITCH, AT(word), NULL, "match only whole words" },
	{ "literal", 'F', OPTION_SWITCH, AT(literal), NULL, "take the pattern as plain text" },
	{ "multiline", 'U', OPTION_SWITCH, AT(multiline), NULL,
	  "let a match cross lines; \\n may be part of the pattern" },
	{ "glob", 'g', OPTION_LIST, AT(globs), "GLOB",
	  "search only files that match; !GLOB: not those; may be repeated" },
	{ "type", 't', OPTION_LIST, AT(types), "TYPE",
	  "search only files of this kind: c, py, js ...; may be repeated" },
	{ "no-ignore", 0, OPTION_SWITCH, AT(no_ignore), NULL,
	  "also search what .gitignore and .ignore hide" },
	{ "files-with-matches", 'l', OPTION_SWITCH, AT(files), NULL,
	  "print only the paths of files with a match" },
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
	const char *pattern; /* as the server and the colours take it */
	bool literal;
	bool names, numbers, heading, colour;
	struct regex *regex; /* finds what to colour; or NULL */
	struct regex_cache *cache;

	/* What has been printed. */
	struct buf path;  /* of the file that comes now … */
	struct buf shown; /* … and as it is printed */
	int64_t last;	  /* its last line; 0: none yet */
	struct buf after; /* lines after the last match, which may also belong to the next one … */
	int64_t after_n;  /* … so many, each with its newline */
	struct buf out;	  /* not written yet */
	bool any_file;	  /* something of a file has been printed */

	int64_t matches, cut, long_lines;
	bool limited;	/* --limit ended it */
	bool explained; /* why nothing was found has been said */
	int status;	/* of the worst that happened */
};

static void search_done(struct search *s)
{
	regex_cache_free(s->cache);
	regex_free(s->regex);
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
	const struct regex_budget forever = { .deadline_ms = IO_FOREVER };
	struct regex_match m;
	struct err e;
	size_t at = 0;

	for (size_t from = 0; s->regex && from < text.n;) {
		if (regex_next(s->regex, s->cache, text, from, &forever, &m, &e) <= 0)
			break;
		from = m.end > m.start ? m.end : m.end + 1;
		if (m.end == m.start)
			continue;
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
		buf_addc(&s->out, sign);
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
	buf_addc(&s->out, '\n');
}

static int64_t count_of(const struct json *list)
{
	int64_t n = 0;

	for (const struct json *v = list ? list->first : NULL; v; v = v->next)
		n++;
	return n;
}

static void add_match(struct search *s, struct str path, const struct json *match)
{
	const struct json *before = json_get(match, STR("before"));
	const struct json *lines = json_get(match, STR("lines"));
	const struct json *after = json_get(match, STR("after"));
	const int64_t line = cli_number(match, STR("line"), 0);
	const bool context = s->args->before || s->args->after || s->args->context;
	int64_t number = line - count_of(before);

	begin_file(s, path);
	add_kept(s, line);
	/* Lines that were left out are marked; between files, the heading does that. */
	if (context && s->any_file && (s->last ? number > s->last + 1 : !s->heading))
		buf_add(&s->out, STR("--\n"));
	for (const struct json *v = before ? before->first : NULL; v; v = v->next, number++)
		if (number > s->last)
			add_line(s, number, v->string, false);
	for (const struct json *v = lines ? lines->first : NULL; v; v = v->next, number++)
		if (number > s->last)
			add_line(s, number, v->string, true);
	for (const struct json *v = after ? after->first : NULL; v; v = v->next, s->after_n++) {
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
		jw_int(&w, "count", cli_number(match, STR("count"), 0));
	if (!s->args->files && !s->args->count) {
		jw_int(&w, "line", cli_number(match, STR("line"), 0));
		write_strings(&w, "lines", json_get(match, STR("lines")));
		write_strings(&w, "before", json_get(match, STR("before")));
		write_strings(&w, "after", json_get(match, STR("after")));
		if (cli_truth(match, STR("cut")))
			jw_bool(&w, "cut", true);
	}
	jw_end(&w);
	buf_addc(&s->out, '\n');
}

/* Add one line for a file: its path, or how many of its lines match. */
static void add_file(struct search *s, struct str path, const struct json *match)
{
	set_path(s, path);
	if (s->args->files || s->names)
		buf_add(&s->out, buf_str(&s->shown));
	if (s->args->count && s->names)
		buf_addc(&s->out, ':');
	if (s->args->count)
		buf_addi(&s->out, cli_number(match, STR("count"), 0));
	buf_addc(&s->out, '\n');
}

static void flush(struct search *s)
{
	if (isatty(STDOUT_FILENO))
		(void)cli_progress_end(s->cli);
	progress_hide(s->cli->progress);
	cli_print(buf_str(&s->out));
	buf_reset(&s->out, SIZE_MAX);
}

/* Print a page. `typed` is what was searched, as it was typed; or NULL. */
static void print_page(struct search *s, const struct json *page, const char *typed)
{
	const struct json *matches = json_get(page, STR("matches"));
	const bool is_file = cli_truth(page, STR("isFile"));
	AUTO_BUF path = { .max = LIMIT_ANSWER };

	if (!is_file)
		cli_add_prefix(typed, &path);
	const size_t prefix = path.n;
	/* As everywhere: if one file is searched, its name is known. */
	s->names = s->args->name || (!s->args->no_name && (!is_file || s->cli->argc > 2));
	for (const struct json *m = matches ? matches->first : NULL; m; m = m->next) {
		path.n = prefix;
		buf_add(&path, is_file && typed ? str_of(typed) : json_text(m, STR("path")));
		if (s->cli->json)
			add_json(s, buf_str(&path), m);
		else if (s->args->files || s->args->count)
			add_file(s, buf_str(&path), m);
		else
			add_match(s, buf_str(&path), m);
		s->matches++;
		s->cut += cli_truth(m, STR("cut"));
		if (s->out.n > 1 << 20)
			flush(s);
	}
	s->long_lines += cli_number(json_get(page, STR("skipped")), STR("longLines"), 0);
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
	jw_str(&w, "pattern", str_of(s->pattern));
	if (path)
		jw_str(&w, "path", str_of(path));
	write_list(&w, "globs", &a->globs);
	write_list(&w, "types", &a->types);
	jw_bool(&w, "ignoreCase", a->ignore_case);
	jw_bool(&w, "literal", s->literal);
	jw_bool(&w, "multiline", a->multiline);
	jw_bool(&w, "noIgnore", a->no_ignore);
	jw_str(&w, "mode", a->files ? STR("files") : a->count ? STR("counts") : STR("lines"));
	jw_int(&w, "before", a->before ? a->before : a->context);
	jw_int(&w, "after", a->after ? a->after : a->context);
	jw_int(&w, "limit", limit);
	jw_str(&w, "cursor", cursor);
	jw_end(&w);
	buf_addc(body, '\0');
}

/* Say what the last page knows about the whole search. */
static void say_end(struct search *s, const struct json *page, const char *typed)
{
	static const struct str nothing = STR("no matches; ");
	const struct str note = json_text(page, STR("note"));

	if (str_starts(note, nothing)) {
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
		const int64_t left = s->args->limit ? s->args->limit - s->matches : INT64_MAX;
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

/* The pattern for whole words. */
static const char *whole_words(struct arena *memory, const char *pattern, bool literal)
{
	const size_t size = 2 * strlen(pattern) + 16;
	char *to = arena_alloc(memory, size);
	struct buf b = buf_over(to, to ? size : 0);

	buf_add(&b, STR("\\b(?:"));
	for (; *pattern; pattern++) {
		if (literal && strchr("\\^$.|?*+()[]{}", *pattern))
			buf_addc(&b, '\\');
		buf_addc(&b, *pattern);
	}
	buf_add(&b, STR(")\\b"));
	buf_addc(&b, '\0');
	return to;
}

/* Compile the pattern once more, to find what to colour. A pattern that cannot be compiled for that
 * (look-around) is only not coloured. */
static void prepare_colour(struct search *s)
{
	const struct regex_options o = { s->literal, s->args->ignore_case, true };
	struct err e;

	if (!s->colour || regex_new(str_of(s->pattern), &o, &s->regex, &e) < 0) {
		s->regex = NULL;
		return;
	}
	s->cache = regex_cache_new(s->regex);
	if (!s->cache) {
		regex_free(s->regex);
		s->regex = NULL;
	}
}

static int finish(struct search *s)
{
	struct jw w = jw_to(&s->out);

	add_kept(s, INT64_MAX);
	if (s->cli->json) {
		jw_object(&w, NULL);
		jw_str(&w, "type", STR("done"));
		jw_int(&w, "matches", s->matches);
		jw_bool(&w, "truncated", s->limited || s->status == EXIT_TIMED_OUT);
		jw_end(&w);
		buf_addc(&s->out, '\n');
	}
	flush(s);
	(void)cli_progress_end(s->cli);
	if (s->limited)
		cli_say(s->cli, "stopped at the limit of %" PRId64 " matches", s->matches);
	if (s->cut)
		cli_say(s->cli, "%" PRId64 " lines are longer than shown (%d bytes)", s->cut,
			LIMIT_SEARCH_TEXT);
	if (s->long_lines)
		cli_say(s->cli,
			"%" PRId64 " lines over %d KB were not searched: such a pattern is "
			"tried on shorter lines only",
			s->long_lines, LIMIT_PCRE_LINE >> 10);
	if (s->status)
		return s->status;
	if (!s->matches && !s->explained && !s->cli->json)
		cli_say(s->cli, "No matches found");
	return s->matches ? EXIT_OK : EXIT_FAILED;
}

static int grep_run(struct cli *c, const void *args)
{
	const struct cli_grep_args *a = args;
	const bool terminal = isatty(STDOUT_FILENO);
	CLEANUP(search_done)
	struct search s = {
		.cli = c,
		.args = a,
		.pattern = a->word ? whole_words(&c->memory, c->argv[0], a->literal) : c->argv[0],
		.literal = a->literal && !a->word,
		.numbers = a->number || (terminal && !a->no_number),
		.heading = a->heading || (terminal && !a->no_heading),
		.colour = cli_colour(c, STDOUT_FILENO),
		.path = { .max = LIMIT_ANSWER },
		.shown = { .max = LIMIT_ANSWER },
		.after = { .max = LIMIT_ANSWER },
		.out = { .max = LIMIT_ANSWER },
	};

	if (a->files && a->count)
		return cli_misused(c, "-l and -c cannot be used together");
	if (!s.pattern || !*c->argv[0])
		return cli_misused(c, "the pattern is empty");
	prepare_colour(&s);
	cli_progress_begin(c, c->argv[0], "files");
	for (int i = 1; i < c->argc && !s.limited; i++)
		search_path(&s, c->argv[i]);
	if (c->argc == 1)
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
		    "  sidecar grep -F 'a[0]' src/main.c\n",
	.options = grep_options,
	.args_size = sizeof(struct cli_grep_args),
	.flags = VERB_CONNECTS | VERB_PRINTS | VERB_PATHS,
	.least = 1,
	.most = -1,
	.kind = OPERANDS_PATTERN,
	.run = grep_run,
};
