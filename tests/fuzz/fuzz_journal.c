/* SPDX-License-Identifier: MIT */
/* Records of the journal, as they may be found on a damaged disk: the first byte says what the rest
 * is read as. What is understood is written and read again, with the same result. */

#include <stdint.h>
#include <stdlib.h>

#include "base/own.h"
#include "changes/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_change(struct str content)
{
	AUTO_ARENA a = { .max = 16 << 20 };
	AUTO_BUF again = { .max = 16 << 20 };
	struct change c;

	if (!record_get_change(content, true, &a, &c))
		return;
	record_put_change(&again, &c);
	/* Long texts are cut when they are written. */
	if (again.failed || !record_get_change(buf_str(&again), true, &a, &c))
		abort();
}

static void read_touch(struct str content)
{
	AUTO_BUF again = { .max = 16 << 20 };
	struct touch_record t;

	if (!record_get_touch(content, &t))
		return;
	record_put_touch(&again, &t);
	if (!str_eq(buf_str(&again), content))
		abort();
}

static void read_move(struct str content)
{
	AUTO_BUF again = { .max = 16 << 20 };
	struct move_record m;

	if (!record_get_move(content, &m))
		return;
	record_put_move(&again, &m);
	if (!str_eq(buf_str(&again), content))
		abort();
}

static void read_put(struct str content)
{
	AUTO_BUF again = { .max = 16 << 20 };
	struct put_record p;

	if (!record_get_put(content, &p))
		return;
	record_put_put(&again, &p);
	if (!str_eq(buf_str(&again), content))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_head h;

	if (size == 0)
		return 0;
	const struct str content = { (const char *)data + 1, size - 1 };
	if (content.n >= RECORD_HEAD)
		(void)record_get_head(0, content.p, &h);
	if (data[0] % 4 == 0)
		read_change(content);
	else if (data[0] % 4 == 1)
		read_touch(content);
	else if (data[0] % 4 == 2)
		read_move(content);
	else
		read_put(content);
	return 0;
}
