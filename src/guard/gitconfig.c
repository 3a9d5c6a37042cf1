/* SPDX-License-Identifier: MIT */
/* gitconfig: a reader of entries, and the table of keys that execute. */

#include "guard/gitconfig.h"

#include <stdio.h>
#include <string.h>

#include "base/own.h"

enum { EXECUTING_MOST = 256 }; /* entries that are compared; a file with more is refused */

struct config_reader {
	struct str rest;
	char section[GITCONFIG_KEY]; /* in lower case */
	char sub[GITCONFIG_KEY];     /* as it is; or "" */
	char name[GITCONFIG_KEY];    /* in lower case */
	struct buf value;
};

static int next(struct config_reader *r)
{
	if (!r->rest.n)
		return -1;
	const char c = r->rest.p[0];
	r->rest = str_from(r->rest, 1);
	/* A line may end in two characters. */
	if (c == '\r' && r->rest.n && r->rest.p[0] == '\n')
		return next(r);
	return (unsigned char)c;
}

static int peek(const struct config_reader *r)
{
	if (str_starts(r->rest, STR("\r\n")))
		return '\n';
	return r->rest.n ? (unsigned char)r->rest.p[0] : -1;
}

static bool is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-';
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool add(char text[GITCONFIG_KEY], size_t *n, int c)
{
	if (*n + 1 >= GITCONFIG_KEY || c <= 0)
		return false;
	text[(*n)++] = (char)c;
	text[*n] = '\0';
	return true;
}

/* The quoted part of [section "part"]. */
static bool read_sub(struct config_reader *r)
{
	size_t n = 0;
	int c;

	while (is_blank(c = next(r)))
		;
	if (c != '"')
		return false;
	while ((c = next(r)) != '"') {
		if (c == '\\')
			c = next(r);
		if (c == '\n' || !add(r->sub, &n, c))
			return false;
	}
	return next(r) == ']';
}

static bool read_section(struct config_reader *r)
{
	size_t n = 0;
	int c;

	r->section[0] = r->sub[0] = '\0';
	while (is_name(c = next(r)) || c == '.')
		if (!add(r->section, &n, str_lower((char)c)))
			return false;
	if (!n || (c != ']' && !(is_blank(c) && read_sub(r))))
		return false;
	/* The old way to write it. */
	char *dot = strchr(r->section, '.');
	if (dot && r->sub[0])
		return false;
	if (dot) {
		memmove(r->sub, dot + 1, strlen(dot + 1) + 1);
		*dot = '\0';
	}
	return true;
}

static void skip_line(struct config_reader *r)
{
	int c;

	do
		c = next(r);
	while (c >= 0 && c != '\n');
}

/* What a backslash and this character stand for; 0: nothing, -1: it is an error. */
static int escaped(int c)
{
	static const char from[] = "ntb\"\\", to[] = "\n\t\b\"\\";
	const char *at = c > 0 ? strchr(from, c) : NULL;

	return c == '\n' ? 0 : at && *at ? to[at - from] : -1;
}

static bool read_value(struct config_reader *r)
{
	bool quoted = false;
	size_t keep = 0;
	int c;

	buf_reset(&r->value, SIZE_MAX);
	while (is_blank(peek(r)))
		(void)next(r);
	while ((c = next(r)) >= 0 && c != '\n') {
		if (c == '\0')
			return false;
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
			keep = r->value.n;
			continue;
		}
		const bool plain = c != '\\';
		if (!plain && (c = escaped(next(r))) <= 0) {
			if (c < 0)
				return false;
			continue;
		}
		buf_addc(&r->value, (char)c);
		if (!plain || quoted || !is_blank(c))
			keep = r->value.n;
	}
	if (!r->value.failed)
		r->value.n = keep;
	return !quoted && !r->value.failed;
}

static bool read_entry(struct config_reader *r)
{
	size_t n = 0;

	while (is_name(peek(r)))
		if (!add(r->name, &n, str_lower((char)next(r))))
			return false;
	while (is_blank(peek(r)))
		(void)next(r);
	const int c = next(r);
	if (!n || !r->section[0])
		return false;
	if (c == '=')
		return read_value(r);
	buf_reset(&r->value, SIZE_MAX);
	buf_add(&r->value, STR("true"));
	if (c == '#' || c == ';')
		skip_line(r);
	return c < 0 || c == '\n' || c == '#' || c == ';';
}

/* The next entry: 1; 0 at the end; -1 if it cannot be read. */
static int read_next(struct config_reader *r)
{
	for (;;) {
		const int c = peek(r);
		if (c < 0)
			return 0;
		if (is_blank(c) || c == '\n') {
			(void)next(r);
		} else if (c == '#' || c == ';') {
			skip_line(r);
		} else if (c == '[') {
			(void)next(r);
			if (!read_section(r))
				return -1;
		} else {
			return read_entry(r) ? 1 : -1;
		}
	}
}

static struct config_reader reader_of(struct str text)
{
	if (str_starts(text, STR("\xef\xbb\xbf")))
		text = str_from(text, 3);
	return (struct config_reader){ .rest = text, .value = { .max = SIZE_MAX / 2 } };
}

/* "*" stands for any section or name, "*x" for all that end in x. */
static const struct {
	const char *section, *name;
	bool command; /* only a value that begins with "!" */
} executing[] = {
	{ "core", "fsmonitor" },
	{ "core", "hookspath" },
	{ "core", "sshcommand" },
	{ "core", "editor" },
	{ "core", "pager" },
	{ "core", "askpass" },
	{ "core", "gitproxy" },
	{ "core", "attributesfile" },
	{ "core", "worktree" },
	{ "*", "textconv" },
	{ "*", "*command" },
	{ "*", "*cmd" },
	{ "*", "*hook" },
	{ "*", "*prog" },
	{ "*", "driver" },
	{ "*", "clean" },
	{ "*", "smudge" },
	{ "*", "process" },
	{ "*", "program" },
	{ "*", "helper" },
	{ "*", "external" },
	{ "*", "path" }, /* of tools, and of files that are included */
	{ "*", "uploadpack" },
	{ "*", "receivepack" },
	{ "*", "vcs" },
	{ "*", "editor" },
	{ "alias", "*" }, /* git's own commands start others: submodule foreach, rebase -x */
	{ "submodule", "update", .command = true },
	{ "url", "*" },
	{ "protocol", "*" },
	{ "gpg", "*" },
	{ "pager", "*" },
	{ "instaweb", "*" },
	{ "interactive", "difffilter" },
	{ "sendemail", "smtpserver" },
	{ "init", "templatedir" },
	{ "imap", "tunnel" },
};

static bool fits(const char *pattern, const char *text)
{
	const struct str s = str_of(text), end = str_of(pattern + 1);

	if (*pattern != '*')
		return strcmp(pattern, text) == 0;
	return s.n >= end.n && str_eq(str_from(s, s.n - end.n), end);
}

static bool executes(const struct config_reader *r)
{
	for (size_t i = 0; i < ARRAY_LEN(executing); i++)
		if (fits(executing[i].section, r->section) && fits(executing[i].name, r->name) &&
		    (!executing[i].command || str_starts(buf_str(&r->value), STR("!"))))
			return true;
	return false;
}

/* Has the text this entry? */
static bool has_entry(struct str text, const struct config_reader *wanted)
{
	struct config_reader r = reader_of(text);
	bool found = false;

	while (!found && read_next(&r) > 0)
		found = strcmp(r.section, wanted->section) == 0 &&
			strcmp(r.sub, wanted->sub) == 0 && strcmp(r.name, wanted->name) == 0 &&
			str_eq(buf_str(&r.value), buf_str(&wanted->value));
	buf_done(&r.value);
	return found;
}

bool gitconfig_executes(struct str new, const struct str *old, size_t count,
			char key[GITCONFIG_KEY])
{
	struct config_reader r = reader_of(new);
	int got = 0, seen = 0;
	bool found = false;

	while (!found && (got = read_next(&r)) > 0) {
		if (!executes(&r))
			continue;
		found = ++seen <= EXECUTING_MOST;
		for (size_t i = 0; found && i < count; i++)
			found = !has_entry(old[i], &r);
		if (seen > EXECUTING_MOST)
			break;
	}
	if (found)
		(void)snprintf(key, GITCONFIG_KEY, "%.70s%s%.90s.%.70s", r.section,
			       *r.sub ? "." : "", r.sub, r.name);
	else if (got != 0)
		(void)snprintf(key, GITCONFIG_KEY, "?");
	buf_done(&r.value);
	return found || got != 0;
}

void gitconfig_each(struct str text, const char *key, void (*call)(void *arg, struct str value),
		    void *arg)
{
	struct config_reader r = reader_of(text);
	char name[2 * GITCONFIG_KEY];

	while (read_next(&r) > 0) {
		(void)snprintf(name, sizeof name, "%s.%s", r.section, r.name);
		if (strcmp(name, key) == 0 && (!*r.sub || strcmp(r.section, "includeif") == 0))
			call(arg, buf_str(&r.value));
	}
	buf_done(&r.value);
}

static void keep_value(void *arg, struct str value)
{
	struct buf *out = arg;

	buf_reset(out, SIZE_MAX);
	buf_add(out, value);
	buf_addc(out, '\0');
}

bool gitconfig_value(struct str text, const char *key, struct buf *out)
{
	buf_reset(out, SIZE_MAX);
	gitconfig_each(text, key, keep_value, out);
	if (!out->n)
		return false;
	out->n--;
	return true;
}
