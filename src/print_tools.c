/* SPDX-License-Identifier: MIT */
/* print_tools: what GET /tools answers, without a server. */

#include "print_tools.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "tools/manual.h"
#include "tools/schema.h"

struct wish {
	enum schema_dialect dialect;
	unsigned set; /* 0: what the dialect's users expect */
	bool markdown;
};

static int refuse(const char *flag, const char *value, const char *wanted)
{
	(void)fprintf(stderr, "sidecar: %s must be %s, not \"%s\"\n", flag, wanted, value);
	return -1;
}

static int set_flag(struct wish *w, struct str name, const char *value)
{
	if (str_eq(name, STR("--format"))) {
		if (!schema_dialect_by_name(str_of(value), &w->dialect))
			return refuse("--format", value,
				      "ollama, openai, openai-strict, openai-responses, "
				      "anthropic, gemini or mcp");
		return 0;
	}
	if (strcmp(value, "core") != 0 && strcmp(value, "full") != 0)
		return refuse("--set", value, "core or full");
	w->set = strcmp(value, "core") == 0 ? TOOL_CORE : TOOL_MODEL;
	return 0;
}

static int read_flags(int argc, char **argv, struct wish *w)
{
	for (int i = 0; i < argc; i++) {
		struct str name, value;
		if (strcmp(argv[i], "--markdown") == 0) {
			w->markdown = true;
			continue;
		}
		const bool given = str_cut(str_of(argv[i]), '=', &name, &value);
		if (!str_eq(name, STR("--format")) && !str_eq(name, STR("--set"))) {
			(void)fprintf(stderr, "sidecar: unknown option \"%s\"; see --help\n",
				      argv[i]);
			return -1;
		}
		if (!given && i + 1 == argc) {
			(void)fprintf(stderr, "sidecar: %s needs a value\n", argv[i]);
			return -1;
		}
		if (set_flag(w, name, given ? value.p : argv[++i]) < 0)
			return -1;
	}
	return 0;
}

int print_tools(int argc, char **argv)
{
	struct wish wish = { .dialect = SCHEMA_OLLAMA };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct jw w = { .out = &out };

	if (read_flags(argc, argv, &wish) < 0)
		return 2;
	if (wish.markdown) {
		manual_write(&out);
	} else {
		schema_write(&w, NULL, wish.dialect,
			     wish.set ? wish.set : schema_default_set(wish.dialect));
		buf_addc(&out, '\n');
	}
	if (out.failed || fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0) {
		(void)fprintf(stderr, "sidecar: cannot write the tools\n");
		return 1;
	}
	return 0;
}
