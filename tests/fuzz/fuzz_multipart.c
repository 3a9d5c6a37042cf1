/* SPDX-License-Identifier: MIT */
/* fuzz_multipart: the first line is the content type, the rest the body; parts lie in it, in order.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/limits.h"
#include "net/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static bool within(struct str part, struct str whole)
{
	return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its own size, so that the sanitizer sees a byte read too far. */
	char *text = malloc(size ? size : 1), *name = malloc(size ? size : 1);
	struct multipart m;
	struct multipart_part part;
	struct http_refusal why = { 0 };
	struct str type, body;
	int rc = 0;

	demand(text && name);
	if (size)
		memcpy(text, data, size);
	(void)str_cut((struct str){ text, size }, '\n', &type, &body);
	if (multipart_begin(&m, type, body, &why) == 0) {
		const char *last = body.p;
		unsigned n = 0;
		while ((rc = multipart_next(&m, &part, &why)) > 0) {
			demand(++n <= LIMIT_MULTIPART_PARTS);
			demand(within(part.content, body) && part.content.p > last);
			demand(within(part.name, body));
			demand(!part.filename.p || within(part.filename, body));
			demand(multipart_unescape(part.name, name) <= part.name.n);
			last = part.content.p;
		}
	} else {
		rc = -1;
	}
	demand(rc == 0 || (why.status == 400 && why.sentence));
	free(name);
	free(text);
	return 0;
}
