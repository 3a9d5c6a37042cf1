/* SPDX-License-Identifier: MIT */
/* segments: their names say whose they are; renaming one is the only way to change that. */

#include "changes/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "changes/limits.h"
#include "changes/record.h"

static int64_t wall_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct segment *segments_find(struct segments *s, uint32_t number)
{
	for (size_t i = s->count; i-- > 0;)
		if (s->list[i].number == number)
			return &s->list[i];
	errno = ENOENT;
	return NULL;
}

/* Add a segment, in the order of numbers. NULL with errno: there is no memory. */
static struct segment *add(struct segments *s, uint32_t number, uint64_t owner)
{
	size_t i = s->count;

	if (s->count == s->room) {
		const size_t room = s->room ? s->room * 2 : 16;
		struct segment *more = mem_resize(s->list, room, sizeof *more);
		if (!more) {
			errno = ENOMEM;
			return NULL;
		}
		s->list = more;
		s->room = room;
	}
	while (i > 0 && s->list[i - 1].number > number)
		i--;
	memmove(&s->list[i + 1], &s->list[i], (s->count++ - i) * sizeof *s->list);
	s->list[i] = (struct segment){ .number = number, .owner = owner, .fd = -1 };
	return &s->list[i];
}

static void forget(struct segments *s, struct segment *g)
{
	fd_closep(&g->fd);
	s->removals++;
	memmove(g, g + 1, (size_t)(&s->list[--s->count] - g) * sizeof *g);
}

int segments_open(const struct segments *s, const struct segment *g, int flags)
{
	char name[SEGMENT_NAME];

	home_segment_name(g->number, g->owner, name);
	return openat(s->home.dir, name, O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
}

/* Change the owner. 0, or -1 with errno: somebody else has done it. */
static int give(const struct segments *s, struct segment *g, uint64_t owner)
{
	char from[SEGMENT_NAME], to[SEGMENT_NAME];

	home_segment_name(g->number, g->owner, from);
	home_segment_name(g->number, owner, to);
	int rc = renameat2(s->home.dir, from, s->home.dir, to, RENAME_NOREPLACE);
	if (rc < 0 && errno == EINVAL) /* the file system does not know that */
		rc = renameat(s->home.dir, from, s->home.dir, to);
	if (rc < 0)
		return -1;
	g->owner = owner;
	return 0;
}

/* What a segment takes on disk, and when it was last written to. */
static void measure(const struct segments *s, struct segment *g)
{
	char name[SEGMENT_NAME];
	struct statx st;

	home_segment_name(g->number, g->owner, name);
	if (statx(s->home.dir, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return;
	g->bytes = (int64_t)st.stx_blocks * 512;
	g->newest_ms = (int64_t)st.stx_mtime.tv_sec * 1000 + st.stx_mtime.tv_nsec / 1000000;
	if (st.stx_mask & STATX_BTIME)
		g->begun_ms = (int64_t)st.stx_btime.tv_sec * 1000;
	if (g->fd < 0)
		g->size = st.stx_size;
}

static void list_segment(void *arg, uint32_t number, uint64_t owner)
{
	struct segments *s = arg;
	struct segment *g = segments_find(s, number);

	if (!g) {
		g = add(s, number, owner);
		if (g)
			home_count_links(s->home.links, number, &g->linked, &g->links);
	}
	if (!g)
		return;
	g->owner = owner;
	g->is_listed = true;
	measure(s, g);
}

/* Look which segments there are now. */
void segments_look(struct segments *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->list[i].is_listed = s->list[i].fd >= 0;
	home_segments(s->home.dir, list_segment, s);
	for (size_t i = s->count; i-- > 0;)
		if (!s->list[i].is_listed)
			forget(s, &s->list[i]);
}

/* How many bytes may be linked: a tenth of what is free; none while less than a twentieth is. */
int64_t segments_most_linked(const struct segments *s)
{
	struct statvfs v;

	if (fstatvfs(s->home.links, &v) < 0)
		return 0;
	const int64_t unit = (int64_t)v.f_frsize;
	return v.f_bavail < v.f_blocks / 20 ? 0 : (int64_t)v.f_bavail / 10 * unit;
}

void segments_sum(const struct segments *s, int64_t *bytes, int64_t *linked)
{
	*bytes = *linked = 0;
	for (size_t i = 0; i < s->count; i++) {
		*bytes += s->list[i].bytes;
		*linked += s->list[i].linked;
	}
}

/* Remove a segment that nobody owns: its name first, because somebody may be taking it over. */
static bool remove_segment(struct segments *s, struct segment *g)
{
	char name[SEGMENT_NAME];
	const uint32_t number = g->number;

	home_segment_name(number, 0, name);
	if (unlinkat(s->home.dir, name, 0) < 0)
		return false;
	home_remove_links(s->home.links, number);
	forget(s, g);
	return true;
}

static bool is_older(const struct segment *a, const struct segment *b)
{
	return a->newest_ms != b->newest_ms ? a->newest_ms < b->newest_ms : a->number < b->number;
}

/* The one that was last written to next after `last`. */
static struct segment *next_by_age(const struct segments *s, const struct segment *last)
{
	struct segment *next = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (is_older(last, &s->list[i]) && (!next || is_older(&s->list[i], next)))
			next = &s->list[i];
	return next;
}

void segments_trim(struct segments *s, uint32_t keep)
{
	const int64_t now = wall_ms(), max_linked = segments_most_linked(s);
	struct segment last = { .newest_ms = INT64_MIN };
	int64_t bytes, linked;

	segments_sum(s, &bytes, &linked);
	for (struct segment *g; !s->is_guest && (g = next_by_age(s, &last));) {
		last = *g;
		const bool old = s->max_age_ms && now - g->newest_ms > s->max_age_ms;
		const bool much = bytes > s->max_bytes || (linked > max_linked && g->linked);
		const bool stays = g->number == keep || !next_by_age(s, g);
		if (g->owner || (!old && (!much || stays)) || !remove_segment(s, g))
			continue;
		bytes -= last.bytes;
		linked -= last.linked;
	}
}

/* Nothing is appended to it any more. */
void segments_retire(struct segments *s, struct segment *g)
{
	fd_closep(&g->fd);
	measure(s, g);
	g->visited = g->end = g->scanned = g->size;
	if (s->current == g->number)
		s->current = 0;
	if (give(s, g, 0) == 0 && g->size == 0)
		(void)remove_segment(s, g);
}

/* Make a segment ours, to append to it. */
int segments_take(struct segments *s, struct segment *g)
{
	if (g->owner != s->home.id && give(s, g, s->home.id) < 0)
		return -1;
	g->fd = segments_open(s, g, O_RDWR);
	if (g->fd < 0)
		return -1;
	/* Who had it may have linked more since it was first seen. */
	g->linked = g->links = 0;
	home_count_links(s->home.links, g->number, &g->linked, &g->links);
	return 0;
}

bool segments_is_full(const struct segments *s, const struct segment *g)
{
	return g->size >= (uint64_t)s->segment_bytes || g->records >= LIMIT_JOURNAL_RECORDS ||
	       (g->linked && g->linked >= segments_most_linked(s) / LIMIT_JOURNAL_SHARES) ||
	       (s->max_age_ms && g->begun_ms &&
		wall_ms() - g->begun_ms > s->max_age_ms / LIMIT_JOURNAL_SHARES);
}

int segments_continue(struct segments *s, struct segment *g)
{
	struct stat st;

	if (segments_take(s, g) < 0)
		return -1;
	/* Another program may have used it since its records were visited: those are to be visited
	 * first. */
	if (fstat(g->fd, &st) == 0 && (uint64_t)st.st_size <= g->visited) {
		g->size = (g->visited + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
		return 0;
	}
	fd_closep(&g->fd);
	(void)give(s, g, 0);
	errno = EBUSY;
	return -1;
}

/* One of the newest segments, if an earlier program has left it whole and with space in it: so that
 * many short programs, several at once, do not leave many small ones. */
static struct segment *reuse(struct segments *s)
{
	for (size_t i = 0; i < s->count && i < LIMIT_JOURNAL_REUSE; i++) {
		struct segment *g = &s->list[s->count - 1 - i];
		if (!g->owner && g->is_whole && !segments_is_full(s, g) &&
		    segments_continue(s, g) == 0)
			return g;
	}
	return NULL;
}

static struct segment *make(struct segments *s)
{
	const uint32_t last = s->count ? s->list[s->count - 1].number : 0;
	const uint32_t number = home_segment_number(&s->home, last);
	struct segment *g = number ? add(s, number, s->home.id) : NULL;

	if (!g)
		return NULL;
	g->fd = segments_open(s, g, O_RDWR | O_CREAT | O_EXCL);
	g->begun_ms = wall_ms();
	if (g->fd >= 0)
		return g;
	const int error = errno;
	forget(s, g);
	errno = error;
	return NULL;
}

/* The segment in which a change can begin; or NULL with errno. */
struct segment *segments_current(struct segments *s)
{
	struct segment *g = s->current ? segments_find(s, s->current) : NULL;

	if (g && !segments_is_full(s, g))
		return g;
	s->current = 0;
	if (g && g->changes == 0)
		segments_retire(s, g);
	segments_look(s);
	segments_trim(s, 0);
	g = reuse(s);
	if (!g)
		g = make(s);
	if (g)
		s->current = g->number;
	return g;
}
