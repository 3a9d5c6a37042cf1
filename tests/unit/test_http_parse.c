/* SPDX-License-Identifier: MIT */
/* Heads of requests and responses: what is accepted, with all that is decided, and what is refused.
 */

#include "unit.h"

#include "net/http_parse.h"
#include "net/limits.h"

typedef int parser(struct str, struct http_scan *, struct http_head *, struct http_refusal *);

/* Texts hold NUL bytes, so a case carries its length. */
#define T(text) STR(text)
#define HOST	"Host: h\r\n"
#define END	HOST "\r\n"

/* The bytes at the end of memory, at once; and then one more with each call, each time elsewhere.
 */
static int feed(parser *parse, struct str text, struct http_head *head, struct http_refusal *why)
{
	struct http_scan scan = { 0 }, slow = { 0 };
	struct http_refusal again = { 0 };
	const struct str whole = guarded(text);
	struct http_head other;
	int trickled = 0;

	*why = (struct http_refusal){ 0 };
	const int n = parse(whole, &scan, head, why);
	for (size_t i = 0; i <= text.n && trickled == 0; i++) {
		const struct str part = guarded(str_upto(text, i));
		trickled = parse(part, &slow, &other, &again);
		guarded_free(part);
	}
	if (n != trickled || why->status != again.status)
		fail_msg("%.*s: at once %d %d, byte by byte %d %d", STR_FMT(text), n, why->status,
			 trickled, again.status);
	if (n > 0) {
		assert_int_equal(scan.at + scan.line + slow.at + slow.line, 0);
		assert_int_equal(head->header_count, other.header_count);
		assert_int_equal(head->content_length, other.content_length);
		assert_int_equal(head->keep_alive, other.keep_alive);
		assert_int_equal(head->path.n, other.path.n);
	}
	if (n < 0)
		assert_non_null(why->sentence);
	guarded_free(whole);
	/* The guarded page is gone: let the head be seen in the text that stays. */
	if (n > 0)
		parse(text, &scan, head, why);
	return n;
}

enum { KEEP = 1, CHUNKED = 2, EXPECT = 4, OLD = 8 };

struct good {
	struct str text;
	enum http_method method;
	const char *path, *query, *host;
	int flags;
	int64_t length;
	size_t headers;
};

static const struct good good[] = {
	{ T("GET / HTTP/1.1\r\n" END), HTTP_GET, "/", "", "h", KEEP, -1, 1 },
	{ T("\r\nGET / HTTP/1.1\r\n" END), HTTP_GET, "/", "", "h", KEEP, -1, 1 },
	{ T("POST /read HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
	    "Content-Type: application/json\r\nContent-Length: 16\r\n\r\n"),
	  HTTP_POST, "/read", "", "localhost", KEEP, 16, 5 },
	{ T("POST /read HTTP/1.1\r\nhost: localhost\r\nconnection: keep-alive\r\n"
	    "content-type: application/json\r\naccept: */*\r\naccept-language: *\r\n"
	    "sec-fetch-mode: cors\r\nuser-agent: undici\r\naccept-encoding: br, gzip\r\n"
	    "content-length: 0\r\n\r\n"),
	  HTTP_POST, "/read", "", "localhost", KEEP, 0, 9 },

	/* methods */
	{ T("HEAD /x HTTP/1.1\r\n" END), HTTP_HEAD, "/x", "", "h", KEEP, -1, 1 },
	{ T("PUT /x HTTP/1.1\r\n" END), HTTP_PUT, "/x", "", "h", KEEP, -1, 1 },
	{ T("PATCH /x HTTP/1.1\r\n" END), HTTP_PATCH, "/x", "", "h", KEEP, -1, 1 },
	{ T("DELETE /x HTTP/1.1\r\n" END), HTTP_DELETE, "/x", "", "h", KEEP, -1, 1 },
	{ T("TRACE /x HTTP/1.1\r\n" END), HTTP_TRACE, "/x", "", "h", KEEP, -1, 1 },
	{ T("get /x HTTP/1.1\r\n" END), HTTP_OTHER, "/x", "", "h", KEEP, -1, 1 },
	{ T("PROPFIND /x HTTP/1.1\r\n" END), HTTP_OTHER, "/x", "", "h", KEEP, -1, 1 },
	{ T("!#$%&'*+-.^_`|~ /x HTTP/1.1\r\n" END), HTTP_OTHER, "/x", "", "h", KEEP, -1, 1 },

	/* targets */
	{ T("GET /a?b=c&d HTTP/1.1\r\n" END), HTTP_GET, "/a", "b=c&d", "h", KEEP, -1, 1 },
	{ T("GET /a? HTTP/1.1\r\n" END), HTTP_GET, "/a", "", "h", KEEP, -1, 1 },
	{ T("GET /a?b?c HTTP/1.1\r\n" END), HTTP_GET, "/a", "b?c", "h", KEEP, -1, 1 },
	{ T("GET //a HTTP/1.1\r\n" END), HTTP_GET, "//a", "", "h", KEEP, -1, 1 },
	{ T("GET /%zz\"<>\\^`{|} HTTP/1.1\r\n" END), HTTP_GET, "/%zz\"<>\\^`{|}", "", "h", KEEP, -1,
	  1 },
	{ T("GET http://o:1/a?q HTTP/1.1\r\n" END), HTTP_GET, "/a", "q", "o:1", KEEP, -1, 1 },
	{ T("GET HTTP://o HTTP/1.1\r\n" END), HTTP_GET, "/", "", "o", KEEP, -1, 1 },
	{ T("GET http://o?q HTTP/1.1\r\n" END), HTTP_GET, "/", "q", "o", KEEP, -1, 1 },
	{ T("GET http://[::1]:80/ HTTP/1.0\r\n\r\n"), HTTP_GET, "/", "", "[::1]:80", OLD, -1, 0 },
	{ T("OPTIONS * HTTP/1.1\r\n" END), HTTP_OPTIONS, "*", "", "h", KEEP, -1, 1 },
	{ T("OPTIONS /a HTTP/1.1\r\n" END), HTTP_OPTIONS, "/a", "", "h", KEEP, -1, 1 },
	{ T("CONNECT o:443 HTTP/1.1\r\n" END), HTTP_CONNECT, "", "", "o:443", 0, -1, 1 },

	/* hosts */
	{ T("GET / HTTP/1.1\r\nHost:\r\n\r\n"), HTTP_GET, "/", "", "", KEEP, -1, 1 },
	{ T("GET / HTTP/1.1\r\nHost: \t \r\n\r\n"), HTTP_GET, "/", "", "", KEEP, -1, 1 },
	{ T("GET / HTTP/1.1\r\nHOST:a\r\n\r\n"), HTTP_GET, "/", "", "a", KEEP, -1, 1 },
	{ T("GET / HTTP/1.1\r\nHost: %2Frun%2Fs.sock\r\n\r\n"), HTTP_GET, "/", "",
	  "%2Frun%2Fs.sock", KEEP, -1, 1 },
	{ T("GET / HTTP/1.1\r\nHost: a_b,c:\r\n\r\n"), HTTP_GET, "/", "", "a_b,c:", KEEP, -1, 1 },
	{ T("GET / HTTP/1.1\r\nHost: [::ffff:127.0.0.1]\r\n\r\n"), HTTP_GET, "/", "",
	  "[::ffff:127.0.0.1]", KEEP, -1, 1 },
	{ T("GET / HTTP/1.0\r\n\r\n"), HTTP_GET, "/", "", "", OLD, -1, 0 },

	/* connection */
	{ T("GET / HTTP/1.1\r\nConnection: close\r\n" END), HTTP_GET, "/", "", "h", 0, -1, 2 },
	{ T("GET / HTTP/1.1\r\nConnection: x , CLOSE\r\n" END), HTTP_GET, "/", "", "h", 0, -1, 2 },
	{ T("GET / HTTP/1.1\r\nConnection: closed\r\n" END), HTTP_GET, "/", "", "h", KEEP, -1, 2 },
	{ T("GET / HTTP/1.1\r\nConnection: keep-alive\r\nConnection: close\r\n" END), HTTP_GET, "/",
	  "", "h", 0, -1, 3 },
	{ T("GET / HTTP/1.1\r\nConnection:\r\n" END), HTTP_GET, "/", "", "h", KEEP, -1, 2 },
	{ T("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), HTTP_GET, "/", "", "", OLD | KEEP,
	  -1, 1 },
	{ T("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n"), HTTP_GET, "/", "", "", OLD,
	  -1, 1 },

	/* lengths and codings */
	{ T("POST / HTTP/1.1\r\nContent-Length: 007\r\n" END), HTTP_POST, "/", "", "h", KEEP, 7,
	  2 },
	{ T("POST / HTTP/1.1\r\nContent-Length:\t9223372036854775807 \r\n" END), HTTP_POST, "/", "",
	  "h", KEEP, INT64_MAX, 2 },
	{ T("POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\n"), HTTP_POST, "/", "", "", OLD, 5, 1 },
	{ T("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" END), HTTP_POST, "/", "", "h",
	  KEEP | CHUNKED, -1, 2 },
	{ T("POST / HTTP/1.1\r\ntransfer-encoding:CHUNKED\r\n" END), HTTP_POST, "/", "", "h",
	  KEEP | CHUNKED, -1, 2 },
	{ T("POST / HTTP/1.1\r\nTransfer-Encoding: \t chunked\t\r\n" END), HTTP_POST, "/", "", "h",
	  KEEP | CHUNKED, -1, 2 },
	{ T("POST / HTTP/1.1\r\nTransfer_Encoding: gzip\r\nContent_Length: x\r\n" END), HTTP_POST,
	  "/", "", "h", KEEP, -1, 3 },

	/* expectations */
	{ T("POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n" END), HTTP_POST, "/",
	  "", "h", KEEP | EXPECT, 1, 3 },
	{ T("POST / HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n" END),
	  HTTP_POST, "/", "", "h", KEEP | EXPECT | CHUNKED, -1, 3 },
	{ T("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 0\r\n" END), HTTP_POST, "/",
	  "", "h", KEEP, 0, 3 },
	{ T("GET / HTTP/1.1\r\nExpect: 100-continue\r\n" END), HTTP_GET, "/", "", "h", KEEP, -1,
	  2 },
	{ T("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"), HTTP_POST, "/",
	  "", "", OLD, 1, 2 },

	/* header lines */
	{ T("GET / HTTP/1.1\r\nA:\r\nB: \x80\xff\tc\r\n" END), HTTP_GET, "/", "", "h", KEEP, -1,
	  3 },
	{ T("GET / HTTP/1.1\r\n!#$%&'*+-.^_`|~09azAZ: :\r\n" END), HTTP_GET, "/", "", "h", KEEP, -1,
	  2 },
};

static void accepts_and_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		const struct good *c = good + i;
		struct http_head h;
		struct http_refusal why;
		const int n = feed(http_parse_head, c->text, &h, &why);
		if (n != (int)c->text.n)
			fail_msg("%.*s: %d, %d %s", STR_FMT(c->text), n, why.status, why.sentence);
		assert_int_equal(h.method, c->method);
		assert_str(h.path, c->path);
		assert_str(h.query, c->query);
		assert_str(h.host, c->host);
		assert_int_equal(h.minor, c->flags & OLD ? 0 : 1);
		assert_int_equal(h.keep_alive, !!(c->flags & KEEP));
		assert_int_equal(h.chunked, !!(c->flags & CHUNKED));
		assert_int_equal(h.expect_continue, !!(c->flags & EXPECT));
		assert_int_equal(h.content_length, c->length);
		assert_int_equal(h.header_count, c->headers);
		assert_int_equal(h.status, 0);
	}
}

struct bad {
	int status;
	struct str text;
};

#define LINE(text)   T(text "\r\n" END)
#define FIELD(text)  T("GET / HTTP/1.1\r\n" text "\r\n" END)
#define POSTED(text) T("POST / HTTP/1.1\r\n" HOST text "\r\n\r\n5\r\nhello\r\n0\r\n\r\n")

static const struct bad bad[] = {
	/* request lines */
	{ 400, T("\r\n\r\nGET / HTTP/1.1\r\n" END) },
	{ 400, T("\nGET / HTTP/1.1\r\n" END) },
	{ 400, T("\rGET / HTTP/1.1\r\n" END) },
	{ 400, T("\r\n\r\n") },
	{ 400, LINE("GET /") },
	{ 400, LINE("GET") },
	{ 400, LINE("GET  / HTTP/1.1") },
	{ 400, LINE("GET /  HTTP/1.1") },
	{ 400, LINE("GET / HTTP/1.1 ") },
	{ 400, LINE(" GET / HTTP/1.1") },
	{ 400, LINE("GET / x HTTP/1.1") },
	{ 400, LINE("GET\t/ HTTP/1.1") },
	{ 400, LINE("GET /\t HTTP/1.1") },
	{ 400, LINE("GET /a\tb HTTP/1.1") },
	{ 400, LINE("G(T / HTTP/1.1") },
	{ 400, LINE("G\x80T / HTTP/1.1") },
	{ 400, LINE("G:T / HTTP/1.1") },
	{ 400, LINE(" / HTTP/1.1") },
	{ 400, LINE("GET / http/1.1") },
	{ 400, LINE("GET / HTTP/1.10") },
	{ 400, LINE("GET / HTTP/11") },
	{ 400, LINE("GET / HTTP/1,1") },
	{ 400, LINE("GET / HTTP/1.x") },
	{ 400, LINE("GET / HTTP/-1.1") },
	{ 400, LINE("GET / HTTP /1.1") },
	{ 400, LINE("GET / XTTP/1.1") },
	{ 505, LINE("GET / HTTP/0.9") },
	{ 505, LINE("GET / HTTP/1.2") },
	{ 505, LINE("GET / HTTP/2.0") },
	{ 505, LINE("GET / HTTP/3.1") },
	{ 505, T("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
	{ 400, T("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") },
	{ 400, T("GET / HTTP/1.1\nHost: h\n\n") },
	{ 400, T("GET / HTTP/1.1\rHost: h\r\r") },
	{ 400, T("GET /\0 HTTP/1.1\r\n" END) },
	{ 400, T("GET /\x7f HTTP/1.1\r\n" END) },

	/* targets */
	{ 400, LINE("GET  HTTP/1.1") },
	{ 400, LINE("GET a HTTP/1.1") },
	{ 400, LINE("GET * HTTP/1.1") },
	{ 400, LINE("GET ?a HTTP/1.1") },
	{ 400, LINE("GET /a#b HTTP/1.1") },
	{ 400, LINE("GET /\xc3\xa9 HTTP/1.1") },
	{ 400, LINE("GET o:80 HTTP/1.1") },
	{ 400, LINE("GET https://o/ HTTP/1.1") },
	{ 400, LINE("GET ftp://o/ HTTP/1.1") },
	{ 400, LINE("GET http:/o HTTP/1.1") },
	{ 400, LINE("GET http:// HTTP/1.1") },
	{ 400, LINE("GET http:///a HTTP/1.1") },
	{ 400, LINE("GET http://u@o/ HTTP/1.1") },
	{ 400, LINE("GET http://o\\x/ HTTP/1.1") },
	{ 400, LINE("GET http://[/read HTTP/1.1") },
	{ 400, LINE("GET http://]/ HTTP/1.1") },
	{ 400, LINE("GET http://[]/ HTTP/1.1") },
	{ 400, LINE("GET http://[:]/ HTTP/1.1") },
	{ 400, LINE("GET http://[::1/ HTTP/1.1") },
	{ 400, LINE("GET http://[::1]x/ HTTP/1.1") },
	{ 400, LINE("GET http://[::1]:x/ HTTP/1.1") },
	{ 400, LINE("GET http://[host]/ HTTP/1.1") },
	{ 400, LINE("GET http://a[::1]/ HTTP/1.1") },
	{ 400, LINE("GET http://::1/ HTTP/1.1") },
	{ 400, LINE("GET http://:80/ HTTP/1.1") },
	{ 400, LINE("GET http://o:80:80/ HTTP/1.1") },
	{ 400, LINE("GET http://o:-1/ HTTP/1.1") },
	{ 400, LINE("GET http://o%2/ HTTP/1.1") },
	{ 400, LINE("GET http://%zz/ HTTP/1.1") },
	{ 400, LINE("CONNECT [ HTTP/1.1") },
	{ 400, LINE("OPTIONS ** HTTP/1.1") },
	{ 400, LINE("OPTIONS *?a HTTP/1.1") },
	{ 400, LINE("CONNECT / HTTP/1.1") },
	{ 400, LINE("CONNECT http://o/ HTTP/1.1") },

	/* header lines */
	{ 400, FIELD(" A: b") },
	{ 400, FIELD("A: b\r\n c") },
	{ 400, FIELD("A: b\r\n\tc") },
	{ 400, FIELD("A: b\r\n ") },
	{ 400, FIELD("A : b") },
	{ 400, FIELD("A\t: b") },
	{ 400, FIELD("A b: c") },
	{ 400, FIELD(": b") },
	{ 400, FIELD("A") },
	{ 400, FIELD("A b") },
	{ 400, FIELD("\"A\": b") },
	{ 400, FIELD("A\xe9: b") },
	{ 400, FIELD("A[]: b") },
	{ 400, FIELD("A: b\nC: d") },
	{ 400, FIELD("A: b\rC: d") },
	{ 400, FIELD("A: b\r\rC: d") },
	{ 400, FIELD("A: b\n\r") },
	{ 400, FIELD("A: b\0") },
	{ 400, FIELD("A\0: b") },
	{ 400, FIELD("A: \x01") },
	{ 400, FIELD("A: \x0b") },
	{ 400, FIELD("A: \x1f") },
	{ 400, FIELD("A: \x7f") },

	/* hosts */
	{ 400, T("GET / HTTP/1.1\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nXHost: h\r\n\r\n") },
	{ 400, T("GET http://o/ HTTP/1.1\r\n\r\n") },
	{ 400, FIELD("Host: h") },
	{ 400, FIELD("host: other") },
	{ 400, T("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: a b\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: a\\b\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: [\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: :80\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: %\r\n\r\n") },
	{ 400, T("GET / HTTP/1.1\r\nHost: \xc3\xa9\r\n\r\n") },

	/* lengths */
	{ 400, POSTED("Content-Length:") },
	{ 400, POSTED("Content-Length: ") },
	{ 400, POSTED("Content-Length: +5") },
	{ 400, POSTED("Content-Length: -5") },
	{ 400, POSTED("Content-Length: -0") },
	{ 400, POSTED("Content-Length: 0x5") },
	{ 400, POSTED("Content-Length: 5 5") },
	{ 400, POSTED("Content-Length: 5,5") },
	{ 400, POSTED("Content-Length: 5, 6") },
	{ 400, POSTED("Content-Length: 5;") },
	{ 400, POSTED("Content-Length: 5.0") },
	{ 400, POSTED("Content-Length: 5e1") },
	{ 400, POSTED("Content-Length: \"5\"") },
	{ 400, POSTED("Content-Length: 5\r\nContent-Length: 5") },
	{ 400, POSTED("Content-Length: 5\r\nContent-Length: 6") },
	{ 400, POSTED("Content-Length: 0\r\ncontent-length: 5") },
	{ 400, POSTED("Content-Length: 9223372036854775808") },
	{ 400, POSTED("Content-Length: 18446744073709551621") },
	{ 400, POSTED("Content-Length: 99999999999999999999999999999999") },
	{ 400, POSTED("Content-Length : 5") },
	{ 400, POSTED("Content-Length\t: 5") },
	{ 400, POSTED("Content-Length: 5\x0b") },

	/* both: CL.TE and TE.CL, whatever they say */
	{ 400, POSTED("Content-Length: 5\r\nTransfer-Encoding: chunked") },
	{ 400, POSTED("Transfer-Encoding: chunked\r\nContent-Length: 5") },
	{ 400, POSTED("Transfer-Encoding: chunked\r\nContent-Length: 0") },
	{ 400, POSTED("Content-Length: 15\r\ntransfer-encoding:\tchunked") },
	{ 501, POSTED("Content-Length: 5\r\nTransfer-Encoding: identity") },
	{ 501, POSTED("Content-Length: 5\r\nTransfer-Encoding: xchunked") },

	/* codings: TE.TE with one of them disguised */
	{ 400, POSTED("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked") },
	{ 400, POSTED("Transfer-Encoding: chunked\r\nTransfer-encoding: x") },
	{ 501, POSTED("Transfer-Encoding: x\r\nTransfer-Encoding: chunked") },
	{ 501, POSTED("Transfer-Encoding: gzip") },
	{ 501, POSTED("Transfer-Encoding: gzip, chunked") },
	{ 501, POSTED("Transfer-Encoding: xchunked") },
	{ 501, POSTED("Transfer-Encoding: chunkedx") },
	{ 501, POSTED("Transfer-Encoding: chunke") },
	{ 501, POSTED("Transfer-Encoding: identity, chunked") },
	{ 400, POSTED("Transfer-Encoding: chunked, chunked") },
	{ 400, POSTED("Transfer-Encoding: chunked, gzip") },
	{ 400, POSTED("Transfer-Encoding: chunked, identity") },
	{ 400, POSTED("Transfer-Encoding: chunked ,") },
	{ 400, POSTED("Transfer-Encoding: chunked,") },
	{ 400, POSTED("Transfer-Encoding: , chunked") },
	{ 400, POSTED("Transfer-Encoding: ,") },
	{ 400, POSTED("Transfer-Encoding:") },
	{ 400, POSTED("Transfer-Encoding: chunked;q=1") },
	{ 400, POSTED("Transfer-Encoding: chunked x") },
	{ 400, POSTED("Transfer-Encoding: \"chunked\"") },
	{ 400, POSTED("Transfer-Encoding: 'chunked' ()") },
	{ 400, POSTED("Transfer-Encoding: chunked\x0b") },
	{ 400, POSTED("Transfer-Encoding: \x0b"
		      "chunked") },
	{ 400, POSTED("Transfer-Encoding: chunked\0") },
	{ 400, POSTED("Transfer-Encoding: \xa0"
		      "chunked") },
	{ 400, POSTED("Transfer-Encoding : chunked") },
	{ 400, POSTED(" Transfer-Encoding: chunked") },
	{ 400, POSTED("X: y\r\n Transfer-Encoding: chunked") },
	{ 400, POSTED("X: y\nTransfer-Encoding: chunked") },
	{ 400, POSTED("Transfer-Encoding:\n chunked") },
	{ 400, POSTED("Transfer-Encoding:\r\n chunked") },
	{ 400, POSTED("Transfer\0-Encoding: chunked") },
	{ 400, T("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") },

	/* expectations */
	{ 417, POSTED("Expect: x") },
	{ 417, POSTED("Expect:") },
	{ 417, POSTED("Expect: 100-continue, x") },
	{ 417, T("GET / HTTP/1.0\r\nExpect: x\r\n\r\n") },
};

static void refuses_with_the_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct http_head h;
		struct http_refusal why;
		const int n = feed(http_parse_head, bad[i].text, &h, &why);
		if (n != -1 || why.status != bad[i].status)
			fail_msg("%.*s: %d, %d instead of %d", STR_FMT(bad[i].text), n, why.status,
				 bad[i].status);
	}
}

static void waits_while_the_head_is_legal(void **state)
{
	static const char *const start[] = { "",
					     "\r",
					     "\r\n",
					     "\r\n\r",
					     "GE",
					     "GET / HTTP/1.1",
					     "GET / HTTP/1.1\r",
					     "GET / HTTP/1.1\r\n",
					     "G\xff",
					     "GET / HTTP/1.1\r\nHost: h\r\n\r" };

	(void)state;
	for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
		struct http_head h;
		struct http_refusal why;
		assert_int_equal(feed(http_parse_head, str_of(start[i]), &h, &why), 0);
	}
}

static void a_wrong_request_line_needs_no_headers(void **state)
{
	struct http_head h;
	struct http_refusal why;

	(void)state;
	assert_int_equal(feed(http_parse_head, STR("GET /\r\n"), &h, &why), -1);
	assert_int_equal(why.status, 400);
	assert_int_equal(feed(http_parse_head, STR("GET / HTTP/2.0\r\n"), &h, &why), -1);
	assert_int_equal(why.status, 505);
}

static void what_follows_is_left_alone(void **state)
{
	struct http_head h;
	struct http_refusal why;
	struct http_scan scan = { 0 };
	struct str in = STR("GET /1 HTTP/1.1\r\n" END "GET /2 HTTP/1.1\r\n" END "\n\0");
	const int one = http_parse_head(in, &scan, &h, &why);

	(void)state;
	assert_int_equal(one, sizeof("GET /1 HTTP/1.1\r\n" END) - 1);
	assert_str(h.path, "/1");
	in = str_from(in, (size_t)one);
	assert_int_equal(http_parse_head(in, &scan, &h, &why), one);
	assert_str(h.path, "/2");
}

static void headers_are_found_in_any_case(void **state)
{
	const struct str in = STR("GET / HTTP/1.1\r\nORIGIN:  null \r\norigin: b\r\nX:\r\n" END);
	struct http_head h;
	struct http_refusal why;
	struct http_scan scan = { 0 };

	(void)state;
	assert_int_equal(http_parse_head(in, &scan, &h, &why), in.n);
	assert_str(http_header(&h, STR("Origin")), "null");
	assert_str(http_header(&h, STR("host")), "h");
	assert_non_null(http_header(&h, STR("x")).p);
	assert_int_equal(http_header(&h, STR("x")).n, 0);
	assert_null(http_header(&h, STR("Origi")).p);
	assert_null(http_header(&h, STR("")).p);
}

/* A request whose line has `line` bytes with CRLF and whose head has `head`. */
static struct str sized(char *room, size_t line, size_t head)
{
	static const char tail[] = " HTTP/1.1\r\n" HOST "X: ";
	const size_t version = sizeof " HTTP/1.1\r\n" - 1;

	memset(room, 'a', head);
	memcpy(room, "GET /", 5);
	memcpy(room + line - version, tail, sizeof tail - 1);
	memcpy(room + head - 4, "\r\n\r\n", 4);
	return (struct str){ room, head };
}

/* Verdict for all bytes at once, and for bytes that come in small pieces. */
static int status_of(struct str text)
{
	struct http_scan scan = { 0 }, slow = { 0 };
	struct http_refusal why = { 0 }, again = { 0 };
	struct http_head h;
	const struct str in = guarded(text);
	const int n = http_parse_head(in, &scan, &h, &why);
	int trickled = 0;

	for (size_t i = 0; i <= in.n && trickled == 0; i++)
		trickled = http_parse_head(str_upto(in, i), &slow, &h, &again);
	guarded_free(in);
	assert_int_equal(n, trickled);
	assert_int_equal(why.status, again.status);
	return n > 0 ? 200 : why.status;
}

static void limits_hold_to_the_byte(void **state)
{
	char room[LIMIT_HTTP_HEAD + 64];

	(void)state;
	assert_int_equal(status_of(sized(room, LIMIT_HTTP_LINE, LIMIT_HTTP_LINE + 100)), 200);
	assert_int_equal(status_of(sized(room, LIMIT_HTTP_LINE + 1, LIMIT_HTTP_LINE + 100)), 414);
	assert_int_equal(status_of(sized(room, 100, LIMIT_HTTP_HEAD)), 200);
	assert_int_equal(status_of(sized(room, 100, LIMIT_HTTP_HEAD + 1)), 431);
	assert_int_equal(status_of(str_upto(sized(room, 9000, 9200), LIMIT_HTTP_LINE)), 414);
	assert_int_equal(status_of(str_upto(sized(room, 99, 16400), LIMIT_HTTP_HEAD)), 431);
	/* Bytes after a limit do not matter, however the bytes arrive. */
	sized(room, 100, LIMIT_HTTP_HEAD + 9);
	room[LIMIT_HTTP_HEAD] = '\0';
	assert_int_equal(status_of((struct str){ room, LIMIT_HTTP_HEAD + 9 }), 431);
}

static void headers_are_counted(void **state)
{
	char room[LIMIT_HTTP_HEAD];

	(void)state;
	for (size_t extra = 0; extra < 2; extra++) {
		size_t n = (size_t)snprintf(room, sizeof room, "GET / HTTP/1.1\r\n" HOST);
		for (size_t i = 1; i < LIMIT_HTTP_HEADERS + extra; i++)
			n += (size_t)snprintf(room + n, sizeof room - n, "A: b\r\n");
		n += (size_t)snprintf(room + n, sizeof room - n, "\r\n");
		assert_int_equal(status_of((struct str){ room, n }), extra ? 431 : 200);
	}
}

/* Quadratic work on 16 KiB in single bytes would be 2^27 steps a head: this would take minutes. */
static void single_bytes_do_not_add_up(void **state)
{
	char room[LIMIT_HTTP_HEAD + 64];
	const struct str in = sized(room, LIMIT_HTTP_LINE, LIMIT_HTTP_HEAD);

	(void)state;
	for (size_t round = 0; round < 200; round++) {
		struct http_scan scan = { 0 };
		struct http_head h;
		struct http_refusal why;
		int n = 0;
		for (size_t i = 1; i <= in.n && n == 0; i++)
			n = http_parse_head(str_upto(in, i), &scan, &h, &why);
		assert_int_equal(n, in.n);
	}
}

struct response {
	struct str text;
	int status;
	const char *reason;
	int flags;
	int64_t length;
};

static const struct response responses[] = {
	{ T("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), 200, "OK", KEEP, 2 },
	{ T("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n"), 200, "", KEEP, 2 },
	{ T("HTTP/1.1 404 Not Found\t\xe9\r\nContent-Length: 0\r\n\r\n"), 404, "Not Found\t\xe9",
	  KEEP, 0 },
	{ T("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), 200, "OK", KEEP | CHUNKED,
	  -1 },
	{ T("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"), 200,
	  "OK", CHUNKED, -1 },
	{ T("HTTP/1.1 200 OK\r\n\r\n"), 200, "OK", 0, -1 },
	{ T("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n"), 200, "OK", OLD, 1 },
	{ T("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n"), 200, "OK",
	  OLD | KEEP, 1 },
	{ T("HTTP/1.1 100 Continue\r\n\r\n"), 100, "Continue", KEEP, 0 },
	{ T("HTTP/1.1 204 No Content\r\n\r\n"), 204, "No Content", KEEP, 0 },
	{ T("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), 304, "Not Modified", KEEP,
	  0 },
	{ T("HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n"), 204, "x", KEEP, 0 },
	{ T("HTTP/1.1 200 OK\r\nExpect: x\r\nContent-Length: 0\r\n\r\n"), 200, "OK", KEEP, 0 },
};

static void responses_are_read_by_the_same_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
		const struct response *c = responses + i;
		struct http_head h;
		struct http_refusal why;
		const int n = feed(http_parse_response_head, c->text, &h, &why);
		if (n != (int)c->text.n)
			fail_msg("%.*s: %d, %s", STR_FMT(c->text), n, why.sentence);
		assert_int_equal(h.status, c->status);
		assert_str(h.reason, c->reason);
		assert_int_equal(h.minor, c->flags & OLD ? 0 : 1);
		assert_int_equal(h.keep_alive, !!(c->flags & KEEP));
		assert_int_equal(h.chunked, !!(c->flags & CHUNKED));
		assert_int_equal(h.content_length, c->length);
	}
}

static const struct str bad_responses[] = {
	T("\r\nHTTP/1.1 200 OK\r\n\r\n"),
	T("HTTP/1.1 200\r\n\r\n"),
	T("HTTP/1.1  200 OK\r\n\r\n"),
	T("HTTP/1.1 20 OK\r\n\r\n"),
	T("HTTP/1.1 2000 OK\r\n\r\n"),
	T("HTTP/1.1 099 OK\r\n\r\n"),
	T("HTTP/1.1 600 OK\r\n\r\n"),
	T("HTTP/1.1 -20 OK\r\n\r\n"),
	T("HTTP/1.1 2x0 OK\r\n\r\n"),
	T("HTTP/2.0 200 OK\r\n\r\n"),
	T("ICY 200 OK\r\n\r\n"),
	T("HTTP/1.1 200 OK\n\n"),
	T("HTTP/1.1 200 O\0K\r\n\r\n"),
	T("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"),
	T("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"),
	T("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
	T("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
	T("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
};

static void wrong_responses_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad_responses / sizeof *bad_responses; i++) {
		struct http_head h;
		struct http_refusal why;
		if (feed(http_parse_response_head, bad_responses[i], &h, &why) != -1)
			fail_msg("accepted: %.*s", STR_FMT(bad_responses[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_and_decides),
		cmocka_unit_test(refuses_with_the_status),
		cmocka_unit_test(waits_while_the_head_is_legal),
		cmocka_unit_test(a_wrong_request_line_needs_no_headers),
		cmocka_unit_test(what_follows_is_left_alone),
		cmocka_unit_test(headers_are_found_in_any_case),
		cmocka_unit_test(limits_hold_to_the_byte),
		cmocka_unit_test(headers_are_counted),
		cmocka_unit_test(single_bytes_do_not_add_up),
		cmocka_unit_test(responses_are_read_by_the_same_rules),
		cmocka_unit_test(wrong_responses_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
