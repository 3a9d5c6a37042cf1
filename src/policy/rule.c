/* SPDX-License-Identifier: MIT */
/* rule: the default list, how a rule is read, and how it is matched with a command. */

#include "policy/shell_command.h"

#include "base/own.h"
#include "policy/shell.h"

#define PRIVILEGE "privilege escalation"
#define POWER	  "stopping the machine"
#define NETWORK	  "network access"
#define SERVING	  "serving files over the network"
#define BY_NAME	  "ending processes by name"
#define RULE(command, args, why, instead)                                                          \
	{                                                                                          \
		.name = STR(command), .arguments = STR(args), .reason = STR(why),                  \
		.advice = STR(instead)                                                             \
	}

#define NO_PRIVILEGE "Run it without: commands keep the rights the sidecar has."
#define NO_POWER     "The machine is not the workspace's to stop."
#define NO_NETWORK   "Work with what is in the workspace, or ask for the file."
#define ONLY_LOOPBACK                                                                              \
	"Work with what is in the workspace, or ask for the file. http://localhost and other "     \
	"loopback URLs pass if they are written out, without proxies and expansions."
#define BIND_LOOPBACK "Add --bind 127.0.0.1."
#define NO_DISK	      "Work with files in the workspace."
#define ONE_BY_ONE    "End a background command with job_stop, or kill a process by its number."
#define OWN_PATHS     "Name paths inside the workspace, best relative to it."

/* The first target: after -SIGNAL, -s SIGNAL or -n NUMBER, and --. A -1 that nothing follows is a
 * target. c->n if nothing is signalled. */
static size_t first_target(const struct shell_command *c)
{
	size_t i = 1;

	if (i < c->n && c->words[i].text.n > 1 && c->words[i].text.p[0] == '-' &&
	    !str_eq(c->words[i].text, STR("--"))) {
		const struct str option = c->words[i].text;
		if (option.p[1] == 'l' || option.p[1] == 'L' || str_eq(option, STR("--list")) ||
		    str_eq(option, STR("--table")))
			return c->n;
		if (c->n == 2)
			return 1;
		i += str_eq(option, STR("-s")) || str_eq(option, STR("-n")) ||
				     str_eq(option, STR("--signal"))
			     ? 2
			     : 1;
	}
	if (i < c->n && str_eq(c->words[i].text, STR("--")))
		i++;
	return i;
}

/* 0 or -1, with signs and zeros before it. */
static bool is_broad(struct str text)
{
	size_t i = 0;
	const bool minus = text.n && text.p[0] == '-';

	i += text.n && (text.p[0] == '-' || text.p[0] == '+');
	if (i == text.n)
		return false;
	while (i < text.n && text.p[i] == '0')
		i++;
	return i == text.n || (minus && i + 1 == text.n && text.p[i] == '1');
}

/* A kill whose target is 0 or -1, in any spelling: its own group, or everything. */
static bool kill_is_broad(const struct shell_command *c)
{
	for (size_t i = first_target(c); i < c->n; i++)
		if (is_broad(c->words[i].text))
			return true;
	return false;
}

/* A kill whose targets are not in the text; `grows`: words are added to it when it runs. */
static bool kill_is_blind(const struct shell_command *c, bool grows)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->words[i].flags & SHELL_UNKNOWN)
			return true;
	return grows;
}

/* Does a kill signal processes that it has not named one by one? Where commands see the processes
 * of others, "all node processes" includes the client of the sidecar itself, and kill -1 means
 * everything that the user runs. */
static bool signals_all(const struct shell_command *c, const struct rule_scene *s)
{
	return kill_is_broad(c) || (s->looked_up && kill_is_blind(c, s->grows));
}

static const struct rule defaults[] = {
	RULE("sudo|su|doas", "", PRIVILEGE, NO_PRIVILEGE),
	RULE("rm", "-r|-R|--recursive -f|--force @outside", "forced removal outside the workspace",
	     OWN_PATHS),
	{ .name = STR("shutdown|reboot|halt|poweroff"),
	  .reason = STR(POWER),
	  .advice = STR(NO_POWER),
	  .h_acts = true },
	RULE("mount|umount|chroot", "", "changing what the machine has mounted",
	     "What is mounted is in /proc/self/mounts."),
	RULE("mkfs*", "", "formatting a disk", NO_DISK),
	{ .name = STR("format"),
	  .reason = STR("formatting a disk"),
	  .advice = STR(NO_DISK),
	  .bare = true },
	RULE("dd", "", "raw copying", "Use cp, head -c or truncate on files in the workspace."),
	RULE("chmod",
	     "777|[01234567]777|0[01234567]777|a[+=]rwx|ugo[+=]rwx|[+=]rwx|u[+=]rwx,g[+=]rwx,o[+=]"
	     "rwx "
	     "@outside",
	     "opening paths outside the workspace to everyone", OWN_PATHS),
	{ .name = STR("curl|wget"),
	  .reason = STR(NETWORK),
	  .advice = STR(ONLY_LOOPBACK),
	  .unless = loopback_fetches },
	RULE("nc|netcat|ncat", "", NETWORK, NO_NETWORK),
	{ .name = STR("python*|pypy*"),
	  .arguments = STR("-m http.server"),
	  .reason = STR(SERVING),
	  .advice = STR(BIND_LOOPBACK),
	  .unless = loopback_serves },
	{ .name = STR("python*|pypy*"),
	  .arguments = STR("-*mhttp.server"),
	  .reason = STR(SERVING),
	  .advice = STR(BIND_LOOPBACK),
	  .unless = loopback_serves },
	RULE("node|nodejs", "--inspect*", "opening a debugger port", "Run node without it."),
	{ .name = STR("pkill|killall|killall5|skill"),
	  .reason = STR(BY_NAME),
	  .advice = STR(ONE_BY_ONE),
	  .shared = true },
	{ .name = STR("fuser"),
	  .arguments = STR("-k|--kill"),
	  .reason = STR(BY_NAME),
	  .advice = STR(ONE_BY_ONE),
	  .shared = true },
	{ .name = STR("kill"),
	  .reason = STR("signalling processes that were not started here"),
	  .advice = STR(ONE_BY_ONE),
	  .shared = true,
	  .when = signals_all },
};

const struct rule *rule_defaults(size_t *n)
{
	*n = ARRAY_LEN(defaults);
	return defaults;
}

/* Does one byte match the first item of the pattern, which is not *? *n is the item's length. */
static bool match_item(struct str pattern, char c, size_t *n)
{
	const ptrdiff_t close = pattern.p[0] == '[' ? str_index(pattern, ']') : -1;

	*n = close > 0 ? (size_t)close + 1 : 1;
	if (close > 0)
		return memchr(pattern.p + 1, c, (size_t)close - 1) != NULL;
	return pattern.p[0] == '?' || pattern.p[0] == c;
}

/* Only the last * can need another try, so the time is the product of the lengths. */
static bool glob(struct str pattern, struct str text)
{
	struct str star = { NULL, 0 };
	size_t from = 0, i = 0, n;

	for (;;) {
		if (pattern.n && pattern.p[0] == '*') {
			pattern = star = str_from(pattern, 1);
			from = i;
		} else if (pattern.n && i < text.n && match_item(pattern, text.p[i], &n)) {
			pattern = str_from(pattern, n);
			i++;
		} else if (!pattern.n && i == text.n) {
			return true;
		} else if (star.p && from < text.n) {
			pattern = star;
			i = ++from;
		} else {
			return false;
		}
	}
}

static struct str glob_any(struct str patterns, struct str text)
{
	struct str one;

	do {
		(void)str_cut(patterns, '|', &one, &patterns);
		if (glob(one, text))
			return one;
	} while (patterns.n);
	return (struct str){ NULL, 0 };
}

struct str rule_name(const struct rule *r, struct str command)
{
	return glob_any(r->name, command);
}

/* The component of a path with that number, or "". */
static struct str component(struct str path, size_t number)
{
	struct str part;

	while (path.n) {
		(void)str_cut(path, '/', &part, &path);
		if (part.n && number-- == 0)
			return part;
	}
	return STR("");
}

/* Is the absolute path, its .. and . resolved by name alone, root or below it? The first `same` of
 * its `depth` components are those of root. */
static bool is_inside(struct str root, struct str path)
{
	size_t depth = 0, same = 0;
	struct str part;

	while (path.n) {
		(void)str_cut(path, '/', &part, &path);
		if (!part.n || str_eq(part, STR(".")))
			continue;
		if (str_eq(part, STR(".."))) {
			depth -= depth > 0;
			same = same < depth ? same : depth;
			continue;
		}
		if (same == depth && str_eq(part, component(root, depth)))
			same++;
		depth++;
	}
	return component(root, same).n == 0;
}

/* Neither in the workspace nor in what commands may write besides. */
static bool is_outside(struct str text, const struct rule_scene *s)
{
	struct str rest = s->writable, dir;

	if (text.n && text.p[0] == '~')
		return true;
	if (!text.n || text.p[0] != '/' || is_inside(s->root, text))
		return false;
	while (rest.n) {
		(void)str_cut(rest, ':', &dir, &rest);
		if (dir.n && is_inside(dir, text))
			return false;
	}
	return true;
}

/* Does a written option match -x or --long? */
static bool match_option(struct str option, struct str text)
{
	struct str name, value;

	if (!str_starts(text, STR("-")))
		return false;
	if (!str_starts(option, STR("--")))
		return text.n > 1 && text.p[1] != '-' && str_index(text, option.p[1]) > 0;
	(void)str_cut(text, '=', &name, &value);
	return name.n > STR("--").n && str_starts(option, name);
}

/* Does one argument match one pattern? */
static bool match_argument(struct str pattern, struct str text, bool options,
			   const struct rule_scene *s)
{
	const bool plain = !memchr(pattern.p, '*', pattern.n) && !memchr(pattern.p, '?', pattern.n);

	if (str_eq(pattern, STR("@outside")))
		return is_outside(text, s);
	if (pattern.p[0] != '-' || pattern.n < 2)
		return glob(pattern, text);
	if (!options)
		return false;
	if (plain && (pattern.n == 2 || pattern.p[1] == '-'))
		return match_option(pattern, text);
	return glob(pattern, text);
}

/* Is there an argument that matches one of the patterns a|b? */
static bool find_argument(struct str patterns, const struct shell_command *c,
			  const struct rule_scene *s)
{
	bool options = true;

	for (size_t i = 1; i < c->n; i++) {
		struct str one, rest = patterns;
		while (rest.n) {
			(void)str_cut(rest, '|', &one, &rest);
			if (one.n && match_argument(one, c->words[i].text, options, s))
				return true;
		}
		options &= !str_eq(c->words[i].text, STR("--"));
	}
	return false;
}

static bool rule_matches(const struct rule *r, const struct shell_command *c,
			 const struct rule_scene *s)
{
	const struct str written = c->words[0].text;
	const struct str name = shell_basename(written);
	struct str rest = r->arguments, patterns;

	if (!name.n || !rule_name(r, name).p)
		return false;
	if (r->bare && name.n < written.n && written.p[0] != '/')
		return false;
	while (rest.n) {
		(void)str_cut(rest, ' ', &patterns, &rest);
		if (patterns.n && !find_argument(patterns, c, s))
			return false;
	}
	return true;
}

/* PROGRAM --version and the like, of a program that is refused whatever its arguments are. */
static bool asks_for_help(const struct rule *r, const struct shell_command *c)
{
	return !r->arguments.n && c->n == 2 &&
	       str_is_listed(r->h_acts ? "--version --help -V" : "--version --help -V -h",
			     c->words[1].text);
}

bool rule_refuses(const struct rule *r, const struct shell_command *c, const struct rule_scene *s)
{
	if ((r->shared && !s->shared) || !rule_matches(r, c, s))
		return false;
	if (r->when && !r->when(c, s))
		return false;
	if (!s->grows && asks_for_help(r, c))
		return false;
	return !r->unless || s->unsure || s->grows || !r->unless(c);
}

static int check_arguments(struct str arguments, struct err *e)
{
	struct str patterns, one;

	while (arguments.n) {
		(void)str_cut(arguments, ' ', &patterns, &arguments);
		while (patterns.n) {
			(void)str_cut(patterns, '|', &one, &patterns);
			if (str_starts(one, STR("@")) && !str_eq(one, STR("@outside")))
				return err_set(e, ERR_INVALID_ARGUMENTS,
					       "Command rule: unknown word \"%.*s\"; there is "
					       "only @outside.",
					       STR_FMT(one));
		}
	}
	return 0;
}

int rule_parse(struct str line, struct rule *ret, struct err *e)
{
	struct rule r = { .bare = false };
	const ptrdiff_t comment = str_find(line, STR(" #"));
	const struct str pattern = str_trim(comment < 0 ? line : str_upto(line, (size_t)comment));

	(void)str_cut(pattern, ' ', &r.name, &r.arguments);
	r.arguments = str_trim(r.arguments);
	if (comment >= 0)
		r.reason = str_trim(str_from(line, (size_t)comment + 2));
	if (!r.reason.n)
		r.reason = pattern;
	if (!r.name.n || r.name.p[0] == '-' || r.name.p[0] == '@')
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Command rule \"%.*s\": it must begin with a command's name.",
			       STR_FMT(pattern));
	if (str_index(r.name, '/') >= 0)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Command rule \"%.*s\": give the name without its directory.",
			       STR_FMT(pattern));
	if (check_arguments(r.arguments, e) < 0)
		return -1;
	*ret = r;
	return 0;
}
