/* SPDX-License-Identifier: MIT */
/* store: segments that are appended to and removed as a whole, and links beside them. */

#include "changes/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/segments.h"
#include "changes/limits.h"

struct store {
	pthread_mutex_t lock;
	struct segments segments;
	uint64_t last; /* the greatest number of a change that is known */
	bool sync;
	int failed;
	char path[PATH_MAX];
};

int store_begin(struct store *s, uint64_t change, struct store_part *ret)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_current(&s->segments);
	if (g) {
		g->changes++;
		*ret = (struct store_part){ .segment = g->number, .change = change };
	} else {
		s->failed = errno;
	}
	(void)pthread_mutex_unlock(&s->lock);
	return g ? 0 : -1;
}

int store_resume(struct store *s, uint64_t change, uint32_t segment, struct store_part *ret)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, segment);
	if (g && g->fd < 0 && !g->owner)
		(void)segments_continue(&s->segments, g);
	if (g && g->fd >= 0) {
		g->changes++;
		*ret = (struct store_part){ .segment = segment, .change = change };
	}
	(void)pthread_mutex_unlock(&s->lock);
	return g && g->fd >= 0 ? 0 : -1;
}

void store_end(struct store *s, struct store_part *p)
{
	int64_t bytes, linked;

	if (!p->segment)
		return;
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, p->segment);
	if (g && --g->changes == 0 &&
	    (g->number != s->segments.current || segments_is_full(&s->segments, g)))
		segments_retire(&s->segments, g);
	segments_sum(&s->segments, &bytes, &linked);
	if (bytes > s->segments.max_bytes ||
	    (linked && linked > segments_most_linked(&s->segments))) {
		segments_look(&s->segments);
		segments_trim(&s->segments, p->segment);
	}
	(void)pthread_mutex_unlock(&s->lock);
	*p = (struct store_part){ .segment = 0 };
}

/* What a change may have of a bound. What was in its segment before it has the rest, so that both
 * fit (segments_is_full). */
static int64_t most_of(int64_t bound)
{
	return bound - bound / LIMIT_JOURNAL_SHARES;
}

static int reserve(struct store *s, const struct store_part *p, uint64_t need, struct reserved *ret)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, p->segment);
	const bool fits = g && g->fd >= 0 && g->size + need <= UINT32_MAX;
	if (g && !fits)
		errno = ENOSPC;
	if (fits) {
		*ret = (struct reserved){ .fd = g->fd,
					  .at = store_at(g->number, (uint32_t)g->size) };
		g->size += need;
		g->bytes += (int64_t)need;
		g->records++;
	}
	(void)pthread_mutex_unlock(&s->lock);
	return fits ? 0 : -1;
}

int store_reserve(struct store *s, struct store_part *p, uint64_t need, struct reserved *ret)
{
	const int64_t most = s->segments.max_bytes;

	(void)pthread_mutex_lock(&s->lock);
	const struct segment *g = segments_find(&s->segments, p->segment);
	const bool fits = g && p->written + (int64_t)need <= most_of(most) &&
			  g->bytes + (int64_t)need <= most;
	(void)pthread_mutex_unlock(&s->lock);
	if (!fits)
		errno = ENOSPC;
	if (!fits || reserve(s, p, need, ret) < 0)
		return -1;
	p->written += (int64_t)need;
	return 0;
}

int store_release(struct store *s, const struct reserved *r, bool sync, int rc)
{
	if (rc == 0 && sync && s->sync)
		rc = fdatasync(r->fd);
	const int error = rc < 0 ? errno : 0;
	(void)pthread_mutex_lock(&s->lock);
	s->failed = error;
	(void)pthread_mutex_unlock(&s->lock);
	errno = error;
	return rc;
}

int store_write_at(int fd, struct str bytes, uint64_t offset)
{
	while (bytes.n) {
		const ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes = str_from(bytes, (size_t)n);
		offset += (uint64_t)n;
	}
	return 0;
}

int store_append(struct store *s, const struct store_part *p, struct str records, bool is_end,
		 uint64_t *at)
{
	struct reserved r;

	if (reserve(s, p, records.n, &r) < 0)
		return -1;
	const int rc = store_release(s, &r, is_end, store_write_at(r.fd, records, (uint32_t)r.at));
	if (rc == 0)
		*at = r.at;
	return rc;
}

void store_share(struct store *s, uint64_t at)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, store_segment(at));
	if (g)
		g->is_shared = true;
	(void)pthread_mutex_unlock(&s->lock);
}

void store_punch(struct store *s, uint64_t at, bool is_alone)
{
	struct record_head h;

	(void)pthread_mutex_lock(&s->lock);
	const struct segment *g = segments_find(&s->segments, store_segment(at));
	/* The head stays, so that readers find their way. */
	if (g && g->fd >= 0 && (is_alone || !g->is_shared) &&
	    store_read_head(s, g->fd, at, RECORD_BLOB, &h) == 0)
		(void)fallocate(g->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)(uint32_t)at + RECORD_HEAD, (off_t)h.length);
	(void)pthread_mutex_unlock(&s->lock);
}

int store_links(const struct store *s)
{
	return s->segments.home.links;
}

uint64_t store_next_link(struct store *s, const struct store_part *p, int64_t size)
{
	uint64_t at = 0;

	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, p->segment);
	const int64_t most = segments_most_linked(&s->segments);
	if (g && p->linked + size <= most_of(most) && g->linked + size <= most)
		at = store_at(g->number, ++g->links);
	else
		errno = ENOSPC;
	(void)pthread_mutex_unlock(&s->lock);
	return at;
}

void store_count_link(struct store *s, uint64_t at, int64_t bytes)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, store_segment(at));
	if (g)
		g->linked = g->linked + bytes > 0 ? g->linked + bytes : 0;
	(void)pthread_mutex_unlock(&s->lock);
}

size_t store_segments(struct store *s, uint32_t *to, size_t max)
{
	size_t n = 0;

	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = s->segments.count; i-- > 0 && n < max;)
		if (s->segments.list[i].links)
			to[n++] = s->segments.list[i].number;
	(void)pthread_mutex_unlock(&s->lock);
	return n;
}

bool store_has(struct store *s, uint64_t at)
{
	(void)pthread_mutex_lock(&s->lock);
	const bool has = segments_find(&s->segments, store_segment(at)) != NULL;
	(void)pthread_mutex_unlock(&s->lock);
	return has;
}

static int open_to_read(const struct store *s, const struct segment *g)
{
	return g->fd >= 0 ? fcntl(g->fd, F_DUPFD_CLOEXEC, 3)
			  : segments_open(&s->segments, g, O_RDONLY);
}

int store_open_segment(struct store *s, uint64_t at)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, store_segment(at));
	int fd = g ? open_to_read(s, g) : -1;
	/* Its owner may have changed since, and change again. */
	for (int tries = 0; g && fd < 0 && errno == ENOENT && tries < 8; tries++) {
		segments_look(&s->segments);
		g = segments_find(&s->segments, store_segment(at));
		fd = g ? open_to_read(s, g) : -1;
	}
	(void)pthread_mutex_unlock(&s->lock);
	return fd;
}

int store_read_head(const struct store *s, int fd, uint64_t at, enum record_type type,
		    struct record_head *ret)
{
	char head[RECORD_HEAD];
	struct stat st;

	if (io_pread_full(fd, head, sizeof head, (uint32_t)at) == sizeof head &&
	    record_get_head(s->segments.home.seed, head, ret) && ret->type == type &&
	    fstat(fd, &st) == 0 && ret->length <= (uint64_t)st.st_size)
		return 0;
	errno = EBADMSG;
	return -1;
}

int store_read(struct store *s, uint64_t at, enum record_type type, size_t most, struct buf *out)
{
	struct record_head h;
	AUTO_FD fd = store_open_segment(s, at);

	if (fd < 0 || store_read_head(s, fd, at, type, &h) < 0)
		return -1;
	const size_t n = most && h.length > most ? most : (size_t)h.length;
	char *to = buf_room(out, n + 1);
	if (!to) {
		errno = ENOMEM;
		return -1;
	}
	if (io_pread_full(fd, to, n, (off_t)(uint32_t)at + RECORD_HEAD) != (ssize_t)n ||
	    (n == h.length &&
	     record_checksum(s->segments.home.seed, (struct str){ to, n }) != h.checksum)) {
		errno = EBADMSG;
		return -1;
	}
	buf_filled(out, n);
	return 0;
}

void store_scan(struct store *s, uint32_t segment, store_visit *visit, void *arg)
{
	AUTO_FD fd = store_open_segment(s, store_at(segment, 0));
	struct record_range r = { .segment = segment };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	r.to = (uint64_t)st.st_size;
	record_scan(fd, s->segments.home.seed, &r, visit, arg);
}

/* The first segment from that number on whose records have not all been visited, and which is not
 * one of ours; false if there is none. */
static bool find_unvisited(struct store *s, uint32_t least, struct record_range *ret)
{
	bool found = false;

	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->segments.count && !found; i++) {
		const struct segment *g = &s->segments.list[i];
		found = g->number >= least && g->fd < 0 && g->visited < g->size;
		if (found)
			*ret = (struct record_range){ .segment = g->number,
						      .from = g->visited,
						      .to = g->size };
	}
	(void)pthread_mutex_unlock(&s->lock);
	return found;
}

static void note_visited(struct store *s, const struct record_range *r)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = segments_find(&s->segments, r->segment);
	if (g && g->fd < 0) {
		g->is_whole = r->gap == r->to;
		g->end = r->end > g->end ? r->end : g->end;
		g->scanned = r->failed ? r->gap : r->to;
		/* In a segment that nobody writes no gap is filled any more. */
		g->visited = g->owner || r->failed ? r->gap : r->to;
	}
	(void)pthread_mutex_unlock(&s->lock);
}

void store_refresh(struct store *s, store_visit *visit, void *arg)
{
	struct record_range r = { .segment = 0 };

	(void)pthread_mutex_lock(&s->lock);
	segments_look(&s->segments);
	(void)pthread_mutex_unlock(&s->lock);
	while (find_unvisited(s, r.segment, &r)) {
		AUTO_FD fd = store_open_segment(s, store_at(r.segment, 0));
		if (fd >= 0)
			record_scan(fd, s->segments.home.seed, &r, visit, arg);
		if (fd >= 0)
			note_visited(s, &r);
		r.segment++;
	}
}

/* A writer that owns segments and is not this one, after that one; 0: there is none. */
static uint64_t next_owner(struct store *s, uint64_t after)
{
	uint64_t next = 0;

	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->segments.count; i++) {
		const uint64_t owner = s->segments.list[i].owner;
		if (owner > after && owner != s->segments.home.id && (!next || owner < next))
			next = owner;
	}
	(void)pthread_mutex_unlock(&s->lock);
	return next;
}

/* Where the next record goes. What is behind the last one is cut off, because the program died while
 * it wrote that; but not if it could not be read. */
static void find_end(struct segment *g)
{
	const bool known = g->scanned == g->size, behind = g->size > g->end;

	g->size = known ? g->end : (g->size + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
	if (known && behind)
		(void)ftruncate(g->fd, (off_t)g->size);
}

/* Make the segments of that owner ours. */
static void adopt_from(struct store *s, uint64_t owner)
{
	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->segments.count; i++) {
		struct segment *g = &s->segments.list[i];
		if (g->owner != owner || segments_take(&s->segments, g) < 0)
			continue;
		find_end(g);
	}
	(void)pthread_mutex_unlock(&s->lock);
}

void store_adopt(struct store *s, store_visit *visit, void *arg)
{
	for (uint64_t owner = 0; (owner = next_owner(s, owner));) {
		AUTO_FD lock = home_claim(&s->segments.home, owner);
		if (lock < 0)
			continue;
		/* It may have written until a moment ago. */
		store_refresh(s, visit, arg);
		adopt_from(s, owner);
	}
}

void store_adopted(struct store *s)
{
	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = s->segments.count; i-- > 0;) {
		struct segment *g = &s->segments.list[i];
		if (g->fd >= 0 && g->changes == 0 && g->number != s->segments.current)
			segments_retire(&s->segments, g);
	}
	(void)pthread_mutex_unlock(&s->lock);
}

bool store_is_quiet(const struct store *s)
{
	return home_sweep(&s->segments.home);
}

uint64_t store_removals(struct store *s)
{
	(void)pthread_mutex_lock(&s->lock);
	const uint64_t n = s->segments.removals;
	(void)pthread_mutex_unlock(&s->lock);
	return n;
}

bool store_is_foreign(struct store *s, uint32_t segment)
{
	(void)pthread_mutex_lock(&s->lock);
	const struct segment *g = segments_find(&s->segments, segment);
	const bool foreign = g && g->owner && g->owner != s->segments.home.id;
	(void)pthread_mutex_unlock(&s->lock);
	return foreign;
}

uint64_t store_seed(const struct store *s)
{
	return s->segments.home.seed;
}

uint64_t store_number(struct store *s)
{
	(void)pthread_mutex_lock(&s->lock);
	const uint64_t number = home_number(&s->segments.home, s->last);
	if (number)
		s->last = number;
	else
		s->failed = errno;
	(void)pthread_mutex_unlock(&s->lock);
	return number;
}

void store_raise_number(struct store *s, uint64_t last)
{
	(void)pthread_mutex_lock(&s->lock);
	s->last = last > s->last ? last : s->last;
	(void)pthread_mutex_unlock(&s->lock);
}

int store_writer(const struct store *s)
{
	return s->segments.home.writer;
}

int store_turns(const struct store *s)
{
	return s->segments.home.turns;
}

int store_stage(const struct store *s)
{
	return s->segments.home.stage;
}

void store_get_facts(struct store *s, struct store_facts *ret)
{
	(void)pthread_mutex_lock(&s->lock);
	segments_sum(&s->segments, &ret->bytes, &ret->linked);
	ret->max_bytes = s->segments.max_bytes;
	ret->max_linked = segments_most_linked(&s->segments);
	ret->failed = s->failed;
	(void)snprintf(ret->path, sizeof ret->path, "%s", s->path);
	(void)pthread_mutex_unlock(&s->lock);
}

int store_open(const struct store_options *o, struct store **ret, struct err *e)
{
	struct store *s = mem_new(1, sizeof *s);

	if (!s)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	*s = (struct store){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.segments = { .max_bytes = o->max_bytes,
			      .max_age_ms = o->max_age_ms,
			      .is_guest = o->is_guest,
			      .segment_bytes =
				      o->max_bytes / LIMIT_JOURNAL_SHARES < LIMIT_JOURNAL_SEGMENT
					      ? o->max_bytes / LIMIT_JOURNAL_SHARES
					      : LIMIT_JOURNAL_SEGMENT },
		.sync = o->sync,
	};
	(void)snprintf(s->path, sizeof s->path, "%s", o->dir);
	if (home_open(o->dir, o->workspace, &s->segments.home, e) < 0) {
		mem_free(s);
		return -1;
	}
	(void)home_sweep(&s->segments.home);
	home_remove_lost_links(&s->segments.home);
	segments_look(&s->segments);
	segments_trim(&s->segments, 0);
	*ret = s;
	return 0;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	for (size_t i = s->segments.count; i-- > 0;)
		if (s->segments.list[i].fd >= 0)
			segments_retire(&s->segments, &s->segments.list[i]);
	segments_look(&s->segments);
	home_close(&s->segments.home, s->path, s->segments.count == 0);
	mem_free(s->segments.list);
	(void)pthread_mutex_destroy(&s->lock);
	mem_free(s);
}
