/* SPDX-License-Identifier: MIT */
/* Which version of a file a session has seen. */

#include "scratch.h"

#include <pthread.h>

#include "base/limits.h"
#include "base/own.h"
#include "workspace/tracker.h"

static struct stat stat_of(const struct scratch *s, const char *name)
{
	struct stat st;

	assert_int_equal(stat(in(s, name), &st), 0);
	return st;
}

static enum tracker_verdict check(struct tracker *t, const char *session, const char *path,
				  const struct stat *st, const char *content)
{
	return tracker_check(t, str_of(session), str_of(path), st, str_of(content));
}

static void saw(struct tracker *t, const char *session, const char *path, const struct stat *st,
		const char *content)
{
	tracker_saw(t, str_of(session), str_of(path), st, str_of(content));
}

static void a_files_life(void **state)
{
	struct scratch s = scratch_new();
	struct tracker *t = tracker_new(10);
	const struct timespec touched[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	(void)state;
	put(&s, "f", "one");
	struct stat st = stat_of(&s, "f");
	assert_int_equal(check(t, "s", "f", &st, "one"), TRACKER_UNSEEN);
	saw(t, "s", "f", &st, "one");
	assert_int_equal(check(t, "s", "f", &st, "one"), TRACKER_SAME);
	/* touched, not changed */
	assert_int_equal(utimensat(AT_FDCWD, in(&s, "f"), touched, 0), 0);
	st = stat_of(&s, "f");
	assert_int_equal(check(t, "s", "f", &st, "one"), TRACKER_SAME);
	/* another file with the same content */
	put(&s, "g", "one");
	assert_int_equal(rename(in(&s, "g"), in(&s, "f")), 0);
	st = stat_of(&s, "f");
	assert_int_equal(check(t, "s", "f", &st, "one"), TRACKER_SAME);
	/* changed */
	put(&s, "f", "one more");
	st = stat_of(&s, "f");
	assert_int_equal(check(t, "s", "f", &st, "one more"), TRACKER_CHANGED);
	assert_int_equal(check(t, "s", "f", &st, "one more"), TRACKER_CHANGED);
	saw(t, "s", "f", &st, "one more");
	assert_int_equal(check(t, "s", "f", &st, "one more"), TRACKER_SAME);
	tracker_free(t);
	scratch_free(&s);
}

static void a_change_that_hides_behind_its_time_is_seen(void **state)
{
	struct scratch s = scratch_new();
	struct tracker *t = tracker_new(10);

	(void)state;
	put(&s, "f", "one");
	struct stat st = stat_of(&s, "f");
	const struct timespec before[2] = { st.st_atim, st.st_mtim };
	saw(t, "s", "f", &st, "one");
	/* Same file, same size, same time: within one tick of the clock, or set back. */
	put(&s, "f", "two");
	assert_int_equal(utimensat(AT_FDCWD, in(&s, "f"), before, 0), 0);
	st = stat_of(&s, "f");
	assert_int_equal(check(t, "s", "f", &st, "two"), TRACKER_CHANGED);
	tracker_free(t);
	scratch_free(&s);
}

static void sessions_and_paths_are_apart(void **state)
{
	static const struct stat st = { .st_size = 1 };
	struct tracker *t = tracker_new(10);

	(void)state;
	saw(t, "ab", "c", &st, "x");
	assert_int_equal(check(t, "ab", "c", &st, "x"), TRACKER_SAME);
	assert_int_equal(check(t, "a", "bc", &st, "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "abc", "", &st, "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "", "abc", &st, "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "other", "c", &st, "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "ab", "d", &st, "x"), TRACKER_UNSEEN);
	saw(t, "", "", &st, "");
	assert_int_equal(check(t, "", "", &st, ""), TRACKER_SAME);
	tracker_free(t);
}

static void the_longest_unused_is_forgotten(void **state)
{
	static const struct stat st = { .st_size = 1 };
	struct tracker *t = tracker_new(3);

	(void)state;
	saw(t, "s", "a", &st, "x");
	saw(t, "s", "b", &st, "x");
	saw(t, "s", "c", &st, "x");
	assert_int_equal(check(t, "s", "a", &st, "x"), TRACKER_SAME); /* a is in use again */
	saw(t, "s", "d", &st, "x");
	assert_int_equal(check(t, "s", "b", &st, "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "s", "a", &st, "x"), TRACKER_SAME);
	assert_int_equal(check(t, "s", "c", &st, "x"), TRACKER_SAME);
	saw(t, "s", "c", &st, "x"); /* seen twice is one entry */
	assert_int_equal(check(t, "s", "d", &st, "x"), TRACKER_SAME);
	tracker_free(t);
	t = tracker_new(0);
	assert_non_null(t);
	saw(t, "s", "a", &st, "x");
	assert_int_equal(check(t, "s", "a", &st, "x"), TRACKER_SAME);
	tracker_free(t);
	tracker_free(NULL);
}

static void a_hash_in_pieces_is_the_hash_of_the_whole(void **state)
{
	static const struct stat st = { .st_size = 11 };
	static const struct stat other = { .st_size = 11, .st_ino = 2 };
	struct tracker *t = tracker_new(3);
	struct tracker_hash *h = tracker_hash_new();

	(void)state;
	tracker_hash_add(h, STR("hello "));
	tracker_hash_add(h, (struct str){ NULL, 0 });
	tracker_hash_add(h, STR("world"));
	tracker_saw_hash(t, STR("s"), STR("f"), &st, tracker_hash_end(h));
	assert_int_equal(check(t, "s", "f", &other, "hello world"), TRACKER_SAME);
	assert_int_equal(check(t, "s", "f", &other, "hello World"), TRACKER_CHANGED);
	h = tracker_hash_new();
	tracker_saw_hash(t, STR("s"), STR("empty"), &st, tracker_hash_end(h));
	assert_int_equal(tracker_check(t, STR("s"), STR("empty"), &st, (struct str){ NULL, 0 }),
			 TRACKER_SAME);
	tracker_free(t);
}

struct worker {
	struct tracker *t;
	char session[16];
	int wrong;
};

static void *work(void *arg)
{
	static const struct stat st = { .st_size = 1 };
	struct worker *w = arg;

	for (int i = 0; i < 5000; i++) {
		char path[16];
		(void)snprintf(path, sizeof path, "f%d", i % 100);
		saw(w->t, w->session, path, &st, path);
		w->wrong += check(w->t, w->session, path, &st, path) == TRACKER_CHANGED;
		w->wrong += check(w->t, w->session, path, &st, "x") == TRACKER_SAME;
	}
	return NULL;
}

static void many_threads(void **state)
{
	struct tracker *t = tracker_new(150);
	struct worker workers[4];
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		workers[i] = (struct worker){ .t = t };
		(void)snprintf(workers[i].session, sizeof workers[i].session, "s%d", i);
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(workers[i].wrong, 0);
	}
	tracker_free(t);
}

/* What the tracker still knows of a file; empty when nothing. */
static struct str recall(struct tracker *t, const char *path, struct buf *out)
{
	buf_reset(out, SIZE_MAX);
	return tracker_recall(t, STR("s"), str_of(path), out) ? buf_str(out) : STR("");
}

static void small_contents_are_kept(void **state)
{
	const struct stat three = { .st_size = 3 }, none = { .st_size = 0 };
	struct tracker *t = tracker_new(2);
	AUTO_BUF out = { .max = 1 << 20 };

	(void)state;
	assert_false(tracker_recall(t, STR("s"), STR("f"), &out));
	saw(t, "s", "f", &three, "one");
	assert_true(str_eq(recall(t, "f", &out), STR("one")));
	assert_false(tracker_recall(t, STR("other"), STR("f"), &out));
	saw(t, "s", "f", &three, "two");
	assert_true(str_eq(recall(t, "f", &out), STR("two")));
	saw(t, "s", "e", &none, "");
	assert_true(tracker_recall(t, STR("s"), STR("e"), &out));
	tracker_saw_hash(t, STR("s"), STR("f"), &three, 1);
	assert_false(tracker_recall(t, STR("s"), STR("f"), &out));
	saw(t, "s", "g", &three, "ggg");
	assert_false(tracker_recall(t, STR("s"), STR("e"), &out));
	assert_true(str_eq(recall(t, "g", &out), STR("ggg")));
	tracker_free(t);
}

/* The oldest contents go first, and only the contents. */
static void contents_are_bounded(void **state)
{
	enum { FILES = 2 * (LIMIT_TRACKED_BYTES / LIMIT_TRACKED_CONTENT) };
	const struct stat st = { .st_size = LIMIT_TRACKED_CONTENT };
	const struct stat large = { .st_size = LIMIT_TRACKED_CONTENT + 1 };
	struct tracker *t = tracker_new(1000);
	char *bytes = mem_new(LIMIT_TRACKED_CONTENT + 1, 1);
	const struct str content = { bytes, LIMIT_TRACKED_CONTENT };
	AUTO_BUF out = { .max = 1 << 20 };
	char name[16];

	(void)state;
	for (int i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof name, "%d", i);
		tracker_saw(t, STR("s"), str_of(name), &st, content);
	}
	/* One that is too large is not kept, and makes nobody go. */
	tracker_saw(t, STR("s"), STR("large"), &large,
		    (struct str){ bytes, LIMIT_TRACKED_CONTENT + 1 });
	assert_int_equal(recall(t, "large", &out).n, 0);
	for (int i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof name, "%d", i);
		assert_int_equal(recall(t, name, &out).n, i < FILES / 2 ? 0 : content.n);
		assert_int_equal(tracker_check(t, STR("s"), str_of(name), &st, content),
				 TRACKER_SAME);
	}
	mem_free(bytes);
	tracker_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_files_life),
		cmocka_unit_test(a_change_that_hides_behind_its_time_is_seen),
		cmocka_unit_test(sessions_and_paths_are_apart),
		cmocka_unit_test(the_longest_unused_is_forgotten),
		cmocka_unit_test(a_hash_in_pieces_is_the_hash_of_the_whole),
		cmocka_unit_test(small_contents_are_kept),
		cmocka_unit_test(contents_are_bounded),
		cmocka_unit_test(many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
