/* SPDX-License-Identifier: MIT */
/* procfs: read small files below /proc. */

#include "exec/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

size_t procfs_text(const char *path, char *to, size_t size)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : io_read_full(fd, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

int64_t procfs_tasks(void)
{
	char text[128];

	/* "load load load running/all newest" */
	(void)procfs_text("/proc/loadavg", text, sizeof(text));
	const char *slash = strchr(text, '/');
	return slash ? strtoll(slash + 1, NULL, 10) : INT64_MAX;
}

int64_t procfs_oom_kills(void)
{
	static const char name[] = "\noom_kill ";
	char text[16384];

	(void)procfs_text("/proc/vmstat", text, sizeof(text));
	const char *p = strstr(text, name);
	return p ? strtoll(p + strlen(name), NULL, 10) : 0;
}

static int64_t cpu_ms(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
		return -1;
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int64_t n = 0;

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n - 3; /* ".", "..", and the one that reads the directory */
}

void procfs_usage(struct procfs_usage *ret)
{
	const int64_t page = sysconf(_SC_PAGESIZE);
	struct rlimit files;
	char text[128], *rest;

	*ret = (struct procfs_usage){
		.cpu_ms = cpu_ms(),
		.resident_bytes = -1,
		.virtual_bytes = -1,
		.open_fds = count_fds(),
		.max_fds = getrlimit(RLIMIT_NOFILE, &files) < 0 ? -1 : (int64_t)files.rlim_cur,
	};
	/* "size resident …", in pages */
	if (!procfs_text("/proc/self/statm", text, sizeof(text)))
		return;
	ret->virtual_bytes = strtoll(text, &rest, 10) * page;
	ret->resident_bytes = strtoll(rest, NULL, 10) * page;
}
