/* SPDX-License-Identifier: MIT */
/* fit: count bytes as they will be sent. */

#include "results/fit.h"

#include "base/bytes.h"
#include "base/jw.h"
#include "base/utf8.h"

struct fit fit_of(const struct way *out)
{
	return (struct fit){
		.bytes = way_room(out),
		.lines = out->c->size.lines ? out->c->size.lines : INT64_MAX,
		.escaped = !out->text,
	};
}

int64_t fit_cost(const struct fit *f, struct str text)
{
	return (int64_t)(f->escaped ? jw_escaped_length(text) : utf8_replaced_length(text));
}

/* The whole lines at the start of the text that fit; *count is how many. */
static struct str fit_lines(const struct fit *f, struct str text, int64_t more, int64_t *count)
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

/* The start of a line that fits, in whole characters. */
static struct str fit_start(const struct fit *f, struct str line)
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

struct ends fit_whole(struct str text)
{
	/* Nothing is added to it, so that its bytes stay as they are. */
	return (struct ends){
		.bytes = (char *)(text.n ? text.p : ""),
		.head = text.n,
		.total = (int64_t)text.n,
		.lines = (int64_t)bytes_count(text, '\n'),
	};
}

/* Show less of a text, which takes `cost` bytes, so that it takes at most `may`. */
static void show_less(struct fit_text *t, int64_t cost, int64_t may)
{
	const int64_t bytes = (int64_t)(t->shown.head.n + t->shown.tail.n) * may / cost;

	t->limit.bytes = bytes < t->limit.bytes ? bytes : t->limit.bytes / 2;
}

int fit_ends(const struct fit *f, struct fit_text *texts, size_t count, struct arena *a,
	     struct err *e)
{
	/* Bytes that are not escaped are limited already. */
	const bool counted = f->escaped && f->bytes < INT64_MAX;

	for (;;) {
		int64_t all = 0, most = 0;
		size_t longest = 0;
		for (size_t i = 0; i < count; i++) {
			struct fit_text *t = &texts[i];
			t->shown = (struct ends_shown){ .head = STR("") };
			if (t->all && ends_show(t->all, &t->limit, a, &t->shown, e) < 0)
				return -1;
			const int64_t cost =
				!counted ? 0
					 : fit_cost(f, t->shown.head) + fit_cost(f, t->shown.tail);
			longest = cost > most ? i : longest;
			most = cost > most ? cost : most;
			all += cost;
		}
		if (all <= f->bytes || most == 0)
			return 0;
		const int64_t left = f->bytes - (all - most), half = f->bytes / 2;
		show_less(&texts[longest], most, left > half ? left : half);
	}
}
