/* SPDX-License-Identifier: MIT */
/* cancel: the library's cancel object for host programs. */

#include "client/cancel.h"

#include "base/own.h"
#include "sidecar.h"

struct sidecar_cancel {
	struct cancel cancel;
};

struct sidecar_cancel *sidecar_cancel_new(void)
{
	struct sidecar_cancel *c = mem_new(1, sizeof *c);

	if (!c)
		return NULL;
	c->cancel = (struct cancel)CANCEL_INIT;
	/* Made now: several calls may wait on it at the same time. */
	if (cancel_fd(&c->cancel) >= 0)
		return c;
	mem_free(c);
	return NULL;
}

void sidecar_cancel(struct sidecar_cancel *cancel)
{
	cancel_ask(&cancel->cancel);
}

void sidecar_cancel_free(struct sidecar_cancel *cancel)
{
	if (!cancel)
		return;
	cancel_done(&cancel->cancel);
	mem_free(cancel);
}

struct cancel *cancel_of(struct sidecar_cancel *cancel)
{
	return cancel ? &cancel->cancel : NULL;
}
