/* SPDX-License-Identifier: MIT */
/* serve: build the service while the client already talks to us. */

#include "mcp/serve.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "config/config.h"
#include "mcp/protocol.h"
#include "mcp/stdio.h"
#include "service/health.h"
#include "service/service.h"

/* A client first asks who we are and what tools there are: the service is built meanwhile. */
struct boot {
	const struct config *config;
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

	if (service_init(&b->service, b->config, &e) == 0)
		return NULL;
	config_name_flags(b->config, &e);
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
	health_log(&b->service, b->config, &(struct listening){ 0 });
}

static struct str held(void *arg)
{
	struct boot *b = arg;

	ready(b);
	return str_of(b->service.held);
}

static int serve_pipes(const struct config *config, struct err *e)
{
	struct boot boot = { .config = config };
	const struct mcp_stdio_options options = {
		.service = &boot.service,
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.offer = { service_mcp_offer(config), held, &boot },
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
	service_done(&boot.service);
	return rc;
}

int mcp_serve(int argc, char **argv)
{
	AUTO_CONFIG config = { 0 };
	sigset_t signals;
	struct err e;

	if (config_read_mcp(argc, argv, &config, &e) < 0) {
		config_name_flags(&config, &e);
		complain(&e);
		return 1;
	}
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	service_prepare_process(&config, &signals);
	if (isatty(STDIN_FILENO))
		(void)fprintf(stderr, "sidecar: waiting for an MCP client's messages on standard "
				      "input; Ctrl-D ends it\n");
	if (serve_pipes(&config, &e) == 0)
		return 0;
	complain(&e);
	return 1;
}
