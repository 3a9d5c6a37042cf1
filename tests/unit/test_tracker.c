/* SPDX-License-Identifier: MIT */
/* Which version of a file a session has seen. */

#include "unit.h"

#include <pthread.h>

#include "base/own.h"
#include "workspace/limits.h"
#include "workspace/tracker.h"

static enum tracker_verdict check(struct tracker *t, const char *session, const char *path,
				  const char *content)
{
	return tracker_check(t, str_of(session), str_of(path), str_of(content));
}

static void saw(struct tracker *t, const char *session, const char *path, const char *content)
{
	tracker_saw(t, str_of(session), str_of(path), str_of(content), NULL);
}

static void a_files_life(void **state)
{
	struct tracker *t = tracker_new(10);

	(void)state;
	assert_int_equal(check(t, "s", "f", "one"), TRACKER_UNSEEN);
	saw(t, "s", "f", "one");
	assert_int_equal(check(t, "s", "f", "one"), TRACKER_SAME);
	assert_int_equal(check(t, "s", "f", "two"), TRACKER_CHANGED);
	assert_int_equal(check(t, "s", "f", "one more"), TRACKER_CHANGED);
	assert_int_equal(check(t, "s", "f", "one more"), TRACKER_CHANGED);
	saw(t, "s", "f", "one more");
	assert_int_equal(check(t, "s", "f", "one more"), TRACKER_SAME);
	tracker_free(t);
}

static void saw_lines(struct tracker *t, const char *content, int64_t first, int64_t last,
		      int64_t total)
{
	tracker_saw(t, STR("s"), STR("f"), str_of(content),
		    &(struct tracker_lines){ first, last, total });
}

static void pages_that_follow_each_other_are_the_whole(void **state)
{
	struct tracker *t = tracker_new(10);

	(void)state;
	saw_lines(t, "one", 1, 10, 30);
	assert_int_equal(check(t, "s", "f", "one"), TRACKER_PART);
	saw_lines(t, "one", 21, 30, 30); /* there is a gap before it */
	assert_int_equal(check(t, "s", "f", "one"), TRACKER_PART);
	saw_lines(t, "one", 5, 20, 30);
	assert_int_equal(check(t, "s", "f", "one"), TRACKER_PART);
	saw_lines(t, "one", 2, 3, 30); /* an old page again takes nothing back */
	saw_lines(t, "one", 21, 30, 30);
	assert_int_equal(check(t, "s", "f", "one"), TRACKER_SAME);
	saw_lines(t, "one", 2, 3, 30);
	assert_int_equal(check(t, "s", "f", "one"), TRACKER_SAME);
	assert_int_equal(check(t, "s", "f", "two"), TRACKER_CHANGED);
	/* Of another version nothing is known. */
	saw_lines(t, "two", 11, 30, 30);
	assert_int_equal(check(t, "s", "f", "two"), TRACKER_PART);
	saw_lines(t, "two", 1, 0, INT64_MAX);
	saw_lines(t, "two", INT64_MAX, INT64_MAX, INT64_MAX);
	assert_int_equal(check(t, "s", "f", "two"), TRACKER_PART);
	saw_lines(t, "two", 1, INT64_MAX, INT64_MAX);
	assert_int_equal(check(t, "s", "f", "two"), TRACKER_SAME);
	tracker_free(t);
}

static void sessions_and_paths_are_apart(void **state)
{
	struct tracker *t = tracker_new(10);

	(void)state;
	saw(t, "ab", "c", "x");
	assert_int_equal(check(t, "ab", "c", "x"), TRACKER_SAME);
	assert_int_equal(check(t, "a", "bc", "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "abc", "", "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "", "abc", "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "other", "c", "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "ab", "d", "x"), TRACKER_UNSEEN);
	saw(t, "", "", "");
	assert_int_equal(check(t, "", "", ""), TRACKER_SAME);
	tracker_free(t);
}

static void the_longest_unused_is_forgotten(void **state)
{
	struct tracker *t = tracker_new(3);

	(void)state;
	saw(t, "s", "a", "x");
	saw(t, "s", "b", "x");
	saw(t, "s", "c", "x");
	assert_int_equal(check(t, "s", "a", "x"), TRACKER_SAME); /* a is in use again */
	saw(t, "s", "d", "x");
	assert_int_equal(check(t, "s", "b", "x"), TRACKER_UNSEEN);
	assert_int_equal(check(t, "s", "a", "x"), TRACKER_SAME);
	assert_int_equal(check(t, "s", "c", "x"), TRACKER_SAME);
	saw(t, "s", "c", "x"); /* seen twice is one entry */
	assert_int_equal(check(t, "s", "d", "x"), TRACKER_SAME);
	tracker_free(t);
	t = tracker_new(0);
	assert_non_null(t);
	saw(t, "s", "a", "x");
	assert_int_equal(check(t, "s", "a", "x"), TRACKER_SAME);
	tracker_free(t);
	tracker_free(NULL);
}

static void a_hash_in_pieces_is_the_hash_of_the_whole(void **state)
{
	struct tracker *t = tracker_new(3);
	struct tracker_hash *h = tracker_hash_new();

	(void)state;
	tracker_hash_add(h, STR("hello "));
	tracker_hash_add(h, (struct str){ NULL, 0 });
	tracker_hash_add(h, STR("world"));
	tracker_saw_hash(t, STR("s"), STR("f"), 11, tracker_hash_end(h), NULL);
	assert_int_equal(check(t, "s", "f", "hello world"), TRACKER_SAME);
	assert_int_equal(check(t, "s", "f", "hello World"), TRACKER_CHANGED);
	h = tracker_hash_new();
	tracker_saw_hash(t, STR("s"), STR("empty"), 0, tracker_hash_end(h), NULL);
	assert_int_equal(tracker_check(t, STR("s"), STR("empty"), (struct str){ NULL, 0 }),
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
	struct worker *w = arg;

	for (int i = 0; i < 5000; i++) {
		char path[16];
		(void)snprintf(path, sizeof path, "f%d", i % 100);
		saw(w->t, w->session, path, path);
		w->wrong += check(w->t, w->session, path, path) == TRACKER_CHANGED;
		w->wrong += check(w->t, w->session, path, "x") == TRACKER_SAME;
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
	struct tracker *t = tracker_new(2);
	AUTO_BUF out = { .max = 1 << 20 };

	(void)state;
	assert_false(tracker_recall(t, STR("s"), STR("f"), &out));
	saw(t, "s", "f", "one");
	assert_true(str_eq(recall(t, "f", &out), STR("one")));
	assert_false(tracker_recall(t, STR("other"), STR("f"), &out));
	saw(t, "s", "f", "two");
	assert_true(str_eq(recall(t, "f", &out), STR("two")));
	saw(t, "s", "e", "");
	assert_true(tracker_recall(t, STR("s"), STR("e"), &out));
	tracker_saw_hash(t, STR("s"), STR("f"), 3, 1, NULL);
	assert_false(tracker_recall(t, STR("s"), STR("f"), &out));
	saw(t, "s", "g", "ggg");
	assert_false(tracker_recall(t, STR("s"), STR("e"), &out));
	assert_true(str_eq(recall(t, "g", &out), STR("ggg")));
	tracker_free(t);
}

/* The oldest contents go first, and only the contents. */
static void contents_are_bounded(void **state)
{
	enum { FILES = 2 * (LIMIT_TRACKED_BYTES / LIMIT_TRACKED_CONTENT) };
	struct tracker *t = tracker_new(1000);
	char *bytes = mem_new(LIMIT_TRACKED_CONTENT + 1, 1);
	const struct str content = { bytes, LIMIT_TRACKED_CONTENT };
	AUTO_BUF out = { .max = 1 << 20 };
	char name[16];

	(void)state;
	for (int i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof name, "%d", i);
		tracker_saw(t, STR("s"), str_of(name), content, NULL);
	}
	/* One that is too large is not kept, and displaces no other. */
	tracker_saw(t, STR("s"), STR("large"), (struct str){ bytes, LIMIT_TRACKED_CONTENT + 1 },
		    NULL);
	assert_int_equal(recall(t, "large", &out).n, 0);
	for (int i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof name, "%d", i);
		assert_int_equal(recall(t, name, &out).n, i < FILES / 2 ? 0 : content.n);
		assert_int_equal(tracker_check(t, STR("s"), str_of(name), content), TRACKER_SAME);
	}
	mem_free(bytes);
	tracker_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_files_life),
		cmocka_unit_test(pages_that_follow_each_other_are_the_whole),
		cmocka_unit_test(sessions_and_paths_are_apart),
		cmocka_unit_test(the_longest_unused_is_forgotten),
		cmocka_unit_test(a_hash_in_pieces_is_the_hash_of_the_whole),
		cmocka_unit_test(small_contents_are_kept),
		cmocka_unit_test(contents_are_bounded),
		cmocka_unit_test(many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
