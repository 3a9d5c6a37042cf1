/* SPDX-License-Identifier: MIT */
/* Opening below a directory: the same cases over both resolvers. */

#include "no_openat2.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "base/limits.h"
#include "workspace/beneath.h"

struct fixture {
	enum resolver resolver;
	struct scratch s;
	char root[PATH_MAX], alias[PATH_MAX];
	struct beneath b;
};

static const struct {
	const char *name, *target; /* "@" is the scratch directory, which holds ws, ws2 and out */
} links[] = {
	{ "alias", "ws" },
	{ "ws/rel", "f.txt" },
	{ "ws/rel_d", "d" },
	{ "ws/d/up", "../f.txt" },
	{ "ws/abs", "@/ws/f.txt" },
	{ "ws/abs_d", "@/ws/d" },
	{ "ws/chain", "chain2" },
	{ "ws/chain2", "d/chain3" },
	{ "ws/d/chain3", "@/ws/rel" },
	{ "ws/aliased", "@/alias/d/f" },
	{ "ws/dot", "." },
	{ "ws/to_root", "@/ws" },
	{ "ws/to_root_alias", "@/alias/" },
	{ "ws/d/parent", ".." },
	{ "ws/dots", "d/e/../../f.txt" },
	{ "ws/through", "rel_d/../f.txt" },
	{ "ws/far", "d/e" },
	{ "ws/far_up", "far/../f" },
	{ "ws/untidy", ".//./d//./f" },
	{ "ws/abs_dots", "@/ws/d/../f.txt" },
	{ "ws/abs_untidy", "@//ws/.//f.txt" },
	{ "ws/slash", "d/" },
	{ "ws/dangling", "missing" },
	{ "ws/dangling_d", "new/deep/file" },
	{ "ws/dangling_abs", "@/ws/d/missing" },
	{ "ws/dangling_up", "missing/../f.txt" },
	{ "ws/file_up", "f.txt/../f.txt" },
	{ "ws/out", "@/out/secret" },
	{ "ws/out_rel", "../out/secret" },
	{ "ws/out_d", "@/out" },
	{ "ws/out_up", ".." },
	{ "ws/d/out_up2", "../.." },
	{ "ws/back", "../ws/f.txt" },
	{ "ws/back_d", "../ws/d" },
	{ "ws/d/back2", "../../ws/./d//f" },
	{ "ws/back_root", "../ws" },
	{ "ws/back_twice", "../ws/../ws/d/../f.txt" },
	{ "ws/back_abs", "@/ws/../ws/f.txt" },
	{ "ws/back_through", "out_up/ws/f.txt" },
	{ "ws/back_link", "rel_d/../../ws/f.txt" },
	{ "ws/back_alias", "@/alias/../ws/f.txt" },
	{ "ws/back_chain", "../ws/back" },
	{ "ws/back_new", "../ws/new/deep/file" },
	{ "ws/back_loop", "../ws/back_loop" },
	{ "ws/back_out", "../ws/../out/secret" },
	{ "ws/back_by_alias", "../alias/f.txt" },
	{ "ws/back_sibling", "../ws2/../ws/f.txt" },
	{ "ws/back_prefix", "../w/f.txt" },
	{ "ws/back_file", "../ws/f.txt/../f.txt" },
	{ "ws/out_abs_back", "@/out/../ws/f.txt" },
	{ "ws/out_climb", "@/ws/../out/secret" },
	{ "ws/out_sibling", "@/ws2/f" },
	{ "ws/out_slash", "/" },
	{ "ws/out_chain", "d/out_chain2" },
	{ "ws/d/out_chain2", "../out" },
	{ "ws/out_magic", "/proc/self/root" },
	{ "ws/loop", "loop2" },
	{ "ws/loop2", "loop" },
	{ "ws/self", "self" },
	{ "ws/abs_loop", "@/ws/abs_loop" },
	{ "ws/d/dots_loop", "../d/dots_loop" },
	{ "ws/deeper", "deeper/x" },
};

static const struct {
	const char *name;
	const char *want; /* what a file contains, "directory", or the name of the error */
} opens[] = {
	{ "", "directory" },
	{ "f.txt", "inside" },
	{ "d", "directory" },
	{ "d/f", "in d" },
	{ "d/e/g", "in e" },
	{ "missing", "FILE_NOT_FOUND" },
	{ "missing/x", "FILE_NOT_FOUND" },
	{ "f.txt/x", "NOT_A_DIRECTORY" },
	{ "rel/x", "NOT_A_DIRECTORY" },
	{ "rel", "inside" },
	{ "rel_d", "directory" },
	{ "rel_d/f", "in d" },
	{ "rel_d/missing", "FILE_NOT_FOUND" },
	{ "d/up", "inside" },
	{ "rel_d/up", "inside" },
	{ "abs", "inside" },
	{ "abs_d", "directory" },
	{ "abs_d/e/g", "in e" },
	{ "abs_d/up", "inside" },
	{ "abs_d/missing", "FILE_NOT_FOUND" },
	{ "chain", "inside" },
	{ "aliased", "in d" },
	{ "dot", "directory" },
	{ "dot/dot/f.txt", "inside" },
	{ "to_root", "directory" },
	{ "to_root/d/f", "in d" },
	{ "to_root_alias/d/f", "in d" },
	{ "d/parent", "directory" },
	{ "d/parent/d/parent/f.txt", "inside" },
	{ "dots", "inside" },
	{ "through", "inside" },
	{ "far_up", "in d" },
	{ "untidy", "in d" },
	{ "abs_dots", "inside" },
	{ "abs_untidy", "inside" },
	{ "slash", "directory" },
	{ "slash/f", "in d" },
	{ "dangling", "FILE_NOT_FOUND" },
	{ "dangling/x", "FILE_NOT_FOUND" },
	{ "dangling_d", "FILE_NOT_FOUND" },
	{ "dangling_abs", "FILE_NOT_FOUND" },
	{ "dangling_up", "FILE_NOT_FOUND" },
	{ "file_up", "NOT_A_DIRECTORY" },
	{ "out", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out/x", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_rel", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_d", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_d/secret", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_d/missing/x", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_up", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_up/ws/f.txt", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "d/out_up2", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "back", "inside" },
	{ "back_d", "directory" },
	{ "back_d/e/g", "in e" },
	{ "back_d/up", "inside" },
	{ "back_d/missing", "FILE_NOT_FOUND" },
	{ "d/back2", "in d" },
	{ "rel_d/back2", "in d" },
	{ "back_root", "directory" },
	{ "back_root/d/f", "in d" },
	{ "back_twice", "inside" },
	{ "back_abs", "inside" },
	{ "back_top", "inside" },
	{ "back_through", "inside" },
	{ "back_link", "inside" },
	{ "back_alias", "inside" },
	{ "back_chain", "inside" },
	{ "back_new", "FILE_NOT_FOUND" },
	{ "back_loop", "SYMLINK_LOOP" },
	{ "back_out", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "back_by_alias", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "back_sibling", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "back_prefix", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "back_file", "NOT_A_DIRECTORY" },
	{ "back_root/out_up/ws/f.txt", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_abs_back", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_climb", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_sibling", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_slash", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_slash/etc/passwd", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_chain", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "out_magic/etc/passwd", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "to_root/out_d/secret", "SYMLINK_OUTSIDE_WORKSPACE" },
	{ "loop", "SYMLINK_LOOP" },
	{ "loop/x", "SYMLINK_LOOP" },
	{ "self", "SYMLINK_LOOP" },
	{ "abs_loop", "SYMLINK_LOOP" },
	{ "d/dots_loop", "SYMLINK_LOOP" },
	{ "deeper", "SYMLINK_LOOP" },
};

static int set_up(void **state)
{
	struct fixture *f = *state;

	f->s = scratch_new();
	put_dir(&f->s, "ws");
	put_dir(&f->s, "ws2");
	put_dir(&f->s, "out");
	put_dir(&f->s, "ws/d");
	put_dir(&f->s, "ws/d/e");
	put(&f->s, "ws/f.txt", "inside");
	put(&f->s, "ws/d/f", "in d");
	put(&f->s, "ws/d/e/g", "in e");
	put(&f->s, "ws2/f", "sibling");
	put(&f->s, "out/secret", "SECRET");
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		put_link(&f->s, links[i].name, links[i].target);
	(void)snprintf(f->root, sizeof f->root, "/../..%s/ws/f.txt", f->s.path);
	put_link(&f->s, "ws/back_top", f->root);
	(void)snprintf(f->root, sizeof f->root, "%s", in(&f->s, "ws"));
	(void)snprintf(f->alias, sizeof f->alias, "%s", in(&f->s, "alias"));
	f->b = (struct beneath){
		.fd = open(f->root, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.path = str_of(f->root),
		.alias = str_of(f->alias),
		.prefix = STR(""),
		.walk_only = f->resolver == RESOLVER_WALK,
	};
	assert_true(f->b.fd >= 0);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)close(f->b.fd);
	scratch_free(&f->s);
	return 0;
}

/* What opening a name gives, in words. */
static const char *opened(const struct fixture *f, const char *name, int flags, struct err *e)
{
	static char content[256];
	struct stat st;
	AUTO_FD fd = beneath_open(&f->b, name, flags, e);

	if (fd < 0)
		return err_name(e->code);
	assert_int_equal(fstat(fd, &st), 0);
	if (S_ISDIR(st.st_mode))
		return "directory";
	if (flags & O_PATH)
		return S_ISLNK(st.st_mode) ? "link" : "file";
	const ssize_t n = read(fd, content, sizeof content - 1);
	content[n > 0 ? n : 0] = '\0';
	return content;
}

static void the_kernels_resolver_is_used_where_there_is_one(void **state)
{
	(void)state;
	assert_int_equal(beneath_has_openat2(), kernel_has_openat2());
}

static void opening(void **state)
{
	const struct fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
		const char *got = opened(f, opens[i].name, O_RDONLY, &e);
		if (strcmp(got, opens[i].want) != 0)
			fail_msg("\"%s\": got %s, want %s", opens[i].name, got, opens[i].want);
	}
}

static void opening_by_path_or_as_a_directory(void **state)
{
	const struct fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
		const char *want = opens[i].want;
		const bool dir = strcmp(want, "directory") == 0;
		const bool error = err_by_name(str_of(want)) != ERR_NONE;
		const char *as_path = error || dir ? want : "file";
		const char *as_dir = error || dir ? want : "NOT_A_DIRECTORY";
		const char *got = opened(f, opens[i].name, O_PATH, &e);
		if (strcmp(got, as_path) != 0)
			fail_msg("\"%s\" by path: got %s, want %s", opens[i].name, got, as_path);
		got = opened(f, opens[i].name, O_RDONLY | O_DIRECTORY, &e);
		if (strcmp(got, as_dir) != 0)
			fail_msg("\"%s\" listed: got %s, want %s", opens[i].name, got, as_dir);
		got = opened(f, opens[i].name, O_PATH | O_DIRECTORY, &e);
		if (strcmp(got, as_dir) != 0)
			fail_msg("\"%s\" held: got %s, want %s", opens[i].name, got, as_dir);
	}
}

/* Where a place is, as "directory|name" below the root, or the name of the error. */
static const char *placed(const struct fixture *f, const char *name, bool make, struct err *e)
{
	static char text[PATH_MAX + NAME_MAX + 2];
	char self[64], dir[PATH_MAX];
	struct file_place p = { .dir = -1 };

	if (beneath_place(&f->b, name, make, &p, e) < 0) {
		assert_int_equal(p.dir, -1);
		return err_name(e->code);
	}
	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", p.dir);
	const ssize_t n = readlink(self, dir, sizeof dir - 1);
	assert_true(n >= (ssize_t)strlen(f->root));
	dir[n] = '\0';
	assert_memory_equal(dir, f->root, strlen(f->root));
	(void)snprintf(text, sizeof text, "%s|%s", dir + strlen(f->root), p.name);
	file_place_done(&p);
	assert_int_equal(p.dir, -1);
	return text;
}

static void places(void **state)
{
	static const struct {
		const char *name;
		bool make;
		const char *want;
	} rows[] = {
		{ "", false, "NOT_A_FILE" },
		{ "dot", false, "NOT_A_FILE" },
		{ "to_root", true, "NOT_A_FILE" },
		{ "d/parent", false, "NOT_A_FILE" },
		{ "f.txt", false, "|f.txt" },
		{ "d", false, "|d" },
		{ "d/f", false, "/d|f" },
		{ "d/new", false, "/d|new" },
		{ "rel", false, "|f.txt" },
		{ "abs", false, "|f.txt" },
		{ "chain", false, "|f.txt" },
		{ "rel_d/e/g", false, "/d/e|g" },
		{ "abs_d/e/g", false, "/d/e|g" },
		{ "to_root/abs_d/x", true, "/d|x" },
		{ "f.txt/x", true, "NOT_A_DIRECTORY" },
		{ "rel/x", true, "NOT_A_DIRECTORY" },
		{ "dangling", false, "|missing" },
		{ "dangling_abs", false, "/d|missing" },
		{ "dangling_d", false, "FILE_NOT_FOUND" },
		{ "dangling_up", false, "FILE_NOT_FOUND" },
		{ "missing/x", false, "FILE_NOT_FOUND" },
		{ "m1/m2/m3/x", true, "/m1/m2/m3|x" },
		{ "dangling_d", true, "/new/deep|file" },
		{ "abs_d/m4/x", true, "/d/m4|x" },
		{ "dangling/x", true, "/missing|x" },
		{ "back", false, "|f.txt" },
		{ "back_d/fresh", false, "/d|fresh" },
		{ "back_new", true, "/new/deep|file" },
		{ "back_root", true, "NOT_A_FILE" },
		{ "back_out", true, "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "out", true, "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "out_d/x", true, "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "out_d/made/x", true, "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "out_up/made", true, "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "out_sibling", true, "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "loop", true, "SYMLINK_LOOP" },
		{ "loop/x", true, "SYMLINK_LOOP" },
		{ "self/x", true, "SYMLINK_LOOP" },
	};
	const struct fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = placed(f, rows[i].name, rows[i].make, &e);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("\"%s\": got %s, want %s", rows[i].name, got, rows[i].want);
	}
	assert_int_equal(count_entries(in(&f->s, "out"), ""), 1);
	assert_int_equal(count_entries(in(&f->s, "ws2"), ""), 1);
	assert_int_equal(count_entries(f->s.path, ""), 4);
}

static void canonical_names(void **state)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "", "" },
		{ "f.txt", "f.txt" },
		{ "rel", "f.txt" },
		{ "abs", "f.txt" },
		{ "chain", "f.txt" },
		{ "rel_d/f", "d/f" },
		{ "abs_d/e/g", "d/e/g" },
		{ "to_root/abs_d/up", "f.txt" },
		{ "d/parent/d", "d" },
		{ "dot", "" },
		{ "dangling", "missing" },
		{ "nothing", "nothing" },
		{ "rel_d/nothing/at/all", "d/nothing/at/all" },
		{ "dangling_d", "new/deep/file" },
		{ "dangling_up", "FILE_NOT_FOUND" },
		{ "back_d/x", "d/x" },
		{ "back_twice", "f.txt" },
		{ "back_out", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "out", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "out_d/x/y", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "loop", "SYMLINK_LOOP" },
	};
	const struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char got[PATH_MAX];
		struct err e;
		if (beneath_canonical(&f->b, rows[i].name, got, &e) < 0)
			(void)snprintf(got, sizeof got, "%s", err_name(e.code));
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("\"%s\": got %s, want %s", rows[i].name, got, rows[i].want);
	}
}

/* A chain of links first → … → f.txt; each target is prefix + next name. */
static void put_chain(const struct fixture *f, const char *dir, const char *prefix, int hops)
{
	char name[PATH_MAX], target[PATH_MAX];

	for (int i = 1; i <= hops; i++) {
		(void)snprintf(name, sizeof name, "ws/%shop%d", dir, i);
		if (i == 1)
			(void)snprintf(target, sizeof target, "%s", "@/ws/f.txt");
		else
			(void)snprintf(target, sizeof target, "%shop%d", prefix, i - 1);
		put_link(&f->s, name, target);
	}
}

static void forty_links_and_no_more(void **state)
{
	static const struct {
		const char *dir, *prefix, *ok, *too_many;
	} rows[] = {
		{ "", "", "hop40", "hop41" },
		{ "r/", "", "r/hop40", "r/hop41" },
		{ "a/", "@/ws/a/", "a/hop40", "a/hop41" },
		{ "u/", "../u/", "u/hop40", "u/hop41" },
		{ "v/", "../d/../v/", "v/hop40", "v/hop41" },
	};
	const struct fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char dir[NAME_MAX];
		(void)snprintf(dir, sizeof dir, "ws/%s", rows[i].dir);
		if (*rows[i].dir)
			put_dir(&f->s, dir);
		put_chain(f, rows[i].dir, rows[i].prefix, LIMIT_LINK_HOPS + 1);
		const char *got = opened(f, rows[i].ok, O_RDONLY, &e);
		if (strcmp(got, "inside") != 0)
			fail_msg("%s: got %s", rows[i].ok, got);
		got = opened(f, rows[i].too_many, O_RDONLY, &e);
		if (strcmp(got, "SYMLINK_LOOP") != 0)
			fail_msg("%s: got %s", rows[i].too_many, got);
		assert_string_equal(placed(f, rows[i].ok, false, &e), "|f.txt");
		assert_string_equal(placed(f, rows[i].too_many, false, &e), "SYMLINK_LOOP");
	}
}

/* The error for a name, with the name taken out of the message. */
static struct err error_without_name(const struct fixture *f, int how, const char *name)
{
	struct err e = { 0 };
	struct file_place p = { .dir = -1 };
	char canonical[PATH_MAX];
	int rc = -1;

	if (how == 0)
		rc = beneath_open(&f->b, name, O_RDONLY, &e);
	else if (how == 1)
		rc = beneath_open(&f->b, name, O_PATH, &e);
	else if (how == 2)
		rc = beneath_open(&f->b, name, O_RDONLY | O_DIRECTORY, &e);
	else if (how <= 4)
		rc = beneath_place(&f->b, name, how == 4, &p, &e);
	else
		rc = beneath_canonical(&f->b, name, canonical, &e);
	assert_int_equal(rc, -1);
	char *at = strstr(e.msg, name);
	assert_non_null(at);
	memmove(at, at + strlen(name), strlen(at + strlen(name)) + 1);
	return e;
}

static void nothing_outside_is_revealed(void **state)
{
	static const char *const rows[][2] = {
		/* links to something, and to nothing */
		{ "@/out/secret", "@/out/nothing" },
		{ "../out/secret", "../out/nothing" },
		{ "@/out", "@/nothing" },
		{ "@/ws/../out/secret", "@/ws/../out/nothing" },
		{ "../ws2/f", "../nothing/f" },
		{ "../ws2/../ws/f.txt", "../nothing/../ws/f.txt" },
		{ "@/out/../ws/f.txt", "@/nothing/../ws/f.txt" },
		{ "/etc/passwd", "/nothing/at/all" },
		{ "/proc/self/root/etc", "/proc/self/root/nothing" },
		{ "d/../../out/secret", "d/../../out/nothing" },
		{ "d/out_up2/out/secret", "d/out_up2/nothing" },
	};
	static const char *const behind[] = { "", "/secret", "/x/y" };
	const struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char name[2][64];
		for (int k = 0; k < 2; k++) {
			(void)snprintf(name[k], sizeof name[k], "ws/oracle%zu.%d", i, k);
			put_link(&f->s, name[k], rows[i][k]);
		}
		for (size_t n = 0; n < 6 * ARRAY_LEN(behind); n++) {
			struct err e[2];
			for (int k = 0; k < 2; k++) {
				char asked[128];
				(void)snprintf(asked, sizeof asked, "%s%s", name[k] + 3,
					       behind[n / 6]);
				e[k] = error_without_name(f, (int)(n % 6), asked);
			}
			assert_int_equal(e[0].code, ERR_SYMLINK_OUTSIDE_WORKSPACE);
			assert_int_equal(e[1].code, ERR_SYMLINK_OUTSIDE_WORKSPACE);
			assert_string_equal(e[0].msg, e[1].msg);
			assert_null(strstr(e[0].msg, f->s.path));
		}
	}
}

static void names_are_bytes(void **state)
{
	static const char *const names[] = {
		"\xff\xfe", "a\nb", " ",	"*?[x]",       "-rf",
		"..x",	    "...",  "\x01\x7f", "caf\xc3\xa9", "a\\b"
	};
	const struct fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char name[64];
		(void)snprintf(name, sizeof name, "ws/%s", names[i]);
		put(&f->s, name, "odd");
		assert_string_equal(opened(f, names[i], O_RDONLY, &e), "odd");
		(void)snprintf(name, sizeof name, "ws/link%zu", i);
		char target[PATH_MAX];
		(void)snprintf(target, sizeof target, "%s/ws/%s", f->s.path, names[i]);
		put_link(&f->s, name, target);
		assert_string_equal(opened(f, name + 3, O_RDONLY, &e), "odd");
	}
}

static void deep_and_long_paths(void **state)
{
	const struct fixture *f = *state;
	char deep[PATH_MAX] = "x", name[NAME_MAX + 2], got[PATH_MAX];
	struct err e;

	/* As deep as a path can be, then a file in it; the absolute path is longer than PATH_MAX.
	 */
	while (strlen(deep) + 2 < sizeof deep - 2)
		memcpy(deep + strlen(deep), "/x", 3);
	assert_string_equal(opened(f, deep, O_RDONLY, &e), "FILE_NOT_FOUND");
	struct file_place p = { .dir = -1 };
	assert_int_equal(beneath_place(&f->b, deep, true, &p, &e), 0);
	const int fd = openat(p.dir, p.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "deep", 4), 4);
	(void)close(fd);
	file_place_done(&p);
	assert_string_equal(opened(f, deep, O_RDONLY, &e), "deep");
	assert_int_equal(beneath_canonical(&f->b, deep, got, &e), 0);
	assert_string_equal(got, deep);
	/* Removed from below: the whole path is too long for a call. */
	assert_int_equal(beneath_place(&f->b, deep, false, &p, &e), 0);
	assert_int_equal(unlinkat(p.dir, "x", 0), 0);
	for (size_t n = strlen(deep); n > 1; n -= 2) {
		const int up = openat(p.dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(unlinkat(up, "x", AT_REMOVEDIR), 0);
		file_place_done(&p);
		p.dir = up;
	}
	file_place_done(&p);
	memset(name, 'n', sizeof name);
	name[NAME_MAX] = '\0';
	assert_string_equal(opened(f, name, O_RDONLY, &e), "FILE_NOT_FOUND");
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = '\0';
	assert_string_equal(opened(f, name, O_RDONLY, &e), "INVALID_PATH");
	assert_string_equal(placed(f, name, true, &e), "INVALID_PATH");
}

static int open_special(void *arg)
{
	const struct fixture *f = arg;
	struct err e;

	/* Opening does not block; that they are no regular files is for the caller to see. */
	AUTO_FD fifo = beneath_open(&f->b, "fifo", O_RDONLY, &e);
	assert_true(fifo >= 0);
	AUTO_FD linked = beneath_open(&f->b, "fifo_link", O_RDONLY, &e);
	assert_true(linked >= 0);
	assert_string_equal(opened(f, "socket", O_RDONLY, &e), "NOT_A_FILE");
	assert_string_equal(opened(f, "fifo/x", O_RDONLY, &e), "NOT_A_DIRECTORY");
	assert_string_equal(opened(f, "fifo", O_RDONLY | O_DIRECTORY, &e), "NOT_A_DIRECTORY");
	assert_string_equal(opened(f, "fifo", O_PATH, &e), "file");
	return 0;
}

static void special_files_do_not_block(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkfifo(in(&f->s, "ws/fifo"), 0644), 0);
	put_link(&f->s, "ws/fifo_link", "@/ws/fifo");
	(void)snprintf(at.sun_path, sizeof at.sun_path, "%s", in(&f->s, "ws/socket"));
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof at), 0);
	in_child(open_special, f);
	(void)close(s);
}

static void messages_name_what_was_asked(void **state)
{
	static const char *const rows[][2] = {
		{ "missing/x", "File not found: missing/x" },
		{ "f.txt/x", "Cannot open f.txt/x: not a directory" },
		{ "loop", "Too many levels of symbolic links: loop" },
		{ "out_d/x", "A symbolic link in this path leads outside the workspace: out_d/x" },
	};
	const struct fixture *f = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		(void)opened(f, rows[i][0], O_RDONLY, &e);
		assert_string_equal(e.msg, rows[i][1]);
	}
	struct beneath data = f->b;
	data.prefix = STR("/data/");
	assert_int_equal(beneath_open(&data, "missing", O_RDONLY, &e), -1);
	assert_string_equal(e.msg, "File not found: /data/missing");
}

#define OVER(test, f)                                                                              \
	{                                                                                          \
#test, test, set_up, tear_down, (f)                                                \
	}

static int run(enum resolver resolver)
{
	static const char *const names[] = { "beneath: openat2", "beneath: walk",
					     "beneath: openat2 hidden" };
	struct fixture f = { .resolver = resolver };
	const struct CMUnitTest tests[] = {
		OVER(the_kernels_resolver_is_used_where_there_is_one, &f),
		OVER(opening, &f),
		OVER(opening_by_path_or_as_a_directory, &f),
		OVER(places, &f),
		OVER(canonical_names, &f),
		OVER(forty_links_and_no_more, &f),
		OVER(nothing_outside_is_revealed, &f),
		OVER(names_are_bytes, &f),
		OVER(deep_and_long_paths, &f),
		OVER(special_files_do_not_block, &f),
		OVER(messages_name_what_was_asked, &f),
	};

	return cmocka_run_group_tests_name(names[resolver], tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return resolver_main(argc, argv, run);
}
