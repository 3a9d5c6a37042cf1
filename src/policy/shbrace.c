/* SPDX-License-Identifier: MIT */
/* shbrace: find the groups in a word and write out their alternatives. */

#include "policy/limits.h"
#include "policy/shbrace.h"

/* The index after the quoted part or expansion that begins at i; i + 1 if none does. */
static size_t skip_part(struct str raw, size_t i)
{
	const char c = raw.p[i];
	const char next = i + 1 < raw.n ? raw.p[i + 1] : '\0';
	char close = c;
	size_t depth = 1;

	if (c == '\\')
		return i + 2 < raw.n ? i + 2 : raw.n;
	if (c == '$' && (next == '(' || next == '{'))
		close = next == '(' ? ')' : '}';
	else if (c != '\'' && c != '"' && c != '`')
		return i + 1;
	for (i += c == '$' ? 2 : 1; i < raw.n; i++) {
		if (raw.p[i] == '\\' && c != '\'')
			i++;
		else if (c == '$' && raw.p[i] == next)
			depth++;
		else if (raw.p[i] == close && --depth == 0)
			return i + 1;
	}
	return raw.n;
}

/* A group {…,…}: where it opens and closes. */
struct brace_group {
	size_t open, close;
};

/* The group that opens at `open`; false if it has no comma or is not closed. */
static bool find_close(struct str raw, size_t open, struct brace_group *ret)
{
	size_t depth = 0;
	bool comma = false;

	for (size_t i = open; i < raw.n; i = skip_part(raw, i)) {
		if (raw.p[i] == '{') {
			depth++;
		} else if (raw.p[i] == ',' && depth == 1) {
			comma = true;
		} else if (raw.p[i] == '}' && --depth == 0) {
			*ret = (struct brace_group){ open, i };
			return comma;
		}
	}
	return false;
}

static bool find_group(struct str raw, struct brace_group *ret)
{
	unsigned tries = 0;

	for (size_t i = 0; i < raw.n; i = skip_part(raw, i)) {
		if (raw.p[i] != '{')
			continue;
		if (find_close(raw, i, ret))
			return true;
		/* Each try may look at the whole word. */
		if (++tries > LIMIT_BRACE_DEPTH)
			break;
	}
	return false;
}

/* A text without groups is a word. */
static void add_word(struct shlex *s, struct str raw, struct buf *words)
{
	struct shlex_outer save;

	shlex_enter(s, raw, &save);
	const struct word w = shword_read(s, 0);
	shlex_leave(s, &save);
	/* {,sudo}: an empty alternative without quotes is not a word. */
	if (!w.text.n && !w.flags)
		return;
	const struct shell_word made = { w.text, w.flags };
	buf_add(words, (struct str){ (const char *)&made, sizeof made });
}

static void expand(struct shlex *s, struct str raw, unsigned depth, struct buf *words)
{
	struct brace_group g;

	if (!find_group(raw, &g)) {
		add_word(s, raw, words);
		return;
	}
	for (size_t from = g.open + 1; from <= g.close && !s->trouble;) {
		size_t to = from;
		for (size_t nested = 0; to < g.close; to = skip_part(raw, to)) {
			if (raw.p[to] == ',' && !nested)
				break;
			nested += raw.p[to] == '{';
			nested -= nested && raw.p[to] == '}';
		}
		const size_t n = g.open + (to - from) + (raw.n - g.close - 1);
		s->braces++;
		s->braced += n;
		char *p = arena_alloc(s->arena, n + 1);
		if (!p || depth >= LIMIT_BRACE_DEPTH || s->braces > LIMIT_BRACE_WORDS ||
		    s->braced > LIMIT_BRACE_BYTES) {
			shlex_give_up(s, "its braces make too many words");
			return;
		}
		memcpy(p, raw.p, g.open);
		memcpy(p + g.open, raw.p + from, to - from);
		memcpy(p + g.open + (to - from), raw.p + g.close + 1, raw.n - g.close - 1);
		expand(s, (struct str){ p, n }, depth + 1, words);
		from = to + 1;
	}
}

bool shbrace_expand(struct shlex *s, struct str raw, struct buf *words)
{
	struct brace_group g;

	if (!find_group(raw, &g))
		return false;
	/* The commands of substitutions in it have been read with the word as a whole. */
	s->mute++;
	expand(s, raw, 0, words);
	s->mute--;
	return true;
}
