/* SPDX-License-Identifier: MIT */
/* regex_budget: is there time left. */

#include "regex/regex_budget.h"

#include "base/io.h"

int regex_budget_check(const struct regex_budget *budget, struct err *e)
{
	if (!budget)
		return 0;
	if (cancel_asked(budget->cancel))
		return err_set(e, ERR_SEARCH_TIMEOUT, "The search was cancelled");
	if (budget->deadline_ms != IO_FOREVER && io_now_ms() >= budget->deadline_ms)
		return err_set(
			e, ERR_SEARCH_TIMEOUT,
			"The search took too long; use a simpler pattern, or search a smaller "
			"directory");
	return 0;
}
