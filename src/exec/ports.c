/* SPDX-License-Identifier: MIT */
/* ports: match a process's sockets with the kernel's tables of bound ones. */

#include "exec/ports.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

struct sockets {
	unsigned long inode[LIMIT_SURVIVOR_SOCKETS];
	size_t count;
};

static void sockets_of(pid_t pid, struct sockets *ret)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (const struct dirent *d; (d = readdir(dir)) && ret->count < LIMIT_SURVIVOR_SOCKETS;) {
		char link[64];
		const ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);
		if (n <= 8)
			continue;
		link[n] = '\0';
		if (strncmp(link, "socket:[", 8) == 0)
			ret->inode[ret->count++] = strtoul(link + 8, NULL, 10);
	}
	(void)closedir(dir);
}

static size_t add_port(uint16_t *to, size_t count, size_t max, uint16_t port)
{
	size_t at = 0;

	while (at < count && to[at] < port)
		at++;
	if (count == max || (at < count && to[at] == port))
		return count;
	memmove(to + at + 1, to + at, (count - at) * sizeof(*to));
	to[at] = port;
	return count + 1;
}

/* One line of the kernel's tables: slot, local address:port, remote, state, …, the inode tenth. */
struct row {
	uint16_t port;
	unsigned long state, inode;
};

static bool parse_row(char *line, struct row *ret)
{
	enum { LOCAL = 1, STATE = 3, INODE = 9, FIELDS };
	const char *field[FIELDS];
	size_t n = 0;

	for (char *next = line, *word; n < FIELDS && (word = strsep(&next, " \n"));)
		if (*word)
			field[n++] = word;
	const char *colon = n == FIELDS ? strchr(field[LOCAL], ':') : NULL;
	if (!colon)
		return false;
	*ret = (struct row){ .port = (uint16_t)strtoul(colon + 1, NULL, 16),
			     .state = strtoul(field[STATE], NULL, 16),
			     .inode = strtoul(field[INODE], NULL, 10) };
	return true;
}

static size_t match(pid_t pid, const char *table, unsigned long state, const struct sockets *s,
		    uint16_t *to, size_t count, size_t max)
{
	char path[32], line[512];

	(void)snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	FILE *f = fopen(path, "re");
	if (!f)
		return count;
	while (fgets(line, sizeof(line), f)) {
		struct row row;
		if (!parse_row(line, &row) || row.state != state)
			continue;
		for (size_t i = 0; i < s->count; i++)
			if (s->inode[i] == row.inode)
				count = add_port(to, count, max, row.port);
	}
	(void)fclose(f);
	return count;
}

size_t ports_of(pid_t pid, uint16_t *to, size_t max)
{
	/* The states of a listening TCP and of an unconnected UDP socket in these tables. */
	enum { LISTENING = 0x0a, UNCONNECTED = 0x07 };
	struct sockets s = { .count = 0 };
	size_t count = 0;

	sockets_of(pid, &s);
	if (!s.count)
		return 0;
	count = match(pid, "tcp", LISTENING, &s, to, count, max);
	count = match(pid, "tcp6", LISTENING, &s, to, count, max);
	count = match(pid, "udp", UNCONNECTED, &s, to, count, max);
	return match(pid, "udp6", UNCONNECTED, &s, to, count, max);
}
