/* SPDX-License-Identifier: MIT */
/* Changes of all kinds are recorded, undone and done again; the tree is exactly what it was. */

#include "changes_unit.h"

#include <sys/sysmacros.h>

/* The operations of a command, each touched before it happens. */
static int parent(const struct world *w, const char *path, char name[NAME_MAX + 1])
{
	return dirs_open_parent(w->dir, str_of(path), name);
}

static void touch(struct recording *r, int dir, const char *name, enum touch_care care)
{
	struct err e;

	assert_int_equal(recording_touch(r, dir, name, care, &e), 0);
}

static void write_text(const struct world *w, struct recording *r, const char *path,
		       const char *text)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = parent(w, path, name);

	if (dir < 0)
		return;
	touch(r, dir, name, TOUCH_CONTENT);
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0)
		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void drop(const struct world *w, struct recording *r, const char *path)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = parent(w, path, name);

	if (dir < 0)
		return;
	touch(r, dir, name, TOUCH_LAST);
	if (unlinkat(dir, name, 0) < 0)
		(void)unlinkat(dir, name, AT_REMOVEDIR);
}

static void make_dir(const struct world *w, struct recording *r, const char *path)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = parent(w, path, name);

	if (dir < 0)
		return;
	touch(r, dir, name, TOUCH_META);
	(void)mkdirat(dir, name, 0755);
}

static void move(const struct world *w, struct recording *r, const char *from, const char *to)
{
	char a[NAME_MAX + 1], b[NAME_MAX + 1];
	AUTO_FD dir_a = parent(w, from, a);
	AUTO_FD dir_b = parent(w, to, b);

	if (dir_a < 0 || dir_b < 0)
		return;
	touch(r, dir_a, a, TOUCH_META);
	touch(r, dir_b, b, TOUCH_LAST);
	(void)renameat(dir_a, a, dir_b, b);
}

static void change_mode(const struct world *w, struct recording *r, const char *path, mode_t mode)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = parent(w, path, name);

	if (dir < 0)
		return;
	touch(r, dir, name, TOUCH_META);
	(void)fchmodat(dir, name, mode, 0);
}

static void set_attribute(const struct world *w, struct recording *r, const char *path,
			  const char *value)
{
	char name[NAME_MAX + 1], text[NAME_MAX + 64];
	AUTO_FD dir = parent(w, path, name);

	if (dir < 0)
		return;
	touch(r, dir, name, TOUCH_META);
	(void)snprintf(text, sizeof text, "/proc/self/fd/%d/%s", dir, name);
	(void)lsetxattr(text, "user.test", value, strlen(value), 0);
}

static void link_to(const struct world *w, struct recording *r, const char *path, const char *text)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = parent(w, path, name);

	if (dir < 0)
		return;
	touch(r, dir, name, TOUCH_META);
	(void)symlinkat(text, dir, name);
}

static void link_hard(const struct world *w, struct recording *r, const char *from, const char *to)
{
	char a[NAME_MAX + 1], b[NAME_MAX + 1];
	AUTO_FD dir_a = parent(w, from, a);
	AUTO_FD dir_b = parent(w, to, b);

	if (dir_a < 0 || dir_b < 0)
		return;
	/* Through its new name it may be written to. */
	touch(r, dir_a, a, TOUCH_META);
	touch(r, dir_b, b, TOUCH_META);
	(void)linkat(dir_a, a, dir_b, b, 0);
}

static void fill(const struct world *w)
{
	struct recording none = { .journal = NULL };

	make_dir(w, &none, "d");
	make_dir(w, &none, "d/e");
	make_dir(w, &none, "f");
	write_text(w, &none, "a", "first");
	write_text(w, &none, "b", "second");
	write_text(w, &none, "d/a", "third");
	write_text(w, &none, "d/e/a", "fourth");
	link_to(w, &none, "l", "a");
	link_hard(w, &none, "d/a", "d/h");
	set_attribute(w, &none, "b", "value");
}

/* Do something, undo it, do it again, undo that: the tree is what it was each time. */
static void there_and_back(void (*act)(const struct world *w, struct recording *r))
{
	struct world w = world_new();

	fill(&w);
	char *before = describe(&w);
	w.names_uncounted = true;
	char *loosely = describe(&w);
	struct recording r = start(&w);
	act(&w, &r);
	char *after = describe(&w);
	const uint64_t id = finish(&w, &r);
	assert_int_not_equal(id, 0);
	assert_tree(&w, after, "finishing changes nothing");
	const uint64_t undone = undo(&w, id);
	w.names_uncounted = false;
	assert_tree(&w, before, "undo");
	(void)undo(&w, undone);
	w.names_uncounted = true;
	assert_tree(&w, after, "redo");
	(void)undo(&w, id);
	assert_tree(&w, loosely, "undo again");
	free(loosely);
	free(before);
	free(after);
	world_free(&w);
}

static void act_write(const struct world *w, struct recording *r)
{
	write_text(w, r, "a", "changed");
	write_text(w, r, "new", "new");
	write_text(w, r, "d/a", "changed, and it has two names");
}

static void act_remove_tree(const struct world *w, struct recording *r)
{
	drop(w, r, "d/e/a");
	drop(w, r, "d/e");
	drop(w, r, "d/h");
	drop(w, r, "d/a");
	drop(w, r, "d");
	drop(w, r, "l");
	drop(w, r, "f");
}

static void act_save_by_rename(const struct world *w, struct recording *r)
{
	write_text(w, r, "a.tmp", "saved");
	change_mode(w, r, "a.tmp", 0600);
	move(w, r, "a.tmp", "a");
}

static void act_move_tree(const struct world *w, struct recording *r)
{
	move(w, r, "d", "moved");
	write_text(w, r, "moved/e/a", "changed after the move");
	write_text(w, r, "moved/e/new", "made after the move");
	make_dir(w, r, "d");
	write_text(w, r, "d/a", "another by the old name");
	move(w, r, "moved/e", "f/e");
	drop(w, r, "f/e/a");
}

static void act_swap(const struct world *w, struct recording *r)
{
	move(w, r, "a", "t");
	move(w, r, "b", "a");
	move(w, r, "t", "b");
	move(w, r, "d", "t");
	move(w, r, "f", "d");
	move(w, r, "t", "f");
}

static void act_move_over(const struct world *w, struct recording *r)
{
	move(w, r, "a", "b");
	move(w, r, "b", "d/a");
}

static void act_move_and_destroy(const struct world *w, struct recording *r)
{
	move(w, r, "a", "x");
	drop(w, r, "x");
	move(w, r, "b", "y");
	write_text(w, r, "y", "overwritten");
}

static void act_metadata(const struct world *w, struct recording *r)
{
	change_mode(w, r, "a", 0755);
	change_mode(w, r, "d", 0711);
	set_attribute(w, r, "b", "other");
	set_attribute(w, r, "d/e", "on a directory");
	drop(w, r, "l");
	link_to(w, r, "l", "b");
}

static void act_types(const struct world *w, struct recording *r)
{
	drop(w, r, "a");
	make_dir(w, r, "a");
	write_text(w, r, "a/x", "in a directory that was a file");
	drop(w, r, "f");
	write_text(w, r, "f", "a file that was a directory");
	drop(w, r, "l");
	write_text(w, r, "l", "a file that was a link");
}

static void act_links(const struct world *w, struct recording *r)
{
	link_hard(w, r, "a", "a2");
	drop(w, r, "a");
	drop(w, r, "d/h");
	link_hard(w, r, "b", "d/b");
	write_text(w, r, "d/b", "through its second name");
}

static void a_removed_device_comes_back_as_it_was(void **state)
{
	static const mode_t kinds[] = { S_IFCHR, S_IFBLK };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct world w = world_new();
		struct stat st;
		if (mknodat(w.dir, "device", kinds[i] | 0600, makedev(240, 77)) < 0) {
			world_free(&w);
			skip(); /* only root makes devices */
		}
		struct recording r = start(&w);
		drop(&w, &r, "device");
		const uint64_t id = finish(&w, &r);
		(void)undo_all(&w, &id, 1, ERR_NONE);
		assert_int_equal(fstatat(w.dir, "device", &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_int_equal(st.st_mode, kinds[i] | 0600);
		assert_int_equal(st.st_rdev, makedev(240, 77));
		world_free(&w);
	}
}

static void every_kind_of_change_goes_there_and_back(void **state)
{
	(void)state;
	there_and_back(act_write);
	there_and_back(act_remove_tree);
	there_and_back(act_save_by_rename);
	there_and_back(act_move_tree);
	there_and_back(act_swap);
	there_and_back(act_move_over);
	there_and_back(act_move_and_destroy);
	there_and_back(act_metadata);
	there_and_back(act_types);
	there_and_back(act_links);
}

static void what_changes_nothing_is_not_a_change(void **state)
{
	struct world w = world_new();
	struct change_entry entry;

	(void)state;
	fill(&w);
	struct recording r = start(&w);
	assert_int_equal(finish(&w, &r), 0);
	r = start(&w);
	write_text(&w, &r, "x", "made");
	drop(&w, &r, "x");
	assert_int_equal(finish(&w, &r), 0);
	assert_int_equal(journal_list(w.j, 0, &entry, 1), 0);
	world_free(&w);
}

static unsigned next(unsigned *seed, unsigned end)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % end;
}

/* One operation, on names that often meet. */
static void act_at_random(const struct world *w, struct recording *r, unsigned *seed)
{
	static const char *const names[] = { "a",   "b",   "d",	    "d/a",   "d/e", "d/e/a",
					     "f",   "f/a", "f/d",   "f/d/a", "g",   "g/a",
					     "g/e", "h",   "d/e/b", "f/e" };
	const char *one = names[next(seed, ARRAY_LEN(names))];
	const char *two = names[next(seed, ARRAY_LEN(names))];
	char text[32];

	(void)snprintf(text, sizeof text, "text %u", next(seed, 1000));
	switch (next(seed, 11)) {
	case 0:
	case 1:
	case 2:
		write_text(w, r, one, text);
		break;
	case 3:
	case 4:
		drop(w, r, one);
		break;
	case 5:
		make_dir(w, r, one);
		break;
	case 6:
	case 7:
	case 8:
		move(w, r, one, two);
		break;
	case 9:
		change_mode(w, r, one, 0700 + next(seed, 64));
		break;
	default:
		link_to(w, r, one, "nowhere");
		break;
	}
}

static void any_series_of_changes_is_undone_one_by_one_and_at_once(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 150; seed++) {
		struct world w = world_new();
		unsigned random = seed;
		uint64_t ids[6];
		char *trees[7], what[64];
		size_t n = 0;
		fill(&w);
		/* A file with several names is known only by the names that a change used. */
		assert_int_equal(unlinkat(w.dir, "d/h", 0), 0);
		trees[0] = describe(&w);
		for (int i = 0; i < 6; i++) {
			struct recording r = start(&w);
			for (unsigned k = next(&random, 8) + 1; k; k--)
				act_at_random(&w, &r, &random);
			/* What only changes times of directories would not be a change. */
			(void)snprintf(what, sizeof what, "u%d", i);
			write_text(&w, &r, what, what);
			const uint64_t id = finish(&w, &r);
			assert_int_not_equal(id, 0);
			ids[n++] = id;
			trees[n] = describe(&w);
		}
		(void)snprintf(what, sizeof what, "seed %u", seed);
		const uint64_t all = undo_all(&w, ids, n, ERR_NONE);
		assert_tree(&w, trees[0], what);
		(void)undo(&w, all);
		assert_tree(&w, trees[n], what);
		for (size_t i = n; i-- > 0;) {
			(void)undo(&w, ids[i]);
			assert_tree(&w, trees[i], what);
		}
		for (size_t i = 0; i <= n; i++)
			free(trees[i]);
		world_free(&w);
	}
}

/* The server dies at any moment of an undo: after the next start the tree is as it was before the
 * undo, or as it is after it. */
static void an_undo_that_dies_is_taken_back_or_complete(void **state)
{
	int undone = 0;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct world w = world_new();
		fill(&w);
		char *before = describe(&w);
		struct recording r = start(&w);
		act_move_tree(&w, &r);
		act_write(&w, &r);
		const uint64_t id = finish(&w, &r);
		char *after = describe(&w);
		journal_free(w.j);
		const pid_t pid = fork();
		if (pid == 0) {
			open_journal(&w);
			(void)undo(&w, id);
			_exit(0);
		}
		(void)usleep(round * 20);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		pending_sweep(pending_fd(ws_pending(w.ws))); /* as the keeper does */
		open_journal(&w);
		(void)settle_all(w.j);
		struct change_entry entry;
		struct err e;
		assert_int_equal(journal_find(w.j, id, &entry, &e), 0);
		undone += entry.undone_by != 0;
		assert_tree(&w, entry.undone_by ? before : after, "after the next start");
		if (!entry.undone_by)
			(void)undo(&w, id);
		assert_tree(&w, before, "undone after the next start");
		free(before);
		free(after);
		world_free(&w);
	}
	assert_true(undone < 200);
}

/* What another process has changed is not overwritten, unless it is forced; then it is kept. */
static void conflicts_change_nothing(void **state)
{
	struct world w = world_new();
	struct recording none = { .journal = NULL };
	struct undo_result result;
	struct err e;

	(void)state;
	fill(&w);
	struct recording r = start(&w);
	write_text(&w, &r, "a", "changed");
	make_dir(&w, &r, "n");
	drop(&w, &r, "b");
	const uint64_t id = finish(&w, &r);
	write_text(&w, &none, "a", "by another");
	write_text(&w, &none, "b", "in the way");
	write_text(&w, &none, "n/x", "in a new directory");
	char *now = describe(&w);
	struct undo_request q = { .ids = &id, .id_count = 1 };
	assert_int_equal(undo_changes(w.j, &q, &w.a, &result, &e), -1);
	assert_int_equal(e.code, ERR_CONFLICT);
	assert_int_equal(result.said.conflict_count, 3);
	assert_tree(&w, now, "nothing has changed");
	q.force = q.dry_run = true;
	assert_int_equal(undo_changes(w.j, &q, &w.a, &result, &e), 0);
	assert_tree(&w, now, "nothing has changed");
	q.dry_run = false;
	assert_int_equal(undo_changes(w.j, &q, &w.a, &result, &e), 0);
	assert_int_not_equal(result.change, 0);
	(void)undo(&w, result.change);
	assert_tree(&w, now, "what was overwritten came back");
	assert_int_equal(undo_all(&w, (uint64_t[]){ 99 }, 1, ERR_CHANGE_NOT_FOUND), 0);
	free(now);
	world_free(&w);
}

/* A file tool says what it has written. If that is not what is there, another process was faster:
 * what that wrote is not overwritten. */
static void what_a_tool_has_written_need_not_be_read(void **state)
{
	static const struct {
		const char *noted, *there;
		enum err_code expected;
	} rows[] = { { "changed", "changed", ERR_NONE }, { "changed", "by them", ERR_CONFLICT } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w = world_new();
		struct err e;
		fill(&w);
		char *old = describe(&w);
		struct recording r =
			recording_of(w.j, &(struct recording_about){ .tool = STR("write") });
		assert_int_equal(recording_touch(&r, w.dir, "a", TOUCH_CONTENT, &e), 0);
		put(&w.s, "ws/a", rows[i].there);
		recording_note_content(&r, w.dir, "a", str_of(rows[i].noted));
		struct change c;
		assert_true(recording_finish(&r, &w.a, &c));
		assert_int_equal(c.counts[ITEM_MODIFIED], 1);
		assert_true(str_eq(c.items[0].after.text, str_of(rows[i].noted)));
		char *now = describe(&w);
		(void)undo_all(&w, &c.id, 1, rows[i].expected);
		assert_tree(&w, rows[i].expected == ERR_NONE ? old : now, rows[i].there);
		free(old);
		free(now);
		world_free(&w);
	}
}

static struct recording start_tool(const struct world *w)
{
	return recording_of(w->j, &(struct recording_about){ .tool = STR("delete_file") });
}

/* A file tool may remove a large tree: that must not need memory for all that was in it, and if
 * there is too little, what is known of the change says so. */
static void a_tool_removes_many_files(void **state)
{
	enum { FILES = 200, SIZE = 20000 };
	static const struct {
		size_t memory;
		size_t least, most; /* how many of them are listed */
	} rows[] = { { 4 << 20, FILES, FILES }, { 40 << 10, 0, FILES - 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w = world_new();
		AUTO_ARENA a = { .max = rows[i].memory };
		static char content[SIZE + 1];
		char name[32];
		struct err e;
		memset(content, 'x', SIZE);
		put_dir(&w.s, "ws/d");
		for (int n = 0; n < FILES; n++) {
			(void)snprintf(name, sizeof name, "ws/d/%d", n);
			content[0] = (char)('a' + n % 26);
			content[1] = (char)('a' + n / 26);
			put(&w.s, name, content);
		}
		char *old = describe(&w);
		struct recording r = start_tool(&w);
		AUTO_FD d = openat(w.dir, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(recording_touch(&r, w.dir, "d", TOUCH_LAST, &e), 0);
		for (int n = 0; n < FILES; n++) {
			(void)snprintf(name, sizeof name, "%d", n);
			assert_int_equal(recording_touch(&r, d, name, TOUCH_LAST, &e), 0);
			assert_int_equal(unlinkat(d, name, 0), 0);
		}
		assert_int_equal(unlinkat(w.dir, "d", AT_REMOVEDIR), 0);
		struct change c;
		(void)recording_finish(&r, &a, &c);
		assert_in_range(c.counts[ITEM_DELETED], rows[i].least, rows[i].most + 1);
		assert_int_equal(!(c.flags & CHANGE_INCOMPLETE), rows[i].least == FILES);
		/* A directory that is gone has no time in the record. */
		for (size_t n = 0; n < c.item_count; n++)
			assert_true(c.items[n].kind != ITEM_TIMES || !c.items[n].path.n);
		if (rows[i].least == FILES) {
			(void)undo(&w, c.id);
			assert_tree(&w, old, "the directory is back");
		}
		free(old);
		world_free(&w);
	}
}

/* What was overwritten and could not be kept is lost, though the new content has its size. */
static void a_tool_overwrites_what_was_not_kept(void **state)
{
	struct world w = world_new();
	struct change c;
	struct err e;

	(void)state;
	put(&w.s, "ws/f", "before!");
	struct recording r = start_tool(&w);
	assert_int_equal(recording_touch(&r, w.dir, "f", TOUCH_META, &e), 0);
	put(&w.s, "ws/f", "changed");
	recording_note_content(&r, w.dir, "f", STR("changed"));
	assert_true(recording_finish(&r, &w.a, &c));
	assert_true(c.flags & CHANGE_UNSAVED);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_change_goes_there_and_back),
		cmocka_unit_test(a_removed_device_comes_back_as_it_was),
		cmocka_unit_test(what_changes_nothing_is_not_a_change),
		cmocka_unit_test(any_series_of_changes_is_undone_one_by_one_and_at_once),
		cmocka_unit_test(an_undo_that_dies_is_taken_back_or_complete),
		cmocka_unit_test(conflicts_change_nothing),
		cmocka_unit_test(what_a_tool_has_written_need_not_be_read),
		cmocka_unit_test(a_tool_removes_many_files),
		cmocka_unit_test(a_tool_overwrites_what_was_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
