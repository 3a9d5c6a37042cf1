/* SPDX-License-Identifier: MIT */
/*
 * failing: each allocation of an operation fails once; then it and all after it fail.
 *
 * A program that includes this is linked with --wrap for malloc, calloc, realloc and free
 * (meson.build), so that what src/ allocates is counted here and can be refused; the libraries it
 * is linked with are not. However an operation fails, it must
 *	- return -1 with a code and a sentence, or 0 with the same result as always,
 *	- leave nothing allocated that was not allocated before,
 *	- work again afterwards.
 * What it crashes on, or frees twice, the sanitizers tell.
 */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include "unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/str.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

static struct {
	atomic_long asked;   /* allocations since the operation began */
	atomic_long refused; /* of these */
	atomic_long live;    /* not freed yet */
	long first;	     /* the first that is refused; 0: none */
	bool all_after;	     /* and not only that one */
} heap;

static bool is_refused(void)
{
	const long n = ++heap.asked;

	if (!heap.first || (heap.all_after ? n < heap.first : n != heap.first))
		return false;
	heap.refused++;
	errno = ENOMEM;
	return true;
}

static void *counted(void *p)
{
	heap.live += p != NULL;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return is_refused() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_refused() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (is_refused())
		return NULL;
	return p ? __real_realloc(p, size) : counted(__real_realloc(NULL, size));
}

void __wrap_free(void *p)
{
	heap.live -= p != NULL;
	__real_free(p);
}

/* What an operation found out, which must be the same each time it succeeds. */
static struct {
	char text[1 << 16];
	size_t n;
} told;

static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(told.text + told.n, sizeof told.text - told.n, fmt, ap);
	va_end(ap);
	assert_true(n >= 0 && (size_t)n < sizeof told.text - told.n);
	told.n += (size_t)n;
}

struct operation {
	const char *name;
	int (*run)(const void *arg, struct err *e);
	const void *arg;
	void (*prepare)(const void *arg); /* before each run, with all the memory; or NULL */
	/* After each run, the same: whether what it left behind is right, given what it returned.
	 * What prepare and run have allocated to keep is freed. */
	void (*judge)(const void *arg, int rc);
};

/* Run with the allocation `first` refused (0: none). */
static int run_failing(const struct operation *o, long first, bool all_after, struct err *e)
{
	*e = (struct err){ .code = ERR_NONE };
	told.n = 0;
	told.text[0] = '\0';
	const long live = heap.live;
	if (o->prepare)
		o->prepare(o->arg);
	heap.asked = heap.refused = 0;
	heap.all_after = all_after;
	heap.first = first;
	const int rc = o->run(o->arg, e);
	heap.first = 0;
	const long asked = heap.asked;
	if (o->judge)
		o->judge(o->arg, rc);
	if (heap.live != live)
		fail_msg("%s: %ld allocations leak, of %ld the %ldth %s refused", o->name,
			 heap.live - live, asked, first, all_after ? "and later were" : "was");
	heap.asked = asked;
	return rc;
}

static void fail_each(const struct operation *o)
{
	char expected[sizeof told.text];
	struct err e;

	/* Twice: what is made once and kept is there then. */
	for (int i = 0; i < 2; i++)
		if (run_failing(o, 0, false, &e) < 0)
			fail_msg("%s: %s", o->name, e.msg);
	memcpy(expected, told.text, told.n + 1);
	const long count = heap.asked;
	if (getenv("MEMORY_VERBOSE"))
		print_message("# %s: %ld allocations\n", o->name, count);
	assert_true(count > 0);
	for (int all_after = 0; all_after < 2; all_after++) {
		for (long n = 1; n <= count; n++) {
			const int rc = run_failing(o, n, all_after, &e);
			if (getenv("MEMORY_VERBOSE"))
				print_message("#   %ld%s: %d %s %s\n", n, all_after ? "+" : "", rc,
					      err_name(e.code), e.msg);
			if (rc < 0 && (e.code == ERR_NONE || strlen(e.msg) < 10))
				fail_msg("%s: no clear error when the %ldth is refused: %d \"%s\"",
					 o->name, n, e.code, e.msg);
			if (rc >= 0 && strcmp(told.text, expected) != 0)
				fail_msg("%s: another result when the %ldth is refused:\n%s"
					 "\ninstead of\n%s",
					 o->name, n, told.text, expected);
		}
	}
	assert_true(run_failing(o, 0, false, &e) >= 0);
	assert_string_equal(told.text, expected);
}

#endif
