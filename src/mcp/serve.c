/* SPDX-License-Identifier: MIT */
/* serve: build the service while the client already talks to us, and let others watch. */

#include "mcp/serve.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "config/config.h"
#include "mcp/stdio.h"
#include "service/health.h"
#include "service/service.h"

/* A client first asks who we are and what tools there are: the service is built meanwhile. */
struct boot {
	const struct config *config;
	struct service service;
	pthread_t thread;
	bool joined;
	const struct mcp_watching *watching;
	struct watchable *watchable; /* NULL: no tool has been called, or it is not wanted */
};

static void complain(const struct err *e)
{
	(void)fprintf(stderr, "sidecar: %s\n", e->msg);
}

static void *build(void *arg)
{
	struct boot *b = arg;
	struct err e;

	if (service_init(&b->service, b->config, &e) == 0) {
		b->service.kind = "mcp";
		return NULL;
	}
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

/* From now on others of this user can watch. Calls are served as well if they cannot. */
static void first_call(void *arg, struct str client)
{
	struct boot *b = arg;
	struct service *s = &b->service;
	struct err e;

	(void)snprintf(s->client, sizeof s->client, "%.*s", STR_FMT(client));
	if (!b->config->watchable)
		return;
	if (b->config->events && service_show(s, &e) < 0) {
		log_event(LOG_WARN, "calls cannot be watched", LOG_STR("why", str_of(e.msg)));
		return;
	}
	if (health_record(s, b->config, &(struct listening){ 0 }, &e) == 0)
		b->watchable = b->watching->open(s, &e);
	if (!b->watchable)
		log_event(LOG_WARN, "calls cannot be watched", LOG_STR("why", str_of(e.msg)));
}

static struct str held(void *arg)
{
	struct boot *b = arg;

	ready(b);
	return str_of(b->service.held);
}

static int serve_pipes(const struct config *config, const struct mcp_watching *watching,
		       struct err *e)
{
	struct boot boot = { .config = config, .watching = watching };
	const struct mcp_stdio_options options = {
		.service = &boot.service,
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.offer = { service_mcp_offer(config), held, &boot },
		.ready = ready,
		.first_call = first_call,
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
	if (!watching->close(boot.watchable) || rc == MCP_STUCK)
		_exit(0);
	service_done(&boot.service);
	return rc;
}

int mcp_serve(int argc, char **argv, const struct mcp_watching *watching)
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
	if (serve_pipes(&config, watching, &e) == 0)
		return 0;
	complain(&e);
	return 1;
}
