/* SPDX-License-Identifier: MIT */
/* Patches of three formats become lists of files and hunks; what is not a patch is refused with its
 * line. */

#include "unit.h"

#include "base/buf.h"
#include "patch/limits.h"
#include "patch/patch.h"

/* The parsed patch as text: for each file its kind, paths and mode, then the lines of its hunks. */
static void describe(const struct patch *p, struct buf *out)
{
	static const char kinds[] = "ADUMC";
	struct patch_line lines[64];

	for (size_t i = 0; i < p->count; i++) {
		const struct patch_file *f = &p->files[i];
		buf_addf(out, "%c %.*s", kinds[f->kind], STR_FMT(f->path));
		if (f->from.n)
			buf_addf(out, " < %.*s", STR_FMT(f->from));
		if (f->mode)
			buf_addf(out, " %o", f->mode);
		buf_add(out, f->may_add ? STR(" ?\n") : STR("\n"));
		for (const struct patch_hunk *h = f->hunks; h; h = h->next) {
			const size_t n = patch_hunk_lines(p, h, lines);
			buf_addf(out, "@%lld", (long long)h->line);
			if (h->old_start >= 0)
				buf_addf(out, " %lld,%lld", (long long)h->old_start,
					 (long long)h->new_start);
			buf_addf(out, " %zu,%zu%s\n", h->old_count, h->new_count,
				 h->at_end ? " end" : "");
			for (size_t k = 0; k < n; k++)
				buf_addf(out, "%c%.*s%s\n", lines[k].sign, STR_FMT(lines[k].text),
					 lines[k].open ? "$" : "");
		}
	}
}

static int parse(const char *text, enum patch_format format, int strip, struct buf *out,
		 struct err *e)
{
	const struct str copy = guarded(str_of(text));
	AUTO_ARENA a = { .max = 64 << 20 };
	struct patch p;
	const int result = patch_parse(copy, format, strip, &a, &p, e);

	if (result == 0)
		describe(&p, out);
	guarded_free(copy);
	return result;
}

#define BEGIN "*** Begin Patch\n"
#define END   "*** End Patch\n"
#define GIT   "diff --git a/x b/x\n"

static const struct {
	const char *text, *files;
} good[] = {
	/* v4a */
	{ BEGIN "*** Add File: a b.md\n+x\n+\n" END, "A a b.md\n@2 0,2\n+x\n+\n" },
	{ BEGIN "*** Add File: e\n" END, "A e\n@2 0,0\n" },
	{ BEGIN "*** Delete File: d/e\n" END, "D d/e\n" },
	{ BEGIN "*** Update File: u\n@@\n-a\n+b\n" END, "U u\n@3 1,1\n-a\n+b\n" },
	{ BEGIN "*** Update File: u\n a\n+b\n" END, "U u\n@3 1,2\n a\n+b\n" },
	{ BEGIN "*** Update File: u\n@@ class A\n@@ def f\n-a\n@@\n+b\n*** End of File\n" END,
	  "U u\n@3 1,0\n-a\n@6 0,1 end\n+b\n" },
	{ BEGIN "*** Update File: u\n@@\n-a\n*** End of File\n\n@@\n+b\n" END,
	  "U u\n@3 1,0 end\n-a\n@7 0,1\n+b\n" },
	{ BEGIN "*** Update File: u\n*** Move to: v\n@@\n-a\n+b\n" END,
	  "M v < u\n@4 1,1\n-a\n+b\n" },
	{ BEGIN "*** Update File: u\n*** Move to: v\n" END, "M v < u\n" },
	{ BEGIN "*** Add File: a\n+1\n*** Delete File: b\n*** Update File: c\n@@\n-x\n" END,
	  "A a\n@2 0,1\n+1\nD b\nU c\n@6 1,0\n-x\n" },
	{ BEGIN "*** Update File: u\n@@\n a\n\n-b\n" END, "U u\n@3 3,2\n a\n \n-b\n" },
	{ BEGIN "\n*** Environment ID: 7\n*** Delete File: d\n\n" END "\n\n", "D d\n" },
	/* v4a as models write it */
	{ " *** Begin Patch \n  *** Update File: u\n@@\n-a\n *** End Patch", "U u\n@3 1,0\n-a\n" },
	{ BEGIN "*** Delete File: d", "D d\n" },
	{ BEGIN "*** Update File: u\n-a\n+b", "U u\n@3 1,1\n-a\n+b\n" },
	{ "*** Delete File: d\n", "D d\n" },
	{ "<<EOF\n" BEGIN "*** Delete File: d\n" END "EOF\n", "D d\n" },
	{ "<<'EOF'\n" BEGIN "*** Delete File: d\n" END "EOF", "D d\n" },
	{ "apply_patch <<\"X\"\n" BEGIN "*** Update File: u\n-a\n" END "X\n", "U u\n@4 1,0\n-a\n" },
	{ "```\n" BEGIN "*** Delete File: d\n" END "```\n", "D d\n" },
	{ "*** Begin Patch\r\n*** Update File: u\r\n@@\r\n-a\r\n\r\n+b\r\n*** End Patch\r\n",
	  "U u\n@3 2,2\n-a\n \n+b\n" },
	/* unified */
	{ "--- a/x\n+++ b/x\n@@ -1 +1,2 @@ f()\n a\n+b\n", "U x\n@3 1,1 1,2\n a\n+b\n" },
	{ "--- x.orig\t2020-01-01\n+++ x\t2020-01-02\n@@ -1,1 +1,0 @@\n-a\n",
	  "U x\n@3 1,1 1,0\n-a\n" },
	{ "--- old/d/x\n+++ new/d/x\n@@ -1 +1 @@\n-a\n+b\n", "U d/x\n@3 1,1 1,1\n-a\n+b\n" },
	{ "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
	  "A x\n@3 0,1 0,1\n+a$\n" },
	{ "--- x\t1970-01-01 00:00:00.000000000 +0000\n+++ x\t2020-01-02\n@@ -0,0 +1 @@\n+a\n",
	  "A x\n@3 0,1 0,1\n+a\n" },
	{ "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "D x\n@3 1,0 1,0\n-a\n" },
	{ "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "U x ?\n@3 0,1 0,1\n+a\n" },
	{ "text\n\n" GIT "index 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n"
	  "\\ No newline at end of file\n+c\n-- \n2.40\n",
	  "U x\n@7 1,1 2,2\n a\n-b$\n+c\n" },
	{ GIT "new file mode 100755\nindex 0..e69\n", "A x 100755\n" },
	{ GIT "deleted file mode 100644\nindex e69..0\n", "D x\n" },
	{ "diff --git \"a/\\377\" \"b/\\377\"\nnew file mode 100644\n", "A \xff 100644\n" },
	{ GIT "old mode 100644\nnew mode 100755\n", "U x 100755\n" },
	{ "diff --git a/x b/d/y\nsimilarity index 100%\nrename from x\nrename to d/y\n",
	  "M d/y < x\n" },
	{ "diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n--- a/x\n+++ b/y\n"
	  "@@ -1 +1 @@\n-a\n+b\n",
	  "C y < x\n@7 1,1 1,1\n-a\n+b\n" },
	{ "diff --git \"a/\\303\\274\\t\" \"b/\\303\\274\\t\"\nnew file mode 100644\n",
	  "A \xc3\xbc\t 100644\n" },
	{ "diff --git a/p q b/p q\nnew file mode 100644\n--- /dev/null\n+++ b/p q\t\n@@ -0,0 +1 "
	  "@@\n+1\n",
	  "A p q 100644\n@5 0,1 0,1\n+1\n" },
	{ GIT "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n"
	      "@@ -1 +1 @@\n-c\n+d\n",
	  "U x\n@4 1,1 1,1\n-a\n+b\nU y\n@10 1,1 1,1\n-c\n+d\n" },
	/* lines that look like headers */
	{ "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n",
	  "U x\n@3 1,1 2,2\n--- a\n+++ b\n c\n" },
	/* wrong or missing counts, empty lines without their blank */
	{ "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b\n\n+c\n\n",
	  "U x\n@3 1,1 3,3\n a\n-b\n \n+c\n" },
	{ "--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n-b\n@@ -8 +7 @@\n-c\n+d\n",
	  "U x\n@3 1,1 2,1\n a\n-b\n@6 8,7 1,1\n-c\n+d\n" },
	{ "--- a/x\n+++ b/x\n@@ ... @@\n a\n-b\n", "U x\n@3 2,1\n a\n-b\n" },
	/* blocks */
	{ "x.c\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "U x.c\n@2 1,1\n+b\n-a\n" },
	{ "Text.\n\n**d/x.c**:\n```c\n<<<<<<< SEARCH\na\nk\n=======\nk\nb\n>>>>>>> REPLACE\n```\n",
	  "U d/x.c\n@5 2,2\n-a\n k\n+b\n" },
	{ "### `x`\n<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nb\n=======\n"
	  ">>>>>>> REPLACE\ny\n<<<<<<< SEARCH\n=======\nn\n>>>>>>> REPLACE\n",
	  "U x\n@2 1,0\n-a\n@7 1,0\n-b\nA y\n@12 0,1\n+n\n" },
	{ "x\r\n<<<<<<< SEARCH\r\na\r\n=======\r\nb\r\n>>>>>>> REPLACE\r\n",
	  "U x\n@2 1,1\n+b\n-a\n" },
};

static void a_patch_becomes_files_and_hunks(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		AUTO_BUF out = { .max = 1 << 20 };
		struct err e = { 0 };
		if (parse(good[i].text, PATCH_AUTO, PATCH_STRIP_AUTO, &out, &e) < 0)
			fail_msg("%zu: %s", i, e.msg);
		buf_addc(&out, 0);
		assert_string_equal(out.p, good[i].files);
	}
}

static const struct {
	enum patch_format format;
	const char *text, *sentence;
} bad[] = {
	{ PATCH_AUTO, "", "Line 1 of the patch: this is not a patch." },
	{ PATCH_AUTO, "hello\n", "Line 1 of the patch: this is not a patch." },
	{ PATCH_AUTO, BEGIN END, "Line 1 of the patch: the patch ends here and changes no file" },
	{ PATCH_V4A, "", "Line 1 of the patch: the patch ends here" },
	{ PATCH_V4A, "bad\n", "Line 1 of the patch: expected \"*** Add File: path\"" },
	{ PATCH_AUTO, BEGIN "*** Frobnicate File: f\n" END, "Line 2 of the patch: expected" },
	{ PATCH_AUTO, BEGIN "*** Update File: f\n" END, "Line 2 of the patch: the update of" },
	{ PATCH_AUTO, BEGIN "*** Update File: f\n@@\n" END,
	  "Line 3 of the patch: the hunk has no" },
	{ PATCH_AUTO, BEGIN "*** Update File: f\n-a\nbad\n" END, "Line 4 of the patch: expected" },
	{ PATCH_AUTO, BEGIN "*** Add File: f\nbad\n" END, "Line 3 of the patch: expected" },
	{ PATCH_AUTO, BEGIN "*** Add File: \n+x\n" END, "Line 2 of the patch: expected" },
	{ PATCH_AUTO, BEGIN "*** Delete File: f\n" END "more\n",
	  "Line 4 of the patch: text after" },
	{ PATCH_AUTO, BEGIN "*** Update File: f\n-a\n*** End of File\n+b\n" END,
	  "Line 5 of the patch: expected" },
	{ PATCH_UNIFIED, "hello\n", "Line 1 of the patch: the patch ends here" },
	{ PATCH_UNIFIED, "@@ -1 +1 @@\n-a\n", "Line 1 of the patch: a hunk without" },
	{ PATCH_AUTO, GIT "GIT binary patch\nliteral 0\n",
	  "Line 2 of the patch: it changes a binary file, which is not possible: x" },
	{ PATCH_AUTO, GIT "index 1..2\nBinary files a/x and b/x differ\n",
	  "Line 3 of the patch: it changes a binary file, which is not possible: x" },
	{ PATCH_AUTO, GIT "new file mode 120000\n", "Line 2 of the patch: symbolic links" },
	{ PATCH_AUTO, GIT "deleted file mode 120000\n", "Line 2 of the patch: symbolic links" },
	{ PATCH_AUTO, GIT "index 1..2 160000\n", "Line 2 of the patch: submodules" },
	{ PATCH_AUTO, GIT "old mode 99\n", "Line 2 of the patch: this is not the mode" },
	{ PATCH_AUTO, "diff --git a/x b/y\nold mode 100644\nnew mode 100755\n",
	  "Line 3 of the patch: the header before this line names no file" },
	{ PATCH_AUTO, "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
	  "Line 2 of the patch" },
	{ PATCH_AUTO, "--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
	  "Line 3 of the patch: a hunk of" },
	{ PATCH_AUTO, "--- a/x\n+++ b/x\n@@ -1 +1 @@\nzzz\n",
	  "Line 3 of the patch: the hunk has no" },
	{ PATCH_AUTO, "diff --git a/x b/y\nnew file mode 100644\nrename from x\nrename to y\n",
	  "Line 4 of the patch: a file can be" },
	{ PATCH_BLOCKS, "hello\n", "Line 1 of the patch: the patch ends here" },
	{ PATCH_AUTO, "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
	  "Line 1 of the patch: the path of the file" },
	{ PATCH_AUTO, "x\n<<<<<<< SEARCH\na\n", "Line 2 of the patch: after this <<<<<<< SEARCH" },
	{ PATCH_AUTO, "x\n<<<<<<< SEARCH\na\n=======\nb\n",
	  "Line 2 of the patch: after this <<<<<<< SEARCH there is no >>>>>>> REPLACE" },
};

static void what_is_not_a_patch_is_refused_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO_BUF out = { .max = 1 << 20 };
		struct err e = { 0 };
		assert_int_equal(parse(bad[i].text, bad[i].format, PATCH_STRIP_AUTO, &out, &e), -1);
		assert_int_equal(e.code, ERR_INVALID_PATCH);
		if (strncmp(e.msg, bad[i].sentence, strlen(bad[i].sentence)) != 0)
			fail_msg("%zu: %s", i, e.msg);
	}
}

static void directories_are_taken_off_paths(void **state)
{
	static const struct {
		int strip;
		const char *files;
	} cases[] = {
		{ PATCH_STRIP_AUTO, "U d/e/x\n@3 1,1 1,0\n-a\n" },
		{ 0, "U a/d/e/x\n@3 1,1 1,0\n-a\n" },
		{ 1, "U d/e/x\n@3 1,1 1,0\n-a\n" },
		{ 3, "U x\n@3 1,1 1,0\n-a\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = { .max = 1 << 20 };
		struct err e;
		assert_int_equal(parse("--- a/d/e/x\n+++ a/d/e/x\n@@ -1 +1,0 @@\n-a\n", PATCH_AUTO,
				       cases[i].strip, &out, &e),
				 0);
		buf_addc(&out, 0);
		assert_string_equal(out.p, cases[i].files);
	}
}

static void large_patches_are_refused(void **state)
{
	AUTO_BUF text = { .max = 16 << 20 };
	AUTO_ARENA a = { .max = 64 << 20 };
	struct patch p;
	struct err e = { 0 };

	(void)state;
	buf_add(&text, STR(BEGIN));
	for (int i = 0; i < LIMIT_PATCH_FILES; i++)
		buf_addf(&text, "*** Delete File: f%d\n", i);
	assert_int_equal(patch_parse(buf_str(&text), PATCH_AUTO, -1, &a, &p, &e), 0);
	assert_int_equal(p.count, LIMIT_PATCH_FILES);
	buf_add(&text, STR("*** Delete File: one\n"));
	assert_int_equal(patch_parse(buf_str(&text), PATCH_AUTO, -1, &a, &p, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_PATCH);
	while (text.n <= LIMIT_PATCH_BYTES)
		buf_add(&text, STR("+ a line\n"));
	assert_int_equal(patch_parse(buf_str(&text), PATCH_AUTO, -1, &a, &p, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_PATCH);
}

static void first_paths(void **state)
{
	static const struct {
		struct str patch;
		struct str path;
	} rows[] = {
		{ STR("*** Begin Patch\n*** Add File: a b.c\n+x\n"), STR("a b.c") },
		{ STR("--- /dev/null\n+++ b/new.c\t2026\n@@ -0,0 +1 @@\n+x\n"), STR("new.c") },
		{ STR("diff --git a/x b/x\n--- a/x\n+++ /dev/null\n"), STR("x") },
		{ STR("src/m.py\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n"), STR("src/m.py") },
		{ STR("hello"), STR("") },
		{ STR(""), STR("") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_true(str_eq(patch_first_path(rows[i].patch), rows[i].path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_patch_becomes_files_and_hunks),
		cmocka_unit_test(what_is_not_a_patch_is_refused_with_its_line),
		cmocka_unit_test(directories_are_taken_off_paths),
		cmocka_unit_test(large_patches_are_refused),
		cmocka_unit_test(first_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
