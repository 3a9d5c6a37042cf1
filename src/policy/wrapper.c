/* SPDX-License-Identifier: MIT */
/* wrapper: open the commands that run others. */

#include "policy/wrapper.h"

#include "policy/rule.h"
#include "policy/stdin_text.h"
#include "policy/wrapper_table.h"

/* A command being opened. */
struct opening {
	const struct shell_command *c;
	const struct wrapper *w;
	struct arena *arena;
	struct wrapped *first, **tail;
};

/* Is the word nothing but an expansion that may come to nothing? */
static bool is_variable(const struct shell_word *w)
{
	return w->text.n == 1 && !w->text.p[0] && !(w->flags & SHELL_QUOTED);
}

static struct str word(const struct opening *o, size_t i)
{
	return i < o->c->n ? o->c->words[i].text : STR("");
}

static struct wrapped *add(struct opening *o)
{
	struct wrapped *made = arena_array(o->arena, 1, sizeof *made);

	if (!made)
		return NULL;
	*o->tail = made;
	o->tail = &made->next;
	return made;
}

static void add_text(struct opening *o, struct str text)
{
	struct wrapped *made = text.n ? add(o) : NULL;

	if (made)
		made->text = text;
}

/* The words from..to as a command; it reads what the wrapper reads. */
static void add_command(struct opening *o, size_t from, size_t to)
{
	struct wrapped *made = from < to ? add(o) : NULL;

	if (!made)
		return;
	made->command = *o->c;
	made->command.words += from;
	made->command.n = to - from;
	made->command.next = NULL;
}

/* The words from..to with blanks between, behind a first text. */
static void add_joined(struct opening *o, struct str head, size_t from, size_t to)
{
	size_t n = head.n;

	for (size_t i = from; i < to; i++)
		n += word(o, i).n + 1;
	char *p = arena_alloc(o->arena, n + 1);
	if (!p)
		return;
	memcpy(p, head.p, head.n);
	n = head.n;
	for (size_t i = from; i < to; i++) {
		p[n++] = ' ';
		memcpy(p + n, word(o, i).p, word(o, i).n);
		n += word(o, i).n;
	}
	add_text(o, (struct str){ p, n });
}

/* The text option: flock -c TEXT; or env -S WORDS, which go before the others. */
static void open_text(struct opening *o, struct str text, size_t rest)
{
	if (!o->w->assigns) {
		add_text(o, text);
		return;
	}
	char *p = arena_alloc(o->arena, text.n + 4);
	if (!p)
		return;
	memcpy(p, "env ", 4);
	memcpy(p + 4, text.p, text.n);
	add_joined(o, (struct str){ p, text.n + 4 }, rest, o->c->n);
}

/* Move over options; false when nothing is run, or the text option told all. */
static bool skip_options(struct opening *o, size_t *i)
{
	for (; *i < o->c->n; ++*i) {
		const struct str text = word(o, *i);
		/* An unquoted variable alone is likely options, or nothing; or the operand. */
		if (!o->w->operands && is_variable(&o->c->words[*i]))
			continue;
		if (o->w->assigns && str_index(text, '=') > 0 && text.p[0] != '-')
			continue;
		if (!text.n || text.p[0] != '-')
			return true;
		if (str_eq(text, STR("--"))) {
			++*i;
			return true;
		}
		const struct option opt = wrapper_option(o->w, text);
		if (opt.query)
			return false;
		*i += opt.next;
		if (!opt.text)
			continue;
		open_text(o, opt.next ? word(o, *i) : opt.value, *i + 1);
		return false;
	}
	return true;
}

static size_t blank(struct str text)
{
	size_t i = 0;

	while (i < text.n && text.p[i] != ' ' && text.p[i] != '\t' && text.p[i] != '\n')
		i++;
	return i;
}

/* The words of the input, where it is known, go behind xargs' own. */
static void open_xargs(struct opening *o, size_t from)
{
	struct str text = stdin_text(o->c, o->arena);
	const size_t own = o->c->n - from;
	size_t n = own;

	add_command(o, from, o->c->n);
	if (!o->first || !text.n)
		return;
	struct shell_word *words = arena_array(o->arena, own + text.n / 2 + 1, sizeof *words);
	if (!words)
		return;
	memcpy(words, o->c->words + from, own * sizeof *words);
	while ((text = str_trim(text)).n) {
		const size_t end = blank(text);
		words[n++] = (struct shell_word){ str_upto(text, end), 0 };
		text = str_from(text, end);
	}
	o->first->command.words = words;
	o->first->command.n = n;
}

/* find … -exec COMMAND ; and fd -x COMMAND. */
static void open_find(struct opening *o)
{
	static const char actions[] = "-exec -execdir -ok -okdir -x -X --exec --exec-batch";

	for (size_t i = 1; i < o->c->n; i++) {
		if (!wrapper_listed(actions, word(o, i)))
			continue;
		const size_t from = ++i;
		while (i < o->c->n && !str_eq(word(o, i), STR(";")) &&
		       !(str_eq(word(o, i), STR("+")) && str_eq(word(o, i - 1), STR("{}"))))
			i++;
		add_command(o, from, i);
	}
}

static void open_parallel(struct opening *o, size_t from)
{
	size_t to = from;

	while (to < o->c->n && !str_starts(word(o, to), STR(":::")))
		to++;
	if (from < to) {
		add_joined(o, STR(""), from, to);
		return;
	}
	for (size_t i = to; i < o->c->n; i++) {
		if (!str_starts(word(o, i), STR(":::")))
			add_text(o, word(o, i));
	}
}

/* A shell: -c TEXT, a script file (not looked into), or its input. */
static void open_shell(struct opening *o)
{
	bool text = false, input = false;
	size_t i = 1;

	for (; i < o->c->n; i++) {
		const struct str w = word(o, i);
		if (w.n < 2 || (w.p[0] != '-' && w.p[0] != '+') || str_eq(w, STR("--")))
			break;
		if (str_starts(w, STR("--"))) {
			i += str_eq(w, STR("--rcfile")) || str_eq(w, STR("--init-file"));
			continue;
		}
		text |= w.p[0] == '-' && str_index(w, 'c') > 0;
		input |= w.p[0] == '-' && str_index(w, 's') > 0;
		i += w.p[w.n - 1] == 'o' || w.p[w.n - 1] == 'O';
	}
	i += str_eq(word(o, i), STR("--")) || str_eq(word(o, i), STR("-"));
	if (text)
		add_text(o, word(o, i));
	else if (input || i >= o->c->n || str_eq(word(o, i), STR("/dev/stdin")))
		add_text(o, stdin_text(o->c, o->arena));
}

static void open_words(struct opening *o)
{
	size_t i = 1;

	if (!skip_options(o, &i))
		return;
	i += o->w->operands;
	switch (o->w->form) {
	case FORM_XARGS:
		open_xargs(o, i);
		break;
	case FORM_TEXT:
		add_joined(o, STR(""), i, o->c->n);
		break;
	case FORM_ARGUMENT:
		add_text(o, word(o, i));
		break;
	case FORM_PARALLEL:
		open_parallel(o, i);
		break;
	case FORM_OPTION:
		/* Behind an operand there may be options still: su root -c TEXT. */
		while (i < o->c->n) {
			i++;
			if (!skip_options(o, &i))
				break;
		}
		break;
	default:
		/* flock FILE -c TEXT */
		if (o->w->operands && o->w->text && !skip_options(o, &i))
			break;
		add_command(o, i, o->c->n);
	}
}

struct wrapped *wrapper_open(const struct shell_command *c, struct arena *a)
{
	const struct str name = rule_basename(c->words[0].text);
	struct opening o = { .c = c, .w = wrapper_find(name), .arena = a, .tail = &o.first };

	if (!o.w) {
		/* $PREFIX sudo: what unquoted variables leave behind when they are empty. */
		size_t i = 0;
		while (i < c->n && is_variable(&c->words[i]))
			i++;
		if (i)
			add_command(&o, i, c->n);
		return o.first;
	}
	if (o.w->form == FORM_FIND)
		open_find(&o);
	else if (o.w->form == FORM_SHELL)
		open_shell(&o);
	else if (o.w->form == FORM_SOURCE && str_eq(word(&o, 1), STR("/dev/stdin")))
		add_text(&o, stdin_text(c, a));
	else if (o.w->form != FORM_SOURCE)
		open_words(&o);
	return o.first;
}
