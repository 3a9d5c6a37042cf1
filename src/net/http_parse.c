/* SPDX-License-Identifier: MIT */
/* http_parse: lines, headers, start lines, and heads as a whole. */

#include "net/http_parse.h"

#include <assert.h>
#include <endian.h>

#include "base/own.h"
#include "net/limits.h"

enum {
	HTTP_TARGET = 1 << 1, /* allowed in a request target: visible ASCII but '#' */
	HTTP_HOST = 1 << 2,   /* allowed in Host: no '@' or '/', which would make it a URL */
};

#define ALL    (HTTP_TOKEN | HTTP_TARGET | HTTP_HOST)
#define NOHOST (HTTP_TOKEN | HTTP_TARGET)
#define URL    (HTTP_TARGET | HTTP_HOST)

/* The classes of each byte, or-ed. */
static const unsigned char classes[256] = {
	/* clang-format off */
	['0' ... '9'] = ALL, ['A' ... 'Z'] = ALL, ['a' ... 'z'] = ALL,
	['!'] = ALL, ['$'] = ALL, ['%'] = ALL, ['&'] = ALL, ['\''] = ALL, ['*'] = ALL,
	['+'] = ALL, ['-'] = ALL, ['.'] = ALL, ['_'] = ALL, ['~'] = ALL,
	['('] = URL, [')'] = URL, [','] = URL, [':'] = URL,
	[';'] = URL, ['='] = URL, ['['] = URL, [']'] = URL,
	['^'] = NOHOST, ['`'] = NOHOST, ['|'] = NOHOST,
	['#'] = HTTP_TOKEN,
	['"'] = HTTP_TARGET, ['/'] = HTTP_TARGET, ['<'] = HTTP_TARGET, ['>'] = HTTP_TARGET,
	['?'] = HTTP_TARGET, ['@'] = HTTP_TARGET, ['\\'] = HTTP_TARGET,
	['{'] = HTTP_TARGET, ['}'] = HTTP_TARGET,
	/* clang-format on */
};

size_t http_span(struct str s, unsigned char class)
{
	size_t i = 0;

	while (i < s.n && (classes[(unsigned char)s.p[i]] & class))
		i++;
	return i;
}

/* The first control character (tab and DEL are two) from i on, or the end. */
static size_t next_control(struct str in, size_t i)
{
	const uint64_t ones = 0x0101010101010101u;

	for (; in.n - i >= 8; i += 8) {
		uint64_t word;
		memcpy(&word, in.p + i, 8);
		word = le64toh(word);
		/* The top bits of the bytes below 0x20 and of those that are 0x7f. A borrow can
		 * mark a byte wrongly only above a right mark, and the lowest mark is taken. */
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
		return http_refuse(
			why, 400, "A header's name may not contain a blank or be followed by one.");
	if (n == line.n || line.p[n] != ':')
		return http_refuse(why, 400, "A header must be a name, a colon and a value.");
	ret->name = (struct str){ line.p, n };
	ret->value = trim((struct str){ line.p + n + 1, line.n - n - 1 });
	return 0;
}

/* Compare without case. The literal is in lower case and has only letters and '-', so setting one
 * bit of a token's byte is enough. */
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
	/* str_int accepts a minus, so the first byte is checked here. */
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

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* How many bytes at the start of s are an address in brackets, or a name. 0: neither. */
static size_t host_span(struct str s)
{
	size_t i = 0;

	if (str_starts(s, STR("["))) {
		for (i = 1; i < s.n && (is_hex(s.p[i]) || s.p[i] == ':' || s.p[i] == '.'); i++)
			;
		/* The shortest address is "::". */
		return i >= 3 && i < s.n && s.p[i] == ']' ? i + 1 : 0;
	}
	for (; i < s.n && (classes[(unsigned char)s.p[i]] & HTTP_HOST); i++) {
		if (s.p[i] == ':' || s.p[i] == '[' || s.p[i] == ']')
			break;
		if (s.p[i] == '%' && (s.n - i < 3 || !is_hex(s.p[i + 1]) || !is_hex(s.p[i + 2])))
			return 0;
	}
	return i;
}

/* A name or an address, then perhaps a colon and a port, whose digits may be missing. */
static bool is_host(struct str s)
{
	size_t i = host_span(s);

	if (i == 0 || i == s.n)
		return i != 0;
	if (s.p[i++] != ':')
		return false;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i == s.n;
}

static int note_host(struct http_head *head, struct str value, bool *host, struct http_refusal *why)
{
	if (*host)
		return http_refuse(why, 400, "Host is given more than once.");
	if (value.n && !is_host(value))
		return http_refuse(why, 400, "Host must be a name or address, and a port at most.");
	*host = true;
	if (!head->host.p)
		head->host = value;
	return 0;
}

/* What headers have said so far. */
struct head_facts {
	bool host, close, keep_alive;
};

static void note_connection(struct str value, struct head_facts *f)
{
	struct str option;
	bool more;

	do {
		more = str_cut(value, ',', &option, &value);
		option = trim(option);
		f->close |= str_eq_nocase(option, STR("close"));
		f->keep_alive |= str_eq_nocase(option, STR("keep-alive"));
	} while (more);
}

/* The headers that decide something differ in length, so the length says which one it can be. */
static int note(struct http_head *head, const struct http_header *h, struct head_facts *f,
		struct http_refusal *why)
{
	switch (h->name.n) {
	case 4:
		return is_name(h->name, "host") ? note_host(head, h->value, &f->host, why) : 0;
	case 6:
		return is_name(h->name, "expect") ? note_expect(head, h->value, why) : 0;
	case 10:
		if (is_name(h->name, "connection"))
			note_connection(h->value, f);
		return 0;
	case 14:
		return is_name(h->name, "content-length") ? note_length(head, h->value, why) : 0;
	case 17:
		return is_name(h->name, "transfer-encoding") ? note_coding(head, h->value, why) : 0;
	default:
		return 0;
	}
}

static int decide(struct http_head *head, const struct head_facts *f, struct http_refusal *why)
{
	if (head->chunked && head->content_length >= 0)
		return http_refuse(why, 400,
				   "Content-Length and Transfer-Encoding exclude each other.");
	if (head->chunked && head->minor == 0)
		return http_refuse(why, 400, "HTTP/1.0 has no Transfer-Encoding.");
	if (!head->status && head->minor && !f->host)
		return http_refuse(why, 400, "A request in HTTP/1.1 needs a Host header.");
	head->keep_alive = !f->close && (head->minor || f->keep_alive);
	/* HTTP/1.0 does not know the expectation, and a client without a body does not wait. */
	head->expect_continue &= head->minor && (head->chunked || head->content_length > 0);
	return 0;
}

/*
 * Parse the lines between the start line and the empty line, each with its CRLF, into *head, which
 * is zero except for what the start line says. Sets the headers, the host, and what is decided for
 * requests and responses alike.
 */
static int parse_fields(struct str lines, struct http_head *head, struct http_refusal *why)
{
	struct head_facts f = { 0 };

	head->content_length = -1;
	while (lines.n) {
		struct http_header *h = head->headers + head->header_count;
		const char *end = memchr(lines.p, '\r', lines.n);
		const size_t n = (size_t)(end - lines.p);
		if (head->header_count == LIMIT_HTTP_HEADERS)
			return http_refuse(why, 431, "The message has too many headers.");
		if (http_field_parse((struct str){ lines.p, n }, h, why) < 0 ||
		    note(head, h, &f, why) < 0)
			return -1;
		head->header_count++;
		lines = (struct str){ lines.p + n + 2, lines.n - n - 2 };
	}
	return decide(head, &f, why);
}

static enum http_method method_of(struct str name)
{
	static const struct str names[] = {
		[HTTP_GET] = STR("GET"),	 [HTTP_HEAD] = STR("HEAD"),
		[HTTP_POST] = STR("POST"),	 [HTTP_PUT] = STR("PUT"),
		[HTTP_PATCH] = STR("PATCH"),	 [HTTP_DELETE] = STR("DELETE"),
		[HTTP_OPTIONS] = STR("OPTIONS"), [HTTP_TRACE] = STR("TRACE"),
		[HTTP_CONNECT] = STR("CONNECT"),
	};

	for (size_t i = HTTP_OTHER + 1; i < ARRAY_LEN(names); i++)
		if (str_eq(name, names[i]))
			return (enum http_method)i;
	return HTTP_OTHER;
}

/* "HTTP/1.0" or "HTTP/1.1", and nothing else. */
static int version(struct str s, int *minor, struct http_refusal *why)
{
	if (s.n != 8 || memcmp(s.p, "HTTP/", 5) != 0 || s.p[6] != '.' || s.p[5] < '0' ||
	    s.p[5] > '9' || s.p[7] < '0' || s.p[7] > '9')
		return http_refuse(why, 400, "The start line must name its version as HTTP/1.1.");
	if (s.p[5] != '1' || s.p[7] > '1')
		return http_refuse(why, 505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
	*minor = s.p[7] - '0';
	return 0;
}

/* An authority in the target: never empty, and without user and password. */
static int authority(struct str s, struct http_head *head, struct http_refusal *why)
{
	if (!is_host(s))
		return http_refuse(why, 400, "The host in the request target is malformed.");
	head->host = s;
	return 0;
}

/* http://host/path?query: take the host; *rest is what a client would send without it. */
static int absolute(struct http_head *head, struct str *rest, struct http_refusal *why)
{
	const size_t scheme = sizeof "http://" - 1;
	struct str target = head->target;
	size_t n = scheme;

	if (!str_eq_nocase(str_upto(target, scheme), STR("http://")))
		return http_refuse(why, 400,
				   "The request target must be a path that begins with /.");
	while (n < target.n && target.p[n] != '/' && target.p[n] != '?')
		n++;
	if (authority((struct str){ target.p + scheme, n - scheme }, head, why) < 0)
		return -1;
	*rest = str_from(target, n);
	/* Without a path it is "/". The scheme has one, so that every str points into the input. */
	head->path = (struct str){ target.p + scheme - 1, 1 };
	return 0;
}

static int target_forms(struct http_head *head, struct http_refusal *why)
{
	const struct str target = head->target;
	struct str rest = target, path;

	if (target.n == 0 || http_span(target, HTTP_TARGET) != target.n)
		return http_refuse(why, 400, "The request target must be visible ASCII without #.");
	if (head->method == HTTP_CONNECT)
		return authority(target, head, why);
	if (head->method == HTTP_OPTIONS && str_eq(target, STR("*"))) {
		head->path = target;
		return 0;
	}
	if (target.p[0] != '/' && absolute(head, &rest, why) < 0)
		return -1;
	(void)str_cut(rest, '?', &path, &head->query);
	if (path.n)
		head->path = path;
	return 0;
}

static int request_line(struct str line, struct http_head *head, struct http_refusal *why)
{
	struct str rest, protocol;

	/* Exactly two blanks: a third one would be part of the version, which is then invalid. */
	if (!str_cut(line, ' ', &head->method_name, &rest) ||
	    !str_cut(rest, ' ', &head->target, &protocol))
		return http_refuse(why, 400,
				   "The request line must be a method, a target and HTTP/1.1.");
	if (head->method_name.n == 0 ||
	    http_span(head->method_name, HTTP_TOKEN) != head->method_name.n)
		return http_refuse(why, 400, "The method is not a token.");
	if (version(protocol, &head->minor, why) < 0)
		return -1;
	head->method = method_of(head->method_name);
	return target_forms(head, why);
}

static int status_line(struct str line, struct http_head *head, struct http_refusal *why)
{
	struct str protocol, rest, code;
	int64_t status;

	if (!str_cut(line, ' ', &protocol, &rest) || !str_cut(rest, ' ', &code, &head->reason))
		return http_refuse(why, 400,
				   "The status line must be HTTP/1.1, a status and a reason.");
	if (version(protocol, &head->minor, why) < 0)
		return -1;
	if (code.n != 3 || !str_int(code, &status) || status < 100 || status > 599)
		return http_refuse(why, 400, "The status must be a number from 100 to 599.");
	head->status = (int)status;
	return 0;
}

/* Find the end of the start line among as many bytes as it may have: a longer one is refused at the
 * same byte whether or not the rest has arrived. Returns what http_line_end returns. */
static int find_line(struct str in, size_t start, struct http_scan *scan, struct http_refusal *why)
{
	const struct str part = str_upto(in, LIMIT_HTTP_LINE);

	if (scan->at < start)
		scan->at = start;
	const int found = http_line_end(part, &scan->at, why);
	if (found == 0 && part.n == LIMIT_HTTP_LINE)
		return http_refuse(why, 414, "The start line of the message is too long.");
	if (found > 0)
		scan->line = scan->at;
	return found;
}

/* Find the empty line after the headers in the same way. Returns 1 with scan->at after it. */
static int find_end(struct str in, struct http_scan *scan, struct http_refusal *why)
{
	const struct str part = str_upto(in, LIMIT_HTTP_HEAD);

	for (;;) {
		/* An LF is accepted only at the end of a line, so a line begins after it. */
		const bool at_start = in.p[scan->at - 1] == '\n';
		const size_t from = scan->at;
		const int found = http_line_end(part, &scan->at, why);
		if (found < 0)
			return -1;
		if (found == 0 && part.n == LIMIT_HTTP_HEAD)
			return http_refuse(why, 431, "The head of the message is too long.");
		if (found == 0)
			return 0;
		if (at_start && scan->at == from + 2)
			return 1;
	}
}

typedef int start_line(struct str line, struct http_head *head, struct http_refusal *why);

static int parse(struct str in, size_t start, struct http_scan *scan, start_line *parse_line,
		 struct http_head *head, struct http_refusal *why)
{
	const bool resumed = scan->line;
	int found = resumed ? 1 : find_line(in, start, scan, why);

	if (found <= 0)
		return found;
	memset(head, 0, offsetof(struct http_head, headers));
	const struct str line = { in.p + start, scan->line - 2 - start };
	/* Parsed at once, so that a bad line is refused before the client sends more; and a second
	 * time when the rest has arrived, because the buffer may have moved. */
	if (!resumed && parse_line(line, head, why) < 0)
		return -1;
	found = find_end(in, scan, why);
	if (found <= 0)
		return found;
	if (resumed && parse_line(line, head, why) < 0)
		return -1;
	const size_t end = scan->at;
	if (parse_fields((struct str){ in.p + scan->line, end - 2 - scan->line }, head, why) < 0)
		return -1;
	*scan = (struct http_scan){ 0 };
	return (int)end;
}

int http_parse_head(struct str in, struct http_scan *scan, struct http_head *ret,
		    struct http_refusal *why)
{
	const size_t start = in.n >= 2 && in.p[0] == '\r' && in.p[1] == '\n' ? 2 : 0;
	const int n = parse(in, start, scan, request_line, ret, why);

	/* The bytes after a CONNECT are meant for another server. */
	if (n > 0 && ret->method == HTTP_CONNECT)
		ret->keep_alive = false;
	return n;
}

int http_parse_response_head(struct str in, struct http_scan *scan, struct http_head *ret,
			     struct http_refusal *why)
{
	const int n = parse(in, 0, scan, status_line, ret, why);

	if (n <= 0)
		return n;
	if (ret->status < 200 || ret->status == 204 || ret->status == 304) {
		ret->chunked = false;
		ret->content_length = 0;
	}
	ret->keep_alive &= ret->chunked || ret->content_length >= 0;
	return n;
}

struct str http_header(const struct http_head *head, struct str name)
{
	for (size_t i = 0; i < head->header_count; i++) {
		const struct http_header *h = head->headers + i;
		if (h->name.n == name.n && str_eq_nocase(h->name, name))
			return h->value;
	}
	return (struct str){ NULL, 0 };
}

/* The byte that is written at *i, which moves past it; or -1. */
static int next_byte(struct str s, size_t *i, char plus)
{
	const char c = s.p[(*i)++];

	if (c == '+')
		return plus;
	if (c != '%')
		return (unsigned char)c;
	if (s.n - *i < 2)
		return -1;
	const int high = str_hex(s.p[*i]), low = str_hex(s.p[*i + 1]);
	*i += 2;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static ptrdiff_t decode(struct str raw, char plus, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < raw.n; n++) {
		const int c = next_byte(raw, &i, plus);
		if (c < 0 || n == room)
			return -1;
		out[n] = (char)c;
	}
	return (ptrdiff_t)n;
}

ptrdiff_t http_path_decode(struct str raw, char *out)
{
	return decode(raw, '+', out, raw.n);
}

/* Whether a raw name decodes to this one. */
static bool decodes_to(struct str raw, struct str name)
{
	size_t i = 0, n = 0;

	while (i < raw.n && n < name.n)
		if (next_byte(raw, &i, ' ') != (unsigned char)name.p[n++])
			return false;
	return i == raw.n && n == name.n;
}

int http_query(struct str query, struct str name, char *out, size_t room, struct str *ret)
{
	while (query.n) {
		struct str pair, raw_name, value;
		(void)str_cut(query, '&', &pair, &query);
		(void)str_cut(pair, '=', &raw_name, &value);
		if (pair.n == 0 || !decodes_to(raw_name, name))
			continue;
		if (str_index(value, '%') < 0 && str_index(value, '+') < 0) {
			*ret = value;
			return 1;
		}
		const ptrdiff_t n = decode(value, ' ', out, room);
		if (n < 0)
			return -1;
		*ret = (struct str){ out, (size_t)n };
		return 1;
	}
	return 0;
}
