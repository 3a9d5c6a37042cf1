/* SPDX-License-Identifier: MIT */
/* Hunks are placed by the rules of their format; everything around them stays as it is. */

#include "unit.h"

#include "patch/limits.h"
#include "patch/patch.h"

/* Plan the first file of the patch. The notes are in *notes, each on a line. */
static int plan(const char *text, struct str old, struct buf *out, struct buf *notes,
		struct plan *ret, struct err *e)
{
	const struct str copy = guarded(str_of(text)), content = guarded(old);
	AUTO_ARENA a = { .max = 64 << 20 };
	struct patch p;
	int result = patch_parse(copy, PATCH_AUTO, PATCH_STRIP_AUTO, &a, &p, e);

	if (result == 0)
		result = plan_file(&p, &p.files[0], content, &a, out, ret, e);
	for (const struct patch_note *n = result == 0 ? ret->notes : NULL; n; n = n->next)
		buf_addf(notes, "%.*s\n", STR_FMT(n->text));
	guarded_free(copy);
	guarded_free(content);
	return result;
}

#define V4A(body)	"*** Begin Patch\n*** Update File: f\n" body "*** End Patch\n"
#define UNI(body)	"--- a/f\n+++ b/f\n" body
#define BLOCK(from, to) "f\n<<<<<<< SEARCH\n" from "=======\n" to ">>>>>>> REPLACE\n"
#define TRAILING(n, line)                                                                          \
	"hunk 1 (line " #n " of the patch): found at line " #line                                  \
	" with white space at the ends of lines ignored\n"
#define BARE(n, line, where)                                                                       \
	"hunk " #n " (line " #line " of the patch): it has no context, and was placed " where      \
	" by its number\n"
#define LOOSE(n, line)                                                                             \
	"hunk 1 (line " #n " of the patch): found at line " #line                                  \
	" with indentation, quotes, dashes and spaces made equal\n"

static const struct {
	const char *patch;
	struct str old, new;
	const char *notes;
	int added, removed;
} good[] = {
	/* v4a */
	{ "*** Begin Patch\n*** Add File: f\n+a\n+b\n*** End Patch", STR(""), STR("a\nb\n"), "", 2,
	  0 },
	{ "*** Begin Patch\n*** Delete File: f\n*** End Patch", STR("a\nb"), STR(""), "", 0, 2 },
	{ V4A("@@\n-b\n+B\n@@\n-d\n+D\n"), STR("a\nb\nc\nd\n"), STR("a\nB\nc\nD\n"), "", 2, 2 },
	{ V4A("@@\n a\n-b\n c\n"), STR("a\nb\nc\n"), STR("a\nc\n"), "", 0, 1 },
	{ V4A("@@\n+x\n+y\n"), STR("a\nb\n"), STR("a\nb\nx\ny\n"), "", 2, 0 },
	{ V4A("@@\n+x\n@@\n a\n-b\n+B\n"), STR("a\nb\n"), STR("a\nB\nx\n"), "", 2, 1 },
	{ V4A("@@ a\n+x\n"), STR("a\nb\n"), STR("a\nx\nb\n"), "", 1, 0 },
	{ V4A("@@ b\n+x\n@@\n-a\n+A\n"), STR("a\nb\na\n"), STR("a\nb\nx\nA\n"), "", 2, 1 },
	{ V4A("@@ g\n-x\n+y\n"), STR("f\nx\ng\nx\n"), STR("f\nx\ng\ny\n"), "", 1, 1 },
	{ V4A("@@ A\n@@ g\n-x\n+y\n"), STR("g\nx\nA\ng\nx\n"), STR("g\nx\nA\ng\ny\n"), "", 1, 1 },
	{ V4A("@@ -9,9 +9,9 @@\n-x\n+y\n"), STR("x\n"), STR("y\n"), "", 1, 1 },
	{ V4A("-x\n+y\n"), STR("x\nx\nx\n"), STR("y\nx\nx\n"), "", 1, 1 },
	{ V4A("-x\n+y\n@@\n-x\n+z\n"), STR("x\nx\nx\n"), STR("y\nz\nx\n"), "", 2, 2 },
	{ V4A("-x\n+y\n*** End of File\n"), STR("x\nx\nx\n"), STR("x\nx\ny\n"), "", 1, 1 },
	{ V4A("@@\n a\n-b\n+B\n\n"), STR("a\nb\n"), STR("a\nB\n"), "", 1, 1 },
	{ V4A("@@ def f\n def f\n-x\n+y\n"), STR("x\ndef f\nx\n"), STR("x\ndef f\ny\n"),
	  "hunk 1 (line 3 of the patch): its first line is also its @@ line\n", 1, 1 },
	/* v4a, loosely: exact places come first, the file's lines stay */
	{ V4A("@@\n a\n-b\n+c\n"), STR("a  \nb\na\nb\n"), STR("a  \nb\na\nc\n"), "", 1, 1 },
	{ V4A("@@\n a\n-b\n+c\n"), STR("a \t\nb\n"), STR("a \t\nc\n"), TRAILING(3, 1), 1, 1 },
	{ V4A("@@\n a\n-b\n+c\n"), STR("\ta\nb\n"), STR("\ta\nc\n"), LOOSE(3, 1), 1, 1 },
	{ V4A("@@\n \"a\" - 'b'\n-b\n+c\n"),
	  STR("\xe2\x80\x9c"
	      "a\xe2\x80\x9d\xc2\xa0\xe2\x80\x94 \xe2\x80\x98"
	      "b\xe2\x80\x99\nb\n"),
	  STR("\xe2\x80\x9c"
	      "a\xe2\x80\x9d\xc2\xa0\xe2\x80\x94 \xe2\x80\x98"
	      "b\xe2\x80\x99\nc\n"),
	  LOOSE(3, 1), 1, 1 },
	{ V4A("@@ a\n-b\n+c\n"), STR("  a\nb\n"), STR("  a\nc\n"),
	  "hunk 1 (line 3 of the patch): its @@ line was found loosely at line 1\n", 1, 1 },
	/* v4a, ends of lines and of the file */
	{ V4A("@@\n-one\n+ONE\n two\n+between\n three\n"), STR("one\r\ntwo\r\nthree\r\n"),
	  STR("ONE\r\ntwo\r\nbetween\r\nthree\r\n"), "", 2, 1 },
	{ V4A("@@\n one\n two\n-three\n+THREE\n four\n"), STR("one\r\ntwo\rthree\nfour\r\n"),
	  STR("one\r\ntwo\rTHREE\r\nfour\r\n"), "", 1, 1 },
	{ V4A("@@\n-a\n+b\n+c\n"), STR("a"), STR("b\nc"), "", 2, 1 },
	{ V4A("@@\n-a\n+b\n+c\n"), STR("a\n"), STR("b\nc\n"), "", 2, 1 },
	{ V4A("@@\n+c\n"), STR("a"), STR("a\nc"), "", 1, 0 },
	{ V4A("@@\n a\n-b\n"), STR("a\r\nb"), STR("a"), "", 0, 1 },
	{ V4A("@@\n+a\n"), STR(""), STR("a\n"), "", 1, 0 },
	{ V4A("@@\n-b\n"), STR("a\n\nb"), STR("a\n\n"), "", 0, 1 },
	{ V4A("@@\n-a\n+\xff\n"), STR("\xfe\0\na\n"), STR("\xfe\0\n\xff\n"), "", 1, 1 },

	/* unified */
	{ UNI("@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n"), STR("a\nb\nc\nd\n"), STR("a\nb\nC\nd\n"), "", 1,
	  1 },
	/* the nearest place, and of two equally near the later one */
	{ UNI("@@ -4,3 +4,3 @@\n a\n-x\n+y\n b\n"), STR("0\na\nx\nb\n0\na\nx\nb\n0\n0\na\nx\nb\n"),
	  STR("0\na\nx\nb\n0\na\ny\nb\n0\n0\na\nx\nb\n"), "", 1, 1 },
	/* the number is that of the file as it has become */
	{ UNI("@@ -1,2 +1,4 @@\n+1\n+2\n a\n b\n@@ -5,3 +7,3 @@\n c\n-x\n+y\n c\n"),
	  STR("a\nb\nc\nx\nc\nx\nc\n"), STR("1\n2\na\nb\nc\nx\nc\ny\nc\n"), "", 3, 1 },
	/* bound to the start and to the end */
	{ UNI("@@ -3,2 +3,2 @@\n a\n-x\n+y\n"), STR("a\nx\na\nx\na\nx\n"),
	  STR("a\nx\na\nx\na\ny\n"), "", 1, 1 },
	{ UNI("@@ -1,2 +1,2 @@\n-x\n+y\n b\n"), STR("x\nb\n"), STR("y\nb\n"), "", 1, 1 },
	{ UNI("@@ -0,0 +1 @@\n+a\n"), STR(""), STR("a\n"), "", 1, 0 },
	/* without context only the number says where */
	{ UNI("@@ -2 +2 @@\n-x\n+y\n"), STR("x\nx\nx\n"), STR("x\ny\nx\n"), BARE(1, 3, "at line 2"),
	  1, 1 },
	{ UNI("@@ -1,0 +2 @@\n+y\n"), STR("a\nb\n"), STR("a\ny\nb\n"), BARE(1, 3, "after line 1"),
	  1, 0 },
	{ UNI("@@ -1 +1 @@\n-x\n+y\n"), STR("x\n"), STR("y\n"), "", 1, 1 },
	/* in any order */
	{ UNI("@@ -4,3 +4,3 @@\n d\n-e\n+E\n f\n@@ -1,3 +1,2 @@\n a\n-b\n c\n"),
	  STR("a\nb\nc\nd\ne\nf\n"), STR("a\nc\nd\nE\nf\n"), "", 1, 2 },
	{ UNI("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3,0 +4 @@\n+x\n"), STR("a\nb\nc\nd\n"),
	  STR("a\nB\nc\nx\nd\n"), BARE(2, 8, "after line 3"), 2, 1 },
	/* counts */
	{ UNI("@@ -1,9 +1,8 @@\n a\n-b\n+c\n d\n"), STR("a\nb\nd\n"), STR("a\nc\nd\n"),
	  "hunk 1 (line 3 of the patch): its @@ line says 9 and 8 lines, but it has 3 and 3\n", 1,
	  1 },
	{ UNI("@@ @@\n a\n-b\n+c\n"), STR("0\na\nb\nd\n"), STR("0\na\nc\nd\n"),
	  "hunk 1 (line 3 of the patch): its @@ line has no line numbers\n", 1, 1 },
	/* newlines at the end */
	{ UNI("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"), STR("a\nb"),
	  STR("a\nb\n"), "", 1, 1 },
	{ UNI("@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"), STR("a\nb\n"),
	  STR("a\nb"), "", 1, 1 },
	{ UNI("@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"), STR("a\nb"),
	  STR("c\nb"), "", 1, 1 },
	{ UNI("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), STR("a\nb"), STR("a\nc"), TRAILING(3, 1), 1, 1 },
	{ UNI("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of "
	      "file\n"),
	  STR("a\nb\n"), STR("a\nc\n"), TRAILING(3, 1), 1, 1 },
	/* CR is a byte of the line, unless the patch and the file disagree about it */
	{ UNI("@@ -1,2 +1,3 @@\n a\r\n+x\n+y\r\n b\r\n"), STR("a\r\nb\r\n"),
	  STR("a\r\nx\ny\r\nb\r\n"),
	  "hunk 1 (line 3 of the patch): its @@ line says 2 and 3 lines, but it has 2 and 4\n", 2,
	  0 },
	{ UNI("@@ -1,2 +1,3 @@\n a\n+x\n b\n"), STR("a\r\nb\r\n"), STR("a\r\nx\r\nb\r\n"),
	  TRAILING(3, 1), 1, 0 },
	{ UNI("@@ -1,2 +1,3 @@\n a\r\n+x\r\n b\r\n"), STR("a\nb\n"), STR("a\nx\nb\n"),
	  TRAILING(3, 1), 1, 0 },
	/* made and deleted */
	{ "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n\\ No newline at end of file\n+b\r\n",
	  STR(""), STR("a\nb\r\n"), "", 2, 0 },
	{ "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+\n\\ No newline at end of file\n", STR(""),
	  STR("a\n\n"), "", 2, 0 },
	{ "*** Begin Patch\n*** Add File: f\n+a\r\n+\\b\n+\n*** End Patch\n", STR(""),
	  STR("a\n\\b\n\n"), "", 3, 0 },
	{ "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
	  STR(""), STR("a\nb"), "", 2, 0 },
	{ "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", STR("a\nb\n"), STR(""), "", 0, 2 },

	/* blocks */
	{ BLOCK("b\n", "B\n"), STR("a\nb\nc\n"), STR("a\nB\nc\n"), "", 1, 1 },
	{ BLOCK("b\nc\n", ""), STR("a\nb\nc\n"), STR("a\n"), "", 0, 2 },
	{ BLOCK("a\n", "x\na\n") "<<<<<<< SEARCH\nc\n=======\nC\n>>>>>>> REPLACE\n", STR("a\nb\nc"),
	  STR("x\na\nb\nC"), "", 2, 1 },
	{ BLOCK("c\n", "C\n") "<<<<<<< SEARCH\na\n=======\nA\n>>>>>>> REPLACE\n", STR("a\nb\nc\n"),
	  STR("A\nb\nC\n"), "", 2, 2 },
	{ BLOCK("a\nb\nc\n", "a\nX\nc\n"), STR("\ta\n\tb\n\tc\n"), STR("\ta\nX\n\tc\n"),
	  LOOSE(2, 1), 1, 1 },
	{ BLOCK("a\n", "b\n"), STR("a\r\nc\r\n"), STR("b\r\nc\r\n"), "", 1, 1 },
	{ BLOCK("", "b\nc\n"), STR(""), STR("b\nc\n"), "", 2, 0 },
};

static void hunks_are_placed_and_the_rest_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		AUTO_BUF out = { .max = 1 << 20 };
		AUTO_BUF notes = { .max = 1 << 20 };
		struct plan got = { 0 };
		struct err e = { 0 };
		if (plan(good[i].patch, good[i].old, &out, &notes, &got, &e) < 0)
			fail_msg("%zu: %s\n%s", i, e.msg, good[i].patch);
		if (!str_eq(buf_str(&out), good[i].new))
			fail_msg("%zu: %s\nbecame %.*s", i, good[i].patch, STR_FMT(buf_str(&out)));
		buf_addc(&notes, 0);
		assert_string_equal(notes.p, good[i].notes);
		assert_int_equal(got.added, good[i].added);
		assert_int_equal(got.removed, good[i].removed);
	}
}

#define HUNK_1(line) "f: hunk 1 of 1 (line " #line " of the patch) does not match the file"
#define READ_IT	     " Read the file and make the hunk from its text."

static const struct {
	const char *patch, *old;
	enum err_code code;
	const char *sentence;
} bad[] = {
	{ V4A("@@\n-missing\n+x\n"), "a\nb\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ". No line of it is in the file; the first is \"missing\"." READ_IT },
	{ V4A("@@\n-missing\n+x\n"), "", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ". The file is empty." READ_IT },
	{ V4A("@@\n a\n b\n-x\n"), "0\n a\nb\ny\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ". The nearest text is at line 2. Line 4 of the file is \"y\", but the patch "
		    "has "
		    "\"x\"." READ_IT },
	{ V4A("@@\n a\n b\n-c\n"), "0\na\nb\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ". The nearest text is at line 2. But the file ends before \"c\"." READ_IT },
	{ V4A("@@\n-    return a  + b;\n+x\n"), "{\n    return a + b;\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ". The nearest text is at line 2. Line 2 of the file is \"    return a + b;\", "
		    "but the patch has \"    return a  + b;\"." READ_IT },
	{ V4A("@@ nowhere\n-a\n"), "a\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ". No line of it is in the file; the first is \"nowhere\"." READ_IT },
	{ V4A("@@\n-b\n+B\n@@\n-a\n+A\n"), "a\nb\n", ERR_TEXT_NOT_FOUND,
	  "f: hunk 2 of 2 (line 6 of the patch) does not match the file, where it must be after "
	  "the "
	  "previous hunk and its @@ line. The nearest text is at line 1." READ_IT },
	{ V4A("-x\n+y\n*** End of File\n"), "x\nz\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ", where it must be at the end of the file. The nearest text is at line "
		    "1." READ_IT },
	{ UNI("@@ -1,2 +1,2 @@\n-x\n+y\n b\n"), "a\nx\nb\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ", where it must be at the start of the file. The nearest text is at line "
		    "2." READ_IT },
	{ UNI("@@ -3,2 +3,2 @@\n a\n-x\n+y\n"), "0\n0\na\nx\nb\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ", where it must be at the end of the file, as it ends without context. The "
		    "nearest "
		    "text is at line 3." READ_IT },
	/* its only context is between its changes: git binds it to both ends of the file */
	{ UNI("@@ -1,2 +1,2 @@\n-a\n b\n+c\n"), "a\nb\nd\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(3) ", where it must be the whole file. The nearest text is at line 1." READ_IT },
	{ UNI("@@ -0,0 +1 @@\n+a\n"), "b\n", ERR_TEXT_NOT_FOUND, NULL },
	/* no two hunks share lines */
	{ UNI("@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n@@ -4,2 +4,2 @@\n c\n-d\n+D\n"), "0\na\nb\nc\nd\n",
	  ERR_TEXT_NOT_FOUND, NULL },
	{ UNI("@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n@@ -3,0 +4 @@\n+x\n"), "a\nb\nc\nd\n",
	  ERR_TEXT_NOT_FOUND, NULL },
	{ "--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n", "a\nb\n", ERR_TEXT_NOT_FOUND, NULL },
	{ "diff --git a/f b/f\ndeleted file mode 100644\n", "a\n", ERR_TEXT_NOT_FOUND,
	  "f (line 1 of the patch): the patch deletes the file, but the file has lines that the "
	  "patch "
	  "does not remove." READ_IT },
	{ BLOCK("x\n", "y\n"), "x\na\nx\n  x\n", ERR_TEXT_NOT_UNIQUE,
	  "f: the text of hunk 1 of 1 (line 2 of the patch) is at lines 1, 3. Add lines around it "
	  "to "
	  "make it unique." },
	{ BLOCK("x\n", "y\n"), "x\nx\nx\nx\nx\nx\nx\nx\nx\n", ERR_TEXT_NOT_UNIQUE,
	  "f: the text of hunk 1 of 1 (line 2 of the patch) is at lines 1, 2, 3, 4, 5, 6, 7, 8 and "
	  "others. Add lines around it to make it unique." },
	{ BLOCK("a\nb\n", "y\n"), "a\nc\n", ERR_TEXT_NOT_FOUND,
	  HUNK_1(2) ". The nearest text is at line 1. Line 2 of the file is \"c\", but the patch "
		    "has "
		    "\"b\"." READ_IT },
};

static void an_error_says_where_and_what_differs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO_BUF out = { .max = 1 << 20 };
		AUTO_BUF notes = { .max = 1 << 20 };
		struct plan got = { 0 };
		struct err e = { 0 };
		if (plan(bad[i].patch, str_of(bad[i].old), &out, &notes, &got, &e) == 0)
			fail_msg("%zu: %s\nbecame %.*s", i, bad[i].patch, STR_FMT(buf_str(&out)));
		assert_int_equal(e.code, bad[i].code);
		if (bad[i].sentence)
			assert_string_equal(e.msg, bad[i].sentence);
		assert_int_equal(out.n, 0);
	}
}

/* Every size of memory gives the result or TOO_BUSY. */
static void too_little_memory_is_said(void **state)
{
	const struct str text = STR(UNI("@@ -1,2 +1,2 @@\n a\n-b\n+c\n")), old = STR("\ta\nb\n");
	unsigned planned = 0, refused = 0;

	(void)state;
	for (size_t max = 0; max < 20000; max += 64) {
		AUTO_ARENA a = { .max = max };
		AUTO_BUF out = { .max = 1 << 20 };
		struct patch p;
		struct plan got;
		struct err e = { 0 };
		if (patch_parse(text, PATCH_AUTO, PATCH_STRIP_AUTO, &a, &p, &e) == 0 &&
		    plan_file(&p, &p.files[0], old, &a, &out, &got, &e) == 0) {
			assert_true(str_eq(buf_str(&out), STR("\ta\nc\n")));
			assert_non_null(got.notes);
			planned++;
			continue;
		}
		assert_int_equal(e.code, ERR_TOO_BUSY);
		refused++;
	}
	assert_true(planned > 0 && refused > 0);
}

/* Many hunks in many lines that are all alike, or nearly: either it is done, or it is refused, but
 * the lines that are compared stay in proportion. */
static void lines_that_are_alike_take_no_longer(void **state)
{
	AUTO_BUF text = { .max = LIMIT_PATCH_BYTES };
	AUTO_BUF old = { .max = 64 << 20 };
	AUTO_BUF out = { .max = 64 << 20 };
	AUTO_ARENA a = { .max = 512 << 20 };
	struct patch p;
	struct plan got;
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < LARGE(400000); i++)
		buf_add(&old, i % 2 ? STR("x\n") : STR("  y\n"));
	buf_add(&text, STR("*** Begin Patch\n*** Update File: f\n"));
	for (int i = 0; i < LARGE(20000); i++)
		buf_add(&text, STR("@@\n y\n-x\n+z\n"));
	assert_int_equal(patch_parse(buf_str(&text), PATCH_AUTO, -1, &a, &p, &e), 0);
	assert_int_equal(plan_file(&p, &p.files[0], buf_str(&old), &a, &out, &got, &e), 0);
	assert_int_equal(got.removed, LARGE(20000));
	buf_reset(&text, 0);
	buf_add(&text, STR("f\n<<<<<<< SEARCH\n"));
	for (int i = 0; i < LARGE(100000); i++)
		buf_add(&text, STR("x\ny\n"));
	buf_add(&text, STR("x\nx\n=======\n>>>>>>> REPLACE\n"));
	assert_int_equal(patch_parse(buf_str(&text), PATCH_AUTO, -1, &a, &p, &e), 0);
	buf_reset(&out, 0);
	assert_int_equal(plan_file(&p, &p.files[0], buf_str(&old), &a, &out, &got, &e), -1);
	assert_true(e.code == ERR_TEXT_NOT_FOUND || e.code == ERR_TEXT_NOT_UNIQUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hunks_are_placed_and_the_rest_stays),
		cmocka_unit_test(an_error_says_where_and_what_differs),
		cmocka_unit_test(too_little_memory_is_said),
		cmocka_unit_test(lines_that_are_alike_take_no_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
