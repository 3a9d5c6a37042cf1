/* SPDX-License-Identifier: MIT */
/* kill: read the words of kill. */

#include "policy/kill.h"

#include "policy/shell.h"

/* The first target: after -SIGNAL, -s SIGNAL or -n NUMBER, and --. A -1 that nothing follows is a
 * target. c->n if nothing is signalled. */
static size_t first_target(const struct shell_command *c)
{
	size_t i = 1;

	if (i < c->n && c->words[i].text.n > 1 && c->words[i].text.p[0] == '-' &&
	    !str_eq(c->words[i].text, STR("--"))) {
		const struct str option = c->words[i].text;
		if (option.p[1] == 'l' || option.p[1] == 'L' || str_eq(option, STR("--list")) ||
		    str_eq(option, STR("--table")))
			return c->n;
		if (c->n == 2)
			return 1;
		i += str_eq(option, STR("-s")) || str_eq(option, STR("-n")) ||
				     str_eq(option, STR("--signal"))
			     ? 2
			     : 1;
	}
	if (i < c->n && str_eq(c->words[i].text, STR("--")))
		i++;
	return i;
}

/* 0 or -1, with signs and zeros before it. */
static bool is_broad(struct str text)
{
	size_t i = 0;
	const bool minus = text.n && text.p[0] == '-';

	i += text.n && (text.p[0] == '-' || text.p[0] == '+');
	if (i == text.n)
		return false;
	while (i < text.n && text.p[i] == '0')
		i++;
	return i == text.n || (minus && i + 1 == text.n && text.p[i] == '1');
}

bool kill_is_broad(const struct shell_command *c)
{
	for (size_t i = first_target(c); i < c->n; i++)
		if (is_broad(c->words[i].text))
			return true;
	return false;
}

bool kill_is_blind(const struct shell_command *c, bool grows)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->words[i].flags & SHELL_UNKNOWN)
			return true;
	return grows;
}

bool kill_looks_up(const struct shell_command *c)
{
	const struct str name = shell_basename(c->words[0].text);

	return str_eq(name, STR("pgrep")) || str_eq(name, STR("pidof"));
}
