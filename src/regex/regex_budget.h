/* SPDX-License-Identifier: MIT */
/* regex_budget: when a search must stop, as regex.h defines it. */
#ifndef REGEX_REGEX_BUDGET_H
#define REGEX_REGEX_BUDGET_H

#include "regex/regex.h"

/* 0 while there is time, or -1 with SEARCH_TIMEOUT. A clock call: not for every byte. */
int regex_budget_check(const struct regex_budget *budget, struct err *e);

#endif
