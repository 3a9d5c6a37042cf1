/* SPDX-License-Identifier: MIT */
/* observer: what is about to happen to each file that a call means. */

#include "changes/observer.h"

#include <fcntl.h>

#include "base/own.h"
#include "changes/dirs.h"
#include "changes/touches.h"
#include "workspace/workspace.h"

/* What is about to happen to the first or the second path of the call. */
static enum touch_care care_of(const struct intent *in, size_t which)
{
	switch (in->verb) {
	case INTENT_WRITE:
		return in->exclusive ? TOUCH_META : TOUCH_CONTENT;
	case INTENT_TRUNCATE:
		return TOUCH_CONTENT;
	case INTENT_UNLINK:
	case INTENT_RMDIR:
		return TOUCH_LAST;
	case INTENT_RENAME:
		if (in->in_place)
			return TOUCH_CONTENT;
		return which == 1 && !in->exchange ? TOUCH_LAST : TOUCH_META;
	default:
		return TOUCH_META;
	}
}

/* A directory of the caller that may lie in a git directory outside: the same as this process sees
 * it, whose file system is not read-only. */
static struct touched_dir *find_git(struct observer *o, int theirs)
{
	char name[PATH_MAX] UNINITIALISED;
	struct str ignored;

	if (!dirs_text(theirs, ws_rules(journal_workspace(o->recording->journal)), name, &ignored))
		return NULL;
	AUTO_FD dir = dirs_open(o->home.root, ignored);
	return dir < 0 ? NULL : recording_dir(o->recording, dir);
}

/* Touch what is at a place. Returns whether it may be a link. */
static bool touch(struct observer *o, const struct caller_place *p, enum touch_care care)
{
	struct caller_dir *dir = p->dir;

	if (!dir->known && dir->in_home)
		dir->known = recording_dir(o->recording, dir->fd);
	else if (!dir->known && o->has_git)
		dir->known = find_git(o, dir->fd);
	return !dir->known || recording_touch_in(o->recording, dir->known, p->name, care);
}

/* Something is about to happen to a path of the caller. If a link is followed, it is touched as
 * well as what it leads to: that costs less than to ask first whether it is one. */
static void touch_path(struct observer *o, struct resolver *r, size_t which)
{
	struct caller_place *p = resolver_path(r, which);

	while (p->found == PLACE_FOUND) {
		if (!touch(o, p, care_of(&r->intent, which)))
			p->ended = true;
		if (!resolver_follow(r, p))
			break;
	}
	if (p->found == PLACE_FOUND && p->dir->known && resolver_moves(r, p))
		recording_note_move(o->recording);
}

/* Whatever happens here, the call goes on. */
static int look(void *arg, struct resolver *r)
{
	struct observer *o = arg;
	const int rc = resolver_intent(r);

	for (size_t i = 0; rc > 0 && i < r->intent.count; i++)
		touch_path(o, r, i);
	/* A call whose arguments cannot be read changes something that is not known. */
	if (rc < 0 || r->blind)
		o->recording->missed = true;
	return JUDGE_PASSES;
}

int observer_init(struct observer *o, struct recording *r, struct err *e)
{
	const struct workspace *ws = journal_workspace(r->journal);
	const struct path top = { .base = PATH_WORKSPACE };

	*o = (struct observer){ .recording = r,
				.home = { .path = ws_rules(ws)->root, .open = dirs_open } };
	o->has_git = ws_rules(ws)->git[0].n > 0;
	o->home.root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e);
	return o->home.root < 0 ? -1 : 0;
}

void observer_done(struct observer *o)
{
	if (o->recording)
		fd_closep(&o->home.root);
}

struct judge observer_judge(struct observer *o)
{
	return (struct judge){ look, o, &o->home };
}
