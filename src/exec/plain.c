/* SPDX-License-Identifier: MIT */
/* plain: words of harmless characters, the first of them a program that is no shell's own. */

#include "exec/plain.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "exec/environ.h"

static const char blanks[] = " \t\n";

/* In every shell these stand for themselves, wherever they stand in a word. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_-+./:,@%=", c));
}

/* What bash or sh would do itself. Not among them: true and false, whose programs do the same. */
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

/* A program's name: no assignment, and nothing like the job %1. */
static bool is_name(const char *word)
{
	return !strchr(word, '=') && !strchr("-+:,@%", word[0]) && !is_of_shell(word);
}

/* The words, or NULL when a shell has to say what the line means. */
static char **split(const char *line, struct arena *a)
{
	const size_t len = strlen(line);
	char *text = arena_alloc(a, len + 1);
	char **argv = arena_array(a, len / 2 + 2, sizeof(*argv));
	size_t n = 0;

	if (!text || !argv)
		return NULL;
	memcpy(text, line, len + 1);
	for (char *p = text; *(p += strspn(p, blanks));) {
		argv[n++] = p;
		while (is_plain(*p))
			p++;
		const size_t gap = strspn(p, blanks);
		/* A newline before the end begins another command. */
		if (p[gap] && (gap == 0 || memchr(p, '\n', gap)))
			return NULL;
		*p = '\0';
		p += gap ? 1 : 0;
	}
	return n && is_name(argv[0]) ? argv : NULL;
}

static const char *value_of(char *const *env, const char *name)
{
	const size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Variables that make bash do something before or instead of what it is told. */
static bool is_shell_prepared(char *const *env)
{
	for (size_t i = 0; env[i]; i++)
		if (strncmp(env[i], "BASH_FUNC_", 10) == 0)
			return true;
	return value_of(env, "BASH_ENV") || value_of(env, "BASHOPTS") || value_of(env, "SHELLOPTS");
}

static bool is_program(const char *path)
{
	struct stat st;

	return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Look along PATH as the shell does. A directory of it that depends on the working directory is
 * left to the shell, like a program that is not found. */
static bool find_program(const char *name, const char *path, char *at, size_t size)
{
	if (strchr(name, '/'))
		return snprintf(at, size, "%s", name) < (int)size;
	while (path && *path == '/') {
		const size_t n = strcspn(path, ":");
		if (snprintf(at, size, "%.*s/%s", (int)n, path, name) >= (int)size)
			return false;
		if (is_program(at))
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static char *variable(struct arena *a, const char *name, const char *value)
{
	const size_t size = strlen(name) + strlen(value) + 2;
	char *text = arena_alloc(a, size);

	if (text)
		(void)snprintf(text, size, "%s=%s", name, value);
	return text;
}

/* What the shell sets for the programs it becomes. */
static char **complete(char *const *env, const char *program, const char *cwd, struct arena *a)
{
	char *more[] = { variable(a, "PWD", cwd), variable(a, "_", program) };

	return a->failed ? NULL : environ_merge(env, more, ARRAY_LEN(more));
}

bool plain_prepare(struct plain *p, const char *line, char *const *env, const char *cwd,
		   struct arena *a)
{
	/* A directory without a name leaves PWD to the shell. */
	p->argv = *cwd != '/' || is_shell_prepared(env) ? NULL : split(line, a);
	if (!p->argv ||
	    !find_program(p->argv[0], value_of(env, "PATH"), p->program, sizeof(p->program)))
		return false;
	p->env = complete(env, p->program, cwd, a);
	return p->env != NULL;
}
