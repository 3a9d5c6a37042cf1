/* SPDX-License-Identifier: MIT */
/* scope: open a place to search and the directories above it. */

#include "tools/scope.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "workspace/workspace.h"

void scope_done(struct scope *s)
{
	fd_closep(&s->dir);
	fd_closep(&s->file);
	while (s->parent_count)
		fd_closep(&s->parents[--s->parent_count]);
}

/* The directories above, from the base down, by the path without links. What cannot be opened ends
 * the chain: its rules would not be known. */
static int open_parents(struct call *c, const struct path *path, struct scope *s, struct err *e)
{
	struct path canonical;

	if (ws_canonical(c->ws, path, &canonical, e) < 0)
		return -1;
	s->parent_path = arena_dup(c->arena, str_of(canonical.name));
	/* A prefix of the name for each slash in it; the first is empty, the base itself. */
	for (size_t n = 0; canonical.name[n] && s->parent_count < SCOPE_PARENTS; n++) {
		struct path above = { .base = canonical.base };
		struct err ignored;
		if (n > 0 && canonical.name[n] != '/')
			continue;
		memcpy(above.name, canonical.name, n);
		const int fd = ws_open_dir(c->ws, &above, &ignored);
		if (fd < 0)
			break;
		s->parents[s->parent_count++] = fd;
	}
	return 0;
}

int scope_open(struct call *c, struct str path, bool only_dirs, struct scope *ret, struct err *e)
{
	char shown[2 * PATH_MAX];
	struct path p;
	struct stat st;
	AUTO_SCOPE s = { .dir = -1, .file = -1 };

	*ret = (struct scope){ .dir = -1, .file = -1 };
	if (call_path(c, path.n ? path : STR("."), &p, e) < 0)
		return -1;
	s.dir = ws_open_dir(c->ws, &p, e);
	if (s.dir < 0 && (e->code != ERR_NOT_A_DIRECTORY || only_dirs))
		return -1;
	if (s.dir < 0) {
		s.file = ws_open_file(c->ws, &p, &st, e);
		if (s.file < 0)
			return -1;
	} else if (open_parents(c, &p, &s, e) < 0) {
		return -1;
	}
	s.shown = arena_dup(c->arena, ws_display(c->ws, &p, shown));
	*ret = TAKE(s, ((struct scope){ .dir = -1, .file = -1 }));
	return 0;
}

struct walk_request scope_walk(const struct call *c, const struct scope *s, size_t limit)
{
	return (struct walk_request){
		.dirfd = s->dir,
		.parents = s->parents,
		.parent_count = s->parent_count,
		.parent_path = s->parent_path,
		.excludes = c->excludes,
		.threads = c->threads,
		.deadline_ms = c->search_ms > 0 ? io_now_ms() + c->search_ms : IO_FOREVER,
		.cancel = c->cancel,
		.limit = limit,
		.seen = c->progress ? c->progress->seen : NULL,
		.seen_arg = c->progress ? c->progress->arg : NULL,
	};
}

struct str scope_prefix(const struct call *c, const struct scope *s)
{
	if (s->dir < 0 || str_eq(s->shown, STR(".")))
		return STR("");
	char *text = arena_alloc(c->arena, s->shown.n + 1);
	if (!text)
		return STR("");
	memcpy(text, s->shown.p, s->shown.n);
	text[s->shown.n] = '/';
	return (struct str){ text, s->shown.n + 1 };
}

size_t scope_globs(const struct call *c, const struct scope *s, struct str glob, struct str ret[2])
{
	const struct str prefix = scope_prefix(c, s);
	const size_t negated = str_starts(glob, STR("!"));
	struct str rest = str_from(glob, negated);

	ret[0] = glob;
	if (!str_starts(prefix, STR("/")) && str_starts(rest, STR("/")))
		rest = str_from(rest, 1);
	if (prefix.n == 0 || rest.n <= prefix.n || !str_starts(rest, prefix))
		return glob.n > 0;
	rest = str_from(rest, prefix.n - 1); /* from the slash, which ties it to the scope */
	char *text = arena_alloc(c->arena, negated + rest.n);
	if (!text)
		return 1;
	memcpy(text, glob.p, negated);
	memcpy(text + negated, rest.p, rest.n);
	ret[1] = (struct str){ text, negated + rest.n };
	return 2;
}

int scope_check_found(const struct found *found, struct err *e)
{
	if (found->hits.count || found->account.stopped != WALK_TIMEOUT)
		return 0;
	return err_set(e, ERR_SEARCH_TIMEOUT, "%s",
		       *found->why.msg ? found->why.msg
				       : "Nothing was found before the time was up: search a "
					 "smaller directory or refine the pattern");
}

void scope_write_note(struct jw *w, const struct found *found)
{
	const long long ignored = found->ignored_matches, lines = found->account.long_lines;
	char note[160];

	if (found->hits.count || (!ignored && !lines))
		return;
	if (ignored)
		(void)snprintf(note, sizeof note,
			       "no matches; %lld matching file%s ignored by .gitignore", ignored,
			       ignored == 1 ? " is" : "s are");
	else
		(void)snprintf(note, sizeof note,
			       "no matches; %lld line%s over %d KB not searched: such a pattern "
			       "is tried on shorter lines only",
			       lines, lines == 1 ? "" : "s", LIMIT_PCRE_LINE >> 10);
	jw_str(w, "note", str_of(note));
}
