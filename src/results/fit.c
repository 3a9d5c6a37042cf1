/* SPDX-License-Identifier: MIT */
/* fit: count bytes as they will be sent. */

#include "results/fit.h"

#include "base/jw.h"
#include "base/utf8.h"

struct fit fit_of(const struct call *c)
{
	return (struct fit){
		.bytes = call_room(c),
		.lines = c->max_lines ? c->max_lines : INT64_MAX,
		.escaped = !c->text,
	};
}

int64_t fit_cost(const struct fit *f, struct str text)
{
	return (int64_t)(f->escaped ? jw_escaped_length(text) : utf8_replaced_length(text));
}

struct str fit_lines(const struct fit *f, struct str text, int64_t more, int64_t *count)
{
	const int64_t newline = f->escaped ? 2 : 1;
	struct str rest = text, line;
	int64_t left = f->bytes;
	size_t end = 0;

	*count = 0;
	for (bool follows = true; follows && *count < f->lines; ++*count) {
		follows = str_cut(rest, '\n', &line, &rest);
		const int64_t cost = fit_cost(f, line) + more + (*count ? newline : 0);
		if (cost > left)
			break;
		left -= cost;
		end = (size_t)(line.p + line.n - text.p);
	}
	return str_upto(text, end);
}

struct str fit_start(const struct fit *f, struct str line)
{
	struct str start = str_upto(line, f->bytes < (int64_t)line.n ? (size_t)f->bytes : line.n);

	start.n = utf8_whole(start);
	while (start.n && fit_cost(f, start) > f->bytes)
		start.n = utf8_whole(str_upto(start, start.n / 2));
	return start;
}

void fit_page(const struct fit *f, int64_t more, struct page *p)
{
	struct text *t = &p->text;
	int64_t count = t->out_lines;

	if (f->bytes < INT64_MAX && t->content.n) {
		struct str shown = fit_lines(f, t->content, more, &count), line, rest;
		if (!count) {
			(void)str_cut(t->content, '\n', &line, &rest);
			shown = fit_start(f, line);
			p->left_out +=
				(int64_t)(utf8_replaced_length(line) - utf8_replaced_length(shown));
			count = 1;
		}
		if (count < t->out_lines) {
			t->cut = TEXT_CUT_BYTES;
			t->out_lines = count;
			p->next = p->first + count;
		}
		t->content = shown;
	}
	if (p->next > t->total_lines)
		p->next = 0;
	p->whole = p->first == 1 && !p->next && !p->left_out && t->out_lines == t->total_lines;
}

struct diff_head fit_diff(const struct fit *f, int64_t lines, struct str diff)
{
	int64_t bytes = f->bytes;
	struct diff_head head = diff_cut(diff, lines, bytes);

	while (head.text.n && fit_cost(f, head.text) > f->bytes) {
		bytes = bytes / 4 * 3;
		head = diff_cut(diff, lines, bytes);
	}
	return head;
}
