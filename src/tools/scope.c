/* SPDX-License-Identifier: MIT */
/* scope: open a place to search and the directories above it; read and write cursors. */

#include "tools/scope.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "guard/hidden.h"
#include "search/glob.h"
#include "search/scan.h"
#include "tools/kept.h"
#include "workspace/workspace.h"

const char *const scope_modes[] = {
	[SCAN_LINES] = "lines",
	[SCAN_FILES] = "files",
	[SCAN_COUNTS] = "counts",
	NULL,
};

const char *const scope_stops[] = {
	[WALK_COMPLETE] = "complete",
	[WALK_LIMIT] = "limit",
	[WALK_TIMEOUT] = "timeout",
	[WALK_CANCELLED] = "cancelled",
	NULL,
};

const struct field filled_fields[] = {
	{ "name", "Its name, as node_modules", FIELD_STR },
	{ "path", "Give this as path to include it; of several the first", FIELD_STR },
	{ "count", "How many there are", FIELD_INT },
	{ "files", "Files in them", FIELD_INT },
	{ "more", "True: there are more files than that", FIELD_BOOL, FIELD_OPTIONAL },
	F_END,
};

static int no_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
}

static bool unescape(struct str s, char *to, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '%') {
			if (s.n - i < 3 || str_hex(s.p[i + 1]) < 0 || str_hex(s.p[i + 2]) < 0)
				return false;
			c = (char)(str_hex(s.p[i + 1]) << 4 | str_hex(s.p[i + 2]));
			i += 2;
		}
		if (c == '\0')
			return false;
		to[(*n)++] = c;
	}
	return true;
}

int cursor_read(struct str text, struct arena *a, struct cursor *ret, struct err *e)
{
	struct str line, path;
	int64_t number;
	size_t n;

	if (text.n == 0) {
		*ret = (struct cursor){ 0 };
		return 0;
	}
	char *to = arena_alloc(a, text.n);
	if (!to)
		return no_memory(e);
	if (!str_cut(text, ':', &line, &path) || !str_int(line, &number) || number < 0 ||
	    (path.n == 0 && number > 0) || !unescape(path, to, &n))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "cursor must be the next_cursor of an earlier answer, not \"%.*s\"",
			       STR_FMT(str_upto(text, 100)));
	*ret = (struct cursor){ { to, n }, n == 0 ? -1 : number ? number : INT64_MAX };
	return 0;
}

/* INT64_MAX is written as 0, which is easier to copy than nineteen digits. */
struct str cursor_text(const struct cursor *c, struct arena *a)
{
	enum { NUMBER = 24 };
	const size_t size = NUMBER + 3 * c->path.n;
	char *const room = arena_alloc(a, size);
	const int64_t line = c->line == INT64_MAX ? 0 : c->line;

	if (!room)
		return (struct str){ NULL, 0 };
	struct buf text = buf_over(room, size);
	buf_addi(&text, line);
	buf_addc(&text, ':');
	for (size_t i = 0; i < c->path.n; i++) {
		const unsigned char byte = (unsigned char)c->path.p[i];
		if (byte > ' ' && byte < 0x7f && byte != '%' && byte != ']')
			buf_addc(&text, (char)byte);
		else
			buf_addf(&text, "%%%02X", byte);
	}
	return buf_str(&text);
}

void scope_done(struct scope *s)
{
	fd_closep(&s->dir);
	fd_closep(&s->file);
	while (s->parent_count)
		fd_closep(&s->parents[--s->parent_count]);
}

/* Open the directories above, from the base down, by the path without links. One that cannot be
 * opened ends the chain: its rules would not be known. */
static int open_parents(struct call *c, const struct path *path, struct scope *s, struct err *e)
{
	struct path canonical;

	if (ws_canonical(c->shared->ws, path, &canonical, e) < 0)
		return -1;
	s->parent_path = arena_dup(c->arena, str_of(canonical.name));
	/* Open the prefix of the name before each slash; the first is empty: the base itself. */
	for (size_t n = 0; canonical.name[n] && s->parent_count < SCOPE_PARENTS; n++) {
		struct path above = { .base = canonical.base };
		struct err ignored;
		if (n > 0 && canonical.name[n] != '/')
			continue;
		memcpy(above.name, canonical.name, n);
		const int fd = ws_open_dir(c->shared->ws, &above, &ignored);
		if (fd < 0)
			break;
		s->parents[s->parent_count++] = fd;
	}
	return 0;
}

/* Name the scope, and what comes before the paths below it. */
static int name_scope(const struct call *c, const struct path *path, struct scope *s, struct err *e)
{
	char shown[2 * PATH_MAX];
	const struct str name = ws_display(c->shared->ws, path, shown);
	char *text = arena_alloc(c->arena, name.n + 1);

	if (!text)
		return no_memory(e);
	memcpy(text, name.p, name.n);
	text[name.n] = '/';
	s->shown = (struct str){ text, name.n };
	if (s->dir >= 0 && !str_eq(name, STR(".")))
		s->prefix = (struct str){ text, name.n + 1 };
	return 0;
}

int scope_open(struct call *c, struct str path, struct str cursor, bool only_dirs,
	       struct scope *ret, struct err *e)
{
	AUTO_SCOPE s = SCOPE_NONE;
	struct path p;
	struct stat st;
	struct err why;

	if (cursor_read(cursor, c->arena, &s.from, e) < 0)
		return -1;
	if (c->kept && kept_is_name(path) && !only_dirs) {
		s.file = kept_open(c->kept, c->session, path, &st, e);
		s.shown = path;
		if (s.file < 0)
			return -1;
		*ret = TAKE(s, ((struct scope)SCOPE_NONE));
		return 0;
	}
	if (call_path(c, path.n ? path : STR("."), &p, e) < 0)
		return -1;
	s.dir = ws_open_dir(c->shared->ws, &p, &why);
	if (s.dir < 0 && (why.code != ERR_NOT_A_DIRECTORY || only_dirs)) {
		*e = why;
		return -1;
	}
	if (s.dir < 0)
		s.file = ws_open_file(c->shared->ws, &p, &st, e);
	if ((s.dir < 0 && s.file < 0) || (s.dir >= 0 && open_parents(c, &p, &s, e) < 0) ||
	    name_scope(c, &p, &s, e) < 0)
		return -1;
	*ret = TAKE(s, ((struct scope)SCOPE_NONE));
	return 0;
}

/* The path of the pattern's leading components: below the searched directory, if not absolute. */
static struct str join_lead(struct call *c, struct str path, struct str lead)
{
	const bool alone = str_starts(lead, STR("/")) || path.n == 0;
	char *text = arena_alloc(c->arena, path.n + 1 + lead.n);

	if (alone || !text)
		return text ? lead : (struct str){ NULL, 0 };
	memcpy(text, path.p, path.n);
	text[path.n] = '/';
	memcpy(text + path.n + 1, lead.p, lead.n);
	return (struct str){ text, path.n + 1 + lead.n };
}

int scope_enter(struct call *c, struct str path, struct str cursor, struct str pattern,
		struct str *lead, struct scope *ret, struct err *e)
{
	AUTO_BUF text = { .max = LIMIT_GLOB_BYTES };
	const int length = (int)glob_lead(pattern, &text);
	struct err why;

	*lead = arena_dup(c->arena, buf_str(&text));
	const struct str where = join_lead(c, path, *lead);
	if (text.failed || c->arena->failed)
		return err_set(e, ERR_INVALID_GLOB, "Invalid glob: longer than %d bytes",
			       LIMIT_GLOB_BYTES);
	if (!length || scope_open(c, where, cursor, true, ret, &why) == 0)
		return length;
	if (why.code == ERR_FILE_NOT_FOUND || why.code == ERR_NOT_A_DIRECTORY ||
	    str_starts(*lead, STR("/")))
		return 0;
	*e = why;
	return -1;
}

static bool hides_file(void *ws, int fd)
{
	return ws_hides(ws, fd);
}

struct walk_request scope_walk(const struct call *c, const struct scope *s, size_t limit)
{
	const int64_t deadline = call_deadline(c);

	return (struct walk_request){
		.dirfd = s->dir,
		.parents = s->parents,
		.parent_count = s->parent_count,
		.parent_path = s->parent_path,
		.excludes = c->shared->excludes,
		.threads = call_threads(c),
		.deadline_ms = deadline ? deadline : IO_FOREVER,
		.cancel = c->cancel,
		.limit = limit,
		.after = s->from.path,
		.hides = ws_hides_any(c->shared->ws) ? hides_file : NULL,
		.hides_arg = c->shared->ws,
		.seen = c->progress ? c->progress->seen : NULL,
		.seen_arg = c->progress ? c->progress->arg : NULL,
	};
}

bool scope_hides(void *arg, struct str path)
{
	const struct scope_names *n = arg;
	char name[3 * PATH_MAX];
	const int length =
		snprintf(name, sizeof name, "%.*s%.*s", STR_FMT(n->prefix), STR_FMT(path));

	return hidden_path(n->call->shared->hidden, (struct str){ name, (size_t)length });
}

size_t scope_globs(const struct call *c, const struct scope *s, struct str glob, struct str ret[2])
{
	const struct str prefix = s->prefix;
	const size_t negated = str_starts(glob, STR("!"));
	struct str rest = str_from(glob, negated);

	ret[0] = glob;
	if (!str_starts(prefix, STR("/")) && str_starts(rest, STR("/")))
		rest = str_from(rest, 1);
	if (prefix.n == 0 || rest.n <= prefix.n || !str_starts(rest, prefix))
		return glob.n > 0;
	rest = str_from(rest, prefix.n - 1); /* with the slash, which ties it to the scope */
	char *text = arena_alloc(c->arena, negated + rest.n);
	if (!text)
		return 1;
	memcpy(text, glob.p, negated);
	memcpy(text + negated, rest.p, rest.n);
	ret[1] = (struct str){ text, negated + rest.n };
	return 2;
}

int scope_check_found(const struct call *c, const struct found *found, struct err *e)
{
	if (c->arena->failed)
		return no_memory(e);
	if (found->hits.count || found->account.stopped != WALK_TIMEOUT)
		return 0;
	return err_set(e, ERR_SEARCH_TIMEOUT, "%s",
		       *found->why.msg ? found->why.msg
				       : "Nothing was found before the time was up: search a "
					 "smaller directory or refine the pattern");
}

const char *scope_note(const struct found *found, char room[SCOPE_NOTE])
{
	const long long ignored = found->ignored_matches, lines = found->account.long_lines;

	if (found->hits.count || (!ignored && !lines))
		return NULL;
	if (ignored)
		(void)snprintf(room, SCOPE_NOTE, "%lld matching file%s %s", ignored,
			       ignored == 1 ? " is" : "s are",
			       !found->filled		 ? "ignored by .gitignore"
			       : !found->account.ignored ? "in skipped directories"
							 : "ignored or in skipped directories");
	else
		(void)snprintf(room, SCOPE_NOTE,
			       "%lld line%s over %d KB not searched: such a pattern is tried on "
			       "shorter lines only",
			       lines, lines == 1 ? "" : "s", LIMIT_PCRE_LINE >> 10);
	return room;
}

void scope_write_note(struct jw *w, const struct found *found)
{
	char room[SCOPE_NOTE];
	const char *const note = scope_note(found, room);

	if (!note)
		return;
	jw_open_str(w, "note");
	jw_piece(w, STR("no matches; "));
	jw_piece(w, str_of(note));
	jw_close_str(w);
}
