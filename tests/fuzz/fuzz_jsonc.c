/* SPDX-License-Identifier: MIT */
/* Changing a text of JSON with comments: a value that was given is found, giving it again changes
 * nothing, and what was added to a text can be removed from it. */

#include <stdint.h>
#include <stdlib.h>

#include "setup/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 20 };

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void try_keys(struct str text, const struct key_path *at)
{
	AUTO_BUF once = { .max = ROOM };
	AUTO_BUF twice = { .max = ROOM };
	AUTO_BUF without = { .max = ROOM };
	struct str before, found;
	struct err e;

	if (conf_find(CONF_JSON, text, at, &before, &e) < 0 ||
	    conf_set(CONF_JSON, text, at, STR("true"), &once, &e) < 0)
		return;
	check(conf_find(CONF_JSON, buf_str(&once), at, &found, &e) == 0 &&
	      str_eq(found, STR("true")));
	check(conf_set(CONF_JSON, buf_str(&once), at, STR("true"), &twice, &e) == 0);
	check(str_eq(buf_str(&once), buf_str(&twice)));
	check(conf_remove(CONF_JSON, buf_str(&once), at, &without, &e) == 0);
	if (!before.p)
		check(conf_find(CONF_JSON, buf_str(&without), at, &found, &e) == 0 && !found.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = { (const char *)data, size };

	if (size > 4096)
		return 0;
	try_keys(text, &(struct key_path){ .key = { STR("a") }, .n = 1 });
	try_keys(text, &(struct key_path){ .key = { STR("a"), STR("b") }, .n = 2 });
	try_keys(text, &(struct key_path){ .key = { STR("a"), STR("b"), STR("c") }, .n = 3 });
	return 0;
}
