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
static bool is_of_shell(struct str word)
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
		if (str_eq(word, str_of(names[i])))
			return true;
	return false;
}

/* The name of a program: not an assignment, and nothing like the job %1. */
static bool is_program_name(struct str word)
{
	return str_index(word, '=') < 0 && !strchr("-+:,@%", word.p[0]) && !is_of_shell(word);
}

/* These bytes mean themselves to every shell, at any place in a word. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_-+./:,@%=", c));
}

static bool is_line_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

size_t words_plain(struct str line, struct arena *a, struct str **ret)
{
	struct str *words;
	size_t count, n = 0;
	struct err e;

	while (line.n && is_line_blank(line.p[0]))
		line = str_from(line, 1);
	while (n < line.n && (is_plain(line.p[n]) || line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	/* Only blank lines may follow: anything else is for the shell to read. */
	for (size_t i = n; i < line.n; i++)
		if (!is_line_blank(line.p[i]))
			return 0;
	if (words_split(str_upto(line, n), a, &words, &count, &e) < 0 || !is_program_name(words[0]))
		return 0;
	*ret = words;
	return count;
}
