/* SPDX-License-Identifier: MIT */
/* record: numbers and texts one after the other, and heads with checksums. */

#include "changes/record.h"

#include <string.h>
#include <xxhash.h>

#include "base/io.h"
#include "changes/limits.h"

#define MARK 0x324a4353U /* "SCJ2" */

/* Write the lowest bytes of a number, and return where the next one goes. */
static inline char *add_number(char *to, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)(v >> (8 * i));
	return to + bytes;
}

static void put_number(struct buf *out, uint64_t v, size_t bytes)
{
	char room[sizeof v];

	(void)add_number(room, v, bytes);
	buf_add(out, (struct str){ room, bytes });
}

static void put_text(struct buf *out, struct str s)
{
	put_number(out, s.n, 4);
	buf_add(out, s);
}

/* Bytes that are read from the front; `bad` once there were too few. */
struct reader {
	struct str left;
	bool bad;
};

static struct str get_bytes(struct reader *r, uint64_t n)
{
	if (r->bad || n > r->left.n) {
		r->bad = true;
		return STR("");
	}
	const struct str got = str_upto(r->left, (size_t)n);
	r->left = str_from(r->left, (size_t)n);
	return got;
}

static uint64_t get_number(struct reader *r, size_t bytes)
{
	const struct str got = get_bytes(r, bytes);
	uint64_t v = 0;

	for (size_t i = 0; i < got.n; i++)
		v |= (uint64_t)(unsigned char)got.p[i] << (8 * i);
	return v;
}

static struct str get_text(struct reader *r)
{
	return get_bytes(r, get_number(r, 4));
}

/* A number below `end`. */
static unsigned get_choice(struct reader *r, unsigned end)
{
	const uint64_t v = get_number(r, 1);

	if (v < end)
		return (unsigned)v;
	r->bad = true;
	return 0;
}

uint64_t record_checksum(uint64_t seed, struct str content)
{
	return XXH3_64bits_withSeed(content.n ? content.p : "", content.n, seed);
}

void record_put_head(uint64_t seed, const struct record_head *h, char to[RECORD_HEAD])
{
	struct buf b = buf_over(to, RECORD_HEAD);

	put_number(&b, MARK, 4);
	put_number(&b, h->type, 4);
	put_number(&b, h->change, 8);
	put_number(&b, h->length, 8);
	put_number(&b, h->checksum, 8);
	put_number(&b, XXH3_64bits_withSeed(to, b.n, seed), 8);
}

bool record_get_head(uint64_t seed, const char from[RECORD_HEAD], struct record_head *ret)
{
	struct reader r = { .left = { from, RECORD_HEAD } };
	const uint64_t mark = get_number(&r, 4), type = get_number(&r, 4);

	if (mark != MARK || type < RECORD_BEGIN || type >= RECORD_TYPES)
		return false;
	const struct record_head h = {
		.type = (enum record_type)type,
		.change = get_number(&r, 8),
		.length = get_number(&r, 8),
		.checksum = get_number(&r, 8),
	};
	if (get_number(&r, 8) != XXH3_64bits_withSeed(from, RECORD_HEAD - 8, seed))
		return false;
	*ret = h;
	return true;
}

void record_put(struct buf *out, uint64_t seed, enum record_type type, uint64_t change,
		struct str content)
{
	const struct record_head h = { type, change, content.n, record_checksum(seed, content) };
	char head[RECORD_HEAD];

	record_put_head(seed, &h, head);
	buf_add(out, (struct str){ head, sizeof head });
	buf_add(out, content);
	put_number(out, 0, (size_t)(record_size(content.n) - RECORD_HEAD - content.n));
}

void record_hash_of(uint64_t seed, struct str content, uint8_t ret[RECORD_HASH])
{
	XXH128_canonical_t hash;

	XXH128_canonicalFromHash(
		&hash, XXH3_128bits_withSeed(content.n ? content.p : "", content.n, seed));
	memcpy(ret, &hash, RECORD_HASH);
}

/* A part of a segment in memory, so that not every record is a system call. */
struct window {
	int fd;
	uint64_t at; /* of the first byte in `bytes` */
	struct buf bytes;
	bool failed; /* something could not be read */
};

/* The bytes there, at least n; { NULL, 0 } if the segment ends before, or there is no memory. */
static struct str look(struct window *w, uint64_t at, uint64_t n)
{
	const uint64_t end = w->at + w->bytes.n;

	if (at >= w->at && at + n <= end)
		return str_from(buf_str(&w->bytes), (size_t)(at - w->at));
	/* Where a large blob was passed over, perhaps the next record is one, too. */
	const size_t piece = at > end || !end ? LIMIT_JOURNAL_GLANCE : LIMIT_JOURNAL_PIECE;
	const size_t want = n < piece ? piece : (size_t)n;
	buf_reset(&w->bytes, SIZE_MAX);
	char *to = buf_room(&w->bytes, want);
	const ssize_t got = to ? io_pread_full(w->fd, to, want, (off_t)at) : -1;
	buf_filled(&w->bytes, got > 0 ? (size_t)got : 0);
	w->at = at;
	w->failed |= got < 0 || (uint64_t)got < n;
	return got < 0 || (uint64_t)got < n ? (struct str){ NULL, 0 } : buf_str(&w->bytes);
}

/* Read the record there. Returns how many bytes it has, or 0 if there is none. */
static uint64_t get_record(struct window *w, uint64_t seed, uint64_t at, uint64_t to,
			   struct record_head *h, struct str *content)
{
	const struct str head = look(w, at, RECORD_HEAD);

	if (!head.p || !record_get_head(seed, head.p, h) || h->length > to - at - RECORD_HEAD)
		return 0;
	*content = (struct str){ NULL, (size_t)h->length };
	if (h->type == RECORD_BLOB)
		return record_size(h->length);
	const struct str bytes = look(w, at + RECORD_HEAD, h->length);
	if (!bytes.p)
		return 0;
	*content = str_upto(bytes, (size_t)h->length);
	return record_checksum(seed, *content) == h->checksum ? record_size(h->length) : 0;
}

void record_scan(int fd, uint64_t seed, struct record_range *r, record_visit *visit, void *arg)
{
	struct window w = { .fd = fd, .bytes = { .max = UINT32_MAX } };
	bool whole = true;

	r->gap = r->end = r->from;
	for (uint64_t at = r->from; at + RECORD_HEAD <= r->to;) {
		struct record_head h;
		struct str content;
		const uint64_t n = get_record(&w, seed, at, r->to, &h, &content);
		if (n) {
			visit(arg, (uint64_t)r->segment << 32 | (uint32_t)at, &h, content);
			r->end = at + n;
		}
		at += n ? n : RECORD_ALIGN;
		whole &= n > 0;
		if (whole)
			r->gap = r->end;
	}
	r->failed = w.failed;
	buf_done(&w.bytes);
}

static void put_state(struct buf *out, const struct path_state *s)
{
	put_number(out, s->type, 1);
	if (s->type == STATE_NONE)
		return;
	char fixed[2 * 1 + 4 * 4 + 6 * 8], *to = fixed;
	to = add_number(to, s->kept, 1);
	to = add_number(to, s->hashed, 1);
	to = add_number(to, s->mode, 4);
	to = add_number(to, s->uid, 4);
	to = add_number(to, s->gid, 4);
	to = add_number(to, s->nlink, 4);
	to = add_number(to, s->dev, 8);
	to = add_number(to, s->ino, 8);
	to = add_number(to, s->rdev, 8);
	to = add_number(to, (uint64_t)s->size, 8);
	to = add_number(to, (uint64_t)s->mtime_ns, 8);
	(void)add_number(to, s->place, 8);
	buf_add(out, (struct str){ fixed, sizeof fixed });
	if (s->hashed)
		buf_add(out, (struct str){ (const char *)s->hash, sizeof s->hash });
	put_text(out, s->link);
	put_text(out, s->xattrs);
}

static struct path_state get_state(struct reader *r)
{
	struct path_state s = { .type = (enum state_type)get_choice(r, STATE_TYPES) };

	if (s.type == STATE_NONE)
		return s;
	s.kept = (enum state_kept)get_choice(r, KEPTS);
	s.hashed = get_choice(r, 2);
	s.mode = (uint32_t)get_number(r, 4);
	s.uid = (uint32_t)get_number(r, 4);
	s.gid = (uint32_t)get_number(r, 4);
	s.nlink = (uint32_t)get_number(r, 4);
	s.dev = get_number(r, 8);
	s.ino = get_number(r, 8);
	s.rdev = get_number(r, 8);
	s.size = (int64_t)get_number(r, 8);
	s.mtime_ns = (int64_t)get_number(r, 8);
	s.place = get_number(r, 8);
	const struct str hash = get_bytes(r, s.hashed ? sizeof s.hash : 0);
	if (hash.n)
		memcpy(s.hash, hash.p, hash.n);
	s.link = get_text(r);
	s.xattrs = get_text(r);
	r->bad |= s.size < 0;
	return s;
}

/* A path that comes from disk must stay beneath the workspace, or be absolute: it has no empty and
 * no dotted component, and no NUL. The workspace itself is the empty one. */
static bool is_path(struct str path)
{
	bool more = str_index(path, '\0') < 0;

	if (!more)
		return false;
	if (str_eq(path, STR(".")))
		return true; /* the workspace's root */
	if (path.n && path.p[0] == '/')
		path = str_from(path, 1);
	while (more) {
		struct str name;
		more = str_cut(path, '/', &name, &path);
		if (name.n == 0 || str_eq(name, STR(".")) || str_eq(name, STR("..")))
			return false;
	}
	return true;
}

static struct str get_path(struct reader *r)
{
	const struct str path = get_text(r);

	if (path.n && !is_path(path))
		r->bad = true;
	return path;
}

static void put_item(struct buf *out, const struct change_item *i)
{
	put_number(out, i->kind, 1);
	put_text(out, i->path);
	put_text(out, i->from);
	put_state(out, &i->before);
	put_state(out, &i->after);
}

static struct change_item get_item(struct reader *r)
{
	struct change_item i = { .kind = (enum item_kind)get_choice(r, ITEM_KINDS) };

	i.path = get_path(r);
	i.from = get_path(r);
	i.before = get_state(r);
	i.after = get_state(r);
	return i;
}

void record_put_change(struct buf *out, const struct change *c)
{
	put_number(out, c->id, 8);
	put_number(out, (uint64_t)c->time_ms, 8);
	put_number(out, c->flags, 4);
	for (size_t i = 0; i < ITEM_KINDS; i++)
		put_number(out, c->counts[i], 4);
	put_text(out, str_upto(c->tool, LIMIT_CHANGE_TEXT));
	put_text(out, str_upto(c->subject, LIMIT_CHANGE_TEXT));
	put_text(out, str_upto(c->session, LIMIT_CHANGE_TEXT));
	put_number(out, c->undo_count, 4);
	for (size_t i = 0; i < c->undo_count; i++)
		put_number(out, c->undoes[i], 8);
	put_number(out, c->item_count, 4);
	for (size_t i = 0; i < c->item_count; i++)
		put_item(out, &c->items[i]);
}

static void get_undoes(struct reader *r, struct arena *a, struct change *c)
{
	const uint64_t n = get_number(r, 4);
	uint64_t *list = n > r->left.n / 8 ? NULL : arena_array(a, (size_t)n + 1, sizeof *list);

	r->bad |= !list;
	for (c->undo_count = 0; list && c->undo_count < n; c->undo_count++)
		list[c->undo_count] = get_number(r, 8);
	c->undoes = list;
}

static void get_items(struct reader *r, struct arena *a, struct change *c)
{
	/* An item has a kind, two lengths of texts, and two states of one byte at least. */
	const uint64_t n = get_number(r, 4);

	c->items = n > r->left.n / 11 ? NULL : arena_array(a, (size_t)n + 1, sizeof *c->items);
	r->bad |= !c->items;
	for (c->item_count = 0; !r->bad && c->item_count < n; c->item_count++)
		c->items[c->item_count] = get_item(r);
}

bool record_get_change(struct str content, bool whole, struct arena *a, struct change *ret)
{
	struct reader r = { .left = content };
	struct change c = { .id = get_number(&r, 8) };

	c.time_ms = (int64_t)get_number(&r, 8);
	c.flags = (unsigned)get_number(&r, 4);
	for (size_t i = 0; i < ITEM_KINDS; i++)
		c.counts[i] = (uint32_t)get_number(&r, 4);
	c.tool = get_text(&r);
	c.subject = get_text(&r);
	c.session = get_text(&r);
	if (whole) {
		get_undoes(&r, a, &c);
		get_items(&r, a, &c);
	}
	if (r.bad || (whole && r.left.n))
		return false;
	*ret = c;
	return true;
}

void record_put_touch(struct buf *out, const struct touch_record *t)
{
	put_number(out, t->number, 8);
	put_number(out, (uint64_t)t->dir_mtime_ns, 8);
	put_text(out, t->path);
	put_state(out, &t->before);
}

bool record_get_touch(struct str content, struct touch_record *ret)
{
	struct reader r = { .left = content };
	struct touch_record t = { .number = get_number(&r, 8) };

	t.dir_mtime_ns = (int64_t)get_number(&r, 8);
	t.path = get_path(&r);
	t.before = get_state(&r);
	if (r.bad || r.left.n || t.path.n == 0)
		return false;
	*ret = t;
	return true;
}

void record_put_move(struct buf *out, const struct move_record *m)
{
	put_number(out, m->number, 8);
	put_number(out, m->dev, 8);
	put_number(out, m->ino, 8);
	put_number(out, (uint64_t)m->from_mtime_ns, 8);
	put_number(out, (uint64_t)m->to_mtime_ns, 8);
	put_text(out, m->from);
	put_text(out, m->to);
}

bool record_get_move(struct str content, struct move_record *ret)
{
	struct reader r = { .left = content };
	struct move_record m = { .number = get_number(&r, 8) };

	m.dev = get_number(&r, 8);
	m.ino = get_number(&r, 8);
	m.from_mtime_ns = (int64_t)get_number(&r, 8);
	m.to_mtime_ns = (int64_t)get_number(&r, 8);
	m.from = get_path(&r);
	m.to = get_path(&r);
	if (r.bad || r.left.n)
		return false;
	*ret = m;
	return true;
}

void record_put_put(struct buf *out, const struct put_record *p)
{
	put_number(out, p->number, 8);
	put_number(out, (uint64_t)p->dir_mtime_ns, 8);
	put_number(out, p->dev, 8);
	put_number(out, p->ino, 8);
	put_text(out, p->path);
	put_text(out, p->aside);
}

bool record_get_put(struct str content, struct put_record *ret)
{
	struct reader r = { .left = content };
	struct put_record p = { .number = get_number(&r, 8) };

	p.dir_mtime_ns = (int64_t)get_number(&r, 8);
	p.dev = get_number(&r, 8);
	p.ino = get_number(&r, 8);
	p.path = get_path(&r);
	p.aside = get_path(&r);
	if (r.bad || r.left.n || p.path.n == 0 || str_index(p.aside, '/') >= 0)
		return false;
	*ret = p;
	return true;
}

bool item_is_lost(const struct change_item *i)
{
	const struct path_state *a = &i->before, *b = &i->after;

	if (a->type != STATE_FILE || a->kept != KEPT_NOT)
		return false;
	if (b->type != STATE_FILE || a->size != b->size)
		return true;
	return a->hashed && b->hashed ? memcmp(a->hash, b->hash, sizeof a->hash) != 0
				      : a->mtime_ns != b->mtime_ns;
}

const char *item_kind_name(enum item_kind kind)
{
	static const char *const names[ITEM_KINDS] = {
		[ITEM_CREATED] = "created", [ITEM_MODIFIED] = "modified",
		[ITEM_DELETED] = "deleted", [ITEM_RENAMED] = "renamed",
		[ITEM_TIMES] = "times",
	};

	return names[kind];
}
