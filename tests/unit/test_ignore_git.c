/* SPDX-License-Identifier: MIT */
/* Ignore rules against git itself: generated trees, and what "git check-ignore" says about every
 * path in them. The seeds are fixed, so a failure can be repeated. */

#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io.h"
#include "search/glob.h"

enum { TREES = 60, DIRS = 12, FILES = 10, PATHS_MAX = 2000 };

static uint64_t state;

static unsigned roll(unsigned n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % n;
}

static const char *const words[] = {
	"a",	      "b",	  "ab",	  "abc",   "foo",   "bar",   "foo.o",	"bar.o",
	"foo.c",      "x y",	  "x ",	  "a b ",  "-dash", "#h",    "!bang",	"a[b]",
	"a*b",	      "a\\b",	  "Foo",  "FOO.O", ".hid",  "build", "build.o", "t.",
	"foo.tar.gz", "\xc3\xbc", "\xff", "a?",	   "1",	    "10",    "{a,b}",	"]",
};

static const char *const pieces[] = {
	"a",	 "b",	"ab",	"foo",	"bar",	     "*",     "?",	     "**",	    "/",
	"/",	 "/",	"[ab]", "[!a]", "[^b]",	     "[a-c]", "[[:digit:]]", "[[:alpha:]]", "[]]",
	"[",	 "]",	".",	".o",	"*.o",	     "*.c",   "foo.o",	     "build",	    "\\",
	"\\*",	 "\\[", " ",	"\\ ",	"x",	     "x y",   "-",	     "#",	    "!",
	"**/",	 "/**", "/**/", "[a-",	"[[:bad:]]", "{a,b}", "[\\]a]",	     "\xc3\xbc",    "o",
	"[!-~]", "***", "t",	"f*",	"*o",
};

static void pattern_line(struct buf *out)
{
	static const char *const whole[] = {
		"*.o",	 "build/",	"/build", "!foo.o",	"*",	     "!*/",   "!*.c",
		"foo/*", "foo/**",	"**/foo", "**/foo/bar", "a/**/b",    "/*",    "!/foo",
		"\\#h",	 "\\!bang",	"x\\ ",	  "x ",		"# comment", "",      "foo/**/",
		"/foo/", "a/b/",	"**/",	  "!build/",	"?",	     "foo.*", "*.tar.gz",
		".*",	 "!.gitignore", "**",	  "a/",		"/a/b",	     "b**/c", "a/b**/a",
		"*/b",	 "*/*/a",	"/",	  "//",		"a//b",
	};

	if (roll(5) == 0)
		buf_addc(out, '!');
	if (roll(3)) {
		buf_add(out, str_of(whole[roll(ARRAY_LEN(whole))]));
	} else {
		for (unsigned n = 1 + roll(4); n--;)
			buf_add(out, str_of(pieces[roll(ARRAY_LEN(pieces))]));
	}
	if (roll(12) == 0)
		buf_add(out, STR("   "));
	buf_add(out, roll(10) ? STR("\n") : STR("\r\n"));
}

static void write_at(int dir, const char *name, struct str text)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, IO_FOREVER), 0);
}

static void write_rules(int dir, const char *name)
{
	AUTO_BUF text = { .max = 1 << 16 };

	if (roll(8) == 0)
		buf_add(&text, STR("\xef\xbb\xbf"));
	for (unsigned n = 1 + roll(7); n--;)
		pattern_line(&text);
	if (roll(4) == 0 && text.n)
		text.n--; /* no newline at the end */
	write_at(dir, name, buf_str(&text));
}

struct tree {
	struct buf paths; /* every path, each followed by a NUL */
	size_t count;
};

/* Directories and files below `at`; their paths are noted. */
static void grow_tree(struct tree *t, int at, const char *prefix, unsigned depth)
{
	const unsigned dirs = depth == 0 ? 0 : 1 + roll(4);

	if (roll(3) == 0 || depth == 4)
		write_rules(at, ".gitignore");
	for (unsigned i = 0; i < FILES; i++) {
		const char *name = words[roll(ARRAY_LEN(words))];
		struct stat st;

		if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		write_at(at, name, STR("x\n"));
		buf_addf(&t->paths, "%s%s", prefix, name);
		buf_addc(&t->paths, 0);
		t->count++;
	}
	for (unsigned i = 0; i < dirs; i++) {
		const char *name = words[roll(ARRAY_LEN(words))];
		char path[512];

		if (mkdirat(at, name, 0700) < 0)
			continue;
		AUTO_FD sub = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(sub >= 0);
		snprintf(path, sizeof path, "%s%s/", prefix, name);
		/* git is asked about the directory itself, which exists. */
		buf_addf(&t->paths, "%s%s", prefix, name);
		buf_addc(&t->paths, 0);
		t->count++;
		grow_tree(t, sub, path, depth - 1);
	}
}

static bool has_path(struct str list, struct str path)
{
	while (list.n) {
		struct str one;

		str_cut(list, 0, &one, &list);
		if (str_eq(one, path))
			return true;
	}
	return false;
}

static struct buf read_at(int dir, const char *name)
{
	struct buf b = { .max = 1 << 22 };
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	char *to = buf_room(&b, 1 << 21);
	const ssize_t n = io_read_full(fd, to, 1 << 21);
	assert_true(n >= 0);
	buf_filled(&b, (size_t)n);
	return b;
}

static size_t compare_tree(int top, const char *path, unsigned seed)
{
	struct tree t = { .paths = { .max = 1 << 22 } };
	AUTO_FOUND found = { 0 };
	AUTO_BUF shown = { .max = 1 << 22 };
	struct err e = { 0 };
	char command[1024];
	size_t wrong = 0;

	state = seed;
	AUTO_FD work = openat(top, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(work >= 0);
	if (seed % 3 == 0) {
		AUTO_FD info = openat(work, ".git/info", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		write_rules(info, "exclude");
	}
	grow_tree(&t, work, "", 4);
	write_at(top, "asked", buf_str(&t.paths));
	/* git's exit status is 1 when nothing is ignored. */
	snprintf(command, sizeof command,
		 "cd %s/work && git check-ignore -z --stdin <../asked >../ignored 2>/dev/null",
		 path);
	(void)!system(command);
	struct buf ignored = read_at(top, "ignored");

	const struct find_request r = {
		.where = { .dirfd = work, .threads = 2, .deadline_ms = IO_FOREVER },
	};
	assert_int_equal(find_run(&r, &found, &e), 0);
	struct hits_reader reader = { .hits = &found.hits };
	struct hit hit;
	while (hits_next(&reader, &hit)) {
		buf_add(&shown,
			hit.type == HIT_DIRECTORY ? str_upto(hit.path, hit.path.n - 1) : hit.path);
		buf_addc(&shown, 0);
	}
	for (struct str rest = buf_str(&t.paths), one; rest.n;) {
		str_cut(rest, 0, &one, &rest);
		const bool theirs = has_path(buf_str(&ignored), one);
		if (theirs != has_path(buf_str(&shown), one))
			continue;
		print_error("seed %u: %.*s: git says %s\n", seed, STR_FMT(one),
			    theirs ? "ignored" : "not ignored");
		wrong++;
	}
	buf_done(&ignored);
	buf_done(&t.paths);
	return wrong ? SIZE_MAX : t.count;
}

static void same_as_git(void **unused)
{
	size_t cases = 0;

	(void)unused;
	if (system("git --version >/dev/null 2>&1") != 0)
		skip_because("git is not installed");
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("LC_ALL", "C", 1);
	for (unsigned seed = 1; seed <= TREES; seed++) {
		char path[] = "/tmp/test_ignore_XXXXXX", command[256];

		assert_non_null(mkdtemp(path));
		snprintf(command, sizeof command, "git init -q %s/work", path);
		assert_int_equal(system(command), 0);
		AUTO_FD top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		const size_t n = compare_tree(top, path, seed);
		if (n == SIZE_MAX)
			fail_msg("kept for a look: %s", path);
		cases += n;
		snprintf(command, sizeof command, "rm -rf %s", path);
		assert_int_equal(system(command), 0);
	}
	print_message("%zu paths agree\n", cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_git),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
