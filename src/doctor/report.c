/* SPDX-License-Identifier: MIT */
/* report: print findings as lines, or as JSON. */

#include "doctor/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"

static const struct {
	const char *word, *colour;
} looks[] = {
	[FOUND_OK] = { "ok", "\033[32m" },
	[FOUND_OFF] = { "off", "\033[2m" },
	[FOUND_WARN] = { "warn", "\033[33m" },
	[FOUND_FAIL] = { "fail", "\033[31m" },
};

static void add_json(struct report *r, enum verdict verdict, const char *name, const char *text)
{
	if (r->json.max == 0) {
		r->json.max = LIMIT_ANSWER;
		r->writer = jw_to(&r->json);
		jw_object(&r->writer, NULL);
		jw_array(&r->writer, "findings");
	}
	jw_object(&r->writer, NULL);
	jw_str(&r->writer, "name", str_of(name));
	jw_str(&r->writer, "verdict", str_of(looks[verdict].word));
	jw_str(&r->writer, "text", str_of(text));
	jw_end(&r->writer);
}

void report_add(struct report *r, enum verdict verdict, const char *name, const char *fmt, ...)
{
	const bool colour = cli_colour(r->cli, STDOUT_FILENO);
	AUTO_BUF line = { .max = 8 << 10 };
	char text[1024];
	va_list list;

	va_start(list, fmt);
	(void)vsnprintf(text, sizeof text, fmt, list);
	va_end(list);
	r->count[verdict]++;
	if (r->cli->json) {
		add_json(r, verdict, name, text);
		return;
	}
	if (r->cli->quiet && verdict < FOUND_WARN)
		return;
	buf_addf(&line, "%s%-4s%s  %-22s ", colour ? looks[verdict].colour : "",
		 looks[verdict].word, colour ? "\033[m" : "", name);
	cli_add_text(&line, str_of(text));
	buf_addc(&line, '\n');
	cli_print(buf_str(&line));
}

int report_finish(struct report *r)
{
	const bool held = r->count[FOUND_FAIL] == 0;

	if (r->cli->json && r->json.max) {
		jw_end(&r->writer);
		jw_bool(&r->writer, "ok", held);
		jw_end(&r->writer);
		cli_print_line(&r->json);
	}
	buf_done(&r->json);
	if (!r->cli->json && !r->cli->quiet)
		cli_say(r->cli, "%zu ok, %zu off, %zu warnings, %zu failed", r->count[FOUND_OK],
			r->count[FOUND_OFF], r->count[FOUND_WARN], r->count[FOUND_FAIL]);
	return held ? EXIT_OK : EXIT_FAILED;
}
