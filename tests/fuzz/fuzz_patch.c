/* SPDX-License-Identifier: MIT */
/* Patches: the first byte gives the format, a NUL separates the patch and the content of every file
 * that it changes. What a plan says it adds and removes must be the difference in lines. */

#include <stdint.h>
#include <stdlib.h>

#include "patch/patch.h"
#include "tools/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t lines_of(struct str s)
{
	int64_t n = s.n && s.p[s.n - 1] != '\n';

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

static void check_file(const struct patch *p, const struct patch_file *f, struct str old,
		       struct arena *a)
{
	AUTO_BUF new = { .max = LIMIT_EDIT_BYTES };
	struct plan plan;
	struct err e;

	if (f->kind == PATCH_ADD)
		old.n = 0;
	if (f->path.n == 0 || (f->kind >= PATCH_MOVE) != (f->from.n > 0))
		abort();
	if (plan_file(p, f, old, a, &new, &plan, &e) < 0) {
		if (new.n || e.code == ERR_NONE)
			abort();
		return;
	}
	/* A v4a line can end with CR, and a deleted file need not be empty. */
	if (p->format == PATCH_V4A)
		return;
	if (lines_of(buf_str(&new)) != lines_of(old) + plan.added - plan.removed)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str all = { (const char *)data, size };
	struct str text, old;
	struct patch patch;
	struct err e;
	AUTO_ARENA a = { .max = 64 << 20 };

	if (size == 0)
		return 0;
	(void)str_cut(str_from(all, 1), 0, &text, &old);
	/* A quick look finds a part of the text, or nothing. */
	const struct str first = patch_first_path(text);
	if (first.n && (first.p < text.p || first.p + first.n > text.p + text.n))
		abort();
	if (patch_parse(text, (enum patch_format)(data[0] % 4), data[0] & 4 ? 1 : PATCH_STRIP_AUTO,
			&a, &patch, &e) < 0)
		return 0;
	for (size_t i = 0; i < patch.count; i++)
		check_file(&patch, &patch.files[i], old, &a);
	return 0;
}
