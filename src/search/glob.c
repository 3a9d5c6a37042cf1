/* SPDX-License-Identifier: MIT */
/* glob: from a caller's pattern to a wildcard pattern and the part of the path it applies to; and a
 * walk that reports the entries whose path matches. */

#include "search/glob.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/own.h"
#include "search/dir.h"
#include "search/spread.h"
#include "search/wild.h"

struct glob {
	struct wild *wild;
	bool negated;
	bool dirs_only;
	bool whole_path;
};

bool glob_has_upper(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= 'A' && s.p[i] <= 'Z')
			return true;
	return false;
}

/* Remove "./", "/" and, where only a name follows, "**" with "/" from the front. */
static struct str strip_front(struct str p, bool *whole_path)
{
	const struct str deep = STR("**/");

	*whole_path = str_index(p, '/') >= 0;
	while (str_starts(p, STR("./")))
		p = str_from(p, 2);
	if (str_starts(p, STR("/")))
		p = str_from(p, 1);
	if (str_starts(p, deep) && str_index(str_from(p, deep.n), '/') < 0) {
		*whole_path = false;
		return str_from(p, deep.n);
	}
	return p;
}

int glob_new(struct str pattern, unsigned flags, struct glob **ret, struct err *e)
{
	struct glob g = { 0 };
	AUTO_BUF text = { .max = LIMIT_GLOB_BYTES + 2 };
	struct str p = pattern;

	if (flags & GLOB_FILTER && str_starts(p, STR("!"))) {
		g.negated = true;
		p = str_from(p, 1);
	}
	/* A negated directory is left out as a whole, by its name; a wanted one means what is in
	 * it. */
	if (p.n > 1 && str_ends(p, STR("/")) && p.p[p.n - 2] != '\\') {
		g.dirs_only = !(flags & GLOB_FILTER) || g.negated;
		if (g.dirs_only)
			p.n--;
	}
	if (p.n == 0)
		return err_set(e, ERR_INVALID_GLOB, "Invalid glob: the pattern is empty");
	p = strip_front(p, &g.whole_path);
	buf_add(&text, p);
	if (str_ends(p, STR("/")))
		buf_add(&text, STR("**"));
	if (text.failed)
		return err_set(e, ERR_INVALID_GLOB, "Invalid glob: longer than %d bytes",
			       LIMIT_GLOB_BYTES);

	const bool nocase = flags & GLOB_SMART_CASE && !glob_has_upper(p);
	if (wild_new(buf_str(&text), nocase ? WILD_NOCASE : 0, &g.wild, e) < 0)
		return -1;
	struct glob *made = mem_new(1, sizeof *made);
	if (!made) {
		wild_free(g.wild);
		return err_set(e, ERR_IO_ERROR, "Out of memory");
	}
	*made = g;
	*ret = made;
	return 0;
}

void glob_free(struct glob *g)
{
	if (!g)
		return;
	wild_free(g->wild);
	mem_free(g);
}

size_t glob_lead(struct str pattern, struct buf *to)
{
	const size_t before = to->n;
	size_t lead = 0, kept = before;

	for (size_t i = 0; i < pattern.n; i++) {
		const char c = pattern.p[i];
		const bool group = i + 1 < pattern.n && pattern.p[i + 1] == '(';
		if (memchr("*?[{", c, 4) || (group && memchr("+@!", c, 3)))
			break;
		if (c == '\\' && ++i == pattern.n)
			break;
		buf_addc(to, pattern.p[i]);
		if (pattern.p[i] != '/' || i + 1 == pattern.n)
			continue;
		lead = i + 1;
		kept = to->n;
	}
	to->n = kept;
	return lead;
}

bool glob_negated(const struct glob *g)
{
	return g->negated;
}

bool glob_match(const struct glob *g, struct str path, struct str name, bool is_dir)
{
	if (g->dirs_only && !is_dir)
		return false;
	return wild_match(g->wild, g->whole_path ? path : name);
}

struct find_search {
	const struct find_request *request;
	const struct glob *glob; /* NULL: everything matches */
};

static bool is_hidden(const struct find_request *r, struct str path)
{
	return r->hides && r->hides(r->hides_arg, path);
}

static unsigned find_entry(void *search, const struct walk_entry *entry,
			   struct walk_account *account)
{
	const struct find_search *f = search;
	const bool is_dir = entry->type == HIT_DIRECTORY;
	unsigned wanted = is_dir && !is_hidden(f->request, entry->path) ? WALK_DESCEND : 0;

	account->files++;
	if (f->request->one_type && entry->type != f->request->type)
		return wanted;
	if (!f->glob || glob_match(f->glob, entry->path, entry->name, is_dir))
		wanted |= WALK_REPORT;
	return wanted;
}

static void find_report(void *search, const struct walk_entry *entry, struct hits *out)
{
	const struct find_search *f = search;
	const int64_t size = f->request->sizes ? dir_entry_size(entry->dirfd, entry->name.p) : 0;

	hits_begin(out, entry->type, f->request->prefix, entry->path);
	if (is_hidden(f->request, entry->path))
		hits_note(out, STR(" (hidden)"));
	hits_end(out, 0, 0, size);
}

int find_run(const struct find_request *r, struct found *ret, struct err *e)
{
	struct glob *glob = NULL;

	if (r->pattern.n && glob_new(r->pattern, r->exact_case ? 0 : GLOB_SMART_CASE, &glob, e) < 0)
		return -1;
	struct find_search f = { r, glob };
	const struct walk_visitor v = { .search = &f, .entry = find_entry, .report = find_report };
	const int status = spread_run(&r->where, &v, r->prefix.n, ret, e);
	glob_free(glob);
	return status;
}
