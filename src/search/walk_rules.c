/* SPDX-License-Identifier: MIT */
/* walk_rules: which ignore files hold in a directory, and what they say together. */

#include "base/limits.h"
#include "base/own.h"
#include "search/walk_list.h"

static struct ignore *rules_of(int fd, const char *const path[], size_t components, size_t depth,
			       struct ignore *up)
{
	AUTO_BUF text = { .max = LIMIT_IGNORE_BYTES };

	dir_read_small(fd, path, components, &text);
	return ignore_new(buf_str(&text), depth, up);
}

/* Add what the directory behind fd says, whose path is `depth` bytes long. A repository begins
 * anew: no .gitignore above it counts, only its own exclude file and the user's. */
static void add_rules(struct walk *w, struct dir *d, int fd, const struct rule_files *has,
		      size_t depth)
{
	static const char *const gitignore[] = { ".gitignore" };
	static const char *const ignore[] = { ".ignore" };
	static const char *const exclude[] = { ".git", "info", "exclude" };

	if (has->git) {
		ignore_drop(d->git);
		d->git = ignore_new(w->request->excludes, depth, NULL);
		d->git = rules_of(fd, exclude, ARRAY_LEN(exclude), depth, d->git);
	}
	if (has->gitignore)
		d->git = rules_of(fd, gitignore, ARRAY_LEN(gitignore), depth, d->git);
	if (has->ignore)
		d->dot = rules_of(fd, ignore, ARRAY_LEN(ignore), depth, d->dot);
}

void walk_rules(struct walk *w, struct dir *d, int fd, const struct rule_files *has, size_t depth)
{
	if (d->up) {
		d->git = ignore_hold(d->up->git);
		d->dot = ignore_hold(d->up->dot);
	}
	add_rules(w, d, fd, has, depth);
}

void walk_parent_rules(struct walk *w)
{
	const struct walk_request *r = w->request;
	struct dir *root = w->dirs.root;
	size_t depth = 0;

	if (r->all)
		return;
	root->git = ignore_new(r->excludes, 0, NULL);
	for (size_t i = 0; i < r->parent_count; i++) {
		const struct rule_files has = {
			.git = dir_has(r->parents[i], ".git"),
			.gitignore = true,
			.ignore = true,
		};

		add_rules(w, root, r->parents[i], &has, depth);
		const ptrdiff_t slash = str_index(str_from(w->base, depth), '/');
		depth += (size_t)(slash + 1);
	}
}

bool walk_is_ignored(const struct dir *d, struct str path, size_t name_at, bool is_dir)
{
	enum ignore_verdict v = ignore_match(d->dot, path, name_at, is_dir);

	if (v == IGNORE_SILENT)
		v = ignore_match(d->git, path, name_at, is_dir);
	return v == IGNORE_YES;
}
