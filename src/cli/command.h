/* SPDX-License-Identifier: MIT */
/* command: the words behind `run` and `jobs start` as one command for a shell. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/buf.h"

/* One word is a shell command as it is. Several are a program and its arguments, each quoted, so
 * that the shell hands them on as they are. NUL is behind the last byte. */
void command_join(int count, char *const *words, struct buf *to);

#endif
