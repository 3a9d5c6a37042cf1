/* SPDX-License-Identifier: MIT */
/* client: opening one, and passing its requests on. */

#include "client/client.h"

#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "client/local.h"
#include "client/remote.h"

void client_tell(struct sidecar_error *error, const struct err *e)
{
	if (!error)
		return;
	(void)snprintf(error->code, sizeof error->code, "%s", err_name(e->code));
	(void)snprintf(error->message, sizeof error->message, "%s", e->msg);
}

static char *copy(const char *text)
{
	const size_t n = strlen(text) + 1;
	char *p = mem_new(n, 1);

	return p ? memcpy(p, text, n) : NULL;
}

static int open_in(struct sidecar *s, const struct sidecar_settings *settings, struct err *e)
{
	if (settings->session && !(s->session = copy(settings->session)))
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the executor");
	if (settings->local && (settings->socket_path || settings->host))
		return err_set(e, ERR_INVALID_CONFIG,
			       "Give a sidecar's address or a local workspace, not both");
	s->progress = settings->progress;
	s->progress_arg = settings->progress_arg;
	if (settings->local)
		s->local = local_new(settings, e);
	else
		s->remote = remote_new(settings, e);
	return s->local || s->remote ? 0 : -1;
}

struct sidecar *sidecar_open(const struct sidecar_settings *settings, struct sidecar_error *error)
{
	struct sidecar *s = mem_new(1, sizeof *s);
	struct err e = { .code = ERR_TOO_BUSY, .msg = "Not enough memory for the executor" };

	if (s && open_in(s, settings, &e) == 0)
		return s;
	client_tell(error, &e);
	sidecar_close(s);
	return NULL;
}

void sidecar_close(struct sidecar *sidecar)
{
	if (!sidecar)
		return;
	remote_free(sidecar->remote);
	local_free(sidecar->local);
	mem_free(sidecar->session);
	mem_free(sidecar);
}

int sidecar_ensure_ready(struct sidecar *sidecar, struct sidecar_error *error)
{
	struct err e;

	if (sidecar->local || remote_ensure_ready(sidecar->remote, &e) == 0)
		return 0;
	client_tell(error, &e);
	return -1;
}

const char *sidecar_address(const struct sidecar *sidecar)
{
	return sidecar->local ? local_address(sidecar->local) : remote_address(sidecar->remote);
}

int client_call(struct sidecar *s, const struct request *q, struct answer *ret, struct err *e)
{
	struct request told = *q;

	told.seen = s->progress;
	told.seen_arg = s->progress_arg;
	return s->local ? local_call(s->local, &told, ret, e)
			: remote_call(s->remote, &told, ret, e);
}

void sidecar_free(void *result)
{
	mem_free(result);
}
