/* SPDX-License-Identifier: MIT */
/*
 * changes_unit: a workspace with a journal beside it, a description of everything in it that undo
 * promises to restore, and undo itself.
 */
#ifndef TESTS_CHANGES_UNIT_H
#define TESTS_CHANGES_UNIT_H

#include "scratch.h"

#include <sys/xattr.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "base/sha256.h"
#include "changes/dirs.h"
#include "changes/recording.h"
#include "changes/settle.h"
#include "changes/undo.h"
#include "workspace/pending.h"
#include "workspace/workspace.h"

/* A workspace with a journal beside it. */
struct world {
	struct scratch s;
	char root[PATH_MAX], store[PATH_MAX];
	struct workspace *ws;
	struct journal *j;
	int dir;
	struct arena a;
	/* Do not count the names of files: the store may have one of them, and what an undo takes
	 * away and a redo brings back is a file of its own. */
	bool names_uncounted;
};

static inline void open_journal(struct world *w)
{
	const struct store_options o = { .dir = w->store,
					 .workspace = str_of(w->root),
					 .max_bytes = 64 << 20 };
	struct err e;

	if (journal_open(&o, w->ws, 8 << 20, &w->j, &e) < 0)
		fail_msg("%s", e.msg);
}

static inline struct world world_new(void)
{
	struct world w = { .s = scratch_in_memory(), .a = { .max = 256 << 20 } };
	struct err e;

	(void)snprintf(w.root, sizeof w.root, "%s/ws", w.s.path);
	(void)snprintf(w.store, sizeof w.store, "%s/state/ws", w.s.path);
	const struct ws_options o = { .root = w.root };
	assert_int_equal(ws_new(&o, &w.ws, &e), 0);
	w.dir = open(w.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(w.dir >= 0);
	open_journal(&w);
	return w;
}

static inline void world_free(struct world *w)
{
	journal_free(w->j);
	ws_free(w->ws);
	(void)close(w->dir);
	arena_done(&w->a);
	scratch_free(&w->s);
}

/* Everything that undo promises to restore, one line for each name. */
static inline void describe_entry(int dir, const char *name, const char *path, struct buf *out);

static inline void describe_dir(int dir, const char *path, struct buf *out)
{
	const int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(fd);
	const struct dirent *f;
	char names[200][64];
	size_t n = 0;

	assert_non_null(d);
	while ((f = readdir(d)))
		if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0) {
			assert_true(n < ARRAY_LEN(names));
			(void)snprintf(names[n++], 64, "%.63s", f->d_name);
		}
	qsort(names, n, sizeof names[0], (int (*)(const void *, const void *))(void *)strcmp);
	for (size_t i = 0; i < n; i++) {
		char below[PATH_MAX];
		(void)snprintf(below, sizeof below, "%.3000s/%s", path, names[i]);
		describe_entry(fd, names[i], below, out);
	}
	(void)closedir(d);
}

static inline void describe_entry(int dir, const char *name, const char *path, struct buf *out)
{
	char text[PATH_MAX + 64], value[100];
	struct stat st;

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	buf_addf(out, "%s %o %u %lld.%09ld", path, st.st_mode, st.st_uid,
		 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	(void)snprintf(text, sizeof text, "/proc/self/fd/%d/%s", dir, name);
	const ssize_t x = lgetxattr(text, "user.test", value, sizeof value);
	if (x >= 0)
		buf_addf(out, " {%.*s}", (int)x, value);
	if (S_ISREG(st.st_mode)) {
		AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
		static char content[200000];
		const ssize_t n = read(fd, content, sizeof content);
		uint8_t hash[SHA256_SIZE];
		sha256_of((struct str){ content, n < 0 ? 0 : (size_t)n }, hash);
		buf_addf(out, " x%lu %zd %02x%02x%02x%02x", (unsigned long)st.st_nlink, n, hash[0],
			 hash[1], hash[2], hash[3]);
	}
	if (S_ISLNK(st.st_mode)) {
		const ssize_t n = readlinkat(dir, name, text, sizeof text);
		buf_addf(out, " -> %.*s", (int)n, text);
	}
	buf_addc(out, '\n');
	if (S_ISDIR(st.st_mode)) {
		AUTO_FD below = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		describe_dir(below, path, out);
	}
}

static inline char *describe(const struct world *w)
{
	AUTO_BUF out = { .max = 1 << 20 };
	struct stat st;

	assert_int_equal(fstat(w->dir, &st), 0);
	buf_addf(&out, "root %lld.%09ld\n", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	describe_dir(w->dir, "", &out);
	buf_addc(&out, '\0');
	assert_false(out.failed);
	for (char *x = out.p; w->names_uncounted && (x = strstr(x, " x")); x++)
		if (x[2] >= '1' && x[2] <= '9' && x[3] == ' ')
			x[2] = '*';
	return TAKE(out.p, NULL);
}

/* Leave out the times of directories, which a failure may leave, or all times. */
static inline void drop_times(char *text, bool all)
{
	char *to = text;

	for (char *line = text; *line;) {
		char *end = strchr(line, '\n');
		const size_t length = (size_t)(end - line);
		const bool is_root = strncmp(line, "root ", 5) == 0;
		const bool is_dir = is_root || memmem(line, length, " 40", 3);
		char *time = is_root ? line + 4 : strchr(line, ' ');
		for (int i = 0; !is_root && i < 2; i++)
			time = strchr(time + 1, ' ');
		char *rest = memchr(time + 1, ' ', (size_t)(end - time - 1));
		rest = rest ? rest : end;
		const size_t before = (size_t)((is_dir || all ? time : rest) - line);
		memmove(to, line, before);
		to += before;
		memmove(to, rest, (size_t)(end + 1 - rest));
		to += end + 1 - rest;
		line = end + 1;
	}
	*to = '\0';
}

static inline void assert_tree(const struct world *w, const char *expected, const char *what)
{
	char *now = describe(w);

	if (strcmp(now, expected) != 0) {
		print_error("expected\n%s", expected);
		print_error("found\n%s", now);
		fail_msg("%s", what);
	}
	free(now);
}

static inline struct recording start(const struct world *w)
{
	return recording_of(
		w->j, &(struct recording_about){ .tool = STR("test"), .flags = CHANGE_COMMAND });
}

/* Finish; the number of the change, 0 if there is none. */
static inline uint64_t finish(struct world *w, struct recording *r)
{
	struct change c;

	return recording_finish(r, &w->a, &c) ? c.id : 0;
}

static inline uint64_t undo_all(struct world *w, const uint64_t *ids, size_t n,
				enum err_code expected)
{
	const struct undo_request q = { .ids = ids, .id_count = n, .tool = STR("undo") };
	struct undo_result result;
	struct err e = { .code = ERR_NONE };
	const int rc = undo_changes(w->j, &q, &w->a, &result, &e);

	if (e.code != expected)
		fail_msg("%s: %s", err_name(e.code), e.msg);
	assert_int_equal(rc, expected == ERR_NONE ? 0 : -1);
	return result.change;
}

static inline uint64_t undo(struct world *w, uint64_t id)
{
	return undo_all(w, &id, 1, ERR_NONE);
}

#endif
