/* SPDX-License-Identifier: MIT */
/*
 * A program that dies at any of its system calls leaves all old or all new, once the next one has
 * looked: when it writes a file, edits one, applies a patch, undoes several changes, or redoes that.
 * A new directory, or a file with several names, may be left in between: then undo brings it back.
 * (test_batch.c looks closer at patches.)
 */

#include "tracer.h"

#include "changes/batch.h"
#include "service/history.h"
#include "tools/tool.h"
#include "workspace/replace.h"

enum { PATCHED = 20 };

static const struct tool tool = { .name = "write" };

static uint64_t last; /* the change that is redone */

static void fill(struct world *w)
{
	char name[64];

	put_dir(&w->s, "ws/d");
	put(&w->s, "ws/d/linked", "several names\n");
	assert_int_equal(link(in(&w->s, "ws/d/linked"), in(&w->s, "ws/other")), 0);
	for (int i = 0; i < PATCHED; i++) {
		(void)snprintf(name, sizeof name, "ws/d/f%02d", i);
		put(&w->s, name, "old\n");
	}
	(void)setxattr(in(&w->s, "ws/d/f00"), "user.test", "kept", 4, 0);
}

static void tell(void *arg, int dir, const char *name, enum witness_act act)
{
	history_before(arg, dir, name, act);
}

static void tell_content(void *arg, int dir, const char *name, struct str content)
{
	history_wrote(arg, dir, name, content);
}

/* As the tools do it. */
static int replace_file(struct world *w, const char *path, unsigned flags, const char *content,
			struct err *e)
{
	struct call_record record = { .journal = w->j, .tool = &tool };
	const struct witness witness = { .before = tell, .wrote = tell_content, .arg = &record };
	struct path p = { .base = PATH_WORKSPACE };
	AUTO_BUF old = { .max = 1 << 20 };
	AUTO_REPLACE r = REPLACE_NONE;
	struct change made;

	(void)snprintf(p.name, sizeof p.name, "%s", path);
	int rc = replace_begin(w->ws, &witness, &p, flags, &r, e);
	if (rc == 0 && flags & REPLACE_MUST_EXIST)
		rc = replace_read(&r, &old, e);
	if (rc == 0)
		rc = replace_commit(&r, str_of(content), e);
	(void)history_end(&record, &w->a, &made);
	return rc;
}

static int write_new(struct world *w, struct err *e)
{
	return replace_file(w, "new/dir/file", REPLACE_MAKE_DIRS, "new\n", e);
}

static int write_over(struct world *w, struct err *e)
{
	return replace_file(w, "d/f00", REPLACE_MAKE_DIRS, "new and longer\n", e);
}

static int edit(struct world *w, struct err *e)
{
	return replace_file(w, "d/f01", REPLACE_MUST_EXIST, "edited\n", e);
}

static int edit_linked(struct world *w, struct err *e)
{
	return replace_file(w, "d/linked", REPLACE_MUST_EXIST, "by both names, and longer\n", e);
}

/* Half of the files are changed, a quarter goes away, a quarter is made. */
static int patch(struct world *w, struct err *e)
{
	struct batch_file files[PATCHED] = { 0 };
	struct path paths[PATCHED];
	struct change made;

	for (int i = 0; i < PATCHED; i++) {
		struct path *p = &paths[i];
		*p = (struct path){ .base = PATH_WORKSPACE };
		(void)snprintf(p->name, sizeof p->name, i % 4 == 3 ? "made/%02d" : "d/f%02d", i);
		files[i] = (struct batch_file){ .path = p,
						.shown = str_of(p->name),
						.was = i % 4 == 3 ? NULL : "old\n",
						.stays = i % 4 == 2 ? NULL : "new\n",
						.new = i % 4 == 2 ? STR("") : STR("new\n") };
		(void)fstatat(w->dir, p->name, &files[i].st, AT_SYMLINK_NOFOLLOW);
	}
	struct batch b = { .ws = w->ws,
			   .journal = w->j,
			   .about = { .tool = STR("patch") },
			   .files = files,
			   .count = PATCHED };
	return batch_apply(&b, &w->a, &made, e);
}

static int undo_some(struct world *w, const uint64_t *ids, size_t n, uint64_t *made, struct err *e)
{
	const struct undo_request q = { .ids = ids, .id_count = n, .tool = STR("undo") };
	struct undo_result result;

	if (undo_changes(w->j, &q, &w->a, &result, e) < 0)
		return -1;
	*made = result.change;
	return 0;
}

static int undo_three(struct world *w, struct err *e)
{
	return undo_some(w, (const uint64_t[]){ 1, 2, 3 }, 3, &last, e);
}

static int redo(struct world *w, struct err *e)
{
	uint64_t ignored;

	return undo_some(w, &last, 1, &ignored, e);
}

static void change_three(struct world *w)
{
	struct err e;

	assert_int_equal(patch(w, &e), 0);
	assert_int_equal(write_new(w, &e), 0);
	assert_int_equal(edit_linked(w, &e), 0);
}

static void change_and_undo(struct world *w)
{
	struct err e;

	change_three(w);
	assert_int_equal(undo_three(w, &e), 0);
}

/* So large that it is not copied. */
static void put_large(struct world *w)
{
	put(&w->s, "ws/d/large", "old\n");
	assert_int_equal(truncate(in(&w->s, "ws/d/large"), 9 << 20), 0);
}

static int write_over_large(struct world *w, struct err *e)
{
	return replace_file(w, "d/large", REPLACE_MAKE_DIRS, "new and small\n", e);
}

static int remove_large(struct world *w, struct err *e)
{
	struct call_record record = { .journal = w->j, .tool = &tool };
	const struct witness witness = { .before = tell, .wrote = tell_content, .arg = &record };
	const struct path p = { .base = PATH_WORKSPACE, .name = "d/large" };
	const struct removal how = { .witness = &witness };
	struct change made;

	const int rc = ws_remove(w->ws, &how, &p, e);
	(void)history_end(&record, &w->a, &made);
	return rc;
}

static const struct row {
	const char *name;
	int (*act)(struct world *, struct err *);
	void (*before)(struct world *);
	bool parts; /* a directory may be left without its file, or a file half written */
	int every;  /* without EVERY_CALL */
} rows[] = {
	{ "write", write_over, NULL, false, 3 },
	{ "write over a large one", write_over_large, put_large, false, 3 },
	{ "remove a large one", remove_large, put_large, false, 3 },
	{ "a new file", write_new, NULL, true, 5 },
	{ "edit", edit, NULL, false, 5 },
	{ "in place", edit_linked, NULL, true, 4 },
	{ "patch", patch, NULL, false, 29 },
	{ "undo", undo_three, change_three, false, 37 },
	{ "redo", redo, change_and_undo, false, 33 },
};

/* What was done before is done, and nobody has the journal open. */
static struct world new_world(const struct row *row)
{
	struct world w = world_new();

	fill(&w);
	if (row->before)
		row->before(&w);
	journal_free(w.j);
	w.j = NULL;
	return w;
}

/* The tree without times, and without the numbers of names, of which the journal may have one. */
static char *outline(struct world *w)
{
	w->names_uncounted = true;
	char *text = describe(w);
	drop_times(text, true);
	return text;
}

/* What the tree becomes if nothing happens. */
static char *outcome_of(const struct row *row)
{
	struct world w = new_world(row);
	struct err e;

	open_journal(&w);
	assert_int_equal(row->act(&w, &e), 0);
	char *text = outline(&w);
	world_free(&w);
	return text;
}

/* What was left of a change is listed, and undo takes it back. */
static bool is_mended(struct world *w, const char *old)
{
	(void)undo(w, 1);
	char *now = outline(w);
	const bool mended = strcmp(now, old) == 0;
	free(now);
	return mended;
}

/* What was set aside stays if it cannot be removed. */
static void drop_aside(char *text)
{
	for (char *found; (found = strstr(text, "/" PENDING_PREFIX));) {
		char *line = found, *end = strchr(found, '\n');
		while (line > text && line[-1] != '\n')
			line--;
		memmove(line, end + 1, strlen(end + 1) + 1);
	}
}

/* After the next start: 0 if everything is old, 1 if it is new. */
static int judge(struct world *w, const struct row *row, const struct fate *f, const char *old,
		 const char *new)
{
	pending_sweep(pending_fd(ws_pending(w->ws))); /* as the keeper does */
	open_journal(w);
	(void)settle_all(w->j);
	char *now = outline(w);
	if (f->error)
		drop_aside(now);
	const bool is_new = strcmp(now, new) == 0;

	if (!is_new && strcmp(now, old) != 0 && !(row->parts && is_mended(w, old)))
		fail_msg("%s: call %d (%llu)\n%s", row->name, f->n, (unsigned long long)f->number,
			 now);
	free(now);
	return is_new;
}

static void meet(const struct row *row, int error)
{
	const int every = getenv("EVERY_CALL") ? 1 : SANITIZED ? 5 * row->every : row->every;
	char *new = outcome_of(row);
	bool ended = false;
	int n = 0, news = 0;

	for (; !ended; n += every) {
		struct world w = new_world(row);
		char *old = outline(&w);
		struct fate f = { row->act, 1, .n = n, .error = error };
		ended = trace(&w, &f) == OUTCOME_END;
		const int is_new = judge(&w, row, &f, old, new);
		/* What was answered is so, and stays so: from the first call on after which a change
		 * is committed, none brings the old tree back. */
		if (ended || (error && !row->parts))
			assert_int_equal(is_new, said->rc == 0);
		if (!error)
			assert_true(is_new >= (news > 0));
		news += is_new;
		free(old);
		world_free(&w);
	}
	print_message("%s: %d calls, new after %d\n", row->name, n / every - 1, news);
	free(new);
}

static void killed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		meet(&rows[i], 0);
}

static void failing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		meet(&rows[i], EIO);
}

/* What died between the link and what was to happen to the file leaves the file as it was. */
static void its_link_goes(void **state)
{
	struct world w = world_new();
	struct stat st;

	(void)state;
	put_dir(&w.s, "ws/d");
	put_large(&w);
	journal_free(TAKE(w.j, NULL));
	const pid_t pid = fork();
	if (pid == 0) {
		struct call_record record = { .tool = &tool };
		open_journal(&w);
		record.journal = w.j;
		AUTO_FD dir = open(in(&w.s, "ws/d"), O_PATH | O_DIRECTORY | O_CLOEXEC);
		history_before(&record, dir, "large", WITNESS_REPLACE);
		_exit(stat(in(&w.s, "ws/d/large"), &st) == 0 && st.st_nlink == 2 ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	open_journal(&w);
	assert_int_equal(settle_all(w.j), 1);
	assert_int_equal(stat(in(&w.s, "ws/d/large"), &st), 0);
	assert_int_equal(st.st_nlink, 1);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_link_goes),
		cmocka_unit_test(killed),
		cmocka_unit_test(failing),
	};

	trace_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
