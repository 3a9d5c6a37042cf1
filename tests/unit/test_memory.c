/* SPDX-License-Identifier: MIT */
/* Every module that allocates, with each of its allocations refused (failing.h). */

#include "failing.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "api/workers.h"
#include "base/json.h"
#include "base/jw.h"
#include "config/config.h"
#include "exec/launch.h"
#include "exec/limits.h"
#include "exec/proc.h"
#include "exec/ring.h"
#include "net/http.h"
#include "policy/policy.h"
#include "regex/regex.h"
#include "scratch.h"
#include "scrub/scrub.h"
#include "search/glob.h"
#include "search/grep.h"
#include "search/ignore.h"
#include "tools/edit.h"
#include "workspace/diff.h"
#include "workspace/replace.h"
#include "workspace/tracker.h"

static struct scratch place; /* the directory of this program */

static int no_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "There is no memory for this");
}

/* -- base -- */

static int parse_json(const void *arg, struct err *e)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	AUTO_BUF text = { .max = 1 << 20 };
	const struct json *v;

	(void)arg;
	for (int i = 0; i < 200; i++)
		buf_addf(&text, "%s{\"name %d\":[true,null,-1.5e3,\"\\u00e9\\n\"]}", i ? "," : "[",
			 i);
	buf_addc(&text, ']');
	if (text.failed)
		return no_memory(e);
	if (json_parse(buf_str(&text), &a, &v, e) < 0)
		return -1;
	for (const struct json *item = v->first; item; item = item->next)
		tell("%.*s ", STR_FMT(item->first->name));
	return 0;
}

static struct str shout(void *arg, struct str value)
{
	(void)arg;
	return str_eq(value, STR("quiet")) ? STR("LOUD") : value;
}

static int write_json(const void *arg, struct err *e)
{
	AUTO_BUF out = { .max = 1 << 20 };
	AUTO_BUF pieces = { .max = 1 << 20 };
	const struct jw_filter filter = { .apply = shout, .pieces = &pieces };
	struct jw w = jw_to(&out);

	(void)arg;
	jw_set_filter(&w, &filter);
	jw_array(&w, NULL);
	for (int i = 0; i < 100; i++) {
		jw_object(&w, NULL);
		jw_str(&w, "text", STR("quiet"));
		jw_open_str(&w, "pieces");
		jw_piece(&w, STR("qui"));
		jw_piece(&w, STR("et"));
		jw_close_str(&w);
		jw_base64(&w, "bytes", STR("some bytes \"\\\n"));
		jw_num(&w, "number", 1.5);
		jw_end(&w);
	}
	jw_end(&w);
	/* What could not be collected could not be filtered: it must not be there at all. */
	assert_true(str_find(buf_str(&out), STR("quiet")) < 0);
	if (out.failed)
		return no_memory(e);
	tell("%.*s", STR_FMT(buf_str(&out)));
	return 0;
}

/* -- regex and search -- */

struct pattern {
	const char *text;
	struct regex_options options;
};

static int search_text(const void *arg, struct err *e)
{
	static const struct str text =
		STR("alpha beta\ngamma DELTA gamma\n\xce\xb1\xce\xb2\xce\xb3 42\n"
		    "foo(bar, baz)\nthe end of the line\nfoofoo\nzeta\n");
	const struct pattern *p = arg;
	const struct regex_budget budget = { .deadline_ms = IO_FOREVER };
	struct regex_match m = { .line_end = 0 };
	struct regex *re;
	int rc;

	if (regex_new(str_of(p->text), &p->options, &re, e) < 0)
		return -1;
	struct regex_cache *cache = regex_cache_new(re);
	rc = cache ? 1 : no_memory(e);
	for (size_t at = 0; rc > 0; at = m.line_end) {
		rc = regex_next(re, cache, text, at, &budget, &m, e);
		if (rc > 0)
			tell("%zu-%zu ", m.line, m.line_end);
	}
	regex_cache_free(cache);
	regex_free(re);
	return rc;
}

static const struct pattern patterns[] = {
	{ .text = "gamma" },
	{ .text = "foo|bar|zeta|end" },
	{ .text = "[a-z]+\\(.*\\)$" },
	{ .text = "(alpha|gamma)\\s+(?:beta|delta){1,3}", { .ignore_case = true } },
	{ .text = "\\w+\\d{2}|[\xce\xb1-\xcf\x89]+", { .ignore_case = true } },
	{ .text = "beta\\ngamma", { .multiline = true } },
	{ .text = "foo(bar", { .literal = true } },
#ifdef HAVE_PCRE2
	{ .text = "(foo)\\1" },
	{ .text = "(?<=the )end(?! of a)" },
#endif
};

static int match_globs(const void *arg, struct err *e)
{
	static const char *const globs[] = { "*.c",	 "src/**/test_*.[ch]", "!{a,b,c}/x?",
					     "**/deep/", "Makefile",	       "[!a-f]*{1..3}" };
	static const struct str path = STR("src/deep/test_x.c");

	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(globs); i++) {
		struct glob *g;
		if (glob_new(str_of(globs[i]), GLOB_SMART_CASE | GLOB_FILTER, &g, e) < 0)
			return -1;
		tell("%d", glob_match(g, path, STR("test_x.c"), false));
		glob_free(g);
	}
	return 0;
}

/* Rules for which there is no memory are left out: more files are shown, which harms nothing. */
static int read_ignore_rules(const void *arg, struct err *e)
{
	struct ignore *outer = ignore_new(STR("*.o\n!keep.o\n/build/\n**/tmp?/[a-c]*\n"), 0, NULL);
	struct ignore *inner = ignore_new(STR("# only here\nlocal\ndeep/*/x\n*.log\n"), 4, outer);
	const struct str path = STR("src/a.o");
	const enum ignore_verdict verdict = ignore_match(inner, path, 4, false);

	(void)arg;
	ignore_drop(inner);
	tell("%d", verdict);
	return verdict == IGNORE_YES ? 0 : no_memory(e);
}

static void make_tree(void)
{
	char name[64];

	put_dir(&place, "tree");
	put(&place, "tree/.gitignore", "*.o\nlog?\n");
	for (int i = 0; i < 3; i++) {
		(void)snprintf(name, sizeof name, "tree/d%d", i);
		put_dir(&place, name);
		(void)snprintf(name, sizeof name, "tree/d%d/.gitignore", i);
		put(&place, name, "ignored*\n");
		(void)snprintf(name, sizeof name, "tree/d%d/text", i);
		put(&place, name, "one\nneedle here\nthree\n");
		(void)snprintf(name, sizeof name, "tree/d%d/ignored", i);
		put(&place, name, "needle\n");
	}
	put(&place, "tree/x.o", "needle\n");
}

/* A walk goes on without what it has no memory for. Then its account says that it is not all, or
 * what an ignore file hides is shown. */
static int judge_walk(const struct found *f, struct err *e)
{
	struct hits_reader reader = { .hits = &f->hits };
	struct hit hit;
	bool hidden = false;

	while (hits_next(&reader, &hit)) {
		tell("%.*s %lld\n", STR_FMT(hit.path), (long long)hit.line);
		hidden |= str_find(hit.path, STR("ignored")) >= 0 ||
			  str_find(hit.path, STR(".o")) >= 0;
	}
	const struct walk_account *a = &f->account;
	if (f->why.code != ERR_NONE) {
		*e = f->why;
		return -1;
	}
	return a->unreadable || a->stopped != WALK_COMPLETE || hidden ? no_memory(e) : 0;
}

static int find_files(const void *arg, struct err *e)
{
	AUTO_FD dir = open(in(&place, "tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FOUND found = { 0 };
	const struct find_request request = {
		.where = { .dirfd = dir, .threads = 1, .deadline_ms = IO_FOREVER },
		.prefix = STR("tree/"),
		.pattern = STR("*t*"),
	};

	(void)arg;
	return find_run(&request, &found, e) < 0 ? -1 : judge_walk(&found, e);
}

static int grep_files(const void *arg, struct err *e)
{
	static const struct str globs[] = { STR("!*.md"), STR("**") };
	AUTO_FD dir = open(in(&place, "tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FOUND found = { 0 };
	const struct grep_request request = {
		.where = { .dirfd = dir, .threads = 1, .deadline_ms = IO_FOREVER },
		.file_fd = -1,
		.pattern = STR("nee+dle"),
		.context = 1,
		.globs = globs,
		.glob_count = ARRAY_LEN(globs),
	};

	(void)arg;
	return grep_run(&request, &found, e) < 0 ? -1 : judge_walk(&found, e);
}

/* -- scrub and policy: they fail closed -- */

#define SECRET "AKIAIOSFODNN7EXAMPL3"

static int scrub_stream(const void *arg, struct err *e)
{
	static const struct str token = STR("the-token-of-the-server");
	const struct scrub_options options = {
		.secrets = &token,
		.secret_count = 1,
		.patterns = STR("corp: corp-[0-9]{8}\nkey: key=[a-f]{16}"),
	};
	AUTO_BUF aside = { .max = 1 << 16 };
	AUTO_BUF out = { .max = 1 << 16 };
	struct scrub *rules;

	(void)arg;
	if (scrub_new(&options, &rules, e) < 0)
		return -1;
	const struct str text =
		scrub_text(rules, NULL,
			   STR("a " SECRET " and corp-12345678, the-token-of-the-server"), &aside);
	assert_true(str_find(text, STR(SECRET)) < 0 && str_find(text, STR("corp-1")) < 0 &&
		    str_find(text, token) < 0);
	struct scrubber s = { .rules = rules };
	for (size_t i = 0; i < 40; i++)
		scrubber_feed(&s, i % 8 == 1 ? STR(" " SECRET "\n") : STR("some text AKI"), &out);
	scrubber_end(&s, &out);
	assert_true(str_find(buf_str(&out), STR(SECRET)) < 0);
	tell("%.*s %.*s", STR_FMT(text), STR_FMT(buf_str(&out)));
	const bool failed = aside.failed || out.failed;
	scrubber_done(&s);
	scrub_free(rules);
	return failed ? no_memory(e) : 0;
}

static const struct {
	const char *name, *text;
} refused_commands[] = {
	{ "judge_name", "sudo ls" },
	{ "judge_wrappers", "a=1 env -i nice -n 5 bash -c 'x=$(sudo ls); echo \"$x\"'" },
	{ "judge_document", "sh <<EOF\nsudo ls\nEOF\n" },
	{ "judge_compound", "if true; then { (echo {1..3}; sudo ls); }; fi" },
	{ "judge_find", "find . -exec sudo rm {} \\;" },
};

static int judge_command(const void *arg, struct err *e)
{
	struct policy *p = policy_new(&(struct policy_options){ .mode = POLICY_DEFAULT,
								.root = STR("/ws"),
								.rules = STR("mine --now\n!dd\n") },
				      e);
	int passed = -1;

	if (!p)
		return -1;
	if (arg) {
		passed = policy_check(p, str_of(arg), false, e);
	} else {
		const struct str argv[] = { STR("nice"), STR("sh"), STR("-c"), STR("mine --now") };
		passed = policy_check_argv(p, argv, ARRAY_LEN(argv), false, e);
	}
	policy_free(p);
	/* Whatever fails, the command does not pass. */
	assert_int_equal(passed, -1);
	if (e->code != ERR_COMMAND_BLOCKED || heap.refused > 0)
		return -1;
	tell("%s", e->msg);
	return 0;
}

/* The same with as much text before it that other pieces get the memory that is refused. */
static int judge_padded(const void *arg, struct err *e)
{
	static const char *const parts[] = {
		"env -S 'A=1 sudo ls' b",
		"bash <<EOF\nsudo ls\nEOF\n",
		"xargs -n1 nice <<< 'sudo ls'",
		"eval 'sudo ls' x",
	};
	struct policy *p = policy_new(&(struct policy_options){ .mode = POLICY_DEFAULT,
								.root = STR("/ws"),
								.rules = STR("") },
				      e);
	AUTO_BUF text = { .max = 1 << 16 };

	(void)arg;
	if (!p)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		for (int padding = 0; padding < LARGE(4200); padding += 210) {
			buf_reset(&text, SIZE_MAX);
			buf_addf(&text, ": '%*s'; %s", padding, "", parts[i]);
			if (!text.failed)
				assert_int_equal(policy_check(p, buf_str(&text), false, e), -1);
		}
	}
	policy_free(p);
	return heap.refused ? no_memory(e) : 0;
}

static int allow_command(const void *arg, struct err *e)
{
	struct policy *p = policy_new(&(struct policy_options){ .mode = POLICY_STRICT,
								.root = STR("/ws"),
								.rules = STR("") },
				      e);

	(void)arg;
	if (!p)
		return -1;
	const int passed = policy_check(p, STR("make -j4 CC='gcc -O2' \"a b\" $HOME"), false, e);
	policy_free(p);
	return passed;
}

/* -- workspace -- */

static struct workspace *open_workspace(struct err *e)
{
	const struct ws_options o = { .root = in(&place, "ws") };
	struct workspace *ws = NULL;

	(void)ws_new(&o, &ws, e);
	return ws;
}

static void put_old_file(const void *arg)
{
	(void)arg;
	put(&place, "ws/f", "old\n");
}

static int change_file(const void *arg, struct err *e)
{
	AUTO_WORKSPACE ws = open_workspace(e);
	AUTO_REPLACE r = REPLACE_NONE;
	AUTO_BUF old = { .max = 1 << 16 };
	struct path p;

	(void)arg;
	if (!ws || ws_resolve(ws, STR("f"), PATH_STRICT, &p, e) < 0 ||
	    replace_begin(ws, NULL, &p, 0, &r, e) < 0 || replace_read(&r, &old, e) < 0)
		return -1;
	tell("%.*s", STR_FMT(buf_str(&old)));
	return replace_commit(&r, STR("new\n"), e);
}

static void is_old_or_new(const void *arg, int rc)
{
	(void)arg;
	assert_string_equal(get(&place, "ws/f"), rc < 0 ? "old\n" : "new\n");
	assert_int_equal(count_entries(in(&place, "ws"), ""), 1);
}

static int edit_content(const void *arg, struct err *e)
{
	const struct edit *edit = arg;
	AUTO_ARENA a = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF content = { .max = 1 << 20 };
	AUTO_BUF out = { .max = 1 << 20 };
	AUTO_BUF diff = { .max = 1 << 20 };

	for (int i = 0; i < 300; i++)
		buf_addf(&content, "line %d of\tthe text\n", i);
	if (content.failed)
		return no_memory(e);
	const int64_t n = edit_apply(edit, STR("f"), buf_str(&content), &a, &out, e);
	if (n < 0) {
		tell("%s", e->msg);
		/* The expected refusal is a success of this operation. */
		return e->code == ERR_TEXT_NOT_FOUND && !heap.refused ? 0 : -1;
	}
	if (diff_lines(buf_str(&content), buf_str(&out), &a, &diff, e) < 0)
		return -1;
	tell("%d %.*s", (int)n, STR_FMT(str_upto(buf_str(&diff), 1000)));
	return 0;
}

static const struct edit edits[] = {
	{ .old_text = STR("line 7 of"), .new_text = STR("line seven of") },
	{ .old_text = STR("of\tthe"), .new_text = STR("OF\nTHE"), .replace_all = true },
	{ .old_text = STR("LINE 7  of the text"), .new_text = STR("x") },
};

/* What could not be remembered has not been seen; it is never taken for something else. */
static int track(const void *arg, struct err *e)
{
	struct tracker *t = tracker_new(4);
	AUTO_BUF then = { .max = 1 << 16 };
	bool seen = true;

	(void)arg;
	if (!t)
		return no_memory(e);
	for (char name = 'a'; name < 'h'; name++)
		tracker_saw(t, STR("session"), (struct str){ &name, 1 }, STR("content"), NULL);
	struct tracker_hash *h = tracker_hash_new();
	if (h) {
		tracker_hash_add(h, STR("con"));
		tracker_hash_add(h, STR("tent"));
		tracker_saw_hash(t, STR("other"), STR("x"), 7, tracker_hash_end(h), NULL);
	}
	for (char name = 'a'; name < 'h'; name++) {
		const struct str path = { &name, 1 };
		const enum tracker_verdict same =
			tracker_check(t, STR("session"), path, STR("content"));
		const enum tracker_verdict changed =
			tracker_check(t, STR("session"), path, STR("CONTENT"));
		assert_int_not_equal(same, TRACKER_CHANGED);
		assert_int_not_equal(changed, TRACKER_SAME);
		assert_int_equal(same == TRACKER_UNSEEN, changed == TRACKER_UNSEEN);
		tell("%d", same);
	}
	seen = h && tracker_recall(t, STR("session"), STR("g"), &then) &&
	       tracker_check(t, STR("other"), STR("x"), STR("content")) == TRACKER_SAME;
	tracker_free(t);
	return seen && !heap.refused ? 0 : no_memory(e);
}

/* -- the rest -- */

static int load_config(const void *arg, struct err *e)
{
	char workspace[PATH_MAX];
	char *argv[] = { (char[]){ "--workspace" },	 workspace,
			 (char[]){ "--scrub-patterns" }, (char[]){ "x-[0-9]{9}" },
			 (char[]){ "--command-rules" },	 (char[]){ "!dd" } };
	AUTO_CONFIG c = { 0 };

	(void)arg;
	(void)snprintf(workspace, sizeof workspace, "%s", in(&place, "ws"));
	if (config_read((int)ARRAY_LEN(argv), argv, &c, e) < 0)
		return -1;
	tell("%s %s %s", c.workspace, c.command_rules, c.token ? c.token : "");
	return 0;
}

static int receive_request(const void *arg, struct err *e)
{
	static const char request[] =
		"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
		"\r\n5\r\nhello\r\n0\r\n\r\n";
	struct http_budget budget = { .left = 1 << 20 };
	AUTO_BUF body = { .max = 1 << 20 };
	struct http_refusal why = { .status = 0 };
	struct http_request r;
	struct http h;
	int pair[2];

	(void)arg;
	buf_room(&body, 400 << 10); /* larger than the socket takes at once */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
			 0);
	AUTO_FD client = pair[1];
	assert_int_equal(write(client, request, sizeof request - 1), sizeof request - 1);
	http_init(&h, pair[0], &budget);
	const enum http_event event = http_receive(&h, &r, &why);
	int rc = -1;
	if (event == HTTP_REQUEST && !body.failed) {
		tell("%.*s", STR_FMT(r.body));
		buf_filled(&body, 400 << 10);
		memset(body.p, 'x', body.n);
		http_send(&h, &(struct http_answer){ 200, HTTP_JSON, NULL, buf_str(&body) });
		/* An answer that cannot be kept closes the connection: it is never half of one. */
		rc = h.state == HTTP_OUT ? 0 : -1;
	}
	assert_true(rc == 0 || heap.refused > 0);
	http_done(&h);
	assert_int_equal(budget.left, 1 << 20);
	return rc < 0 ? no_memory(e) : 0;
}

static int make_slots(const void *arg, struct err *e)
{
	struct slots s;

	(void)arg;
	if (slots_init(&s, 64, 64, 8, e) < 0)
		return -1;
	slots_done(&s);
	return 0;
}

/* Without memory the shell reads the line, as it would any other. */
static int read_columns_plain(const void *arg, struct err *e)
{
	char *env[] = { (char[]){ "PATH=/usr/bin:/bin" }, (char[]){ "HOME=/" }, NULL };
	char *strings[] = { (char[]){ "ls" }, (char[]){ "-l" }, (char[]){ "a" } };
	struct arena a = { .max = LIMIT_PLAIN };
	struct str *words;
	struct plain plain;

	(void)arg;
	const bool is_plain = proc_plain_words(STR("ls -l a"), &a, &words) == ARRAY_LEN(strings) &&
			      plain_prepare(&plain, strings, ARRAY_LEN(strings), env, "/", &a);
	for (size_t i = 0; is_plain && plain.argv[i]; i++)
		tell("%s|", plain.argv[i]);
	if (is_plain)
		mem_free(plain.env);
	arena_done(&a);
	return is_plain ? 0 : no_memory(e);
}

/* Without memory to grow, a ring keeps fewer bytes, and its positions stay right. */
static int fill_ring(const void *arg, struct err *e)
{
	struct ring r = { .size = 4096 };
	AUTO_BUF out = { .max = 4096 };

	(void)arg;
	for (int i = 0; i < 1000; i++)
		ring_add(&r, STR("0123456789"));
	assert_int_equal(r.total, 10000);
	const int64_t start = ring_start(&r);
	ring_copy(&r, start, r.total, &out);
	for (size_t i = 0; i < out.n; i++)
		assert_int_equal(out.p[i], "0123456789"[((size_t)start + i) % 10]);
	const bool whole = out.n == r.size;
	ring_fit(&r);
	ring_done(&r);
	return whole ? 0 : no_memory(e);
}

/* -- the tests -- */

static void run_one(void **state)
{
	fail_each(*state);
}

static int set_up(void **state)
{
	(void)state;
	place = scratch_new();
	put_dir(&place, "ws");
	put(&place, "ws/f", "old\n");
	make_tree();
	(void)setenv("XDG_CONFIG_HOME", place.path, 1);
	(void)setenv("SIDECAR_TOKEN", "a-token-of-the-environment", 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_free(&place);
	return 0;
}

int main(void)
{
	static const struct operation single[] = {
		{ "parse_json", parse_json },
		{ "write_json", write_json },
		{ "match_globs", match_globs },
		{ "read_ignore_rules", read_ignore_rules },
		{ "find_files", find_files },
		{ "grep_files", grep_files },
		{ "scrub_stream", scrub_stream },
		{ "judge_argv", judge_command },
		{ "judge_padded", judge_padded },
		{ "allow_command", allow_command },
		{ "change_file", change_file, .prepare = put_old_file, .judge = is_old_or_new },
		{ "track", track },
		{ "load_config", load_config },
		{ "receive_request", receive_request },
		{ "make_slots", make_slots },
		{ "read_columns_plain", read_columns_plain },
		{ "fill_ring", fill_ring },
	};
	static struct operation all[64];
	static struct CMUnitTest tests[ARRAY_LEN(all)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(single); i++)
		all[n++] = single[i];
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		all[n++] = (struct operation){ patterns[i].text, search_text, &patterns[i] };
	for (size_t i = 0; i < ARRAY_LEN(refused_commands); i++)
		all[n++] = (struct operation){ refused_commands[i].name, judge_command,
					       refused_commands[i].text };
	for (size_t i = 0; i < ARRAY_LEN(edits); i++)
		all[n++] = (struct operation){ "edit_content", edit_content, &edits[i] };
	assert_true(n <= ARRAY_LEN(all));
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ .name = all[i].name,
						.test_func = run_one,
						.initial_state = &all[i] };
	return _cmocka_run_group_tests("memory", tests, n, set_up, tear_down);
}
