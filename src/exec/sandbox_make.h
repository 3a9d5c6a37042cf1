/* SPDX-License-Identifier: MIT */
#ifndef EXEC_SANDBOX_MAKE_H
#define EXEC_SANDBOX_MAKE_H
#include <sys/types.h>
#include "exec/keeper.h"
int sandbox_choose(struct sandbox_config *c, bool *namespaces, struct sandbox_report *r,
		   struct err *e);
bool sandbox_without(const struct sandbox_config *c, struct keeper_hello *hello);
pid_t sandbox_fork(const struct sandbox_config *c);
int sandbox_make(const struct sandbox_config *c, bool namespaces, struct sandbox **ret,
		 struct sandbox_report *r, struct err *e);
char *const *sandbox_environ(const struct sandbox *sb);
#endif
