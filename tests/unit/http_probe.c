/* SPDX-License-Identifier: MIT */
/*
 * http_probe: what the parser makes of the bytes on standard input, for comparison with others.
 *
 * Prints a line for each whole request, "request METHOD TARGET BODY-IN-HEX", and one for how it
 * ended: "end", "incomplete", or "refused STATUS SENTENCE".
 */

#include <stdio.h>

#include "net/http_parse.h"

enum { MOST = 1 << 20 };

static int refused(const struct http_refusal *why)
{
	printf("refused %d %s\n", why->status, why->sentence);
	return -1;
}

/* The body behind a head, into out. Returns how many bytes of `in` it took, or -1. */
static ptrdiff_t take_body(const struct http_head *head, struct str in, char *out, size_t *n)
{
	struct http_chunks chunks = { 0 };
	struct http_refusal why;
	size_t at = 0, used;
	struct str data;
	int rc = HTTP_CHUNK_END;

	*n = 0;
	if (!head->chunked) {
		const int64_t length = head->content_length < 0 ? 0 : head->content_length;
		if ((uint64_t)length > in.n)
			return puts("incomplete"), -1;
		memcpy(out, in.p, (size_t)length);
		*n = (size_t)length;
		return (ptrdiff_t)length;
	}
	while ((rc = http_chunk_next(&chunks, str_from(in, at), &data, &used, &why)) ==
	       HTTP_CHUNK_DATA) {
		memcpy(out + *n, data.p, data.n);
		*n += data.n;
		at += used;
	}
	if (rc < 0)
		return refused(&why);
	if (rc == HTTP_CHUNK_MORE)
		return puts("incomplete"), -1;
	return (ptrdiff_t)(at + used);
}

/* One request at the start of *in. Returns whether another one may follow. */
static bool take_request(struct str *in)
{
	static char body[MOST];
	struct http_scan scan = { 0 };
	struct http_refusal why;
	struct http_head head;
	size_t n;
	const int got = http_parse_head(*in, &scan, &head, &why);

	if (got < 0)
		return refused(&why), false;
	if (got == 0)
		return puts("incomplete"), false;
	const ptrdiff_t taken = take_body(&head, str_from(*in, (size_t)got), body, &n);
	if (taken < 0)
		return false;
	printf("request %.*s %.*s ", STR_FMT(head.method_name), STR_FMT(head.target));
	for (size_t i = 0; i < n; i++)
		printf("%02x", (unsigned char)body[i]);
	puts("");
	*in = str_from(*in, (size_t)got + (size_t)taken);
	/* An empty line behind a request is no request: the next one may begin with it. */
	if (head.keep_alive && in->n && !str_eq(*in, STR("\r\n")))
		return true;
	puts("end");
	return false;
}

int main(void)
{
	static char room[MOST];
	struct str in = { room, fread(room, 1, sizeof room, stdin) };

	while (take_request(&in))
		;
	return 0;
}
