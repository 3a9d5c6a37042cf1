/* SPDX-License-Identifier: MIT */
/* unit: what every unit test includes: cmocka, and input that ends at the end of memory. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

/* The size of a large input. Under a sanitizer everything takes ten times as long, and a bug in
 * memory shows with less. */
#define LARGE(n) (SANITIZED ? (n) / 8 : (n))

/*
 * A copy of the bytes that ends where memory ends: the page after it cannot be read, so a parser
 * that looks one byte too far crashes. Freed with guarded_free.
 */
static inline struct str guarded(struct str s)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t span = (s.n / page + 1) * page;
	char *p =
		mmap(NULL, span + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + span, page, PROT_NONE), 0);
	if (s.n)
		memcpy(p + span - s.n, s.p, s.n);
	return (struct str){ p + span - s.n, s.n };
}

static inline void guarded_free(struct str s)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t span = (s.n / page + 1) * page;

	munmap((void *)((uintptr_t)s.p + s.n - span), span + page);
}

/* Leave the test out; tests/skips.txt says where that is accepted. */
#define skip_because(why)                                                                          \
	do {                                                                                       \
		print_message("SKIP: %s\n", (why));                                                \
		skip();                                                                            \
	} while (0)

/* Root may read everything: it becomes another user, and itself again. Nothing changes for others.
 */
static inline void leave_root(void)
{
	assert_int_equal(seteuid(getuid() == 0 ? 65534 : getuid()), 0);
}

static inline void return_to_root(void)
{
	assert_int_equal(seteuid(getuid()), 0);
}

static inline void assert_str(struct str got, const char *want)
{
	if (!str_eq(got, str_of(want)))
		fail_msg("got \"%.*s\", want \"%s\"", STR_FMT(got), want);
}

#endif
