/* SPDX-License-Identifier: MIT */
/* policy: compare every command that a text would run with the rules. */

#include "policy/policy.h"

#include "base/arena.h"
#include "policy/limits.h"
#include "policy/shell.h"

struct policy {
	enum policy_mode mode;
	bool shared_processes;
	struct str root, writable;
	struct rule *rules;
	size_t n;
	struct arena arena; /* what the rules point into */
};

/* One text or command that is being judged, and where it was found. */
struct judging {
	const struct policy *policy;
	struct arena *arena;
	unsigned depth;
	struct rule_scene scene;
};

static int judge_text(const struct judging *j, struct str text, struct err *e);

static int add_rule(struct policy *p, const struct rule *r, struct err *e)
{
	struct rule *grown = mem_resize(p->rules, p->n + 1, sizeof *grown);

	if (!grown)
		return err_set(e, ERR_EXECUTION_ERROR, "Out of memory for command rules.");
	p->rules = grown;
	p->rules[p->n++] = *r;
	return 0;
}

/* Is the name one of the alternatives a|b? */
static bool names(struct str alternatives, struct str name)
{
	struct str one;

	while (alternatives.n) {
		(void)str_cut(alternatives, '|', &one, &alternatives);
		if (str_eq(one, name))
			return true;
	}
	return false;
}

/* A rule for several names loses one of them. */
static int remove_name(struct policy *p, struct rule *r, struct str name, struct err *e)
{
	char *kept = arena_alloc(&p->arena, r->name.n);
	struct str rest = r->name, one;
	size_t n = 0;

	if (!kept)
		return err_set(e, ERR_EXECUTION_ERROR, "Out of memory for command rules.");
	while (rest.n) {
		(void)str_cut(rest, '|', &one, &rest);
		if (str_eq(one, name))
			continue;
		if (n)
			kept[n++] = '|';
		memcpy(kept + n, one.p, one.n);
		n += one.n;
	}
	r->name = (struct str){ kept, n };
	return 0;
}

static int remove_rules(struct policy *p, struct str name, struct err *e)
{
	size_t kept = 0;
	bool found = false;

	if (str_eq(name, STR("*"))) {
		p->n = 0;
		return 0;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct rule r = p->rules[i];
		if (names(r.name, name)) {
			found = true;
			if (remove_name(p, &r, name, e) < 0)
				return -1;
		}
		if (r.name.n)
			p->rules[kept++] = r;
	}
	p->n = kept;
	if (!found)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Command rule \"!%.*s\": there is no rule for this name.",
			       STR_FMT(name));
	return 0;
}

static int add_line(struct policy *p, struct str line, struct err *e)
{
	struct rule r;

	if (!line.n || line.p[0] == '#')
		return 0;
	if (line.p[0] == '!')
		return remove_rules(p, str_trim(str_from(line, 1)), e);
	if (rule_parse(line, &r, e) < 0)
		return -1;
	return add_rule(p, &r, e);
}

static int fill(struct policy *p, const struct policy_options *o, struct err *e)
{
	size_t n;
	const struct rule *defaults = rule_defaults(&n);
	struct str text = arena_dup(&p->arena, o->rules);
	struct str line, part;

	p->root = arena_dup(&p->arena, o->root);
	p->writable = arena_dup(&p->arena, o->writable);
	if (p->arena.failed)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The command rules are too long.");
	for (size_t i = 0; i < n; i++) {
		if (add_rule(p, &defaults[i], e) < 0)
			return -1;
	}
	while (text.n) {
		(void)str_cut(text, '\n', &line, &text);
		while (line.n) {
			(void)str_cut(line, ';', &part, &line);
			if (add_line(p, str_trim(part), e) < 0)
				return -1;
		}
	}
	return 0;
}

struct policy *policy_new(const struct policy_options *o, struct err *e)
{
	struct policy *p = mem_new(1, sizeof *p);

	if (!p) {
		err_set(e, ERR_EXECUTION_ERROR, "Out of memory for command rules.");
		return NULL;
	}
	p->mode = o->mode;
	p->shared_processes = o->shared_processes;
	p->arena.max = LIMIT_POLICY_RULES;
	if (fill(p, o, e) < 0) {
		policy_free(p);
		return NULL;
	}
	return p;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	arena_done(&p->arena);
	mem_free(p->rules);
	mem_free(p);
}

/* The words in messages are names; the beginning of a longer one is enough to recognise it. */
static struct str brief(struct str word)
{
	return str_upto(word, 80);
}

static int refuse(const struct rule *r, struct str word, struct err *e)
{
	const struct str name = rule_name(r, word);

	word = brief(word);
	(void)err_set(e, ERR_COMMAND_BLOCKED, "Command blocked: \"%.*s\" (rule: %.*s).",
		      STR_FMT(word), STR_FMT(r->reason));
	return err_advise(e, "%.*s%sThe operator can allow it: --command-rules '!%.*s'.",
			  STR_FMT(r->advice), r->advice.n ? " " : "", STR_FMT(name));
}

static int judge_command(const struct judging *j, const struct shell_command *c, struct err *e)
{
	const struct policy *p = j->policy;

	for (size_t i = 0; i < p->n; i++) {
		if (rule_refuses(&p->rules[i], c, &j->scene))
			return refuse(&p->rules[i], shell_basename(c->words[0].text), e);
	}
	if (j->depth >= LIMIT_SHELL_DEPTH) {
		(void)err_set(e, ERR_COMMAND_BLOCKED,
			      "Command blocked: it cannot be judged because it is nested too "
			      "deeply.");
		return err_advise(e, "Write it more simply, or in several steps.");
	}
	for (const struct wrapped *w = wrapper_open(c, j->arena); w; w = w->next) {
		struct judging inner = *j;
		inner.depth++;
		inner.scene.grows |= w->grows;
		const int verdict = w->command.n ? judge_command(&inner, &w->command, e)
						 : judge_text(&inner, w->text, e);
		if (verdict < 0)
			return -1;
	}
	if (j->arena->failed)
		return err_set(e, ERR_COMMAND_BLOCKED,
			       "Command blocked: it cannot be judged because it is too large.");
	return 0;
}

/* Does the command look processes up by their names? */
static bool looks_up(const struct shell_command *c)
{
	const struct str name = shell_basename(c->words[0].text);

	return str_eq(name, STR("pgrep")) || str_eq(name, STR("pidof"));
}

static int judge_text(const struct judging *j, struct str text, struct err *e)
{
	struct judging within = *j;
	struct shell_script script;

	if (shell_read(text, j->depth, j->arena, &script, e) < 0)
		return -1;
	within.scene.unsure |= loopback_is_diverted(text);
	for (const struct shell_command *c = script.first; c; c = c->next)
		within.scene.looked_up |= looks_up(c);
	for (const struct shell_command *c = script.first; c; c = c->next) {
		if (judge_command(&within, c, e) < 0)
			return -1;
	}
	if (j->policy->mode != POLICY_STRICT || !script.chain.n)
		return 0;
	(void)err_set(e, ERR_COMMAND_BLOCKED,
		      "Command blocked: \"%.*s\" (rule: one command at a time).",
		      STR_FMT(brief(script.chain)));
	return err_advise(e, "Run the commands one by one; redirections are allowed.");
}

static struct judging begin(const struct policy *p, bool diverted, struct arena *a)
{
	return (struct judging){
		.policy = p,
		.arena = a,
		.scene = { .root = p->root,
			   .writable = p->writable,
			   .shared = p->shared_processes,
			   .unsure = diverted },
	};
}

int policy_check(const struct policy *p, struct str command, bool diverted, struct err *e)
{
	AUTO_ARENA a = { .max = LIMIT_POLICY_MEMORY };
	const struct judging j = begin(p, diverted, &a);

	if (p->mode == POLICY_OFF)
		return 0;
	return judge_text(&j, command, e);
}

int policy_check_argv(const struct policy *p, const struct str *argv, size_t n, bool diverted,
		      struct err *e)
{
	AUTO_ARENA a = { .max = LIMIT_POLICY_MEMORY };
	struct judging j = begin(p, diverted, &a);
	struct shell_command c = { .n = n };

	if (p->mode == POLICY_OFF || !n)
		return 0;
	c.words = arena_array(&a, n, sizeof *c.words);
	if (!c.words)
		return err_set(e, ERR_COMMAND_BLOCKED,
			       "Command blocked: it cannot be judged because it is too large.");
	for (size_t i = 0; i < n; i++) {
		c.words[i] = (struct shell_word){ argv[i], SHELL_QUOTED };
		j.scene.unsure |= loopback_is_diverted(argv[i]);
	}
	return judge_command(&j, &c, e);
}

bool policy_diverts(struct str variable)
{
	return loopback_is_diverted(variable);
}
