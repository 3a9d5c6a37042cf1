/* SPDX-License-Identifier: MIT */
/* fuzz_policy: any bytes as a command and as rules; a judgement must always come back, and must not
 * depend on what has been judged before. The same bytes are split without a shell. */

#include <stdlib.h>

#include "policy/policy.h"
#include "policy/shlex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct policy *make(enum policy_mode mode, struct str rules, struct err *e)
{
	return policy_new(&(struct policy_options){ .mode = mode,
						    .root = STR("/srv/desk"),
						    .rules = rules,
						    .shared_processes = true },
			  e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str input = { (const char *)data, size };
	struct err e = { ERR_NONE };
	struct policy *p = make(POLICY_STRICT, STR(""), &e);

	if (!p)
		abort();
	const int strict = policy_check(p, input, false, &e);
	if (strict < 0 && e.code != ERR_COMMAND_BLOCKED)
		abort();
	(void)policy_check_argv(p, &input, 1, false, &e);
	policy_free(p);

	p = make(POLICY_DEFAULT, STR(""), &e);
	if (!p)
		abort();
	/* What is refused without knowing the variables is refused with them. */
	if (policy_check(p, input, false, &e) < 0 && policy_check(p, input, true, &e) == 0)
		abort();
	/* What strict mode lets pass, the default does. */
	if (strict == 0 && policy_check(p, input, false, &e) < 0)
		abort();
	policy_free(p);

	policy_free(make(POLICY_DEFAULT, input, &e));

	AUTO_ARENA arena = { .max = 1 << 20 };
	struct str *words;
	size_t count;
	if (shword_split(input, &arena, &words, &count, &e) == 0 && count == 0)
		abort();
	return 0;
}
