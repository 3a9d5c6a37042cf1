/* SPDX-License-Identifier: MIT */
/* truncation: what was left out of a text, described. */

#include "tools/truncation.h"

static const char *const reasons[] = { "lines", "bytes", NULL };

const struct field truncation_fields[] = {
	{ "content", "What is left of the text", FIELD_STR },
	{ "truncated", "Whether something was left out", FIELD_BOOL },
	{ "truncatedBy", "Which limit came first", FIELD_STR, FIELD_NULLABLE, .choices = reasons },
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
