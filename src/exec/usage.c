/* SPDX-License-Identifier: MIT */
/* usage: what the kernel keeps count of anyway, read from /proc/self. */

#include "exec/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"

static int64_t cpu_ms(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
		return -1;
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* "size resident …", in pages. */
static void read_memory(struct usage *u)
{
	char text[128];
	AUTO_FD fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof text);
	const int64_t page = sysconf(_SC_PAGESIZE);
	struct str size, resident, rest;
	int64_t pages;

	if (n <= 0 || !str_cut((struct str){ text, (size_t)n }, ' ', &size, &rest) ||
	    !str_cut(rest, ' ', &resident, &rest))
		return;
	if (str_int(size, &pages))
		u->virtual_bytes = pages * page;
	if (str_int(resident, &pages))
		u->resident_bytes = pages * page;
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
	return n - 3; /* ".", "..", and the one this looks through */
}

void usage_read(struct usage *ret)
{
	struct rlimit files;

	*ret = (struct usage){
		.cpu_ms = cpu_ms(),
		.resident_bytes = -1,
		.virtual_bytes = -1,
		.open_fds = count_fds(),
		.max_fds = getrlimit(RLIMIT_NOFILE, &files) < 0 ? -1 : (int64_t)files.rlim_cur,
	};
	read_memory(ret);
}
