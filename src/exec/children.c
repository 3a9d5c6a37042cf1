/* SPDX-License-Identifier: MIT */
/* children: ask the kernel about one number after the other. */

#include "exec/children.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"

enum child_state children_state(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0)
		return CHILD_NONE;
	if (!info.si_pid)
		return CHILD_RUNNING;
	return info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED ? CHILD_STOPPED
									  : CHILD_DEAD;
}

/* The number that is given next, found by taking it; 0 when none can be had. */
static pid_t newest(void)
{
	const pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return 0;
	(void)waitpid(pid, NULL, 0);
	return pid;
}

static size_t scan(pid_t from, pid_t to, void (*found)(void *arg, pid_t pid), void *arg)
{
	size_t count = 0;

	for (pid_t pid = from; pid < to; pid++) {
		if (children_state(pid) == CHILD_NONE)
			continue;
		found(arg, pid);
		count++;
	}
	return count;
}

void children_each(void (*found)(void *arg, pid_t pid), void *arg)
{
	const pid_t mine = getpid(), next = newest();

	if (next > mine && scan(mine + 1, next, found, arg) > 0)
		return;
	/* Numbers have begun anew since, or there is nobody. */
	siginfo_t info;
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		(void)scan(1, LIMIT_PID, found, arg);
}
