/* SPDX-License-Identifier: MIT */
/* limits: of HTTP and sockets; base/limits.h has those that others share. */
#ifndef NET_LIMITS_H
#define NET_LIMITS_H

#include "base/limits.h"

enum {
	/* The start line within it: RFC 9112 recommends to support at least 8000. */
	LIMIT_HTTP_LINE = 8 << 10,
	/* Headers of a message, 32 bytes each: browsers send some 20, proxies add a few. */
	LIMIT_HTTP_HEADERS = 64,
	/* A line with the size of a chunk: 15 digits, and extensions, which are hardly used. */
	LIMIT_HTTP_CHUNK_LINE = 256,
	/* Extensions of all chunks of one body: without this limit a body of one-byte chunks could
	 * cost hundreds of times its size. */
	LIMIT_HTTP_EXTENSIONS = 16 << 10,
	/* Trailers after a chunked body; they are dropped. */
	LIMIT_HTTP_TRAILERS = 8 << 10,

	/* How long a request head may take from its first byte, and a body from its head; how long
	 * a client may take to read an answer, and leave a connection idle. */
	LIMIT_HEAD_MS = 10000,
	LIMIT_BODY_MS = 60000,
	LIMIT_ANSWER_MS = 60000,
	LIMIT_IDLE_MS = 300000,

	/* A stream ends when its client reads nothing for this long. */
	LIMIT_STALL_MS = 300000,

	/* How long, and how much, a refused client may still send before its connection is closed:
	 * the rest of a body that is too large, and what was on its way. */
	LIMIT_REFUSED_MS = 5000,
	LIMIT_REFUSED_BYTES = 128 << 20,

	/* multipart/form-data: the boundary as RFC 2046 limits it; the head of a part; parts. */
	LIMIT_MULTIPART_BOUNDARY = 70,
	LIMIT_MULTIPART_HEAD = 8 << 10,
	LIMIT_MULTIPART_PARTS = 64,

	/* A socket on which a server still listens after this long belongs to a living server. */
	LIMIT_STALE_MS = 500,
};

#endif
