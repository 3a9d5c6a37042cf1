/* SPDX-License-Identifier: MIT */
/*
 * utf8_splits: characters and broken characters, split at every place into 1 to n pieces.
 *
 * To judge code that passes on a stream: whatever the reads were, the reader sees the same text, in
 * which each part is valid or replaced on its own.
 */
#ifndef TESTS_UTF8_SPLITS_H
#define TESTS_UTF8_SPLITS_H

#include "base/jw.h"
#include "base/own.h"
#include "base/utf8.h"
#include "unit.h"

#define SPLIT(text)                                                                                \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

/* No longer than eight bytes: an int has a bit for each place to split one. */
static const struct str split_texts[] = {
	SPLIT("\xc3\xa9"),
	SPLIT("\xe2\x82\xac"),
	SPLIT("\xf0\x9f\x99\x82"),
	SPLIT("a\xc3\xa9z\xe2\x82\xac"),
	SPLIT("\xe2\x82\xac\xf0\x9f\x99\x82"),
	SPLIT("\xf0\x9f\x99\x82\xf0\x9f\x99\x82"),
	/* The first character ends early, because of plain text, another character, or the end. */
	SPLIT("\xc3z"),
	SPLIT("\xe2\x82z"),
	SPLIT("\xf0\x9f\x99z"),
	SPLIT("\xf0\xc3\xa9"),
	SPLIT("\xf0\x9f\xe2\x82\xac"),
	SPLIT("\xf0\x9f\x99\xf0\x9f\x99\x82"),
	SPLIT("\xe2\xe2\xe2\xe2\x82\xac"),
	SPLIT("\xf0\x9f\xc3\xf0\x9f\x99\x82"),
	SPLIT("a\xf0\x9f\x99"),
	/* Bytes that cannot be where they are: overlong, surrogate, too large, stray. */
	SPLIT("\xc0\xaf"),
	SPLIT("\xe0\x80\xaf"),
	SPLIT("\xf0\x80\x80\xaf"),
	SPLIT("\xed\xa0\x80"),
	SPLIT("\xf4\x90\x80\x80"),
	SPLIT("\x80\xbf\x80\xbf"),
	SPLIT("\xf0\x9f\x99\x82\x82\xff\xc3"),
};

/* How many ways there are to split a text: bit i is set when a piece ends after byte i. */
static inline unsigned split_ways(struct str text)
{
	return 1u << (text.n - 1);
}

/* The next piece of what is left of a text. */
static inline struct str split_next(struct str text, struct str *rest, unsigned way)
{
	const size_t from = text.n - rest->n;
	size_t to = from + 1;

	while (to < text.n && !(way >> (to - 1) & 1))
		to++;
	*rest = str_from(text, to);
	return (struct str){ text.p + from, to - from };
}

/* Add a part as a client sees it: what is not valid on its own is replaced. */
static inline void split_show(struct buf *seen, struct str part)
{
	jw_escape(seen, part);
}

static inline void assert_seen_whole(const struct buf *seen, struct str text, unsigned way)
{
	AUTO_BUF want = { .max = 1 << 10 };

	jw_escape(&want, text);
	if (!str_eq(buf_str(seen), buf_str(&want)))
		fail_msg("split %#x: got \"%.*s\", want \"%.*s\"", way, STR_FMT(buf_str(seen)),
			 STR_FMT(buf_str(&want)));
}

#endif
