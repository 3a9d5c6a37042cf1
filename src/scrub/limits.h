/* SPDX-License-Identifier: MIT */
/* limits: every number that limits finding secrets, with its reason. */
#ifndef SCRUB_LIMITS_H
#define SCRUB_LIMITS_H

enum {
	/* Configured secrets: shorter ones would be found everywhere; longer ones, which
	 * URL-encoding triples, would make a stream hold back too much. */
	LIMIT_SCRUB_SECRET_MIN = 6,
	LIMIT_SCRUB_SECRET_MAX = 2048,
	LIMIT_SCRUB_SECRETS = 64,

	/* The operator's patterns: how many, the largest count in one, and the longest name. */
	LIMIT_SCRUB_PATTERNS = 64,
	LIMIT_SCRUB_PATTERN_RUN = 1024,
	LIMIT_SCRUB_PATTERN_NAME = 32,

	/* How many characters of a token are checked for digits; the part of a URL before the host;
	 * an assigned value; the first part of a JWT. Each bounds what a stream holds back. */
	LIMIT_SCRUB_TOKEN_LOOK = 64,
	LIMIT_SCRUB_AUTHORITY = 256,
	LIMIT_SCRUB_VALUE = 256,
	LIMIT_SCRUB_JWT_HEAD = 1024,

	/* The longest part of a name before its "password", and the most blanks at the beginning of a
	 * line, that are looked at to find its line. With a word between them they fit into
	 * SCRUB_BEFORE. */
	LIMIT_SCRUB_NAME = 64,
	LIMIT_SCRUB_INDENT = 32,

	/* A private key: within how many bytes its body or its end must begin, and the longest body
	 * (RSA with 16384 bits has 12.5 KB). */
	LIMIT_SCRUB_KEY_PROOF = 512,
	LIMIT_SCRUB_KEY_BODY = 16 << 10,

	/* How much is added to held text at once. */
	LIMIT_SCRUB_STEP = 4 << 10,
};

#endif
