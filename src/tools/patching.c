/* SPDX-License-Identifier: MIT */
/* patching: resolve, read, plan, and hand the result over. */

#include "tools/patching.h"

#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "changes/batch.h"
#include "changes/limits.h"
#include "patch/patch.h"
#include "patch/textlines.h"
#include "tools/limits.h"
#include "tools/seen.h"
#include "tools/suggest.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

void patching_done(struct patching *p)
{
	for (size_t i = 0; i < p->count; i++) {
		buf_done(&p->files[i].old);
		buf_done(&p->files[i].new);
	}
	arena_done(&p->scratch);
}

static int fail_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for this patch, try again");
}

/* Say at which line of the patch it is about this file. */
static int fail_at(const struct patch_file *f, struct err *e)
{
	char where[64];

	/* Programs know this sentence by the other endpoints (api/routes.c). */
	if (e->code == ERR_PATH_OUTSIDE_WORKSPACE || e->code == ERR_SYMLINK_OUTSIDE_WORKSPACE)
		(void)err_set(e, e->code,
			      "Invalid path: access outside workspace is not allowed: %.*s%s%.*s",
			      STR_FMT(str_upto(f->path, 300)), f->from.n ? " or " : "",
			      STR_FMT(str_upto(f->from, 300)));

	(void)snprintf(where, sizeof where, "Line %lld of the patch names it.", (long long)f->line);
	return err_say(e, where);
}

/* The hashes are beside each other: of 2,000 paths all are looked at for each of them. */
static struct patched *find_path(const struct patching *p, const struct path *path, uint32_t hash)
{
	for (size_t i = p->count; i-- > 0;)
		if (p->hashes[i] == hash && p->files[i].path.base == path->base &&
		    strcmp(p->files[i].path.name, path->name) == 0)
			return &p->files[i];
	return NULL;
}

/* A link itself cannot be patched: to remove one, or give it another name, would mean its target.
 */
static int refuse_link(const struct patching *p, const struct path *asked, const struct path *path,
		       struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	struct path dir = *asked;
	char *slash = strrchr(dir.name, '/');
	const char *last = slash ? slash + 1 : dir.name;
	const char *end = strrchr(path->name, '/');
	struct path real UNINITIALISED;

	if (strcmp(last, end ? end + 1 : path->name) == 0) {
		*(slash ? slash : dir.name) = '\0';
		const size_t n = end ? (size_t)(end - path->name) : 0;
		if (ws_canonical(p->c->shared->ws, &dir, &real, e) < 0)
			return -1;
		if (real.base == path->base && strlen(real.name) == n &&
		    memcmp(real.name, path->name, n) == 0)
			return 0;
	}
	(void)err_set(e, ERR_NOT_A_FILE, "%.*s is a symbolic link, which a patch cannot remove.",
		      STR_FMT(ws_display(p->c->shared->ws, asked, shown)));
	return err_advise(e, "Name the file that it leads to.");
}

/* The entry of a path. It is resolved; nothing of it is read. */
static struct patched *entry_of(struct patching *p, struct str text, bool goes, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	struct path asked UNINITIALISED, path UNINITIALISED;

	if (call_path(p->c, text, &asked, e) < 0)
		return NULL;
	if (ws_canonical(p->c->shared->ws, &asked, &path, e) < 0) {
		/* A file on the way may be one that the patch removes. */
		if (e->code != ERR_NOT_A_DIRECTORY)
			return NULL;
		path = asked;
	}
	if (goes && refuse_link(p, &asked, &path, e) < 0)
		return NULL;
	const uint32_t hash = match_hash(str_of(path.name), MATCH_EXACT);
	struct patched *f = find_path(p, &path, hash);
	if (f)
		return f;
	f = &p->files[p->count];
	p->hashes[p->count] = hash;
	*f = (struct patched){
		.path = path,
		.shown = arena_dup(p->c->arena, ws_display(p->c->shared->ws, &path, shown)),
		.old = { .max = LIMIT_EDIT_BYTES },
		.new = { .max = LIMIT_EDIT_BYTES },
	};
	if (!f->shown.p) {
		(void)fail_memory(e);
		return NULL;
	}
	p->count++;
	return f;
}

/* The two entries of each file of the patch. */
struct pair {
	struct patched *to, *from;
};

static int resolve(struct patching *p, struct pair *pairs, struct err *e)
{
	for (size_t i = 0; i < p->patch.count; i++) {
		const struct patch_file *f = &p->patch.files[i];
		pairs[i].to = entry_of(p, f->path, f->kind == PATCH_DELETE, e);
		pairs[i].from = pairs[i].to && f->from.n
					? entry_of(p, f->from, f->kind == PATCH_MOVE, e)
					: pairs[i].to;
		if (!pairs[i].to || !pairs[i].from)
			return fail_at(f, e);
	}
	return 0;
}

/* Whether a patch may make a file below a path that is a file now: another part removes that. */
static bool makes_way(const struct patching *p, const struct patched *f)
{
	for (size_t i = 0; i < p->patch.count; i++) {
		const enum patch_kind kind = p->patch.files[i].kind;
		const struct str gone = kind == PATCH_DELETE ? p->patch.files[i].path
					: kind == PATCH_MOVE ? p->patch.files[i].from
							     : STR("");
		if (gone.n && str_starts(str_of(f->path.name), gone) && f->path.name[gone.n] == '/')
			return true;
	}
	return false;
}

/* Whether the patch only removes the file, without saying what is in it. */
static bool is_only_removed(const struct patching *p, const struct pair *pairs,
			    const struct patched *f)
{
	for (size_t i = 0; i < p->patch.count; i++)
		if ((pairs[i].to == f || pairs[i].from == f) &&
		    (p->patch.files[i].kind != PATCH_DELETE || p->patch.format == PATCH_UNIFIED))
			return false;
	return true;
}

/* Read what is there now. What is only removed may be too large to be read. */
static int read_entry(struct patching *p, const struct pair *pairs, struct patched *f,
		      struct err *e)
{
	AUTO_FD fd = ws_open_file(p->c->shared->ws, &f->path, &f->st, e);
	const struct replace r = {
		.ws = p->c->shared->ws, .path = &f->path, .old = fd, .st = f->st
	};

	if (fd < 0 &&
	    (e->code == ERR_FILE_NOT_FOUND || (e->code == ERR_NOT_A_DIRECTORY && makes_way(p, f))))
		return 0;
	if (fd < 0)
		return -1;
	f->was = f->stays = true;
	const size_t left = LIMIT_PATCH_CONTENT - p->bytes;
	if ((uint64_t)f->st.st_size >= (left < LIMIT_EDIT_BYTES ? left : LIMIT_EDIT_BYTES) &&
	    is_only_removed(p, pairs, f))
		return 0;
	if (replace_read(&r, &f->old, e) < 0)
		return -1;
	f->seen = seen_check(p->c, &f->path, buf_str(&f->old));
	p->bytes += f->old.n;
	if (p->bytes > LIMIT_PATCH_CONTENT)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The files of this patch have more than %d MB together. Make "
			       "several patches of it",
			       LIMIT_PATCH_CONTENT >> 20);
	return 0;
}

static int read_all(struct patching *p, const struct pair *pairs, struct err *e)
{
	for (size_t i = 0; i < p->count; i++) {
		if (read_entry(p, pairs, &p->files[i], e) == 0)
			continue;
		for (size_t k = 0; k < p->patch.count; k++)
			if (pairs[k].to == &p->files[i] || pairs[k].from == &p->files[i])
				return fail_at(&p->patch.files[k], e);
		return -1;
	}
	return 0;
}

/* Whether a later part of a unified patch takes away what is at this path: its parts do not depend
 * on their order. */
static bool goes_away(const struct patching *p, const struct pair *pairs, size_t after,
		      const struct patched *f)
{
	for (size_t i = after + 1; p->patch.format == PATCH_UNIFIED && i < p->patch.count; i++) {
		const enum patch_kind kind = p->patch.files[i].kind;
		if ((kind == PATCH_DELETE || kind == PATCH_MOVE) && pairs[i].from == f)
			return true;
	}
	return false;
}

static int fail_missing(struct patching *p, const struct patch_file *f, const struct patched *at,
			struct err *e)
{
	if (at->was)
		(void)err_set(e, ERR_FILE_NOT_FOUND,
			      "An earlier part of the patch has removed %.*s.", STR_FMT(at->shown));
	else
		(void)err_set(e, ERR_FILE_NOT_FOUND, "File not found: %.*s", STR_FMT(at->shown));
	(void)fail_at(f, e);
	if (!at->was)
		suggest_path(p->c, f->from.n ? f->from : f->path, e);
	return -1;
}

static int fail_exists(const struct patch_file *f, const struct patched *at,
		       enum patch_format format, struct err *e)
{
	(void)err_set(e, ERR_FILE_EXISTS, "%.*s exists already, and the patch makes it.",
		      STR_FMT(at->shown));
	(void)fail_at(f, e);
	return err_advise(e, format == PATCH_BLOCKS
				     ? "To change it, put the text to be replaced after SEARCH."
				     : "To change it, make a patch of its lines.");
}

/* Whether the session may lose a file that it says nothing about: only one that it has seen. */
static int may_lose(struct patching *p, const struct patched *at, struct err *e)
{
	const struct call *c = p->c;

	if (c->reads == CALL_READS_NONE || !at->was)
		return 0;
	return seen_may_lose(c, &at->path, at->seen, buf_str(&at->old), e);
}

/* With --read-before-write on a session must have seen what it changes. */
static int may_change(struct patching *p, const struct patched *at, struct err *e)
{
	const struct call *c = p->c;

	if (c->reads != CALL_READS_CHANGED || !at->was || at->arrived)
		return 0;
	if (at->seen == TRACKER_UNSEEN)
		return seen_fail_unread(c, &at->path, e);
	return at->seen == TRACKER_CHANGED ? seen_fail_changed(c, &at->path, buf_str(&at->old), e)
					   : 0;
}

/* Whether something may be put at this path. */
static int may_arrive(struct patching *p, const struct pair *pairs, size_t i, struct err *e)
{
	const struct patch_file *f = &p->patch.files[i];
	const struct patched *to = pairs[i].to;

	if (!to->stays || goes_away(p, pairs, i, to))
		return 0;
	if (p->patch.format == PATCH_UNIFIED ||
	    (p->patch.format == PATCH_BLOCKS && patching_new(to).n))
		return fail_exists(f, to, p->patch.format, e);
	return to->arrived ? 0 : may_lose(p, to, e);
}

struct str patching_new(const struct patched *f)
{
	return f->changed ? buf_str(&f->new) : f->stays ? buf_str(&f->old) : STR("");
}

struct str patching_old(const struct patched *f)
{
	return f->from ? buf_str(&f->from->old) : buf_str(&f->old);
}

/* The text that the hunks of a part are about. */
static struct str text_of(const struct patching *p, const struct patch_file *f,
			  const struct patched *from)
{
	const bool as_it_was = p->patch.format == PATCH_UNIFIED && from->was &&
			       (f->kind == PATCH_MOVE || f->kind == PATCH_COPY ||
				(f->kind == PATCH_DELETE && from->arrived));

	return as_it_was ? buf_str(&from->old) : patching_new(from);
}

static int keep_notes(struct patching *p, const struct patched *at, const struct patch_note *notes,
		      struct err *e)
{
	for (; notes; notes = notes->next) {
		struct edits_note *n = arena_array(p->c->arena, 1, sizeof *n);
		const struct str text = arena_dup(p->c->arena, notes->text);
		if (!n || !text.p)
			return fail_memory(e);
		*n = (struct edits_note){ .path = at->shown, .text = text };
		if (p->last_note)
			p->last_note->next = n;
		else
			p->notes = n;
		p->last_note = n;
	}
	return 0;
}

/* Plan the hunks of a part into `content`. */
static int plan(struct patching *p, const struct patch_file *f, const struct pair *pair,
		struct buf *content, struct err *e)
{
	const struct str old = f->kind == PATCH_ADD ? STR("") : text_of(p, f, pair->from);
	struct plan plan;

	/* What is removed without a word about its lines is not looked at. */
	if (f->kind == PATCH_DELETE && p->patch.format != PATCH_UNIFIED)
		return 0;
	if (f->hunk_count == 0 && f->kind != PATCH_DELETE) {
		buf_add(content, old);
		return content->failed ? fail_memory(e) : 0;
	}
	if (plan_file(&p->patch, f, old, &p->scratch, content, &plan, e) < 0 ||
	    keep_notes(p, pair->to, plan.notes, e) < 0)
		return -1;
	arena_reset(&p->scratch);
	return 0;
}

/* The content has been planned: it is at the path from now on. */
static void arrive(struct patching *p, struct patched *to, struct buf *content)
{
	buf_done(&to->new);
	to->new = *content;
	*content = (struct buf){ .max = 0 };
	p->bytes += to->new.n;
	to->stays = to->changed = true;
}

/* What was there goes; what an earlier part has put there in a unified patch is another file. */
static void leave(const struct patching *p, struct patched *from)
{
	if (p->patch.format == PATCH_UNIFIED && from->was && from->arrived)
		return;
	from->stays = from->changed = from->arrived = false;
	from->from = NULL;
	from->mode = 0;
	buf_done(&from->new);
}

/* Carry a part over in memory whose hunks are planned. */
static void carry(struct patching *p, const struct patch_file *f, const struct pair *pair,
		  struct buf *content)
{
	struct patched *to = pair->to, *from = pair->from;
	const bool was_there = f->kind == PATCH_UPDATE && to->stays;
	const bool moves = f->kind == PATCH_MOVE && to != from;

	if (f->kind == PATCH_DELETE) {
		leave(p, to);
		return;
	}
	arrive(p, to, content);
	to->arrived |= !was_there;
	if (f->mode)
		to->mode = f->mode;
	if (f->kind == PATCH_COPY || moves) {
		/* Moved twice, it comes from where it was first. */
		const bool first = p->patch.format == PATCH_UNIFIED && from->was;
		const bool again = !first && from->from;
		to->from = again ? from->from : from->was ? from : NULL;
		to->copied = f->kind == PATCH_COPY || (again && from->copied);
		to->mode = f->mode || first ? f->mode : from->mode;
	} else if (f->kind == PATCH_ADD) {
		to->from = NULL;
	}
	if (!moves)
		return;
	leave(p, from);
	from->left = from->was;
}

static int do_part(struct patching *p, const struct pair *pairs, size_t i, struct err *e)
{
	struct patch_file f = p->patch.files[i];
	const struct pair *pair = &pairs[i];
	const struct patched *from = pair->from;
	AUTO_BUF content = { .max = LIMIT_EDIT_BYTES };
	const bool as_it_was = p->patch.format == PATCH_UNIFIED && from->was && !from->left;

	if (f.kind == PATCH_UPDATE && f.may_add && !from->stays)
		f.kind = PATCH_ADD;
	if (f.kind == PATCH_MOVE && pair->to == from)
		f.kind = PATCH_UPDATE;
	if (f.kind != PATCH_ADD && !from->stays &&
	    !(as_it_was && (f.kind == PATCH_COPY || f.kind == PATCH_MOVE)))
		return fail_missing(p, &f, from, e);
	const bool arrives = f.kind == PATCH_ADD || f.kind == PATCH_MOVE || f.kind == PATCH_COPY;
	if (arrives && may_arrive(p, pairs, i, e) < 0)
		return -1;
	if (f.kind == PATCH_DELETE && p->patch.format != PATCH_UNIFIED && !from->arrived &&
	    may_lose(p, from, e) < 0)
		return -1;
	if (f.kind != PATCH_ADD && may_change(p, from, e) < 0)
		return -1;
	if (plan(p, &f, pair, &content, e) < 0)
		return -1;
	if (f.kind != PATCH_DELETE &&
	    call_may_write(p->c, buf_str(&content),
			   f.kind == PATCH_ADD ? buf_str(&from->old) : text_of(p, &f, from), e) < 0)
		return -1;
	carry(p, &f, pair, &content);
	if (p->bytes > 2 * (size_t)LIMIT_PATCH_CONTENT)
		return fail_memory(e);
	return 0;
}

/* Make a relative path start in the base. -1: there is no memory. */
static int put_below(struct str base, struct str *path, struct arena *a)
{
	const size_t size = base.n + 1 + path->n;
	char *room;

	if (!path->n || path->p[0] == '/')
		return 0;
	room = arena_alloc(a, size);
	if (!room)
		return -1;
	struct buf b = buf_over(room, size);
	buf_add(&b, base);
	buf_addc(&b, '/');
	buf_add(&b, *path);
	*path = buf_str(&b);
	return 0;
}

int patching_plan(struct call *c, struct str text, enum patch_format format, int strip,
		  struct str base, struct patching *p, struct err *e)
{
	*p = (struct patching){ .c = c, .scratch = { .max = LIMIT_CALL_MEMORY } };
	if (patch_parse(text, format, strip, c->arena, &p->patch, e) < 0)
		return -1;
	for (size_t i = 0; base.n && i < p->patch.count; i++) {
		struct patch_file *f = &p->patch.files[i];
		if (put_below(base, &f->path, c->arena) < 0 ||
		    put_below(base, &f->from, c->arena) < 0)
			return fail_memory(e);
	}
	struct pair *pairs = arena_array(c->arena, p->patch.count, sizeof *pairs);
	p->files = arena_array(c->arena, 2 * p->patch.count, sizeof *p->files);
	p->hashes = arena_array(c->arena, 2 * p->patch.count, sizeof *p->hashes);
	if (!pairs || !p->files || !p->hashes)
		return fail_memory(e);
	if (resolve(p, pairs, e) < 0 || read_all(p, pairs, e) < 0)
		return -1;
	for (size_t i = 0; i < p->patch.count; i++)
		if (do_part(p, pairs, i, e) < 0)
			return -1;
	return 0;
}

const char *patching_kind(const struct patched *f)
{
	if (!f->stays)
		return f->was && !f->left ? "deleted" : NULL;
	if (f->from)
		return f->copied ? "copied" : "renamed";
	return !f->was ? "created" : f->changed || f->mode ? "modified" : NULL;
}

/* Whether the file is other than it was. */
static bool differs(const struct patched *f)
{
	if (f->was != f->stays)
		return true;
	if (!f->was)
		return false;
	const bool executable = f->st.st_mode & 0111;
	return !str_eq(buf_str(&f->old), patching_new(f)) ||
	       (f->mode && !(f->mode & 0100) == executable);
}

/* "src/a.c and 2 more". */
static struct str subject_of(const struct patching *p)
{
	char text[LIMIT_CHANGE_TEXT];
	const struct patched *first = NULL;
	size_t more = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (!patching_kind(&p->files[i]))
			continue;
		more += first != NULL;
		first = first ? first : &p->files[i];
	}
	if (!first || !more)
		return first ? first->shown : STR("");
	(void)snprintf(text, sizeof text, "%.*s and %zu more", STR_FMT(str_upto(first->shown, 400)),
		       more);
	return arena_dup(p->c->arena, str_of(text));
}

/* Another name of the same file that the patch changes too; or NULL. */
static const struct patched *twin_of(const struct patching *p, const struct patched *f)
{
	if (!f->was || !f->stays || f->st.st_nlink < 2)
		return NULL;
	for (const struct patched *t = p->files; t < f; t++)
		if (t->was && t->stays && t->changed && t->st.st_ino == f->st.st_ino &&
		    t->st.st_dev == f->st.st_dev)
			return t;
	return NULL;
}

/* Two names of one file get one content. */
static int check_twin(const struct patched *f, const struct patched *twin, struct err *e)
{
	if (str_eq(patching_new(f), patching_new(twin)))
		return 0;
	return err_set(e, ERR_INVALID_PATCH,
		       "%.*s and %.*s are names of one file, and the patch gives them different "
		       "contents. Nothing was changed.",
		       STR_FMT(twin->shown), STR_FMT(f->shown));
}

static void note_seen(const struct patching *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct patched *f = &p->files[i];
		const enum tracker_verdict seen = f->from ? f->from->seen : f->seen;
		const bool made = f->arrived && !f->from;
		if (f->stays && (made || seen == TRACKER_SAME || seen == TRACKER_PART))
			seen_wrote(p->c, &f->path, patching_new(f), made || seen == TRACKER_SAME);
	}
}

int patching_apply(struct patching *p, const char *tool, struct err *e)
{
	const struct call *c = p->c;
	struct change made;
	struct batch b = {
		.ws = c->shared->ws,
		.journal = c->shared->journal,
		.about = { .tool = str_of(tool), .subject = subject_of(p), .session = c->session },
		.sync = c->shared->sync,
		.prune = p->patch.format == PATCH_UNIFIED,
		.files = arena_array(c->arena, p->count + 1, sizeof *b.files),
	};

	if (!b.files)
		return fail_memory(e);
	for (size_t i = 0; i < p->count; i++) {
		const struct patched *f = &p->files[i];
		if (!differs(f))
			continue;
		if (call_permits(c, &f->path, e) < 0)
			return -1;
		const struct patched *twin = twin_of(p, f);
		if (twin) {
			if (check_twin(f, twin, e) < 0)
				return -1;
			continue;
		}
		b.files[b.count++] = (struct batch_file){
			.path = &f->path,
			.shown = f->shown,
			.was = f->was,
			.stays = f->stays,
			.st = f->st,
			.new = patching_new(f),
			.mode = f->mode,
			.like = f->from && !f->was ? &f->from->path : NULL,
		};
	}
	if (batch_apply(&b, c->arena, &made, e) < 0)
		return -1;
	if (made.id && c->made)
		*c->made = made;
	note_seen(p);
	return 0;
}
