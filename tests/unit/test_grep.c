/* SPDX-License-Identifier: MIT */
/* test_grep: grep: searching contents, against small trees. */

#include "tree.h"

#include <pthread.h>

#include "base/limits.h"
#include "search/grep.h"

enum { TEXT_MAX = 16 << 20 };

static struct grep_request request(const struct tree *t, const char *pattern)
{
	return (struct grep_request){
		.where = { .dirfd = t->fd, .threads = 2, .deadline_ms = IO_FOREVER },
		.file_fd = -1,
		.pattern = str_of(pattern),
	};
}

static struct found grep(const struct grep_request *r)
{
	struct found found = { 0 };
	struct err e = { 0 };

	if (grep_run(r, &found, &e) < 0)
		fail_msg("%s", e.msg);
	return found;
}

/* The hits as the wire shows them. */
static struct str shown(const struct hits *h, struct buf *out)
{
	struct hits_reader r = { .hits = h };
	struct hit hit;
	struct hit_line line;

	buf_reset(out, out->max);
	while (hits_next(&r, &hit)) {
		if (hit.line == 0)
			buf_addf(out, "%.*s=%lld\n", STR_FMT(hit.path), (long long)hit.value);
		while (hit_next_line(&hit, &line)) {
			const char c = line.match ? ':' : '-';
			buf_addf(out, "%.*s%c%lld%c ", STR_FMT(hit.path), c, (long long)line.number,
				 c);
			buf_add(out, line.text);
			buf_add(out, line.cut ? STR("...\n") : STR("\n"));
		}
	}
	return buf_str(out);
}

static void expect(const struct grep_request *r, const char *want)
{
	AUTO_BUF text = { .max = TEXT_MAX };
	AUTO_FOUND found = grep(r);

	assert_str(shown(&found.hits, &text), want);
}

static struct tree sources(void)
{
	struct tree t = tree_new();

	tree_put(&t, ".git/HEAD", STR("return\n"));
	tree_put(&t, ".gitignore", STR("*.log\n"));
	tree_put(&t, "out.log", STR("LATER only here\n"));
	tree_put(&t, "src/main.c",
		 STR("#include <stdio.h>\n\nint main(void)\n{\n\tprintf(\"hello\\n\");\n\treturn "
		     "0;\n}\n"));
	tree_put(&t, "src/util.c",
		 STR("int add(int a, int b)\n{\n\treturn a + b;\n}\n\nint sub(int a, int "
		     "b)\n{\n\treturn a - b;\n}\n"));
	tree_put(&t, "src/util.h", STR("int add(int a, int b);\nint sub(int a, int b);\n"));
	tree_put(&t, "src/deep/leaf.txt", STR("leaf\nno newline at end"));
	tree_put(&t, "crlf.txt", STR("one\r\ntwo\r\nthree\r\n"));
	tree_put(&t, "bin", STR("return\n\0\n"));
	assert_int_equal(symlinkat("src/util.c", t.fd, "link.c"), 0);
	return t;
}

static void matching_lines(void **unused)
{
	struct tree t = sources();

	(void)unused;
	struct grep_request r = request(&t, "return");
	expect(&r,
	       "src/main.c:6: \treturn 0;\nsrc/util.c:3: \treturn a + b;\nsrc/util.c:8: \treturn "
	       "a - b;\n");
	r = request(&t, "two");
	expect(&r, "crlf.txt:2: two\n");
	r = request(&t, "no newline");
	r.prefix = STR("p/");
	expect(&r, "p/src/deep/leaf.txt:2: no newline at end\n");
	tree_done(&t);
}

static void context_blocks(void **unused)
{
	struct tree t = sources();

	(void)unused;
	struct grep_request r = request(&t, "return a - b");
	r.context = 2;
	expect(&r,
	       "src/util.c-6- int sub(int a, int b)\nsrc/util.c-7- {\nsrc/util.c:8: \treturn a - "
	       "b;\nsrc/util.c-9- }\nsrc/util.c-10- \n");
	r = request(&t, "int");
	r.context = 1;
	r.globs = (struct str[]){ STR("*.h") };
	r.glob_count = 1;
	expect(&r, "src/util.h:1: int add(int a, int b);\nsrc/util.h-2- int sub(int a, int b);\n"
		   "src/util.h-1- int add(int a, int b);\nsrc/util.h:2: int sub(int a, int b);\n"
		   "src/util.h-3- \n");
	r = request(&t, "leaf");
	r.context = 5;
	expect(&r, "src/deep/leaf.txt:1: leaf\nsrc/deep/leaf.txt-2- no newline at end\n");
	r = request(&t, "#include");
	r.context = 1;
	expect(&r, "src/main.c:1: #include <stdio.h>\nsrc/main.c-2- \n");
	tree_done(&t);
}

static void modes_and_filters(void **unused)
{
	struct tree t = sources();
	const struct str not_h[] = { STR("!*.h") }, under[] = { STR("src/**"), STR("!util.*") };
	const struct str no_dir[] = { STR("!src") }, type_c[] = { STR("C") };

	(void)unused;
	struct grep_request r = request(&t, "int");
	r.mode = SCAN_FILES;
	expect(&r, "src/main.c=1\nsrc/util.c=1\nsrc/util.h=1\n");
	r.mode = SCAN_COUNTS;
	expect(&r, "src/main.c=2\nsrc/util.c=2\nsrc/util.h=2\n");
	r.globs = not_h;
	r.glob_count = 1;
	expect(&r, "src/main.c=2\nsrc/util.c=2\n");
	r.globs = under;
	r.glob_count = 2;
	expect(&r, "src/main.c=2\n");
	r.globs = no_dir;
	r.glob_count = 1;
	expect(&r, "");
	r.glob_count = 0;
	r.types = type_c;
	r.type_count = 1;
	expect(&r, "src/main.c=2\nsrc/util.c=2\nsrc/util.h=2\n");
	tree_done(&t);
}

static void the_account(void **unused)
{
	struct tree t = sources();

	(void)unused;
	struct grep_request r = request(&t, "LATER");
	AUTO_FOUND found = grep(&r);
	assert_int_equal(found.hits.count, 0);
	assert_int_equal(found.ignored_matches, 1);
	assert_int_equal(found.account.files, 6);
	assert_int_equal(found.account.binary, 1);
	assert_int_equal(found.account.ignored, 1);
	assert_int_equal(found.account.hidden, 1);
	assert_int_equal(found.account.stopped, WALK_COMPLETE);
	r.where.after = STR("src/util.c");
	AUTO_FOUND rest = grep(&r);
	assert_int_equal(rest.ignored_matches, 0);
	tree_done(&t);
}

static void ignored_trees_are_hinted_at(void **unused)
{
	struct tree t = tree_new();

	(void)unused;
	tree_put(&t, ".gitignore", STR("deps/\n"));
	tree_put(&t, "main.c", STR("x\n"));
	tree_put(&t, "deps/a/one.c", STR("needle\nneedle\n"));
	tree_put(&t, "deps/a/.git/two.c", STR("needle\n"));
	tree_put(&t, "deps/b/.gitignore", STR("*\n"));
	tree_put(&t, "deps/b/three.c", STR("needle\n"));
	tree_put(&t, "deps/b/four.h", STR("needle\n"));
	struct grep_request r = request(&t, "needle");
	r.where.limit = 1;
	r.globs = (struct str[]){ STR("*.c") };
	r.glob_count = 1;
	AUTO_FOUND found = grep(&r);
	assert_int_equal(found.hits.count, 0);
	assert_int_equal(found.ignored_matches, 2);
	assert_int_equal(found.account.files, 1);
	assert_int_equal(found.account.stopped, WALK_COMPLETE);
	tree_done(&t);
}

static void binary_wherever_the_byte_is(void **unused)
{
	static const size_t places[] = { 0, 100, 5000, 200000, 299998 };
	struct tree t = tree_new();
	char *big = test_malloc(300000);

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		for (size_t k = 0; k < 300000; k++)
			big[k] = k % 30 == 29 ? '\n' : 'x';
		memcpy(big + 30, "needle", 6);
		big[places[i]] = 0;
		tree_put(&t, "file", (struct str){ big, 300000 });
		struct grep_request r = request(&t, "needle");
		AUTO_FOUND found = grep(&r);
		assert_int_equal(found.hits.count, 0);
		assert_int_equal(found.account.binary, 1);
	}
	test_free(big);
	tree_done(&t);
}

/* Windows end in the middle of lines and of context; the line numbers must still be right. */
static void files_larger_than_the_window(void **unused)
{
	enum { LINES = 60000 };
	struct tree t = tree_new();
	AUTO_BUF text = { .max = TEXT_MAX }, got = { .max = TEXT_MAX }, want = { .max = TEXT_MAX };

	(void)unused;
	for (int i = 1; i <= LINES; i++)
		buf_addf(&text, "line %d%s\n", i, i % 1000 == 7 ? " needle" : "");
	tree_put(&t, "big", buf_str(&text));
	struct grep_request r = request(&t, "needle");
	for (unsigned context = 0; context < 100; context += 33) {
		buf_reset(&want, TEXT_MAX);
		for (int i = 7; i <= LINES; i += 1000)
			for (int k = i - (int)context; k <= i + (int)context; k++)
				if (k > 0)
					buf_addf(&want, "big%c%d%c line %d%s\n", k == i ? ':' : '-',
						 k, k == i ? ':' : '-', k, k == i ? " needle" : "");
		r.context = context;
		AUTO_FOUND found = grep(&r);
		assert_true(str_eq(shown(&found.hits, &got), buf_str(&want)));
	}
	tree_put(&t, "small", STR("needle and so on\n"));
	r.max_bytes = 10;
	AUTO_FOUND found = grep(&r);
	assert_int_equal(found.account.too_large, 2);
	tree_done(&t);
}

static void huge_lines(void **unused)
{
	enum { HUGE_LINE = 5 << 20 };
	struct tree t = tree_new();
	AUTO_BUF text = { .max = TEXT_MAX };

	(void)unused;
	char *room = buf_room(&text, HUGE_LINE);
	memset(room, 'y', HUGE_LINE);
	memcpy(room + 100, "needle", 6);
	memcpy(room + (3 << 20), "needle", 6);
	buf_filled(&text, HUGE_LINE);
	buf_add(&text, STR("\nneedle\nlast\n"));
	tree_put(&t, "big", buf_str(&text));
	for (unsigned context = 0; context < 2; context++) {
		struct grep_request r = request(&t, "needle");
		r.context = context;
		AUTO_FOUND found = grep(&r);
		struct hits_reader reader = { .hits = &found.hits };
		struct hit hit;
		struct hit_line line;
		assert_int_equal(found.hits.count, 2);
		assert_true(hits_next(&reader, &hit));
		assert_int_equal(hit.line, 1);
		assert_true(hit_next_line(&hit, &line));
		assert_true(line.match && line.cut);
		assert_int_equal(line.text.n, LIMIT_SEARCH_TEXT);
		assert_true(hits_next(&reader, &hit));
		assert_int_equal(hit.line, 2);
	}
	tree_done(&t);
}

static void across_lines(void **unused)
{
	struct tree t = sources();

	(void)unused;
	struct grep_request r = request(&t, "b\\)\\n\\{\\n\\treturn a -");
	r.options.multiline = true;
	r.context = 1;
	expect(&r, "src/util.c-5- \nsrc/util.c:6: int sub(int a, int b)\nsrc/util.c:7: "
		   "{\nsrc/util.c:8: \treturn a - b;\nsrc/util.c-9- }\n");
	tree_done(&t);
}

static void byte_order_mark(void **unused)
{
	struct tree t = tree_new();

	(void)unused;
	tree_put(&t, "bom", STR("\xef\xbb\xbf#first\nsecond\n"));
	struct grep_request r = request(&t, "^#first");
	expect(&r, "bom:1: #first\n");
	tree_done(&t);
}

static void one_file(void **unused)
{
	struct tree t = sources();

	(void)unused;
	AUTO_FD fd = openat(t.fd, "src/util.c", O_RDONLY | O_CLOEXEC);
	struct grep_request r = request(&t, "return");
	r.file_fd = fd;
	r.file_path = STR("src/util.c");
	expect(&r, "src/util.c:3: \treturn a + b;\nsrc/util.c:8: \treturn a - b;\n");
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r.after_line = 3;
	expect(&r, "src/util.c:8: \treturn a - b;\n");
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r.after_line = 0;
	r.where.limit = 1;
	AUTO_FOUND found = grep(&r);
	assert_int_equal(found.account.stopped, WALK_LIMIT);
	assert_int_equal(found.hits.count, 1);
	tree_done(&t);
}

static void limits_and_resuming(void **unused)
{
	struct tree t = tree_new();
	AUTO_BUF all = { .max = TEXT_MAX }, text = { .max = TEXT_MAX },
		 joined = { .max = TEXT_MAX };
	AUTO_BUF cursor = { .max = 4096 };
	char path[64], lines[512];

	(void)unused;
	for (int d = 0; d < 20; d++)
		for (int f = 0; f < 40; f++) {
			size_t n = 0;
			for (int i = 0; i < (d * f) % 7; i++)
				n += (size_t)snprintf(lines + n, sizeof lines - n, "hit %d\nno\n",
						      i);
			snprintf(path, sizeof path, "d%d/s%d/f%d", d, f % 3, f);
			tree_put(&t, path, (struct str){ lines, n });
		}
	struct grep_request r = request(&t, "hit");
	AUTO_FOUND whole = grep(&r);
	shown(&whole.hits, &all);
	assert_true(whole.hits.count > 1000);
	for (int run = 0; run < 50; run++) {
		r.where.threads = 1 + (unsigned)run % 4;
		r.where.limit = run % 2 ? (size_t)run * 23 : 0;
		AUTO_FOUND found = grep(&r);
		assert_true(str_starts(buf_str(&all), shown(&found.hits, &text)));
		assert_int_equal(found.hits.count, r.where.limit && r.where.limit < whole.hits.count
							   ? r.where.limit
							   : whole.hits.count);
	}
	r.where.limit = 101;
	for (int page = 0; page < 100; page++) {
		AUTO_FOUND found = grep(&r);
		struct hits_reader reader = { .hits = &found.hits };
		struct hit hit;

		if (found.hits.count == 0)
			break;
		buf_add(&joined, shown(&found.hits, &text));
		while (hits_next(&reader, &hit)) {
			buf_reset(&cursor, 4096);
			buf_add(&cursor, hit.path);
			r.after_line = hit.line;
		}
		r.where.after = buf_str(&cursor);
	}
	assert_true(str_eq(buf_str(&joined), buf_str(&all)));
	tree_done(&t);
}

struct disturber {
	int fd;
	bool stop;
};

static void *swap_and_grow(void *arg)
{
	struct disturber *d = arg;

	while (!__atomic_load_n(&d->stop, __ATOMIC_RELAXED)) {
		(void)renameat2(d->fd, "in/dir", d->fd, "link", RENAME_EXCHANGE);
		(void)renameat2(d->fd, "in/file", d->fd, "flink", RENAME_EXCHANGE);
		AUTO_FD grows = openat(d->fd, "in/z", O_WRONLY | O_APPEND | O_CLOEXEC);
		(void)!write(grows, "open\n", 5);
	}
	return NULL;
}

static void nothing_from_outside(void **unused)
{
	struct tree t = tree_new();
	pthread_t thread;

	(void)unused;
	tree_put(&t, "outside/x", STR("secret\n"));
	tree_put(&t, "in/dir/x", STR("open\n"));
	tree_put(&t, "in/file", STR("open\n"));
	tree_put(&t, "in/z", STR("open\n"));
	assert_int_equal(symlinkat("../outside", t.fd, "link"), 0);
	assert_int_equal(symlinkat("../outside/x", t.fd, "flink"), 0);
	struct disturber d = { .fd = t.fd };
	AUTO_FD in = openat(t.fd, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(pthread_create(&thread, NULL, swap_and_grow, &d), 0);
	struct grep_request r = request(&t, "secret|open");
	r.where.dirfd = in;
	bool leaked = false;
	for (const int64_t end = io_now_ms() + 1000; io_now_ms() < end && !leaked;) {
		AUTO_FOUND found = grep(&r);
		AUTO_BUF text = { .max = TEXT_MAX };
		leaked = str_find(shown(&found.hits, &text), STR("secret")) >= 0;
	}
	__atomic_store_n(&d.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	tree_done(&t);
	assert_false(leaked);
}

/* A pattern that goes to PCRE2 and tries too much on one line ends the search and says so. */
static void too_many_ways(void **unused)
{
	struct tree t = tree_new();
	char line[5000];

	(void)unused;
	memset(line, 'a', sizeof line);
	tree_put(&t, "a", STR("aab\n"));
	tree_put(&t, "b", (struct str){ line, sizeof line });
	struct grep_request r = request(&t, "(?=a)(?:(a|aa)+)+[^a]\\1");
	AUTO_FOUND found = grep(&r);
	assert_int_equal(found.account.stopped, WALK_TIMEOUT);
	assert_int_equal(found.why.code, ERR_SEARCH_TIMEOUT);
	tree_done(&t);
}

static void bad_requests(void **unused)
{
	struct tree t = tree_new();
	struct found found = { 0 };
	struct err e = { 0 };
	const struct str odd[] = { STR("[") }, no_type[] = { STR("nope") };

	(void)unused;
	struct grep_request r = request(&t, "(");
	assert_int_equal(grep_run(&r, &found, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_REGEX);
	r = request(&t, "x");
	r.globs = odd;
	r.glob_count = 1;
	assert_int_equal(grep_run(&r, &found, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_GLOB);
	r = request(&t, "x");
	r.types = no_type;
	r.type_count = 1;
	assert_int_equal(grep_run(&r, &found, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
	assert_true(type_has(type_by_name(STR("make")), STR("Makefile")));
	assert_false(type_has(type_by_name(STR("py")), STR("py")));
	tree_done(&t);
}

/* What a search reported of its progress. */
struct told {
	pthread_t thread;
	int64_t files;
	int calls;
};

static void hear(void *arg, int64_t files)
{
	struct told *t = arg;

	assert_true(pthread_equal(t->thread, pthread_self()));
	assert_true(files >= t->files);
	t->files = files;
	t->calls++;
}

static void the_caller_s_thread_is_told_how_far_it_has_come(void **state)
{
	struct tree t = sources();
	struct told told = { .thread = pthread_self() };
	struct grep_request r = request(&t, "return");

	(void)state;
	/* With one thread the first report comes after the first item at the latest, and the next
	 * one later. */
	r.where.threads = 1;
	r.where.seen = hear;
	r.where.seen_arg = &told;
	AUTO_FOUND found = grep(&r);
	assert_true(told.calls >= 1);
	assert_true(told.files <= found.account.files);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matching_lines),
		cmocka_unit_test(context_blocks),
		cmocka_unit_test(modes_and_filters),
		cmocka_unit_test(the_account),
		cmocka_unit_test(ignored_trees_are_hinted_at),
		cmocka_unit_test(binary_wherever_the_byte_is),
		cmocka_unit_test(files_larger_than_the_window),
		cmocka_unit_test(huge_lines),
		cmocka_unit_test(across_lines),
		cmocka_unit_test(byte_order_mark),
		cmocka_unit_test(one_file),
		cmocka_unit_test(limits_and_resuming),
		cmocka_unit_test(nothing_from_outside),
		cmocka_unit_test(too_many_ways),
		cmocka_unit_test(bad_requests),
		cmocka_unit_test(the_caller_s_thread_is_told_how_far_it_has_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
