/* SPDX-License-Identifier: MIT */
/* sink: make each piece fit to be shown, and hand it to all who take it. */

#include "tools/sink.h"

#include "tools/limits.h"

void sink_init(struct sink *s, const struct call *c, enum sink_form form, struct sink_taker *own)
{
	*s = (struct sink){ .call = c, .form = form, .own = own };
	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++)
		s->streams[i] = (struct sink_stream){
			.scrubber = { .rules = c->shared->secrets,
				      .counts = c->scrub ? c->shared->scrubbed : NULL },
			.plain = { .max = LIMIT_SCREEN_ASIDE },
			.clean = { .max = LIMIT_SCREEN_ASIDE + 4 * LIMIT_SCRUB_HELD },
		};
}

/* The takers one after the other: first those of the call, then the tool's own. */
static struct sink_taker *next_of(const struct sink *s, const struct sink_taker *t)
{
	struct sink_taker *next = t ? t->next : s->call->takers;

	return next || t == s->own ? next : s->own;
}

int sink_begin(const struct sink *s)
{
	for (struct sink_taker *t = NULL; (t = next_of(s, t));)
		if (t->begin && t->begin(t->arg, s->call->about.number) < 0)
			return -1;
	return 0;
}

/* Whether secrets have to be looked for. */
static bool must_clean(const struct sink *s)
{
	for (const struct sink_taker *t = NULL; (t = next_of(s, t));)
		if (t->clean)
			return true;
	return false;
}

/* Hand a text that is fit to be shown to all. `last`: the stream has ended. */
static int hand_out(struct sink *s, enum proc_stream which, struct str text, size_t bytes,
		    bool last)
{
	struct sink_stream *stream = &s->streams[which];
	struct str clean = STR("");

	if (must_clean(s)) {
		buf_reset(&stream->clean, SIZE_MAX);
		scrubber_feed(&stream->scrubber, text, &stream->clean);
		if (last)
			scrubber_end(&stream->scrubber, &stream->clean);
		if (stream->clean.failed)
			s->failed = true;
		clean = buf_str(&stream->clean);
	}
	if (s->failed)
		return -1;
	for (struct sink_taker *t = NULL; (t = next_of(s, t));) {
		const struct str piece = t->clean ? clean : text;
		if ((piece.n || bytes) && t->take(t->arg, which == PROC_STDERR, piece, bytes) < 0)
			return -1;
	}
	return 0;
}

int sink_write(void *sink, enum proc_stream which, struct str piece)
{
	struct sink *s = sink;
	struct sink_stream *stream = &s->streams[which];
	struct str part;

	stream->bytes += (int64_t)piece.n;
	if (s->form == SINK_SCREEN) {
		const struct str plain = screen_feed(&stream->screen, piece, &stream->plain);
		s->failed |= stream->plain.failed;
		return hand_out(s, which, plain, piece.n, false);
	}
	while ((part = utf8_take(&stream->cut, &piece)).n)
		if (hand_out(s, which, part, part.n, false) < 0)
			return -1;
	return 0;
}

int sink_end(struct sink *s, struct err *e)
{
	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		struct sink_stream *stream = &s->streams[i];
		const struct str rest = s->form == SINK_SCREEN
						? screen_end(&stream->screen, &stream->plain)
						: utf8_rest(&stream->cut);
		s->failed |= stream->plain.failed;
		(void)hand_out(s, (enum proc_stream)i, rest,
			       s->form == SINK_CHARACTERS ? rest.n : 0, true);
		/* It may be long until the result is shown. */
		buf_done(&stream->plain);
		buf_done(&stream->clean);
	}
	return s->failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory for the output") : 0;
}

void sink_done(struct sink *s)
{
	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		screen_done(&s->streams[i].screen);
		scrubber_done(&s->streams[i].scrubber);
		buf_done(&s->streams[i].plain);
		buf_done(&s->streams[i].clean);
	}
}
