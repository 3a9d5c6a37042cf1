/* SPDX-License-Identifier: MIT */
/* Calls through a real sidecar and in this process: the same answers; many threads; cancelling. */

#include "client_unit.h"

struct ends {
	struct scratch scratch;
	pid_t sidecar;
	struct sidecar *remote, *local;
};

static struct ends ends_new(void)
{
	struct ends e = { .scratch = scratch_new() };
	char root[PATH_MAX];
	const struct sidecar_options options = { .workspace_root = root };
	const struct sidecar_settings settings = { .local = &options, .program = SIDECAR_PROGRAM };
	struct sidecar_error error;

	put_dir(&e.scratch, "ws");
	put_dir(&e.scratch, "ws/dir");
	put(&e.scratch, "ws/a.txt", "one\ntwo\nthree\n");
	put(&e.scratch, "ws/dir/b.c", "int one;\n");
	put(&e.scratch, "ws/p.png", "\x89PNG\r\n\x1a\n0123456789");
	(void)snprintf(root, sizeof root, "%.2000s/ws", e.scratch.path);
	e.sidecar = start_sidecar(&e.scratch);
	e.remote = open_client(&e.scratch, 60000);
	e.local = sidecar_open(&settings, &error);
	assert_non_null(e.local);
	assert_int_equal(sidecar_ensure_ready(e.local, NULL), 0);
	return e;
}

static void ends_free(struct ends *e)
{
	sidecar_close(e->remote);
	sidecar_close(e->local);
	stop_sidecar(e->sidecar, SIGTERM);
	scratch_free(&e->scratch);
}

struct text {
	char p[16384];
	size_t n;
};

static void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	t->n += (size_t)vsnprintf(t->p + t->n, sizeof t->p - t->n, format, ap);
	va_end(ap);
	assert_true(t->n < sizeof t->p);
}

static void say_error(struct text *t, const struct sidecar_error *e)
{
	say(t, "%s: %s\n", e->code, e->message);
}

static void files(struct sidecar *s, struct text *t)
{
	static const struct {
		const char *path;
		struct sidecar_lines lines;
	} reads[] = { { "a.txt", { 0 } },      { "a.txt", { 2, 1 } }, { "a.txt", { 9, 0 } },
		      { "none", { 0 } },       { "../x", { 0 } },     { "dir", { 0 } },
		      { "p.png", { 0 } },      { "", { 0 } },	      { "a\xff", { 0 } },
		      { "/etc/passwd", { 0 } } };
	struct sidecar_error e;

	for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
		struct sidecar_file *f = sidecar_read_file(s, reads[i].path, &reads[i].lines, &e);
		if (f)
			say(t, "%zu %.*s %s %lld %d\n", f->length, (int)f->length, f->content,
			    f->mime_type ? f->mime_type : "text", (long long)f->total_lines,
			    f->has_more);
		else
			say_error(t, &e);
		sidecar_free(f);
	}
	static const struct {
		const char *old_text, *new_text; /* without the first: a write */
	} changes[] = { { NULL, "h\xc3\xa9\nh\xc3\xa9\nx\n" },
			{ "x", "y" },
			{ "none", "y" },
			{ "h\xc3\xa9", "y" },
			{ "y", "y" },
			{ NULL, "\xff" } };
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct sidecar_change *c =
			changes[i].old_text ? sidecar_edit_file(s, "new/w", changes[i].old_text,
								changes[i].new_text, &e)
					    : sidecar_write_file(s, "new/w", changes[i].new_text,
								 strlen(changes[i].new_text), &e);
		if (c)
			say(t, "%s %lld %s\n", c->path, (long long)c->bytes,
			    c->diff ? c->diff : "-");
		else
			say_error(t, &e);
		sidecar_free(c);
	}
}

static void patches(struct sidecar *s, struct text *t)
{
	static const char update[] = "--- x/y/new/w\n+++ x/y/new/w\n@@ -1 +1 @@\n-\xff\n+one\n";
	static const struct {
		const char *patch;
		struct sidecar_patch_options options;
	} rows[] = {
		{ "*** Begin Patch\n*** Add File: p/a\n+one\n+two\n*** Add File: p/b\n+x\n*** End "
		  "Patch\n",
		  { 0 } },
		{ "--- a/p/a\n+++ b/p/a\n@@ -1,2 +1,2 @@\n one  \n-two\n+2\n",
		  { .dry_run = true } },
		{ "diff --git a/p/a b/p/c\nrename from p/a\nrename to p/c\n", { 0 } },
		{ "--- p/c\n+++ p/c\n@@ -1,2 +1 @@\n-one\n-two\n+1\n", { .strip = -1 } },
		{ "--- x/p/c\n+++ x/p/c\n@@ -1 +1 @@\n-1\n+2\n", { .strip = 1 } },
		{ update, { .strip = 2 } },
		{ "*** Begin Patch\n*** Delete File: p/none\n*** End Patch\n", { 0 } },
		{ "nothing", { .format = "v4a" } },
		{ "*** Begin Patch\n*** Delete File: p/b\n*** Delete File: p/c\n*** End Patch\n",
		  { 0 } },
	};
	struct sidecar_error e;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sidecar_patch *p =
			sidecar_apply_patch(s, rows[i].patch, &rows[i].options, &e);
		for (size_t k = 0; p && k < p->count; k++)
			say(t, "%s %s %s +%lld -%lld %s\n", p->files[k].path, p->files[k].kind,
			    p->files[k].from ? p->files[k].from : "-", (long long)p->files[k].added,
			    (long long)p->files[k].removed, p->files[k].diff);
		for (size_t k = 0; p && p->fuzz[k]; k++)
			say(t, "%s\n", p->fuzz[k]);
		if (!p)
			say_error(t, &e);
		sidecar_free(p);
	}
}

static void searches(struct sidecar *s, struct text *t)
{
	static const char *const patterns[] = { "*", "**/*.c", "none*", "[", "" };
	static const struct sidecar_grep_options options[] = {
		{ 0 },
		{ .path = "dir" },
		{ .glob = "*.txt", .context = 1 },
		{ .literal = true, .ignore_case = true },
		{ .limit = 1 },
		{ .path = "none" },
	};
	static const char *const dirs[] = { NULL, "dir", "none", "a.txt" };
	struct sidecar_error e;

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		struct sidecar_names *n = sidecar_find(s, patterns[i], NULL, 0, &e);
		for (size_t j = 0; n && j < n->count; j++)
			say(t, "%s,", n->names[j]);
		if (n)
			assert_null(n->names[n->count]);
		else
			say_error(t, &e);
		sidecar_free(n);
	}
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		struct sidecar_text *g = sidecar_grep(s, i == 3 ? "ONE;" : "o.e", &options[i], &e);
		if (g)
			say(t, "%zu %s %d\n", g->length, g->content, g->truncated);
		else
			say_error(t, &e);
		sidecar_free(g);
	}
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		struct sidecar_text *l = sidecar_ls(s, dirs[i], 0, &e);
		if (l)
			say(t, "%s\n", l->content);
		else
			say_error(t, &e);
		sidecar_free(l);
	}
}

static void tools(struct sidecar *s, struct text *t)
{
	static const char *const calls[][2] = {
		{ "read_file", "{\"path\":\"a.txt\"}" },
		{ "read_file", "{\"path\":1}" },
		{ "read_file", "{" },
		{ "read_file", NULL },
		{ "nope", "{}" },
		{ "", "{}" },
		{ "search_files", "{\"pattern\":\"one\"}" },
	};
	static const char *const asked[][2] = {
		{ NULL, NULL }, { "openai", "core" }, { "mcp", NULL }, { "x", NULL }, { NULL, "x" },
	};
	struct sidecar_error e;

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct sidecar_observation *o = sidecar_call_tool(s, calls[i][0], calls[i][1], &e);
		if (o)
			say(t, "%d %s %s %s\n", o->success, o->code ? o->code : "-",
			    o->message ? o->message : "-", o->json);
		else
			say_error(t, &e);
		sidecar_free(o);
	}
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		struct sidecar_text *d = sidecar_tools(s, asked[i][0], asked[i][1], &e);
		if (d)
			say(t, "%zu %.200s\n", d->length, d->content);
		else
			say_error(t, &e);
		sidecar_free(d);
	}
	static const char *const one[][2] = {
		{ "read_file", NULL }, { "edit_file", "anthropic" },
		{ "none", NULL },      { "read_file?", NULL },
		{ "", NULL },	       { "read_file", "x" },
	};
	for (size_t i = 0; i < ARRAY_LEN(one); i++) {
		struct sidecar_text *d = sidecar_tool_by_name(s, one[i][0], one[i][1], &e);
		assert_true(!d == (i >= 2));
		if (d)
			say(t, "%zu %.60s\n", d->length, d->content);
		else
			say_error(t, &e);
		sidecar_free(d);
	}
	assert_int_equal(sidecar_is_command_blocked(s, "ls", &e), 0);
	assert_int_equal(sidecar_is_command_blocked(s, "sudo ls", &e), 1);
	assert_string_equal(e.code, "COMMAND_BLOCKED");
	assert_non_null(strstr(e.message, "sudo"));
	say_error(t, &e);
	assert_int_equal(sidecar_is_command_blocked(s, "\xff", &e), -1);
	struct sidecar_health *h = sidecar_health(s, &e);
	assert_non_null(h);
	say(t, "%s\n", h->version);
	sidecar_free(h);
}

static int collect(void *arg, bool is_stderr, const char *text, size_t length)
{
	say(arg, "[%d %.*s]", is_stderr, (int)length, text);
	return 0;
}

static void commands(struct sidecar *s, struct text *t)
{
	static const char *const env[] = { "WORD=h\xc3\xa9", "EMPTY=", NULL };
	static const char *const no_env[] = { "WORD", NULL };
	const struct {
		const char *command;
		struct sidecar_bash_options options;
	} cases[] = {
		{ "echo out", { 0 } },
		{ "echo err >&2; exit 3", { 0 } },
		{ "kill -9 $$", { 0 } },
		{ "echo $WORD $(pwd | grep -o ws/.*)", { .env = env, .cwd = "dir" } },
		{ "pwd", { .env = no_env } },
		{ "pwd", { .cwd = "none" } },
		{ "sleep 60", { .timeout_seconds = 0.1 } },
		{ "cat", { .input = "text", .input_length = 3 } },
		{ "od -An -tx1", { .input = "\xff\0a", .input_length = 3 } },
		{ "wc -c", { .input = "", .input_length = 0 } },
		{ "", { 0 } },
	};
	struct sidecar_error e;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sidecar_bash_options o = cases[i].options;
		struct sidecar_exit ended;
		o.output = collect;
		o.arg = t;
		if (sidecar_run_bash(s, cases[i].command, &o, &ended, &e) == 0)
			say(t, "%d %d\n", ended.code, ended.timed_out);
		else
			say_error(t, &e);
	}
	assert_non_null(strstr(t->p, "[0 h\xc3\xa9"));
	assert_non_null(strstr(t->p, "[0 tex]"));
	assert_non_null(strstr(t->p, "[0  ff 00 61\n]"));
}

static void both_executors_answer_alike(void **state)
{
	static void (*const parts[])(struct sidecar *, struct text *) = { files, patches, searches,
									  tools, commands };
	struct ends e = ends_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct text there = { .n = 0 }, here = { .n = 0 };
		parts[i](e.remote, &there);
		(void)unlink(in(&e.scratch, "ws/new/w"));
		(void)rmdir(in(&e.scratch, "ws/new"));
		parts[i](e.local, &here);
		assert_string_equal(there.p, here.p);
		assert_true(there.n > 50);
		(void)unlink(in(&e.scratch, "ws/new/w"));
		(void)rmdir(in(&e.scratch, "ws/new"));
	}
	ends_free(&e);
}

static void without_the_program_only_commands_fail(void **state)
{
	struct scratch s = scratch_new();
	const struct sidecar_options options = { .workspace_root = s.path };
	const struct sidecar_settings settings = { .local = &options, .program = "/no/such" };
	struct sidecar_error error;
	struct sidecar *client = sidecar_open(&settings, &error);

	(void)state;
	assert_non_null(client);
	assert_int_equal(sidecar_run_bash(client, "true", NULL, NULL, &error), -1);
	assert_string_equal(error.code, "SPAWN_FAILED");
	assert_string_equal(error.message,
			    "Commands are started by the sidecar program, and \"/no/such\" cannot "
			    "be executed: install it, or set the program's path");
	struct sidecar_change *c = sidecar_write_file(client, "a", "b", 1, &error);
	assert_non_null(c);
	sidecar_free(c);
	sidecar_close(client);
	scratch_free(&s);
}

static void *cancel_later(void *arg)
{
	(void)usleep(100 * 1000);
	sidecar_cancel(arg);
	return NULL;
}

static int refuse(void *arg, bool is_stderr, const char *text, size_t length)
{
	(void)arg, (void)is_stderr, (void)text, (void)length;
	return 1;
}

/* Whether a process with that word in its command line is left; it may take a while to end. */
static bool is_left(const char *word)
{
	char command[256];

	for (int i = 0; i < 600; i++) {
		(void)snprintf(command, sizeof command, "pgrep -f '[s]leep %s' >/dev/null", word);
		if (system(command) != 0)
			return false;
		(void)usleep(100 * 1000);
	}
	return true;
}

static void a_cancelled_command_ends_with_its_processes(void **state)
{
	struct ends e = ends_new();
	struct sidecar *both[] = { e.remote, e.local };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sidecar_cancel *cancel = sidecar_cancel_new();
		const struct sidecar_bash_options later = { .cancel = cancel };
		const struct sidecar_bash_options now = { .output = refuse };
		struct sidecar_error error = { 0 };
		char word[64], command[256];
		pthread_t thread;
		(void)snprintf(word, sizeof word, "%d.%zu", 1000 + getpid(), i);
		(void)snprintf(command, sizeof command, "setsid sleep %s & echo x; sleep %s", word,
			       word);
		assert_int_equal(pthread_create(&thread, NULL, cancel_later, cancel), 0);
		assert_int_equal(sidecar_run_bash(both[i], command, &later, NULL, &error), -1);
		(void)pthread_join(thread, NULL);
		assert_string_equal(error.code, "CANCELLED");
		assert_false(is_left(word));
		/* Once cancelled it stays cancelled: the next command does not start. */
		assert_int_equal(sidecar_run_bash(both[i], command, &later, NULL, &error), -1);
		assert_string_equal(error.code, "CANCELLED");
		sidecar_cancel_free(cancel);
		/* By the callback. */
		assert_int_equal(sidecar_run_bash(both[i], command, &now, NULL, &error), -1);
		assert_string_equal(error.code, "CANCELLED");
		assert_false(is_left(word));
	}
	ends_free(&e);
}

enum { THREADS = 12, CALLS = 60 };

struct worker {
	struct sidecar *sidecar;
	pthread_t thread;
	int number, failures;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	char name[32], content[64];

	(void)snprintf(name, sizeof name, "t%d", w->number);
	for (int i = 0; i < CALLS; i++) {
		const int n = snprintf(content, sizeof content, "%d of %d\n", i, w->number);
		struct sidecar_error error;
		struct sidecar_exit ended;
		struct sidecar_change *c =
			sidecar_write_file(w->sidecar, name, content, (size_t)n, &error);
		struct sidecar_file *f = sidecar_read_file(w->sidecar, name, NULL, &error);
		w->failures += !c || !f || strcmp(f->content, content) != 0;
		if (i % 20 == 0)
			w->failures +=
				sidecar_run_bash(w->sidecar, "true", NULL, &ended, &error) < 0;
		sidecar_free(c);
		sidecar_free(f);
	}
	return NULL;
}

static void many_threads_share_an_executor(void **state)
{
	struct ends e = ends_new();
	struct sidecar *both[] = { e.remote, e.local };
	struct worker workers[THREADS];

	(void)state;
	for (size_t end = 0; end < 2; end++) {
		for (int i = 0; i < THREADS; i++) {
			workers[i] = (struct worker){ .sidecar = both[end], .number = i };
			assert_int_equal(
				pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
		}
		for (int i = 0; i < THREADS; i++) {
			(void)pthread_join(workers[i].thread, NULL);
			assert_int_equal(workers[i].failures, 0);
		}
	}
	ends_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_executors_answer_alike),
		cmocka_unit_test(without_the_program_only_commands_fail),
		cmocka_unit_test(a_cancelled_command_ends_with_its_processes),
		cmocka_unit_test(many_threads_share_an_executor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
