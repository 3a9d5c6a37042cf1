/* SPDX-License-Identifier: MIT */
/*
 * Operations of the workspace while the kernel refuses one of the calls that they make.
 *
 * Each operation is tried with each call refused, for each of some reasons, in a child that has a
 * filter for it. Whatever is refused: the child does not crash, an error has a code and a sentence,
 * and a file has its old content or its new one, as the answer says.
 */

#include "scratch.h"

#include <seccomp.h>
#include <sys/mman.h>

#include "workspace/pending.h"
#include "workspace/replace.h"
#include "workspace/root.h"
#include "workspace/workspace.h"

static const struct {
	const char *name;
	int number;
} calls[] = {
	{ "openat2", SCMP_SYS(openat2) },
	{ "openat", SCMP_SYS(openat) },
	{ "newfstatat", SCMP_SYS(newfstatat) },
	{ "fstat", SCMP_SYS(fstat) },
	{ "readlinkat", SCMP_SYS(readlinkat) },
	{ "readlink", SCMP_SYS(readlink) },
	{ "fcntl", SCMP_SYS(fcntl) },
	{ "mkdirat", SCMP_SYS(mkdirat) },
	{ "mkdir", SCMP_SYS(mkdir) },
	{ "rmdir", SCMP_SYS(rmdir) },
	{ "linkat", SCMP_SYS(linkat) },
	{ "renameat", SCMP_SYS(renameat) },
	{ "unlinkat", SCMP_SYS(unlinkat) },
	{ "faccessat", SCMP_SYS(faccessat) },
	{ "faccessat2", SCMP_SYS(faccessat2) },
	{ "write", SCMP_SYS(write) },
	{ "pread64", SCMP_SYS(pread64) },
	{ "lseek", SCMP_SYS(lseek) },
	{ "ftruncate", SCMP_SYS(ftruncate) },
	{ "fallocate", SCMP_SYS(fallocate) },
	{ "fsync", SCMP_SYS(fsync) },
	{ "fchmod", SCMP_SYS(fchmod) },
	{ "fchown", SCMP_SYS(fchown) },
	{ "flistxattr", SCMP_SYS(flistxattr) },
	{ "fgetxattr", SCMP_SYS(fgetxattr) },
	{ "fsetxattr", SCMP_SYS(fsetxattr) },
	{ "fremovexattr", SCMP_SYS(fremovexattr) },
	{ "getdents64", SCMP_SYS(getdents64) },
	{ "memfd_create", SCMP_SYS(memfd_create) },
};

static const int reasons[] = { EIO, EPERM, ENOENT, EOPNOTSUPP };

static struct scratch place;

/* What the child says, in memory that it shares. */
static struct {
	int rc;
	struct err e;
} * said;

static int write_file(struct workspace *ws, const char *name, unsigned flags, struct err *e)
{
	AUTO_REPLACE r = REPLACE_NONE;
	AUTO_BUF old = { .max = 1 << 16 };
	struct path p;

	if (ws_resolve(ws, str_of(name), PATH_STRICT, &p, e) < 0 ||
	    replace_begin(ws, NULL, &p, flags, &r, e) < 0)
		return -1;
	r.mode = 0600;
	if (flags & REPLACE_MUST_EXIST && replace_read(&r, &old, e) < 0)
		return -1;
	return replace_commit(&r, STR("new\n"), e);
}

static int write_old(struct workspace *ws, struct err *e)
{
	return write_file(ws, "f", 0, e);
}

static int edit_old(struct workspace *ws, struct err *e)
{
	return write_file(ws, "f", REPLACE_MUST_EXIST, e);
}

static int write_on_disk(struct workspace *ws, struct err *e)
{
	return write_file(ws, "f", REPLACE_SYNC, e);
}

static int write_in_place(struct workspace *ws, struct err *e)
{
	return write_file(ws, "linked", REPLACE_SYNC | REPLACE_MODE, e);
}

static int write_new(struct workspace *ws, struct err *e)
{
	return write_file(ws, "a/b/new", REPLACE_MAKE_DIRS | REPLACE_MODE, e);
}

static int write_through_link(struct workspace *ws, struct err *e)
{
	return write_file(ws, "link", 0, e);
}

static int open_and_look(struct workspace *ws, struct err *e)
{
	struct path p, canonical;
	struct stat st;

	if (ws_resolve(ws, STR("d/link/f"), PATH_STRICT, &p, e) < 0)
		return -1;
	AUTO_FD fd = ws_open_file(ws, &p, &st, e);
	return fd < 0 || ws_stat(ws, &p, &st, e) < 0 ? -1 : ws_canonical(ws, &p, &canonical, e);
}

static int pass_by(void *arg, struct str name, unsigned char type, struct err *e)
{
	(void)arg, (void)name, (void)type, (void)e;
	return 0;
}

static int list(struct workspace *ws, struct err *e)
{
	const struct path root = { .base = PATH_WORKSPACE };
	const int dir = ws_open_dir(ws, &root, e);

	return dir < 0 ? -1 : ws_list(dir, pass_by, NULL, e);
}

static int remove_tree(struct workspace *ws, struct err *e)
{
	struct path p;

	return ws_resolve(ws, STR("d"), PATH_STRICT, &p, e) < 0
		       ? -1
		       : ws_remove(ws, &(struct removal){ .tree = true }, &p, e);
}

static int remove_file(struct workspace *ws, struct err *e)
{
	struct path p;

	return ws_resolve(ws, STR("d/x"), PATH_STRICT, &p, e) < 0
		       ? -1
		       : ws_remove(ws, &(struct removal){ .tree = false }, &p, e);
}

static int empty_workspace(struct workspace *ws, struct err *e)
{
	const struct path root = { .base = PATH_WORKSPACE };

	return ws_remove(ws, &(struct removal){ .tree = true }, &root, e);
}

static int open_another(struct workspace *ws, struct err *e)
{
	const struct ws_options o = { .root = in(&place, "another/ws"), .allow_outside = true };
	AUTO_WORKSPACE another = NULL;

	(void)ws;
	return ws_new(&o, &another, e);
}

/* What is noted for the guardian, and what it removes. */
static int guard(struct workspace *ws, struct err *e)
{
	struct pending *p = pending_new();
	AUTO_FD dir = open(in(&place, "ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)ws, (void)e;
	(void)pending_add(p, dir, PENDING_PREFIX "noted");
	if (pending_fd(p) >= 0)
		pending_sweep(pending_fd(p));
	pending_free(p);
	return 0;
}

enum { OLD_OR_NEW = 1, TORN = 2, ON_DISK = 4 };

static const struct operation {
	const char *name;
	int (*run)(struct workspace *ws, struct err *e);
	unsigned flags;
	const char *file; /* that it changes */
} operations[] = {
	{ "write_old", write_old, OLD_OR_NEW, "ws/f" },
	{ "edit_old", edit_old, OLD_OR_NEW, "ws/f" },
	{ "write_on_disk", write_on_disk, OLD_OR_NEW | ON_DISK, "ws/f" },
	{ "write_in_place", write_in_place, OLD_OR_NEW | TORN | ON_DISK, "ws/linked" },
	{ "write_new", write_new, 0, NULL },
	{ "write_through_link", write_through_link, OLD_OR_NEW, "ws/f" },
	{ "open_and_look", open_and_look, 0, NULL },
	{ "list", list, 0, NULL },
	{ "remove_tree", remove_tree, 0, NULL },
	{ "remove_file", remove_file, 0, NULL },
	{ "empty_workspace", empty_workspace, 0, NULL },
	{ "open_another", open_another, 0, NULL },
	{ "guard", guard, 0, NULL },
};

static void fill_workspace(void)
{
	place = scratch_new();
	put_dir(&place, "ws");
	put_dir(&place, "ws/d");
	put_dir(&place, "ws/d/sub");
	put(&place, "ws/d/x", "x\n");
	put(&place, "ws/d/sub/y", "y\n");
	put(&place, "ws/f", "old\n");
	put(&place, "ws/linked", "old\n");
	assert_int_equal(link(in(&place, "ws/linked"), in(&place, "ws/d/other")), 0);
	put_link(&place, "ws/link", "f");
	put_link(&place, "ws/d/link", "..");
	put_dir(&place, "another");
}

static bool refuse(int number, int error)
{
	const scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	const bool refused = f && number >= 0 &&
			     seccomp_rule_add(f, SCMP_ACT_ERRNO((uint32_t)error), number, 0) == 0 &&
			     seccomp_load(f) == 0;

	seccomp_release(f);
	return refused;
}

/* In the child: the exit status says whether it could be tried. */
static int try_one(const struct operation *o, int number, int error)
{
	const struct ws_options options = { .root = in(&place, "ws") };
	struct workspace *ws;
	struct err e = { .code = ERR_NONE };

	(void)alarm(60);
	if (ws_new(&options, &ws, &e) < 0)
		return 1;
	if (!refuse(number, error))
		return SKIPPED;
	const int rc = o->run(ws, &e);
	said->rc = rc;
	said->e = e;
	return 0;
}

/* The sentence of what is wrong now, or NULL. */
static const char *judge(const struct operation *o, int number)
{
	const int files = count_entries(in(&place, "ws"), PENDING_PREFIX);
	const char *now = o->file ? get(&place, o->file) : "";

	if (said->rc < 0 && (said->e.code == ERR_NONE || strlen(said->e.msg) < 10))
		return "no clear error";
	/* What the kernel does not let go stays. */
	if (files > 0 && number != SCMP_SYS(unlinkat))
		return "a temporary file is left";
	if (!(o->flags & OLD_OR_NEW))
		return NULL;
	if (said->rc >= 0)
		return strcmp(now, "new\n") != 0 ? "the file is not the new one" : NULL;
	/* replace.h names the two exceptions. */
	if (o->flags & TORN || (o->flags & ON_DISK && strcmp(now, "new\n") == 0))
		return NULL;
	return strcmp(now, "old\n") != 0 ? "the file is not the old one" : NULL;
}

static void refused_one_by_one(void **state)
{
	const struct operation *o = *state;
	int status;

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		for (size_t k = 0; k < ARRAY_LEN(reasons); k++) {
			/* A fork takes long under a sanitizer: each call, for one reason. */
			if (SANITIZED && k != i % ARRAY_LEN(reasons))
				continue;
			fill_workspace();
			const pid_t pid = fork();
			assert_true(pid >= 0);
			if (pid == 0)
				_exit(try_one(o, calls[i].number, reasons[k]));
			assert_int_equal(waitpid(pid, &status, 0), pid);
			const bool tried = status == 0;
			const char *wrong = tried ? judge(o, calls[i].number) : NULL;
			if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED))
				wrong = "the child crashed";
			if (wrong)
				fail_msg("%s, %s refused with %s: %s (%d %s)", o->name,
					 calls[i].name, strerror(reasons[k]), wrong, said->rc,
					 said->e.msg);
			scratch_free(&place);
		}
	}
}

int main(void)
{
	static struct CMUnitTest tests[ARRAY_LEN(operations)];

	said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		tests[i] = (struct CMUnitTest){ .name = operations[i].name,
						.test_func = refused_one_by_one,
						.initial_state = (void *)&operations[i] };
	return _cmocka_run_group_tests("refused", tests, ARRAY_LEN(tests), NULL, NULL);
}
