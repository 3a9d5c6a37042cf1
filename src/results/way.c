/* SPDX-License-Identifier: MIT */
/* way: what all kinds of results need to be shown. */

#include "results/limits.h"
#include "results/way.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "exec/tree.h"
#include "scrub/scrub.h"
#include "tools/limits.h"

int64_t way_room(const struct way *out)
{
	const size_t used = out->text ? out->text->text->n : jw_length(out->members);
	const int64_t room = call_room(out->c);

	if (room == INT64_MAX)
		return room;
	return room > (int64_t)used ? room - (int64_t)used : 0;
}

void way_note(const struct way *out, const char *fmt, ...)
{
	struct buf *text = out->text->text;
	char room[LIMIT_RESULT_NOTES];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(room, sizeof room, fmt, ap);
	va_end(ap);
	if (text->n && text->p[text->n - 1] != '\n')
		buf_addc(text, '\n');
	buf_addf(text, "[%.*s]", (int)utf8_whole(str_of(room)), room);
}

void way_clean(const struct way *out, struct buf *text, size_t from)
{
	AUTO_BUF aside = { .max = LIMIT_ANSWER };
	const struct str added = str_from(buf_str(text), from);

	if (!out->c->scrub || !added.n)
		return;
	const struct str clean = scrub_text(out->c->scrub, out->c->shared->scrubbed, added, &aside);
	/* What could not be looked at must not be seen. */
	if (aside.failed)
		text->failed = true;
	if (clean.p == added.p)
		return;
	text->n = from;
	buf_add(text, clean);
}

void way_sentence(const struct way *out, const struct sentence *s)
{
	struct buf *text = out->text->text;

	if (!s->before)
		return;
	buf_add(text, str_of(s->before));
	buf_add(text, s->name);
	buf_add(text, str_of(s->after));
}

void way_write_truncation(const struct way *out, const struct text *t, int64_t max_lines,
			  int64_t max_bytes)
{
	struct jw *w = out->members;

	jw_object(w, "truncation");
	jw_str(w, "content", t->content);
	jw_bool(w, "truncated", true);
	jw_str(w, "truncatedBy", t->cut == TEXT_CUT_LINES ? STR("lines") : STR("bytes"));
	jw_int(w, "totalLines", t->lines);
	jw_int(w, "totalBytes", t->bytes);
	jw_int(w, "outputLines", t->out_lines);
	jw_int(w, "outputBytes", t->out_bytes);
	jw_bool(w, "lastLinePartial", false);
	jw_bool(w, "firstLineExceedsLimit", t->first_too_long);
	jw_int(w, "maxLines", max_lines);
	jw_int(w, "maxBytes", max_bytes);
	jw_end(w);
}

void way_write_job(const struct way *out, const char *name, uint64_t id)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)id);
	jw_str(out->members, name, str_of(text));
}

void way_write_ports(const struct way *out, const struct port_list *ports)
{
	jw_array(out->members, "ports");
	for (size_t i = 0; i < ports->count; i++)
		jw_int(out->members, NULL, ports->port[i]);
	jw_end(out->members);
}

int way_reserve(const void *way, const struct edits *change, struct err *e)
{
	const struct way *out = way;
	enum { EACH = 512 }; /* bytes of a file's members and their names, besides texts */
	struct buf *answer = out->text ? out->text->text : jw_buf(out->members);
	const size_t left = answer->max - answer->n;
	size_t need = LIMIT_ENVELOPE_END + EACH;

	for (size_t i = 0; i < change->count; i++) {
		const struct edited *f = &change->files[i];
		const size_t diff = jw_escaped_length(f->diff);
		/* A model is shown the beginning of a long one. */
		need += EACH + jw_escaped_length(f->path) + jw_escaped_length(f->from) +
			(out->model && diff > LIMIT_HEAD_BYTES ? LIMIT_HEAD_BYTES : diff);
	}
	if (need > left && !out->model)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The change is too large to be shown: write the whole file instead");
	if (!answer->failed && buf_room(answer, need < left ? need : left) &&
	    !jw_failed(out->members) && buf_room(jw_buf(out->members), LIMIT_ENVELOPE_END))
		return 0;
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer, try again");
}
