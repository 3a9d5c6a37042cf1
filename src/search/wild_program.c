/* SPDX-License-Identifier: MIT */
/* wild_program: parse a wildcard pattern. */

#include "search/wild_program.h"

#include <ctype.h>

#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"

struct brace {
	size_t split;  /* the step that leads to the next alternative */
	size_t jump;   /* the newest of the jumps to the end, chained by `arg`; 0 at first */
	size_t offset; /* of the brace, for the error */
	bool starts;   /* the brace is at the start of a component */
};

struct wild_parser {
	struct str text;
	size_t at;
	bool git, nocase;
	struct wild_program *p;
	struct brace braces[LIMIT_GLOB_NESTING];
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
		       STR_FMT(s->text), offset, what);
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

static void parse_star(struct wild_parser *s)
{
	size_t n = 1;

	while (peek(s, n, '*'))
		n++;
	s->at += n;
	const bool ends = s->at >= s->text.n || (peek(s, 0, '\\') && peek(s, 1, '/')) ||
			  (s->depth && (peek(s, 0, ',') || peek(s, 0, '}')));
	if (n >= 2 && s->starts && peek(s, 0, '/')) {
		s->at++;
		emit(s, WILD_DEEP, 0);
		emit(s, WILD_LOOP, 0);
		return; /* still at the start of a component */
	}
	emit(s, n >= 2 && s->starts && ends ? WILD_TAIL : WILD_STAR, 0);
	s->starts = false;
}

static int parse_open(struct wild_parser *s, struct err *e)
{
	if (s->depth == LIMIT_GLOB_NESTING)
		return mistake(s, s->at, "braces are nested too deeply", e);
	struct brace *b = &s->braces[s->depth++];
	b->offset = s->at++;
	b->starts = s->starts;
	b->jump = 0;
	b->split = emit(s, WILD_SPLIT, 0);
	return 0;
}

/* "," or "}": the alternative ends here. */
static void parse_alternative(struct wild_parser *s)
{
	struct brace *b = &s->braces[s->depth - 1];
	const bool close = s->text.p[s->at++] == '}';

	if (!close) {
		b->jump = emit(s, WILD_JUMP, (uint32_t)b->jump);
		s->p->steps[b->split].arg = (uint32_t)s->p->count;
		b->split = emit(s, WILD_SPLIT, 0);
		s->starts = b->starts;
		return;
	}
	for (size_t j = b->jump; j;)
		j = TAKE(s->p->steps[j].arg, (uint32_t)s->p->count);
	s->p->fixed = s->p->count;
	s->depth--;
}

static int parse_one(struct wild_parser *s, struct err *e)
{
	const char c = s->text.p[s->at];
	const size_t offset = s->at;
	uint32_t unit;

	if (c == '*') {
		parse_star(s);
		return 0;
	}
	if (c == '{' && !s->git)
		return parse_open(s, e);
	if (s->depth && (c == ',' || c == '}')) {
		parse_alternative(s);
		return 0;
	}
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
	if (s->depth)
		return mistake(s, s->braces[s->depth - 1].offset,
			       "this \"{\" has no matching \"}\"; write \\{ for a plain brace", e);
	emit(s, WILD_END, 0);
	return 0;
}

int wild_program_init(struct wild_program *p, struct str pattern, bool git, bool nocase,
		      struct err *e)
{
	struct wild_parser s = { .git = git, .nocase = nocase, .p = p, .starts = true };

	*p = (struct wild_program){ .never = pattern.n > LIMIT_GLOB_BYTES };
	if (p->never && !git)
		return err_set(e, ERR_INVALID_GLOB, "Invalid glob: longer than %d bytes",
			       LIMIT_GLOB_BYTES);
	if (!p->never)
		s.text = pattern;
	/* Room for the longest program that a pattern of this length can give. */
	p->steps = mem_new(2 * s.text.n + 2, sizeof *p->steps);
	p->classes = mem_new(s.text.n / 3 + 1, sizeof *p->classes);
	p->ranges = mem_new(s.text.n + 1, sizeof *p->ranges);
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
