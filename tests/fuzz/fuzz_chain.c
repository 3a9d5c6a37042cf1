/* SPDX-License-Identifier: MIT */
/* A file of lines that should vouch for each other, checked and gone on from. What is found lies in
 * the text, and a text in which nothing is wrong is a chain. */

#include <stdint.h>
#include <stdlib.h>

#include "base/own.h"
#include "service/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tally {
	int64_t count, last;
};

static void count(void *arg, const struct chain_finding *f)
{
	struct tally *t = arg;

	if (f->line < t->last || f->line < 1 || f->first > f->last)
		abort();
	t->last = f->line;
	t->count++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = { (const char *)data, size };
	struct chain c = chain_begin(size % 2 ? STR("key") : STR("")), again = c;
	struct tally t = { 0 };
	struct chain_report r;
	struct err e;

	if (chain_check(&c, text, count, &t, &r, &e) < 0)
		return 0;
	if (t.count != r.faults || t.last > r.lines || r.good > r.lines)
		abort();
	if (r.faults == 0 && r.good != r.lines)
		abort();
	if (r.faults == 0 && size && (!chain_resume(&again, text) || again.seq != c.seq))
		abort();
	return 0;
}
