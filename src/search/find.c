/* SPDX-License-Identifier: MIT */
/* find: a walk that reports the entries whose path matches. */

#include "search/find.h"

#include "search/dir.h"
#include "search/glob.h"

struct find_search {
	const struct find_request *request;
	const struct glob *glob; /* NULL: everything matches */
};

static unsigned find_entry(void *search, const struct walk_entry *entry,
			   struct walk_account *account)
{
	const struct find_search *f = search;
	const bool is_dir = entry->type == HIT_DIRECTORY;
	unsigned wanted = is_dir ? WALK_DESCEND : 0;

	account->files++;
	if (!f->glob || glob_match(f->glob, entry->path, entry->name, is_dir))
		wanted |= WALK_REPORT;
	return wanted;
}

static void find_report(void *search, const struct walk_entry *entry, struct hits *out)
{
	const struct find_search *f = search;
	const int64_t size = f->request->sizes ? dir_entry_size(entry->dirfd, entry->name.p) : 0;

	hits_begin(out, entry->type, f->request->prefix, entry->path);
	hits_end(out, 0, 0, size);
}

int find_run(const struct find_request *r, struct found *ret, struct err *e)
{
	struct glob *glob = NULL;

	if (r->pattern.n && glob_new(r->pattern, r->exact_case ? 0 : GLOB_SMART_CASE, &glob, e) < 0)
		return -1;
	struct find_search f = { r, glob };
	const struct walk_visitor v = { .search = &f, .entry = find_entry, .report = find_report };
	const int status = walk_run(&r->where, &v, ret, e);
	glob_free(glob);
	return status;
}
