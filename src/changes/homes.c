/* SPDX-License-Identifier: MIT */
/* homes: what proves that a directory is one, and what becomes of old ones. */

#include "changes/homes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "changes/home.h"
#include "changes/record.h"

enum { AS_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK };
static const char *const needed_files[] = { "workspace", "key", "lock" };

#define AUTO_DIR CLEANUP(home_close_dir) DIR *

/* Whether it is of this user, and as a home makes it; "" is the directory itself. */
static bool is_private(int dir, const char *name, mode_t mode)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       st.st_uid == geteuid() && (st.st_mode & (S_IFMT | 0777)) == mode;
}

/* Whether nothing is in it but what a home has. The stage must be empty: what an interrupted undo
 * has left in it are somebody's files. */
static bool has_only_own_names(int dir)
{
	AUTO_DIR stage = home_entries(dir, "stage");
	AUTO_DIR d = home_entries(dir, ".");
	const char *name;
	uint32_t number;
	uint64_t owner;

	if (!d || !stage || home_next(stage))
		return false;
	while ((name = home_next(d))) {
		bool known = home_is_segment(name, &number, &owner);
		for (size_t i = 0; home_files[i]; i++)
			known |= strcmp(name, home_files[i]) == 0;
		for (size_t i = 0; home_dirs[i]; i++)
			known |= strcmp(name, home_dirs[i]) == 0;
		if (!known)
			return false;
	}
	return true;
}

/* Whether the directory is the home of a workspace, which `workspace` gets: by its owner, its mode,
 * its files, and its name, which has the hash of that path. */
static bool is_home(const char *name, int dir, char workspace[PATH_MAX])
{
	char wanted[HOME_NAME], key[sizeof(uint64_t) + 2];

	if (!is_private(dir, "", S_IFDIR | 0700) || !has_only_own_names(dir))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(needed_files); i++)
		if (!is_private(dir, needed_files[i], S_IFREG | 0600))
			return false;
	if (home_read_file(dir, "key", key, sizeof key) != (int)sizeof(uint64_t) ||
	    home_read_file(dir, "workspace", workspace, PATH_MAX) <= 0)
		return false;
	home_name(str_of(workspace), wanted);
	return strcmp(name, wanted) == 0;
}

bool homes_is_one(const char *path)
{
	char workspace[PATH_MAX];
	const char *slash = strrchr(path, '/');
	AUTO_FD dir = open(path, AS_DIR);

	return slash && dir >= 0 && is_home(slash + 1, dir, workspace);
}

/* What the segments of a home have. */
struct sum {
	int dir, links;
	uint64_t seed;
	struct home_facts *facts;
};

static void count_change(void *arg, uint64_t at, const struct record_head *h, struct str content)
{
	struct home_facts *f = arg;

	(void)at;
	(void)content;
	f->changes += h->type == RECORD_COMMIT;
}

static void add_segment(void *arg, uint32_t number, uint64_t owner)
{
	const struct sum *s = arg;
	char name[SEGMENT_NAME];
	uint32_t last = 0;
	struct stat st;

	home_segment_name(number, owner, name);
	if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	s->facts->bytes += (int64_t)st.st_blocks * 512;
	if (st.st_mtim.tv_sec > s->facts->newest_s)
		s->facts->newest_s = st.st_mtim.tv_sec;
	home_count_links(s->links, number, &s->facts->bytes, &last);
	AUTO_FD fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct record_range all = { .segment = number, .to = (uint64_t)st.st_size };
	if (fd >= 0)
		record_scan(fd, s->seed, &all, count_change, s->facts);
}

void homes_visit(const char *parent, homes_visitor *visit, void *arg)
{
	const char *name;
	struct stat st;
	AUTO_DIR d = home_entries(AT_FDCWD, parent);

	while (d && (name = home_next(d))) {
		struct home_facts f = { .name = name };
		AUTO_FD dir = openat(dirfd(d), name, AS_DIR);
		if (dir < 0 || !is_home(name, dir, f.workspace) || fstat(dir, &st) < 0)
			continue;
		f.newest_s = st.st_mtim.tv_sec;
		AUTO_FD lock = openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		AUTO_FD links = openat(dir, "links", AS_DIR);
		char key[sizeof(uint64_t) + 1];
		struct sum s = { .dir = dir, .links = links, .facts = &f };
		(void)home_read_file(dir, "key", key, sizeof key);
		memcpy(&s.seed, key, sizeof s.seed);
		/* First, so that what is found is still so when it is removed. */
		f.is_used = lock < 0 || !home_is_alone(lock);
		home_segments(dir, add_segment, &s);
		f.is_gone = stat(f.workspace, &st) < 0 && errno == ENOENT;
		if (visit(arg, &f) && !f.is_used && is_home(name, dir, f.workspace))
			home_remove(dir, dirfd(d), name);
	}
}

static bool is_stale(void *arg, const struct home_facts *f)
{
	const int64_t *since_s = arg;

	return f->newest_s < *since_s;
}

void homes_tidy(const char *parent, int64_t max_age_ms)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	int64_t since_s = now.tv_sec - max_age_ms / 1000;
	if (max_age_ms)
		homes_visit(parent, is_stale, &since_s);
}
