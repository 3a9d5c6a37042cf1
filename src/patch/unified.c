/* SPDX-License-Identifier: MIT */
/* unified: the output of "diff -u" and "git diff". Text between the files, such as the message of a
 * commit, is skipped. */

#include "patch/hunk.h"

/* The byte that a backslash and these characters stand for; *used is how many there are. -1: it is
 * not an escape. */
static int unescape(struct str s, size_t *used)
{
	static const char letters[] = "abfnrtv\\\"", bytes[] = "\a\b\f\n\r\t\v\\\"";
	int value = 0;

	if (s.n == 0)
		return -1;
	const char *letter = memchr(letters, s.p[0], sizeof letters - 1);
	if (letter) {
		*used = 1;
		return bytes[letter - letters];
	}
	for (size_t i = 0; i < 3; i++) {
		if (i >= s.n || s.p[i] < '0' || s.p[i] > '7')
			return -1;
		value = value * 8 + (s.p[i] - '0');
	}
	*used = 3;
	return value <= 255 ? value : -1;
}

/* The quoted path at the start of s; *used is its length with the quotes. */
static struct str unquote(struct str s, struct arena *a, size_t *used)
{
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 1; out && i < s.n; i++) {
		if (s.p[i] == '"') {
			*used = i + 1;
			return (struct str){ out, n };
		}
		if (s.p[i] != '\\') {
			out[n++] = s.p[i];
			continue;
		}
		size_t escape = 0;
		const int byte = unescape(str_from(s, i + 1), &escape);
		if (byte < 0)
			break;
		out[n++] = (char)byte;
		i += escape;
	}
	return STR("");
}

static struct str strip_name(struct str s, int strip)
{
	if (strip == PATCH_STRIP_AUTO)
		return str_starts(s, STR("a/")) || str_starts(s, STR("b/")) ? str_from(s, 2) : s;
	for (; strip > 0; strip--) {
		struct str head, tail;
		if (!str_cut(s, '/', &head, &tail))
			return STR("");
		while (str_starts(tail, STR("/")))
			tail = str_from(tail, 1);
		s = tail;
	}
	return s;
}

/* The path at the start of s: a quoted one, or everything up to a tab or the end. `strip` is how
 * many directories are taken off, PATCH_STRIP_AUTO: "a/" or "b/". The result is empty if the path
 * has not that many, or if it is badly quoted. It points into s or into the arena. */
static struct str name_read(struct str s, int strip, struct arena *a)
{
	struct str head, tail;
	size_t used;

	s = patch_right_trim(s);
	if (str_starts(s, STR("\"")))
		return strip_name(unquote(s, a, &used), strip);
	(void)str_cut(s, '\t', &head, &tail);
	return strip_name(head, strip);
}

/* The one path of "a/x b/x", which is what follows "diff --git "; empty if they are two. */
static struct str name_of_both(struct str s, int strip, struct arena *a)
{
	const int one = strip == PATCH_STRIP_AUTO ? 1 : strip;

	s = patch_right_trim(s);
	if (str_starts(s, STR("\""))) {
		size_t used = 0;
		const struct str first = unquote(s, a, &used);
		const struct str second = name_read(str_trim(str_from(s, used)), strip, a);
		return used && str_eq(strip_name(first, strip), second) ? second : STR("");
	}
	/* Without quotes a blank can be part of a path: both halves must be the same. */
	for (size_t i = 1; i + 1 < s.n; i++) {
		if (s.p[i] != ' ' || i * 2 + 1 != s.n)
			continue;
		const struct str first = str_upto(s, i), second = str_from(s, i + 1);
		if (str_eq(strip_name(first, strip), strip_name(second, strip)))
			return strip_name(first, strip);
		if (strip == PATCH_STRIP_AUTO &&
		    str_eq(strip_name(first, one), strip_name(second, one)))
			return strip_name(first, one);
	}
	return STR("");
}

/* Whether the header line, after "--- " or "+++ ", is about no file: "/dev/null", or a time at the
 * beginning of 1970, which is how diff says it. */
static bool name_is_none(struct str s)
{
	struct str head, time;

	s = patch_right_trim(s);
	(void)str_cut(s, '\t', &head, &time);
	return str_eq(patch_right_trim(head), STR("/dev/null")) ||
	       str_starts(time, STR("1970-01-01 00:00:00")) || str_starts(time, STR("1969-12-31 "));
}

/* What the header lines of one file say. */
struct unified_head {
	struct str both;	 /* from "diff --git", if it has one name */
	struct str old, new;	 /* from "---" and "+++"; empty: not given */
	struct str from, to;	 /* from "rename" and "copy" lines */
	bool is_new, is_deleted; /* a file is made, or removed */
	bool is_copy;
	unsigned mode;
};

static bool take(struct str line, struct str prefix, struct str *rest)
{
	if (!str_starts(line, prefix))
		return false;
	*rest = str_from(line, prefix.n);
	return true;
}

static bool read_mode(struct str s, unsigned *ret)
{
	unsigned mode = 0;

	s = patch_right_trim(s);
	if (s.n == 0 || s.n > 7)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '7')
			return false;
		mode = mode * 8 + (unsigned)(s.p[i] - '0');
	}
	*ret = mode;
	return true;
}

/* A mode of a file, of which only regular ones can be patched. */
static int take_mode(struct patch_parser *p, struct str text, unsigned *ret)
{
	unsigned mode;

	if (!read_mode(text, &mode))
		return patch_fail(p, p->in.line, "this is not the mode of a file");
	if ((mode & 0170000) == 0120000)
		return patch_fail(p, p->in.line, "symbolic links cannot be patched");
	if ((mode & 0170000) == 0160000)
		return patch_fail(p, p->in.line, "submodules cannot be patched");
	if (ret)
		*ret = mode;
	return 0;
}

/* One line of git's header. Returns 1 if it is one, 0 if not, -1 with an error. */
static int take_extended(struct patch_parser *p, struct str line, struct unified_head *h)
{
	/* Paths in these lines have no "a/". */
	const int strip = p->strip > 0 ? p->strip - 1 : 0;
	struct str rest;

	if (take(line, STR("old mode "), &rest))
		return take_mode(p, rest, NULL) < 0 ? -1 : 1;
	if (take(line, STR("new mode "), &rest))
		return take_mode(p, rest, &h->mode) < 0 ? -1 : 1;
	if (take(line, STR("new file mode "), &rest)) {
		h->is_new = true;
		return take_mode(p, rest, &h->mode) < 0 ? -1 : 1;
	}
	if (take(line, STR("deleted file mode "), &rest)) {
		h->is_deleted = true;
		return take_mode(p, rest, NULL) < 0 ? -1 : 1;
	}
	if (take(line, STR("index "), &rest)) {
		struct str hashes, mode;
		if (!str_cut(rest, ' ', &hashes, &mode))
			return 1;
		return take_mode(p, mode, NULL) < 0 ? -1 : 1;
	}
	if (take(line, STR("similarity index "), &rest) ||
	    take(line, STR("dissimilarity index "), &rest))
		return 1;
	h->is_copy |= str_starts(line, STR("copy "));
	if (take(line, STR("rename from "), &rest) || take(line, STR("copy from "), &rest) ||
	    take(line, STR("rename old "), &rest)) {
		h->from = name_read(rest, strip, p->arena);
		return 1;
	}
	if (take(line, STR("rename to "), &rest) || take(line, STR("copy to "), &rest) ||
	    take(line, STR("rename new "), &rest)) {
		h->to = name_read(rest, strip, p->arena);
		return 1;
	}
	return 0;
}

/* The "---" and "+++" lines, if they are next. Returns 1, or 0 if they are not. */
static int take_names(struct patch_parser *p, struct unified_head *h)
{
	struct patch_reader next = p->in;
	struct str line, old, new;

	if (!patch_next_line(&next, &line) || !take(line, STR("--- "), &old) ||
	    !patch_next_line(&next, &line) || !take(line, STR("+++ "), &new))
		return 0;
	p->in = next;
	h->is_new |= name_is_none(old);
	h->is_deleted |= name_is_none(new);
	if (!h->is_new)
		h->old = name_read(old, p->strip, p->arena);
	if (!h->is_deleted)
		h->new = name_read(new, p->strip, p->arena);
	return 1;
}

/* The one path of a diff that names two, such as x.c.orig and x.c, or old/x.c and new/x.c. */
static struct str common_name(const struct patch_parser *p, struct str old, struct str new)
{
	struct str head, old_tail, new_tail;

	if (old.n == 0 || new.n == 0)
		return old.n ? old : new;
	if (p->strip == PATCH_STRIP_AUTO && !str_eq(old, new) &&
	    str_cut(old, '/', &head, &old_tail) && str_cut(new, '/', &head, &new_tail) &&
	    str_eq(old_tail, new_tail))
		return new_tail;
	return old.n < new.n ? old : new;
}

static int add_file(struct patch_parser *p, const struct unified_head *h)
{
	const bool moves = h->from.n && h->to.n;
	const enum patch_kind kind = h->is_new	     ? PATCH_ADD
				     : h->is_deleted ? PATCH_DELETE
				     : !moves	     ? PATCH_UPDATE
				     : h->is_copy    ? PATCH_COPY
						     : PATCH_MOVE;
	struct str path = moves ? h->to : common_name(p, h->old, h->new);

	if (path.n == 0)
		path = h->both;
	if (path.n == 0)
		return patch_fail(p, p->in.line, "the header before this line names no file");
	if (h->is_new + h->is_deleted + moves > 1)
		return patch_fail(p, p->in.line,
				  "a file can be made, deleted or moved, but only one of these");
	struct patch_file *f = patch_add_file(p, kind, path);
	if (!f)
		return -1;
	if (moves)
		f->from = h->from;
	f->mode = h->mode;
	return 0;
}

/* Whether the file of another diff begins in this line. */
static bool begins_file(struct str line, struct patch_reader after)
{
	struct str next;

	return str_starts(line, STR("diff ")) ||
	       (str_starts(line, STR("--- ")) && patch_next_line(&after, &next) &&
		str_starts(next, STR("+++ ")));
}

static bool is_body(struct str line)
{
	return line.n && (line.p[0] == ' ' || line.p[0] == '+' || line.p[0] == '-');
}

/* The end of mails that git makes. */
static bool is_signature(struct str line)
{
	return str_eq(patch_right_trim(line), STR("--"));
}

/* Go after a hunk that has as many lines as its "@@" line says; false, and *in has not changed, if
 * it has others. */
static bool skip_counted(struct patch_reader *in, int64_t old, int64_t new)
{
	struct patch_reader next = *in, ahead;
	struct str line;

	while (old > 0 || new > 0) {
		if (!patch_next_line(&next, &line))
			return false;
		const char sign = line.n && line.p[0] != '\r' ? line.p[0] : ' ';
		if (sign != ' ' && sign != '+' && sign != '-' && sign != '\\')
			return false;
		old -= sign == ' ' || sign == '-';
		new -= sign == ' ' || sign == '+';
	}
	if (old < 0 || new < 0)
		return false;
	ahead = next;
	if (patch_next_line(&ahead, &line) && str_starts(line, STR("\\"))) {
		next = ahead;
		if (!patch_next_line(&ahead, &line))
			line = STR("");
	}
	if (ahead.line > next.line && is_body(line) && !is_signature(line) &&
	    !begins_file(line, ahead))
		return false;
	*in = next;
	return true;
}

/* Go after everything that can be a line of the hunk, but not after empty lines at its end. */
static void skip_all(struct patch_reader *in)
{
	struct patch_reader next = *in;
	struct str line;

	while (patch_next_line(&next, &line)) {
		const bool bare = str_trim(line).n == 0 && !is_body(line);
		if (bare)
			continue;
		if ((!is_body(line) && line.p[0] != '\\') || is_signature(line) ||
		    begins_file(line, next))
			break;
		*in = next;
	}
}

/* "3,4" or "3", then a blank. */
static bool take_range(struct str *s, char sign, int64_t *start, int64_t *count)
{
	struct str range, first, second;

	if (s->n == 0 || s->p[0] != sign || !str_cut(str_from(*s, 1), ' ', &range, s))
		return false;
	*count = 1;
	if (str_cut(range, ',', &first, &second) && !str_int(second, count))
		return false;
	return str_int(first, start) && *start >= 0 && *count >= 0;
}

/* The numbers of an "@@" line; they stay -1 if there are none that can be read. */
static void take_numbers(struct str line, struct patch_hunk *h)
{
	int64_t old, old_count, new, new_count;
	struct str rest;

	if (take(line, STR("@@ "), &rest) && take_range(&rest, '-', &old, &old_count) &&
	    take_range(&rest, '+', &new, &new_count) && str_starts(rest, STR("@@"))) {
		h->old_start = old;
		h->old_said = old_count;
		h->new_start = new;
		h->new_said = new_count;
	}
}

static int parse_hunk(struct patch_parser *p, struct str head)
{
	struct patch_hunk *h = patch_add_hunk(p);
	const struct patch_file *f = &p->patch->files[p->patch->count - 1];

	if (!h)
		return -1;
	take_numbers(head, h);
	const char *begin = p->in.p;
	if (h->old_said < 0 || !skip_counted(&p->in, h->old_said, h->new_said))
		skip_all(&p->in);
	h->body = (struct str){ begin, (size_t)(p->in.p - begin) };
	patch_count(h);
	if (h->old_count + h->new_count == 0)
		return patch_fail(p, h->line, "the hunk has no lines");
	if (f->kind == PATCH_ADD && (h->old_count || f->hunk_count > 1))
		return patch_fail(p, h->line, "a hunk of a new file can only add lines");
	if (f->kind == PATCH_DELETE && h->new_count)
		return patch_fail(p, h->line, "a hunk of a deleted file can only remove lines");
	return 0;
}

/* The hunks of the last file. */
static int parse_hunks(struct patch_parser *p)
{
	struct patch_reader next = p->in;
	struct str line;

	while (patch_next_line(&next, &line) && str_starts(line, STR("@@"))) {
		p->in = next;
		if (parse_hunk(p, patch_right_trim(line)) < 0)
			return -1;
		next = p->in;
	}
	return 0;
}

/* Refuse what is not text, with the name that the line or the header has. */
static int fail_binary(struct patch_parser *p, struct str name)
{
	return err_set(p->e, ERR_INVALID_PATCH,
		       "Line %lld of the patch: it changes a binary file, which is not possible: "
		       "%.*s",
		       (long long)p->in.line, STR_FMT(name));
}

static int parse_git(struct patch_parser *p, struct str rest)
{
	struct unified_head h = { .both = name_of_both(rest, p->strip, p->arena) };
	const int64_t begin = p->in.line;
	struct patch_reader next = p->in;
	struct str line;

	while (patch_next_line(&next, &line)) {
		const struct patch_reader before = p->in;
		p->in = next;
		const int got = take_extended(p, patch_right_trim(line), &h);
		if (got < 0)
			return -1;
		if (str_starts(line, STR("GIT binary patch")) ||
		    str_starts(line, STR("Binary files ")))
			return fail_binary(p, h.both.n ? h.both : patch_right_trim(rest));
		if (got == 0) {
			p->in = before;
			break;
		}
	}
	(void)take_names(p, &h);
	if (add_file(p, &h) < 0)
		return -1;
	p->patch->files[p->patch->count - 1].line = begin;
	return parse_hunks(p);
}

/* A file that begins with "---" and "+++". Returns 1; 0 if none begins here; or -1. */
static int parse_plain(struct patch_parser *p)
{
	struct unified_head h = { .mode = 0 };
	const struct patch_reader before = p->in;
	struct str line;

	if (!take_names(p, &h))
		return 0;
	struct patch_reader next = p->in;
	if (!patch_next_line(&next, &line) || !str_starts(line, STR("@@"))) {
		p->in = before;
		return 0;
	}
	if (add_file(p, &h) < 0)
		return -1;
	struct patch_file *f = &p->patch->files[p->patch->count - 1];
	f->line = before.line + 1;
	if (parse_hunks(p) < 0)
		return -1;
	const struct patch_hunk *first = f->hunks;
	f->may_add = f->kind == PATCH_UPDATE && !first->next && first->old_start == 0 &&
		     first->old_count == 0;
	return 1;
}

int unified_parse(struct patch_parser *p)
{
	struct str line, rest;

	for (;;) {
		const int got = parse_plain(p);
		if (got < 0)
			return -1;
		if (got > 0)
			continue;
		if (!patch_next_line(&p->in, &line))
			return 0;
		if (take(line, STR("diff --git "), &rest) && parse_git(p, rest) < 0)
			return -1;
		if (str_starts(line, STR("@@ -")))
			return patch_fail(p, p->in.line,
					  "a hunk without the --- and +++ lines of its file");
		if (take(line, STR("Binary files "), &rest))
			return fail_binary(p, rest);
	}
}
