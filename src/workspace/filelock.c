/* SPDX-License-Identifier: MIT */
/* filelock: locks of open file descriptions, asked for again and again, because waiting for one in
 * the kernel has no deadline. */

#include "workspace/filelock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"

static int set(int fd, struct lock_range r, short type)
{
	struct flock f = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = r.from, .l_len = r.count
	};

	return fcntl(fd, F_OFD_SETLK, &f);
}

int filelock_take(int fd, struct lock_range r, enum filelock_kind kind, int64_t deadline_ms)
{
	const short type = kind == FILELOCK_ALONE ? F_WRLCK : F_RDLCK;
	/* Who has it usually gives it back within microseconds. */
	long pause_ns = 50000;

	while (set(fd, r, type) < 0) {
		if (errno == EACCES)
			errno = EAGAIN;
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		if (io_now_ms() >= deadline_ms) {
			errno = EAGAIN;
			return -1;
		}
		const struct timespec pause = { .tv_nsec = pause_ns };
		(void)nanosleep(&pause, NULL);
		pause_ns = pause_ns < 5000000 ? pause_ns * 2 : pause_ns;
	}
	return 0;
}

void filelock_release(int fd, struct lock_range r)
{
	(void)set(fd, r, F_UNLCK);
}

/* Whether one of these lines, "lock: 1: OFDLCK ADVISORY WRITE -1 08:01:1234 5 EOF", is a lock on that
 * range of the file. */
static bool is_locked(const char *text, const char *file, struct lock_range r)
{
	for (const char *at = text; (at = strstr(at, file)); at++) {
		char *end;
		const long long from = strtoll(at + strlen(file), &end, 10);
		const long long to =
			str_starts(str_of(end), STR(" EOF")) ? INT64_MAX : strtoll(end, NULL, 10);
		if (to >= r.from && (!r.count || from < r.from + r.count))
			return true;
	}
	return false;
}

/* Whether one of the process's descriptors has that lock: the kernel lists them. */
static bool has_lock(const char *pid, const char *file, struct lock_range r)
{
	char path[64 + NAME_MAX], text[4096];
	(void)snprintf(path, sizeof path, "/proc/%.20s/fdinfo", pid);
	DIR *d = opendir(path);
	const struct dirent *f;
	bool found = false;

	while (d && !found && (f = readdir(d))) {
		AUTO_FD fd = openat(dirfd(d), f->d_name, O_RDONLY | O_CLOEXEC);
		const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof text - 1);
		text[n > 0 ? n : 0] = '\0';
		found = strstr(text, "OFDLCK") && is_locked(text, file, r);
	}
	if (d)
		(void)closedir(d);
	return found;
}

/* The name of the process and its state, of "41 (claude) T 1 …". */
static void describe(const char *pid, char out[FILELOCK_HOLDER])
{
	char path[64], text[512];
	(void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	const bool known = name && end && end > name && end[1] == ' ';
	const bool stopped = known && (end[2] == 'T' || end[2] == 't');
	(void)snprintf(out, FILELOCK_HOLDER, "pid %.20s%s%.*s%s", pid, known ? " " : "",
		       known ? (int)(end - name) + 1 : 0, known ? name : "",
		       stopped ? ", which is stopped" : "");
}

const char *filelock_holder(int fd, struct lock_range r, char out[FILELOCK_HOLDER])
{
	char file[64], self[16];
	struct stat st;
	const struct dirent *f;
	DIR *d = fstat(fd, &st) == 0 ? opendir("/proc") : NULL;

	(void)snprintf(out, FILELOCK_HOLDER, "another program");
	(void)snprintf(self, sizeof self, "%ld", (long)getpid());
	if (!d)
		return out;
	(void)snprintf(file, sizeof file, " %02x:%02x:%llu ", major(st.st_dev), minor(st.st_dev),
		       (unsigned long long)st.st_ino);
	while ((f = readdir(d))) {
		if (!isdigit((unsigned char)f->d_name[0]) || strcmp(f->d_name, self) == 0 ||
		    !has_lock(f->d_name, file, r))
			continue;
		describe(f->d_name, out);
		break;
	}
	(void)closedir(d);
	return out;
}
