/* SPDX-License-Identifier: MIT */
/* The table of temporary names that a forked process can read. */

#include "scratch.h"

#include "base/own.h"
#include "workspace/pending.h"

struct noted {
	int count;
	char dir[PATH_MAX], name[64];
};

static void note(void *arg, const char *dir, const char *name)
{
	struct noted *n = arg;

	n->count++;
	(void)snprintf(n->dir, sizeof n->dir, "%s", dir);
	(void)snprintf(n->name, sizeof n->name, "%s", name);
}

static void names_come_and_go(void **state)
{
	struct scratch s = scratch_new();
	AUTO_FD dir = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pending *p = pending_new();
	struct noted n = { 0 };

	(void)state;
	pending_each(p, note, &n);
	assert_int_equal(n.count, 0);
	struct pending_slot *slot = pending_add(p, dir, "name");
	assert_non_null(slot);
	pending_each(p, note, &n);
	assert_int_equal(n.count, 1);
	assert_string_equal(n.dir, s.path);
	assert_string_equal(n.name, "name");
	pending_remove(slot);
	n.count = 0;
	pending_each(p, note, &n);
	assert_int_equal(n.count, 0);
	pending_free(p);
	scratch_free(&s);
}

static void a_full_table_notes_nothing_more(void **state)
{
	AUTO_FD dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pending *p = pending_new();
	struct pending_slot *slots[1000];
	struct noted n = { 0 };
	int held = 0;

	(void)state;
	while (held < 1000 && (slots[held] = pending_add(p, dir, "x")))
		held++;
	assert_true(held > 0 && held < 1000);
	pending_each(p, note, &n);
	assert_int_equal(n.count, held);
	pending_remove(slots[0]);
	assert_non_null(pending_add(p, dir, "y"));
	assert_null(pending_add(p, -1, "z"));
	pending_free(p);
}

static void no_table_is_no_harm(void **state)
{
	struct noted n = { 0 };

	(void)state;
	assert_null(pending_add(NULL, 0, "x"));
	pending_remove(NULL);
	pending_each(NULL, note, &n);
	pending_free(NULL);
	assert_int_equal(n.count, 0);
}

static int add_and_die(void *arg)
{
	const int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return pending_add(arg, dir, "orphan") ? 0 : 1;
}

static void a_dead_process_leaves_its_names(void **state)
{
	struct pending *p = pending_new();
	struct noted n = { 0 };

	(void)state;
	in_child(add_and_die, p);
	pending_each(p, note, &n);
	assert_int_equal(n.count, 1);
	assert_string_equal(n.dir, "/");
	assert_string_equal(n.name, "orphan");
	pending_clear(p);
	n.count = 0;
	pending_each(p, note, &n);
	assert_int_equal(n.count, 0);
	pending_clear(NULL);
	pending_free(p);
}

static void a_guardian_removes_what_is_noted(void **state)
{
	struct scratch s = scratch_new();
	AUTO_FD dir = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pending *p = pending_new();
	static const char *const names[] = { PENDING_PREFIX "1.tmp", "foreign", "stays" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FD fd = openat(dir, names[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		if (i < 2)
			assert_non_null(pending_add(p, dir, names[i]));
	}
	/* As the guardian has it: a descriptor of its own. */
	AUTO_FD fd = dup(pending_fd(p));
	assert_true(fd >= 0);
	pending_free(p);
	pending_sweep(fd);
	assert_int_equal(faccessat(dir, names[0], F_OK, 0), -1);
	assert_int_equal(faccessat(dir, names[1], F_OK, 0), 0);
	assert_int_equal(faccessat(dir, names[2], F_OK, 0), 0);
	scratch_free(&s);
}

static void the_memory_cannot_be_taken_away(void **state)
{
	struct pending *p = pending_new();

	(void)state;
	assert_int_equal(ftruncate(pending_fd(p), 0), -1);
	assert_int_equal(errno, EPERM);
	pending_sweep(-1);
	pending_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_and_go),
		cmocka_unit_test(a_full_table_notes_nothing_more),
		cmocka_unit_test(no_table_is_no_harm),
		cmocka_unit_test(a_dead_process_leaves_its_names),
		cmocka_unit_test(a_guardian_removes_what_is_noted),
		cmocka_unit_test(the_memory_cannot_be_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
