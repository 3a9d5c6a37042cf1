/* SPDX-License-Identifier: MIT */
/* history: where the journal lies, and what a call is called in it. */

#include "service/history.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sha256.h"
#include "changes/limits.h"
#include "changes/room.h"

/* The directory in which each workspace has its own: the user's, or the system's. */
static bool usual_place(int choice, char out[PATH_MAX])
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (choice == 0 && xdg && *xdg == '/')
		n = snprintf(out, PATH_MAX, "%s/sidecar", xdg);
	else if (choice == 1 && geteuid() != 0 && home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/.local/state/sidecar", home);
	else if (choice == 2)
		n = snprintf(out, PATH_MAX, "/var/lib/sidecar");
	return n > 0 && n < PATH_MAX;
}

/* "/home/me/project" → "project-0123456789abcdef", in the directory. */
static bool place_of(const char *parent, struct str workspace, char out[PATH_MAX])
{
	const char *slash = memrchr(workspace.p, '/', workspace.n);
	const struct str name =
		slash ? str_from(workspace, (size_t)(slash - workspace.p) + 1) : workspace;
	uint8_t hash[SHA256_SIZE];
	char hex[SHA256_TEXT];

	sha256_of(workspace, hash);
	const int n = snprintf(out, PATH_MAX, "%s/%.*s-%.16s", parent, STR_FMT(str_upto(name, 64)),
			       sha256_text(hash, hex).p);
	return n > 0 && n < PATH_MAX;
}

bool history_is_reachable(const struct config *c, const struct workspace *ws, const char *dir)
{
	const struct path_rules *r = ws_rules(ws);
	const struct str roots[] = { r->root, r->alias, r->data, r->data_alias,
				     c->allow_outside && !r->allowed.n ? STR("/") : r->allowed };
	struct str rest = str_of(c->sandbox_write), one, below;

	for (size_t i = 0; i < ARRAY_LEN(roots); i++)
		if (roots[i].n && path_within(roots[i], str_of(dir), &below))
			return true;
	while (rest.n) {
		(void)str_cut(rest, ':', &one, &rest);
		if (one.n && path_within(one, str_of(dir), &below))
			return true;
	}
	return false;
}

/* Try one directory. */
static int try_place(const struct config *c, const struct workspace *ws, const char *parent,
		     struct history *h, struct err *e)
{
	const struct path_rules *rules = ws_rules(ws);
	char dir[PATH_MAX];

	if (*parent != '/')
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s is not an absolute path", parent);
	if (!place_of(parent, rules->root, dir))
		return err_set(e, ERR_INVALID_ARGUMENTS, "%.200s… is too long", parent);
	if (history_is_reachable(c, ws, dir))
		return err_set(e, ERR_PATH_NOT_ALLOWED, "%s lies where tools or commands can write",
			       parent);
	const struct store_options o = {
		.dir = dir,
		.workspace = rules->root,
		.max_bytes = c->undo_bytes,
		.max_age_ms = c->undo_days * 24 * 3600 * 1000,
		.sync = c->fsync,
	};
	room_tidy(parent, o.max_age_ms);
	if (journal_open(&o, ws, c->undo_max_file, &h->journal, e) < 0)
		return -1;
	(void)snprintf(h->place, sizeof h->place, "%s", parent);
	return 0;
}

static int open_usual(const struct config *c, const struct workspace *ws, struct history *h)
{
	char parent[PATH_MAX];
	struct err e = { .code = ERR_NONE };

	for (int choice = 0; choice < 3; choice++) {
		if (!usual_place(choice, parent))
			continue;
		if (try_place(c, ws, parent, h, &e) == 0)
			return 0;
		/* The first reason is about the place where it should be. */
		if (!*h->why)
			(void)snprintf(h->why, sizeof h->why, "%.500s", e.msg);
		if (e.code == ERR_TOO_BUSY)
			return -1;
	}
	return -1;
}

int history_open(const struct config *c, const struct workspace *ws, struct history *h,
		 struct err *e)
{
	const struct str asked = c->journal ? str_of(c->journal) : STR("auto");
	const bool is_auto = str_eq(asked, STR("auto"));

	*h = (struct history){ .journal = NULL };
	if (str_eq(asked, STR("off")) || c->read_only) {
		(void)snprintf(h->why, sizeof h->why, "%s",
			       c->read_only ? "nothing can be changed" : "it is turned off");
		return 0;
	}
	if (!is_auto && try_place(c, ws, c->journal, h, e) < 0) {
		if (e->code != ERR_TOO_BUSY) {
			const struct err why = *e;
			return err_set(e, why.code, "The journal cannot be kept: %.900s", why.msg);
		}
		(void)snprintf(h->why, sizeof h->why, "%.500s", e->msg);
	}
	if (is_auto)
		(void)open_usual(c, ws, h);
	if (!h->journal)
		return 0;
	*h->why = '\0';
	const size_t left = recording_recover(h->journal);
	if (left)
		log_event(LOG_WARN, "the last server left changes unfinished; they are settled",
			  LOG_INT("changes", (int64_t)left));
	return 0;
}

bool history_done(struct history *h)
{
	return journal_free(TAKE(h->journal, NULL));
}

static void begin(struct call_record *r)
{
	const struct recording_about about = {
		.tool = str_of(r->tool->name),
		.subject = str_upto(r->subject, LIMIT_CHANGE_TEXT),
		.session = r->session,
	};

	r->recording = recording_of(r->journal, &about);
}

void history_before(void *record, int dir, const char *name, enum witness_act act)
{
	struct call_record *r = record;
	struct err e;

	if (!r->recording.journal)
		begin(r);
	(void)recording_touch(&r->recording, dir, name,
			      act == WITNESS_MAKE    ? TOUCH_META
			      : act == WITNESS_WRITE ? TOUCH_CONTENT
						     : TOUCH_LAST,
			      &e);
}

void history_wrote(void *record, int dir, const char *name, struct str content)
{
	struct call_record *r = record;

	recording_note_content(&r->recording, dir, name, content);
}

bool history_end(struct call_record *r, struct arena *a, struct change *ret)
{
	const bool changed = recording_finish(&r->recording, a, ret);

	recording_done(&r->recording);
	return changed;
}
