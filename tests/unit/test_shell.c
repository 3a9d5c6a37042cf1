/* SPDX-License-Identifier: MIT */
/* test_shell: the commands and words read off shell text, by table and against bash itself. */

#include "unit.h"

#include <sys/wait.h>

#include "base/buf.h"
#include "policy/limits.h"
#include "policy/shell.h"

static void show(struct str text, char open, char close, struct buf *out)
{
	buf_addc(out, open);
	for (size_t i = 0; i < text.n; i++)
		buf_addc(out, text.p[i] ? text.p[i] : '?');
	buf_addc(out, close);
}

/* The commands of a text as "<word><word> <word>", an unknown part as ?. */
static void render(struct str text, const char *only, char between, struct buf *out)
{
	AUTO_ARENA a = { .max = LIMIT_POLICY_MEMORY };
	struct shell_script script;
	struct err e = { ERR_NONE };

	if (shell_read(text, 0, &a, &script, &e) < 0)
		fail_msg("<%.*s>: %s", STR_FMT(text), e.msg);
	for (const struct shell_command *c = script.first; c; c = c->next) {
		if (only && !str_eq(c->words[0].text, str_of(only)))
			continue;
		for (size_t i = only ? 1 : 0; i < c->n; i++)
			show(c->words[i].text, '<', '>', out);
		if (c->input && !only)
			show(*c->input, '[', ']', out);
		buf_addc(out, between);
	}
}

static void texts_become_commands(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "a b  c", "<a><b><c> " },
		{ "a;b&&c||d&e\nf", "<a> <b> <c> <d> <e> <f> " },
		{ "a | b |& c", "<a> <b> <c> " },
		{ "a $x\"$y\"z", "<a><??z> " },
		{ "a $(b c)d", "<b><c> <a><?d> " },
		{ "a \"x`b`\"", "<b> <a><x?> " },
		{ "A=1 B[2]=3 C+=4 a", "<a> " },
		{ "A=1", "" },
		{ "a A=1", "<a><A=1> " },
		{ "a >b 2>&1 <c c", "<a><c> " },
		{ "a 2 >b 2x>c", "<a><2><2x> " },
		{ "a <<E b\nx $y\nE\nc", "<a><b>[x ?\n] <c> " },
		{ "a <<'E'\nx $y\nE", "<a>[x $y\n] " },
		{ "a <<-E\n\t\tx\n\tE", "<a>[x\n] " },
		{ "a <<<\"x y\"", "<a>[x y] " },
		{ "a <<A <<B\n1\nA\n2\nB", "<a>[2\n] " },
		{ "a $HOME/b ${HOME}c", "<a><~/b><~c> " },
		{ "if a; then b; fi", "<a> <b> " },
		{ "for x in b c; do a; done", "<a> " },
		{ "case b in c) a;; (d|e) f; esac", "<a> <f> " },
		{ "f() { a; }; function g { b; }", "<a> <b> " },
		{ "(a; (b))", "<a> <b> " },
		{ "((a << 2)); $((b)) c", "<?><c> " },
		{ "[[ a && b ]] && c", "<c> " },
		{ "x=(a b) c", "<c> " },
		{ "a {b} {} {b,'c,d'} \\{b,c}", "<a><{b}><{}><{b,c,d}><{b,c}> " },
		{ "a 'b", "<a><b> " },
		{ "a )b", "<a> <b> " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF got = { .max = 4096 };
		const struct str text = guarded(str_of(cases[i].text));
		render(text, NULL, ' ', &got);
		guarded_free(text);
		if (!str_eq(buf_str(&got), str_of(cases[i].want)))
			fail_msg("<%s>: got %.*s, want %s", cases[i].text, STR_FMT(buf_str(&got)),
				 cases[i].want);
	}
}

/* What bash hands to `p` in a text of harmless commands. */
static void ask_bash(const char *text, struct buf *out)
{
	AUTO_BUF script = { .max = 8192 };
	int fds[2];
	int status;

	buf_add(&script, STR("p() { [ $# = 0 ] || printf '<%s>' \"$@\"; echo; } >&9\n"));
	buf_add(&script, str_of(text));
	buf_addc(&script, '\0');
	assert_int_equal(pipe(fds), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], 9);
		close(fds[0]);
		execl("/bin/bash", "bash", "-c", script.p, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	for (;;) {
		char *room = buf_room(out, 512);
		const ssize_t n = room ? read(fds[0], room, 512) : 0;
		if (n <= 0)
			break;
		buf_filled(out, (size_t)n);
	}
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void words_are_those_of_bash(void **state)
{
	static const char *const texts[] = {
		"p a 'b c' \"d e\" f\\ g",
		"p 'it'\\''s' \"a\\\"b\\\\c\\d\" 'a\\b'",
		"p $'a\\tb\\n\\x41\\101\\u00e9\\'\\\"\\\\\\e\\q\\cA'",
		"p $\"a\" a\\\nb \"a\\\nb\" 'a\\\nb'",
		"p a#b # c\np d#",
		"p {} {a} a,b '{a,b}' \\{a,b} {a\\,b}",
		"p $ $% \"$\" \"$ \" a$",
		"p \\a\\$\\`\\\\ \"\\a\\$\\`\\\\\"",
		"p '' \"\" ''a",
		"p a>/dev/null; p b 2>/dev/null c; p d >&1; p e >|/dev/null; p 2>&1 f",
		"if p a; then p b; fi; for x in 1; do p c; done; { p d; }; ( p e )",
		"case a in b) ;; a) p a;; esac; case a in (a|b) p c; esac",
		"p a <<E; p b\n$x \"'\nE\np c",
		"p <<'A B' x\np no\nA B\np y",
		"p <<-E a\n\tp no\n\tE\np b",
		"p <<E\\\nF\np no\nEF\np a",
		"A=1 p a; B=(1 2 # )\n3) ; p b; c[1 << 1]=2; p c",
		"! p a; { time -p p b; } 2>/dev/null; p c && p d || :",
		"[[ a == a && b < c ]] && p a; [[ x =~ ^(x|y)$ ]]; p b",
		"((1 << 2)); p a $'(' ')' \\; '&&'; ((1)); p b",
		"f() { p a; }; f; function g { p b; }; g; function h () { p c; }; h",
		"p a;:|p b;p c&wait;p d",
		"p 1 2>/dev/null>/dev/stdout; {v}>/dev/null p a; p {v} >/dev/null; p b",
		"\\p a; 'p' b; \"p\" c; p\\\n d",
		"p a\\\n  b\n\\\np c",
		"p ~a '~' a~ \"~\"x",
		"p -- - -a=b a=b a[1] [a] *nothing? !",
		"p \"a\nb\" 'c\nd'\np e",
	};

	(void)state;
	if (access("/bin/bash", X_OK) != 0)
		skip_because("no /bin/bash to compare with");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_BUF want = { .max = 8192 };
		AUTO_BUF got = { .max = 8192 };
		ask_bash(texts[i], &want);
		render(str_of(texts[i]), "p", '\n', &got);
		if (!str_eq(buf_str(&got), buf_str(&want)))
			fail_msg("<%s>\ngot\n%.*s\nbash\n%.*s", texts[i], STR_FMT(buf_str(&got)),
				 STR_FMT(buf_str(&want)));
	}
}

static void what_cannot_be_followed_is_reported(void **state)
{
	static const char *const texts[] = {
		"x=$(cat <<E)\na\nE\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_ARENA a = { .max = LIMIT_POLICY_MEMORY };
		struct shell_script script;
		struct err e = { ERR_NONE };
		assert_int_equal(shell_read(str_of(texts[i]), 0, &a, &script, &e), -1);
		assert_int_equal(e.code, ERR_COMMAND_BLOCKED);
		assert_non_null(strstr(e.msg, "cannot be judged because"));
	}
	/* The same happens if there is too little memory. */
	AUTO_ARENA small = { .max = 64 };
	struct shell_script script;
	struct err e = { ERR_NONE };
	assert_int_equal(shell_read(STR("a 'b' c; d"), 0, &small, &script, &e), -1);
	assert_int_equal(e.code, ERR_COMMAND_BLOCKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_commands),
		cmocka_unit_test(words_are_those_of_bash),
		cmocka_unit_test(what_cannot_be_followed_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
