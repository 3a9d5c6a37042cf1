/* SPDX-License-Identifier: MIT */
/* plain: find the program, and set the variables that a shell would set. */

#include "exec/plain.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "exec/environ.h"

static const char *value_of(char *const *env, const char *name)
{
	const size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Are there variables that make bash do something before, or instead of, its command? */
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

/* Search PATH as the shell does. If a directory in it depends on the working directory, or the
 * program is not found, the shell has to search. */
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

/* Add what the shell sets for the programs that it executes. */
static char **complete(char *const *env, const char *program, const char *cwd, struct arena *a)
{
	char *more[] = { variable(a, "PWD", cwd), variable(a, "_", program) };

	return a->failed ? NULL : environ_merge(env, more, ARRAY_LEN(more));
}

bool plain_prepare(struct plain *p, char *const *words, size_t count, char *const *env,
		   const char *cwd, struct arena *a)
{
	/* Without the name of the directory only the shell can set PWD. */
	if (*cwd != '/' || is_shell_prepared(env) ||
	    !find_program(words[0], value_of(env, "PATH"), p->program, sizeof(p->program)))
		return false;
	p->argv = arena_array(a, count + 1, sizeof(*p->argv));
	p->env = p->argv ? complete(env, p->program, cwd, a) : NULL;
	for (size_t i = 0; p->env && i < count; i++)
		p->argv[i] = words[i];
	return p->env != NULL;
}
