/* SPDX-License-Identifier: MIT */
/* hits: packed records in a list of chunks. */

#include "search/hits.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"

enum {
	CHUNK_FULL = 32 << 10,
	LINE_CUT = 1 << 7, /* beside those of hits_line */
};

struct hits_chunk {
	struct hits_chunk *next;
	size_t open; /* where the hit being added starts */
	struct buf data;
};

struct hit_head {
	uint32_t size; /* of the record with this head */
	uint32_t path_n;
	uint32_t type;
	int64_t line, first_line, value;
};

struct line_head {
	uint32_t n;
	uint32_t flags;
};

static struct hits_chunk *chunk_for_adding(struct hits *h)
{
	if (h->last && !h->last->data.failed && h->last->data.n < CHUNK_FULL)
		return h->last;
	struct hits_chunk *c = mem_new(1, sizeof *c);
	if (!c)
		return NULL;
	c->data.max = UINT32_MAX;
	if (h->last)
		h->last->next = c;
	else
		h->first = c;
	h->last = c;
	return c;
}

void hits_begin(struct hits *h, enum hit_type type, struct str prefix, struct str path)
{
	struct hits_chunk *c = chunk_for_adding(h);
	const bool slash = type == HIT_DIRECTORY;
	const struct hit_head head = { .path_n = (uint32_t)(prefix.n + path.n + slash),
				       .type = type };

	if (!c) {
		h->failed = true;
		return;
	}
	c->open = c->data.n;
	buf_add(&c->data, (struct str){ (const char *)&head, sizeof head });
	buf_add(&c->data, prefix);
	buf_add(&c->data, path);
	if (slash)
		buf_addc(&c->data, '/');
}

void hits_note(struct hits *h, struct str note)
{
	struct hits_chunk *c = h->last;
	struct hit_head head;

	if (h->failed)
		return;
	buf_add(&c->data, note);
	if (c->data.failed)
		return;
	memcpy(&head, c->data.p + c->open, sizeof head);
	head.path_n += (uint32_t)note.n;
	memcpy(c->data.p + c->open, &head, sizeof head);
}

/* Copy without carriage returns, at most LIMIT_SEARCH_TEXT bytes and no broken character. */
static size_t copy_text(char *to, struct str text, bool *cut)
{
	size_t n = 0, at = 0;

	while (at < text.n && n < LIMIT_SEARCH_TEXT) {
		const size_t room = LIMIT_SEARCH_TEXT - n;
		const size_t left = text.n - at < room ? text.n - at : room;
		const char *cr = memchr(text.p + at, '\r', left);
		const size_t run = cr ? (size_t)(cr - text.p) - at : left;

		memcpy(to + n, text.p + at, run);
		n += run;
		at += run + (cr != NULL);
	}
	while (at < text.n && text.p[at] == '\r')
		at++;
	*cut = at < text.n;
	return *cut ? utf8_whole((struct str){ to, n }) : n;
}

void hits_line(struct hits *h, struct str text, unsigned flags)
{
	struct line_head head = { .flags = (uint32_t)flags };
	const size_t most = text.n < LIMIT_SEARCH_TEXT ? text.n : LIMIT_SEARCH_TEXT;
	struct buf *b = h->last ? &h->last->data : NULL;
	char *to = b ? buf_room(b, sizeof head + most) : NULL;
	bool cut;

	if (!to)
		return;
	head.n = (uint32_t)copy_text(to + sizeof head, text, &cut);
	head.flags |= cut ? LINE_CUT : 0;
	memcpy(to, &head, sizeof head);
	buf_filled(b, sizeof head + head.n);
}

void hits_end(struct hits *h, int64_t line, int64_t first_line, int64_t value)
{
	struct hits_chunk *c = h->last;
	struct hit_head head;

	if (!c)
		return;
	if (c->data.failed) {
		/* What came before stays readable; the next hit gets a new chunk. */
		c->data.n = c->open;
		h->failed = true;
		return;
	}
	memcpy(&head, c->data.p + c->open, sizeof head);
	head.size = (uint32_t)(c->data.n - c->open);
	head.line = line;
	head.first_line = first_line;
	head.value = value;
	memcpy(c->data.p + c->open, &head, sizeof head);
	h->count++;
	h->bytes += head.size;
}

void hits_add(struct hits *h, const struct hit *hit)
{
	struct hits_chunk *c = chunk_for_adding(h);
	const char *record = hit->path.p - sizeof(struct hit_head);
	struct hit_head head;

	memcpy(&head, record, sizeof head);
	if (c)
		buf_add(&c->data, (struct str){ record, head.size });
	if (!c || c->data.failed) {
		h->failed = true;
		return;
	}
	h->count++;
	h->bytes += head.size;
}

int hits_fail(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for the search, try again");
}

struct hits_mark hits_mark(const struct hits *h)
{
	return (struct hits_mark){ h->last, h->last ? h->last->data.n : 0, h->count, h->bytes };
}

static void free_chunks(struct hits_chunk *c)
{
	while (c) {
		struct hits_chunk *next = c->next;

		buf_done(&c->data);
		mem_free(c);
		c = next;
	}
}

void hits_cut(struct hits *h, const struct hits_mark *mark)
{
	free_chunks(mark->last ? mark->last->next : h->first);
	h->last = mark->last;
	h->count = mark->count;
	h->bytes = mark->bytes;
	if (!h->last) {
		h->first = NULL;
		return;
	}
	h->last->next = NULL;
	h->last->data.n = mark->used;
}

void hits_join(struct hits *h, struct hits *from)
{
	if (from->first) {
		if (h->last)
			h->last->next = from->first;
		else
			h->first = from->first;
		h->last = from->last;
	}
	h->count += from->count;
	h->bytes += from->bytes;
	h->failed |= from->failed;
	*from = (struct hits){ 0 };
}

void hits_done(struct hits *h)
{
	free_chunks(h->first);
	*h = (struct hits){ 0 };
}

bool hits_next(struct hits_reader *r, struct hit *ret)
{
	struct hit_head head;

	if (!r->chunk)
		r->chunk = r->hits->first;
	while (r->chunk && r->at == r->chunk->data.n) {
		/* Stay in the last chunk, so that a reader at the end stays there. */
		if (!r->chunk->next)
			return false;
		r->chunk = r->chunk->next;
		r->at = 0;
	}
	if (!r->chunk)
		return false;
	const char *p = r->chunk->data.p + r->at;
	memcpy(&head, p, sizeof head);
	r->at += head.size;
	*ret = (struct hit){
		.type = head.type,
		.path = { p + sizeof head, head.path_n },
		.line = head.line,
		.value = head.value,
		.number = head.first_line,
		.rest = { p + sizeof head + head.path_n, head.size - sizeof head - head.path_n },
	};
	return true;
}

void hits_keep(struct hits *h, size_t n, size_t bytes)
{
	struct hits_reader r = { .hits = h };
	struct hits_mark mark = { 0 };
	struct hit hit;

	if (h->count <= n && h->bytes <= bytes)
		return;
	while (mark.count < n && mark.bytes < bytes && hits_next(&r, &hit)) {
		mark.count++;
		mark.bytes +=
			(size_t)(hit.rest.p + hit.rest.n - hit.path.p) + sizeof(struct hit_head);
	}
	/* The reader has a pointer to const; the chunk is ours. */
	mark.last = (struct hits_chunk *)(uintptr_t)r.chunk;
	mark.used = r.at;
	hits_cut(h, &mark);
}

bool hit_next_line(struct hit *hit, struct hit_line *ret)
{
	struct line_head head;

	if (hit->rest.n == 0)
		return false;
	memcpy(&head, hit->rest.p, sizeof head);
	*ret = (struct hit_line){
		.number = hit->number++,
		.text = { hit->rest.p + sizeof head, head.n },
		.match = head.flags & HIT_LINE_MATCH,
		.cut = head.flags & LINE_CUT,
		.headless = head.flags & HIT_LINE_HEADLESS,
	};
	hit->rest = str_from(hit->rest, sizeof head + head.n);
	return true;
}
