/* SPDX-License-Identifier: MIT */
/* setup: `sidecar setup`: write an agent's configuration so that it uses the sidecar, and with
 * --only nothing else. Plan all files, show the change, ask, write a record, then the files. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "base/limits.h"
#include "base/own.h"
#include "cli/cli.h"
#include "setup/change.h"
#include "setup/limits.h"
#include "setup/place.h"
#include "setup/uninstall.h"
#include "workspace/diff.h"

struct setup_args {
	bool only, user, yes, dry_run, undo, list, check, print;
};

static const struct option setup_options[] = {
	{ "only", 0, OPTION_SWITCH, offsetof(struct setup_args, only), NULL,
	  "leave the agent no other way to files and shell" },
	{ "user", 0, OPTION_SWITCH, offsetof(struct setup_args, user), NULL,
	  "for all projects of this user, not only the one in this directory" },
	{ "yes", 'y', OPTION_SWITCH, offsetof(struct setup_args, yes), NULL, "do not ask" },
	{ "dry-run", 'n', OPTION_SWITCH, offsetof(struct setup_args, dry_run), NULL,
	  "show what would change" },
	{ "undo", 0, OPTION_SWITCH, offsetof(struct setup_args, undo), NULL,
	  "take back what setup has changed here, or with --user for the user" },
	{ "check", 0, OPTION_SWITCH, offsetof(struct setup_args, check), NULL,
	  "say whether the agent has a way around the sidecar; then the exit status is 1" },
	{ "print", 0, OPTION_SWITCH, offsetof(struct setup_args, print), NULL,
	  "print what to put where; without an agent: for any MCP client" },
	{ "list", 0, OPTION_SWITCH, offsetof(struct setup_args, list), NULL,
	  "list the agents: installed, connected, held" },
	OPTION_END,
};

/* A file before and after. */
struct planned {
	char path[PATH_MAX];
	char made[PATH_MAX]; /* the first directory that setup makes for it, or has made; or "" */
	struct place_content before, after;
};

struct work_on_setup {
	struct cli *cli;
	const struct setup_args *args;
	const struct agent *agent;
	struct change_names names;
	struct planned file[RECORD_FILES];
	size_t count;
	struct arena memory;
};

static void work_done(struct work_on_setup *w)
{
	for (size_t i = 0; i < w->count; i++) {
		place_content_done(&w->file[i].before);
		place_content_done(&w->file[i].after);
	}
	arena_done(&w->memory);
}

static int failed(const struct work_on_setup *w, const struct err *e)
{
	cli_say(w->cli, "%s; nothing was changed", e->msg);
	return EXIT_FAILED;
}

static bool is_changed(const struct planned *p)
{
	return p->before.exists != p->after.exists ||
	       !str_eq(buf_str(&p->before.bytes), buf_str(&p->after.bytes));
}

/* The plan of the file of that path: a new one, unless two entries of the table mean one file. */
static struct planned *plan_file(struct work_on_setup *w, const char *path, struct err *e)
{
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->file[i].path, path) == 0)
			return &w->file[i];
	struct planned *p = &w->file[w->count++];
	(void)snprintf(p->path, sizeof p->path, "%s", path);
	place_first_missing(path, p->made);
	if (!w->args->print && place_read(path, &p->before, e) < 0)
		return NULL;
	p->after.exists = p->before.exists;
	p->after.bytes.max = LIMIT_SETUP_FILE;
	buf_add(&p->after.bytes, buf_str(&p->before.bytes));
	return p;
}

static int name_file(const struct planned *p, struct err *e)
{
	const struct err inner = *e;

	return err_set(e, inner.code, "%s: %s", p->path, inner.msg);
}

static int disable_servers(struct work_on_setup *w, struct planned *p, struct err *e)
{
	struct agent_row row;

	for (size_t i = 0; change_other_server(buf_str(&p->after.bytes), i, &w->memory, &row); i++)
		if (change_apply(&row, CONF_TOML, &w->names, &p->after.bytes, e) < 0)
			return name_file(p, e);
	return 0;
}

static int plan(struct work_on_setup *w, struct err *e)
{
	for (const struct agent_row *row = w->agent->rows; row->value; row++) {
		const struct agent_file *f = &w->agent->file[row->file];
		char path[PATH_MAX];
		if (((row->flags & ROW_HOLDS) && !w->args->only) ||
		    ((row->flags & ROW_PROJECT) && w->args->user) || row->kind == ROW_NEVER)
			continue;
		if (place_of(f, w->args->user, w->names.project, path, e) < 0)
			return -1;
		struct planned *p = plan_file(w, path, e);
		if (!p || check_text(f, path, buf_str(&p->before.bytes), e) < 0)
			return -1;
		p->after.exists = true;
		if (change_apply(row, f->form, &w->names, &p->after.bytes, e) < 0)
			return name_file(p, e);
	}
	if (w->args->only && w->agent->disables_servers)
		return disable_servers(w, &w->file[0], e);
	return 0;
}

/* Print what changes in a file as `diff -u` does. */
static int show(struct work_on_setup *w, const struct planned *p, struct err *e)
{
	AUTO_BUF diff = { .max = LIMIT_ANSWER };
	AUTO_BUF shown = { .max = SIZE_MAX };

	buf_addf(&shown, "--- %s\n", p->before.exists ? p->path : "/dev/null");
	buf_addf(&shown, "+++ %s\n", p->after.exists ? p->path : "/dev/null");
	if (diff_unified(buf_str(&p->before.bytes), buf_str(&p->after.bytes), &w->memory, &diff,
			 e) < 0)
		return -1;
	cli_add_text(&shown, buf_str(&diff));
	cli_print(buf_str(&shown));
	return 0;
}

/* Show what changes. Whether that is to be done; if not, *status is the program's: without a
 * terminal nothing can be asked. */
static bool is_agreed(struct work_on_setup *w, int *status)
{
	struct err e;

	*status = EXIT_FAILED;
	for (size_t i = 0; i < w->count; i++) {
		if (!is_changed(&w->file[i]) || show(w, &w->file[i], &e) == 0)
			continue;
		(void)failed(w, &e);
		return false;
	}
	if (w->args->dry_run) {
		cli_say(w->cli, "nothing was changed (--dry-run)");
		*status = EXIT_OK;
		return false;
	}
	if (w->args->yes || cli_agrees(w->cli, "Write this?", "nothing was changed: say --yes"))
		return true;
	if (isatty(STDIN_FILENO))
		cli_say(w->cli, "nothing was changed");
	return false;
}

/* Change the files; if one cannot be, put back those before it. */
static int write_files(struct work_on_setup *w, struct err *e)
{
	for (size_t i = 0; i < w->count; i++) {
		struct planned *p = &w->file[i];
		if (!is_changed(p) || place_change(p->path, &p->before, &p->after, p->made, e) == 0)
			continue;
		(void)name_file(p, e);
		while (i-- > 0) {
			struct err why;
			p = &w->file[i];
			if (is_changed(p) &&
			    place_change(p->path, &p->after, &p->before, p->made, &why) < 0)
				cli_say(w->cli, "%s could not be put back: %s", p->path, why.msg);
		}
		return -1;
	}
	return 0;
}

/* Add the files of the plan to the record. What was there before the first setup stays in it; if
 * the file has been edited since, it can no longer be put back byte for byte. */
static int note(struct work_on_setup *w, struct setup_record *r, struct err *e)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct planned *p = &w->file[i];
		struct record_file *f = record_find(r, p->path);
		const bool edited = f && !record_matches(f, buf_str(&p->before.bytes));
		if (!is_changed(p))
			continue;
		if (!f && r->count == RECORD_FILES)
			return err_set(e, ERR_CONFLICT, "%s has another file; undo first", r->path);
		if (!f) {
			f = &r->file[r->count++];
			f->path = str_of(p->path);
			f->existed = p->before.exists;
			f->before = buf_str(&p->before.bytes);
			f->made = str_of(p->made);
		}
		record_hash(buf_str(&p->after.bytes), f->after);
		if (edited)
			f->after[0] = 0;
	}
	return 0;
}

static int load(struct work_on_setup *w, struct setup_record *r, struct err *e)
{
	return record_load(w->agent->name, w->args->user ? NULL : w->names.project, &w->memory, r,
			   e);
}

static int write_plan(struct work_on_setup *w, struct err *e)
{
	struct setup_record r, old;

	if (load(w, &r, e) < 0)
		return -1;
	old = r;
	if (note(w, &r, e) < 0 || record_save(&r, e) < 0)
		return -1;
	if (write_files(w, e) < 0) {
		struct err ignored;
		(void)record_save(&old, &ignored);
		return -1;
	}
	return 0;
}

/* What a person should know after a change, or instead of it. */
static void advise(const struct work_on_setup *w)
{
	const struct agent *a = w->agent;

	for (const struct agent_row *row = a->rows; row->value; row++)
		if ((row->flags & ROW_TRUST) && !w->args->only && !w->args->user)
			cli_say(w->cli, "%s reads it once you trust this project.", a->title);
	if (!w->args->only) {
		cli_say(w->cli, "%s keeps its own shell and file tools%s%s", a->title,
			a->cannot ? ": " : "; --only takes them away", a->cannot ? a->cannot : "");
		return;
	}
	if (a->note)
		cli_say(w->cli, "%s", a->note);
}

/* Print the ways around the sidecar, if there are any. Returns EXIT_OK if there are none. */
static int check(struct work_on_setup *w)
{
	AUTO_BUF reasons = { .max = LIMIT_ANSWER };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct check c = { .reasons = &reasons };
	struct err e;

	if (check_agent(w->agent, &w->names, &c, &e) < 0) {
		cli_say(w->cli, "%s", e.msg);
		return EXIT_FAILED;
	}
	if (!c.ways)
		return EXIT_OK;
	buf_addf(&out, "%s has ways around the sidecar:\n", w->agent->title);
	cli_add_text(&out, buf_str(&reasons));
	if (w->args->only || (!c.settable && !w->agent->cannot))
		buf_addf(&out, "Take them away by hand, and see: sidecar setup %s --check\n",
			 w->agent->name);
	else if (!w->agent->cannot)
		buf_addf(&out, "To take them away: sidecar setup %s --only%s\n", w->agent->name,
			 c.settable < c.ways ? "; and by hand what it leaves" : "");
	cli_print(buf_str(&out));
	return EXIT_FAILED;
}

static int say_check(struct work_on_setup *w)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	const int status = check(w);

	if (status != EXIT_OK)
		return status;
	buf_addf(&out, "%s has no way around the sidecar that its configuration shows.\n%s%s",
		 w->agent->title, w->agent->note ? w->agent->note : "", w->agent->note ? "\n" : "");
	cli_print(buf_str(&out));
	return EXIT_OK;
}

static bool has_line(struct str text, struct str wanted)
{
	struct str line;
	bool has = false;

	while (text.n && !has) {
		(void)str_cut(text, '\n', &line, &text);
		has = str_eq(str_trim(line), wanted);
	}
	return has;
}

/* A project with a file .env probably has secrets in it: ask whether agents are to see them. */
static void offer_hiding(const struct work_on_setup *w)
{
	CLEANUP(place_content_done) struct place_content secrets = { .exists = false };
	CLEANUP(place_content_done) struct place_content before = { .exists = false };
	CLEANUP(place_content_done) struct place_content after = { .exists = true };
	char path[PATH_MAX], env[PATH_MAX];
	struct err e;

	(void)snprintf(path, sizeof path, "%.4000s/.sidecarignore", w->names.project);
	(void)snprintf(env, sizeof env, "%.4000s/.env", w->names.project);
	if (w->args->user || place_read(env, &secrets, &e) < 0 || !secrets.exists ||
	    place_read(path, &before, &e) < 0 || has_line(buf_str(&before.bytes), STR(".env")))
		return;
	if (w->args->yes || !isatty(STDIN_FILENO) ||
	    !cli_agrees(w->cli, "There is a file .env. Hide it from agents?", "")) {
		cli_say(w->cli, "agents can read .env; a line \".env\" in .sidecarignore hides it");
		return;
	}
	after.bytes.max = LIMIT_SETUP_FILE;
	buf_add(&after.bytes, buf_str(&before.bytes));
	if (after.bytes.n && after.bytes.p[after.bytes.n - 1] != '\n')
		buf_addc(&after.bytes, '\n');
	buf_add(&after.bytes, STR(".env\n"));
	env[0] = '\0';
	if (after.bytes.failed || place_change(path, &before, &after, env, &e) < 0)
		cli_say(w->cli, "%s could not be changed", path);
	else
		cli_say(w->cli, ".sidecarignore has the line \".env\" now, for the next start");
}

static int set_up(struct work_on_setup *w)
{
	struct err e;
	bool changes = false;
	int status;

	if (w->args->only && w->agent->cannot) {
		cli_say(w->cli,
			"%s cannot be held: %s. Without --only it can use the sidecar beside them; "
			"to hold it, run it in a container (docs/guide.md). Nothing was changed",
			w->agent->title, w->agent->cannot);
		return EXIT_FAILED;
	}
	if (plan(w, &e) < 0)
		return failed(w, &e);
	for (size_t i = 0; i < w->count; i++)
		changes = changes || is_changed(&w->file[i]);
	if (changes && !is_agreed(w, &status))
		return status;
	if (changes && write_plan(w, &e) < 0)
		return failed(w, &e);
	status = w->args->only ? check(w) : EXIT_OK;
	cli_say(w->cli, "%s is %s; to take it back: sidecar setup %s --undo%s", w->agent->title,
		status != EXIT_OK ? "connected, but not held"
		: changes	  ? "set up"
				  : "set up already",
		w->agent->name, w->args->user ? " --user" : "");
	if (changes)
		advise(w);
	offer_hiding(w);
	return status;
}

/* What to put where, as it would be in files that do not exist yet. */
static int print(struct work_on_setup *w)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct err e;

	if (!w->agent) {
		buf_add(&out,
			STR("Most MCP clients take this, in the file that has their servers:\n\n"
			    "{\n  \"mcpServers\": {\n    \"sidecar\": {\n      \"command\": \""));
		jw_escape(&out, str_of(w->names.program));
		buf_add(&out,
			STR("\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n\n"
			    "The workspace is the directory in which the client starts it; for "
			    "another, add\n\"--workspace\", \"/the/directory\"\n"));
	} else if (plan(w, &e) < 0) {
		return failed(w, &e);
	}
	for (size_t i = 0; i < w->count; i++)
		buf_addf(&out, "%s%s:\n\n%.*s", i ? "\n" : "", w->file[i].path,
			 STR_FMT(buf_str(&w->file[i].after.bytes)));
	cli_print(buf_str(&out));
	return EXIT_OK;
}

/* Take only our part out of a file that has been edited since. */
static int plan_removal(struct work_on_setup *w, const struct record_file *f, struct planned *p,
			struct err *e)
{
	struct agent_row server;
	size_t rows = 0;

	while (w->agent->rows[rows].value)
		rows++;
	while (rows-- > 0) {
		const struct agent_row *row = &w->agent->rows[rows];
		const struct agent_file *file = &w->agent->file[row->file];
		char path[PATH_MAX];
		if (place_of(file, w->args->user, w->names.project, path, e) < 0)
			return -1;
		if (strcmp(path, p->path) == 0 &&
		    change_revert(row, file->form, &w->names, f->before, &p->after.bytes, e) < 0)
			return name_file(p, e);
	}
	for (size_t i = 0;
	     w->agent->disables_servers && change_other_server(f->before, i, &w->memory, &server);
	     i++)
		if (change_revert(&server, CONF_TOML, &w->names, f->before, &p->after.bytes, e) < 0)
			return name_file(p, e);
	cli_say(w->cli, "%s was edited since: only what setup added is taken out", p->path);
	return 0;
}

static int plan_undo(struct work_on_setup *w, struct setup_record *r, struct err *e)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct record_file *f = &r->file[i];
		struct planned *p = plan_file(w, f->path.p, e);
		if (!p)
			return -1;
		const struct str now = buf_str(&p->before.bytes);
		const bool untouched = p->before.exists == f->existed && str_eq(now, f->before);
		if (untouched || !p->before.exists)
			continue; /* interrupted before it was written, or removed by the user */
		if (!record_matches(f, now)) {
			if (plan_removal(w, f, p, e) < 0)
				return -1;
			continue;
		}
		buf_reset(&p->after.bytes, 0);
		buf_add(&p->after.bytes, f->before);
		p->after.exists = f->existed;
		(void)snprintf(p->made, sizeof p->made, "%.*s", STR_FMT(f->made));
	}
	return 0;
}

static int undo(struct work_on_setup *w)
{
	struct setup_record r;
	struct err e;
	int status;

	if (load(w, &r, &e) < 0)
		return failed(w, &e);
	if (!r.count) {
		cli_say(w->cli, "there is nothing to undo: setup has not changed %s %s",
			w->agent->title,
			w->args->user ? "for this user"
				      : "in this directory (--user: for the user)");
		return EXIT_FAILED;
	}
	if (plan_undo(w, &r, &e) < 0)
		return failed(w, &e);
	if (!is_agreed(w, &status))
		return status;
	if (write_files(w, &e) < 0)
		return failed(w, &e);
	r.count = 0;
	if (record_save(&r, &e) < 0) {
		cli_say(w->cli, "%s; run it again", e.msg);
		return EXIT_FAILED;
	}
	cli_say(w->cli, "%s has its old configuration again", w->agent->title);
	return EXIT_OK;
}

static int list(struct work_on_setup *w)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	check_list(&w->names, &out);
	cli_print(buf_str(&out));
	return EXIT_OK;
}

int setup_take_back(struct cli *c, const char *agent, const char *project, bool yes, bool dry_run)
{
	const struct setup_args args = { .user = !project, .yes = yes, .dry_run = dry_run };
	CLEANUP(work_done)
	struct work_on_setup w = { .cli = c,
				   .args = &args,
				   .agent = agent_by_name(agent),
				   .memory = { .max = LIMIT_CLIENT_MEMORY } };
	struct err e;

	if (!w.agent || place_of_program(w.names.self, w.names.program, &e) < 0)
		return EXIT_FAILED;
	(void)snprintf(w.names.project, sizeof w.names.project, "%s", project ? project : "");
	cli_say(c, "%s, set up %s%s", w.agent->title, project ? "in " : "for this user",
		project ? project : "");
	return undo(&w);
}

static int setup_run(struct cli *c, const void *args)
{
	const struct setup_args *a = args;
	CLEANUP(work_done)
	struct work_on_setup w = { .cli = c, .args = a, .memory = { .max = LIMIT_CLIENT_MEMORY } };
	struct err e;

	if (a->list + a->check + a->undo + a->print > 1 ||
	    (a->only && (a->list || a->check || a->undo)))
		return cli_misused(c, "--only, --undo, --check and --list cannot be used together");
	if (a->list && c->argc)
		return cli_misused(c, "--list takes no agent");
	if (!a->list && !a->print && !c->argc)
		return cli_misused(c, "name an agent, or say --list");
	w.agent = c->argc ? agent_by_name(c->argv[0]) : NULL;
	if (c->argc && !w.agent)
		return cli_misused(
			c,
			"\"%s\" is not an agent that setup knows: claude, codex, gemini, "
			"opencode, cursor, vscode or qwen",
			c->argv[0]);
	if (place_of_project(w.names.project, &e) < 0 ||
	    place_of_program(w.names.self, w.names.program, &e) < 0)
		return failed(&w, &e);
	return a->list	  ? list(&w)
	       : a->print ? print(&w)
	       : a->check ? say_check(&w)
	       : a->undo  ? undo(&w)
			  : set_up(&w);
}

const struct verb verb_setup = {
	.name = "setup",
	.about = "connect an agent to the sidecar, and with --only leave it no other way",
	.operands = "[AGENT]",
	.examples =
		"  sidecar setup --list\n"
		"  sidecar setup claude --only       in the project's directory; it asks first\n"
		"  sidecar setup codex --only --user --dry-run\n"
		"  sidecar setup --check claude\n"
		"  sidecar setup claude --undo\n",
	.options = setup_options,
	.args_size = sizeof(struct setup_args),
	.most = 1,
	.words = agent_names,
	.run = setup_run,
};
