/* SPDX-License-Identifier: MIT */
/* http_parse: start lines, and heads as a whole. */

#include "net/http_parse.h"

#include "base/own.h"
#include "net/http_field.h"

static enum http_method method_of(struct str name)
{
	static const struct {
		struct str name;
		enum http_method method;
	} known[] = {
		{ STR("GET"), HTTP_GET },	  { STR("POST"), HTTP_POST },
		{ STR("HEAD"), HTTP_HEAD },	  { STR("PUT"), HTTP_PUT },
		{ STR("PATCH"), HTTP_PATCH },	  { STR("DELETE"), HTTP_DELETE },
		{ STR("OPTIONS"), HTTP_OPTIONS }, { STR("TRACE"), HTTP_TRACE },
		{ STR("CONNECT"), HTTP_CONNECT },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(name, known[i].name))
			return known[i].method;
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

/* An authority in the target: never empty, and nobody puts a user or a password there. */
static int authority(struct str s, struct http_head *head, struct http_refusal *why)
{
	if (s.n == 0 || http_span(s, HTTP_HOST) != s.n)
		return http_refuse(why, 400, "The host in the request target is malformed.");
	head->host = s;
	return 0;
}

/* http://host/path?query: the host is taken out, and what stays is as if it had been sent alone. */
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
	/* Without a path it is "/": the scheme has one, so that every str stays in the input. */
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

	/* Exactly two blanks: a third one ends up in the version, which then is none. */
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

/* The start line is looked for in as many bytes as it may have: a longer one is refused at the
 * same byte whether the rest is here or not. Returns as http_line_end. */
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

/* The empty line behind the headers, with the same care. Returns 1 with scan->at behind it. */
static int find_end(struct str in, struct http_scan *scan, struct http_refusal *why)
{
	const struct str part = str_upto(in, LIMIT_HTTP_HEAD);

	for (;;) {
		/* No LF is passed but at the end of a line: one before us is the start of a line.
		 */
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
	/* At once, so that what is wrong with the line is known before the client goes on; and a
	 * second time when the rest has come, since the buffer may have moved. */
	if (!resumed && parse_line(line, head, why) < 0)
		return -1;
	found = find_end(in, scan, why);
	if (found <= 0)
		return found;
	if (resumed && parse_line(line, head, why) < 0)
		return -1;
	const size_t end = scan->at;
	if (http_fields_parse((struct str){ in.p + scan->line, end - 2 - scan->line }, head, why) <
	    0)
		return -1;
	*scan = (struct http_scan){ 0 };
	return (int)end;
}

int http_parse_head(struct str in, struct http_scan *scan, struct http_head *ret,
		    struct http_refusal *why)
{
	const size_t start = in.n >= 2 && in.p[0] == '\r' && in.p[1] == '\n' ? 2 : 0;
	const int n = parse(in, start, scan, request_line, ret, why);

	/* Whatever follows a CONNECT was meant for somebody else. */
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
