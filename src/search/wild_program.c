/* SPDX-License-Identifier: MIT */
/* wild_program: parse a wildcard pattern. */

#include "search/wild_program.h"

#include <ctype.h>
#include <string.h>

#include "base/own.h"
#include "base/utf8.h"
#include "search/limits.h"

/* Alternatives: "{a,b}", or "@(a|b)" and the like. */
struct group {
	char kind;     /* '{', or the character before the parenthesis */
	size_t first;  /* the step from which all of it can be repeated */
	size_t split;  /* the step that leads to the next alternative */
	size_t jump;   /* the newest of the jumps to the end, chained by `arg`; 0 at first */
	size_t offset; /* in the pattern, for the error */
	bool starts;   /* the group is at the start of a component */
};

struct wild_parser {
	struct str text; /* ends where the part ends */
	size_t at;
	bool git, nocase;
	bool goes_on; /* the part is not the end of the pattern */
	bool is_not;  /* the part is a "!(…)" */
	struct str whole;
	struct wild_program *p;
	struct group groups[LIMIT_GLOB_NESTING];
	size_t depth;
	bool starts; /* the next character is the first of a path component */
};

/* A mistake in the pattern: an error, but in a .gitignore the pattern just never matches. */
static int mistake(struct wild_parser *s, size_t offset, const char *what, struct err *e)
{
	if (s->git) {
		s->p->never = true;
		s->at = s->text.n;
		return 0;
	}
	return err_set(e, ERR_INVALID_GLOB, "Invalid glob \"%.*s\" at offset %zu: %s",
		       STR_FMT(s->whole), offset, what);
}

uint32_t wild_unit(struct str s, bool git, size_t *len)
{
	const unsigned char first = (unsigned char)s.p[0];
	size_t bad;

	*len = 1;
	if (first < 0x80 || git)
		return first;
	const size_t n = utf8_next(s, &bad);
	if (n == 0)
		return WILD_BAD_BYTE + first;
	*len = n;
	return utf8_decode(s.p, n);
}

static size_t emit(struct wild_parser *s, enum wild_op op, uint32_t arg)
{
	s->p->steps[s->p->count] = (struct wild_step){ op, arg };
	return s->p->count++;
}

static bool peek(const struct wild_parser *s, size_t ahead, char c)
{
	return s->at + ahead < s->text.n && s->text.p[s->at + ahead] == c;
}

/* One character of the pattern, or the one after a backslash. False at the end. */
static bool take(struct wild_parser *s, uint32_t *unit)
{
	size_t len;

	if (peek(s, 0, '\\'))
		s->at++;
	if (s->at >= s->text.n)
		return false;
	*unit = wild_unit(str_from(s->text, s->at), s->git, &len);
	s->at += len;
	return true;
}

static void class_add(struct wild_parser *s, struct wild_class *c, uint32_t first, uint32_t last)
{
	for (uint32_t u = first; u <= last && u < 256; u++) {
		const uint32_t other = s->nocase && u < 128 && isalpha((int)u) ? u ^ 0x20 : u;

		c->low[u >> 6] |= 1ULL << (u & 63);
		c->low[other >> 6] |= 1ULL << (other & 63);
	}
	if (last >= 256) {
		s->p->ranges[s->p->range_count++] = (struct wild_range){ first, last };
		c->ranges++;
	}
}

static const struct {
	struct str name;
	int (*has)(int);
} named_classes[] = {
	{ STR("alnum"), isalnum }, { STR("alpha"), isalpha }, { STR("blank"), isblank },
	{ STR("cntrl"), iscntrl }, { STR("digit"), isdigit }, { STR("graph"), isgraph },
	{ STR("lower"), islower }, { STR("print"), isprint }, { STR("punct"), ispunct },
	{ STR("space"), isspace }, { STR("upper"), isupper }, { STR("xdigit"), isxdigit },
};

/* "[:name:]" within a class; the cursor is after "[:". 1 when it is a class, 0 when it is plain
 * text, -1 when there is no class of that name or no end. */
static int class_named(struct wild_parser *s, struct wild_class *c)
{
	const struct str rest = str_from(s->text, s->at);
	const ptrdiff_t end = str_index(rest, ']');

	if (end < 0)
		return -1;
	if (end == 0 || rest.p[end - 1] != ':')
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(named_classes); i++) {
		if (!str_eq(named_classes[i].name, str_upto(rest, (size_t)end - 1)))
			continue;
		for (uint32_t u = 0; u < 128; u++)
			if (named_classes[i].has((int)u))
				class_add(s, c, u, u);
		s->at += (size_t)end + 1;
		return 1;
	}
	return -1;
}

/* The members of a class up to its "]". Returns NULL, or what is wrong with it. */
static const char *class_members(struct wild_parser *s, struct wild_class *c)
{
	static const char open[] =
		"this \"[\" has no matching \"]\"; write \\[ for a plain bracket";
	uint32_t before = 0; /* where a range would begin; 0 where it cannot */
	uint32_t unit, last;

	for (bool first = true; first || !peek(s, 0, ']'); first = false) {
		if (s->at >= s->text.n)
			return open;
		if (peek(s, 0, '-') && before && s->at + 1 < s->text.n && !peek(s, 1, ']')) {
			s->at++;
			if (!take(s, &last))
				return open;
			/* In a .gitignore such a range is empty. */
			if (before > last && !s->git)
				return "the ends of a range are out of order";
			class_add(s, c, before, last);
			before = 0;
			continue;
		}
		if (peek(s, 0, '[') && peek(s, 1, ':')) {
			s->at += 2;
			const int named = class_named(s, c);
			if (named < 0)
				return str_index(str_from(s->text, s->at), ']') < 0
					       ? open
					       : "there is no such class of characters";
			before = named ? 0 : '[';
			if (named)
				continue;
			class_add(s, c, '[', '[');
			s->at--;
			continue;
		}
		if (!take(s, &unit))
			return open;
		class_add(s, c, unit, unit);
		before = unit;
	}
	s->at++;
	return NULL;
}

static int parse_class(struct wild_parser *s, struct err *e)
{
	const size_t offset = s->at++;
	struct wild_class *c = &s->p->classes[s->p->class_count];

	c->range = s->p->range_count;
	c->negated = peek(s, 0, '!') || peek(s, 0, '^');
	s->at += c->negated;
	const char *wrong = class_members(s, c);
	if (wrong)
		return mistake(s, offset, wrong, e);
	emit(s, WILD_CLASS, (uint32_t)s->p->class_count++);
	return 0;
}

/* The offset after the class that begins at `at`; at + 1 if it does not end. */
static size_t skip_class(struct str text, size_t at)
{
	size_t i = at + 1;

	if (i < text.n && (text.p[i] == '!' || text.p[i] == '^'))
		i++;
	for (i++; i < text.n; i++) {
		if (text.p[i] == ']')
			return i + 1;
		i += text.p[i] == '\\';
	}
	return at + 1;
}

static bool is_group(struct str text, size_t at)
{
	return at + 1 < text.n && text.p[at + 1] == '(' && memchr("?*+@!", text.p[at], 5);
}

/* The offset of the ")" for the group that begins at `at`; 0 if there is none: then its characters
 * mean what they mean elsewhere. */
static size_t group_end(struct str text, size_t at)
{
	size_t depth = 0;

	while (at < text.n) {
		if (text.p[at] == ')' && --depth == 0)
			return at;
		if (text.p[at] == '[') {
			at = skip_class(text, at);
			continue;
		}
		const bool opens = is_group(text, at);
		depth += opens;
		at += opens || text.p[at] == '\\' ? 2 : 1;
	}
	return 0;
}

bool wild_find_not(const struct wild_source *s, size_t *open, size_t *close)
{
	const struct str text = str_upto(s->pattern, s->to);
	size_t braces = 0;

	for (size_t at = s->from; at < text.n;) {
		const char c = text.p[at];
		const size_t end = is_group(text, at) ? group_end(text, at) : 0;
		if (end && c == '!' && !braces) {
			*open = at;
			*close = end;
			return true;
		}
		braces += c == '{';
		braces -= c == '}' && braces;
		at = end ? end + 1 : c == '[' ? skip_class(text, at) : at + 1 + (c == '\\');
	}
	return false;
}

/* Whether the alternative, or the group, ends here. */
static bool at_alternative(const struct wild_parser *s)
{
	if (!s->depth)
		return false;
	if (s->groups[s->depth - 1].kind == '{')
		return peek(s, 0, ',') || peek(s, 0, '}');
	return peek(s, 0, '|') || peek(s, 0, ')');
}

static void parse_star(struct wild_parser *s)
{
	size_t n = 1;

	while (peek(s, n, '*') && !(is_group(s->text, s->at + n) && group_end(s->text, s->at + n)))
		n++;
	s->at += n;
	const bool ends = (s->at >= s->text.n && !s->goes_on) ||
			  (peek(s, 0, '\\') && peek(s, 1, '/')) || at_alternative(s);
	if (n >= 2 && s->starts && peek(s, 0, '/')) {
		s->at++;
		emit(s, WILD_DEEP, 0);
		emit(s, WILD_LOOP, 0);
		return; /* still at the start of a component */
	}
	emit(s, n >= 2 && s->starts && ends ? WILD_TAIL : WILD_STAR, 0);
	s->starts = false;
}

/* "{", or one of "?(", "*(", "+(" and "@(". */
static int parse_open(struct wild_parser *s, struct err *e)
{
	const char kind = s->text.p[s->at];

	if (s->depth == LIMIT_GLOB_NESTING)
		return mistake(s, s->at, "braces and parentheses are nested too deeply", e);
	if (kind == '!' && (!s->is_not || s->depth))
		return mistake(s, s->at, "a \"!(…)\" cannot be within other parentheses or braces",
			       e);
	struct group *g = &s->groups[s->depth++];
	*g = (struct group){ .kind = kind, .offset = s->at, .starts = s->starts };
	s->at += kind == '{' ? 1 : 2;
	/* This step leads around what may be missing. No other step leads to it by a number,
	 * because 0 is no step. */
	if (kind == '?' || kind == '*' || kind == '+')
		(void)emit(s, WILD_SPLIT, 0);
	g->first = s->p->count;
	g->split = emit(s, WILD_SPLIT, 0);
	return 0;
}

static void begin_alternative(struct wild_parser *s, struct group *g)
{
	g->jump = emit(s, WILD_JUMP, (uint32_t)g->jump);
	s->p->steps[g->split].arg = (uint32_t)s->p->count;
	g->split = emit(s, WILD_SPLIT, 0);
	s->starts = g->starts;
}

/* "," or "}", "|" or ")": the alternative ends here. */
static void parse_alternative(struct wild_parser *s)
{
	struct group *g = &s->groups[s->depth - 1];
	const char c = s->text.p[s->at++];

	if (c == ',' || c == '|') {
		begin_alternative(s, g);
		return;
	}
	/* All alternatives end at this step, which can lead back to the first. */
	const uint32_t end = (uint32_t)s->p->count;
	for (size_t j = g->jump; j;)
		j = TAKE(s->p->steps[j].arg, end);
	if (g->kind == '*' || g->kind == '+')
		(void)emit(s, WILD_SPLIT, (uint32_t)g->first);
	if (g->kind == '*' || g->kind == '?')
		s->p->steps[g->first - 1].arg = (uint32_t)s->p->count;
	s->p->fixed = s->p->count;
	s->depth--;
}

static int parse_one(struct wild_parser *s, struct err *e)
{
	const char c = s->text.p[s->at];
	const size_t offset = s->at;
	uint32_t unit;

	if (!s->git && (c == '{' || (is_group(s->text, s->at) && group_end(s->text, s->at))))
		return parse_open(s, e);
	if (c == '*') {
		parse_star(s);
		return 0;
	}
	if (at_alternative(s)) {
		parse_alternative(s);
		return 0;
	}
	if (c == '/' && s->is_not)
		return mistake(s, offset, "a \"!(…)\" is about one component of a path", e);
	s->starts = c == '/' || (c == '\\' && peek(s, 1, '/'));
	if (c == '[')
		return parse_class(s, e);
	if (c == '?') {
		s->at++;
		emit(s, WILD_ANY, 0);
		return 0;
	}
	if (!take(s, &unit))
		return mistake(s, offset, "a backslash at the end; write \\\\ for a plain one", e);
	emit(s, WILD_UNIT, wild_fold(unit, s->nocase));
	return 0;
}

static int parse(struct wild_parser *s, struct err *e)
{
	while (s->at < s->text.n)
		if (parse_one(s, e) < 0)
			return -1;
	if (s->depth) {
		const struct group *g = &s->groups[s->depth - 1];
		return mistake(
			s, g->offset,
			g->kind == '{'
				? "this \"{\" has no matching \"}\"; write \\{ for a plain brace"
				: "this \"(\" has no matching \")\"; write \\( for a plain one",
			e);
	}
	emit(s, WILD_END, 0);
	return 0;
}

int wild_program_init(struct wild_program *p, const struct wild_source *source, struct err *e)
{
	struct wild_parser s = {
		.git = source->git,
		.nocase = source->nocase,
		.p = p,
		.starts = source->from == 0,
		.goes_on = source->to < source->pattern.n,
		.whole = source->pattern,
		.is_not = source->is_not,
	};

	*p = (struct wild_program){ .never = source->pattern.n > LIMIT_GLOB_BYTES };
	if (p->never && !s.git)
		return err_set(e, ERR_INVALID_GLOB, "Invalid glob: longer than %d bytes",
			       LIMIT_GLOB_BYTES);
	if (!p->never) {
		s.text = str_upto(source->pattern, source->to);
		s.at = source->from;
	}
	/* Room for the longest program that a pattern of this length can give. */
	const size_t length = s.text.n - s.at;
	p->steps = mem_new(2 * length + 2, sizeof *p->steps);
	p->classes = mem_new(length / 3 + 1, sizeof *p->classes);
	p->ranges = mem_new(length + 1, sizeof *p->ranges);
	if (!p->steps || !p->classes || !p->ranges) {
		wild_program_done(p);
		return err_set(e, ERR_IO_ERROR, "Out of memory");
	}
	if (parse(&s, e) < 0) {
		wild_program_done(p);
		return -1;
	}
	return 0;
}

void wild_program_done(struct wild_program *p)
{
	mem_free(p->steps);
	mem_free(p->classes);
	mem_free(p->ranges);
	*p = (struct wild_program){ 0 };
}
