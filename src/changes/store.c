/* SPDX-License-Identifier: MIT */
/* store: segments that are appended to and removed as a whole, and links beside them. */

#include "changes/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/limits.h"
#include "changes/room.h"

struct segment {
	uint32_t number;
	int fd;
	uint64_t size;
	int64_t linked; /* bytes of its links */
	int64_t newest_ms;
	uint32_t links, pins, records;
};

struct store {
	pthread_mutex_t lock;
	int dir, links, stage, locked;
	uint64_t seed;
	int64_t max_bytes, max_age_ms, segment_bytes;
	bool sync;
	struct segment segments[LIMIT_JOURNAL_SEGMENTS]; /* oldest first */
	size_t count;
	uint32_t last; /* the number of the newest segment that there ever was */
	int failed;
	char path[PATH_MAX];
};

static int64_t wall_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct segment *find(struct store *s, uint32_t number)
{
	for (size_t i = s->count; i-- > 0;)
		if (s->segments[i].number == number)
			return &s->segments[i];
	errno = ENOENT;
	return NULL;
}

static int64_t bytes_of(const struct store *s)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += (int64_t)s->segments[i].size + s->segments[i].linked;
	return sum;
}

static void segment_name(uint32_t number, char out[16])
{
	(void)snprintf(out, 16, "%08x.log", number);
}

static void remove_oldest(struct store *s)
{
	struct segment *g = &s->segments[0];
	char name[16], links[16];

	segment_name(g->number, name);
	(void)snprintf(links, sizeof links, "%x", g->number);
	room_remove_links(s->links, links);
	(void)unlinkat(s->dir, name, 0);
	fd_closep(&g->fd);
	memmove(g, g + 1, --s->count * sizeof *g);
}

/* Remove old segments until `need` more bytes fit. False if they do not even then. */
static bool make_room(struct store *s, int64_t need)
{
	const int64_t now = wall_ms();

	while (s->count) {
		const struct segment *g = &s->segments[0];
		const bool old = s->max_age_ms && now - g->newest_ms > s->max_age_ms;
		const bool many = s->count == ARRAY_LEN(s->segments) && s->count > 1;
		if (!old && !many && bytes_of(s) + need <= s->max_bytes)
			return true;
		if (g->pins || (s->count == 1 && !old))
			break;
		remove_oldest(s);
	}
	return bytes_of(s) + need <= s->max_bytes;
}

static int open_segment(struct store *s, uint32_t number, int flags)
{
	char name[16];
	struct stat st;

	segment_name(number, name);
	AUTO_FD fd = openat(s->dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode) || s->count == ARRAY_LEN(s->segments)) {
		errno = ENOSPC;
		return -1;
	}
	s->segments[s->count++] = (struct segment){
		.number = number,
		.fd = TAKE(fd, -1),
		.size = ((uint64_t)st.st_size + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1),
		.newest_ms = (int64_t)st.st_mtim.tv_sec * 1000,
	};
	if (number > s->last)
		s->last = number;
	return 0;
}

/* The segment in which `need` more bytes can be reserved; or NULL with errno. */
static struct segment *current(struct store *s, uint64_t need)
{
	if (!make_room(s, (int64_t)need)) {
		errno = ENOSPC;
		return NULL;
	}
	struct segment *g = s->count ? &s->segments[s->count - 1] : NULL;
	if (g && g->size + need <= UINT32_MAX && g->records < LIMIT_JOURNAL_RECORDS &&
	    (g->size == 0 || g->size + need <= (uint64_t)s->segment_bytes ||
	     need > (uint64_t)s->segment_bytes))
		return g;
	if (need > UINT32_MAX) {
		errno = EFBIG;
		return NULL;
	}
	if (open_segment(s, s->last + 1, O_CREAT | O_EXCL) < 0)
		return NULL;
	return &s->segments[s->count - 1];
}

int store_reserve(struct store *s, uint64_t need, struct reserved *ret)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = current(s, need);
	if (g) {
		*ret = (struct reserved){ .fd = g->fd,
					  .at = store_at(g->number, (uint32_t)g->size) };
		g->size += need;
		g->records++;
		g->pins++;
		g->newest_ms = wall_ms();
	}
	(void)pthread_mutex_unlock(&s->lock);
	return g ? 0 : -1;
}

int store_release(struct store *s, const struct reserved *r, bool sync, int rc)
{
	const int error = errno;

	if (rc == 0 && sync && s->sync && fdatasync(r->fd) < 0)
		rc = -1;
	store_unpin(s, store_segment(r->at));
	(void)pthread_mutex_lock(&s->lock);
	s->failed = rc < 0 ? error : 0;
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

int store_append(struct store *s, struct str records, bool sync, uint64_t *at)
{
	struct reserved r;

	if (store_reserve(s, records.n, &r) < 0) {
		s->failed = errno;
		return -1;
	}
	const int rc = store_release(s, &r, sync, store_write_at(r.fd, records, (uint32_t)r.at));
	if (rc == 0)
		*at = r.at;
	return rc;
}

uint32_t store_pin(struct store *s)
{
	uint32_t number = 0;

	(void)pthread_mutex_lock(&s->lock);
	if (s->count) {
		s->segments[s->count - 1].pins++;
		number = s->segments[s->count - 1].number;
	}
	(void)pthread_mutex_unlock(&s->lock);
	return number;
}

void store_unpin(struct store *s, uint32_t segment)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = find(s, segment);
	if (g)
		g->pins--;
	(void)pthread_mutex_unlock(&s->lock);
}

static void link_name(uint64_t at, char out[32])
{
	(void)snprintf(out, 32, "%x/%x", store_segment(at), (uint32_t)at);
}

int store_link(struct store *s, int dir, const char *name, int64_t size, uint64_t *at)
{
	char to[32];

	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = current(s, 0);
	int rc = g && make_room(s, size) ? 0 : -1;
	if (rc == 0) {
		g = &s->segments[s->count - 1];
		*at = store_at(g->number, ++g->links);
		link_name(*at, to);
		rc = linkat(dir, name, s->links, to, 0);
		if (rc < 0 && errno == ENOENT) {
			char *slash = strchr(to, '/');
			*slash = '\0';
			(void)mkdirat(s->links, to, 0700);
			*slash = '/';
			rc = linkat(dir, name, s->links, to, 0);
		}
		if (rc == 0)
			g->linked += size;
	}
	(void)pthread_mutex_unlock(&s->lock);
	return rc;
}

int store_stat_link(struct store *s, uint64_t at, struct stat *st)
{
	char name[32];

	link_name(at, name);
	return fstatat(s->links, name, st, AT_SYMLINK_NOFOLLOW);
}

bool store_find_inode(struct store *s, uint64_t ino, uint64_t *at)
{
	bool found = false;

	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = s->count; i-- > 0 && !found;) {
		uint32_t number;
		found = room_find_inode(s->links, s->segments[i].number, ino, &number);
		if (found)
			*at = store_at(s->segments[i].number, number);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return found;
}

int store_open_link(struct store *s, uint64_t at)
{
	char name[32];

	link_name(at, name);
	return openat(s->links, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* The bytes of a link that goes away are not counted any more. */
static void forget_link(struct store *s, uint64_t at, int64_t size)
{
	(void)pthread_mutex_lock(&s->lock);
	struct segment *g = find(s, store_segment(at));
	if (g)
		g->linked -= size < g->linked ? size : g->linked;
	(void)pthread_mutex_unlock(&s->lock);
}

void store_unlink(struct store *s, uint64_t at)
{
	char name[32];
	struct stat st;

	link_name(at, name);
	if (store_stat_link(s, at, &st) == 0 && unlinkat(s->links, name, 0) == 0)
		forget_link(s, at, st.st_size);
}

int store_link_out(struct store *s, uint64_t at, int dir, const char *name)
{
	char from[32];

	link_name(at, from);
	return linkat(s->links, from, dir, name, 0);
}

int store_move_out(struct store *s, uint64_t at, int dir, const char *name)
{
	char from[32];
	struct stat st;

	link_name(at, from);
	if (store_stat_link(s, at, &st) < 0 || renameat(s->links, from, dir, name) < 0)
		return -1;
	/* If both are names of one inode, rename does nothing. */
	(void)unlinkat(s->links, from, 0);
	forget_link(s, at, st.st_size);
	return 0;
}

int store_open_segment(struct store *s, uint64_t at)
{
	(void)pthread_mutex_lock(&s->lock);
	const struct segment *g = find(s, store_segment(at));
	const int fd = g ? fcntl(g->fd, F_DUPFD_CLOEXEC, 3) : -1;
	(void)pthread_mutex_unlock(&s->lock);
	return fd;
}

int store_read_head(const struct store *s, int fd, uint64_t at, enum record_type type,
		    struct record_head *ret)
{
	char head[RECORD_HEAD];
	struct stat st;

	if (io_pread_full(fd, head, sizeof head, (uint32_t)at) == sizeof head &&
	    record_get_head(s->seed, head, ret) && ret->type == type && fstat(fd, &st) == 0 &&
	    ret->length <= (uint64_t)st.st_size)
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
	    (n == h.length && record_checksum(s->seed, (struct str){ to, n }) != h.checksum)) {
		errno = EBADMSG;
		return -1;
	}
	buf_filled(out, n);
	return 0;
}

/* A part of a segment in memory, so that not every record is a system call. */
struct window {
	int fd;
	uint64_t at; /* of the first byte in `bytes` */
	struct buf bytes;
};

/* The bytes there, at least n; { NULL, 0 } if the segment ends before, or there is no memory. */
static struct str look(struct window *w, uint64_t at, uint64_t n)
{
	if (at >= w->at && at + n <= w->at + w->bytes.n)
		return str_from(buf_str(&w->bytes), (size_t)(at - w->at));
	const size_t want = n < LIMIT_JOURNAL_PIECE ? LIMIT_JOURNAL_PIECE : (size_t)n;
	buf_reset(&w->bytes, SIZE_MAX);
	char *to = buf_room(&w->bytes, want);
	const ssize_t got = to ? io_pread_full(w->fd, to, want, (off_t)at) : -1;
	buf_filled(&w->bytes, got > 0 ? (size_t)got : 0);
	w->at = at;
	return got < 0 || (uint64_t)got < n ? (struct str){ NULL, 0 } : buf_str(&w->bytes);
}

/* Visit the record there. Returns how many bytes it has, or 0 if there is none. */
static uint64_t visit_record(const struct store *s, struct window *w, const struct segment *g,
			     uint64_t at, store_visit *visit, void *arg)
{
	const struct str head = look(w, at, RECORD_HEAD);
	struct record_head h;

	if (!head.p || !record_get_head(s->seed, head.p, &h) || h.length > g->size - at)
		return 0;
	const uint64_t where = store_at(g->number, (uint32_t)at);
	if (h.type == RECORD_BLOB) {
		visit(arg, where, &h, (struct str){ NULL, (size_t)h.length });
		return record_size(h.length);
	}
	struct str content = look(w, at + RECORD_HEAD, h.length);
	if (!content.p)
		return 0;
	content = str_upto(content, (size_t)h.length);
	if (record_checksum(s->seed, content) != h.checksum)
		return 0;
	visit(arg, where, &h, content);
	return record_size(h.length);
}

void store_scan(struct store *s, store_visit *visit, void *arg)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct segment *g = &s->segments[i];
		struct window w = { .fd = g->fd, .bytes = { .max = UINT32_MAX } };
		for (uint64_t at = 0; at + RECORD_HEAD <= g->size;) {
			const uint64_t n = visit_record(s, &w, g, at, visit, arg);
			at += n ? n : RECORD_ALIGN;
		}
		buf_done(&w.bytes);
	}
}

uint64_t store_seed(const struct store *s)
{
	return s->seed;
}

int store_stage(const struct store *s)
{
	return s->stage;
}

uint32_t store_oldest(struct store *s)
{
	(void)pthread_mutex_lock(&s->lock);
	const uint32_t number = s->count ? s->segments[0].number : s->last + 1;
	(void)pthread_mutex_unlock(&s->lock);
	return number;
}

uint32_t store_middle(struct store *s)
{
	(void)pthread_mutex_lock(&s->lock);
	const uint32_t number = s->count ? s->segments[s->count / 2].number : s->last + 1;
	(void)pthread_mutex_unlock(&s->lock);
	return number;
}

void store_trim(struct store *s)
{
	(void)pthread_mutex_lock(&s->lock);
	(void)make_room(s, 0);
	(void)pthread_mutex_unlock(&s->lock);
}

void store_get_facts(struct store *s, struct store_facts *ret)
{
	(void)pthread_mutex_lock(&s->lock);
	ret->bytes = bytes_of(s);
	ret->max_bytes = s->max_bytes;
	ret->failed = s->failed;
	(void)snprintf(ret->path, sizeof ret->path, "%s", s->path);
	(void)pthread_mutex_unlock(&s->lock);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Open the segments that are there. Those that are too many are removed, the oldest first. */
static int open_segments(struct store *s)
{
	uint32_t numbers[4 * LIMIT_JOURNAL_SEGMENTS];
	const size_t n = room_segments(s->dir, numbers, ARRAY_LEN(numbers));
	const size_t most = LIMIT_JOURNAL_SEGMENTS - 1;
	char name[16];

	qsort(numbers, n, sizeof *numbers, by_number);
	for (size_t i = 0; i < n; i++) {
		segment_name(numbers[i], name);
		if (n - i > most)
			(void)unlinkat(s->dir, name, 0);
		else if (open_segment(s, numbers[i], 0) < 0)
			return -1;
	}
	for (size_t i = 0; i < s->count; i++)
		room_count_links(s->links, s->segments[i].number, &s->segments[i].linked,
				 &s->segments[i].links);
	/* What an earlier server had reserved last may be incomplete: nothing is appended to it. */
	if (s->count && open_segment(s, s->last + 1, O_CREAT | O_EXCL) < 0)
		return -1;
	return 0;
}

int store_open(const struct store_options *o, struct store **ret, struct err *e)
{
	struct store *s = mem_new(1, sizeof *s);
	struct room room;

	if (!s)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	*s = (struct store){ .lock = PTHREAD_MUTEX_INITIALIZER,
			     .dir = -1,
			     .links = -1,
			     .stage = -1,
			     .locked = -1,
			     .max_bytes = o->max_bytes,
			     .max_age_ms = o->max_age_ms,
			     .sync = o->sync };
	s->segment_bytes = o->max_bytes / 16 < LIMIT_JOURNAL_SEGMENT ? o->max_bytes / 16
								     : LIMIT_JOURNAL_SEGMENT;
	(void)snprintf(s->path, sizeof s->path, "%s", o->dir);
	if (room_open(o->dir, o->workspace, &room, e) < 0) {
		mem_free(s);
		return -1;
	}
	s->dir = room.dir;
	s->links = room.links;
	s->stage = room.stage;
	s->locked = room.lock;
	s->seed = room.seed;
	if (open_segments(s) < 0) {
		(void)err_errno(e, "The journal in %s cannot be opened", o->dir);
		store_free(s);
		return -1;
	}
	store_trim(s);
	*ret = s;
	return 0;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	const bool empty = bytes_of(s) == 0;
	for (size_t i = 0; i < s->count; i++)
		fd_closep(&s->segments[i].fd);
	if (empty && s->dir >= 0)
		room_remove(s->dir, AT_FDCWD, s->path);
	fd_closep(&s->stage);
	fd_closep(&s->links);
	fd_closep(&s->dir);
	fd_closep(&s->locked);
	(void)pthread_mutex_destroy(&s->lock);
	mem_free(s);
}
