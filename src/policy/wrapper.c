/* SPDX-License-Identifier: MIT */
/* wrapper: the table of commands that run others, and how each of them is opened. */

#include "policy/shell_command.h"

#include "base/buf.h"
#include "policy/shell.h"

enum form {
	FORM_COMMAND,  /* the words after options and operands are a command */
	FORM_XARGS,    /* the same, and words from its input follow */
	FORM_TEXT,     /* they are joined into shell text */
	FORM_ARGUMENT, /* the first of them is shell text */
	FORM_PARALLEL, /* joined up to :::, or the arguments after it one by one */
	FORM_FIND,     /* the words after -exec and the like */
	FORM_SHELL,    /* bash -c TEXT, or what it reads from its input */
	FORM_SOURCE,   /* . /dev/stdin */
	FORM_OPTION,   /* only the value of the text option */
};

struct wrapper {
	const char *names; /* separated by blanks */
	enum form form;
	const char *values; /* letters of options that take a value */
	const char *longs;  /* names of long options that take one as the next word */
	const char *query;  /* letters that make it run nothing */
	char text;	    /* the option whose value is shell text, or 0 */
	const char *text_long;
	unsigned operands; /* words before the command */
	bool assigns;	   /* NAME=value may stand before the command */
};

/* A new wrapper is a new row. */
static const struct wrapper table[] = {
	{ "nohup setsid builtin busybox toybox valgrind", FORM_COMMAND },
	{ "env", .values = "uC", .longs = "unset chdir", .text = 'S', .text_long = "split-string",
	  .assigns = true },
	{ "time", .values = "fo", .longs = "format output" },
	{ "timeout", .values = "sk", .longs = "signal kill-after", .operands = 1 },
	{ "nice", .values = "n", .longs = "adjustment" },
	{ "ionice", .values = "cn", .longs = "class classdata", .query = "pPu" },
	{ "chrt", .values = "TPD", .longs = "sched-runtime sched-period sched-deadline",
	  .query = "mp", .operands = 1 },
	{ "taskset", .query = "p", .operands = 1 },
	{ "stdbuf", .values = "ioe", .longs = "input output error" },
	{ "exec", .values = "a" },
	{ "command", .query = "vV" },
	{ "chroot", .longs = "groups userspec", .operands = 1 },
	{ "unshare", .values = "RwSG", .longs = "root wd setuid setgid" },
	{ "strace", .values = "abeEIoOpPsSuUX", .longs = "output trace attach user" },
	{ "ltrace", .values = "aAeDFlnopsuwx", .longs = "output" },
	{ "sudo", .values = "CDghpRrTtUu", .longs = "user group host prompt chdir chroot",
	  .assigns = true },
	{ "doas", .values = "Cu" },
	{ "xargs", FORM_XARGS, .values = "adEILnPs",
	  .longs = "arg-file delimiter max-args max-procs max-chars process-slot-var" },
	{ "find fd fdfind", FORM_FIND },
	{ "eval", FORM_TEXT },
	{ "watch", FORM_TEXT, .values = "nq", .longs = "interval equexit" },
	{ "flock", .values = "wE", .longs = "timeout wait conflict-exit-code", .text = 'c',
	  .text_long = "command", .operands = 1 },
	{ "script", FORM_OPTION, .values = "BEImoOT", .text = 'c', .text_long = "command" },
	{ "su runuser", FORM_OPTION, .values = "gGsTw", .text = 'c', .text_long = "command" },
	{ "parallel", FORM_PARALLEL, .values = "aCdIjLnNPsS",
	  .longs = "jobs arg-file colsep delimiter max-args max-procs sshlogin joblog results "
		   "timeout delay retries workdir" },
	{ "trap", FORM_ARGUMENT, .query = "lp" },
	{ "sh bash dash zsh ksh mksh ash rbash", FORM_SHELL },
	{ ". source", FORM_SOURCE },
};

static const struct wrapper *find_wrapper(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (str_is_listed(table[i].names, name))
			return &table[i];
	}
	return NULL;
}

/* What an option means for the words after it. */
struct wrapper_option {
	bool query;
	bool text;	  /* its value is shell text */
	struct str value; /* if it is attached */
	bool next;	  /* its value is the next word */
};

static struct wrapper_option long_option(const struct wrapper *w, struct str name)
{
	struct wrapper_option opt = { .query = false };
	const bool attached = str_cut(name, '=', &name, &opt.value);

	opt.text = w->text_long && name.n && str_starts(str_of(w->text_long), name);
	opt.next = !attached && (opt.text || str_is_listed(w->longs, name));
	return opt;
}

static struct wrapper_option short_options(const struct wrapper *w, struct str letters)
{
	struct wrapper_option opt = { .query = false };

	for (size_t i = 0; i < letters.n; i++) {
		const char c = letters.p[i];
		if (!c)
			break;
		if (w->query && strchr(w->query, c))
			opt.query = true;
		opt.text = c == w->text;
		if (!opt.text && !(w->values && strchr(w->values, c)))
			continue;
		opt.value = str_from(letters, i + 1);
		opt.next = !opt.value.n;
		break;
	}
	return opt;
}

/* Read a word that begins with -, and is not -- alone. */
static struct wrapper_option read_option(const struct wrapper *w, struct str text)
{
	if (str_starts(text, STR("--")))
		return long_option(w, str_from(text, 2));
	return short_options(w, str_from(text, 1));
}

/* What the command will read from its standard input, if the text itself tells: a here-document or
 * a here-string; "" if it is not known. */
static struct str stdin_text(const struct shell_command *c)
{
	return c->input ? *c->input : STR("");
}

/* A command being opened. */
struct opening {
	const struct shell_command *c;
	const struct wrapper *w;
	struct arena *arena;
	struct wrapped *first, **tail;
};

/* Is the word only an expansion, which may be empty? */
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
	made->grows = o->w && (o->w->form == FORM_XARGS || o->w->form == FORM_PARALLEL ||
			       o->w->form == FORM_FIND);
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

/* The words from..to as shell text, with blanks between them. */
static void add_joined(struct opening *o, const struct shell_word *words, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += words[i].text.n + 1;
	char *const p = n ? arena_alloc(o->arena, n) : NULL;
	if (!p)
		return;
	struct buf text = buf_over(p, n);
	for (size_t i = from; i < to; i++) {
		if (i > from)
			buf_addc(&text, ' ');
		buf_add(&text, words[i].text);
	}
	add_text(o, buf_str(&text));
}

/* The text option: flock -c TEXT; or env -S WORDS, which come before the others. */
static void open_text(struct opening *o, struct str text, size_t from)
{
	if (!o->w->assigns) {
		add_text(o, text);
		return;
	}
	struct shell_word *words = arena_array(o->arena, 2 + o->c->n, sizeof *words);
	size_t n = 0;
	if (!words)
		return;
	words[n++].text = STR("env");
	words[n++].text = text;
	while (from < o->c->n)
		words[n++] = o->c->words[from++];
	add_joined(o, words, 0, n);
}

/* Move over options; false if nothing is run, or the text option has said it all. */
static bool skip_options(struct opening *o, size_t *i)
{
	for (; *i < o->c->n; ++*i) {
		const struct str text = word(o, *i);
		/* A word that is only an unquoted variable is probably options, or nothing; or the
		 * operand. */
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
		const struct wrapper_option opt = read_option(o->w, text);
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

/* The words of the input, if it is known, come after xargs' own. */
static void open_xargs(struct opening *o, size_t from)
{
	struct str text = stdin_text(o->c);
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
		if (!str_is_listed(actions, word(o, i)))
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
		add_joined(o, o->c->words, from, to);
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
		add_text(o, stdin_text(o->c));
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
		add_joined(o, o->c->words, i, o->c->n);
		break;
	case FORM_ARGUMENT:
		add_text(o, word(o, i));
		break;
	case FORM_PARALLEL:
		open_parallel(o, i);
		break;
	case FORM_OPTION:
		/* There may be more options after an operand: su root -c TEXT. */
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
	const struct str name = shell_basename(c->words[0].text);
	struct opening o = { .c = c, .w = find_wrapper(name), .arena = a, .tail = &o.first };

	if (!o.w) {
		/* $PREFIX sudo: what remains if the unquoted variables are empty. */
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
		add_text(&o, stdin_text(c));
	else if (o.w->form != FORM_SOURCE)
		open_words(&o);
	return o.first;
}
