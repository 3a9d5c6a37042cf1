/* SPDX-License-Identifier: MIT */
/* patch: find the format of a patch and have it parsed. */

#include "patch/patch.h"

#include "base/own.h"
#include "patch/limits.h"
#include "patch/parser.h"

const char *const patch_formats[] = {
	[PATCH_AUTO] = "auto",
	[PATCH_V4A] = "v4a",
	[PATCH_UNIFIED] = "unified",
	[PATCH_BLOCKS] = "blocks",
	NULL,
};

/* What the line says about the format of the whole patch, given the line after it. */
static enum patch_format format_of(struct str line, struct str next)
{
	const struct str t = str_trim(line);

	if (str_starts(t, STR("*** Begin Patch")) || str_starts(t, STR("*** Add File: ")) ||
	    str_starts(t, STR("*** Update File: ")) || str_starts(t, STR("*** Delete File: ")))
		return PATCH_V4A;
	if (patch_is_fence(line, '<', STR(" SEARCH")))
		return PATCH_BLOCKS;
	if (str_starts(line, STR("diff --git ")) ||
	    (str_starts(line, STR("--- ")) && str_starts(next, STR("+++ "))))
		return PATCH_UNIFIED;
	return PATCH_AUTO;
}

static enum patch_format detect(struct patch_reader in)
{
	enum patch_format found = PATCH_AUTO;
	struct str line;

	while (found == PATCH_AUTO && patch_next_line(&in, &line)) {
		struct patch_reader ahead = in;
		struct str next = STR("");
		(void)patch_next_line(&ahead, &next);
		found = format_of(line, next);
	}
	return found;
}

int patch_parse(struct str text, enum patch_format format, int strip, struct arena *a,
		struct patch *ret, struct err *e)
{
	struct patch patch = { .format = format };
	struct patch_parser p = {
		.in = patch_reader_of(text), .strip = strip, .arena = a, .patch = &patch, .e = e
	};

	if (text.n > LIMIT_PATCH_BYTES)
		return err_set(e, ERR_INVALID_PATCH,
			       "The patch has %zu bytes, more than %d. Make several patches of it",
			       text.n, LIMIT_PATCH_BYTES);
	if (format == PATCH_AUTO)
		patch.format = detect(p.in);
	if (patch.format == PATCH_AUTO)
		return patch_fail(&p, 1,
				  "this is not a patch. It must begin with \"*** Begin Patch\", "
				  "be a unified diff (--- and +++), or have <<<<<<< SEARCH blocks");
	const int result = patch.format == PATCH_V4A	   ? v4a_parse(&p)
			   : patch.format == PATCH_UNIFIED ? unified_parse(&p)
							   : blocks_parse(&p);
	if (result < 0)
		return -1;
	if (patch.count == 0)
		return patch_fail(&p, p.in.line ? p.in.line : 1,
				  "the patch ends here and changes no file");
	*ret = patch;
	return 0;
}

/* The path in a line that names one; or { NULL, 0 }. */
static struct str path_in(struct str line)
{
	static const struct str heads[] = { STR("*** Add File: "),
					    STR("*** Update File: "),
					    STR("*** Delete File: "),
					    STR("rename to "),
					    STR("+++ "),
					    STR("--- ") };
	const struct str t = str_trim(line);

	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		struct str path, time;
		if (!str_starts(t, heads[i]) ||
		    str_eq(path = str_from(t, heads[i].n), STR("/dev/null")))
			continue;
		(void)str_cut(path, '\t', &path, &time);
		return i > 3 && (str_starts(path, STR("a/")) || str_starts(path, STR("b/")))
			       ? str_from(path, 2)
			       : path;
	}
	return (struct str){ NULL, 0 };
}

struct str patch_first_path(struct str text)
{
	enum { LOOK = 8 << 10 };
	struct patch_reader in = patch_reader_of(str_upto(text, LOOK));
	struct str line, last = STR("");

	while (patch_next_line(&in, &line)) {
		const struct str path = path_in(line);
		if (path.p)
			return path;
		if (patch_is_fence(line, '<', STR(" SEARCH")))
			return str_trim(last);
		last = line;
	}
	return STR("");
}
