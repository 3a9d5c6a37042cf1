/* SPDX-License-Identifier: MIT */
/* interrupt: a signal handler, and the only two variables it can reach. */

#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* A signal handler is given nothing but a number. */
static struct sidecar_cancel *to_cancel;
static volatile sig_atomic_t came;

static void handle(int signal_number)
{
	if (came)
		_exit(128 + signal_number);
	came = signal_number;
	sidecar_cancel(to_cancel);
}

void interrupt_catch(struct sidecar_cancel *cancel)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

	to_cancel = cancel;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
}

int interrupt_came(void)
{
	return came;
}
