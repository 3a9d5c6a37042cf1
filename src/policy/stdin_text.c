/* SPDX-License-Identifier: MIT */
/* stdin_text: the input of a command, as far as it is written down. */

#include "policy/stdin_text.h"

#include "policy/rule.h"

/* Decode \n and \t, put `between` the words from..n. */
static struct str join(const struct shell_command *c, size_t from, char between, bool decode,
		       struct arena *a)
{
	size_t n = 0;

	for (size_t i = from; i < c->n; i++)
		n += c->words[i].text.n + 1;
	char *const p = arena_alloc(a, n + 1);
	if (!p)
		return STR("");
	n = 0;
	for (size_t i = from; i < c->n; i++) {
		const struct str w = c->words[i].text;
		for (size_t k = 0; k < w.n; k++) {
			const char next =
				decode && w.p[k] == '\\' && k + 1 < w.n ? w.p[k + 1] : '\0';
			const bool escape = next == 'n' || next == 't' || next == '\\';
			p[n++] = next == 'n' ? '\n' : next == 't' ? '\t' : w.p[k];
			k += escape;
		}
		p[n++] = between;
	}
	return (struct str){ p, n };
}

/* Is the word one of echo's options: -n, -e, -E or a bundle? */
static bool is_option(struct str w)
{
	for (size_t i = 1; i < w.n; i++) {
		if (w.p[i] != 'n' && w.p[i] != 'e' && w.p[i] != 'E')
			return false;
	}
	return w.n > 1 && w.p[0] == '-';
}

static struct str echoed(const struct shell_command *c, struct arena *a)
{
	bool decode = false;
	size_t i = 1;

	for (; i < c->n; i++) {
		if (!is_option(c->words[i].text))
			break;
		decode |= str_index(c->words[i].text, 'e') > 0;
	}
	return join(c, i, ' ', decode, a);
}

struct str stdin_text(const struct shell_command *c, struct arena *a)
{
	while (!c->input && c->from) {
		const struct str name = rule_basename(c->from->words[0].text);
		if (str_eq(name, STR("echo")))
			return echoed(c->from, a);
		if (str_eq(name, STR("printf")))
			return join(c->from, 1, '\n', true, a);
		if (!str_eq(name, STR("tee")) && !(str_eq(name, STR("cat")) && c->from->n == 1))
			return STR("");
		c = c->from;
	}
	return c->input ? *c->input : STR("");
}
