/* SPDX-License-Identifier: MIT */
/* http_field: lines, headers, and what headers decide about body and connection. */

#include "net/http_field.h"

#include <assert.h>
#include <endian.h>

#define ALL  (HTTP_TOKEN | HTTP_TARGET | HTTP_HOST)
#define HOST (HTTP_TARGET | HTTP_HOST)

const unsigned char http_class[256] = {
	['0' ... '9'] = ALL,
	['A' ... 'Z'] = ALL,
	['a' ... 'z'] = ALL,
	['!'] = ALL,
	['$'] = ALL,
	['%'] = ALL,
	['&'] = ALL,
	['\''] = ALL,
	['*'] = ALL,
	['+'] = ALL,
	['-'] = ALL,
	['.'] = ALL,
	['_'] = ALL,
	['~'] = ALL,
	['('] = HOST,
	[')'] = HOST,
	[','] = HOST,
	[':'] = HOST,
	[';'] = HOST,
	['='] = HOST,
	['['] = HOST,
	[']'] = HOST,
	['^'] = HTTP_TOKEN | HTTP_TARGET,
	['`'] = HTTP_TOKEN | HTTP_TARGET,
	['|'] = HTTP_TOKEN | HTTP_TARGET,
	['#'] = HTTP_TOKEN,
	['"'] = HTTP_TARGET,
	['/'] = HTTP_TARGET,
	['<'] = HTTP_TARGET,
	['>'] = HTTP_TARGET,
	['?'] = HTTP_TARGET,
	['@'] = HTTP_TARGET,
	['\\'] = HTTP_TARGET,
	['{'] = HTTP_TARGET,
	['}'] = HTTP_TARGET,
};

size_t http_span(struct str s, unsigned char class)
{
	size_t i = 0;

	while (i < s.n && (http_class[(unsigned char)s.p[i]] & class))
		i++;
	return i;
}

/* The first control character (tab and DEL among them) at or behind i, or the end. */
static size_t next_control(struct str in, size_t i)
{
	const uint64_t ones = 0x0101010101010101u;

	for (; in.n - i >= 8; i += 8) {
		uint64_t word;
		memcpy(&word, in.p + i, 8);
		word = le64toh(word);
		/* Top bits of the bytes below 0x20, and of those that are 0x7f. A borrow can mark
		 * a byte wrongly only above a right mark, and the lowest one is taken. */
		const uint64_t del = word ^ 0x7f * ones;
		const uint64_t marks =
			(((word - 0x20 * ones) & ~word) | ((del - ones) & ~del)) & 0x80 * ones;
		if (marks)
			return i + (size_t)__builtin_ctzll(marks) / 8;
	}
	while (i < in.n && (unsigned char)in.p[i] >= 0x20 && in.p[i] != 0x7f)
		i++;
	return i;
}

int http_line_end(struct str in, size_t *at, struct http_refusal *why)
{
	assert(*at <= in.n);
	size_t i = next_control(in, *at);

	while (i < in.n && in.p[i] == '\t')
		i = next_control(in, i + 1);
	*at = i;
	if (i == in.n)
		return 0;
	if (in.p[i] == '\n')
		return http_refuse(why, 400, "A line must end in CR LF, not in LF alone.");
	if (in.p[i] != '\r')
		return http_refuse(why, 400, "Control characters are not allowed here.");
	if (i + 1 == in.n)
		return 0;
	if (in.p[i + 1] != '\n')
		return http_refuse(why, 400, "A line must end in CR LF, not in CR alone.");
	*at = i + 2;
	return 1;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct str trim(struct str s)
{
	while (s.n && blank(s.p[0]))
		s = (struct str){ s.p + 1, s.n - 1 };
	while (s.n && blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

int http_field_parse(struct str line, struct http_header *ret, struct http_refusal *why)
{
	const size_t n = http_span(line, HTTP_TOKEN);

	if (line.n && blank(line.p[0]))
		return http_refuse(why, 400, "A header may not be folded over several lines.");
	if (n == 0)
		return http_refuse(why, 400, "A header must begin with its name.");
	if (n < line.n && blank(line.p[n]))
		return http_refuse(why, 400, "No blank may stand in or behind a header's name.");
	if (n == line.n || line.p[n] != ':')
		return http_refuse(why, 400, "A header must be a name, a colon and a value.");
	ret->name = (struct str){ line.p, n };
	ret->value = trim((struct str){ line.p + n + 1, line.n - n - 1 });
	return 0;
}

/* The literal is in lower case and consists of letters and '-' only: there, setting one bit is
 * enough to lower a token's byte. */
static bool is_name(struct str name, const char *literal)
{
	for (size_t i = 0; i < name.n; i++)
		if ((name.p[i] | 0x20) != literal[i])
			return false;
	return true;
}

static int note_length(struct http_head *head, struct str value, struct http_refusal *why)
{
	int64_t length;

	if (head->content_length >= 0)
		return http_refuse(why, 400, "Content-Length is given more than once.");
	/* str_int takes a minus: the digit asked for here is the first byte. */
	if (value.n == 0 || value.p[0] < '0' || value.p[0] > '9' || !str_int(value, &length))
		return http_refuse(why, 400, "Content-Length must be one decimal number.");
	head->content_length = length;
	return 0;
}

static int note_coding(struct http_head *head, struct str value, struct http_refusal *why)
{
	struct str rest = value, coding;
	bool chunked = head->chunked, unknown = false, more;

	do {
		more = str_cut(rest, ',', &coding, &rest);
		coding = trim(coding);
		if (coding.n == 0 || http_span(coding, HTTP_TOKEN) != coding.n)
			return http_refuse(why, 400, "Transfer-Encoding is malformed.");
		if (chunked)
			return http_refuse(why, 400, "Nothing may follow the coding chunked.");
		chunked = str_eq_nocase(coding, STR("chunked"));
		unknown |= !chunked;
	} while (more);
	if (unknown)
		return http_refuse(why, 501, "The only transfer coding known here is chunked.");
	head->chunked = true;
	return 0;
}

static int note_expect(struct http_head *head, struct str value, struct http_refusal *why)
{
	if (head->status)
		return 0;
	if (!str_eq_nocase(value, STR("100-continue")))
		return http_refuse(why, 417, "The only expectation known here is 100-continue.");
	head->expect_continue = true;
	return 0;
}

static int note_host(struct http_head *head, struct str value, bool *host, struct http_refusal *why)
{
	if (*host)
		return http_refuse(why, 400, "Host is given more than once.");
	if (http_span(value, HTTP_HOST) != value.n)
		return http_refuse(why, 400, "Host must be a name or address, and a port at most.");
	*host = true;
	if (!head->host.p)
		head->host = value;
	return 0;
}

struct connection {
	bool host, close, keep_alive;
};

static void note_connection(struct str value, struct connection *c)
{
	struct str option;
	bool more;

	do {
		more = str_cut(value, ',', &option, &value);
		option = trim(option);
		c->close |= str_eq_nocase(option, STR("close"));
		c->keep_alive |= str_eq_nocase(option, STR("keep-alive"));
	} while (more);
}

/* The headers that decide something differ in length: one comparison tells which it can be. */
static int note(struct http_head *head, const struct http_header *h, struct connection *c,
		struct http_refusal *why)
{
	switch (h->name.n) {
	case 4:
		return is_name(h->name, "host") ? note_host(head, h->value, &c->host, why) : 0;
	case 6:
		return is_name(h->name, "expect") ? note_expect(head, h->value, why) : 0;
	case 10:
		if (is_name(h->name, "connection"))
			note_connection(h->value, c);
		return 0;
	case 14:
		return is_name(h->name, "content-length") ? note_length(head, h->value, why) : 0;
	case 17:
		return is_name(h->name, "transfer-encoding") ? note_coding(head, h->value, why) : 0;
	default:
		return 0;
	}
}

static int decide(struct http_head *head, const struct connection *c, struct http_refusal *why)
{
	if (head->chunked && head->content_length >= 0)
		return http_refuse(why, 400,
				   "Content-Length and Transfer-Encoding exclude each other.");
	if (head->chunked && head->minor == 0)
		return http_refuse(why, 400, "HTTP/1.0 has no Transfer-Encoding.");
	if (!head->status && head->minor && !c->host)
		return http_refuse(why, 400, "A request in HTTP/1.1 needs a Host header.");
	head->keep_alive = !c->close && (head->minor || c->keep_alive);
	/* HTTP/1.0 does not know the expectation, and without a body nobody waits. */
	head->expect_continue &= head->minor && (head->chunked || head->content_length > 0);
	return 0;
}

int http_fields_parse(struct str lines, struct http_head *head, struct http_refusal *why)
{
	struct connection c = { 0 };

	head->content_length = -1;
	while (lines.n) {
		struct http_header *h = head->headers + head->header_count;
		const char *end = memchr(lines.p, '\r', lines.n);
		const size_t n = (size_t)(end - lines.p);
		if (head->header_count == LIMIT_HTTP_HEADERS)
			return http_refuse(why, 431, "The message has too many headers.");
		if (http_field_parse((struct str){ lines.p, n }, h, why) < 0 ||
		    note(head, h, &c, why) < 0)
			return -1;
		head->header_count++;
		lines = (struct str){ lines.p + n + 2, lines.n - n - 2 };
	}
	return decide(head, &c, why);
}
