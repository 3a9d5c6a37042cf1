/* SPDX-License-Identifier: MIT */
/* Ignore files: a NUL separates the path from the text. The verdict of a file must be that of its
 * last line that has one, each line read alone. */

#include <stdint.h>
#include <stdlib.h>

#include "search/ignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = { (const char *)data, size }, path, text;

	str_cut(input, 0, &path, &text);
	if (!path.p || path.n == 0 || path.n > 200 || text.n > 2000)
		return 0;
	const char *slash = memrchr(path.p, '/', path.n);
	const size_t name_at = slash ? (size_t)(slash + 1 - path.p) : 0;
	if (name_at == path.n)
		return 0;
	for (int is_dir = 0; is_dir < 2; is_dir++) {
		enum ignore_verdict want = IGNORE_SILENT;
		struct ignore *set = ignore_new(text, 0, NULL);
		const enum ignore_verdict got = ignore_match(set, path, name_at, is_dir);
		struct str rest = text, line;

		ignore_drop(set);
		if (str_starts(rest, STR("\xef\xbb\xbf")))
			rest = str_from(rest, 3);
		while (rest.n) {
			str_cut(rest, '\n', &line, &rest);
			if (str_starts(line, STR("\xef\xbb\xbf")))
				return 0; /* would be a byte order mark alone */
			struct ignore *one = ignore_new(line, 0, NULL);
			const enum ignore_verdict v = ignore_match(one, path, name_at, is_dir);

			ignore_drop(one);
			want = v == IGNORE_SILENT ? want : v;
		}
		if (got != want)
			abort();
	}
	return 0;
}
