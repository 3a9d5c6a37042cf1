/* SPDX-License-Identifier: MIT */
/* result: what tools ask of a call when they write its result. */

#include "scrub/scrub.h"
#include "tools/limits.h"
#include "tools/receipt.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "workspace/text.h"

void result_done(struct result *r)
{
	fd_closep(&r->file.fd);
	if (r->kind == RESULT_FOUND)
		found_done(&r->found.found);
	if (r->kind == RESULT_RECEIPT)
		receipts_free(r->receipts.first);
	if (r->kind == RESULT_JOB)
		buf_done(&r->job.piece.text);
}

int result_say(struct result *r, const struct json *members, size_t count)
{
	r->kind = RESULT_MEMBERS;
	r->members.count = count;
	for (size_t i = 0; i < count; i++)
		r->members.list[i] = members[i];
	return 0;
}

void call_limit(struct call *c, int64_t bytes)
{
	if (bytes > 0)
		c->size.bytes = c->size.most && bytes > c->size.most ? c->size.most : bytes;
}

int64_t call_room(const struct call *c)
{
	const int64_t most = c->size.bytes;

	if (!most)
		return INT64_MAX;
	return most - (most < 4 * LIMIT_RESULT_NOTES ? most / 4 : LIMIT_RESULT_NOTES);
}

struct str call_shown_command(const struct call *c, const char *command, size_t size)
{
	const struct str text = str_of(command);

	/* Up to three bytes of a broken character have been left out already. */
	if (!c->scrub || text.n + 4 < size)
		return text;
	return str_upto(text, scrub_decided(c->scrub, text));
}

int call_reserve(const struct call *c, const struct edits *change, struct err *e)
{
	return c->reserve ? c->reserve(c->reserve_arg, change, e) : 0;
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
