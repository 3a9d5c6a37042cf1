/* SPDX-License-Identifier: MIT */
/* result: what tools ask of a call when they write its result. */

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "exec/tree.h"
#include "scrub/scrub.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "workspace/text.h"

void result_done(struct result *r)
{
	fd_closep(&r->file.fd);
	if (r->kind == RESULT_FOUND)
		found_done(&r->found.found);
}

void call_note(const struct call *c, const char *fmt, ...)
{
	struct buf *text = c->text->text;
	char room[LIMIT_RESULT_NOTES];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(room, sizeof room, fmt, ap);
	va_end(ap);
	if (text->n && text->p[text->n - 1] != '\n')
		buf_addc(text, '\n');
	buf_addf(text, "[%.*s]", (int)utf8_whole(str_of(room)), room);
}

struct str call_shown_command(const struct call *c, const char *command, size_t size)
{
	const struct str text = str_of(command);

	/* Up to three bytes of a broken character have been left out already. */
	if (!c->scrub || text.n + 4 < size)
		return text;
	return str_upto(text, scrub_decided(c->scrub, text));
}

void call_write_job(const struct call *c, const char *name, uint64_t id)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)id);
	jw_str(c->out, name, str_of(text));
}

void call_write_ports(const struct call *c, const struct port_list *ports)
{
	jw_array(c->out, "ports");
	for (size_t i = 0; i < ports->count; i++)
		jw_int(c->out, NULL, ports->port[i]);
	jw_end(c->out);
}

int call_reserve(const struct call *c, const struct edits *change, struct err *e)
{
	enum { EACH = 512 }; /* bytes of a file's members and their names, besides texts */
	struct buf *answer = c->text ? c->text->text : jw_buf(c->out);
	const size_t left = answer->max - answer->n;
	size_t need = LIMIT_ENVELOPE_END + EACH;

	for (size_t i = 0; i < change->count; i++) {
		const struct edited *f = &change->files[i];
		const size_t diff = jw_escaped_length(f->diff);
		/* A model is shown the beginning of a long one. */
		need += EACH + jw_escaped_length(f->path) + jw_escaped_length(f->from) +
			(c->for_model && diff > LIMIT_HEAD_BYTES ? LIMIT_HEAD_BYTES : diff);
	}
	if (need > left && !c->for_model)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The change is too large to be shown: write the whole file instead");
	if (!answer->failed && buf_room(answer, need < left ? need : left) && !jw_failed(c->out) &&
	    buf_room(jw_buf(c->out), LIMIT_ENVELOPE_END))
		return 0;
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer, try again");
}

static const char *const cut_words[] = { "lines", "bytes", NULL };

const struct field truncation_fields[] = {
	{ "content", "What is left of the text", FIELD_STR },
	{ "truncated", "Whether something was left out", FIELD_BOOL },
	{ "truncatedBy", "Which limit came first", FIELD_STR, FIELD_NULLABLE,
	  .choices = cut_words },
	{ "totalLines", "Lines of the selected part", FIELD_INT },
	{ "totalBytes", "Its bytes", FIELD_INT },
	{ "outputLines", "Lines that are left", FIELD_INT },
	{ "outputBytes", "Bytes that are left", FIELD_INT },
	{ "lastLinePartial", "Never: lines are whole", FIELD_BOOL },
	{ "firstLineExceedsLimit", "Whether the first line alone is too long", FIELD_BOOL },
	{ "maxLines", "The limit of lines", FIELD_INT },
	{ "maxBytes", "The limit of bytes", FIELD_INT },
	F_END,
};

void call_write_truncation(const struct call *c, const struct text *t, int64_t max_lines,
			   int64_t max_bytes)
{
	struct jw *w = c->out;

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
