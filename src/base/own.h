/* SPDX-License-Identifier: MIT */
/*
 * own: ownership by scope.
 *
 * A resource is declared together with its release and released at the end of the scope. TAKE gives
 * it to another owner and leaves the empty value in the variable:
 *
 *	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
 *	if (fd < 0)
 *		return -1;
 *	*ret = TAKE(fd, -1);
 *	return 0;
 *
 * Memory comes from an arena or a buf. An object that outlives a request is allocated with mem_new
 * in its x_new function and freed with mem_free.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <stddef.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define AUTO_FD	    CLEANUP(fd_closep) int
#define TAKE(v, empty)                                                                             \
	({                                                                                         \
		__typeof__(v) taken_ = (v);                                                        \
		(v) = (empty);                                                                     \
		taken_;                                                                            \
	})

/* For large buffers that are written before they are read: the build zeroes all others. */
#if __has_attribute(uninitialized)
#define UNINITIALISED __attribute__((uninitialized))
#else
#define UNINITIALISED
#endif

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Close *fd unless it is negative; errno is kept. */
void fd_closep(int *fd);

/* Zeroed memory for count objects of the given size, or NULL (also when the product overflows). */
void *mem_new(size_t count, size_t size);

/* Change the number of objects. On NULL the old memory stays valid. */
void *mem_resize(void *p, size_t count, size_t size);

void mem_free(void *p);

#endif
