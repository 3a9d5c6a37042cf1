/* SPDX-License-Identifier: MIT */
/* words: command lines without a shell. */

#include "policy/words.h"

#include "policy/shword.h"

static bool is_blank(char c)
{
	return c && strchr(" \t\r\n", c);
}

/* Every word begins after a blank, or at the start. */
static size_t count_most(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += !is_blank(text.p[i]) && (i == 0 || is_blank(text.p[i - 1]));
	return n;
}

int words_split(struct str text, struct arena *a, struct str **ret, size_t *count, struct err *e)
{
	const size_t most = count_most(text);

	if (most == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid command");
	if (str_index(text, '\0') >= 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The command has a NUL byte");
	struct str *list = arena_array(a, most, sizeof *list);
	char *room = arena_alloc(a, text.n);
	struct shlex s = { .p = text.p,
			   .end = text.p + text.n,
			   .arena = a,
			   .text = buf_over(room, room ? text.n : 0),
			   .literal = true };
	size_t n = 0;

	while (list && s.p < s.end) {
		if (is_blank(*s.p))
			s.p++;
		else
			list[n++] = shword_read(&s, 0).text;
	}
	if (a->failed || s.trouble)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the command, try again");
	if (s.unclosed == '\\')
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The command ends in a backslash with nothing behind it");
	if (s.unclosed)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The command has a %c that is not closed",
			       s.unclosed);
	*ret = list;
	*count = n;
	return 0;
}

/* Bash or sh does these itself. Not among them: true and false, whose programs do the same. */
static bool is_of_shell(const char *word)
{
	static const char *const names[] = {
		".",	   ":",		"alias",    "bg",      "bind",	  "break",   "builtin",
		"caller",  "case",	"cd",	    "chdir",   "command", "compgen", "complete",
		"compopt", "continue",	"coproc",   "declare", "dirs",	  "disown",  "do",
		"done",	   "echo",	"elif",	    "else",    "enable",  "esac",    "eval",
		"exec",	   "exit",	"export",   "fc",      "fg",	  "fi",	     "for",
		"getopts", "function",	"hash",	    "help",    "history", "if",	     "in",
		"jobs",	   "kill",	"let",	    "local",   "logout",  "mapfile", "popd",
		"printf",  "pushd",	"pwd",	    "read",    "return",  "select",  "set",
		"shift",   "readarray", "readonly", "shopt",   "source",  "suspend", "test",
		"then",	   "time",	"times",    "trap",    "type",	  "typeset", "ulimit",
		"umask",   "unalias",	"unset",    "until",   "wait",	  "while",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0)
			return true;
	return false;
}

/* The name of a program: not an assignment, and nothing like the job %1. */
static bool is_program_name(const char *word)
{
	return !strchr(word, '=') && !strchr("-+:,@%", word[0]) && !is_of_shell(word);
}

char **words_plain(const char *line, struct arena *a)
{
	/* These bytes mean themselves to every shell, at any place in a word. */
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+./:,@%= \t";
	struct str *words;
	size_t count;
	struct err e;

	line += strspn(line, " \t\n");
	const struct str copy = arena_dup(a, (struct str){ line, strspn(line, plain) });
	const char *rest = line + copy.n;
	/* Only blank lines may follow: anything else is for the shell to read. */
	if (rest[strspn(rest, " \t\n")] || words_split(copy, a, &words, &count, &e) < 0)
		return NULL;
	char **argv = arena_array(a, count + 1, sizeof *argv);
	for (size_t i = 0; argv && i < count; i++) {
		argv[i] = (char *)(uintptr_t)words[i].p; /* in the copy, as nothing is quoted */
		argv[i][words[i].n] = '\0';
	}
	return argv && is_program_name(argv[0]) ? argv : NULL;
}
