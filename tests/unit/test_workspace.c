/* SPDX-License-Identifier: MIT */
/* The workspace as its callers use it: bases, boundary, listing, and paths that change meanwhile.
 */

#include "no_openat2.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "base/io.h"
#include "workspace/limits.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

struct fixture {
	enum resolver resolver;
	struct scratch s; /* projects/ws, projects/app, data, out */
	struct ws_options o;
	char root[PATH_MAX], data[PATH_MAX], allowed[PATH_MAX];
};

static int set_up(void **state)
{
	struct fixture *f = *state;

	f->s = scratch_new();
	put_dir(&f->s, "projects");
	put_dir(&f->s, "projects/ws");
	put_dir(&f->s, "projects/ws/d");
	put_dir(&f->s, "projects/app");
	put_dir(&f->s, "data");
	put_dir(&f->s, "out");
	put(&f->s, "projects/ws/f", "workspace");
	put(&f->s, "projects/ws/d/g", "deeper");
	put(&f->s, "projects/app/f", "app");
	put(&f->s, "data/f", "data");
	put(&f->s, "out/secret", "SECRET");
	put_link(&f->s, "projects/link", "@/out");
	put_link(&f->s, "projects/app/to_ws", "../ws/f");
	put_link(&f->s, "projects/app/to_ws_abs", "@/projects/ws/f");
	put_link(&f->s, "projects/ws/to_app", "../app/f");
	put_link(&f->s, "projects/ws/to_data", "@/data/f");
	put_link(&f->s, "data/to_out", "@/out/secret");
	put_link(&f->s, "data/to_out_rel", "../out/secret");
	put_link(&f->s, "data/to_self", "@/data/f");
	put_link(&f->s, "data/to_self_alias", "@/data_alias/f");
	put_link(&f->s, "data_alias", "data");
	put_link(&f->s, "projects_alias", "projects");
	(void)snprintf(f->root, sizeof f->root, "%s", in(&f->s, "projects/ws"));
	(void)snprintf(f->data, sizeof f->data, "%s", in(&f->s, "data"));
	(void)snprintf(f->allowed, sizeof f->allowed, "%s", in(&f->s, "projects"));
	f->o = (struct ws_options){ .root = f->root, .walk_only = f->resolver == RESOLVER_WALK };
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	scratch_free(&f->s);
	return 0;
}

static struct workspace *new_ws(const struct ws_options *o)
{
	struct workspace *ws = NULL;
	struct err e = { 0 };

	if (ws_new(o, &ws, &e) < 0)
		fail_msg("%s", e.msg);
	return ws;
}

/* What a file contains, or the name of the error. A name that begins with "@" is absolute. */
static const char *content(const struct fixture *f, const struct workspace *ws, const char *name,
			   struct err *e)
{
	static char text[256];
	char asked[PATH_MAX];
	struct path p;
	struct stat st;

	(void)snprintf(asked, sizeof asked, "%s%s", *name == '@' ? f->s.path : "",
		       name + (*name == '@'));
	if (ws_resolve(ws, str_of(asked), PATH_STRICT, &p, e) < 0)
		return err_name(e->code);
	AUTO_FD fd = ws_open_file(ws, &p, &st, e);
	if (fd < 0)
		return err_name(e->code);
	const ssize_t n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

struct row {
	const char *name, *want;
};

static void check_rows(const struct fixture *f, const struct row *rows, size_t n)
{
	AUTO_WORKSPACE ws = new_ws(&f->o);
	struct err e;

	assert_int_equal(ws_uses_openat2(ws), f->resolver == RESOLVER_KERNEL);
	for (size_t i = 0; i < n; i++) {
		const char *got = content(f, ws, rows[i].name, &e);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("\"%s\": got %s, want %s", rows[i].name, got, rows[i].want);
	}
}

static void data_directory_is_contained_by_itself(void **state)
{
	static const struct row rows[] = {
		{ "f", "workspace" },
		{ "@/projects/ws/f", "workspace" },
		{ "@/data/f", "data" },
		{ "@/data_alias/f", "data" },
		{ "@/data/to_self", "data" },
		{ "@/data/to_self_alias", "data" },
		{ "@/data/missing", "FILE_NOT_FOUND" },
		{ "@/data/to_out", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "@/data/to_out_rel", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "@/data/../out/secret", "PATH_OUTSIDE_WORKSPACE" },
		{ "@/out/secret", "PATH_OUTSIDE_WORKSPACE" },
		{ "@/projects/app/f", "PATH_OUTSIDE_WORKSPACE" },
		{ "to_data", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "to_app", "SYMLINK_OUTSIDE_WORKSPACE" },
	};
	struct fixture *f = *state;
	char alias[PATH_MAX];

	(void)snprintf(alias, sizeof alias, "%s", in(&f->s, "data_alias"));
	f->o.data_dir = alias;
	check_rows(f, rows, ARRAY_LEN(rows));
}

static void outside_is_limited_by_the_allowed_root(void **state)
{
	static const struct row rows[] = {
		{ "f", "workspace" },
		{ "@/projects/ws/f", "workspace" },
		{ "@/projects/app/f", "app" },
		{ "@/projects_alias/app/f", "app" },
		{ "@/projects_alias/ws/f", "workspace" },
		{ "../app/f", "app" },
		{ "@/projects/app/to_ws", "workspace" },
		{ "@/projects/app/to_ws_abs", "workspace" },
		{ "@/data/f", "data" },
		{ "../../data/f", "data" },
		{ "@/projects", "NOT_A_FILE" },
		{ "@/out/secret", "PATH_NOT_ALLOWED" },
		{ "@/projects/../out/secret", "PATH_NOT_ALLOWED" },
		{ "/etc/passwd", "PATH_NOT_ALLOWED" },
		{ "@/projects/link/secret", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "@/projects/link", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "@/projects/link/missing", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "to_data", "SYMLINK_OUTSIDE_WORKSPACE" },
	};
	struct fixture *f = *state;
	char alias[PATH_MAX];

	(void)snprintf(alias, sizeof alias, "%s", in(&f->s, "projects_alias"));
	f->o.allowed_root = alias;
	f->o.data_dir = f->data;
	f->o.allow_outside = true;
	check_rows(f, rows, ARRAY_LEN(rows));
}

static void without_a_limit_outside_is_everything(void **state)
{
	static const struct row rows[] = {
		{ "f", "workspace" },
		{ "@/out/secret", "SECRET" },
		{ "@/projects/link/secret", "SECRET" },
		{ "@/data_alias/to_out", "SECRET" },
		{ "@/nothing", "FILE_NOT_FOUND" },
		{ "/", "NOT_A_FILE" },
	};
	struct fixture *f = *state;

	f->o.allow_outside = true;
	check_rows(f, rows, ARRAY_LEN(rows));
}

/* What a session has read is known by the canonical name: a way from outside is the same file. */
static void one_file_has_one_name(void **state)
{
	static const struct {
		const char *name;
		enum path_base base;
		const char *want;
	} rows[] = {
		{ "f", PATH_WORKSPACE, "f" },
		{ "@/projects/app/to_ws", PATH_WORKSPACE, "f" },
		{ "@/projects/app/to_ws_abs", PATH_WORKSPACE, "f" },
		{ "@/data_alias/to_self_alias", PATH_DATA, "f" },
		{ "@/data/f", PATH_DATA, "f" },
	};
	struct fixture *f = *state;
	struct path p, canonical;
	struct err e;

	f->o.allow_outside = true;
	f->o.data_dir = f->data;
	AUTO_WORKSPACE ws = new_ws(&f->o);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char asked[PATH_MAX];
		(void)snprintf(asked, sizeof asked, "%s%s", *rows[i].name == '@' ? f->s.path : "",
			       rows[i].name + (*rows[i].name == '@'));
		assert_int_equal(ws_resolve(ws, str_of(asked), PATH_STRICT, &p, &e), 0);
		assert_int_equal(ws_canonical(ws, &p, &canonical, &e), 0);
		assert_int_equal(canonical.base, rows[i].base);
		assert_string_equal(canonical.name, rows[i].want);
	}
}

static void a_workspace_outside_the_allowed_root_is_refused(void **state)
{
	struct fixture *f = *state;
	struct workspace *ws = NULL;
	struct err e;
	char missing[PATH_MAX];

	(void)snprintf(missing, sizeof missing, "%s", in(&f->s, "out/new/ws"));
	f->o.allowed_root = f->allowed;
	f->o.root = missing;
	assert_int_equal(ws_new(&f->o, &ws, &e), -1);
	assert_null(ws);
	assert_int_equal(e.code, ERR_PATH_NOT_ALLOWED);
	assert_non_null(strstr(e.msg, "is not inside ALLOWED_ROOT_DIRECTORY"));
	assert_int_equal(count_entries(in(&f->s, "out"), ""), 1);
}

static void a_refused_start_leaves_nothing_behind(void **state)
{
	struct fixture *f = *state;
	struct workspace *ws = NULL;
	struct err e;
	char data[PATH_MAX], file[PATH_MAX];

	/* The data directory would be made, then the workspace turns out to be a file. */
	(void)snprintf(data, sizeof data, "%s", in(&f->s, "new/data/dir"));
	(void)snprintf(file, sizeof file, "%s", in(&f->s, "out/secret"));
	f->o.data_dir = data;
	f->o.root = file;
	assert_int_equal(ws_new(&f->o, &ws, &e), -1);
	assert_int_equal(e.code, ERR_NOT_A_DIRECTORY);
	assert_string_equal(get(&f->s, "new"), "(none)");
	assert_int_equal(access(in(&f->s, "new"), F_OK), -1);
}

static int open_specials(void *arg)
{
	const struct fixture *f = arg;
	AUTO_WORKSPACE ws = new_ws(&f->o);
	static const char *const names[] = { "fifo", "socket", "d", "null", "fifo_link", "" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct err e = { 0 };
		struct replace r = { .old = -7 };
		struct path p;
		if (access(in(&f->s, "projects/ws/null"), F_OK) < 0 &&
		    strcmp(names[i], "null") == 0)
			continue;
		assert_string_equal(content(f, ws, names[i], &e), "NOT_A_FILE");
		assert_int_equal(ws_resolve(ws, str_of(names[i]), PATH_STRICT, &p, &e), 0);
		assert_int_equal(replace_begin(ws, NULL, &p, REPLACE_MAKE_DIRS, &r, &e), -1);
		assert_int_equal(e.code, ERR_NOT_A_FILE);
		assert_int_equal(r.old, -7); /* a failure leaves it alone */
		struct stat st;
		assert_int_equal(ws_stat(ws, &p, &st, &e), 0);
		assert_false(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode));
	}
	return 0;
}

static void special_files_are_not_files(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkfifo(in(&f->s, "projects/ws/fifo"), 0644), 0);
	put_link(&f->s, "projects/ws/fifo_link", "fifo");
	(void)snprintf(at.sun_path, sizeof at.sun_path, "%s", in(&f->s, "projects/ws/socket"));
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof at), 0);
	if (mknod(in(&f->s, "projects/ws/null"), S_IFCHR | 0666, makedev(1, 3)) < 0)
		print_message("no device: making one is not permitted\n");
	in_child(open_specials, f);
	(void)close(s);
}

struct seen {
	int files, dirs, links, others;
};

static int see(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct seen *seen = arg;

	if (str_eq(name, STR("stop")))
		return err_set(e, ERR_EXECUTION_ERROR, "stopped");
	assert_false(str_eq(name, STR(".")) || str_eq(name, STR("..")));
	*(type == DT_REG   ? &seen->files
	  : type == DT_DIR ? &seen->dirs
	  : type == DT_LNK ? &seen->links
			   : &seen->others) += 1;
	return 0;
}

static void listing_tells_types_and_can_be_stopped(void **state)
{
	struct fixture *f = *state;
	AUTO_WORKSPACE ws = new_ws(&f->o);
	struct seen seen = { 0 };
	struct path p;
	struct err e;

	assert_int_equal(ws_resolve(ws, STR(""), PATH_STRICT, &p, &e), 0);
	assert_int_equal(ws_list(ws_open_dir(ws, &p, &e), see, &seen, &e), 0);
	assert_int_equal(seen.files, 1);
	assert_int_equal(seen.dirs, 1);
	assert_int_equal(seen.links, 2);
	assert_int_equal(seen.others, 0);
	put(&f->s, "projects/ws/d/stop", "");
	assert_int_equal(ws_resolve(ws, STR("d"), PATH_STRICT, &p, &e), 0);
	assert_int_equal(ws_list(ws_open_dir(ws, &p, &e), see, &seen, &e), -1);
	assert_string_equal(e.msg, "stopped");
	assert_int_equal(ws_resolve(ws, STR("f"), PATH_STRICT, &p, &e), 0);
	assert_int_equal(ws_open_dir(ws, &p, &e), -1);
	assert_int_equal(e.code, ERR_NOT_A_DIRECTORY);
}

static void paths_are_shown_as_the_agent_knows_them(void **state)
{
	struct fixture *f = *state;
	char out[2 * PATH_MAX];
	struct path p;
	struct err e;

	f->o.data_dir = f->data;
	f->o.allow_outside = true;
	AUTO_WORKSPACE ws = new_ws(&f->o);
	assert_int_equal(ws_resolve(ws, STR("./d//g"), PATH_STRICT, &p, &e), 0);
	assert_str(ws_display(ws, &p, out), "d/g");
	assert_int_equal(ws_resolve(ws, STR(""), PATH_STRICT, &p, &e), 0);
	assert_str(ws_display(ws, &p, out), ".");
	assert_int_equal(ws_resolve(ws, str_of(in(&f->s, "data/x")), PATH_STRICT, &p, &e), 0);
	assert_str(ws_display(ws, &p, out), in(&f->s, "data/x"));
	assert_int_equal(ws_resolve(ws, str_of(f->data), PATH_STRICT, &p, &e), 0);
	assert_str(ws_display(ws, &p, out), f->data);
	assert_int_equal(ws_resolve(ws, str_of(in(&f->s, "out")), PATH_STRICT, &p, &e), 0);
	assert_str(ws_display(ws, &p, out), in(&f->s, "out"));
	assert_str(ws_relative(ws, &p, out), "../../out");
	assert_int_equal(ws_resolve(ws, STR("../w.txt"), PATH_STRICT, &p, &e), 0);
	assert_str(ws_relative(ws, &p, out), "../w.txt");
	assert_int_equal(ws_resolve(ws, str_of(in(&f->s, "projects")), PATH_STRICT, &p, &e), 0);
	assert_str(ws_relative(ws, &p, out), "..");
	assert_int_equal(ws_resolve(ws, str_of(in(&f->s, "data/x")), PATH_STRICT, &p, &e), 0);
	assert_str(ws_relative(ws, &p, out), "../../data/x");
	assert_int_equal(ws_resolve(ws, STR("d/g"), PATH_STRICT, &p, &e), 0);
	assert_str(ws_relative(ws, &p, out), "d/g");
	assert_int_equal(ws_resolve(ws, STR("/"), PATH_STRICT, &p, &e), 0);
	assert_str(ws_display(ws, &p, out), "/");
}

/* Opens a file of the workspace again and again, while the root is replaced. */
struct opener {
	const struct workspace *ws;
	atomic_bool stop;
	int wrong;
};

static void *open_on(void *arg)
{
	struct opener *o = arg;
	const struct path p = { .base = PATH_WORKSPACE, .name = "f" };
	struct stat st;

	while (!atomic_load(&o->stop)) {
		struct err e;
		AUTO_FD fd = ws_open_file(o->ws, &p, &st, &e);
		if (fd < 0 && e.code != ERR_FILE_NOT_FOUND)
			o->wrong++;
	}
	return NULL;
}

/* What opening a file gives once the roots have been looked at again. */
static const char *later(const struct workspace *ws, enum path_base base, const char *name)
{
	static struct err e;
	static char text[64];
	struct path p = { .base = base };
	struct stat st;

	(void)snprintf(p.name, sizeof p.name, "%s", name);
	io_sleep_ms(LIMIT_ROOT_LOOK_MS + 20);
	/* Another thread may be looking at this moment, and this one goes on with what was held. */
	const int first = ws_open_file(ws, &p, &st, &e);
	if (first >= 0)
		close(first);
	io_sleep_ms(20);
	AUTO_FD fd = ws_open_file(ws, &p, &st, &e);
	if (fd < 0)
		return e.msg;
	const ssize_t n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void replaced_directories_are_held_anew(void **state)
{
	struct fixture *f = *state;
	char gone[PATH_MAX + 64], blocked[PATH_MAX + 128];
	pthread_t thread;

	f->o.data_dir = f->data;
	AUTO_WORKSPACE ws = new_ws(&f->o);
	struct opener o = { .ws = ws };
	assert_int_equal(pthread_create(&thread, NULL, open_on, &o), 0);
	assert_int_equal(rename(f->root, in(&f->s, "away")), 0);
	(void)snprintf(gone, sizeof gone, "The workspace %s does not exist any more", f->root);
	assert_string_equal(later(ws, PATH_WORKSPACE, "f"), gone);
	assert_int_equal(ws_generation(ws), 0);
	put_dir(&f->s, "projects/ws");
	put(&f->s, "projects/ws/f", "second");
	assert_string_equal(later(ws, PATH_WORKSPACE, "f"), "second");
	assert_int_equal(ws_generation(ws), 1);
	/* A link in its place, or above it, is not followed, even to a directory that was held. */
	assert_int_equal(rename(f->root, in(&f->s, "second")), 0);
	put_link(&f->s, "projects/ws", "@/out");
	(void)snprintf(
		blocked, sizeof blocked,
		"The workspace %s cannot be reached any more: a link or a file has taken its "
		"place, or that of a directory above it",
		f->root);
	assert_string_equal(later(ws, PATH_WORKSPACE, "secret"), blocked);
	assert_int_equal(unlink(f->root), 0);
	assert_int_equal(rename(in(&f->s, "second"), f->root), 0);
	assert_string_equal(later(ws, PATH_WORKSPACE, "f"), "second");
	assert_int_equal(ws_generation(ws), 1);
	assert_int_equal(rename(f->allowed, in(&f->s, "real")), 0);
	put_link(&f->s, "projects", "real");
	assert_string_equal(later(ws, PATH_WORKSPACE, "f"), blocked);
	atomic_store(&o.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(o.wrong, 0);
	assert_int_equal(rename(f->data, in(&f->s, "data2")), 0);
	(void)snprintf(gone, sizeof gone, "The data directory %s does not exist any more", f->data);
	assert_string_equal(later(ws, PATH_DATA, "f"), gone);
	put_dir(&f->s, "data");
	put(&f->s, "data/f", "new data");
	assert_string_equal(later(ws, PATH_DATA, "f"), "new data");
	assert_int_equal(ws_generation(ws), 2);
}

#define OVER(test, f)                                                                              \
	{                                                                                          \
#test, test, set_up, tear_down, (f)                                                \
	}

static int run(enum resolver resolver)
{
	static const char *const names[] = { "workspace: openat2", "workspace: walk",
					     "workspace: openat2 hidden" };
	struct fixture f = { .resolver = resolver };
	const struct CMUnitTest tests[] = {
		OVER(data_directory_is_contained_by_itself, &f),
		OVER(outside_is_limited_by_the_allowed_root, &f),
		OVER(without_a_limit_outside_is_everything, &f),
		OVER(one_file_has_one_name, &f),
		OVER(a_workspace_outside_the_allowed_root_is_refused, &f),
		OVER(a_refused_start_leaves_nothing_behind, &f),
		OVER(special_files_are_not_files, &f),
		OVER(listing_tells_types_and_can_be_stopped, &f),
		OVER(paths_are_shown_as_the_agent_knows_them, &f),
		OVER(replaced_directories_are_held_anew, &f),
	};

	return cmocka_run_group_tests_name(names[resolver], tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return resolver_main(argc, argv, run);
}
