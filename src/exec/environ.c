/* SPDX-License-Identifier: MIT */
/* environ: the environment of commands, without the server's own variables. */

#include "exec/environ.h"

#include <string.h>

#include "base/own.h"
#include "base/str.h"

static const char *const private_names[] = {
	"SOCKET_PATH",
	"TCP_HOST",
	"TCP_PORT",
	"NOTIFY_SOCKET",
	"LISTEN_PID",
	"LISTEN_FDS",
	"LISTEN_FDNAMES",
	"LISTEN_PIDFDID",
	"WATCHDOG_PID",
	"WATCHDOG_USEC",
	"CREDENTIALS_DIRECTORY",
};

static struct str name_of(const char *variable)
{
	return (struct str){ variable, strcspn(variable, "=") };
}

static bool is_private(const char *variable)
{
	const struct str name = name_of(variable);

	if (str_starts(name, STR("SIDECAR_")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(private_names); i++)
		if (str_eq(name, str_of(private_names[i])))
			return true;
	return false;
}

static char **find(char **list, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(name_of(list[i]), name))
			return &list[i];
	return NULL;
}

char **environ_merge(char *const *base, char *const *extra, size_t extra_count)
{
	size_t count = 0;

	while (base[count])
		count++;
	char **list = mem_new(count + extra_count + 1, sizeof(*list));
	if (!list)
		return NULL;
	count = 0;
	for (size_t i = 0; base[i]; i++)
		if (!is_private(base[i]))
			list[count++] = base[i];
	for (size_t i = 0; i < extra_count; i++) {
		char **old = find(list, count, name_of(extra[i]));
		if (old)
			*old = extra[i];
		else
			list[count++] = extra[i];
	}
	return list;
}
