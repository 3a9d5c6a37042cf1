/* SPDX-License-Identifier: MIT */
/* news: server-sent events, line by line. */

#include "watch/news.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "watch/limits.h"

static void take_line(struct news *s, struct str line)
{
	const struct str id = STR("id: "), data = STR("data: ");
	const struct json *event;
	struct err e;

	if (str_starts(line, id) && line.n - id.n < sizeof s->last) {
		memcpy(s->last, line.p + id.n, line.n - id.n);
		s->last[line.n - id.n] = '\0';
	}
	if (!str_starts(line, data))
		return;
	const struct str text = str_from(line, data.n);
	if (json_parse(text, &s->arena, &event, &e) == 0)
		s->event(s->arg, event, text);
	arena_reset(&s->arena);
}

static int take_piece(void *arg, struct str piece, struct err *e)
{
	struct news *s = arg;
	struct str line;
	enum lines_got got;

	while (piece.n) {
		size_t room;
		char *to = lines_room(&s->lines, &room);
		if (!to)
			return err_set(e, ERR_TOO_BUSY, "Not enough memory");
		const size_t n = piece.n < room ? piece.n : room;
		memcpy(to, piece.p, n);
		lines_filled(&s->lines, n);
		piece = str_from(piece, n);
		while ((got = lines_next(&s->lines, &line)) != LINES_MORE)
			if (got == LINES_LINE)
				take_line(s, line);
	}
	s->pause(s->arg);
	return 0;
}

int news_read(struct news *s, struct err *e)
{
	const struct request q = { .method = "GET",
				   .target = s->from_start ? "/events?since=0" : "/events",
				   .cancel = s->cancel,
				   .piece = take_piece,
				   .arg = s };
	CLEANUP(answer_done)
	struct answer answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } };
	char extra[160] = "Accept: text/event-stream\r\n";

	lines_done(&s->lines);
	s->lines = (struct lines){ .max = LIMIT_STREAM_EVENT };
	s->arena.max = 16 * (size_t)LIMIT_STREAM_EVENT;
	if (*s->last)
		(void)snprintf(extra, sizeof extra,
			       "Accept: text/event-stream\r\nLast-Event-ID: %s\r\n", s->last);
	if (subject_request(s->target, &q, extra, LIMIT_STREAM_SILENCE_MS, &answer, e) < 0)
		return -1;
	if (answer.status == 401)
		return err_set(e, ERR_UNAUTHORIZED,
			       "The sidecar wants a token: give it with --token-file, or in "
			       "SIDECAR_AUTH_TOKEN");
	if (answer.status == 404 || answer.status == 405)
		return err_set(e, ERR_BAD_ANSWER,
			       "This sidecar cannot be watched: it is older, or runs with --events "
			       "off");
	if (answer.status != 200)
		return err_set(e, ERR_BAD_ANSWER, "The sidecar answered with status %d",
			       answer.status);
	return err_set(e, ERR_CONNECTION_LOST, "The sidecar has ended the stream");
}

void news_done(struct news *s)
{
	lines_done(&s->lines);
	arena_done(&s->arena);
}
