/* SPDX-License-Identifier: MIT */
/* The journal on disk: whatever is cut off or flipped, it opens to a sane state. */

#include "scratch.h"

#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/journal.h"
#include "changes/limits.h"
#include "workspace/filelock.h"

enum { CHANGES = 6 };

static struct store_options options_of(const char *dir, int64_t max_bytes)
{
	return (struct store_options){ .dir = dir,
				       .workspace = STR("/nowhere"),
				       .max_bytes = max_bytes };
}

static struct journal *open_with(const char *dir, int64_t max_bytes)
{
	const struct store_options o = options_of(dir, max_bytes);
	struct journal *j;
	struct err e;

	if (journal_open(&o, NULL, 1 << 20, &j, &e) < 0)
		fail_msg("%s", e.msg);
	return j;
}

static struct journal *open_at(const char *dir)
{
	return open_with(dir, 16 << 20);
}

static struct store_part *begin(struct journal *j, struct store_part *p)
{
	const uint64_t id = store_number(journal_store(j));

	assert_true(id > 0);
	assert_int_equal(store_begin(journal_store(j), id, p), 0);
	return p;
}

/* A change with two items, one of which has a blob. */
static void commit(struct journal *j, uint64_t undoes)
{
	struct store_part part, *p = begin(j, &part);
	const uint64_t id = p->change;
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
	assert_int_equal(blobs_keep(journal_blobs(j), p, str_of(text), items[1].before.hash,
				    &items[1].before.place),
			 0);
	assert_int_equal(journal_commit(j, p, &c), 0);
	store_end(journal_store(j), p);
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
	struct orphan *left;

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
	(void)journal_orphans(j, &a, &left);
	/* It goes on from there. */
	commit(j, 0);
	assert_int_equal(journal_list(j, 0, entries, ARRAY_LEN(entries)), n + 1);
	journal_free(j);
	j = open_at(dir);
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
	(void)snprintf(path, sizeof path, "%s/numbers", dir);
	(void)unlink(path);
	(void)snprintf(path, sizeof path, "%s/segments", dir);
	AUTO_FD count = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(count, "", 1), 1);
	(void)snprintf(path, sizeof path, "%s/00000001.log", dir);
	AUTO_FD out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(out, bytes.p, bytes.n), bytes.n);
}

static void every_cut_and_every_flipped_byte_opens_sanely(void **state)
{
	struct scratch s = scratch_in_memory();
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
	struct scratch s = scratch_in_memory();
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

/* Each change after the first one undoes the one before it. */
/* As many are listed as a list can take; of all others the oldest are forgotten. */
static void so_many_are_known_and_no_more(void **state)
{
	enum { MORE = 5 };
	struct scratch s = scratch_in_memory();
	struct journal *j = open_with(s.path, 64 << 20);
	struct change_entry first;

	(void)state;
	for (int i = 0; i < LIMIT_CHANGES + MORE; i++)
		commit(j, 0);
	assert_int_equal(journal_list(j, 0, &first, 1), LIMIT_CHANGES);
	assert_int_equal(first.id, MORE + 1);
	journal_free(j);
	scratch_free(&s);
}

static void a_long_chain_of_undos_is_followed_to_its_end(void **state)
{
	enum { CHAIN = 151 };
	struct scratch s = scratch_in_memory();
	struct journal *one = open_at(s.path), *two = open_at(s.path), *three;
	struct change_entry entry;
	struct err e;

	(void)state;
	for (uint64_t i = 0; i < CHAIN; i++) {
		commit(i % 3 ? one : two, i);
		if (i % 5 == 0)
			journal_refresh(two);
	}
	journal_refresh(one);
	journal_refresh(two);
	three = open_at(s.path);
	struct journal *const all[] = { two, three };
	for (size_t k = 0; k < ARRAY_LEN(all); k++)
		for (uint64_t i = 1; i <= CHAIN; i++) {
			assert_int_equal(journal_find(all[k], i, &entry, &e), 0);
			assert_int_equal(entry.undone_by, (CHAIN - i) % 2 ? i + 1 : 0);
		}
	journal_free(one);
	journal_free(two);
	journal_free(three);
	scratch_free(&s);
}

static void the_oldest_go_first_and_the_same_is_kept_once(void **state)
{
	struct scratch s = scratch_in_memory();
	const struct store_options o = options_of(s.path, 1 << 20);
	static char text[60000];
	struct change_entry entry;
	uint8_t hash[RECORD_HASH];
	uint64_t first, at;
	struct journal *j;
	struct store_facts facts;
	struct err e;

	(void)state;
	assert_int_equal(journal_open(&o, NULL, 1 << 20, &j, &e), 0);
	for (int i = 0; i < 100; i++) {
		memset(text, i, sizeof text);
		const struct str bytes = { text, sizeof text };
		struct store_part p;
		const struct change c = { .id = begin(j, &p)->change, .counts = { 1 } };
		assert_int_equal(blobs_keep(journal_blobs(j), &p, bytes, hash, &first), 0);
		assert_int_equal(blobs_keep(journal_blobs(j), &p, bytes, hash, &at), 0);
		assert_int_equal(first, at);
		assert_int_equal(journal_commit(j, &p, &c), 0);
		store_end(journal_store(j), &p);
	}
	store_get_facts(journal_store(j), &facts);
	assert_true(facts.bytes <= 1 << 20 && facts.bytes > 1 << 19);
	assert_int_equal(journal_find(j, 1, &entry, &e), -1);
	assert_int_equal(journal_find(j, 100, &entry, &e), 0);
	/* What does not fit at all is not kept, and nothing is lost for it. */
	static char large[2 << 20];
	struct store_part p;
	(void)begin(j, &p);
	assert_int_equal(
		blobs_keep(journal_blobs(j), &p, (struct str){ large, sizeof large }, hash, &at),
		-1);
	assert_int_equal(errno, ENOSPC);
	store_end(journal_store(j), &p);
	assert_int_equal(journal_find(j, 100, &entry, &e), 0);
	journal_free(j);
	scratch_free(&s);
}

/* Two programs: two descriptors of each file, as in two processes. */
/* A change that keeps that many bytes of its own. */
static uint64_t commit_bytes(struct journal *j, size_t n)
{
	static char text[100000];
	uint8_t hash[RECORD_HASH];
	struct store_part p;
	uint64_t at;
	const struct change c = { .id = begin(j, &p)->change, .counts = { 1 } };

	memset(text, (int)c.id, sizeof text);
	assert_int_equal(blobs_keep(journal_blobs(j), &p, (struct str){ text, n }, hash, &at), 0);
	assert_int_equal(journal_commit(j, &p, &c), 0);
	store_end(journal_store(j), &p);
	return c.id;
}

/* A change that keeps ten contents of that size. Whether it could keep all of them; if not, it has
 * given back those that it kept, and says so. */
static bool commit_ten(struct journal *j, size_t n, uint64_t *id)
{
	static char text[1 << 17];
	uint8_t hash[10][RECORD_HASH];
	struct store_part p;
	uint64_t at[10];
	struct change c = { .id = begin(j, &p)->change, .counts = { 1 } };
	size_t kept = 0;

	for (; kept < 10; kept++) {
		memset(text, (int)(c.id * 10 + kept), sizeof text);
		if (blobs_keep(journal_blobs(j), &p, (struct str){ text, n }, hash[kept],
			       &at[kept]) < 0)
			break;
	}
	for (size_t i = 0; kept < 10 && i < kept; i++)
		blobs_drop(journal_blobs(j), hash[i], at[i]);
	c.flags = kept < 10 ? CHANGE_UNSAVED : 0;
	assert_int_equal(journal_commit(j, &p, &c), 0);
	store_end(journal_store(j), &p);
	*id = c.id;
	return kept == 10;
}

static void a_change_never_drops_itself(void **state)
{
	const size_t bound = 1 << 20;
	struct change_entry entry;
	struct err e;
	size_t kept = 0, refused = 0;

	(void)state;
	/* From what fits easily to what alone is larger than the bound. */
	for (size_t n = bound / 10 * 17 / 20; n < bound / 10 * 21 / 20; n += bound / 10 / 40) {
		struct scratch s = scratch_in_memory();
		struct journal *j = open_with(s.path, (int64_t)bound);
		uint64_t id;
		for (int i = 0; i < 5; i++)
			(void)commit_bytes(j, 10000);
		const bool whole = commit_ten(j, n, &id);
		kept += whole;
		refused += !whole;
		assert_int_equal(journal_find(j, id, &entry, &e), 0);
		for (uint64_t i = 1; !whole && i < id; i++)
			assert_int_equal(journal_find(j, i, &entry, &e), 0);
		/* The next one, and the next program, find it. */
		(void)commit_bytes(j, 10);
		assert_int_equal(journal_find(j, id, &entry, &e), 0);
		journal_free(j);
		j = open_with(s.path, (int64_t)bound);
		assert_int_equal(journal_find(j, id, &entry, &e), 0);
		journal_free(j);
		scratch_free(&s);
	}
	assert_true(kept && refused);
}

static void two_at_once_do_not_drop_each_other(void **state)
{
	static char text[600000];
	struct scratch s = scratch_in_memory();
	struct journal *j = open_with(s.path, 1 << 20);
	struct store_part p[2];
	uint8_t hash[RECORD_HASH];
	struct change_entry entry;
	uint64_t at;
	int rc[2];
	struct err e;

	(void)state;
	(void)begin(j, &p[0]);
	(void)begin(j, &p[1]);
	for (int i = 0; i < 2; i++) {
		memset(text, i, sizeof text);
		rc[i] = blobs_keep(journal_blobs(j), &p[i], (struct str){ text, sizeof text }, hash,
				   &at);
	}
	assert_int_equal(rc[0], 0);
	assert_int_equal(rc[1], -1); /* they lie in one segment */
	for (int i = 0; i < 2; i++) {
		const struct change c = { .id = p[i].change, .counts = { 1 } };
		assert_int_equal(journal_commit(j, &p[i], &c), 0);
		store_end(journal_store(j), &p[i]);
		assert_int_equal(journal_find(j, c.id, &entry, &e), 0);
	}
	assert_int_equal(journal_find(j, 1, &entry, &e), 0);
	journal_free(j);
	scratch_free(&s);
}

/* Until then what is written has the same time. */
static void wait_for_the_next_tick(void)
{
	struct timespec before, now;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &before);
	do
		(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	while ((now.tv_sec - before.tv_sec) * 1000000000 + now.tv_nsec - before.tv_nsec < 5000000);
}

static void whose_last_change_is_the_oldest_goes_first(void **state)
{
	struct scratch s = scratch_new();
	struct journal *one = open_with(s.path, 1 << 20), *two = open_with(s.path, 1 << 20);
	struct change_entry entry;
	struct err e;

	(void)state;
	(void)commit_bytes(one, 1000);
	const uint64_t older = commit_bytes(two, 90000);
	wait_for_the_next_tick();
	const uint64_t newer = commit_bytes(one, 90000);
	journal_free(one);
	journal_free(two);
	one = open_with(s.path, 1 << 20);
	while (journal_find(one, older, &entry, &e) == 0) {
		assert_int_equal(journal_find(one, newer, &entry, &e), 0);
		(void)commit_bytes(one, 90000);
	}
	assert_int_equal(journal_find(one, newer, &entry, &e), 0);
	journal_free(one);
	scratch_free(&s);
}

static void a_program_that_lives_gives_links_back(void **state)
{
	struct scratch s = scratch_new();
	struct journal *j = open_at(s.path);
	AUTO_FD dir = open(s.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct store_facts facts;
	struct change_entry entries[64];

	(void)state;
	store_get_facts(journal_store(j), &facts);
	if (!facts.max_linked)
		skip();
	const int64_t size = facts.max_linked / 8;
	for (int i = 0; i < 40; i++) {
		AUTO_FD fd = openat(dir, "sparse", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		struct store_part p;
		const struct change c = { .id = begin(j, &p)->change, .counts = { 1 } };
		uint64_t at;
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(links_keep(journal_store(j), &p, dir, "sparse", size, &at), 0);
		assert_int_equal(unlinkat(dir, "sparse", 0), 0);
		assert_int_equal(journal_commit(j, &p, &c), 0);
		store_end(journal_store(j), &p);
	}
	store_get_facts(journal_store(j), &facts);
	/* Others use the file system, too. */
	assert_true(facts.linked <= 2 * facts.max_linked);
	const size_t n = journal_list(j, 0, entries, ARRAY_LEN(entries));
	assert_true(n >= 4 && n <= 16);
	assert_int_equal(entries[n - 1].id, 40);
	journal_free(j);
	scratch_free(&s);
}

static void a_program_that_lives_does_not_keep_old_changes_with_new_ones(void **state)
{
	struct scratch s = scratch_new();
	struct store_options o = options_of(s.path, 1 << 20);
	struct store_part p;
	struct journal *j;
	struct err e;

	(void)state;
	o.max_age_ms = 16;
	assert_int_equal(journal_open(&o, NULL, 1 << 20, &j, &e), 0);
	const uint32_t first = begin(j, &p)->segment;
	store_end(journal_store(j), &p);
	wait_for_the_next_tick();
	assert_int_not_equal(begin(j, &p)->segment, first);
	store_end(journal_store(j), &p);
	journal_free(j);
	scratch_free(&s);
}

static void several_write_into_one(void **state)
{
	struct scratch s = scratch_in_memory();
	struct journal *one = open_at(s.path), *two = open_at(s.path), *three;
	struct change_entry entries[4 * CHANGES];
	struct err e;

	(void)state;
	for (int i = 0; i < CHANGES; i++)
		commit(i % 2 ? one : two, 0);
	/* Each knows its own, and the others' when it looks. */
	assert_int_equal(journal_list(one, 0, entries, ARRAY_LEN(entries)), CHANGES / 2);
	journal_refresh(one);
	journal_refresh(two);
	three = open_at(s.path);
	struct journal *const all[] = { one, two, three };
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const size_t n = journal_list(all[i], 0, entries, ARRAY_LEN(entries));
		assert_int_equal(n, CHANGES);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(entries[k].id, k + 1);
	}
	/* What undoes a change of another one is known to all of them. */
	commit(three, 1);
	journal_refresh(two);
	assert_int_equal(journal_find(two, 1, &entries[0], &e), 0);
	assert_int_equal(entries[0].undone_by, CHANGES + 1);
	journal_free(one);
	journal_free(two);
	journal_free(three);
	three = open_at(s.path);
	assert_int_equal(journal_list(three, 0, entries, ARRAY_LEN(entries)), CHANGES + 1);
	journal_free(three);
	scratch_free(&s);
}

static size_t count_segments(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *f;
	size_t n = 0;

	while (d && (f = readdir(d)))
		n += strstr(f->d_name, ".log") != NULL;
	(void)closedir(d);
	return n;
}

static void short_programs_share_a_segment(void **state)
{
	struct scratch s = scratch_in_memory();
	struct change_entry entries[64];

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct journal *j = open_at(s.path);
		commit(j, 0);
		journal_free(j);
	}
	assert_int_equal(count_segments(s.path), 1);
	/* So do several at once, again and again. */
	for (int i = 0; i < 10; i++) {
		struct journal *at_once[4];
		for (size_t k = 0; k < ARRAY_LEN(at_once); k++)
			at_once[k] = open_at(s.path);
		for (size_t k = 0; k < ARRAY_LEN(at_once); k++)
			commit(at_once[k], 0);
		for (size_t k = 0; k < ARRAY_LEN(at_once); k++)
			journal_free(at_once[k]);
	}
	assert_int_equal(count_segments(s.path), 4);
	struct journal *j = open_at(s.path);
	assert_int_equal(journal_list(j, 0, entries, ARRAY_LEN(entries)), 60);
	journal_free(j);
	scratch_free(&s);
}

/* What the index of this program has after it has looked, dead programs included. */
static size_t count_changes(struct journal *j)
{
	struct change_entry entries[64];
	AUTO_ARENA a = { .max = 16 << 20 };
	struct orphan *left;

	(void)journal_orphans(j, &a, &left);
	store_adopted(journal_store(j));
	return journal_list(j, 0, entries, ARRAY_LEN(entries));
}

static void what_was_written_since_it_was_read_is_read(void **state)
{
	struct scratch s = scratch_in_memory();
	struct journal *one = open_at(s.path), *two = open_at(s.path);

	(void)state;
	commit(two, 0);
	journal_refresh(one);
	commit(two, 0);
	journal_free(two);
	/* It would continue the segment of the other one, if it knew all of it. */
	commit(one, 0);
	assert_int_equal(count_changes(one), 3);
	journal_free(one);
	scratch_free(&s);
}

/* A change that has begun and neither ends nor is dropped: what was to be written at its end was
 * not. */
static void leave_unfinished(struct journal *j, unsigned flags)
{
	struct store_part p;
	const struct change c = { .id = begin(j, &p)->change, .flags = flags, .tool = STR("test") };
	AUTO_BUF content = { .max = 1 << 10 };
	AUTO_BUF out = { .max = 1 << 10 };
	uint64_t at;

	record_put_change(&content, &c);
	record_put(&out, store_seed(journal_store(j)), RECORD_BEGIN, c.id, buf_str(&content));
	assert_int_equal(store_append(journal_store(j), &p, buf_str(&out), false, &at), 0);
	store_end(journal_store(j), &p);
}

static void what_was_written_since_it_was_read_is_not_overwritten(void **state)
{
	struct scratch s = scratch_in_memory();
	struct journal *one = open_at(s.path), *two;
	AUTO_ARENA a = { .max = 16 << 20 };
	struct orphan *left;
	struct store_part p;

	(void)state;
	leave_unfinished(one, 0);
	journal_free(one);
	one = open_at(s.path);
	assert_int_equal(journal_orphans(one, &a, &left), 1);
	two = open_at(s.path);
	commit(two, 0);
	journal_free(two);
	if (store_resume(journal_store(one), left->about.id, left->segment, &p) == 0) {
		journal_drop(one, &p);
		store_end(journal_store(one), &p);
	}
	journal_free(one);
	one = open_at(s.path);
	assert_int_equal(count_changes(one), 1);
	struct change_entry entry;
	AUTO_BUF blob = { .max = 1 << 10 };
	struct change c;
	struct err e;
	assert_int_equal(journal_find(one, 2, &entry, &e), 0);
	assert_int_equal(journal_read(one, &entry, true, &a, &c, &e), 0);
	assert_int_equal(
		store_read(journal_store(one), c.items[1].before.place, RECORD_BLOB, 0, &blob), 0);
	journal_free(one);
	scratch_free(&s);
}

/* Another program, with larger segments, begins a change and dies before it has written a record. */
static void begin_and_die(const char *dir)
{
	const pid_t pid = fork();

	if (pid == 0) {
		struct store_part p;
		(void)begin(open_with(dir, 256 << 20), &p);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void who_dies_before_its_first_record_takes_nothing_along(void **state)
{
	struct scratch s = scratch_in_memory();
	struct journal *one = open_at(s.path);
	struct store_part p;

	(void)state;
	commit(one, 0);
	commit(one, 0);
	/* A change that is larger than a segment: afterwards the segment is nobody's. */
	static char large[2 << 20];
	uint8_t hash[RECORD_HASH];
	uint64_t at;
	(void)begin(one, &p);
	assert_int_equal(
		blobs_keep(journal_blobs(one), &p, (struct str){ large, sizeof large }, hash, &at),
		0);
	store_end(journal_store(one), &p);
	begin_and_die(s.path);
	assert_int_equal(count_changes(one), 2);
	journal_free(one);
	one = open_at(s.path);
	assert_int_equal(count_changes(one), 2);
	journal_free(one);
	scratch_free(&s);
}

/* A program begins the change of a command and dies; the command goes on until the pipe is closed. */
static void leave_command(const char *dir, int until)
{
	const pid_t pid = fork();
	int ready[2];
	char byte;

	if (pid == 0) {
		struct journal *j = open_at(dir);
		leave_unfinished(j, CHANGE_COMMAND);
		if (pipe(ready) < 0)
			_exit(1);
		if (fork() == 0) {
			const int gets[] = { dup(store_writer(journal_store(j))), dup(until),
					     dup(ready[1]) };
			for (int i = 0; i < 3; i++)
				(void)dup2(gets[i], 100 + i);
			(void)close_range(3, 99, 0);
			(void)close_range(103, ~0U, 0);
			(void)!write(102, "", 1);
			_exit(read(101, &byte, 1) != 0);
		}
		_exit(read(ready[0], &byte, 1) != 1);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static size_t count_orphans(struct journal *j)
{
	AUTO_ARENA a = { .max = 16 << 20 };
	struct orphan *left;
	const size_t n = journal_orphans(j, &a, &left);

	store_adopted(journal_store(j));
	return n;
}

static void a_command_is_awaited_whoever_took_over(void **state)
{
	struct scratch s = scratch_new();
	struct journal *j;
	int until[2];

	(void)state;
	assert_int_equal(pipe2(until, O_CLOEXEC), 0);
	leave_command(s.path, until[0]);
	for (int i = 0; i < 2; i++) {
		j = open_at(s.path);
		assert_int_equal(count_orphans(j), 0);
		assert_int_equal(count_changes(j), 1);
		journal_free(j);
	}
	j = open_at(s.path);
	(void)close(until[0]);
	(void)close(until[1]);
	size_t n = 0;
	for (int tries = 0; tries < 30000 && n == 0; tries++) {
		(void)usleep(1000);
		n = count_orphans(j);
	}
	assert_int_equal(n, 1);
	journal_free(j);
	scratch_free(&s);
}

static void nothing_is_left_of_one_without_records(void **state)
{
	struct scratch s = scratch_in_memory();
	struct journal *one = open_at(s.path), *two = open_at(s.path);

	(void)state;
	journal_free(one);
	assert_int_equal(access(s.path, F_OK), 0); /* somebody uses it */
	journal_free(two);
	assert_int_equal(access(s.path, F_OK), -1);
	assert_int_equal(mkdir(s.path, 0755), 0);
	scratch_free(&s);
}

/* Each of several programs opens it and leaves it again and again, which removes it if nobody else
 * is there. */
static void one_that_is_removed_is_made_again(void **state)
{
	enum { PROGRAMS = 4, ROUNDS = 500 };
	struct scratch s = scratch_in_memory();
	struct change_entry entries[2 * PROGRAMS];
	pid_t pids[PROGRAMS];
	char dir[PATH_MAX];

	(void)state;
	(void)snprintf(dir, sizeof dir, "%s/state/home", s.path);
	for (int i = 0; i < PROGRAMS; i++) {
		pids[i] = fork();
		for (int n = 0; pids[i] == 0 && n < ROUNDS; n++) {
			const struct store_options o = options_of(dir, 16 << 20);
			struct journal *j;
			struct err e;
			if (journal_open(&o, NULL, 1 << 20, &j, &e) < 0) {
				print_error("%s\n", e.msg);
				_exit(1);
			}
			/* Only the last time: until then it is empty. */
			if (n == ROUNDS - 1)
				commit(j, 0);
			journal_free(j);
		}
		if (pids[i] == 0)
			_exit(0);
	}
	for (int i = 0; i < PROGRAMS; i++) {
		int status = 0;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	struct journal *j = open_at(dir);
	assert_int_equal(journal_list(j, 0, entries, ARRAY_LEN(entries)), PROGRAMS);
	journal_free(j);
	scratch_free(&s);
}

static void who_changes_many_files_keeps_nobody_from_opening_it(void **state)
{
	struct scratch s = scratch_in_memory();
	struct journal *one = open_at(s.path);
	const int turns = store_turns(journal_store(one));
	const struct lock_range all = { 0, 0 };

	(void)state;
	commit(one, 0);
	assert_int_equal(filelock_take(turns, all, FILELOCK_ALONE, 0), 0);
	struct journal *two = open_at(s.path);
	assert_int_equal(count_changes(two), 1);
	journal_free(two);
	filelock_release(turns, all);
	journal_free(one);
	scratch_free(&s);
}

static void cut(const char *dir, const char *name)
{
	char path[PATH_MAX + 64];

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(truncate(path, 0), 0);
}

static void what_counts_is_damaged_and_nothing_is_lost(void **state)
{
	struct scratch s = scratch_in_memory();
	struct change_entry entries[64];

	(void)state;
	make(s.path);
	cut(s.path, "segments");
	cut(s.path, "numbers");
	struct journal *one = open_at(s.path), *two = open_at(s.path);
	commit(one, 0);
	commit(two, 0);
	cut(s.path, "numbers");
	cut(s.path, "segments");
	journal_refresh(one);
	commit(one, 0);
	journal_refresh(two);
	commit(two, 0);
	journal_free(one);
	journal_free(two);
	one = open_at(s.path);
	assert_int_equal(journal_list(one, 0, entries, ARRAY_LEN(entries)), CHANGES + 4);
	for (size_t i = 0; i < CHANGES + 4; i++)
		assert_int_equal(entries[i].id, i + 1);
	journal_free(one);
	scratch_free(&s);
}

/* A change that is lost gives back what it kept, but not what others need as well. */
static void what_another_change_needs_is_not_given_back(void **state)
{
	struct scratch s = scratch_in_memory();
	struct journal *j = open_at(s.path);
	static char large[2 << 20];
	const struct str shared = STR("what both need"), own = STR("what one needs");
	struct store_part lost, other, next;
	uint8_t hash[RECORD_HASH], own_hash[RECORD_HASH], ignored[RECORD_HASH];
	uint64_t at, own_at, again;

	(void)state;
	assert_int_equal(blobs_keep(journal_blobs(j), begin(j, &lost), shared, hash, &at), 0);
	assert_int_equal(blobs_keep(journal_blobs(j), &lost, own, own_hash, &own_at), 0);
	assert_int_equal(blobs_keep(journal_blobs(j), begin(j, &other), shared, hash, &again), 0);
	assert_int_equal(at, again);
	/* The next segment has the same once more. */
	assert_int_equal(blobs_keep(journal_blobs(j), &other, (struct str){ large, sizeof large },
				    ignored, &again),
			 0);
	assert_int_equal(blobs_keep(journal_blobs(j), begin(j, &next), shared, hash, &again), 0);
	assert_int_not_equal(store_segment(at), store_segment(again));
	blobs_drop(journal_blobs(j), hash, at);
	blobs_drop(journal_blobs(j), own_hash, own_at);
	AUTO_BUF kept = { .max = 1 << 10 };
	assert_int_equal(store_read(journal_store(j), at, RECORD_BLOB, 0, &kept), 0);
	assert_int_equal(store_read(journal_store(j), own_at, RECORD_BLOB, 0, &kept), -1);
	store_end(journal_store(j), &lost);
	store_end(journal_store(j), &other);
	store_end(journal_store(j), &next);
	journal_free(j);
	scratch_free(&s);
}

static void one_is_read_where_nothing_can_be_written(void **state)
{
	struct scratch s = scratch_in_memory();
	int status = 0;

	(void)state;
	make(s.path);
	const pid_t pid = fork();
	if (pid == 0) {
		const struct rlimit none = { 0, 0 };
		(void)signal(SIGXFSZ, SIG_IGN);
		(void)setrlimit(RLIMIT_FSIZE, &none);
		struct journal *j = open_at(s.path);
		const size_t n = count_changes(j);
		journal_free(j);
		_exit(n == CHANGES ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
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
		cmocka_unit_test(so_many_are_known_and_no_more),
		cmocka_unit_test(a_long_chain_of_undos_is_followed_to_its_end),
		cmocka_unit_test(the_oldest_go_first_and_the_same_is_kept_once),
		cmocka_unit_test(a_change_never_drops_itself),
		cmocka_unit_test(two_at_once_do_not_drop_each_other),
		cmocka_unit_test(whose_last_change_is_the_oldest_goes_first),
		cmocka_unit_test(a_program_that_lives_gives_links_back),
		cmocka_unit_test(a_program_that_lives_does_not_keep_old_changes_with_new_ones),
		cmocka_unit_test(several_write_into_one),
		cmocka_unit_test(short_programs_share_a_segment),
		cmocka_unit_test(what_was_written_since_it_was_read_is_read),
		cmocka_unit_test(what_was_written_since_it_was_read_is_not_overwritten),
		cmocka_unit_test(who_dies_before_its_first_record_takes_nothing_along),
		cmocka_unit_test(a_command_is_awaited_whoever_took_over),
		cmocka_unit_test(nothing_is_left_of_one_without_records),
		cmocka_unit_test(one_that_is_removed_is_made_again),
		cmocka_unit_test(who_changes_many_files_keeps_nobody_from_opening_it),
		cmocka_unit_test(what_counts_is_damaged_and_nothing_is_lost),
		cmocka_unit_test(what_another_change_needs_is_not_given_back),
		cmocka_unit_test(one_is_read_where_nothing_can_be_written),
		cmocka_unit_test(a_negative_size_is_no_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
