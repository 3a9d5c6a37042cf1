/* SPDX-License-Identifier: MIT */
/* chain: codes from line to line; and, to check them, every line is held against the lines that
 * carry the number before its own. */

#include "service/chain.h"

#include <stdlib.h>
#include <string.h>

enum { MAC = 2 * SHA256_SIZE, TRIES = 8 };

#define MAC_NAME STR(",\"mac\":\"")
#define SEQ_NAME STR("{\"seq\":")

void chain_hmac(struct str key, struct str first, struct str second, uint8_t digest[SHA256_SIZE])
{
	uint8_t block[SHA256_BLOCK] = { 0 }, inner[SHA256_SIZE];
	const struct str pad = { (const char *)block, sizeof block };

	if (key.n > sizeof block)
		sha256_of(key, block);
	else if (key.n)
		memcpy(block, key.p, key.n);
	for (size_t i = 0; i < sizeof block; i++)
		block[i] ^= 0x36;
	struct sha256 h = sha256_begin();
	sha256_add(&h, pad);
	sha256_add(&h, first);
	sha256_add(&h, second);
	sha256_end(&h, inner);
	for (size_t i = 0; i < sizeof block; i++)
		block[i] ^= 0x36 ^ 0x5c;
	h = sha256_begin();
	sha256_add(&h, pad);
	sha256_add(&h, (struct str){ (const char *)inner, sizeof inner });
	sha256_end(&h, digest);
}

/* The code of a line. */
static void mac_of(struct str key, const char before[MAC], struct str body, char out[SHA256_TEXT])
{
	const struct str previous = { before, MAC };
	uint8_t digest[SHA256_SIZE];

	if (key.n) {
		chain_hmac(key, previous, body, digest);
	} else {
		struct sha256 h = sha256_begin();
		sha256_add(&h, previous);
		sha256_add(&h, body);
		sha256_end(&h, digest);
	}
	(void)sha256_text(digest, out);
}

struct chain chain_begin(struct str key)
{
	struct chain c = { .key = key };

	memset(c.mac, '0', MAC);
	return c;
}

void chain_open(const struct chain *c, struct buf *line)
{
	buf_add(line, SEQ_NAME);
	buf_addi(line, c->seq + 1);
}

void chain_seal(const struct chain *c, struct buf *line)
{
	char mac[SHA256_TEXT];

	mac_of(c->key, c->mac, buf_str(line), mac);
	buf_add(line, MAC_NAME);
	buf_add(line, str_of(mac));
	buf_add(line, STR("\"}\n"));
}

/* A line that is read. */
struct chain_line {
	struct str body; /* what its code is over; without a number it is not a line of a chain */
	const char *mac;
	int64_t seq;
	char computed[SHA256_TEXT]; /* its code as it should be; "": what is before it is not known
				     */
	bool fits;
	bool orphan; /* there is no line before it */
	bool cut;    /* it begins like a line, but has no end */

	/* Of the first line with this number: */
	size_t fitting; /* how many of these lines fit */
	bool used;	/* one of them was found before its place */
};

static bool parse_line(struct str text, struct chain_line *ret)
{
	const size_t tail = MAC_NAME.n + MAC + STR("\"}").n;
	struct str number, rest;

	*ret = (struct chain_line){ .seq = -1 };
	ret->cut = str_starts(text, SEQ_NAME) && !str_ends(text, STR("}"));
	if (!str_starts(text, SEQ_NAME) || !str_ends(text, STR("\"}")) ||
	    text.n <= SEQ_NAME.n + tail)
		return false;
	const struct str end = str_from(text, text.n - tail);
	if (!str_starts(end, MAC_NAME) ||
	    !str_cut(str_from(text, SEQ_NAME.n), ',', &number, &rest) ||
	    !str_int(number, &ret->seq) || ret->seq < 1 || ret->seq > INT64_MAX / 2) {
		ret->seq = -1;
		return false;
	}
	ret->body = str_upto(text, text.n - tail);
	ret->mac = end.p + MAC_NAME.n;
	return true;
}

void chain_take(struct chain *c, struct str line)
{
	struct chain_line l;

	if (!parse_line(str_trim(line), &l))
		return;
	c->seq = l.seq;
	memcpy(c->mac, l.mac, MAC);
}

bool chain_resume(struct chain *c, struct str text)
{
	struct chain_line l;
	const char *newline = text.n ? memrchr(text.p, '\n', text.n) : NULL;

	if (!newline)
		return false;
	text.n = (size_t)(newline - text.p);
	newline = text.n ? memrchr(text.p, '\n', text.n) : NULL;
	if (newline)
		text = str_from(text, (size_t)(newline + 1 - text.p));
	if (!parse_line(text, &l))
		return false;
	c->seq = l.seq;
	memcpy(c->mac, l.mac, MAC);
	return true;
}

/* A text that is being checked. */
struct chain_text {
	struct chain from; /* what comes before it */
	struct chain_line *lines;
	size_t count;
	size_t *by_seq; /* their places, by number, then by place */
	void (*found)(void *arg, const struct chain_finding *finding);
	void *arg;
	struct chain_report *report;
};

static int compare(const void *a, const void *b, void *lines)
{
	const struct chain_line *l = lines;
	const size_t i = *(const size_t *)a, j = *(const size_t *)b;

	if (l[i].seq != l[j].seq)
		return l[i].seq < l[j].seq ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* The first of the sorted places whose line has at least this number. */
static size_t lower(const struct chain_text *t, int64_t seq)
{
	size_t from = 0, to = t->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		if (t->lines[t->by_seq[middle]].seq < seq)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The first of the lines with that number; NULL if there is none. */
static struct chain_line *first_of(const struct chain_text *t, int64_t seq)
{
	const size_t i = lower(t, seq);

	return i < t->count && t->lines[t->by_seq[i]].seq == seq ? &t->lines[t->by_seq[i]] : NULL;
}

/* Whether a line after this place has the number. */
static bool comes_later(const struct chain_text *t, int64_t seq, size_t after)
{
	const size_t end = lower(t, seq + 1);

	return end > 0 && t->lines[t->by_seq[end - 1]].seq == seq && t->by_seq[end - 1] > after;
}

/* Whether another line with the number of this one fits. */
static bool fits_elsewhere(const struct chain_text *t, const struct chain_line *l)
{
	const struct chain_line *first = first_of(t, l->seq);

	return first && first->fitting > (l->fits ? 1 : 0);
}

static void try_code(const struct chain_text *t, struct chain_line *l, const char before[MAC])
{
	char mac[SHA256_TEXT];

	if (l->fits)
		return;
	mac_of(t->from.key, before, l->body, mac);
	l->fits = memcmp(mac, l->mac, MAC) == 0;
	if (l->fits || !*l->computed)
		memcpy(l->computed, mac, sizeof mac);
}

/* Hold a line against those that carry the number before its own: against their codes, and what
 * these should be. */
static void hold(const struct chain_text *t, struct chain_line *l)
{
	size_t i = lower(t, l->seq - 1);

	l->orphan = l->seq != t->from.seq + 1;
	if (!l->orphan)
		try_code(t, l, t->from.mac);
	for (int tries = 0; i < t->count && t->lines[t->by_seq[i]].seq == l->seq - 1 &&
			    tries < TRIES && l->seq > 1;
	     i++, tries++) {
		const struct chain_line *before = &t->lines[t->by_seq[i]];
		l->orphan = false;
		try_code(t, l, before->mac);
		if (*before->computed)
			try_code(t, l, before->computed);
	}
}

static void tell(struct chain_text *t, enum chain_fault fault, size_t place, int64_t first,
		 int64_t last)
{
	const struct chain_finding f = { fault, (int64_t)place + 1, first, last };

	t->report->faults++;
	t->found(t->arg, &f);
}

/* One line whose number is not the expected one, or that does not fit. Returns the number that is
 * expected next. */
static int64_t judge(struct chain_text *t, size_t place, int64_t expected)
{
	struct chain_line *l = &t->lines[place];
	const bool wanted_later = comes_later(t, expected, place);

	if (l->cut) {
		tell(t, CHAIN_CUT, place, 0, 0);
		return expected + !wanted_later;
	}
	if (l->seq > expected && (l->fits || l->orphan) && !wanted_later) {
		tell(t, CHAIN_MISSING, place, expected, l->seq - 1);
		return l->seq + 1;
	}
	if (l->fits && l->seq > expected && !fits_elsewhere(t, l)) {
		first_of(t, l->seq)->used = true;
		tell(t, CHAIN_MOVED, place, l->seq, l->seq);
		return expected;
	}
	if (l->fits || (l->seq == expected && fits_elsewhere(t, l)) ||
	    (l->seq != expected && wanted_later)) {
		tell(t, CHAIN_PUT_IN, place, 0, 0);
		return expected;
	}
	tell(t, CHAIN_CHANGED, place, 0, 0);
	return expected + 1;
}

static void walk(struct chain_text *t)
{
	int64_t expected = t->from.seq + 1;

	for (size_t i = 0; i < t->count; i++) {
		struct chain_line *l = &t->lines[i];
		if (l->fits && l->seq == expected)
			expected++;
		else
			expected = judge(t, i, expected);
		t->report->good += l->fits;
		for (const struct chain_line *first;
		     (first = first_of(t, expected)) && first->used;)
			expected++;
	}
}

/* The code that the first line says it goes on from; NULL if it says nothing. */
static const char *previous_of(struct str body)
{
	const struct str name = STR("\"previous\":\"");
	const ptrdiff_t at = str_find(body, name);

	return at >= 0 && body.n - (size_t)at >= name.n + MAC ? body.p + at + name.n : NULL;
}

/* Find the whole lines. */
static int split(struct chain_text *t, struct str text, struct arena *a)
{
	size_t room = 0;
	struct str line;

	for (size_t i = 0; i < text.n; i++)
		room += text.p[i] == '\n';
	t->lines = arena_array(a, room + 1, sizeof *t->lines);
	t->by_seq = arena_array(a, room + 1, sizeof *t->by_seq);
	if (!t->lines || !t->by_seq)
		return -1;
	while (str_cut(text, '\n', &line, &text)) {
		(void)parse_line(line, &t->lines[t->count]);
		t->by_seq[t->count] = t->count;
		t->count++;
	}
	qsort_r(t->by_seq, t->count, sizeof *t->by_seq, compare, t->lines);
	return 0;
}

int chain_check(struct chain *c, struct str text,
		void (*found)(void *arg, const struct chain_finding *finding), void *arg,
		struct chain_report *ret, struct err *e)
{
	AUTO_ARENA memory = { .max = SIZE_MAX / 2 };
	struct chain_text t = { .from = *c, .found = found, .arg = arg, .report = ret };
	const bool cut = text.n && text.p[text.n - 1] != '\n';

	*ret = (struct chain_report){ 0 };
	if (split(&t, text, &memory) < 0)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to check so long a file");
	const char *previous =
		t.count && c->seq == 0 && t.lines[0].seq > 1 ? previous_of(t.lines[0].body) : NULL;
	if (previous) {
		ret->continued = true;
		t.from.seq = t.lines[0].seq - 1;
		memcpy(t.from.mac, previous, MAC);
	}
	for (size_t i = 0; i < t.count; i++) {
		struct chain_line *l = &t.lines[t.by_seq[i]];
		if (l->seq < 0)
			continue;
		hold(&t, l);
		first_of(&t, l->seq)->fitting += l->fits;
	}
	ret->lines = (int64_t)t.count + cut;
	walk(&t);
	if (cut)
		tell(&t, CHAIN_CUT, t.count, 0, 0);
	for (size_t i = t.count; i-- > 0;)
		if (t.lines[i].seq > 0) {
			c->seq = t.lines[i].seq;
			memcpy(c->mac, t.lines[i].mac, MAC);
			break;
		}
	return 0;
}
