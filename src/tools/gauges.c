/* SPDX-License-Identifier: MIT */
/* gauges: ask the runner and the kernel. */

#include "tools/gauges.h"

#include "exec/runner.h"
#include "exec/usage.h"
#include "tools/tool.h"

void gauges_read(const struct call *c, struct gauges *ret)
{
	struct usage u;

	usage_read(&u);
	*ret = (struct gauges){
		.commands = c->runner ? (int64_t)runner_running(c->runner) : 0,
		.cpu_ms = u.cpu_ms,
		.resident_bytes = u.resident_bytes,
		.virtual_bytes = u.virtual_bytes,
		.open_fds = u.open_fds,
		.max_fds = u.max_fds,
	};
}
