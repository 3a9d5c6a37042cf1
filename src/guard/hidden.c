/* SPDX-License-Identifier: MIT */
/* hidden: the table for a home directory, and the matches that are there. */

#include "guard/hidden.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/message.h"
#include "base/own.h"
#include "guard/present.h"
#include "guard/tree.h"
#include "sandbox/canonical.h"

enum { HIDDEN_MOST = 2048, WALK_MOST = 1000000, SHARE = 100 };

/* What only an outsider wants to read. Commands need .npmrc, .netrc and the like. */
static const char defaults[] = "~/.ssh/*\n"
			       "!~/.ssh/*.pub\n"
			       "!~/.ssh/known_hosts*\n"
			       "!~/.ssh/config*\n"
			       "!~/.ssh/authorized_keys*\n"
			       "~/.gnupg/private-keys*\n"
			       "~/.gnupg/secring.gpg\n"
			       "~/.aws/credentials\n"
			       "~/.aws/sso/cache/\n"
			       "~/.config/gcloud/\n"
			       "~/.azure/\n"
			       "~/.kube/config\n"
			       "~/.local/share/keyrings/\n"
			       "~/.password-store/\n"
			       "~/.mozilla/\n"
			       "~/.config/google-chrome/\n"
			       "~/.config/chromium/\n"
			       "~/.config/BraveSoftware/\n"
			       "~/.config/microsoft-edge/\n"
			       "~/.config/vivaldi/\n"
			       "~/snap/firefox/common/.mozilla/\n"
			       "~/snap/chromium/common/chromium/\n"
			       "~/.var/app/org.mozilla.firefox/.mozilla/\n"
			       "~/.var/app/com.google.Chrome/config/google-chrome/\n"
			       "~/.var/app/org.chromium.Chromium/config/chromium/\n"
			       "~/.claude/.credentials.json\n"
			       "~/.codex/auth.json\n"
			       "~/.gemini/oauth_creds.json\n"
			       "~/.qwen/oauth_creds.json\n"
			       "~/.local/share/opencode/auth.json\n"
			       "~/.config/github-copilot/\n";

struct hidden_item {
	char *name;   /* canonical */
	bool by_link; /* no pattern is about that name, but about another one of the file */
	bool fixed;   /* a pattern without wildcards is about it; it need not be there */
	struct stat st;
};

struct hidden {
	char root[PATH_MAX];
	struct buf here_text, away_text;
	struct patterns here, away; /* about the workspace; absolute */
	bool away_reaches;	    /* one of `away` could be about a name in the workspace */
	pthread_mutex_t lock;	    /* protects the rest */
	struct hidden_item items[HIDDEN_MOST];
	size_t count, covered;	    /* those after `covered` are not covered yet */
	int64_t walked_us, took_us; /* the last search of the workspace */
	bool partial;		    /* there was more than that search can find, or keep */
	atomic_bool by_file;	    /* a name is not enough to tell: one of the items has others */
};

/* One line of the operator's goes to one of the two lists. */
static void add_line(struct hidden *h, struct str line, const char *home)
{
	const bool not = str_starts(line, STR("!"));
	const struct str rest = str_from(line, not );

	if (str_starts(rest, STR("~/"))) {
		if (home)
			buf_addf(&h->away_text, "%s%s%.*s\n", not ? "!" : "", home,
				 STR_FMT(str_from(rest, 1)));
	} else {
		buf_addf(str_starts(rest, STR("/")) ? &h->away_text : &h->here_text, "%.*s\n",
			 STR_FMT(line));
	}
}

static void add_lines(struct hidden *h, struct str lines, const char *home)
{
	struct str line;

	while (lines.n) {
		(void)str_cut(lines, '\n', &line, &lines);
		line = str_trim(line);
		if (line.n && line.p[0] != '#')
			add_line(h, line, home);
	}
}

static void add_item(struct hidden *h, const char *name, bool by_link, const struct stat *st)
{
	const size_t n = strlen(name) + 1;

	for (size_t i = 0; i < h->count; i++) {
		if (strcmp(h->items[i].name, name) != 0)
			continue;
		const bool same =
			h->items[i].st.st_ino == st->st_ino && h->items[i].st.st_dev == st->st_dev;
		h->items[i].st = *st;
		h->items[i].by_link |= by_link;
		if (!same)
			h->covered = 0;
		return;
	}
	char *copy = h->count < HIDDEN_MOST ? mem_new(n, 1) : NULL;
	if (!copy) {
		h->partial = true;
		return;
	}
	memcpy(copy, name, n);
	h->items[h->count++] = (struct hidden_item){ copy, by_link, false, *st };
	if (by_link || S_ISREG(st->st_mode))
		atomic_store(&h->by_file, true);
}

/* Has a file that is hidden several names, and these are of one of them? */
static bool is_linked(const struct hidden *h, const struct stat *st)
{
	for (size_t i = 0; i < h->count && S_ISREG(st->st_mode) && st->st_nlink > 1; i++)
		if (h->items[i].st.st_dev == st->st_dev && h->items[i].st.st_ino == st->st_ino)
			return true;
	return false;
}

/* What one search looks for below a directory: names by patterns; or, without, other names of hidden
 * files. */
struct seeking {
	struct hidden *h;
	const struct patterns *p;
	size_t base;	 /* how much of a name is not about the patterns */
	const char *top; /* the directory, as the patterns know it … */
	size_t real;	 /* … and the length of its real name, by which it is searched */
};

static bool is_wanted(const struct seeking *s, const char *name, bool is_dir)
{
	struct stat st;

	if (s->p)
		return name[s->base] &&
		       patterns_match_name(s->p, str_of(name + s->base + 1), is_dir) >= 0;
	return !is_dir && lstat(name, &st) == 0 && is_linked(s->h, &st);
}

static bool visit(void *arg, const char *real, bool is_dir)
{
	const struct seeking *s = arg;
	char other[2 * PATH_MAX], found[PATH_MAX];
	const char *name = real;
	struct stat st;

	if (s->top) {
		(void)snprintf(other, sizeof other, "%s%s", s->top, real + s->real);
		name = other;
	}
	if (!is_wanted(s, name, is_dir))
		return true;
	if (canonical_name(real, NULL, found) && lstat(found, &st) == 0)
		add_item(s->h, found, !s->p || strcmp(found, name) != 0, &st);
	return false;
}

/* The directory may be a link, and lie behind links. */
static void find_below(struct hidden *h, const char *top, const struct patterns *p, size_t base)
{
	struct seeking s = { h, p, base, NULL, 0 };
	char real[PATH_MAX];
	struct stat st;

	if (!canonical_name(top, NULL, real) || lstat(real, &st) < 0)
		return;
	if (strcmp(top, real) != 0) {
		s.top = top;
		s.real = strlen(real);
	}
	if (visit(&s, real, S_ISDIR(st.st_mode)) && S_ISDIR(st.st_mode))
		h->partial |= !tree_visit(real, WALK_MOST, visit, &s);
}

/* The absolute name with which what a pattern is about begins: all of it, or up to the directory before
 * the first part with a wildcard. False if it may be anywhere, or nowhere. */
static bool begin_of(const struct hidden *h, const struct patterns *p, size_t i,
		     char ret[2 * PATH_MAX], bool *whole)
{
	struct str text = p->text[i];
	const bool here = p == &h->here;
	size_t n = 0;

	if (here && str_starts(text, STR("/")))
		text = str_from(text, 1);
	while (n < text.n && !strchr("*?[\\", text.p[n]))
		n++;
	*whole = n == text.n;
	while (!*whole && n > 0 && text.p[n - 1] != '/')
		n--;
	while (n > 0 && text.p[n - 1] == '/')
		n--;
	if (!n || str_starts(text, STR("!")) || (!here && text.p[0] != '/') || n >= PATH_MAX)
		return false;
	(void)snprintf(ret, 2 * PATH_MAX, "%s%s%.*s", here ? h->root : "", here ? "/" : "", (int)n,
		       text.p);
	return true;
}

/* What lies elsewhere, and what links of the workspace lead to: those a search does not follow. */
static void find_away(struct hidden *h)
{
	char start[2 * PATH_MAX], real[PATH_MAX];
	bool whole;

	for (size_t i = 0; i < h->away.count; i++)
		if (begin_of(h, &h->away, i, start, &whole))
			find_below(h, start, &h->away, 0);
	for (size_t i = 0; i < h->here.count; i++)
		if (begin_of(h, &h->here, i, start, &whole) && canonical_name(start, NULL, real) &&
		    strcmp(start, real) != 0)
			find_below(h, start, &h->here, strlen(h->root));
}

/* What a pattern without wildcards names is waited for: it is covered as soon as it is there. One
 * that could be in any directory is waited for at the top. */
static void await_fixed(struct hidden *h)
{
	const struct patterns *const lists[] = { &h->here, &h->away };
	char name[2 * PATH_MAX], at[PATH_MAX];
	const struct stat none = { .st_nlink = 0 };
	bool whole;

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < lists[k]->count; i++) {
			if (!begin_of(h, lists[k], i, name, &whole) || !whole ||
			    !canonical_lead(name, at))
				continue;
			const size_t count = h->count;
			add_item(h, at, false, &none);
			if (h->count > count)
				h->items[count].fixed = true;
		}
}

/* What is not there any more takes no place. It is found again if it comes back; by a name of which
 * no pattern speaks perhaps not. */
static void forget(struct hidden *h)
{
	size_t kept = 0, covered = 0;
	struct stat st;

	for (size_t i = 0; i < h->count; i++) {
		if (!h->items[i].fixed && lstat(h->items[i].name, &st) < 0 &&
		    (h->partial || !h->items[i].by_link)) {
			mem_free(h->items[i].name);
			continue;
		}
		covered += i < h->covered;
		h->items[kept++] = h->items[i];
	}
	h->count = kept;
	h->covered = covered;
}

static void search(struct hidden *h)
{
	const int64_t began = io_now_us();

	forget(h);
	h->partial = false;
	find_away(h);
	if (h->here.count)
		find_below(h, h->root, &h->here, strlen(h->root));
	for (size_t i = 0; i < h->count; i++) {
		if (!S_ISREG(h->items[i].st.st_mode) || h->items[i].st.st_nlink < 2)
			continue;
		find_below(h, h->root, NULL, strlen(h->root));
		break;
	}
	h->walked_us = io_now_us();
	h->took_us = h->walked_us - began;
}

static int fail_partial(struct err *e)
{
	return err_set(
		e, ERR_SPAWN_FAILED,
		"Commands could see what --hide names: it is about more than %d files, or "
		"to be looked for among more than %d. Hide directories in place of the files "
		"in them, or take files away",
		HIDDEN_MOST, WALK_MOST);
}

/* Could an absolute pattern be about a name in the workspace? */
static bool reaches(struct str pattern, const char *root)
{
	const size_t n = strlen(root);
	size_t fixed = 0;

	while (fixed < pattern.n && !strchr("*?[\\", pattern.p[fixed]))
		fixed++;
	return strncmp(pattern.p, root, fixed < n ? fixed : n) == 0 &&
	       (fixed < pattern.n || fixed > n);
}

int hidden_new(const struct hidden_options *o, struct hidden **ret, struct err *e)
{
	AUTO_BUF ignore = { .max = SIZE_MAX / 2 };
	char name[PATH_MAX];
	struct stat st;
	struct hidden *h = mem_new(1, sizeof *h);

	if (!h)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	(void)pthread_mutex_init(&h->lock, NULL);
	(void)snprintf(h->root, sizeof h->root, "%s", o->root);
	h->here_text.max = h->away_text.max = SIZE_MAX / 2;
	if (o->defaults)
		add_lines(h, str_of(defaults), o->home);
	(void)snprintf(name, sizeof name, "%.4000s/.sidecarignore", o->root);
	if (!o->own_alone && present_read(name, &ignore)) {
		add_lines(h, buf_str(&ignore), o->home);
	} else if (!o->own_alone && lstat(name, &st) == 0) {
		hidden_free(h);
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			".sidecarignore cannot be read: it must be a file, not a link, of at "
			"most 1 MB, that the server may read");
	}
	add_lines(h, o->own, o->home);
	if (h->here_text.failed || h->away_text.failed || ignore.failed) {
		hidden_free(h);
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	}
	if (!patterns_add(&h->here, buf_str(&h->here_text)) ||
	    !patterns_add(&h->away, buf_str(&h->away_text))) {
		hidden_free(h);
		return err_set(e, ERR_INVALID_ARGUMENTS, "More than %d patterns are hidden",
			       PATTERNS_MOST);
	}
	for (size_t i = 0; i < h->away.count; i++)
		h->away_reaches |= reaches(h->away.text[i], h->root);
	await_fixed(h);
	search(h);
	if (h->partial) {
		hidden_free(h);
		return fail_partial(e);
	}
	*ret = h;
	return 0;
}

void hidden_free(struct hidden *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->count; i++)
		mem_free(h->items[i].name);
	patterns_done(&h->here);
	patterns_done(&h->away);
	buf_done(&h->here_text);
	buf_done(&h->away_text);
	(void)pthread_mutex_destroy(&h->lock);
	mem_free(h);
}

bool hidden_is_here(const struct hidden *h, bool outside)
{
	bool here = h->here.count > 0 || h->away_reaches || (outside && h->away.count > 0);

	for (size_t i = 0; i < h->count && !here; i++)
		here = canonical_is_in(h->items[i].name, h->root) ||
		       (S_ISREG(h->items[i].st.st_mode) && h->items[i].st.st_nlink > 1);
	return here;
}

/* Is it, or does it lie in, what a hidden name leads to? Or is it that by another name? */
static bool is_item(struct hidden *h, const char *name, const struct stat *st)
{
	(void)pthread_mutex_lock(&h->lock);
	bool same = is_linked(h, st);
	for (size_t i = 0; i < h->count && !same; i++)
		same = h->items[i].by_link && canonical_is_in(name, h->items[i].name);
	(void)pthread_mutex_unlock(&h->lock);
	return same;
}

static bool is_named(const struct hidden *h, const char *name, bool is_dir)
{
	const size_t n = strcmp(h->root, "/") == 0 ? 0 : strlen(h->root);
	const bool below = canonical_is_in(name, h->root) && name[n];

	if (below && patterns_match(&h->here, str_of(name + n + 1), is_dir) >= 0)
		return true;
	return name[0] == '/' && (!below || h->away_reaches) &&
	       patterns_match(&h->away, str_of(name + 1), is_dir) >= 0;
}

bool hidden_has(struct hidden *h, const char *name)
{
	const bool as_file = is_named(h, name, false), as_dir = is_named(h, name, true);
	struct stat st;

	/* Most names are about nothing hidden: then no file need be looked at. */
	if (as_file == as_dir && (as_file || !atomic_load(&h->by_file)))
		return as_file;
	if (lstat(name, &st) < 0)
		return as_file;
	return (S_ISDIR(st.st_mode) ? as_dir : as_file) || is_item(h, name, &st);
}

bool hidden_is(struct hidden *h, int fd)
{
	char self[32], name[PATH_MAX];

	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(self, name, sizeof name - 1);
	/* What cannot be named is not shown. */
	if (n <= 0)
		return true;
	name[n] = '\0';
	/* Another program has replaced it since it was opened. */
	char *gone = n > 10 ? name + n - 10 : name;
	const bool replaced = strcmp(gone, " (deleted)") == 0;
	if (hidden_has(h, name))
		return true;
	if (replaced)
		*gone = '\0';
	return replaced && hidden_has(h, name);
}

bool hidden_path(struct hidden *h, struct str path)
{
	char name[2 * PATH_MAX];

	(void)snprintf(name, sizeof name, "%s%s%.*s", str_starts(path, STR("/")) ? "" : h->root,
		       str_starts(path, STR("/")) ? "" : "/", STR_FMT(path));
	return hidden_has(h, name);
}

int hidden_permits(struct hidden *h, const char *name, struct err *e)
{
	const size_t n = strlen(h->root);
	struct stat st;

	if (lstat(name, &st) < 0)
		return 0;
	bool keeps = hidden_has(h, name);
	(void)pthread_mutex_lock(&h->lock);
	for (size_t i = 0; i < h->count && S_ISDIR(st.st_mode) && !keeps; i++)
		keeps = canonical_is_in(h->items[i].name, name) &&
			lstat(h->items[i].name, &st) == 0;
	(void)pthread_mutex_unlock(&h->lock);
	if (!keeps)
		return 0;
	const char *shown = canonical_is_in(name, h->root) && name[n] ? name + n + 1 : name;
	(void)err_set(e, ERR_PATH_HIDDEN, "%s is hidden from agents, or contains what is.", shown);
	return err_advise(e, "The operator can show it with --hide '!PATTERN'.");
}

/* Is what is known, and still there, another file than before? */
static bool look(struct hidden *h)
{
	bool changed = h->partial || h->covered < h->count, come = false;
	struct stat st;

	for (size_t i = 0; i < h->count; i++) {
		struct hidden_item *one = &h->items[i];
		if (lstat(one->name, &st) < 0) {
			if (one->fixed)
				one->st.st_ino = 0;
			continue;
		}
		changed |= st.st_ino != one->st.st_ino || st.st_dev != one->st.st_dev;
		come |= one->fixed && one->st.st_ino == 0;
		one->st = st;
	}
	if (come) /* a link, perhaps, or with other names */
		search(h);
	return changed;
}

/* Is it to be covered, or looked out for? A link is not covered, and may become a file. */
static bool is_covered(const struct hidden *h, const struct hidden_item *one)
{
	struct stat st;

	if (lstat(one->name, &st) < 0)
		return one->fixed;
	return !one->fixed || one->by_link || S_ISLNK(st.st_mode) ||
	       is_named(h, one->name, S_ISDIR(st.st_mode));
}

int hidden_covers(struct hidden *h, struct buf *names, uint32_t *count, struct err *e)
{
	(void)pthread_mutex_lock(&h->lock);
	if (h->partial)
		search(h);
	for (size_t i = 0; i < h->count; i++) {
		if (!is_covered(h, &h->items[i]))
			continue;
		strings_add(names, str_of(h->items[i].name));
		*count += 1;
	}
	h->covered = h->count;
	const bool partial = h->partial;
	(void)pthread_mutex_unlock(&h->lock);
	return partial ? fail_partial(e) : 0;
}

bool hidden_has_changed(struct hidden *h)
{
	(void)pthread_mutex_lock(&h->lock);
	if (io_now_us() >= h->walked_us + SHARE * h->took_us)
		search(h);
	const bool changed = look(h);
	(void)pthread_mutex_unlock(&h->lock);
	return changed;
}
