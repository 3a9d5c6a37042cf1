/* SPDX-License-Identifier: MIT */
/*
 * mcp_pipe: the end of a pipe that messages leave by, one a line, whole.
 *
 * Many threads write. Nobody sleeps in a write: whoever waits for a slow reader also sees the
 * signal to stop, which is a descriptor that becomes readable and stays so. Once nobody reads any
 * more, or a line could not be written to its end, the pipe is closed and takes nothing.
 */
#ifndef MCP_PIPE_H
#define MCP_PIPE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/str.h"

struct mcp_pipe {
	int fd, stop;
	bool is_socket;
	pthread_mutex_t lock; /* one line at a time */
	atomic_bool closed;
};

void mcp_pipe_init(struct mcp_pipe *p, int fd, int stop);

/* Write a line, which ends in its newline; waits for a slow reader. */
void mcp_pipe_write(struct mcp_pipe *p, struct str line);

/* Write a line unless that would take any time: it may be lost. Adds the newline. */
void mcp_pipe_try(struct mcp_pipe *p, struct str message);

#endif
