/* SPDX-License-Identifier: MIT */
/* main: what the program can be told to do, one table. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "config/config.h"
#include "doctor/doctor.h"
#include "exec/keeper.h"
#include "mcp/boot.h"
#include "api/serve.h"
#include "workspace/pending.h"

static int serve_run(struct cli *c, const void *args)
{
	AUTO_CONFIG config = { 0 };
	struct err e;

	(void)args;
	if (config_read(c->settings_count, c->settings, &config, &e) == 0 &&
	    serve(&config, &e) == 0)
		return 0;
	(void)fprintf(stderr, "sidecar: %s\n", e.msg);
	return EXIT_FAILED;
}

static const struct verb verb_serve = {
	.name = "serve",
	.about = "run the server",
	.operands = "",
	.examples = "  sidecar serve --workspace /workspace --socket /run/sidecar/sidecar.sock\n"
		    "  WORKSPACE_ROOT=$PWD SOCKET_PATH=/tmp/s.sock sidecar serve\n"
		    "  sidecar serve --workspace $PWD --tcp 127.0.0.1:8080 --token-file token\n",
	.flags = VERB_SETTINGS,
	.run = serve_run,
};

static int mcp_run(struct cli *c, const void *args)
{
	(void)args;
	return mcp(c->settings_count, c->settings);
}

static const struct verb verb_mcp = {
	.name = "mcp",
	.about = "serve an MCP client through standard input and output",
	.operands = "",
	.examples = "  sidecar mcp\n"
		    "  sidecar mcp --workspace ~/project --read-only\n"
		    "  claude mcp add sidecar -- sidecar mcp\n",
	.flags = VERB_SETTINGS | VERB_PIPES,
	.run = mcp_run,
};

static const struct verb *const verbs[] = {
	&verb_serve,	  &verb_mcp,   &verb_read,    &verb_write,  &verb_edit,
	&verb_ls,	  &verb_find,  &verb_grep,    &verb_run,    &verb_jobs,
	&verb_call,	  &verb_tools, &verb_health,  &verb_doctor, &verb_config,
	&verb_completion, &verb_help,  &verb_version, NULL,
};

/* Descriptors 0 to 2 must be taken: a file opened as 2 would get the log. */
static void hold_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			fd = open("/", O_PATH); /* an empty root: a place that is taken will do */
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		(void)close(fd);
}

int main(int argc, char **argv)
{
	hold_standard_descriptors();
	/* The program's second process, started by the server itself: exec/keeper.h. */
	if (argc == 2 && strcmp(argv[1], KEEPER_VERB) == 0)
		return keeper_main(pending_sweep);
	return cli_main(verbs, argc, argv);
}
