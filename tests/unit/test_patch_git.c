/* SPDX-License-Identifier: MIT */
/* Unified patches against git itself: generated trees are changed, "git diff" makes a patch of the
 * change, and it is applied to the old tree, or to one with other changes in it. What "git apply"
 * accepts is accepted without a note and has the same bytes; what it refuses is refused, or noted.
 * The seeds are fixed, so a failure can be repeated. */

#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/limits.h"
#include "patch/patch.h"
#include "scratch.h"

enum { PATCHES = 300, FILES = 4, LINES = 60 };

static uint64_t seed;

static unsigned roll(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % n;
}

static const char *const names[FILES] = { "a", "b c", "d/\xc3\xbc", "d/e" };
static struct scratch dir;

/* A path below the directory of the test. */
static const char *at(const char *tree, const char *name)
{
	static char path[2][2 * PATH_MAX];
	static unsigned next;
	char *p = path[next++ % 2];

	(void)snprintf(p, sizeof path[0], "%s/%s/%s", dir.path, tree, name);
	return p;
}

__attribute__((format(printf, 1, 2))) static int shell(const char *fmt, ...)
{
	char command[3 * PATH_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(command, sizeof command, fmt, args);
	va_end(args);
	return system(command); /* NOLINT: the commands are written here */
}

static void write_file(const char *tree, const char *name, struct str text)
{
	AUTO_FD fd = open(at(tree, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, IO_FOREVER), 0);
}

/* False if there is no such file. */
static bool read_file(const char *path, struct buf *out)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	char *room;

	if (fd < 0)
		return false;
	while ((room = buf_room(out, 4096))) {
		const ssize_t n = read(fd, room, 4096);
		assert_true(n >= 0);
		if (n == 0)
			break;
		buf_filled(out, (size_t)n);
	}
	return true;
}

/* Few different lines, so that a hunk has several places where it nearly fits. */
static void add_line(struct buf *out)
{
	static const char *const lines[] = {
		"",	  "x",	  "}",		"  return;", "\ta\t",
		"-- a",	  "+b",	  "@@ -1",	"tail  ",    "\xc3\xbc\xff",
		"crlf\r", "\\ n", "diff --git", "x",	     "}"
	};

	if (roll(3))
		buf_add(out, str_of(lines[roll(ARRAY_LEN(lines))]));
	else
		buf_addf(out, "line %u", roll(40));
	buf_addc(out, '\n');
}

static void make_text(struct buf *out)
{
	for (unsigned n = roll(LINES); n--;)
		add_line(out);
	if (out->n && roll(5) == 0)
		out->n--;
}

/* Change, remove and add some lines of a text, or its end. */
static void change_text(struct str old, struct buf *out, unsigned often)
{
	while (old.n) {
		struct str line, rest;
		const bool whole = str_cut(old, '\n', &line, &rest);
		const unsigned what = roll(often);
		if (what == 0 || what == 1)
			add_line(out);
		if (what > 1 || what == 0) {
			buf_add(out, line);
			if (whole)
				buf_addc(out, '\n');
		}
		old = rest;
	}
	if (out->n && roll(8) == 0 && out->p[out->n - 1] == '\n')
		out->n--;
}

/* A tree, the tree that it becomes, and the patch between them. */
static void make_change(struct buf *patch)
{
	static const char *const options[] = {
		"", "-U1", "-U5", "-M -C", "-U10", "-M -U2", "--patience", "-C --find-copies-harder"
	};

	assert_int_equal(shell("cd '%s' && rm -rf old new && mkdir -p old/d new/d", dir.path), 0);
	for (unsigned i = 0; i < FILES; i++) {
		AUTO_BUF text = { .max = 1 << 20 };
		AUTO_BUF changed = { .max = 1 << 20 };
		make_text(&text);
		change_text(buf_str(&text), &changed, 3 + roll(20));
		const unsigned fate = roll(10);
		if (fate != 0)
			write_file("old", names[i], buf_str(&text));
		if (fate == 2)
			write_file("new", "d/moved", buf_str(roll(2) ? &text : &changed));
		else if (fate != 1)
			write_file("new", names[i], buf_str(&changed));
		if (fate == 3)
			write_file("new", "copied", buf_str(&text));
	}
	(void)shell("cd '%s' && git diff --no-index %s old new >patch", dir.path,
		    options[roll(ARRAY_LEN(options))]);
	assert_true(read_file(at(".", "patch"), patch));
}

/* Sometimes other changes are in the tree already. */
static void disturb(void)
{
	for (unsigned i = 0; i < FILES; i++) {
		AUTO_BUF text = { .max = 1 << 20 };
		AUTO_BUF changed = { .max = 1 << 20 };
		if (!read_file(at("old", names[i]), &text))
			continue;
		if (roll(2))
			for (unsigned n = roll(6); n--;)
				add_line(&changed);
		change_text(buf_str(&text), &changed, 150);
		write_file("old", names[i], buf_str(&changed));
	}
}

/* Plan every file of the patch in the old tree, and compare with what git made of it. Returns 0, or
 * -1 if the patch does not fit; *noted says whether something fitted only loosely. */
static int plan_all(struct str text, bool compare, bool *noted, struct err *e)
{
	AUTO_ARENA a = { .max = 256 << 20 };
	struct patch p;

	if (patch_parse(text, PATCH_AUTO, 2, &a, &p, e) < 0)
		return -1;
	assert_int_equal(p.format, PATCH_UNIFIED);
	for (size_t i = 0; i < p.count; i++) {
		const struct patch_file *f = &p.files[i];
		const struct str from = arena_dup(&a, f->from.n ? f->from : f->path);
		const struct str path = arena_dup(&a, f->path);
		AUTO_BUF old = { .max = 1 << 20 };
		AUTO_BUF new = { .max = 1 << 20 };
		AUTO_BUF git = { .max = 1 << 20 };
		struct plan plan;

		if (read_file(at("old", from.p), &old) == (f->kind == PATCH_ADD))
			return err_set(e, ERR_FILE_NOT_FOUND, "%s", from.p);
		const struct str copy = guarded(buf_str(&old));
		const int result = plan_file(&p, f, copy, &a, &new, &plan, e);
		guarded_free(copy);
		if (result < 0)
			return -1;
		*noted |= plan.notes != NULL;
		if (!compare)
			continue;
		assert_int_equal(read_file(at("git", path.p), &git), f->kind != PATCH_DELETE);
		if (!str_eq(buf_str(&new), buf_str(&git)))
			fail_msg("%s:\n%.*s\ngit:\n%.*s\npatch:\n%.*s", path.p,
				 STR_FMT(buf_str(&new)), STR_FMT(buf_str(&git)), STR_FMT(text));
	}
	return 0;
}

static void git_apply_says_the_same(void **state)
{
	unsigned accepted = 0, refused = 0;

	(void)state;
	if (shell("git --version >/dev/null 2>&1") != 0)
		skip_because("git is not installed");
	dir = scratch_new();
	for (unsigned i = 0; i < PATCHES; i++) {
		AUTO_BUF patch = { .max = 1 << 20 };
		struct err e = { 0 };
		bool noted = false;

		seed = i;
		make_change(&patch);
		if (patch.n == 0)
			continue;
		if (i % 2)
			disturb();
		/* The paths are a/old/x and b/new/x; there is no repository. */
		const bool git = shell("cd '%s' && rm -rf git && cp -r old git && cd git && "
				       "GIT_CEILING_DIRECTORIES='%s' git apply -p2 "
				       "--whitespace=nowarn ../patch 2>/dev/null",
				       dir.path, dir.path) == 0;
		const int got = plan_all(buf_str(&patch), git, &noted, &e);
		if (git && (got < 0 || noted))
			fail_msg("%u: git accepts it: %s", i, got < 0 ? e.msg : "noted");
		if (!git && got == 0 && !noted)
			fail_msg("%u: git refuses it:\n%.*s", i, STR_FMT(buf_str(&patch)));
		*(git ? &accepted : &refused) += 1;
	}
	scratch_free(&dir);
	print_message("git accepts %u and refuses %u\n", accepted, refused);
	assert_true(accepted > PATCHES / 2 && refused > PATCHES / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(git_apply_says_the_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
