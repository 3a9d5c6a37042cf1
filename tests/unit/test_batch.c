/* SPDX-License-Identifier: MIT */
/*
 * Several files change together, or none does: when the process is killed at any of its system
 * calls, and when any one of these fails.
 *
 * A child changes the files; this program traces it. It is ended before its n-th call, for each n;
 * or that call fails, for some reasons. Then the tree is what it was, to the last time and
 * attribute, or what it was to become.
 */

#include "tracer.h"

#include "changes/batch.h"

static const struct {
	const char *path, *old, *new;
	unsigned mode;
} plan[] = {
	{ "a", "old a\n", "new a\n", 0 },
	{ "d/sub/gone", "old\n", NULL, 0 },
	{ "gone", "old\n", NULL, 0 },
	{ "linked", "old linked\n", "new and longer\n", 0 },
	{ "m", "old m\n", "new m\n", 0100755 },
	{ "n/e/w", NULL, "made\n", 0 },
	{ "x/new", NULL, "made too\n", 0100755 },
	{ "z", "old z\n", "new z\n", 0 },
};

static void fill(const struct world *w)
{
	static const char *const dirs[] = { "ws/d", "ws/d/sub", "ws/x" };
	char name[64];

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		put_dir(&w->s, dirs[i]);
	for (size_t i = 0; i < ARRAY_LEN(plan); i++) {
		(void)snprintf(name, sizeof name, "ws/%s", plan[i].path);
		if (plan[i].old)
			put(&w->s, name, plan[i].old);
	}
	assert_int_equal(link(in(&w->s, "ws/linked"), in(&w->s, "ws/x/other")), 0);
	assert_int_equal(chmod(in(&w->s, "ws/m"), 0640), 0);
	(void)setxattr(in(&w->s, "ws/z"), "user.test", "kept", 4, 0);
}

static int apply(struct world *w, struct err *e)
{
	struct batch_file files[ARRAY_LEN(plan)];
	struct path paths[ARRAY_LEN(plan)];
	struct change made;

	for (size_t i = 0; i < ARRAY_LEN(plan); i++) {
		struct batch_file *f = &files[i];
		*f = (struct batch_file){ .path = &paths[i],
					  .shown = str_of(plan[i].path),
					  .was = plan[i].old,
					  .stays = plan[i].new,
					  .mode = plan[i].mode };
		f->new = str_of(plan[i].new ? plan[i].new : "");
		paths[i] = (struct path){ .base = PATH_WORKSPACE };
		(void)snprintf(paths[i].name, sizeof paths[i].name, "%s", plan[i].path);
		(void)fstatat(w->dir, plan[i].path, &f->st, AT_SYMLINK_NOFOLLOW);
	}
	struct batch b = { .ws = w->ws,
			   .journal = w->j,
			   .about = { .tool = STR("test") },
			   .prune = true,
			   .files = files,
			   .count = ARRAY_LEN(plan) };
	return batch_apply(&b, &w->a, &made, e);
}

/* Whether every file is the new one. */
static bool is_new(const struct world *w)
{
	char name[64];
	struct stat st;
	bool all = true;

	for (size_t i = 0; i < ARRAY_LEN(plan); i++) {
		(void)snprintf(name, sizeof name, "ws/%s", plan[i].path);
		const char *now = get(&w->s, name);
		all &= strcmp(now, plan[i].new ? plan[i].new : "(none)") == 0;
	}
	return all && strcmp(get(&w->s, "ws/x/other"), "new and longer\n") == 0 &&
	       stat(in(&w->s, "ws/m"), &st) == 0 && (st.st_mode & 0777) == 0750;
}

/* Whether nothing else is there. */
static bool is_tidy(const struct world *w)
{
	struct stat st;

	return stat(in(&w->s, "ws/d"), &st) < 0 && count_entries(w->root, ".sidecar-") == 0 &&
	       count_entries(in(&w->s, "ws/x"), ".sidecar-") == 0;
}

/* A world without a journal: the child opens it. */
static struct world new_world(void)
{
	struct world w = world_new();

	journal_free(w.j);
	w.j = NULL;
	fill(&w);
	return w;
}

/* Each takes some ten milliseconds. Without EVERY_CALL, only every so many are tried. */
static int step(int n)
{
	return getenv("EVERY_CALL") ? 1 : SANITIZED ? 7 : n;
}

static void kill_at_each_call(unsigned how, int every)
{
	bool ended = false;
	int n = 0, olds = 0;

	for (; !ended; n += step(every)) {
		struct world w = new_world();
		char *old = describe(&w);
		struct fate fate = { .act = apply, .how = WITH_JOURNAL | how, .n = n };
		ended = trace(&w, &fate) == OUTCOME_END;
		open_journal(&w);
		(void)settle_all(w.j);
		if (!is_new(&w)) {
			char what[80];
			(void)snprintf(what, sizeof what, "killed before call %d (%llu)", n,
				       (unsigned long long)fate.number);
			assert_false(ended);
			assert_tree(&w, old, what);
			olds++;
		} else {
			assert_true(is_tidy(&w));
		}
		free(old);
		world_free(&w);
	}
	assert_true(n > 60 && olds > 60 / step(every) - 3);
}

static void killed_at_each_call(void **state)
{
	(void)state;
	kill_at_each_call(0, 1);
}

static void killed_on_a_poor_file_system(void **state)
{
	(void)state;
	kill_at_each_call(POOR, 3);
}

/* Whether everything is as it was, but for the times of directories. */
static bool is_old(const struct world *w, const char *old)
{
	char *now = describe(w), *before = strdup(old);

	assert_non_null(before);
	drop_times(before, false);
	drop_times(now, false);
	const bool same = strcmp(before, now) == 0;
	free(now);
	free(before);
	return same;
}

static int incomplete; /* ways back */

static void check_failure(struct world *w, const struct fate *f, const char *old)
{
	const bool all = strstr(said->e.msg, "Nothing was changed.");
	bool right = said->rc == 0 ? is_new(w) : !all || is_old(w, old);

	/* Only a second failure may leave something, and it says so. */
	right &= said->rc == 0 || all ||
		 (f->again && strstr(said->e.msg, "could not be taken back completely"));
	incomplete += said->rc < 0 && !all;
	/* The next start agrees with what was said. */
	if (f->how & WITH_JOURNAL) {
		open_journal(w);
		(void)settle_all(w->j);
		right &= said->rc == 0 ? is_new(w) : is_old(w, old);
	}
	if (!right)
		fail_msg("call %d (%llu) and %d later failed with %s: %d %s\n%s%s", f->n,
			 (unsigned long long)f->number, f->again, strerror(f->error), said->rc,
			 said->e.msg, old, describe(w));
}

static void fail_calls(unsigned how, int every, int again)
{
	static const int errors[] = { EIO, ENOSPC, EPERM, ENOENT, EINVAL };
	bool ended = false;

	for (int n = 0; !ended; n += step(every)) {
		struct world w = new_world();
		char *old = describe(&w);
		struct fate fate = { .act = apply,
				     .how = how,
				     .n = n,
				     .error = errors[(size_t)n % ARRAY_LEN(errors)],
				     .again = again };
		ended = trace(&w, &fate) == OUTCOME_END;
		check_failure(&w, &fate, old);
		free(old);
		world_free(&w);
	}
}

static void fail_each_call(unsigned how, int every)
{
	fail_calls(how, every, 0);
}

/* What fails on the way back as well is said, and mended by the next start. */
static void failing_twice(void **state)
{
	static const int later[] = { 1, 2, 3, 5, 8, 13 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		for (unsigned how = 0; how <= WITH_JOURNAL; how++)
			fail_calls(how, 13, later[i]);
	assert_true(incomplete > 0);
}

static void failing_at_each_call(void **state)
{
	(void)state;
	fail_each_call(WITH_JOURNAL, 2);
}

static void failing_without_journal(void **state)
{
	(void)state;
	fail_each_call(0, 5);
}

static void failing_on_a_poor_file_system(void **state)
{
	(void)state;
	fail_each_call(POOR, 5);
}

static void swap_for_link(struct world *w)
{
	assert_int_equal(unlinkat(w->dir, "a", 0), 0);
	assert_int_equal(symlinkat("z", w->dir, "a"), 0);
}

static void swap_for_dir(struct world *w)
{
	assert_int_equal(unlinkat(w->dir, "a", 0), 0);
	assert_int_equal(mkdirat(w->dir, "a", 0755), 0);
}

static void swap_for_file(struct world *w)
{
	put(&w->s, "ws/theirs", "theirs\n");
	assert_int_equal(renameat(w->dir, "theirs", w->dir, "a"), 0);
}

static void write_to_it(struct world *w)
{
	put(&w->s, "ws/a", "theirs, longer\n");
}

static void take_away(struct world *w)
{
	assert_int_equal(unlinkat(w->dir, "a", 0), 0);
}

static void swap_removed(struct world *w)
{
	put(&w->s, "ws/theirs", "theirs\n");
	assert_int_equal(renameat(w->dir, "theirs", w->dir, "gone"), 0);
}

static void make_first(struct world *w)
{
	put(&w->s, "ws/x/new", "theirs\n");
}

/* Others change a file in the last moment, before the call that would replace, remove or make it:
 * what they did stays, and nothing else changes. */
static void disturbed_at_the_last_moment(void **state)
{
	static const struct {
		const char *name;
		uint64_t call;
		void (*disturb)(struct world *);
	} rows[] = {
		{ "link", SYS_renameat2, swap_for_link }, { "dir", SYS_renameat2, swap_for_dir },
		{ "file", SYS_renameat2, swap_for_file }, { "write", SYS_renameat2, write_to_it },
		{ "nothing", SYS_renameat2, take_away },  { "removed", SYS_renameat, swap_removed },
		{ "made", SYS_linkat, make_first },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (unsigned how = 0; how <= WITH_JOURNAL; how++) {
			struct world w = new_world(), other = new_world();
			struct fate fate = { apply, how, .call = rows[i].call,
					     .disturb = rows[i].disturb };
			assert_int_equal(trace(&w, &fate), OUTCOME_FAILED);
			rows[i].disturb(&other);
			char *now = describe(&w), *expected = describe(&other);
			drop_times(now, true);
			drop_times(expected, true);
			if (said->rc == 0 || said->e.code != ERR_FILE_CHANGED ||
			    !strstr(said->e.msg, "Nothing was changed.") || strcmp(now, expected))
				fail_msg("%s: %d %s\n%s%s", rows[i].name, said->rc, said->e.msg,
					 expected, now);
			free(now);
			free(expected);
			world_free(&w);
			world_free(&other);
		}
	}
}

/* Others change the file at any moment: if that is too early, the error says so and nothing else,
 * and what they made stays. */
static void disturbed_at_each_call(void **state)
{
	static void (*const kinds[])(struct world *) = { swap_for_file, swap_for_link, swap_for_dir,
							 write_to_it, take_away };
	enum outcome outcome = OUTCOME_FAILED;
	size_t kind = 0;
	int refused = 0;

	(void)state;
	for (int n = 0; kind < ARRAY_LEN(kinds); n += step(5)) {
		struct world w = new_world();
		struct fate fate = { apply, WITH_JOURNAL, .n = n, .disturb = kinds[kind] };
		outcome = trace(&w, &fate);
		if (said->rc < 0) {
			struct world other = new_world();
			kinds[kind](&other);
			char *now = describe(&w), *expected = describe(&other);
			drop_times(now, true);
			drop_times(expected, true);
			if (said->e.code != ERR_FILE_CHANGED || strcmp(now, expected) ||
			    !strstr(said->e.msg, "Nothing was changed."))
				fail_msg("%zu before call %d (%llu): %s\n%s%s", kind, n,
					 (unsigned long long)fate.number, said->e.msg, expected,
					 now);
			free(now);
			free(expected);
			world_free(&other);
			refused++;
		}
		/* Each kind begins at another call, so that together they meet all of them. */
		if (outcome == OUTCOME_END)
			n = (int)++kind - step(5);
		world_free(&w);
	}
	assert_true(refused > 50 / step(5));
}

/* One change, which undo takes back, and back again. */
static void undone(void **state)
{
	struct world w = new_world();
	char *old = describe(&w);
	struct err e;

	(void)state;
	open_journal(&w);
	assert_int_equal(apply(&w, &e), 0);
	assert_true(is_new(&w) && is_tidy(&w));
	const uint64_t back = undo(&w, 1);
	assert_tree(&w, old, "undone");
	(void)undo(&w, back);
	assert_true(is_new(&w));
	free(old);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undone),
		cmocka_unit_test(killed_at_each_call),
		cmocka_unit_test(killed_on_a_poor_file_system),
		cmocka_unit_test(disturbed_at_the_last_moment),
		cmocka_unit_test(disturbed_at_each_call),
		cmocka_unit_test(failing_at_each_call),
		cmocka_unit_test(failing_without_journal),
		cmocka_unit_test(failing_on_a_poor_file_system),
		cmocka_unit_test(failing_twice),
	};

	trace_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
