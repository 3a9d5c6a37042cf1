/* SPDX-License-Identifier: MIT */
/* assignment: judges "password = value" in all its spellings; what looks like code is let through.
 */

#include "base/own.h"
#include "scrub/limits.h"
#include "scrub/shape.h"

/* All bytes except those that end a value: blanks, quotes and the punctuation of programs. */
static const struct byteset open_value = {
	{ ~(BYTE(' ') * 2 - 1) & ~(BYTE('"') | BYTE('\'') | BYTE(',') | BYTE(';') | BYTE('&') |
				   BYTE('<') | BYTE('>') | BYTE('(') | BYTE(')')),
	  ~(BYTE('[') | BYTE(']') | BYTE('{') | BYTE('}') | BYTE('|') | BYTE('`') | BYTE('\\') |
	    BYTE(0x7f)),
	  UINT64_MAX, UINT64_MAX },
};

/* Inside quotes only blanks and other quotes end a value. */
static const struct byteset quoted_value = {
	{ ~(BYTE(' ') * 2 - 1) & ~(BYTE('"') | BYTE('\'')), ~(BYTE('`') | BYTE('\\') | BYTE(0x7f)),
	  UINT64_MAX, UINT64_MAX },
};

/* A line of an environment has nothing after its value: everything up to its end belongs to it. */
static const struct byteset line_value = {
	{ ~(BYTE(0) | BYTE('\n') | BYTE('\r')), UINT64_MAX, UINT64_MAX, UINT64_MAX },
};

/* A name that ends like this does not name the secret but something about it. */
static const char *const about[] = {
	"file",	   "path",   "dir",	"url",	  "uri",   "id",       "ids",
	"name",	   "type",   "len",	"length", "size",  "count",    "expiry",
	"expires", "ttl",    "timeout", "limit",  "max",   "min",      "regex",
	"pattern", "field",  "header",	"prefix", "label", "hint",     "policy",
	"version", "arn",    "ref",	"class",  "hash",  "in",       "at",
	"index",   "format", "kind",	"status", "error", "endpoint",
};

/* What stands in for a secret that is to be filled in, or says where it comes from. */
static const char *const placeholders[] = {
	"xxxx",	      "****",	   "....",	  "your",     "changeme",
	"change_me",  "change-me", "placeholder", "redacted", "process.env",
	"os.environ", "getenv",	   "env.",	  "secrets.", "${",
	"$(",	      "{{",	   "{0}",	  "#{",	      "%s",
	"%(",	      "://",	   "->",	  "::",	      "/dev/",
};

struct value {
	struct str text;
	const struct byteset *set; /* what it consists of */
	bool quoted;
	bool setting; /* Name=value, as in configurations */
	bool shell;   /* NAME=value, as in an environment */
};

struct tally {
	size_t lower, upper, digits, marks, joins;
	size_t turns;	 /* bytes that differ from the one before */
	size_t switches; /* bytes of another class than the one before */
};

static bool is_lower(int b)
{
	return b >= 'a' && b <= 'z';
}

static bool is_upper(int b)
{
	return b >= 'A' && b <= 'Z';
}

/* After the keyword: nothing, or more of the name ("secret_key", "passwordProd"), but not the rest
 * of a longer word ("tokens", "secretary"). */
static bool rest_of_name(struct rest *r)
{
	enum { LONGEST = 40 };
	const size_t from = r->i;
	const int last = (unsigned char)r->text.p[from - 1], b = rest_peek(r);

	if (is_lower(b) || (is_upper(b) && is_upper(last)))
		return false;
	if (rest_run(r, &bytes_dashed, LONGEST) == LONGEST)
		return false;
	size_t word = r->i;
	while (word > from && r->text.p[word - 1] != '_' && r->text.p[word - 1] != '-' &&
	       (word == r->i || !is_upper(r->text.p[word]) || !is_lower(r->text.p[word - 1])))
		word--;
	const struct str tail = { r->text.p + word, r->i - word };
	for (size_t i = 0; i < ARRAY_LEN(about); i++)
		if (str_eq_nocase(tail, str_of(about[i])))
			return false;
	return true;
}

/* The sign between name and value; *tight when no quote or blank is around it. Comparisons, arrows
 * and scopes do not count. */
static bool assigns(struct rest *r, bool *tight)
{
	const size_t from = r->i;

	rest_quote(r);
	(void)rest_skip(r, ']');
	if (!rest_blanks(r))
		return false;
	const bool colon = rest_skip(r, ':');
	const bool equal = rest_skip(r, '=');
	if (!colon && !equal)
		return false;
	if (equal && !colon)
		(void)rest_skip(r, '>');
	*tight = equal && r->i == from + 1;
	const int next = rest_peek(r);
	if (next == '=' || next == ':' || next == '~')
		return false;
	const size_t blanks = r->i;
	if (!rest_blanks(r))
		return false;
	*tight &= r->i == blanks;
	return true;
}

/* Read the value. False when it is an expression, or when its end is not that of a value. */
static bool read_value(struct rest *r, struct value *v)
{
	const bool escaped = rest_skip(r, '\\');
	const int first = rest_peek(r);

	v->quoted = first == '"' || first == '\'' || first == '`';
	if (escaped && !v->quoted)
		return false;
	r->i += v->quoted;
	v->set = v->quoted ? &quoted_value : &open_value;
	const size_t from = r->i;
	const size_t n = rest_run(r, v->set, LIMIT_SCRUB_VALUE);
	v->text = (struct str){ r->text.p + from, n };
	if (n == LIMIT_SCRUB_VALUE)
		return true;
	const int end = rest_peek(r);
	if (v->quoted)
		return end == (escaped ? '\\' : first);
	return end < 0 || !strchr("([{<>\"'`\\|", end) || end == 0;
}

static struct tally tally(struct str v)
{
	struct tally t = { 0 };
	const size_t *before = NULL;

	for (size_t i = 0; i < v.n; i++) {
		const char c = v.p[i];
		size_t *class = &t.marks;
		if (is_lower(c))
			class = &t.lower;
		else if (is_upper(c))
			class = &t.upper;
		else if (c >= '0' && c <= '9')
			class = &t.digits;
		else if (c == '_' || c == '-' || c == '.' || c == '/' || c == ':')
			class = &t.joins;
		++*class;
		t.turns += i > 0 && c != v.p[i - 1];
		t.switches += before && class != before && class != &t.joins && before != &t.joins;
		before = class;
	}
	return t;
}

/* Where a reference ends that begins at i: ${x}, $(x), $x, {{x}}, #{x}, <x>. i: there is none. */
static size_t reference_end(struct str v, size_t i)
{
	static const char open[] = "({<", close[] = ")}>";
	const size_t mark = i + (v.p[i] == '$' || v.p[i] == '#');
	const char *kind = mark < v.n ? memchr(open, v.p[mark], sizeof open - 1) : NULL;
	size_t end = mark, depth = 0;

	if (!kind && v.p[i] == '$')
		while (end < v.n && byteset_has(&bytes_dashed, v.p[end]) && v.p[end] != '-')
			end++;
	if (!kind)
		return end > i + 1 ? end : i;
	for (; end < v.n; end++) {
		depth += v.p[end] == *kind;
		depth -= v.p[end] == close[kind - open];
		if (depth == 0)
			return end + 1;
	}
	return i;
}

/* Whether something in the value looks generated that is no reference to what is elsewhere. */
static bool has_random(struct str v)
{
	enum { LEAST = 8 };

	for (size_t i = 0, end; i < v.n; i = end) {
		const size_t from = i;
		while (i < v.n && v.p[i] != ' ' && reference_end(v, i) == i)
			i++;
		const struct tally t = tally((struct str){ v.p + from, i - from });
		if (i - from >= LEAST && t.upper && t.lower && t.digits >= 2 && !t.joins)
			return true;
		end = i < v.n && v.p[i] != ' ' ? reference_end(v, i) : i + 1;
	}
	return false;
}

static bool is_placeholder(const struct value *v)
{
	const struct str text = v->text;
	bool is = memchr("$<{%@/.&*!#,+", text.p[0], sizeof "$<{%@/.&*!#,+" - 1) ||
		  str_find_nocase(text, STR("example")) == 0;

	for (size_t i = 0; i < ARRAY_LEN(placeholders); i++)
		is |= str_find_nocase(text, str_of(placeholders[i])) >= 0;
	return is && !(v->shell && has_random(text));
}

/* Names and numbers of programs: snake_case, Module.Name, 0x10. A name rarely switches between
 * small letters, capitals and digits; random text does at every second or third byte. */
static bool is_code(struct str v, const struct tally *t)
{
	bool dotted = memchr(v.p, '.', v.n);

	for (size_t i = 1; i < v.n; i++)
		dotted &= v.p[i - 1] != '.' || is_lower(v.p[i]) || is_upper(v.p[i]);
	return dotted || (memchr(v.p, '_', v.n) && t->switches * 4 < v.n) ||
	       str_starts(v, STR("0x"));
}

/* Whether it looks like a chosen password or a random value, not like a word or a variable. */
static bool looks_secret(const struct value *v, bool bare_name)
{
	enum { LEAST = 8, LEAST_OPEN = 12, LONG = 16 };
	const struct tally t = tally(v->text);
	const size_t letters = t.lower + t.upper;

	if (v->text.n < LEAST || t.turns < 4 || is_placeholder(v))
		return false;
	if (v->shell && bare_name && letters && !(t.upper && !t.lower && !t.digits))
		return true;
	if (!letters || t.digits + t.marks == 0)
		return false;
	if (v->quoted)
		return t.digits >= 2 || (t.digits + t.marks >= 1 && t.joins == 0);
	if (!v->shell && is_code(v->text, &t))
		return false;
	if (t.marks + t.joins == 0 || v->text.n >= LONG)
		return v->text.n >= LEAST_OPEN && t.digits >= 3;
	return v->setting && t.digits >= 1;
}

/* What Amazon generates: 40 characters of base64. */
static bool looks_aws(struct str v)
{
	for (size_t i = 0; i < v.n; i++)
		if (!byteset_has(&bytes_base64, v.p[i]))
			return false;
	return v.n == 40 && tally(v).digits > 0;
}

/* A call or an element: name(…), or list[…]; names have no digits here. */
static bool is_expression(struct str v)
{
	size_t n = 0;

	while (n < v.n && (is_lower(v.p[n]) || is_upper(v.p[n]) || v.p[n] == '_' || v.p[n] == '.'))
		n++;
	return n > 0 && n < v.n && strchr("([{", v.p[n]) && strchr(")]};,", v.p[v.n - 1]);
}

/* Whether "NAME=" is all that its line has before the value. In programs a name in capitals rarely
 * comes after a colon or blanks. */
static bool begins_line(const struct shape_place *at, bool capitals)
{
	return at->lead >= LEAD_LINE || (at->lead != LEAD_OTHER && capitals);
}

enum shape_verdict shape_assignment(const struct shape *s, const struct shape_place *at,
				    struct redaction *ret)
{
	const size_t name_n = s->begins.n - str_ends(s->begins, STR("="));
	const char *name = at->text.p + (at->text.p[0] == '_');
	struct rest r = rest_from(at, name_n);
	struct value v = { 0 };
	bool tight = false;

	if (!rest_of_name(&r))
		return rest_verdict(&r, NO);
	const bool bare_name = r.i == name_n, aws = s->kind == SCRUB_AWS_SECRET;
	if (!assigns(&r, &tight))
		return rest_verdict(&r, NO);
	const size_t from = r.i;
	bool found = read_value(&r, &v);
	const bool capital = tight && is_upper(name[0]), shell = capital && is_upper(name[1]);
	v.setting = capital && !v.quoted;
	v.shell = shell && !v.quoted;
	found = found && (aws ? looks_aws(v.text) : looks_secret(&v, bare_name));
	if (tight && !aws && begins_line(at, shell) &&
	    (!v.quoted || (!found && at->lead == LEAD_DECLARED))) {
		r.i = from;
		v = (struct value){ .set = &line_value,
				    .setting = true,
				    .shell = shell && at->lead != LEAD_INDENTED };
		v.text = (struct str){ at->text.p + from, rest_run(&r, v.set, LIMIT_SCRUB_VALUE) };
		found |= looks_secret(&v, bare_name) && !is_expression(v.text);
	}
	if (r.beyond || !found)
		return rest_verdict(&r, NO);
	ret->from = (size_t)(v.text.p - at->text.p);
	ret->to = ret->from + v.text.n;
	ret->swallow = v.text.n == LIMIT_SCRUB_VALUE ? v.set : NULL;
	return HIT;
}
