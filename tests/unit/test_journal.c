/* SPDX-License-Identifier: MIT */
/* The journal on disk: whatever is cut off or flipped, it opens to a sane state. */

#include "scratch.h"

#include <sys/file.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/journal.h"

enum { CHANGES = 6 };

static struct store_options options_of(const char *dir, int64_t max_bytes)
{
	return (struct store_options){ .dir = dir,
				       .workspace = STR("/nowhere"),
				       .max_bytes = max_bytes };
}

static struct journal *open_at(const char *dir)
{
	const struct store_options o = options_of(dir, 16 << 20);
	struct journal *j;
	struct err e;

	if (journal_open(&o, NULL, 1 << 20, &j, &e) < 0)
		fail_msg("%s", e.msg);
	return j;
}

/* A change with two items, one of which has a blob. */
static void commit(struct journal *j, uint64_t undoes)
{
	uint64_t id = journal_number(j);
	char text[64];
	struct change_item items[2] = {
		{ .kind = ITEM_CREATED,
		  .path = STR("new/file"),
		  .after = { .type = STATE_FILE, .size = 3, .mode = 0644 } },
		{ .kind = ITEM_MODIFIED,
		  .path = STR("a"),
		  .before = { .type = STATE_FILE, .kept = KEPT_BLOB, .hashed = true },
		  .after = { .type = STATE_LINK, .link = STR("target"), .xattrs = STR("") } },
	};
	const struct change c = { .id = id,
				  .time_ms = 1234567,
				  .flags = undoes ? CHANGE_UNDO : 0,
				  .tool = STR("test"),
				  .subject = STR("a subject"),
				  .session = STR("session"),
				  .undoes = &undoes,
				  .undo_count = undoes ? 1 : 0,
				  .counts = { 1, 1 },
				  .items = items,
				  .item_count = 2 };

	(void)snprintf(text, sizeof text, "content of change %d", (int)id);
	items[1].before.size = (int64_t)strlen(text);
	assert_int_equal(blobs_keep(journal_blobs(j), id, str_of(text), items[1].before.hash,
				    &items[1].before.place),
			 0);
	assert_int_equal(journal_commit(j, &c), 0);
}

static void make(const char *dir)
{
	struct journal *j = open_at(dir);

	for (int i = 0; i < CHANGES - 1; i++)
		commit(j, 0);
	commit(j, 2);
	journal_free(j);
}

/* Whatever is listed can be read, has its paths, and its blob is right or not there. */
static size_t check(const char *dir)
{
	struct journal *j = open_at(dir);
	struct change_entry entries[2 * CHANGES];
	const size_t n = journal_list(j, 0, entries, ARRAY_LEN(entries));
	AUTO_ARENA a = { .max = 16 << 20 };
	struct unfinished *left;

	assert_true(n <= CHANGES);
	for (size_t i = 0; i < n; i++) {
		struct change c;
		struct err e;
		AUTO_BUF blob = { .max = 1 << 20 };
		assert_int_equal(journal_read(j, &entries[i], true, &a, &c, &e), 0);
		assert_int_equal(c.id, entries[i].id);
		assert_int_equal(c.item_count, 2);
		assert_true(str_eq(c.items[0].path, STR("new/file")));
		assert_true(str_eq(c.items[1].after.link, STR("target")));
		if (store_read(journal_store(j), c.items[1].before.place, RECORD_BLOB, 0, &blob) ==
		    0)
			assert_true(str_starts(buf_str(&blob), STR("content of change ")));
	}
	(void)journal_unfinished(j, &a, &left);
	/* It goes on from there. */
	commit(j, 0);
	assert_int_equal(journal_list(j, 0, entries, ARRAY_LEN(entries)), n + 1);
	journal_free(j);
	return n;
}

static void copy(const char *from, const char *to, struct buf *segment)
{
	char path[PATH_MAX + 64];

	(void)mkdir(to, 0700);
	const char *const names[] = { "key", "workspace", "00000001.log" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_BUF bytes = { .max = 1 << 20 };
		(void)snprintf(path, sizeof path, "%s/%s", from, names[i]);
		AUTO_FD in = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(in >= 0);
		char *room = buf_room(&bytes, 1 << 20);
		buf_filled(&bytes, (size_t)read(in, room, 1 << 20));
		if (i == 2) {
			buf_reset(segment, SIZE_MAX);
			buf_add(segment, buf_str(&bytes));
			continue;
		}
		(void)snprintf(path, sizeof path, "%s/%s", to, names[i]);
		AUTO_FD out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		assert_int_equal(write(out, bytes.p, bytes.n), bytes.n);
	}
}

static void put_segment(const char *dir, struct str bytes)
{
	char path[PATH_MAX + 64];

	for (int i = 1; i < 4; i++) {
		(void)snprintf(path, sizeof path, "%s/%08x.log", dir, i);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof path, "%s/00000001.log", dir);
	AUTO_FD out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(out, bytes.p, bytes.n), bytes.n);
}

static void every_cut_and_every_flipped_byte_opens_sanely(void **state)
{
	struct scratch s = scratch_new();
	char dir[PATH_MAX], other[PATH_MAX];
	AUTO_BUF segment = { .max = 1 << 20 };

	(void)state;
	(void)snprintf(dir, sizeof dir, "%s/made", s.path);
	(void)snprintf(other, sizeof other, "%s/other", s.path);
	make(dir);
	copy(dir, other, &segment);
	put_segment(other, buf_str(&segment));
	assert_int_equal(check(other), CHANGES);
	size_t last = 0;
	for (size_t n = 0; n <= segment.n; n++) {
		put_segment(other, str_upto(buf_str(&segment), n));
		const size_t found = check(other);
		assert_true(found >= last); /* what is there is found */
		last = found;
	}
	assert_int_equal(last, CHANGES);
	for (size_t i = 0; i < segment.n; i++) {
		segment.p[i] ^= 0x20;
		put_segment(other, buf_str(&segment));
		assert_true(check(other) >= CHANGES - 1); /* one byte costs one record */
		segment.p[i] ^= 0x20;
	}
	scratch_free(&s);
}

static void an_undo_is_undone_and_done_again(void **state)
{
	struct scratch s = scratch_new();
	struct change_entry entry;
	struct err e;

	(void)state;
	make(s.path);
	for (int restart = 0; restart < 2; restart++) {
		struct journal *j = open_at(s.path);
		assert_int_equal(journal_find(j, 2, &entry, &e), 0);
		assert_int_equal(entry.undone_by, restart ? 0 : CHANGES);
		if (!restart)
			commit(j, CHANGES);
		assert_int_equal(journal_find(j, 2, &entry, &e), 0);
		assert_int_equal(entry.undone_by, 0);
		assert_int_equal(journal_find(j, CHANGES, &entry, &e), 0);
		assert_int_equal(entry.undone_by, CHANGES + 1);
		assert_int_equal(journal_find(j, 99, &entry, &e), -1);
		assert_int_equal(e.code, ERR_CHANGE_NOT_FOUND);
		journal_free(j);
	}
	scratch_free(&s);
}

static void the_oldest_go_first_and_the_same_is_kept_once(void **state)
{
	struct scratch s = scratch_new();
	const struct store_options o = options_of(s.path, 1 << 20);
	static char text[60000];
	struct change_entry entry;
	uint8_t hash[SHA256_SIZE];
	uint64_t first, at;
	struct journal *j;
	struct store_facts facts;
	struct err e;

	(void)state;
	assert_int_equal(journal_open(&o, NULL, 1 << 20, &j, &e), 0);
	for (int i = 0; i < 100; i++) {
		memset(text, i, sizeof text);
		const struct str bytes = { text, sizeof text };
		const uint64_t id = journal_number(j);
		const struct change c = { .id = id, .counts = { 1 } };
		assert_int_equal(blobs_keep(journal_blobs(j), id, bytes, hash, &first), 0);
		assert_int_equal(blobs_keep(journal_blobs(j), id, bytes, hash, &at), 0);
		assert_int_equal(first, at);
		assert_int_equal(journal_commit(j, &c), 0);
	}
	store_get_facts(journal_store(j), &facts);
	assert_true(facts.bytes <= 1 << 20 && facts.bytes > 1 << 19);
	assert_int_equal(journal_find(j, 1, &entry, &e), -1);
	assert_int_equal(journal_find(j, 100, &entry, &e), 0);
	/* What does not fit at all is not kept, and nothing is lost for it. */
	static char large[2 << 20];
	assert_int_equal(
		blobs_keep(journal_blobs(j), 1, (struct str){ large, sizeof large }, hash, &at),
		-1);
	assert_int_equal(errno, ENOSPC);
	journal_free(j);
	scratch_free(&s);
}

static void only_one_server_uses_it(void **state)
{
	struct scratch s = scratch_new();
	const struct store_options o = options_of(s.path, 1 << 20);
	struct journal *one = open_at(s.path), *two;
	struct err e;

	(void)state;
	assert_int_equal(journal_open(&o, NULL, 1 << 20, &two, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	journal_free(one);
	two = open_at(s.path);
	journal_free(two);
	/* It had no records, so nothing is left of it. */
	assert_int_equal(access(s.path, F_OK), -1);
	assert_int_equal(mkdir(s.path, 0755), 0);
	scratch_free(&s);
}

static void a_negative_size_is_no_record(void **state)
{
	static const int64_t sizes[] = { 0, 1, INT64_MAX, -1, INT64_MIN };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		const struct touch_record t = {
			.path = STR("a"), .before = { .type = STATE_FILE, .size = sizes[i] }
		};
		struct touch_record read;
		AUTO_BUF out = { .max = 1 << 10 };
		record_put_touch(&out, &t);
		assert_int_equal(record_get_touch(buf_str(&out), &read), sizes[i] >= 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cut_and_every_flipped_byte_opens_sanely),
		cmocka_unit_test(an_undo_is_undone_and_done_again),
		cmocka_unit_test(the_oldest_go_first_and_the_same_is_kept_once),
		cmocka_unit_test(only_one_server_uses_it),
		cmocka_unit_test(a_negative_size_is_no_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
