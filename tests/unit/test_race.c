/* SPDX-License-Identifier: MIT */
/*
 * A directory, or a file, is exchanged with a link to outside, again and again, while files are
 * opened, made, listed, replaced and searched through its name: nothing outside may be read or
 * made.
 *
 * "Outside" is a directory beside the workspace with a canary in it. Each operation runs for one
 * second, or for RACE_SECONDS, over both resolvers.
 */

#include "no_openat2.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/xattr.h>

#include "base/io.h"
#include "base/limits.h"
#include "changes/entry.h"
#include "search/grep.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

#define INSIDE	"inside"
#define OUTSIDE "OUTSIDE"

struct race {
	enum resolver resolver;
	const char *link; /* what the link says */
	bool swap_file;	  /* a/dir/sub/f is exchanged, with a link to out/sub/f; else a/dir */
	struct scratch s;
	struct workspace *ws;
	atomic_bool stop;
	long swaps;
	long done, refused, escaped; /* operations, by how they ended */
};

static void *swap(void *arg)
{
	struct race *r = arg;
	char dir[PATH_MAX], link[PATH_MAX];

	(void)snprintf(dir, sizeof dir, "%s",
		       in(&r->s, r->swap_file ? "ws/a/dir/sub/f" : "ws/a/dir"));
	(void)snprintf(link, sizeof link, "%s",
		       in(&r->s, r->swap_file ? "ws/a/file-link" : "ws/a/link"));
	while (!atomic_load(&r->stop))
		r->swaps += renameat2(AT_FDCWD, dir, AT_FDCWD, link, RENAME_EXCHANGE) == 0;
	return NULL;
}

static int64_t race_ms(void)
{
	const char *seconds = getenv("RACE_SECONDS");
	int64_t n = 1;

	if (seconds)
		(void)str_int(str_of(seconds), &n);
	return n * 1000;
}

static int set_up(void **state)
{
	struct race *r = *state;
	struct err e;

	r->s = scratch_new();
	put_dir(&r->s, "ws");
	put_dir(&r->s, "ws/a");
	put_dir(&r->s, "ws/a/dir");
	put_dir(&r->s, "ws/a/dir/sub");
	put(&r->s, "ws/a/dir/sub/f", INSIDE);
	put_dir(&r->s, "out");
	put_dir(&r->s, "out/sub");
	put(&r->s, "out/sub/f", OUTSIDE);
	put(&r->s, "out/sub/canary", OUTSIDE);
	put_link(&r->s, "ws/a/link", r->link);
	put_link(&r->s, "ws/a/file-link", "@/out/sub/f");
	char root[PATH_MAX];
	(void)snprintf(root, sizeof root, "%s", in(&r->s, "ws"));
	const struct ws_options o = { .root = root, .walk_only = r->resolver == RESOLVER_WALK };
	assert_int_equal(ws_new(&o, &r->ws, &e), 0);
	assert_int_equal(ws_uses_openat2(r->ws), r->resolver == RESOLVER_KERNEL);
	r->stop = false;
	r->swaps = r->done = r->refused = r->escaped = 0;
	return 0;
}

static int tear_down(void **state)
{
	struct race *r = *state;

	ws_free(r->ws);
	scratch_free(&r->s);
	return 0;
}

/* Whether both sides of the exchange have been met, else nothing was tested. */
static bool met_both(const struct race *r)
{
	return r->done > 0 && r->refused > 0;
}

/* Repeat the operation while the directory is swapped, then look at what is outside. */
static void run_race(struct race *r, void (*operation)(struct race *r, long turn))
{
	pthread_t swapper;

	assert_int_equal(pthread_create(&swapper, NULL, swap, r), 0);
	const int64_t end = io_now_ms() + race_ms(), patience = end + 60000;
	for (long turn = 0; io_now_ms() < end || (!met_both(r) && io_now_ms() < patience); turn++)
		operation(r, turn);
	atomic_store(&r->stop, true);
	assert_int_equal(pthread_join(swapper, NULL), 0);
	if (r->swaps == 0)
		skip_because("this file system cannot exchange two names");
	print_message("# %ld done, %ld refused, %ld escaped, %ld swaps\n", r->done, r->refused,
		      r->escaped, r->swaps);
	assert_int_equal(r->escaped, 0);
	assert_int_equal(count_entries(in(&r->s, "out"), ""), 1);
	assert_int_equal(count_entries(in(&r->s, "out/sub"), ""), 2);
	assert_string_equal(get(&r->s, "out/sub/f"), OUTSIDE);
	assert_string_equal(get(&r->s, "out/sub/canary"), OUTSIDE);
	assert_true(met_both(r));
}

static struct path path_to(const struct race *r, const char *name)
{
	struct path p = { .base = PATH_OUTSIDE };
	struct err e;

	(void)ws_resolve(r->ws, str_of(name), PATH_STRICT, &p, &e);
	return p;
}

static void open_once(struct race *r, long turn)
{
	const struct path p = path_to(r, "a/dir/sub/f");
	char text[16] = "";
	struct stat st;
	struct err e;
	AUTO_FD fd = ws_open_file(r->ws, &p, &st, &e);

	(void)turn;
	if (fd < 0) {
		r->refused++;
		return;
	}
	(void)read(fd, text, sizeof text - 1);
	if (strcmp(text, INSIDE) == 0)
		r->done++;
	else
		r->escaped++;
}

static int look_for_canary(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct race *r = arg;

	(void)type, (void)e;
	r->escaped += str_eq(name, STR("canary"));
	return 0;
}

static void list_once(struct race *r, long turn)
{
	const struct path p = path_to(r, "a/dir/sub");
	struct err e;
	const int dir = ws_open_dir(r->ws, &p, &e);

	(void)turn;
	if (dir >= 0 && ws_list(dir, look_for_canary, r, &e) == 0)
		r->done++;
	else
		r->refused++;
}

static void write_once(struct race *r, const char *name)
{
	const struct path p = path_to(r, name);
	struct err e;
	AUTO_REPLACE w = REPLACE_NONE;

	if (replace_begin(r->ws, NULL, &p, REPLACE_MAKE_DIRS, &w, &e) == 0 &&
	    replace_commit(&w, STR(INSIDE), &e) == 0)
		r->done++;
	else
		r->refused++;
}

static void create_once(struct race *r, long turn)
{
	char name[64];

	/* Few names in all; every second one needs a directory of its own. */
	(void)snprintf(name, sizeof name, turn % 2 ? "a/dir/new%ld" : "a/dir/sub/new%ld/x",
		       turn / 2 % 512);
	write_once(r, name);
}

static void replace_once(struct race *r, long turn)
{
	(void)turn;
	write_once(r, "a/dir/sub/f");
}

static void canonical_once(struct race *r, long turn)
{
	const struct path p = path_to(r, "a/dir/sub/f");
	struct path got;
	struct err e;

	(void)turn;
	if (ws_canonical(r->ws, &p, &got, &e) < 0)
		r->refused++;
	else if (strcmp(got.name, "a/dir/sub/f") == 0)
		r->done++;
	else
		r->escaped++;
}

/* Begin to change a file, as an edit does, and look at what is changed. */
static void edit_once(struct race *r, long turn)
{
	const struct path p = path_to(r, "a/dir/sub/f");
	struct err e;
	AUTO_REPLACE w = { .at = { .dir = -1 }, .old = -1 };
	AUTO_BUF old = { .max = 4096 };

	(void)turn;
	if (replace_begin(r->ws, NULL, &p, REPLACE_MUST_EXIST, &w, &e) < 0)
		r->refused++;
	else if (replace_read(&w, &old, &e) == 0 && str_eq(buf_str(&old), STR(INSIDE)))
		r->done++;
	else
		r->escaped++;
}

static void search_once(struct race *r, long turn)
{
	const struct path root = { .base = PATH_WORKSPACE };
	AUTO_FOUND found = { 0 };
	struct hits_reader reader = { .hits = &found.hits };
	struct hit hit;
	struct err e;
	AUTO_FD dir = ws_open_dir(r->ws, &root, &e);
	const struct grep_request request = {
		.where = { .dirfd = dir, .threads = 1, .deadline_ms = IO_FOREVER, .all = true },
		.file_fd = -1,
		.pattern = STR(INSIDE "|" OUTSIDE),
	};
	struct hit_line line;

	(void)turn;
	assert_int_equal(grep_run(&request, &found, &e), 0);
	r->refused += found.account.unreadable > 0;
	while (hits_next(&reader, &hit))
		while (hit_next_line(&hit, &line))
			*(str_eq(line.text, STR(INSIDE)) ? &r->done : &r->escaped) += 1;
}

/* As an undo gives a file its permissions and attributes back. */
static void mark_once(struct race *r, long turn)
{
	static const char attribute[] = "user.race\0\1\0\0\0x";
	const struct path p = path_to(r, "a/dir/sub");
	struct path_state st = { .type = STATE_FILE,
				 .uid = geteuid(),
				 .gid = getegid(),
				 .mode = turn % 2 ? 0600 : 0640,
				 .xattrs = { attribute, sizeof attribute - 1 } };
	struct err e;
	AUTO_FD dir = ws_open_dir(r->ws, &p, &e);

	if (entry_set_meta(dir, "f", &st) == 0)
		r->done++;
	else
		r->refused++;
	/* For the next time there is something to be set. */
	(void)lremovexattr(in(&r->s, "ws/a/dir/sub/f"), "user.race");
	(void)lremovexattr(in(&r->s, "ws/a/file-link"), "user.race");
}

static void marking(void **state)
{
	struct race *r = *state;
	struct stat before, after;

	assert_int_equal(stat(in(&r->s, "out/sub/f"), &before), 0);
	run_race(r, mark_once);
	assert_int_equal(stat(in(&r->s, "out/sub/f"), &after), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_ctim.tv_sec, before.st_ctim.tv_sec);
	assert_int_equal(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec);
}

static void opening(void **state)
{
	run_race(*state, open_once);
}

static void listing(void **state)
{
	run_race(*state, list_once);
}

static void creating(void **state)
{
	run_race(*state, create_once);
}

static void replacing(void **state)
{
	run_race(*state, replace_once);
}

static void naming(void **state)
{
	run_race(*state, canonical_once);
}

static void editing(void **state)
{
	run_race(*state, edit_once);
}

static void searching(void **state)
{
	run_race(*state, search_once);
}

#define OVER(test, r)                                                                              \
	{                                                                                          \
#test, test, set_up, tear_down, (r)                                                \
	}

static int run(enum resolver resolver)
{
	struct race r = { .resolver = resolver, .link = "../../out" };
	struct race absolute = { .resolver = resolver, .link = "@/out" };
	struct race file = { .resolver = resolver, .link = "../../out", .swap_file = true };
	const struct CMUnitTest tests[] = {
		OVER(opening, &r),	  OVER(listing, &r),	     OVER(creating, &r),
		OVER(replacing, &r),	  OVER(naming, &r),	     OVER(opening, &absolute),
		OVER(listing, &absolute), OVER(creating, &absolute), OVER(replacing, &absolute),
		OVER(naming, &absolute),  OVER(searching, &r),	     OVER(searching, &file),
		OVER(editing, &file),	  OVER(marking, &file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return resolver_main(argc, argv, run);
}
