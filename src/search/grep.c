/* SPDX-License-Identifier: MIT */
/* grep: a walk that scans the files it finds. */

#include "search/grep.h"

#include "base/limits.h"
#include "base/own.h"
#include "search/glob.h"
#include "search/spread.h"

struct file_type {
	const char *names;
	const char *extensions; /* without the dot */
	const char *files;	/* whole names */
};

/* Lists separated by blanks. */
static const struct file_type types[] = {
	{ "asm", "asm s S", "" },
	{ "c", "c h", "" },
	{ "cpp cxx c++", "cpp cc cxx hpp hh hxx h inl ipp tpp", "" },
	{ "cs csharp", "cs csx", "" },
	{ "css", "css scss sass less", "" },
	{ "clojure", "clj cljs cljc edn", "" },
	{ "cmake", "cmake", "CMakeLists.txt" },
	{ "config", "cfg conf config ini", "" },
	{ "csv", "csv tsv", "" },
	{ "dart", "dart", "" },
	{ "docker", "dockerfile", "Dockerfile Containerfile" },
	{ "elixir", "ex exs eex heex", "" },
	{ "erlang", "erl hrl", "" },
	{ "fish", "fish", "" },
	{ "go", "go", "go.mod" },
	{ "graphql", "graphql graphqls", "" },
	{ "haskell hs", "hs lhs", "" },
	{ "html", "html htm xhtml", "" },
	{ "java", "java jsp", "" },
	{ "js javascript", "js jsx mjs cjs vue", "" },
	{ "json", "json jsonl jsonc", "" },
	{ "kotlin", "kt kts", "" },
	{ "lisp", "lisp el lsp", "" },
	{ "log", "log", "" },
	{ "lua", "lua", "" },
	{ "make", "mk mak", "Makefile makefile GNUmakefile Kbuild" },
	{ "md markdown", "md markdown mdx", "" },
	{ "meson", "", "meson.build meson_options.txt meson.options" },
	{ "nix", "nix", "" },
	{ "ocaml", "ml mli", "" },
	{ "perl", "pl pm t", "" },
	{ "php", "php phtml", "" },
	{ "proto protobuf", "proto", "" },
	{ "ps powershell", "ps1 psm1 psd1", "" },
	{ "py python", "py pyi pyw", "" },
	{ "r", "r R Rmd", "" },
	{ "rst", "rst", "" },
	{ "ruby rb", "rb gemspec", "Gemfile Rakefile" },
	{ "rust rs", "rs", "" },
	{ "scala", "scala sbt", "" },
	{ "sh bash shell", "sh bash zsh ksh bats", ".bashrc .profile .zshrc" },
	{ "sql", "sql", "" },
	{ "svelte", "svelte", "" },
	{ "swift", "swift", "" },
	{ "tex", "tex sty cls bib", "" },
	{ "tf terraform", "tf tfvars hcl", "" },
	{ "toml", "toml", "Cargo.lock" },
	{ "ts typescript", "ts tsx mts cts", "" },
	{ "txt text", "txt", "" },
	{ "vue", "vue", "" },
	{ "xml", "xml xsd xsl xslt svg", "" },
	{ "yaml yml", "yaml yml", "" },
	{ "zig", "zig", "" },
};

static bool has_word(const char *list, struct str word, bool nocase)
{
	struct str rest = str_of(list), one;

	while (rest.n) {
		str_cut(rest, ' ', &one, &rest);
		if (nocase ? str_eq_nocase(one, word) : str_eq(one, word))
			return true;
	}
	return false;
}

const struct file_type *type_by_name(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (has_word(types[i].names, name, true))
			return &types[i];
	return NULL;
}

/* Add the words of a list, each after `sign`. Returns whether the line has any. */
static bool add_words(struct buf *to, const char *words, const char *sign, bool any)
{
	struct str word, rest = str_of(words);

	while (rest.n) {
		(void)str_cut(rest, ' ', &word, &rest);
		buf_addf(to, "%s%s%.*s", any ? ", " : "", sign, STR_FMT(word));
		any = true;
	}
	return any;
}

void types_list(struct buf *to)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		(void)add_words(to, types[i].names, "", false);
		buf_add(to, STR(": "));
		(void)add_words(to, types[i].files, "",
				add_words(to, types[i].extensions, "*.", false));
		buf_addc(to, '\n');
	}
}

bool type_has(const struct file_type *type, struct str name)
{
	const char *dot = memrchr(name.p, '.', name.n);

	if (dot && has_word(type->extensions, str_from(name, (size_t)(dot + 1 - name.p)), false))
		return true;
	return has_word(type->files, name, false);
}

struct grep {
	const struct grep_request *request;
	struct regex *regex;
	struct glob **globs;
	const struct file_type **types;
	bool need_match; /* a file must match a glob */
	struct scan_options scan;
	bool stopped;	/* a thread has set `why` (__atomic) */
	struct err why; /* read when the threads have ended */
};

/* One thread. */
struct grep_worker {
	struct grep *grep;
	struct scanner *scanner;
};

static void grep_done(struct grep *g)
{
	for (size_t i = 0; g->globs && i < g->request->glob_count; i++)
		glob_free(g->globs[i]);
	mem_free(g->globs);
	mem_free(g->types);
	regex_free(g->regex);
}

static int make_types(struct grep *g, struct err *e)
{
	const struct grep_request *r = g->request;

	for (size_t i = 0; i < r->type_count; i++) {
		g->types[i] = type_by_name(r->types[i]);
		if (!g->types[i])
			return err_set(
				e, ERR_INVALID_ARGUMENTS,
				"Unknown file type \"%.*s\"; use one like c, py, js, ts, go, "
				"rust, java, md, or a glob such as *.ext",
				STR_FMT(r->types[i]));
	}
	return 0;
}

static int grep_init(struct grep *g, struct err *e)
{
	const struct grep_request *r = g->request;

	g->globs = mem_new(r->glob_count + 1, sizeof *g->globs);
	g->types = mem_new(r->type_count + 1, sizeof *g->types);
	if (!g->globs || !g->types)
		return hits_fail(e);
	for (size_t i = 0; i < r->glob_count; i++) {
		if (glob_new(r->globs[i], GLOB_FILTER, &g->globs[i], e) < 0)
			return -1;
		g->need_match |= !glob_negated(g->globs[i]);
	}
	if (make_types(g, e) < 0 || regex_new(r->pattern, &r->options, &g->regex, e) < 0)
		return -1;
	g->scan = (struct scan_options){
		.regex = g->regex,
		.mode = r->mode,
		.invert = r->invert,
		.multiline = r->options.multiline,
		.context = r->context < LIMIT_SEARCH_CONTEXT ? r->context : LIMIT_SEARCH_CONTEXT,
		.max_bytes = r->max_bytes,
		.limit = r->where.limit,
		.prefix = r->prefix,
		.budget = { r->where.deadline_ms, r->where.cancel },
	};
	return 0;
}

static bool types_want(const struct grep *g, struct str name)
{
	const size_t n = g->request->type_count;

	for (size_t i = 0; i < n; i++)
		if (type_has(g->types[i], name))
			return true;
	return n == 0;
}

static bool globs_want(const struct grep *g, const struct walk_entry *entry)
{
	const bool is_dir = entry->type == HIT_DIRECTORY;

	for (size_t i = g->request->glob_count; i-- > 0;)
		if (glob_match(g->globs[i], entry->path, entry->name, is_dir))
			return !glob_negated(g->globs[i]);
	return is_dir || !g->need_match;
}

static unsigned grep_entry(void *search, const struct walk_entry *entry,
			   struct walk_account *account)
{
	const struct grep *g = search;

	if (entry->type == HIT_DIRECTORY) {
		if (globs_want(g, entry))
			return WALK_DESCEND;
		account->filtered++;
		return 0;
	}
	if (entry->type != HIT_FILE)
		return 0;
	if (types_want(g, entry->name) && globs_want(g, entry))
		return WALK_SCAN;
	account->filtered++;
	return 0;
}

static void count(struct walk_account *account, const struct scanner *s, enum scan_outcome outcome)
{
	account->files += outcome == SCAN_SEARCHED || outcome == SCAN_STOPPED;
	account->binary += outcome == SCAN_BINARY;
	account->too_large += outcome == SCAN_TOO_LARGE;
	account->unreadable += outcome == SCAN_UNREADABLE;
	account->long_lines += scanner_long_lines(s);
}

static bool grep_file(void *worker, const struct walk_file *file, struct hits *out,
		      struct walk_account *account)
{
	struct grep_worker *w = worker;
	const struct grep_request *r = w->grep->request;
	const bool resume = r->where.after.n && str_eq(file->path, r->where.after);
	const struct scan_input in = {
		.fd = file->fd,
		.path = file->path,
		.after_line = resume ? r->after_line : 0,
		.stop = file->stop,
		.reads_whole = file->reads_whole,
	};

	const enum scan_outcome outcome = scan_file(w->scanner, &in, out);
	count(account, w->scanner, outcome);
	if (outcome != SCAN_STOPPED)
		return true;
	if (scanner_why(w->scanner)->code &&
	    !__atomic_exchange_n(&w->grep->stopped, true, __ATOMIC_RELAXED))
		w->grep->why = *scanner_why(w->scanner);
	return false;
}

static void grep_worker_free(void *worker)
{
	struct grep_worker *w = worker;

	scanner_free(w->scanner);
	mem_free(w);
}

static void *grep_worker_new(void *search)
{
	struct grep *g = search;
	struct grep_worker *w = mem_new(1, sizeof *w);

	if (!w)
		return NULL;
	w->grep = g;
	w->scanner = scanner_new(&g->scan);
	if (!w->scanner) {
		grep_worker_free(w);
		return NULL;
	}
	return w;
}

static void grep_hint(void *search, int64_t deadline_ms)
{
	struct grep *g = search;

	if (g->scan.mode != SCAN_WITHOUT)
		g->scan.mode = SCAN_FILES;
	g->scan.limit = 0;
	g->scan.budget.deadline_ms = deadline_ms;
}

static int grep_tree(struct grep *g, struct found *ret, struct err *e)
{
	const struct walk_visitor v = {
		.search = g,
		.entry = grep_entry,
		.file = grep_file,
		.worker_new = grep_worker_new,
		.worker_free = grep_worker_free,
		.hint = grep_hint,
	};

	if (spread_run(&g->request->where, &v, g->request->prefix.n, ret, e) < 0)
		return -1;
	/* If the search itself was complete, `why` can only be from the search of hidden files. */
	if (ret->account.stopped != WALK_COMPLETE)
		ret->why = g->why;
	return 0;
}

static int grep_one(struct grep *g, struct found *ret, struct err *e)
{
	const struct grep_request *r = g->request;
	struct scanner *s = scanner_new(&g->scan);

	if (!s)
		return hits_fail(e);
	const struct scan_input in = {
		.fd = r->file_fd,
		.path = r->file_path,
		.after_line = r->after_line,
	};
	const enum scan_outcome outcome = scan_file(s, &in, &ret->hits);
	count(&ret->account, s, outcome);
	if (outcome == SCAN_STOPPED)
		ret->account.stopped =
			cancel_asked(r->where.cancel) ? WALK_CANCELLED : WALK_TIMEOUT;
	else if (r->where.limit && ret->hits.count >= r->where.limit)
		ret->account.stopped = WALK_LIMIT;
	ret->why = *scanner_why(s);
	scanner_free(s);
	return ret->hits.failed ? hits_fail(e) : 0;
}

int grep_run(const struct grep_request *r, struct found *ret, struct err *e)
{
	struct grep g = { .request = r };
	int status = grep_init(&g, e);

	if (status == 0)
		status = r->file_fd >= 0 ? grep_one(&g, ret, e) : grep_tree(&g, ret, e);
	grep_done(&g);
	return status;
}
