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
#include "changes/limits.h"
#include "changes/settle.h"
#include "changes/home.h"
#include "config/registry.h"
#include "sandbox/cache.h"
#include "sandbox/canonical.h"
#include "sandbox/scratch.h"
#include "workspace/locks.h"

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

/* How a path and a directory in which tools or commands can write lie to each other. */
typedef bool place_relation(struct str writable, struct str path);

static bool is_below(struct str writable, struct str path)
{
	struct str below;

	return path_within(writable, path, &below);
}

static bool is_above(struct str writable, struct str path)
{
	struct str below;

	return path_within(path, writable, &below);
}

/* Whether that is true of one of the directories in which tools or commands can write. */
static bool is_near(const struct config *c, const struct workspace *ws, struct str path,
		    place_relation *is)
{
	const struct path_rules *r = ws_rules(ws);
	const struct str roots[] = {
		r->root,	 r->alias,
		r->data,	 r->data_alias,
		STR("/dev/shm"), c->allow_outside && !r->allowed.n ? STR("/") : r->allowed
	};
	struct str rest = str_of(c->sandbox_write), one;
	char name[PATH_MAX], real[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(roots); i++)
		if (roots[i].n && is(roots[i], path))
			return true;
	for (size_t i = 0; i < PATH_GITS; i++)
		if (r->git[i].n && is(r->git[i], path))
			return true;
	while (rest.n) {
		(void)str_cut(rest, ':', &one, &rest);
		if (!one.n || snprintf(name, sizeof name, "%.*s", STR_FMT(one)) >= PATH_MAX)
			continue;
		if (is(one, path) || (canonical_name(name, NULL, real) && is(str_of(real), path)))
			return true;
	}
	return false;
}

/* Whether it lies in what commands keep from one session to the next. */
static bool is_in_cache(const struct config *c, struct str path)
{
	char parent[PATH_MAX], real[PATH_MAX];
	struct str below;

	return config_caches(c, parent) &&
	       path_within(canonical_name(parent, NULL, real) ? str_of(real) : str_of(parent), path,
			   &below) &&
	       cache_is_name(below.p);
}

bool history_is_reachable(const struct config *c, const struct workspace *ws, const char *path)
{
	char parent[PATH_MAX];
	struct str below;

	return is_in_cache(c, str_of(path)) || is_near(c, ws, str_of(path), is_below) ||
	       (canonical_name(scratch_parent(), NULL, parent) &&
		path_within(str_of(parent), str_of(path), &below) && scratch_is_name(below.p));
}

/* Whether old journals would be looked for beside something that commands can write. */
static bool is_above_reachable(const struct config *c, const struct workspace *ws, const char *path)
{
	char parent[PATH_MAX];

	return is_near(c, ws, str_of(path), is_above) ||
	       (canonical_name(scratch_parent(), NULL, parent) &&
		is_above(str_of(parent), str_of(path)));
}

/* The path without links. What does not exist yet is taken as it is written. */
static bool resolve(const char *path, char out[PATH_MAX])
{
	char head[PATH_MAX], real[PATH_MAX] = "", joined[2 * PATH_MAX];
	size_t n = strlen(path);

	if (n >= sizeof head)
		return false;
	memcpy(head, path, n + 1);
	while (n && !canonical_name(head, NULL, real)) {
		n = (size_t)(strrchr(head, '/') - head);
		head[n] = '\0';
	}
	if (snprintf(joined, sizeof joined, "%s/%s", n ? real : "", path + n) >= PATH_MAX)
		return false;
	(void)path_normalise(str_of(joined), out);
	return true;
}

/* Try one directory. */
static int try_place(const struct config *c, const struct workspace *ws, const char *asked,
		     struct history *h, struct err *e)
{
	const struct path_rules *rules = ws_rules(ws);
	char parent[PATH_MAX], dir[PATH_MAX], name[HOME_NAME];

	if (*asked != '/')
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s is not an absolute path", asked);
	home_name(rules->root, name);
	if (!resolve(asked, parent) ||
	    snprintf(dir, sizeof dir, "%s/%s", parent, name) >= (int)sizeof dir)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%.200s… is too long", asked);
	if (history_is_reachable(c, ws, dir))
		return err_set(e, ERR_PATH_NOT_ALLOWED, "%s lies where tools or commands can write",
			       asked);
	if (is_above_reachable(c, ws, parent))
		return err_set(e, ERR_PATH_NOT_ALLOWED,
			       "%s contains a directory in which tools or commands can write; "
			       "choose one that holds nothing else",
			       asked);
	const struct store_options o = {
		.dir = dir,
		.workspace = rules->root,
		.max_bytes = c->undo_bytes,
		.max_age_ms = c->undo_days * 24 * 3600 * 1000,
		.sync = c->fsync,
		.is_guest = c->guest,
	};
	homes_tidy(parent, o.max_age_ms);
	if (journal_open(&o, ws, c->undo_max_file, &h->journal, e) < 0)
		return -1;
	(void)snprintf(h->place, sizeof h->place, "%s", parent);
	return 0;
}

/* The i-th directory in which journals may lie; false after the last. */
static bool place_at(const struct config *c, int i, char out[PATH_MAX])
{
	if (c->journal && strcmp(c->journal, "auto") != 0)
		return i == 0 && snprintf(out, PATH_MAX, "%s", c->journal) < PATH_MAX;
	for (int choice = 0; choice < 3; choice++)
		if (usual_place(choice, out) && i-- == 0)
			return true;
	return false;
}

/* Who visits the homes of one place. */
struct place_visit {
	history_visitor *visit;
	void *arg;
	const char *place;
};

static bool visit_home(void *arg, const struct home_facts *f)
{
	const struct place_visit *v = arg;

	return v->visit(v->arg, v->place, f);
}

void history_visit(const struct config *c, history_visitor *visit, void *arg)
{
	char place[PATH_MAX];

	for (int i = 0; place_at(c, i, place); i++)
		homes_visit(place, visit_home, &(struct place_visit){ visit, arg, place });
}

bool history_exists(const struct config *c, struct str workspace)
{
	char place[PATH_MAX], dir[PATH_MAX], name[HOME_NAME];

	home_name(workspace, name);
	for (int i = 0; place_at(c, i, place); i++)
		if (snprintf(dir, sizeof dir, "%s/%s", place, name) < PATH_MAX && homes_is_one(dir))
			return true;
	return false;
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
	if (!c->read_only)
		locks_share_with_user(ws_locks(ws), registry_open_turns());
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
	/* What was kept in the usual place is not in the list then. */
	if (*h->why && !c->guest)
		log_event(LOG_WARN, "the journal is not where it usually is",
			  LOG_STR("place", str_of(h->place)), LOG_STR("why", str_of(h->why)));
	*h->why = '\0';
	h->days = c->undo_days;
	locks_share(ws_locks(ws), store_turns(journal_store(h->journal)));
	const size_t left = settle_all(h->journal);
	if (left)
		log_event(LOG_WARN, "an earlier program left changes unfinished; they are settled",
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

void history_before(struct call_record *r, int dir, const char *name, enum witness_act act)
{
	struct err e;

	if (!r->recording.journal)
		begin(r);
	(void)recording_touch(&r->recording, dir, name,
			      act == WITNESS_MAKE || act == WITNESS_MOVE ? TOUCH_META
			      : act == WITNESS_WRITE			 ? TOUCH_CONTENT
			      : act == WITNESS_REPLACE			 ? TOUCH_LAST
									 : TOUCH_GONE,
			      &e);
}

void history_wrote(struct call_record *r, int dir, const char *name, struct str content)
{
	recording_note_content(&r->recording, dir, name, content);
}

bool history_end(struct call_record *r, struct arena *a, struct change *ret)
{
	const bool changed = recording_finish(&r->recording, a, ret);

	recording_done(&r->recording);
	return changed;
}
