/* SPDX-License-Identifier: MIT */
/* mcp: set up what tools are run with while the client already talks to us. */

#include "mcp/boot.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "mcp/stdio.h"
#include "base/io.h"
#include "base/log.h"
#include "config/config.h"
#include "service/executor.h"
#include "service/facts.h"
#include "service/process.h"

/* A client first asks who we are and what tools there are, and may go away after that: neither
 * needs what is built here. */
struct boot {
	const struct config *config;
	struct executor executor;
	struct service service;
	pthread_t thread;
	bool joined;
};

static void complain(const struct err *e)
{
	(void)fprintf(stderr, "sidecar: %s\n", e->msg);
}

static void *build(void *arg)
{
	struct boot *b = arg;
	struct err e;

	if (executor_init(b->config, &b->executor, &e) == 0)
		return NULL;
	complain(&e);
	_exit(1);
}

/* Everything is there from now on. */
static void ready(void *arg)
{
	struct boot *b = arg;

	if (b->joined)
		return;
	(void)pthread_join(b->thread, NULL);
	b->joined = true;
	b->service.mcp_call = b->executor.mcp_call;
	b->service.scrub = b->executor.scrub;
	const struct facts facts = {
		.config = b->config,
		.ws = b->executor.ws,
		.sandbox = &b->executor.report,
		.socket = "",
	};
	facts_log(&facts);
}

static int serve_pipes(const struct config *config, struct err *e)
{
	struct boot boot = {
		.config = config,
		.service = { .tool_set =
				     config->tool_set == CONFIG_SET_CORE ? TOOL_CORE : TOOL_MODEL,
			     .started_ms = io_now_ms() },
	};
	const struct mcp_stdio_options options = {
		.service = &boot.service,
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.ready = ready,
		.arg = &boot,
	};

	if (log_start(e) < 0)
		return -1;
	if (pthread_create(&boot.thread, NULL, build, &boot) != 0)
		return err_set(e, ERR_TOO_BUSY, "Cannot start a thread");
	const int rc = mcp_stdio(&options, e);
	ready(&boot);
	log_stop();
	/* The keeper ends what is left when we are gone. */
	if (rc == MCP_STUCK)
		_exit(0);
	executor_done(&boot.executor);
	return rc;
}

int mcp(int argc, char **argv)
{
	AUTO_CONFIG config = { 0 };
	sigset_t signals;
	struct err e;

	if (config_read_mcp(argc, argv, &config, &e) < 0) {
		complain(&e);
		return 1;
	}
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	process_prepare(&config, &signals);
	if (isatty(STDIN_FILENO))
		(void)fprintf(stderr, "sidecar: waiting for an MCP client's messages on standard "
				      "input; Ctrl-D ends it\n");
	if (serve_pipes(&config, &e) == 0)
		return 0;
	complain(&e);
	return 1;
}
