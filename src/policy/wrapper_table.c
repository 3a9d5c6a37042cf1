/* SPDX-License-Identifier: MIT */
/* wrapper_table: the rows, and how their options are read. */

#include "policy/wrapper_table.h"

#include "base/own.h"

static const struct wrapper table[] = {
	{ "nohup setsid builtin busybox toybox valgrind", FORM_COMMAND },
	{ "env", .values = "uC", .longs = "unset chdir", .text = 'S', .text_long = "split-string",
	  .assigns = true },
	{ "time", .values = "fo", .longs = "format output" },
	{ "timeout", .values = "sk", .longs = "signal kill-after", .operands = 1 },
	{ "nice", .values = "n", .longs = "adjustment" },
	{ "ionice", .values = "cn", .longs = "class classdata", .query = "pPu" },
	{ "chrt", .values = "TPD", .longs = "sched-runtime sched-period sched-deadline",
	  .query = "mp", .operands = 1 },
	{ "taskset", .query = "p", .operands = 1 },
	{ "stdbuf", .values = "ioe", .longs = "input output error" },
	{ "exec", .values = "a" },
	{ "command", .query = "vV" },
	{ "chroot", .longs = "groups userspec", .operands = 1 },
	{ "unshare", .values = "RwSG", .longs = "root wd setuid setgid" },
	{ "strace", .values = "abeEIoOpPsSuUX", .longs = "output trace attach user" },
	{ "ltrace", .values = "aAeDFlnopsuwx", .longs = "output" },
	{ "sudo", .values = "CDghpRrTtUu", .longs = "user group host prompt chdir chroot",
	  .assigns = true },
	{ "doas", .values = "Cu" },
	{ "xargs", FORM_XARGS, .values = "adEILnPs",
	  .longs = "arg-file delimiter max-args max-procs max-chars process-slot-var" },
	{ "find fd fdfind", FORM_FIND },
	{ "eval", FORM_TEXT },
	{ "watch", FORM_TEXT, .values = "nq", .longs = "interval equexit" },
	{ "flock", .values = "wE", .longs = "timeout wait conflict-exit-code", .text = 'c',
	  .text_long = "command", .operands = 1 },
	{ "script", FORM_OPTION, .values = "BEImoOT", .text = 'c', .text_long = "command" },
	{ "su runuser", FORM_OPTION, .values = "gGsTw", .text = 'c', .text_long = "command" },
	{ "parallel", FORM_PARALLEL, .values = "aCdIjLnNPsS",
	  .longs = "jobs arg-file colsep delimiter max-args max-procs sshlogin joblog results "
		   "timeout delay retries workdir" },
	{ "trap", FORM_ARGUMENT, .query = "lp" },
	{ "sh bash dash zsh ksh mksh ash rbash", FORM_SHELL },
	{ ". source", FORM_SOURCE },
};

/* Asked for every command and every row, so written to be fast. */
bool wrapper_listed(const char *names, struct str name)
{
	const char *from = names;

	if (!names)
		return false;
	for (const char *p = names;; p++) {
		if (*p && *p != ' ')
			continue;
		if ((size_t)(p - from) == name.n && memcmp(from, name.p, name.n) == 0)
			return true;
		if (!*p)
			return false;
		from = p + 1;
	}
}

const struct wrapper *wrapper_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (wrapper_listed(table[i].names, name))
			return &table[i];
	}
	return NULL;
}

static struct option long_option(const struct wrapper *w, struct str name)
{
	struct option opt = { .query = false };
	const bool attached = str_cut(name, '=', &name, &opt.value);

	opt.text = w->text_long && name.n && str_starts(str_of(w->text_long), name);
	opt.next = !attached && (opt.text || wrapper_listed(w->longs, name));
	return opt;
}

static struct option short_options(const struct wrapper *w, struct str letters)
{
	struct option opt = { .query = false };

	for (size_t i = 0; i < letters.n; i++) {
		const char c = letters.p[i];
		if (!c)
			break;
		if (w->query && strchr(w->query, c))
			opt.query = true;
		opt.text = c == w->text;
		if (!opt.text && !(w->values && strchr(w->values, c)))
			continue;
		opt.value = str_from(letters, i + 1);
		opt.next = !opt.value.n;
		break;
	}
	return opt;
}

struct option wrapper_option(const struct wrapper *w, struct str text)
{
	if (str_starts(text, STR("--")))
		return long_option(w, str_from(text, 2));
	return short_options(w, str_from(text, 1));
}
