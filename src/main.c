/* SPDX-License-Identifier: MIT */
/* main: the table of all verbs; find the one that is named and run it. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/server.h"
#include "api/watchable.h"
#include "base/io.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "config/config.h"
#include "exec/keeper.h"
#include "mcp/serve.h"
#include "workspace/pending.h"

/* DIR is another way to say --workspace DIR, but is not created: it may be a typing error. Returns
 * the exit status. */
static int name_workspace(struct cli *c)
{
	static char flag[] = "--workspace";
	struct stat st;

	if (c->argc == 0)
		return EXIT_OK;
	for (int i = 0; i < c->settings_count; i++)
		if (str_starts(str_of(c->settings[i]), str_of(flag)))
			return cli_misused(c, "give DIR or --workspace, not both");
	const int missing = stat(c->argv[0], &st) < 0 ? errno : 0;
	if (missing == ENOENT && isatty(STDIN_FILENO)) {
		char question[PATH_MAX + 64];
		(void)snprintf(question, sizeof question, "There is no %s. Make this directory?",
			       c->argv[0]);
		if (!cli_agrees(c, question, ""))
			return EXIT_FAILED;
	} else if (missing) {
		return cli_misused(c, "%s: %s (--workspace creates a directory)", c->argv[0],
				   strerror(missing));
	}
	/* There is room: the operand is not among the settings. */
	c->settings[c->settings_count++] = flag;
	c->settings[c->settings_count++] = c->argv[0];
	return EXIT_OK;
}

struct serve_args {
	bool private;
};

static const struct option serve_options[] = {
	{ "private", 0, OPTION_SWITCH, offsetof(struct serve_args, private), NULL,
	  "serve the program that starts it: print the path of a socket of its own, and end when "
	  "standard input does" },
	OPTION_END,
};

static int serve_run(struct cli *c, const void *args)
{
	const struct serve_args *a = args;
	AUTO_CONFIG config = { 0 };
	struct err e;

	const int status = name_workspace(c);
	if (status != EXIT_OK)
		return status;
	const int read = a->private
				 ? config_read_private(c->settings_count, c->settings, &config, &e)
				 : config_read(c->settings_count, c->settings, &config, &e);
	if (read == 0 && serve(&config, &e) == 0)
		return 0;
	config_name_flags(&config, &e);
	(void)fprintf(stderr, "sidecar: %s\n", e.msg);
	return EXIT_FAILED;
}

static const struct verb verb_serve = {
	.name = "serve",
	.about = "run the server in DIR, /workspace if that exists, or the current directory",
	.operands = "[DIR]",
	.examples = "  sidecar serve\n"
		    "  sidecar serve ~/project --socket /run/sidecar/sidecar.sock\n"
		    "  WORKSPACE_ROOT=$PWD SOCKET_PATH=/tmp/s.sock sidecar serve\n"
		    "  sidecar serve . --tcp 127.0.0.1:8080 --token-file token\n",
	.options = serve_options,
	.args_size = sizeof(struct serve_args),
	.flags = VERB_SETTINGS,
	.most = 1,
	.kind = OPERANDS_LOCAL,
	.run = serve_run,
};

static int mcp_run(struct cli *c, const void *args)
{
	static const struct mcp_watching watching = { watchable_open, watchable_close };

	(void)args;
	return mcp_serve(c->settings_count, c->settings, &watching);
}

static const struct verb verb_mcp = {
	.name = "mcp",
	.about = "serve an MCP client through standard input and output",
	.operands = "",
	.examples = "  sidecar mcp\n"
		    "  sidecar mcp --workspace ~/project --read-only\n"
		    "  sidecar setup claude              connect an agent\n",
	.flags = VERB_SETTINGS | VERB_PIPES,
	.run = mcp_run,
};

/* In the order of help: cli/help.c has headings for it. */
static const struct verb *const verbs[] = {
	&verb_setup,	 &verb_serve,  &verb_mcp, /* connect agents */
	&verb_ps,	 &verb_watch,  &verb_ui,      &verb_changes,  &verb_diff,
	&verb_audit,	 &verb_undo,   &verb_redo,    &verb_journals, /* take it back */
	&verb_read,	 &verb_write,  &verb_edit,    &verb_patch,    &verb_ls,
	&verb_find,	 &verb_grep,   &verb_run,     &verb_jobs,     &verb_call,
	&verb_tools,	 &verb_health, &verb_doctor,  &verb_config,   &verb_completion,
	&verb_uninstall, &verb_help,   &verb_version, &verb_complete, NULL,
};

static int run_verb(struct cli *c, const struct verb *v, int argc, char **argv)
{
	struct err e;
	void *args = arena_array(&c->memory, 1, v->args_size + 1);

	if (!args)
		return EXIT_FAILED;
	if (verb_parse(v, argc, argv, c, args, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	if (c->help) {
		help_verb(v);
		return EXIT_OK;
	}
	const int64_t began = io_now_ms();
	int status = v->check ? v->check(c, args) : -1;
	if (status >= 0)
		return status;
	status = EXIT_OK;
	if (v->flags & VERB_CONNECTS)
		c->server = cli_connect(c, &status);
	if (status == EXIT_OK)
		status = v->run(c, args);
	if (c->verbose)
		cli_say(c, "%s took %lld ms, exit status %d", v->name,
			(long long)(io_now_ms() - began), status);
	return status;
}

static void cli_done(struct cli *c)
{
	sidecar_close(c->server);
	arena_done(&c->memory);
}

static int run_command_line(int argc, char **argv)
{
	CLEANUP(cli_done)
	struct cli c = { .verbs = verbs, .memory = { .max = LIMIT_CLIENT_MEMORY } };
	const char *name = argc > 1 ? argv[1] : "";

	if (argc < 2) {
		help_all(verbs, STDERR_FILENO);
		return EXIT_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	const struct verb *v = verb_by_name(verbs, name);
	if (v)
		return run_verb(&c, v, argc - 2, argv + 2);
	if (*name == '-')
		return cli_misused(
			&c, "the command comes first, then its options: sidecar COMMAND %s", name);
	return help_unknown(&c, name);
}

/* Make sure that descriptors 0 to 2 are open: a file opened as 2 would get the log. */
static void hold_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			fd = open("/", O_PATH); /* no /dev here: any open descriptor will do */
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		(void)close(fd);
}

int main(int argc, char **argv)
{
	hold_standard_descriptors();
	/* The server starts this program a second time as its keeper: exec/keeper.h. */
	if (argc == 2 && strcmp(argv[1], KEEPER_VERB) == 0)
		return keeper_main(pending_sweep);
	return run_command_line(argc, argv);
}
