/* SPDX-License-Identifier: MIT */
/* orphans: wait for whoever has ended. */

#include "exec/orphans.h"

#include <sys/wait.h>
#include <unistd.h>

bool orphans_are_ours(void)
{
	return getpid() == 1;
}

void orphans_reap(void)
{
	siginfo_t info;

	do
		info.si_pid = 0;
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0);
}
