/* SPDX-License-Identifier: MIT */
/* process: signals, descriptors, memory, log. */

#include "service/process.h"

#include <malloc.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

void process_prepare(struct config *c, const sigset_t *signals)
{
	const bool text =
		c->log == CONFIG_LOG_TEXT || (c->log == CONFIG_LOG_AUTO && isatty(STDERR_FILENO));
	struct rlimit files;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigprocmask(SIG_BLOCK, signals, NULL);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		c->open_files = (int64_t)files.rlim_cur;
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* One heap for all workers. Memory of large requests is used again while there is work, and
	 * given back when it is quiet (server.c), not after every request. */
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
	(void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
	log_configure((enum log_level)c->log_level, text ? LOG_TEXT : LOG_JSON);
}
