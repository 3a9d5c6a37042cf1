/* SPDX-License-Identifier: MIT */
/* parser: fill the list of files and hunks, within its limits. */

#include "patch/limits.h"
#include "patch/parser.h"

bool patch_is_fence(struct str line, char c, struct str text)
{
	size_t n = 0;

	line = patch_right_trim(line);
	while (n < line.n && line.p[n] == c)
		n++;
	return n >= 5 && n <= 9 && str_eq(str_from(line, n), text);
}

int patch_fail(struct patch_parser *p, int64_t line, const char *why)
{
	return err_set(p->e, ERR_INVALID_PATCH, "Line %lld of the patch: %s", (long long)line, why);
}

static int fail_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for this patch, try again");
}

struct patch_file *patch_add_file(struct patch_parser *p, enum patch_kind kind, struct str path)
{
	if (path.n == 0 || memchr(path.p, 0, path.n)) {
		(void)patch_fail(p, p->in.line, "the path is empty or has a NUL byte");
		return NULL;
	}
	if (p->patch->count == LIMIT_PATCH_FILES) {
		(void)err_set(p->e, ERR_INVALID_PATCH,
			      "Line %lld of the patch: it changes more than %d files, make several "
			      "patches of it",
			      (long long)p->in.line, LIMIT_PATCH_FILES);
		return NULL;
	}
	if (p->patch->count == p->room &&
	    !arena_grow(p->arena, &p->patch->files, &p->room, sizeof *p->patch->files)) {
		(void)fail_memory(p->e);
		return NULL;
	}
	struct patch_file *f = &p->patch->files[p->patch->count++];
	*f = (struct patch_file){ .kind = kind, .path = path, .line = p->in.line };
	p->last = NULL;
	return f;
}

struct patch_hunk *patch_add_hunk(struct patch_parser *p)
{
	struct patch_file *f = &p->patch->files[p->patch->count - 1];
	struct patch_hunk *h = arena_array(p->arena, 1, sizeof *h);

	if (!h) {
		(void)fail_memory(p->e);
		return NULL;
	}
	*h = (struct patch_hunk){
		.line = p->in.line, .old_start = -1, .new_start = -1, .old_said = -1, .new_said = -1
	};
	if (p->last)
		p->last->next = h;
	else
		f->hunks = h;
	p->last = h;
	f->hunk_count++;
	return h;
}

void patch_count(struct patch_hunk *h)
{
	struct patch_reader in = patch_reader_of(h->body);
	struct str line;

	h->old_count = h->new_count = 0;
	while (patch_next_line(&in, &line)) {
		const char sign = line.n ? line.p[0] : ' ';
		if (sign == '\\')
			continue;
		h->old_count += sign != '+';
		h->new_count += sign != '-';
	}
}
