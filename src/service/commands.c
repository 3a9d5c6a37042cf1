/* SPDX-License-Identifier: MIT */
/* commands: from the configuration to a runner. */

#include "service/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/own.h"
#include "guard/hidden.h"
#include "sandbox/cache.h"
#include "sandbox/canonical.h"
#include "sandbox/landlock.h"
#include "sandbox/scratch.h"
#include "supervise/broker.h"
#include "workspace/pending.h"

enum { LIST_MAX = 32 };

/* A colon-separated list of directories, as an array; `text` keeps the strings. */
struct list {
	char text[4096];
	const char *item[LIST_MAX + PATH_GITS + 2];
	size_t count;
};

static int split(const char *setting, const char *value, struct list *l, struct err *e)
{
	if (!value)
		return 0;
	if (strlen(value) >= sizeof l->text)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s is too long", setting);
	memcpy(l->text, value, strlen(value) + 1);
	for (char *next = l->text, *item; (item = strsep(&next, ":"));) {
		if (!*item)
			continue;
		if (*item != '/' || l->count == LIST_MAX)
			return err_set(
				e, ERR_INVALID_ARGUMENTS,
				"%s must be up to %d absolute paths separated by colons, not "
				"\"%s\"",
				setting, LIST_MAX, value);
		l->item[l->count++] = item;
	}
	return 0;
}

static void add(struct list *l, const char *path)
{
	if (path && *path)
		l->item[l->count++] = path;
}

static struct path_list paths(const struct list *l)
{
	return (struct path_list){ l->item, l->count };
}

/* May the server serve files when commands cannot be run as configured? */
static bool can_do_without(const struct config *c)
{
	return c->program || (c->read_only && (c->best_sandbox || c->sandbox == SANDBOX_AUTO ||
					       c->sandbox == SANDBOX_OFF));
}

/* What commands must not see. */
static void add_hidden(struct list *to, const struct config *c, const char *journal,
		       struct hidden *hidden)
{
	char token[PATH_MAX];
	/* The list of what is hidden from tools, too, is added to this one. */
	const bool listed = hidden && c->token_file && canonical_name(c->token_file, NULL, token) &&
			    hidden_has(hidden, token);

	add(to, c->socket);
	for (size_t i = 0; i < ARRAY_LEN(c->activated); i++)
		add(to, c->activated[i]);
	add(to, listed ? NULL : c->token_file);
	add(to, c->audit);
	add(to, c->audit_key_file);
	add(to, journal);
	for (size_t i = 0; i < ARRAY_LEN(c->files); i++)
		add(to, c->was_read[i] ? c->files[i] : NULL); /* it may contain the token */
}

/* The runner could not be made as it was asked for: one without a sandbox, if nobody asked for that
 * by name; or none, if the server can do without commands. */
static int start_with_less(const struct config *c, struct runner_config *config, struct err *failed,
			   struct runner **ret, struct err *e)
{
	const bool is_open = c->best_sandbox || (c->sandbox == SANDBOX_AUTO && landlock_abi() == 0);
	struct err first = *failed;

	if (is_open && !c->read_only) {
		config->sandbox.mode = SANDBOX_OFF;
		config->sandbox.scratch = NULL;
		if (runner_new(config, ret, failed) == 0) {
			*failed = first;
			return 0;
		}
	}
	*ret = NULL;
	if (can_do_without(c))
		return 0;
	*e = *failed;
	return -1;
}

static void add_git(struct git_dirs *to, struct workspace *ws, const struct gitdir *g)
{
	const bool usable = g->kind == GITDIR_WORKTREE || g->kind == GITDIR_SUBMODULE;
	const char *const pair[] = { g->own, g->common };

	if (!usable || to->count == ARRAY_LEN(to->item) || !ws_add_git(ws, g->common))
		return;
	for (size_t i = 0; i < ARRAY_LEN(pair); i++) {
		(void)snprintf(to->path[to->count], PATH_MAX, "%s", pair[i]);
		to->item[to->count] = to->path[to->count];
		to->count++;
	}
}

void commands_find_git(const struct config *c, struct workspace *ws, struct git_dirs *ret)
{
	struct list write = { .count = 0 };
	char name[PATH_MAX];
	struct gitdir g;
	struct err ignored;

	*ret = (struct git_dirs){ .count = 0 };
	if (!c->git || c->read_only)
		return;
	gitdir_find(ws_rules(ws)->root.p, &ret->workspace);
	add_git(ret, ws, &ret->workspace);
	if (split("SIDECAR_SANDBOX_WRITE", c->sandbox_write, &write, &ignored) < 0)
		return; /* commands_start says so */
	for (size_t i = 0; i < write.count; i++) {
		if (!canonical_name(write.item[i], ws_rules(ws)->root.p, name))
			continue;
		gitdir_find(name, &g);
		add_git(ret, ws, &g);
	}
}

/* What commands keep between sessions: its path, or "", and its lock. A usual place that cannot be
 * used is done without. */
static int open_cache(const struct config *c, const struct workspace *ws, const struct history *h,
		      char path[PATH_MAX], int *held, struct err *e)
{
	const struct str root = ws_rules(ws)->root;
	const bool asked = c->cache && strcmp(c->cache, "auto") != 0;
	char parent[PATH_MAX];
	struct str below;

	*path = '\0';
	if (!config_caches(c, parent))
		return 0;
	if (*parent != '/')
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "SIDECAR_CACHE must be an absolute path, auto or off, not \"%s\"",
			       parent);
	if (!path_within(root, str_of(parent), &below))
		*held = cache_open(parent, root, path, e);
	/* Commands could replace it by a link; and must not write the journal. */
	else if (asked)
		(void)err_set(e, ERR_PATH_NOT_ALLOWED,
			      "SIDECAR_CACHE lies in the workspace: choose another directory");
	if (*held >= 0 && path_within(str_of(path), str_of(h->place), &below)) {
		fd_closep(held);
		return err_set(e, ERR_PATH_NOT_ALLOWED, "The journal lies in SIDECAR_CACHE");
	}
	return *held < 0 && asked ? -1 : 0;
}

/* What the operator has named for commands. */
static int split_all(const struct config *c, struct list *write, struct list *read,
		     struct list *sockets, struct err *e)
{
	return split("SIDECAR_SANDBOX_WRITE", c->sandbox_write, write, e) < 0 ||
			       split("SIDECAR_SANDBOX_READ", c->sandbox_read, read, e) < 0 ||
			       split("SIDECAR_SANDBOX_SOCKETS", c->sandbox_sockets, sockets, e) < 0
		       ? -1
		       : 0;
}

int commands_start(const struct config *c, const struct workspace *ws, const struct history *h,
		   const struct git_dirs *git, struct guard *guard, struct hidden *hidden,
		   struct runner **ret, struct err *refused, struct err *e)
{
	struct list write = { .count = 0 }, read = { .count = 0 }, hide = { .count = 0 };
	struct list sockets = { .count = 0 };
	/* The sandbox gives commands a private /tmp. */
	const bool sandboxed = c->sandbox != SANDBOX_OFF || c->read_only;
	const bool is_open = c->best_sandbox || c->sandbox == SANDBOX_AUTO;
	char scratch[128] = "", cache[PATH_MAX] = "";
	const char *unbrokered;
	struct err failed;

	if (split_all(c, &write, &read, &sockets, e) < 0)
		return -1;
	add(&write, ws_rules(ws)->data.p);
	add_hidden(&hide, c, h->place, hidden);
	for (size_t i = 1; i < git->count; i += 2) /* also below a private directory */
		add(&read, git->item[i]);
	AUTO_FD held = sandboxed ? scratch_new(scratch, sizeof scratch, e) : -1;
	if (sandboxed && held < 0)
		return -1;
	AUTO_FD held_cache = -1;
	if (sandboxed && open_cache(c, ws, h, cache, &held_cache, e) < 0)
		return -1;
	add(&write, cache);
	struct runner_config config = {
		.sandbox = {
			.mode = c->best_sandbox ? SANDBOX_BEST : (enum sandbox_mode)c->sandbox,
			.no_network = c->network == 0,
			.read_only = c->read_only,
			/* What nobody asked for by name may be less than whole. */
			.allow_truncate = c->allow_truncate || (!c->read_only && is_open),
			.workspace = ws_rules(ws)->root.p,
			.scratch = sandboxed ? scratch : NULL,
			.cache = *cache ? cache : NULL,
			.write = paths(&write),
			.read = paths(&read),
			.hide = paths(&hide),
			.sockets = paths(&sockets),
			.git = { git->item, git->count },
		},
		.at_death = pending_fd(ws_pending(ws)),
		.alive = h->journal ? store_writer(journal_store(h->journal)) : -1,
		.max_commands = (size_t)c->max_commands,
		/* What a sandbox refuses is named without a journal, too. */
		.listens = (c->observe != CONFIG_OBSERVE_OFF && (h->journal || sandboxed)) ||
			   (sandboxed && (git->count || guard)),
		.guard = sandboxed ? guard : NULL,
		.hidden = sandboxed ? hidden : NULL,
		.brokers = broker_is_possible(&unbrokered),
		.open_files = c->open_files,
		.program = c->program,
	};
	_Static_assert(sizeof config.sandbox.ports == sizeof c->ports, "all ports");
	memcpy(config.sandbox.ports, c->ports, sizeof c->ports);
	if (runner_new(&config, ret, &failed) == 0)
		return 0;
	scratch_remove(scratch);
	if (start_with_less(c, &config, &failed, ret, e) < 0)
		return -1;
	*refused = failed;
	return 0;
}

/* A link in a directory that commands have one of their own instead of is not there for them. */
static void log_link(const char *setting, const char *path, const char *canonical)
{
	char plain[PATH_MAX];

	if (strlen(path) >= sizeof plain ||
	    !(canonical_is_in(path, "/tmp") || canonical_is_in(path, "/dev/shm")))
		return;
	(void)path_normalise(str_of(path), plain);
	if (strcmp(plain, canonical) != 0)
		log_event(LOG_WARN, "commands know a directory by another name",
			  LOG_STR("setting", str_of(setting)), LOG_STR("path", str_of(path)),
			  LOG_STR("name", str_of(canonical)),
			  LOG_STR("why",
				  STR("the link is in a directory of which they have their own")));
}

void commands_log_left_out(const struct config *c, const struct workspace *ws, bool private_tmp)
{
	const char *const settings[][2] = { { "SIDECAR_SANDBOX_WRITE", c->sandbox_write },
					    { "SIDECAR_SANDBOX_READ", c->sandbox_read } };

	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		struct list l = { .count = 0 };
		char name[PATH_MAX];
		struct err e;
		if (split(settings[i][0], settings[i][1], &l, &e) < 0)
			continue;
		for (size_t k = 0; k < l.count; k++) {
			if (canonical_name(l.item[k], ws_rules(ws)->root.p, name)) {
				if (private_tmp)
					log_link(settings[i][0], l.item[k], name);
				continue;
			}
			const char *why = errno == ELOOP    ? "it leads out of the workspace by a "
							      "link, which a command may have made: "
							      "name the directory itself"
					  : errno == ENOENT ? "it does not exist"
							    : strerror(errno);
			log_event(LOG_WARN, "a directory is left out of the sandbox",
				  LOG_STR("setting", str_of(settings[i][0])),
				  LOG_STR("path", str_of(l.item[k])), LOG_STR("why", str_of(why)));
		}
	}
}

struct proc_limits commands_limits(const struct config *c)
{
	return (struct proc_limits){
		.address_space_bytes = c->limit_memory_mb << 20,
		.processes = c->limit_processes,
		.file_size_bytes = c->limit_file_mb << 20,
		.cpu_seconds = c->limit_cpu_seconds,
	};
}
