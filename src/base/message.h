/* SPDX-License-Identifier: MIT */
/*
 * message: structs and descriptors from one process of this program to another.
 *
 * Both ends are the same program, so a message is a struct as it is in memory, sent as a whole over
 * a SOCK_SEQPACKET socket together with descriptors. Strings are sent as one of these
 * descriptors: a memfd that contains them one after the other, each with its NUL.
 */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"

enum { MESSAGE_FDS = 9 };

/* A pair of connected sockets, close-on-exec. 0, or -1 with errno. */
int message_pair(int pair[2]);

/* Send one message, waiting at most until the deadline. 0, or -1 with errno (EPIPE and ECONNRESET:
 * the other side is gone). The descriptors stay the caller's. */
int message_send(int sock, const void *what, size_t size, const int *fds, size_t fd_count,
		 int64_t deadline_ms);

/* Wait for one message. Returns its size, 0 if the other side is gone, or -1 with errno. The
 * descriptors received are the caller's; unused places in fds are -1. A message larger than size,
 * or one with too many descriptors, is EBADMSG. */
ssize_t message_recv(int sock, void *to, size_t size, int fds[static MESSAGE_FDS]);

/* A memfd that contains the bytes, with its position at the start; or -1 with errno. */
int message_memfd(const char *name, struct str bytes);

/* Strings that were received: count pointers and a NULL, into a private mapping. */
struct strings {
	char **item;
	size_t count;
	void *map;
	size_t map_size;
};

/* Map a memfd that was made from a buf filled by strings_add. 0, or -1 with errno. */
int strings_map(int fd, struct strings *ret);
void strings_done(struct strings *s);
void strings_add(struct buf *block, struct str s);

#endif
