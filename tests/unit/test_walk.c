/* SPDX-License-Identifier: MIT */
/* test_walk: walk: order, limits, deep trees, races. */

#include "tree.h"

#include <pthread.h>
#include <sys/resource.h>

#include "search/limits.h"

enum { TEXT_MAX = 16 << 20 };

static struct found find(const struct find_request *r)
{
	struct found found = { 0 };
	struct err e = { 0 };

	if (find_run(r, &found, &e) < 0)
		fail_msg("%s", e.msg);
	return found;
}

static struct find_request everything(const struct tree *t)
{
	return (struct find_request){
		.where = { .dirfd = t->fd, .threads = 2, .deadline_ms = IO_FOREVER },
	};
}

static void expect(const struct find_request *r, const char *want)
{
	AUTO_BUF text = { .max = TEXT_MAX };
	AUTO_FOUND found = find(r);

	assert_str(hits_paths(&found.hits, &text), want);
}

static void order_is_that_of_whole_paths(void **unused)
{
	static const char *const names[] = {
		"a/x", "a.c", "a-b/y", "a b", "a0", "a/", "A", "a/b/c", "a/b.c", "ab/",
	};
	struct tree t = tree_new();

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		tree_put(&t, names[i], STR(""));
	const struct find_request r = everything(&t);
	expect(&r, "A\na b\na-b/\na-b/y\na.c\na/\na/b.c\na/b/\na/b/c\na/x\na0\nab/\n");
	tree_done(&t);
}

static void the_usual_things(void **unused)
{
	struct tree t = tree_new();

	(void)unused;
	tree_put(&t, ".git/HEAD", STR("x"));
	tree_put(&t, ".git/info/exclude", STR("secret\n"));
	tree_put(&t, ".gitignore", STR("*.log\nbuild/\n!keep.log\n"));
	tree_put(&t, "secret", STR(""));
	tree_put(&t, "out.log", STR(""));
	tree_put(&t, "keep.log", STR(""));
	tree_put(&t, "build/gen.c", STR(""));
	tree_put(&t, "src/main.c", STR(""));
	tree_put(&t, "src/.ignore", STR("!x.log\n"));
	tree_put(&t, "src/x.log", STR("")); /* .ignore is stronger than .gitignore */
	tree_put(&t, "src/tmp", STR(""));
	assert_int_equal(symlinkat("..", t.fd, "src/up"), 0);
	struct find_request r = everything(&t);
	expect(&r,
	       ".gitignore\nkeep.log\nsrc/\nsrc/.ignore\nsrc/main.c\nsrc/tmp\nsrc/up\nsrc/x.log\n");
	r.where.excludes = STR("tmp\n");
	r.prefix = STR("ws/");
	r.pattern = STR("{tmp,*.c}");
	expect(&r, "ws/src/main.c\n");
	r.pattern = STR("out.*");
	AUTO_FOUND found = find(&r);
	assert_int_equal(found.hits.count, 0);
	assert_int_equal(found.ignored_matches, 1);
	assert_int_equal(found.account.hidden, 1);
	assert_int_equal(found.account.ignored, 4);
	r.where.all = true;
	expect(&r, "ws/out.log\n");
	tree_done(&t);
}

static void rules_of_the_directories_above(void **unused)
{
	struct tree t = tree_new();

	(void)unused;
	tree_put(&t, ".gitignore", STR("*.a\n/mid/sub/here\nhere2\n"));
	tree_put(&t, "mid/.gitignore", STR("*.b\n!x.a\n"));
	tree_put(&t, "mid/sub/x.a", STR(""));
	tree_put(&t, "mid/sub/y.a", STR(""));
	tree_put(&t, "mid/sub/x.b", STR(""));
	tree_put(&t, "mid/sub/here", STR(""));
	tree_put(&t, "mid/sub/ok", STR(""));
	AUTO_FD mid = openat(t.fd, "mid", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD sub = openat(t.fd, "mid/sub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int parents[] = { t.fd, mid };
	struct find_request r = everything(&t);
	r.where.dirfd = sub;
	r.where.parents = parents;
	r.where.parent_count = 2;
	r.where.parent_path = STR("mid/sub");
	expect(&r, "ok\nx.a\n");
	/* A repository of its own does not see the rules above it. */
	tree_put(&t, "mid/.git/info/exclude", STR("ok\n"));
	expect(&r, "here\nx.a\ny.a\n");
	/* The same when the walk comes from above. */
	r = everything(&t);
	r.pattern = STR("mid/sub/*");
	expect(&r, "mid/sub/here\nmid/sub/x.a\nmid/sub/y.a\n");
	tree_done(&t);
}

static void strange_names(void **unused)
{
	struct tree t = tree_new();

	(void)unused;
	tree_put(&t, "new\nline", STR(""));
	tree_put(&t, "\xff\xfe/\x01", STR(""));
	tree_put(&t, " ", STR(""));
	struct find_request r = everything(&t);
	expect(&r, " \nnew\nline\n\xff\xfe/\n\xff\xfe/\x01\n");
	r.pattern = STR("?");
	expect(&r, " \n\xff\xfe/\x01\n");
	tree_done(&t);
}

/* A tree large enough that the threads get in each other's way. */
static void put_many(const struct tree *t)
{
	char path[64];

	for (int i = 0; i < 12; i++)
		for (int k = 0; k < 8; k++)
			for (int f = 0; f < 6; f++) {
				snprintf(path, sizeof path, "d%d/e%d%s/f%d.c", i * 7 % 12, k,
					 k % 2 ? "" : ".x", f * 5 % 6);
				tree_put(t, path, STR("text\n"));
			}
}

static void limits_and_resuming(void **unused)
{
	struct tree t = tree_new();
	AUTO_BUF all = { .max = TEXT_MAX }, text = { .max = TEXT_MAX },
		 joined = { .max = TEXT_MAX };

	(void)unused;
	put_many(&t);
	struct find_request r = everything(&t);
	AUTO_FOUND whole = find(&r);
	hits_paths(&whole.hits, &all);
	assert_int_equal(whole.hits.count, 12 + 12 * 8 + 12 * 8 * 6);
	for (int run = 0; run < 50; run++) {
		r.where.threads = 1 + (unsigned)run % 4;
		r.where.limit = run % 3 ? (size_t)run * 13 + 1 : 0;
		AUTO_FOUND found = find(&r);
		const struct str got = hits_paths(&found.hits, &text);
		assert_true(str_starts(buf_str(&all), got));
		if (r.where.limit && r.where.limit < whole.hits.count) {
			assert_int_equal(found.hits.count, r.where.limit);
			assert_int_equal(found.account.stopped, WALK_LIMIT);
		} else {
			assert_true(str_eq(got, buf_str(&all)));
		}
	}
	/* Page by page gives the whole, whatever the page. */
	r.where.limit = 37;
	struct str last = { 0 };
	AUTO_BUF cursor = { .max = 4096 };
	for (int page = 0; page < 100; page++) {
		r.where.after = last;
		AUTO_FOUND found = find(&r);
		if (found.hits.count == 0)
			break;
		buf_add(&joined, hits_paths(&found.hits, &text));
		struct hits_reader reader = { .hits = &found.hits };
		struct hit hit;
		while (hits_next(&reader, &hit)) {
			buf_reset(&cursor, 4096);
			buf_add(&cursor, hit.path);
		}
		last = buf_str(&cursor);
	}
	assert_true(str_eq(buf_str(&joined), buf_str(&all)));
	tree_done(&t);
}

static void depth_and_sizes(void **unused)
{
	struct tree t = tree_new();

	(void)unused;
	tree_put(&t, "a/b/c", STR("12345"));
	tree_put(&t, "x", STR("123"));
	struct find_request r = everything(&t);
	r.where.max_depth = 1;
	expect(&r, "a/\nx\n");
	r.where.max_depth = 2;
	expect(&r, "a/\na/b/\nx\n");
	r.where.max_depth = 0;
	r.sizes = true;
	r.pattern = STR("c");
	AUTO_FOUND found = find(&r);
	struct hits_reader reader = { .hits = &found.hits };
	struct hit hit;
	assert_true(hits_next(&reader, &hit));
	assert_int_equal(hit.value, 5);
	assert_int_equal(hit.type, HIT_FILE);
	assert_false(hits_next(&reader, &hit));
	assert_false(hits_next(&reader, &hit));
	tree_done(&t);
}

/* A tree deeper than the longest path, with files to return to at every level, and few descriptors.
 */
static void deeper_than_paths(void **unused)
{
	enum { DEEP = 1100 };
	struct tree t = tree_new();
	int at = dup(t.fd);
	struct rlimit old, few;

	(void)unused;
	for (int i = 0; i < DEEP; i++) {
		assert_int_equal(mkdirat(at, "deep", 0700), 0);
		assert_int_equal(mkdirat(at, "next", 0700), 0);
		const int sub = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(sub >= 0);
		close(at);
		at = sub;
	}
	assert_int_equal(mkdirat(at, "bottom", 0700), 0);
	close(at);
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = LIMIT_WALK_DIRS + 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const struct find_request r = everything(&t);
	AUTO_FOUND found = find(&r);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(found.account.unreadable, 0);
	assert_int_equal(found.hits.count, 2 * DEEP + 1);
	struct hits_reader reader = { .hits = &found.hits };
	struct hit hit;
	for (int i = 0; i < DEEP + 1; i++)
		assert_true(hits_next(&reader, &hit));
	assert_true(str_ends(hit.path, STR("/bottom/")));
	assert_int_equal(hit.path.n, DEEP * 5 + 7);
	tree_done(&t);
}

static void unreadable_and_gone(void **unused)
{
	struct tree t = tree_new();

	(void)unused;
	tree_put(&t, "closed/x", STR(""));
	tree_put(&t, "open/x", STR(""));
	assert_int_equal(chmod(t.path, 0755), 0);
	assert_int_equal(fchmodat(t.fd, "open", 0755, 0), 0);
	assert_int_equal(fchmodat(t.fd, "closed", 0, 0), 0);
	const struct find_request r = everything(&t);
	leave_root();
	AUTO_FOUND found = find(&r);
	return_to_root();
	assert_int_equal(found.account.unreadable, 1);
	assert_int_equal(found.hits.count, 3);
	assert_int_equal(fchmodat(t.fd, "closed", 0700, 0), 0);
	tree_done(&t);
}

struct disturber {
	int fd;
	bool stop;
	void (*once)(int fd);
};

static void *disturb(void *arg)
{
	struct disturber *d = arg;

	while (!__atomic_load_n(&d->stop, __ATOMIC_RELAXED))
		d->once(d->fd);
	return NULL;
}

static void swap_with_link(int fd)
{
	(void)renameat2(fd, "in/dir", fd, "link", RENAME_EXCHANGE);
}

static void make_and_remove(int fd)
{
	(void)mkdirat(fd, "in/gone", 0700);
	(void)mkdirat(fd, "in/gone/deeper", 0700);
	(void)mkdirat(fd, "in/gone/deeper/still", 0700);
	(void)unlinkat(fd, "in/gone/deeper/still", AT_REMOVEDIR);
	(void)unlinkat(fd, "in/gone/deeper", AT_REMOVEDIR);
	(void)unlinkat(fd, "in/gone", AT_REMOVEDIR);
}

/* Walk the tree while another thread changes it: nothing from outside is ever seen. */
static void walk_disturbed(void (*once)(int))
{
	struct tree t = tree_new();
	pthread_t thread;

	tree_put(&t, "outside/OUTSIDE", STR("secret\n"));
	tree_put(&t, "outside/sub/OUTSIDE", STR("secret\n"));
	tree_put(&t, "in/dir/sub/inner", STR("x\n"));
	tree_put(&t, "in/other/x", STR("x\n"));
	assert_int_equal(symlinkat("../outside", t.fd, "link"), 0);
	assert_int_equal(mkdirat(t.fd, "in/more", 0700), 0);
	struct disturber d = { .fd = t.fd, .once = once };
	AUTO_FD in = openat(t.fd, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(pthread_create(&thread, NULL, disturb, &d), 0);
	struct find_request r = everything(&t);
	r.where.dirfd = in;
	size_t seen_dir = 0, seen_link = 0;
	for (const int64_t end = io_now_ms() + 1000; io_now_ms() < end;) {
		AUTO_FOUND found = find(&r);
		struct hits_reader reader = { .hits = &found.hits };
		struct hit hit;
		while (hits_next(&reader, &hit)) {
			if (str_find(hit.path, STR("OUTSIDE")) >= 0)
				__atomic_store_n(&d.stop, true, __ATOMIC_RELAXED);
			seen_dir += str_eq(hit.path, STR("dir/"));
			seen_link += str_eq(hit.path, STR("dir"));
		}
		if (d.stop)
			break;
	}
	const bool leaked = __atomic_exchange_n(&d.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	tree_done(&t);
	assert_false(leaked);
	if (once == swap_with_link && (!seen_dir || !seen_link))
		print_message("the exchange was seen only one way round\n");
}

static void directory_exchanged_for_link(void **unused)
{
	(void)unused;
	walk_disturbed(swap_with_link);
}

static void vanishing_directories(void **unused)
{
	(void)unused;
	walk_disturbed(make_and_remove);
}

static void stopping(void **unused)
{
	struct tree t = tree_new();
	const struct cancel cancelled = { .asked = true, .fd = -1 };

	(void)unused;
	put_many(&t);
	struct find_request r = everything(&t);
	r.where.cancel = &cancelled;
	AUTO_FOUND none = find(&r);
	assert_int_equal(none.account.stopped, WALK_CANCELLED);
	assert_int_equal(none.hits.count, 0);
	r.where.cancel = NULL;
	r.where.deadline_ms = io_now_ms() - 1;
	AUTO_FOUND late = find(&r);
	assert_int_equal(late.account.stopped, WALK_TIMEOUT);
	tree_done(&t);
}

static void bad_requests(void **unused)
{
	struct tree t = tree_new();
	struct found found = { 0 };
	struct err e = { 0 };

	(void)unused;
	struct find_request r = everything(&t);
	r.pattern = STR("[");
	assert_int_equal(find_run(&r, &found, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_GLOB);
	tree_put(&t, "file", STR(""));
	AUTO_FD file = openat(t.fd, "file", O_RDONLY | O_CLOEXEC);
	r = everything(&t);
	r.where.dirfd = file;
	assert_int_equal(find_run(&r, &found, &e), -1);
	assert_int_equal(e.code, ERR_NOT_A_DIRECTORY);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_that_of_whole_paths),
		cmocka_unit_test(the_usual_things),
		cmocka_unit_test(rules_of_the_directories_above),
		cmocka_unit_test(strange_names),
		cmocka_unit_test(limits_and_resuming),
		cmocka_unit_test(depth_and_sizes),
		cmocka_unit_test(deeper_than_paths),
		cmocka_unit_test(unreadable_and_gone),
		cmocka_unit_test(directory_exchanged_for_link),
		cmocka_unit_test(vanishing_directories),
		cmocka_unit_test(stopping),
		cmocka_unit_test(bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
