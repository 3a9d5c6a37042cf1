/* SPDX-License-Identifier: MIT */
/* The table of temporary names that another process can read. */

#include "scratch.h"

#include "base/own.h"
#include "workspace/pending.h"

#define NAME PENDING_PREFIX "1.tmp"

static void make(int dir, const char *name)
{
	AUTO_FD fd = openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
}

static bool is_there(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, 0) == 0;
}

static void names_come_and_go(void **state)
{
	struct scratch s = scratch_new();
	AUTO_FD dir = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pending *p = pending_new();

	(void)state;
	make(dir, NAME);
	struct pending_slot *slot = pending_add(p, dir, NAME);
	assert_non_null(slot);
	pending_remove(slot);
	pending_sweep(pending_fd(p));
	assert_true(is_there(dir, NAME));
	assert_non_null(pending_add(p, dir, NAME));
	pending_sweep(pending_fd(p));
	assert_false(is_there(dir, NAME));
	/* The table is empty now. */
	make(dir, NAME);
	pending_sweep(pending_fd(p));
	assert_true(is_there(dir, NAME));
	pending_free(p);
	scratch_free(&s);
}

static void a_full_table_notes_nothing_more(void **state)
{
	AUTO_FD dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pending *p = pending_new();
	struct pending_slot *slots[1000];
	int held = 0;

	(void)state;
	while (held < 1000 && (slots[held] = pending_add(p, dir, "x")))
		held++;
	assert_true(held > 0 && held < 1000);
	pending_remove(slots[0]);
	assert_non_null(pending_add(p, dir, "y"));
	assert_null(pending_add(p, -1, "z"));
	pending_free(p);
}

static void no_table_is_no_harm(void **state)
{
	(void)state;
	assert_null(pending_add(NULL, 0, "x"));
	assert_int_equal(pending_fd(NULL), -1);
	pending_remove(NULL);
	pending_free(NULL);
}

struct writer {
	struct pending *p;
	int dir;
};

static int add_and_die(void *arg)
{
	const struct writer *w = arg;

	return pending_add(w->p, w->dir, NAME) ? 0 : 1;
}

static void a_dead_process_leaves_its_names(void **state)
{
	struct scratch s = scratch_new();
	AUTO_FD dir = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct writer w = { pending_new(), dir };

	(void)state;
	make(dir, NAME);
	in_child(add_and_die, &w);
	pending_sweep(pending_fd(w.p));
	assert_false(is_there(dir, NAME));
	pending_free(w.p);
	scratch_free(&s);
}

static void a_guardian_removes_what_is_noted(void **state)
{
	struct scratch s = scratch_new();
	AUTO_FD dir = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pending *p = pending_new();
	static const char *const names[] = { NAME, "foreign", "stays" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		make(dir, names[i]);
		if (i < 2)
			assert_non_null(pending_add(p, dir, names[i]));
	}
	/* As the guardian has it: a descriptor of its own. */
	AUTO_FD fd = dup(pending_fd(p));
	assert_true(fd >= 0);
	pending_free(p);
	pending_sweep(fd);
	assert_false(is_there(dir, names[0]));
	assert_true(is_there(dir, names[1]));
	assert_true(is_there(dir, names[2]));
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
