/* SPDX-License-Identifier: MIT */
#include "exec/sandbox_make.h"
#include <unistd.h>
int sandbox_choose(struct sandbox_config *c, bool *namespaces, struct sandbox_report *r,
		   struct err *e)
{
	(void)c;
	(void)r;
	(void)e;
	*namespaces = false;
	return 0;
}
bool sandbox_without(const struct sandbox_config *c, struct keeper_hello *hello)
{
	(void)c;
	(void)hello;
	return false;
}
pid_t sandbox_fork(const struct sandbox_config *c)
{
	(void)c;
	return -1;
}
int sandbox_make(const struct sandbox_config *c, bool namespaces, struct sandbox **ret,
		 struct sandbox_report *r, struct err *e)
{
	(void)c;
	(void)namespaces;
	(void)r;
	(void)e;
	*ret = NULL;
	return 0;
}
char *const *sandbox_environ(const struct sandbox *sb)
{
	(void)sb;
	return environ;
}
bool sandbox_has_mounts(const struct sandbox *sb)
{
	(void)sb;
	return false;
}
int sandbox_enter(const struct sandbox *sb)
{
	(void)sb;
	return 0;
}
