/* SPDX-License-Identifier: MIT */
/* ignore: parse the lines of an ignore file, and find the last rule that matches. */

#include "search/ignore.h"

#include <stdint.h>

#include "base/own.h"
#include "search/wild.h"

struct ignore_rule {
	struct wild *wild;
	struct str plain; /* a path's literal start, compared before the wildcards after it */
	bool negated;
	bool dirs_only;
	bool whole_path;   /* matched against the path, else against the last component */
	uint32_t same_key; /* the number of an earlier rule with the same hash, +1; or 0 */
};

/* A rule that is not hashed: two bytes mostly show that it need not be tried. */
struct slow_rule {
	uint32_t rule;
	int16_t first, last; /* of what it is matched against; -1 for any */
	bool whole_path;
};

struct ignore {
	unsigned owners;
	struct ignore *up;
	size_t depth;
	struct ignore_rule *rules; /* in the order of the lines */
	size_t count;
	struct slow_rule *slow; /* the last one first */
	size_t slow_count;
	uint32_t *table; /* from the hash of a name or extension to its last rule, +1; or 0 */
	size_t mask;
	char *text; /* owned copy that the rules point into */
};

enum { NAME_SEED = 0x9e37, EXTENSION_SEED = 0x79b9 };

/* The length of the plain text before the first wildcard, as git counts it. */
static size_t plain_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] != '*' && s.p[n] != '?' && s.p[n] != '[' && s.p[n] != '\\')
		n++;
	return n;
}

static uint32_t hash(struct str s, uint32_t seed)
{
	uint32_t h = seed;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x01000193U;
	return h ^ h >> 15;
}

/* What a rule is hashed by: a whole name, or the extension of "*.ext". */
static bool hash_key(const struct ignore_rule *r, struct str pattern, uint32_t *key)
{
	if (r->whole_path)
		return false;
	if (plain_length(pattern) == pattern.n) {
		*key = hash(pattern, NAME_SEED);
		return true;
	}
	if (!str_starts(pattern, STR("*.")))
		return false;
	const struct str extension = str_from(pattern, 2);
	if (plain_length(extension) < extension.n || str_index(extension, '.') >= 0)
		return false;
	*key = hash(extension, EXTENSION_SEED);
	return true;
}

/* As git does: drop blanks at the end, unless there is a backslash before the first of them. */
static struct str trim_blanks(struct str line)
{
	size_t end = 0;

	for (size_t i = 0; i < line.n; i++) {
		if (line.p[i] == ' ')
			continue;
		if (line.p[i] == '\\' && ++i == line.n)
			return line;
		end = i + 1;
	}
	return str_upto(line, end);
}

/* One line: 1 when it has a rule, 0 when it is blank or a comment, -1 when there is no memory. */
static int parse_line(struct str line, struct ignore_rule *r, struct str *pattern)
{
	struct err unused;

	if (line.n == 0 || line.p[0] == '#')
		return 0;
	if (line.p[line.n - 1] == '\r')
		line.n--;
	line = str_upto(line, strnlen(line.p, line.n)); /* git's lines end at a NUL */
	line = trim_blanks(line);
	*r = (struct ignore_rule){ .negated = str_starts(line, STR("!")) };
	struct str p = str_from(line, r->negated);
	if (str_ends(p, STR("/"))) {
		r->dirs_only = true;
		p.n--;
	}
	if (p.n == 0)
		return 0;
	r->whole_path = str_index(p, '/') >= 0;
	if (str_starts(p, STR("/")))
		p = str_from(p, 1);
	if (r->whole_path) {
		/* As in git the wildcards are matched from the first one on, which lets a "**"
		 * after plain text cross slashes. */
		r->plain = str_upto(p, plain_length(p));
		p = str_from(p, r->plain.n);
	}
	*pattern = p;
	return wild_new(p, WILD_GIT, &r->wild, &unused) < 0 ? -1 : 1;
}

static struct slow_rule make_slow(const struct ignore_rule *r, uint32_t i)
{
	return (struct slow_rule){
		.rule = i,
		.first = (int16_t)(r->plain.n ? (unsigned char)r->plain.p[0] : wild_first(r->wild)),
		.last = (int16_t)wild_last(r->wild),
		.whole_path = r->whole_path,
	};
}

/* Put rule number i where ignore_match will look for it. */
static void add_rule(struct ignore *set, uint32_t i, struct str pattern)
{
	uint32_t key;

	if (!hash_key(&set->rules[i], pattern, &key)) {
		set->slow[set->slow_count++] = make_slow(&set->rules[i], i);
		return;
	}
	/* Different names in one slot only cost a comparison: all rules of it are tested. */
	uint32_t *slot = &set->table[key & set->mask];
	set->rules[i].same_key = *slot;
	*slot = i + 1;
}

static void reverse(struct slow_rule *a, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		const struct slow_rule swap = a[i];

		a[i] = a[n - 1 - i];
		a[n - 1 - i] = swap;
	}
}

static bool make_room(struct ignore *set, struct str text)
{
	size_t lines = 1, slots = 8;

	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	while (slots < 2 * lines)
		slots *= 2;
	set->mask = slots - 1;
	set->rules = mem_new(lines, sizeof *set->rules);
	set->slow = mem_new(lines, sizeof *set->slow);
	set->table = mem_new(slots, sizeof *set->table);
	set->text = mem_new(text.n + 1, 1);
	if (!set->rules || !set->slow || !set->table || !set->text)
		return false;
	if (text.n)
		memcpy(set->text, text.p, text.n);
	return true;
}

static bool parse(struct ignore *set, struct str text)
{
	struct str rest = { set->text, text.n }, line;

	if (str_starts(rest, STR("\xef\xbb\xbf")))
		rest = str_from(rest, 3);
	while (rest.n) {
		struct str pattern;

		str_cut(rest, '\n', &line, &rest);
		const int got = parse_line(line, &set->rules[set->count], &pattern);
		if (got < 0)
			return false;
		if (got)
			add_rule(set, (uint32_t)set->count++, pattern);
	}
	reverse(set->slow, set->slow_count);
	return true;
}

static void set_free(struct ignore *set)
{
	for (size_t i = 0; set->rules && i < set->count; i++)
		wild_free(set->rules[i].wild);
	mem_free(set->rules);
	mem_free(set->slow);
	mem_free(set->table);
	mem_free(set->text);
	mem_free(set);
}

struct ignore *ignore_new(struct str text, size_t depth, struct ignore *up)
{
	struct ignore *set = text.n ? mem_new(1, sizeof *set) : NULL;

	if (!set)
		return up;
	if (!make_room(set, text) || !parse(set, text) || set->count == 0) {
		set_free(set);
		return up;
	}
	set->owners = 1;
	set->depth = depth;
	set->up = up;
	return set;
}

struct ignore *ignore_hold(struct ignore *set)
{
	if (set)
		__atomic_add_fetch(&set->owners, 1, __ATOMIC_RELAXED);
	return set;
}

void ignore_drop(struct ignore *set)
{
	while (set && __atomic_sub_fetch(&set->owners, 1, __ATOMIC_ACQ_REL) == 0) {
		struct ignore *up = set->up;

		set_free(set);
		set = up;
	}
}

static bool rule_matches(const struct ignore_rule *r, struct str path, struct str name, bool is_dir)
{
	if (r->dirs_only && !is_dir)
		return false;
	if (!r->whole_path)
		return wild_match(r->wild, name);
	return str_starts(path, r->plain) && wild_match(r->wild, str_from(path, r->plain.n));
}

/* The number of the last rule of the set that matches, +1; or 0. */
static uint32_t last_rule(const struct ignore *set, struct str path, struct str name, bool is_dir,
			  const uint32_t keys[2])
{
	uint32_t best = 0;

	for (size_t k = 0; k < 2; k++) {
		uint32_t i = set->table[keys[k] & set->mask];

		while (i > best && !rule_matches(&set->rules[i - 1], path, name, is_dir))
			i = set->rules[i - 1].same_key;
		best = i > best ? i : best;
	}
	/* A name is never empty, so there is a first and a last byte. */
	const int first[2] = { (unsigned char)name.p[0], (unsigned char)path.p[0] };
	const int last = (unsigned char)name.p[name.n - 1];
	for (size_t i = 0; i < set->slow_count && set->slow[i].rule >= best; i++) {
		const struct slow_rule *s = &set->slow[i];

		if ((s->last >= 0 && s->last != last) ||
		    (s->first >= 0 && s->first != first[s->whole_path]))
			continue;
		if (rule_matches(&set->rules[s->rule], path, name, is_dir))
			return s->rule + 1;
	}
	return best;
}

enum ignore_verdict ignore_match(const struct ignore *set, struct str path, size_t name_at,
				 bool is_dir)
{
	if (!set)
		return IGNORE_SILENT;

	const struct str name = str_from(path, name_at);
	const char *dot = memrchr(name.p, '.', name.n);
	const struct str extension =
		dot ? str_from(name, (size_t)(dot + 1 - name.p)) : (struct str){ 0 };
	const uint32_t keys[2] = { hash(name, NAME_SEED), hash(extension, EXTENSION_SEED) };

	for (; set; set = set->up) {
		const uint32_t i = last_rule(set, str_from(path, set->depth), name, is_dir, keys);

		if (i)
			return set->rules[i - 1].negated ? IGNORE_NO : IGNORE_YES;
	}
	return IGNORE_SILENT;
}
