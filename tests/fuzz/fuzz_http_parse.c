/* SPDX-License-Identifier: MIT */
/*
 * Heads of requests and responses, and chunked bodies: the first byte chooses. However the bytes
 * are cut, the verdict is the same; every str lies in the input; a body has one length at most.
 */

#include <stdlib.h>

#include "net/http_parse.h"
#include "net/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void within(struct str s, struct str in)
{
	check(s.n == 0 || (s.p >= in.p && s.n <= in.n && s.p - in.p <= (ptrdiff_t)(in.n - s.n)));
}

typedef int parser(struct str, struct http_scan *, struct http_head *, struct http_refusal *);

static void check_head(const struct http_head *h, struct str in)
{
	const struct str all[] = {
		h->method_name, h->target, h->path, h->query, h->host, h->reason
	};
	char out[LIMIT_HTTP_HEAD];
	struct str value;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		within(all[i], in);
	for (size_t i = 0; i < h->header_count; i++) {
		const struct http_header *f = h->headers + i;
		within(f->name, in);
		within(f->value, in);
		check(f->name.n > 0 && http_header(h, f->name).p);
		check(str_index(f->value, '\n') < 0 && str_index(f->value, '\r') < 0 &&
		      str_index(f->value, '\0') < 0);
	}
	check(h->header_count <= LIMIT_HTTP_HEADERS);
	check(!h->chunked || h->content_length < 0);
	check(h->minor == 1 || (h->minor == 0 && !h->chunked));
	check(http_path_decode(h->path, out) <= (ptrdiff_t)h->path.n);
	if (http_query(h->query, STR("a"), out, 16, &value) == 1 && value.p != out)
		within(value, in);
}

/* A pseudo-random but repeatable size of the next piece. */
static size_t piece(uint32_t *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 1 ? 1 : 1 + (*seed >> 17) % 40;
}

static void fuzz_head(parser *parse, struct str in)
{
	struct http_scan scan = { 0 }, slow = { 0 };
	struct http_refusal why = { 0 }, again = { 0 };
	struct http_head head, other;
	uint32_t seed = (uint32_t)in.n;
	const int rc = parse(in, &scan, &head, &why);
	int trickled = 0;

	for (size_t have = 0; trickled == 0;) {
		/* In memory of its own, so that reading past the end is found. */
		char *copy = malloc(have ? have : 1);
		memcpy(copy, in.p, have);
		trickled = parse((struct str){ copy, have }, &slow, &other, &again);
		if (trickled > 0)
			check_head(&other, (struct str){ copy, have });
		free(copy);
		if (have == in.n)
			break;
		have += piece(&seed);
		have = have < in.n ? have : in.n;
	}
	check(rc == trickled && why.status == again.status);
	check(rc >= 0 || (why.status >= 400 && why.sentence));
	if (rc <= 0)
		return;
	check((size_t)rc <= in.n && rc <= LIMIT_HTTP_HEAD);
	check(memcmp(in.p + rc - 4, "\r\n\r\n", 4) == 0);
	check(head.chunked == other.chunked && head.content_length == other.content_length);
	check(head.keep_alive == other.keep_alive && head.header_count == other.header_count);
	check_head(&head, str_upto(in, (size_t)rc));
	/* The bytes after the head do not matter. */
	check(parse(str_upto(in, (size_t)rc), &scan, &other, &again) == rc);
}

struct outcome {
	int rc, status;
	size_t used;
	uint64_t data, hash;
};

static struct outcome decode(struct str in, bool trickle)
{
	struct http_chunks chunks = { 0 };
	struct outcome o = { .hash = 1 };
	uint32_t seed = (uint32_t)in.n;

	for (size_t have = trickle ? 0 : in.n;;) {
		const struct str part = str_from(str_upto(in, have), o.used);
		struct http_refusal why = { 0 };
		struct str data;
		size_t used = 0;
		o.rc = http_chunk_next(&chunks, part, &data, &used, &why);
		o.status = why.status;
		if (o.rc < 0 || o.rc == HTTP_CHUNK_DATA) {
			check(o.rc > 0 || why.status >= 400);
			for (size_t i = 0; o.rc > 0 && i < data.n; i++)
				o.hash = o.hash * 31 + (unsigned char)data.p[i];
		}
		check(used <= part.n);
		if (o.rc < 0)
			return o;
		o.used += used;
		if (o.rc == HTTP_CHUNK_DATA) {
			within(data, part);
			check(data.n > 0);
			o.data += data.n;
			continue;
		}
		if (o.rc == HTTP_CHUNK_END || have == in.n)
			return o;
		have += piece(&seed);
		have = have < in.n ? have : in.n;
	}
}

static void fuzz_chunks(struct str in)
{
	const struct outcome whole = decode(in, false), slow = decode(in, true);

	check(whole.rc == slow.rc && whole.status == slow.status);
	check(whole.data == slow.data && whole.hash == slow.hash && whole.data <= in.n);
	check(whole.rc < 0 || whole.used == slow.used);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n == 0)
		return 0;
	const struct str in = { (const char *)bytes + 1, n - 1 };
	switch (bytes[0] % 3) {
	case 0:
		fuzz_head(http_parse_head, in);
		break;
	case 1:
		fuzz_head(http_parse_response_head, in);
		break;
	default:
		fuzz_chunks(in);
	}
	return 0;
}
