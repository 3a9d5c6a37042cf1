/* SPDX-License-Identifier: MIT */
/* Replacing files: old or new, never a mix; what the file was otherwise stays. */

#include "scratch.h"

#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "base/io.h"
#include "base/limits.h"
#include "workspace/pending.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

struct fixture {
	struct scratch s; /* ws, out */
	struct workspace *ws;
};

static struct workspace *open_ws(const struct scratch *s)
{
	char root[PATH_MAX];
	struct workspace *ws = NULL;
	struct err e;

	(void)snprintf(root, sizeof root, "%s", in(s, "ws"));
	if (ws_new(&(struct ws_options){ .root = root }, &ws, &e) < 0)
		fail_msg("%s", e.msg);
	return ws;
}

static int set_up(void **state)
{
	static struct fixture f;

	f.s = scratch_new();
	put_dir(&f.s, "ws");
	put_dir(&f.s, "ws/d");
	put_dir(&f.s, "out");
	put(&f.s, "ws/f", "old");
	f.ws = open_ws(&f.s);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	ws_free(f->ws);
	scratch_free(&f->s);
	return 0;
}

/* Write a file; "" or the name of the error. */
static const char *wrote(const struct workspace *ws, const char *name, struct str content,
			 unsigned flags)
{
	struct path p;
	struct err e = { 0 };
	AUTO_REPLACE r = REPLACE_NONE;

	if (ws_resolve(ws, str_of(name), PATH_STRICT, &p, &e) == 0 &&
	    replace_begin(ws, NULL, &p, flags, &r, &e) == 0)
		(void)replace_commit(&r, content, &e);
	return err_name(e.code);
}

static struct stat stat_of(const struct fixture *f, const char *name)
{
	struct stat st;

	assert_int_equal(lstat(in(&f->s, name), &st), 0);
	return st;
}

static void assert_no_temporary(const struct fixture *f)
{
	assert_int_equal(count_entries(in(&f->s, "ws"), ".sidecar"), 0);
	assert_int_equal(count_entries(in(&f->s, "ws/d"), ".sidecar"), 0);
}

static void new_and_old_files(void **state)
{
	const struct fixture *f = *state;
	const mode_t mask = umask(027);
	const ino_t before = stat_of(f, "ws/f").st_ino;

	assert_string_equal(wrote(f->ws, "f", STR("new"), 0), "");
	assert_string_equal(get(&f->s, "ws/f"), "new");
	assert_true(stat_of(f, "ws/f").st_ino != before);
	assert_string_equal(wrote(f->ws, "g", STR("made"), 0), "");
	assert_string_equal(get(&f->s, "ws/g"), "made");
	assert_int_equal(stat_of(f, "ws/g").st_mode & 07777, 0640);
	assert_string_equal(wrote(f->ws, "x/y/z", STR("deep"), 0), "FILE_NOT_FOUND");
	assert_string_equal(wrote(f->ws, "x/y/z", STR("deep"), REPLACE_MAKE_DIRS), "");
	assert_string_equal(get(&f->s, "ws/x/y/z"), "deep");
	assert_string_equal(wrote(f->ws, "h", STR("x"), REPLACE_MUST_EXIST), "FILE_NOT_FOUND");
	assert_string_equal(wrote(f->ws, "f", STR(""), REPLACE_MUST_EXIST | REPLACE_SYNC), "");
	assert_string_equal(get(&f->s, "ws/f"), "");
	assert_string_equal(wrote(f->ws, "d", STR("x"), 0), "NOT_A_FILE");
	assert_string_equal(wrote(f->ws, "f/x", STR("x"), REPLACE_MAKE_DIRS), "NOT_A_DIRECTORY");
	assert_no_temporary(f);
	(void)umask(mask);
}

static void what_the_file_was_stays(void **state)
{
	static const mode_t modes[] = { 0600, 0644, 0755, 0444, 04755, 02755, 01644 };
	const struct fixture *f = *state;
	char value[16] = "";

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		assert_int_equal(chmod(in(&f->s, "ws/f"), modes[i]), 0);
		if (geteuid() != 0 && !(modes[i] & 0200))
			continue;
		assert_string_equal(wrote(f->ws, "f", STR("new"), 0), "");
		assert_int_equal(stat_of(f, "ws/f").st_mode & 07777, modes[i]);
	}
	if (geteuid() == 0) {
		assert_int_equal(chown(in(&f->s, "ws/f"), 1234, 2345), 0);
		assert_int_equal(chmod(in(&f->s, "ws/f"), 06750), 0);
		assert_string_equal(wrote(f->ws, "f", STR("newer"), 0), "");
		const struct stat st = stat_of(f, "ws/f");
		assert_int_equal(st.st_uid, 1234);
		assert_int_equal(st.st_gid, 2345);
		assert_int_equal(st.st_mode & 07777, 06750);
	}
	if (setxattr(in(&f->s, "ws/f"), "user.note", "kept", 4, 0) < 0) {
		print_message("no extended attributes here\n");
		return;
	}
	assert_string_equal(wrote(f->ws, "f", STR("newest"), 0), "");
	assert_int_equal(getxattr(in(&f->s, "ws/f"), "user.note", value, sizeof value), 4);
	assert_string_equal(value, "kept");
}

static void file_capabilities_are_not_given_to_new_content(void **state)
{
	/* Revision 2, effective; CAP_NET_RAW. */
	static const unsigned char caps[20] = { 1, 0, 0, 2, 0, 0x20 };
	static const char name[] = "security.capability";
	const struct fixture *f = *state;

	assert_string_equal(wrote(f->ws, "f", STR("old"), 0), "");
	if (setxattr(in(&f->s, "ws/f"), name, caps, sizeof caps, 0) < 0)
		skip_because("no file capabilities for us here");
	assert_string_equal(wrote(f->ws, "f", STR("new"), 0), "");
	assert_int_equal(getxattr(in(&f->s, "ws/f"), name, NULL, 0), -1);
}

/* Version 2; owner rw-, user 4242 r--, group r--, mask r--, others --- */
static const unsigned char acl[] = {
	2, 0,	 0,    0,   1,	 0,   6,  0, 255, 255, 255, 255, 2,   0,   4,
	0, 0x92, 0x10, 0,   0,	 4,   0,  4, 0,	  255, 255, 255, 255, 16,  0,
	4, 0,	 255,  255, 255, 255, 32, 0, 0,	  0,   255, 255, 255, 255,
};

static void an_access_list_stays(void **state)
{
	const struct fixture *f = *state;
	unsigned char got[sizeof acl + 8];

	if (setxattr(in(&f->s, "ws/f"), "system.posix_acl_access", acl, sizeof acl, 0) < 0)
		skip_because("no access control lists here");
	assert_string_equal(wrote(f->ws, "f", STR("new"), 0), "");
	assert_int_equal(getxattr(in(&f->s, "ws/f"), "system.posix_acl_access", got, sizeof got),
			 sizeof acl);
	assert_memory_equal(got, acl, sizeof acl);
}

static void a_directory_gives_no_access_list_to_an_old_file(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(chmod(in(&f->s, "ws/f"), 0640), 0);
	if (setxattr(in(&f->s, "ws"), "system.posix_acl_default", acl, sizeof acl, 0) < 0)
		skip_because("no access control lists here");
	assert_string_equal(wrote(f->ws, "f", STR("new"), 0), "");
	assert_int_equal(getxattr(in(&f->s, "ws/f"), "system.posix_acl_access", NULL, 0), -1);
	assert_int_equal(stat_of(f, "ws/f").st_mode & 07777, 0640);
	assert_string_equal(wrote(f->ws, "fresh", STR("new"), 0), "");
	assert_true(getxattr(in(&f->s, "ws/fresh"), "system.posix_acl_access", NULL, 0) > 0);
}

static void hard_links_stay_together(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(link(in(&f->s, "ws/f"), in(&f->s, "ws/d/other")), 0);
	const ino_t before = stat_of(f, "ws/f").st_ino;
	assert_string_equal(wrote(f->ws, "f", STR("a longer text"), 0), "");
	assert_string_equal(get(&f->s, "ws/d/other"), "a longer text");
	assert_string_equal(wrote(f->ws, "d/other", STR("less"), REPLACE_SYNC), "");
	assert_string_equal(get(&f->s, "ws/f"), "less");
	assert_int_equal(stat_of(f, "ws/f").st_ino, before);
}

static void links_are_followed_inside(void **state)
{
	const struct fixture *f = *state;

	put(&f->s, "out/secret", "SECRET");
	put_link(&f->s, "ws/to_f", "f");
	put_link(&f->s, "ws/to_f_abs", "@/ws/f");
	put_link(&f->s, "ws/to_new", "d/new");
	put_link(&f->s, "ws/to_new_dir", "e/new");
	put_link(&f->s, "ws/to_out", "@/out/secret");
	put_link(&f->s, "ws/to_out_new", "../out/new");
	assert_string_equal(wrote(f->ws, "to_f", STR("1"), 0), "");
	assert_string_equal(get(&f->s, "ws/f"), "1");
	assert_string_equal(wrote(f->ws, "to_f_abs", STR("2"), 0), "");
	assert_string_equal(get(&f->s, "ws/f"), "2");
	assert_true(S_ISLNK(stat_of(f, "ws/to_f").st_mode));
	assert_true(S_ISLNK(stat_of(f, "ws/to_f_abs").st_mode));
	assert_string_equal(wrote(f->ws, "to_new", STR("3"), 0), "");
	assert_string_equal(get(&f->s, "ws/d/new"), "3");
	assert_string_equal(wrote(f->ws, "to_new_dir", STR("4"), REPLACE_MAKE_DIRS), "");
	assert_string_equal(get(&f->s, "ws/e/new"), "4");
	assert_string_equal(wrote(f->ws, "to_out", STR("5"), 0), "SYMLINK_OUTSIDE_WORKSPACE");
	assert_string_equal(wrote(f->ws, "to_out_new", STR("6"), REPLACE_MAKE_DIRS),
			    "SYMLINK_OUTSIDE_WORKSPACE");
	assert_string_equal(get(&f->s, "out/secret"), "SECRET");
	assert_int_equal(count_entries(in(&f->s, "out"), ""), 1);
}

static int as_nobody(void *arg)
{
	const struct fixture *f = arg;

	put(&f->s, "ws/theirs", "old");
	put(&f->s, "ws/mine", "old");
	put(&f->s, "ws/writable", "old");
	put(&f->s, "ws/d/given", "old");
	assert_int_equal(chown(in(&f->s, "ws/mine"), 65534, 65534), 0);
	assert_int_equal(chmod(in(&f->s, "ws/mine"), 0444), 0);
	assert_int_equal(chmod(in(&f->s, "ws/writable"), 0666), 0);
	assert_int_equal(chmod(in(&f->s, "ws/d/given"), 0666), 0);
	assert_int_equal(chmod(in(&f->s, "ws/d"), 0777), 0);
	assert_int_equal(setresgid(65534, 65534, 65534), 0);
	assert_int_equal(setresuid(65534, 65534, 65534), 0);
	assert_string_equal(wrote(f->ws, "theirs", STR("new"), 0), "PERMISSION_DENIED");
	assert_string_equal(get(&f->s, "ws/theirs"), "old");
	assert_string_equal(wrote(f->ws, "mine", STR("new"), 0), "PERMISSION_DENIED");
	assert_string_equal(get(&f->s, "ws/mine"), "old");
	assert_string_equal(wrote(f->ws, "none", STR("new"), 0), "PERMISSION_DENIED");
	/* In place: no new file may be made here, and there its owner could not be kept. */
	const ino_t writable = stat_of(f, "ws/writable").st_ino;
	const ino_t given = stat_of(f, "ws/d/given").st_ino;
	assert_string_equal(wrote(f->ws, "writable", STR("new"), 0), "");
	assert_string_equal(wrote(f->ws, "d/given", STR("new"), 0), "");
	assert_string_equal(get(&f->s, "ws/writable"), "new");
	assert_string_equal(get(&f->s, "ws/d/given"), "new");
	assert_int_equal(stat_of(f, "ws/writable").st_ino, writable);
	assert_int_equal(stat_of(f, "ws/d/given").st_ino, given);
	assert_int_equal(stat_of(f, "ws/d/given").st_uid, 0);
	/* A file of one's own, made and replaced without privileges. */
	assert_string_equal(wrote(f->ws, "d/own", STR("1"), 0), "");
	assert_string_equal(wrote(f->ws, "d/own", STR("2"), 0), "");
	assert_string_equal(get(&f->s, "ws/d/own"), "2");
	assert_no_temporary(f);
	return 0;
}

static void permissions(void **state)
{
	if (geteuid() != 0)
		skip_because("needs root to become another user");
	in_child(as_nobody, *state);
}

/* Set the marks of a file or directory (FS_…_FL), as chattr does. */
static bool mark(const struct fixture *f, const char *name, int marks)
{
	AUTO_FD fd = open(in(&f->s, name), O_RDONLY | O_CLOEXEC);

	return fd >= 0 && ioctl(fd, FS_IOC_SETFLAGS, &marks) == 0;
}

/* False if this process may not set marks. */
static bool write_where_names_stay(const struct fixture *f)
{
	struct path p;
	struct err e[2] = { 0 };
	AUTO_REPLACE r = REPLACE_NONE;

	put(&f->s, "ws/d/old", "a longer text");
	put(&f->s, "ws/fixed", "fixed");
	if (!mark(f, "ws/fixed", FS_APPEND_FL))
		return false;
	/* Nothing is asserted while marks are set: they would keep the files from being removed. */
	assert_int_equal(ws_resolve(f->ws, STR("fixed"), PATH_STRICT, &p, e), 0);
	(void)replace_begin(f->ws, NULL, &p, 0, &r, &e[0]);
	(void)mark(f, "ws/fixed", 0);
	(void)mark(f, "ws/d", FS_APPEND_FL);
	const char *old = wrote(f->ws, "d/old", STR("new"), REPLACE_SYNC);
	const char *made = wrote(f->ws, "d/made", STR("made"), REPLACE_SYNC);
	(void)mark(f, "ws/d", FS_IMMUTABLE_FL);
	assert_int_equal(ws_resolve(f->ws, STR("d/more"), PATH_STRICT, &p, e), 0);
	if (replace_begin(f->ws, NULL, &p, 0, &r, &e[1]) == 0)
		(void)replace_commit(&r, STR("x"), &e[1]);
	(void)mark(f, "ws/d", 0);
	assert_string_equal(old, "");
	assert_string_equal(made, "");
	assert_string_equal(get(&f->s, "ws/d/old"), "new");
	assert_string_equal(get(&f->s, "ws/d/made"), "made");
	assert_string_equal(get(&f->s, "ws/d/more"), "(none)");
	assert_string_equal(e[0].msg, "Cannot write fixed: it is append-only (chattr +a)");
	assert_string_equal(e[1].msg,
			    "Cannot write d/more: its directory is immutable (chattr +i)");
	assert_no_temporary(f);
	return true;
}

static void append_only_directories_collect_nothing(void **state)
{
	if (!write_where_names_stay(*state)) {
		print_message("marking files is not permitted\n");
		skip();
	}
}

static int on_full_disk(void *arg)
{
	const struct fixture *f = arg;
	static char big[256 << 10];

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", in(&f->s, "ws"), "tmpfs", 0, "size=64k") < 0) {
		print_message("SKIP: this machine gives no mount namespaces\n");
		return SKIPPED;
	}
	put_dir(&f->s, "ws/d");
	put(&f->s, "ws/f", "old");
	put(&f->s, "ws/linked", "old");
	assert_int_equal(link(in(&f->s, "ws/linked"), in(&f->s, "ws/linked2")), 0);
	AUTO_WORKSPACE ws = open_ws(&f->s);
	const struct str content = { big, sizeof big };
	assert_string_equal(wrote(ws, "f", content, 0), "DISK_FULL");
	assert_string_equal(wrote(ws, "new", content, 0), "DISK_FULL");
	assert_string_equal(wrote(ws, "linked", content, 0), "DISK_FULL");
	assert_string_equal(get(&f->s, "ws/f"), "old");
	assert_string_equal(get(&f->s, "ws/new"), "(none)");
	assert_string_equal(get(&f->s, "ws/linked"), "old");
	assert_int_equal(stat_of(f, "ws/linked").st_size, 3);
	assert_no_temporary(f);
	/* A file with holes, written in place: filling them must not be the moment to find out. */
	assert_int_equal(truncate(in(&f->s, "ws/linked"), 200 << 10), 0);
	assert_string_equal(wrote(ws, "linked", (struct str){ big, 150 << 10 }, 0), "DISK_FULL");
	assert_int_equal(stat_of(f, "ws/linked").st_size, 200 << 10);
	assert_string_equal(get(&f->s, "ws/linked"), "old");
	return 0;
}

static void full_disk(void **state)
{
	in_child(on_full_disk, *state);
}

static int with_small_files_only(void *arg)
{
	const struct fixture *f = arg;
	const struct rlimit limit = { .rlim_cur = 8192, .rlim_max = 8192 };
	static char big[64 << 10];

	(void)signal(SIGXFSZ, SIG_IGN);
	put(&f->s, "ws/linked", "old");
	assert_int_equal(link(in(&f->s, "ws/linked"), in(&f->s, "ws/linked2")), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	const struct str content = { big, sizeof big };
	assert_string_equal(wrote(f->ws, "f", content, 0), "FILE_TOO_LARGE");
	assert_string_equal(wrote(f->ws, "new", content, 0), "FILE_TOO_LARGE");
	assert_string_equal(wrote(f->ws, "linked", content, 0), "FILE_TOO_LARGE");
	assert_string_equal(get(&f->s, "ws/f"), "old");
	assert_string_equal(get(&f->s, "ws/new"), "(none)");
	assert_string_equal(get(&f->s, "ws/linked"), "old");
	assert_no_temporary(f);
	return 0;
}

static void file_size_limit(void **state)
{
	in_child(with_small_files_only, *state);
}

struct reader {
	const struct fixture *f;
	atomic_bool stop;
	long reads, wrong;
};

enum { BLOCK = 16 << 10 };

/* Every content is one letter, so that a mix shows. */
static void *read_on(void *arg)
{
	struct reader *r = arg;
	char path[PATH_MAX], text[BLOCK + 1];

	(void)snprintf(path, sizeof path, "%s", in(&r->f->s, "ws/f"));
	while (!atomic_load(&r->stop)) {
		AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
		const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof text);
		bool ok = n == BLOCK;
		for (ssize_t i = 1; ok && i < n; i++)
			ok = text[i] == text[0];
		r->wrong += !ok;
		r->reads++;
	}
	return NULL;
}

static void readers_see_old_or_new(void **state)
{
	struct fixture *f = *state;
	struct reader r = { .f = f };
	static char text[BLOCK];
	pthread_t thread;
	long writes = 0;

	memset(text, 'a', sizeof text);
	assert_string_equal(wrote(f->ws, "f", (struct str){ text, sizeof text }, 0), "");
	assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
	for (const int64_t end = io_now_ms() + 1000; io_now_ms() < end; writes++) {
		memset(text, 'a' + (int)(writes % 26), sizeof text);
		assert_string_equal(wrote(f->ws, "f", (struct str){ text, sizeof text }, 0), "");
	}
	atomic_store(&r.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%ld writes, %ld reads\n", writes, r.reads);
	assert_int_equal(r.wrong, 0);
	assert_true(r.reads > 0 && writes > 0);
}

struct counter {
	const struct workspace *ws;
	const char *name;
	int turns, failed;
};

static void *increment(void *arg)
{
	struct counter *c = arg;

	for (int i = 0; i < c->turns; i++) {
		AUTO_BUF b = { .max = 64 };
		AUTO_REPLACE r = REPLACE_NONE;
		struct path p;
		struct err e;
		int64_t n = 0;
		char text[32];
		if (ws_resolve(c->ws, str_of(c->name), PATH_STRICT, &p, &e) < 0 ||
		    replace_begin(c->ws, NULL, &p, REPLACE_MUST_EXIST, &r, &e) < 0 ||
		    replace_read(&r, &b, &e) < 0 || !str_int(buf_str(&b), &n)) {
			c->failed++;
			continue;
		}
		(void)snprintf(text, sizeof text, "%lld", (long long)n + 1);
		c->failed += replace_commit(&r, str_of(text), &e) < 0;
	}
	return NULL;
}

static void count_together(const struct fixture *f, const char *one, const char *other)
{
	struct counter counters[2] = { { f->ws, one, 500, 0 }, { f->ws, other, 500, 0 } };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, increment, &counters[i]), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(counters[i].failed, 0);
	}
	assert_string_equal(get(&f->s, "ws/f"), "1000");
}

static void no_update_is_lost(void **state)
{
	const struct fixture *f = *state;

	put(&f->s, "ws/f", "0");
	count_together(f, "f", "f");
	put(&f->s, "ws/f", "0");
	put_link(&f->s, "ws/d/link", "../f");
	count_together(f, "f", "d/link");
}

static void no_update_is_lost_over_two_names(void **state)
{
	const struct fixture *f = *state;

	put(&f->s, "ws/f", "0");
	assert_int_equal(link(in(&f->s, "ws/f"), in(&f->s, "ws/d/g")), 0);
	count_together(f, "f", "d/g");
}

static void reading_is_bounded(void **state)
{
	const struct fixture *f = *state;
	AUTO_REPLACE r = REPLACE_NONE;
	AUTO_BUF small = { .max = 3 };
	AUTO_BUF enough = { .max = 100 };
	struct path p;
	struct err e;

	assert_int_equal(ws_resolve(f->ws, STR("f"), PATH_STRICT, &p, &e), 0);
	assert_int_equal(replace_begin(f->ws, NULL, &p, 0, &r, &e), 0);
	assert_int_equal(replace_read(&r, &small, &e), -1);
	assert_int_equal(e.code, ERR_FILE_TOO_LARGE);
	/* It has grown since it was opened: what is there counts. */
	put(&f->s, "ws/f", "old and grown");
	assert_int_equal(replace_read(&r, &enough, &e), 0);
	assert_str(buf_str(&enough), "old and grown");
}

static void killed_writers_leave_nothing(void **state)
{
	enum { KILLS = 200 };
	struct fixture *f = *state;
	static char text[2][BLOCK];
	char path[PATH_MAX], got[BLOCK + 1];
	uint32_t seed = 1;

	memset(text[0], 'a', BLOCK);
	memset(text[1], 'b', BLOCK);
	assert_string_equal(wrote(f->ws, "f", (struct str){ text[0], BLOCK }, 0), "");
	(void)snprintf(path, sizeof path, "%s", in(&f->s, "ws/f"));
	for (int i = 0; i < KILLS; i++) {
		const pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			for (int turn = 0;; turn++)
				(void)wrote(f->ws, "f", (struct str){ text[turn % 2], BLOCK }, 0);
		seed = seed * 1664525 + 1013904223;
		(void)usleep((seed >> 8) % 4000);
		(void)kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		pending_sweep(pending_fd(ws_pending(f->ws)));
		assert_no_temporary(f);
		AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(io_read_full(fd, got, sizeof got), BLOCK);
		assert_true(memcmp(got, text[0], BLOCK) == 0 || memcmp(got, text[1], BLOCK) == 0);
	}
}

/* From now on there are no nameless files, as on many network and overlay file systems. */
static bool hide_tmpfile(void)
{
	enum { FLAGS = offsetof(struct seccomp_data, args[2]) }; /* little-endian */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = ARRAY_LEN(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Look at every temporary file there is, for as long as asked. */
static void *watch_modes(void *arg)
{
	struct reader *r = arg;
	AUTO_FD dir = open(in(&r->f->s, "ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(dup(dir));

	while (!atomic_load(&r->stop)) {
		struct stat st;
		rewinddir(d);
		for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
			if (strncmp(e->d_name, ".sidecar", 8) != 0 ||
			    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue;
			r->reads++;
			r->wrong += (st.st_mode & 077) != 0;
		}
	}
	(void)closedir(d);
	return NULL;
}

static int with_named_files(void *arg)
{
	struct fixture *f = arg;
	struct reader watcher = { .f = f };
	pthread_t thread;
	void *state = f;

	if (!hide_tmpfile() || open(in(&f->s, "ws"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) >= 0) {
		print_message("SKIP: no system-call filter can be set here\n");
		return SKIPPED;
	}
	new_and_old_files(&state);
	what_the_file_was_stays(&state);
	/* What was for its owner alone stays so while it is written. */
	assert_int_equal(chmod(in(&f->s, "ws/f"), 0600), 0);
	assert_int_equal(pthread_create(&thread, NULL, watch_modes, &watcher), 0);
	for (const int64_t end = io_now_ms() + 500; io_now_ms() < end;)
		assert_string_equal(wrote(f->ws, "f", STR("private"), 0), "");
	atomic_store(&watcher.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%ld temporary files seen\n", watcher.reads);
	assert_int_equal(watcher.wrong, 0);
	killed_writers_leave_nothing(&state);
	(void)write_where_names_stay(f);
	return 0;
}

static void without_nameless_files(void **state)
{
	in_child(with_named_files, *state);
}

#define OVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OVER(new_and_old_files),
		OVER(what_the_file_was_stays),
		OVER(file_capabilities_are_not_given_to_new_content),
		OVER(an_access_list_stays),
		OVER(a_directory_gives_no_access_list_to_an_old_file),
		OVER(hard_links_stay_together),
		OVER(links_are_followed_inside),
		OVER(permissions),
		OVER(append_only_directories_collect_nothing),
		OVER(full_disk),
		OVER(file_size_limit),
		OVER(readers_see_old_or_new),
		OVER(no_update_is_lost),
		OVER(no_update_is_lost_over_two_names),
		OVER(reading_is_bounded),
		OVER(killed_writers_leave_nothing),
		OVER(without_nameless_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
