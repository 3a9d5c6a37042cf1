/* SPDX-License-Identifier: MIT */
/* nfa: from the tree to the graph, built from the end to the start. */

#include "regex/dfa.h"

#include "base/own.h"
#include "regex/limits.h"

enum { NOWHERE = 0 }; /* node 0 is the match; it also stands for a node that failed */

struct compiler {
	struct nfa *nfa;
	size_t steps; /* nodes of the tree visited: a repeat of nothing adds no node to the graph */
	bool failed;
};

static uint16_t add_node(struct compiler *c, struct nfa_node node)
{
	struct nfa *n = c->nfa;

	if (n->n == n->cap) {
		const size_t cap = n->cap ? n->cap * 2 : 32;
		struct nfa_node *grown = NULL;

		if (cap <= LIMIT_REGEX_NODES)
			grown = mem_resize(n->nodes, cap, sizeof(*grown));
		if (!grown) {
			c->failed = true;
			return NOWHERE;
		}
		n->nodes = grown;
		n->cap = cap;
	}
	if (node.op == NFA_LOOK)
		n->looks |= 1u << node.look;
	n->nodes[n->n] = node;
	return (uint16_t)n->n++;
}

static uint16_t set_index(struct compiler *c, const struct byteset *set)
{
	struct nfa *n = c->nfa;

	for (size_t i = 0; i < n->n_sets; i++)
		if (memcmp(&n->sets[i], set, sizeof(*set)) == 0)
			return (uint16_t)i;
	if (n->n_sets == n->cap_sets) {
		const size_t cap = n->cap_sets ? n->cap_sets * 2 : 8;
		struct byteset *grown = mem_resize(n->sets, cap, sizeof(*grown));

		if (!grown) {
			c->failed = true;
			return 0;
		}
		n->sets = grown;
		n->cap_sets = cap;
	}
	n->sets[n->n_sets] = *set;
	return (uint16_t)n->n_sets++;
}

static uint16_t add_set(struct compiler *c, const struct byteset *set, uint16_t to)
{
	return add_node(c, (struct nfa_node){ .op = NFA_SET, .set = set_index(c, set), .to = to });
}

static uint16_t add_bytes(struct compiler *c, unsigned lo, unsigned hi, uint16_t to)
{
	struct byteset set = { 0 };

	for (unsigned b = lo; b <= hi; b++)
		byteset_add(&set, b);
	return add_set(c, &set, to);
}

static uint16_t add_fork(struct compiler *c, uint16_t to, uint16_t to_last)
{
	return add_node(c, (struct nfa_node){ .op = NFA_FORK, .to = to, .to_last = to_last });
}

static uint16_t add_look(struct compiler *c, enum look look, uint16_t to)
{
	return add_node(c, (struct nfa_node){ .op = NFA_LOOK, .look = (uint8_t)look, .to = to });
}

/*
 * A character that is not ASCII, or a piece that is not UTF-8: bytes up to the place where the
 * decoder, which the automaton carries along, says that a character ends (LOOK_CHAR) or that an
 * ill-formed piece ends (LOOK_ILL). A handful of nodes instead of one for each kind of sequence.
 */
static uint16_t add_decoded(struct compiler *c, enum look end, uint16_t to)
{
	const uint16_t fork = add_fork(c, NOWHERE, NOWHERE);
	const uint16_t out = add_look(c, end, to);
	const uint16_t more = add_look(c, LOOK_INSIDE, add_bytes(c, 0x80, 0xbf, fork));

	c->nfa->nodes[fork].to = out;
	c->nfa->nodes[fork].to_last = more;
	return add_bytes(c, 0x80, 0xff, fork);
}

static uint16_t add_sequence(struct compiler *c, const struct utf8_sequence *s, uint16_t to)
{
	for (unsigned i = 0; i < s->n; i++) {
		const unsigned k = c->nfa->reverse ? i : s->n - 1 - i;

		to = add_bytes(c, s->bytes[k].lo, s->bytes[k].hi, to);
	}
	return to;
}

static uint16_t add_chars(struct compiler *c, const struct charset *chars, uint16_t to)
{
	struct byteset ascii = { 0 };
	/* The decoder runs forwards only; backwards only well-formed UTF-8 is matched. */
	const bool decoded = !c->nfa->reverse && charset_has(chars, CHARSET_ILL);
	const bool every = decoded && charset_covers(chars, 0x80, CHARSET_ILL);
	uint16_t ways = NOWHERE;

	for (uint32_t i = 0; i < chars->n; i++)
		for (uint32_t b = chars->ranges[i].lo; b <= chars->ranges[i].hi && b < 0x80; b++)
			byteset_add(&ascii, b);
	if (every)
		ways = add_decoded(c, LOOK_CHAR, to);
	else if (decoded)
		ways = add_decoded(c, LOOK_ILL, to);
	for (uint32_t i = 0; i < chars->n && !every; i++) {
		struct utf8_split split = utf8_split(chars->ranges[i].lo, chars->ranges[i].hi);
		struct utf8_sequence seq;

		while (!c->failed && utf8_split_next(&split, &seq)) {
			const uint16_t way = add_sequence(c, &seq, to);

			ways = ways ? add_fork(c, way, ways) : way;
		}
	}

	const uint16_t way = add_set(c, &ascii, to);

	return ways ? add_fork(c, way, ways) : way;
}

static uint16_t add_ast(struct compiler *c, const struct ast *t, uint16_t to);

static uint16_t add_repeat(struct compiler *c, const struct ast *t, uint16_t to)
{
	uint16_t at = to;

	if (t->max == AST_MANY) {
		const uint16_t fork = add_fork(c, NOWHERE, NOWHERE);
		const uint16_t body = add_ast(c, t->child, fork);

		c->nfa->nodes[fork].to = t->lazy ? to : body;
		c->nfa->nodes[fork].to_last = t->lazy ? body : to;
		at = fork;
	} else {
		for (uint32_t i = t->min; i < t->max && !c->failed; i++) {
			const uint16_t body = add_ast(c, t->child, at);

			at = t->lazy ? add_fork(c, to, body) : add_fork(c, body, to);
		}
	}
	for (uint32_t i = 0; i < t->min && !c->failed; i++)
		at = add_ast(c, t->child, at);
	return at;
}

static uint16_t add_alt(struct compiler *c, const struct ast *t, uint16_t to)
{
	uint16_t ways = add_ast(c, t->last, to);

	for (const struct ast *k = t->last->prev; k && !c->failed; k = k->prev)
		ways = add_fork(c, add_ast(c, k, to), ways);
	return ways;
}

static uint16_t add_ast(struct compiler *c, const struct ast *t, uint16_t to)
{
	const bool back = c->nfa->reverse;

	if (c->failed || ++c->steps > 4 * LIMIT_REGEX_NODES) {
		c->failed = true;
		return NOWHERE;
	}
	switch (t->kind) {
	case AST_CHARS:
		return add_chars(c, &t->chars, to);
	case AST_CAT:
		for (const struct ast *k = back ? t->child : t->last; k;
		     k = back ? k->next : k->prev)
			to = add_ast(c, k, to);
		return to;
	case AST_ALT:
		return add_alt(c, t, to);
	case AST_REPEAT:
		return add_repeat(c, t, to);
	case AST_GROUP:
		return add_ast(c, t->child, to);
	case AST_LOOK:
		return add_look(c, t->look, to);
	default:
		return to;
	}
}

/* Bytes get the same class unless some set tells them apart. */
static void make_classes(struct nfa *n)
{
	uint8_t *of = n->class_of;

	n->classes = 1;
	for (size_t i = 0; i < n->n_sets; i++) {
		uint8_t split[256] = { 0 }; /* class -> class of its members that are in the set */
		bool out[256] = { false };

		for (unsigned b = 0; b < 256; b++)
			out[of[b]] |= !byteset_has(&n->sets[i], b);
		for (unsigned b = 0; b < 256; b++) {
			if (!byteset_has(&n->sets[i], b) || !out[of[b]])
				continue;
			if (!split[of[b]])
				split[of[b]] = (uint8_t)n->classes++;
			of[b] = split[of[b]];
		}
	}
	for (unsigned b = 0; b < 256; b++)
		n->byte_of[of[b]] = (uint8_t)b;
}

static bool is_word(unsigned byte)
{
	return byte == '_' || (byte >= '0' && byte <= '9') ||
	       ((byte | 32) >= 'a' && (byte | 32) <= 'z');
}

/* Sets that no node consumes: they separate the bytes that positions depend on. */
static void add_context_sets(struct compiler *c)
{
	static const uint8_t decoder[][2] = { { 0x80, 0x8f }, { 0x90, 0x9f }, { 0xa0, 0xbf },
					      { 0xc2, 0xdf }, { 0xe0, 0xe0 }, { 0xe1, 0xef },
					      { 0xed, 0xed }, { 0xf0, 0xf0 }, { 0xf1, 0xf3 },
					      { 0xf4, 0xf4 }, { 0x80, 0xff } };
	struct byteset word = { 0 }, newline = { 0 };

	for (unsigned b = 0; b < 128; b++)
		if (is_word(b))
			byteset_add(&word, b);
	byteset_add(&newline, '\n');
	set_index(c, &newline);
	if (c->nfa->looks & (1u << LOOK_WORD | 1u << LOOK_NOT_WORD))
		set_index(c, &word);
	for (size_t i = 0; i < ARRAY_LEN(decoder); i++) {
		struct byteset set = { 0 };

		for (unsigned b = decoder[i][0]; b <= decoder[i][1]; b++)
			byteset_add(&set, b);
		if (c->nfa->looks & (1u << LOOK_CHAR | 1u << LOOK_ILL))
			set_index(c, &set);
	}
}

/* Any bytes before the pattern; to begin the match here is preferred. */
static uint16_t add_search_loop(struct compiler *c, uint16_t pattern)
{
	const unsigned decoded = 1u << LOOK_CHAR | 1u << LOOK_ILL;
	const uint16_t fork = add_fork(c, NOWHERE, NOWHERE);

	/* Only these could let a match begin in the middle of a character. */
	if (c->nfa->looks & (decoded | 1u << LOOK_NOT_WORD))
		pattern = add_look(c, LOOK_CHAR, pattern);

	const uint16_t any = add_bytes(c, 0, 255, fork);

	c->nfa->nodes[fork].to = pattern;
	c->nfa->nodes[fork].to_last = any;
	return fork;
}

static size_t at_most_too_many(size_t n)
{
	return n > LIMIT_REGEX_NODES ? LIMIT_REGEX_NODES + 1 : n;
}

/* Roughly how many nodes; LIMIT_REGEX_NODES + 1 means too many. */
static size_t estimate(const struct ast *t)
{
	size_t n = 1;

	if (t->kind == AST_CHARS)
		return charset_last(&t->chars) < 0x80 ? 1 : 6;
	for (const struct ast *k = t->child; k; k = k->next)
		n = at_most_too_many(n + estimate(k));
	if (t->kind == AST_REPEAT)
		n *= at_most_too_many(t->max == AST_MANY ? t->min + 1 : t->max);
	return at_most_too_many(n);
}

int nfa_too_large(struct err *e)
{
	return err_set(
		e, ERR_INVALID_REGEX,
		"The pattern becomes too large when its repeats are written out; use smaller "
		"numbers in {n,m}, or * and +");
}

bool nfa_fits(const struct ast *root)
{
	return estimate(root) <= LIMIT_REGEX_NODES;
}

int nfa_compile(struct nfa *n, const struct ast *root, enum nfa_direction way, struct err *e)
{
	struct compiler c = { .nfa = n };

	n->reverse = way == NFA_REVERSE;

	uint16_t at = add_node(&c, (struct nfa_node){ .op = NFA_MATCH });

	if (!c.failed) { /* node 0 exists, which all other nodes may refer to */
		at = add_ast(&c, root, at);
		if (way == NFA_SEARCH)
			at = add_search_loop(&c, at);
		add_context_sets(&c);
	}
	if (c.failed)
		return nfa_too_large(e);
	n->start = at;
	make_classes(n);
	return 0;
}

void nfa_done(struct nfa *n)
{
	mem_free(n->nodes);
	mem_free(n->sets);
	*n = (struct nfa){ 0 };
}

enum side nfa_side(const struct nfa *n, unsigned byte)
{
	const unsigned line = 1u << LOOK_LINE_START | 1u << LOOK_LINE_END;
	const unsigned text = 1u << LOOK_TEXT_START | 1u << LOOK_TEXT_END;
	const unsigned word = 1u << LOOK_WORD | 1u << LOOK_NOT_WORD;

	if (byte == UTF8_END && (n->looks & text))
		return SIDE_EDGE;
	if ((byte == '\n' || byte == UTF8_END) && (n->looks & line))
		return SIDE_NEWLINE;
	if (is_word(byte) && (n->looks & word))
		return SIDE_WORD;
	return SIDE_OTHER;
}

bool nfa_look(const struct nfa *n, enum look look, enum side read, enum utf8_state utf8,
	      unsigned next)
{
	const enum side coming = nfa_side(n, next);
	const enum side before = n->reverse ? coming : read;
	const enum side after = n->reverse ? read : coming;

	switch (look) {
	case LOOK_LINE_START:
		return before >= SIDE_NEWLINE;
	case LOOK_LINE_END:
		return after >= SIDE_NEWLINE;
	case LOOK_TEXT_START:
		return before == SIDE_EDGE;
	case LOOK_TEXT_END:
		return after == SIDE_EDGE;
	case LOOK_WORD:
		return (before == SIDE_WORD) != (after == SIDE_WORD);
	case LOOK_NOT_WORD:
		return (before == SIDE_WORD) == (after == SIDE_WORD);
	case LOOK_CHAR:
		return !utf8_state_inside(utf8, next);
	case LOOK_INSIDE:
		return utf8_state_inside(utf8, next);
	case LOOK_ILL:
		return utf8_state_ill(utf8, next);
	}
	return false;
}
