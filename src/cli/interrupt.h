/* SPDX-License-Identifier: MIT */
/*
 * interrupt: Ctrl-C and SIGTERM while a command runs in the server.
 *
 * The first signal calls the command off there; whoever waits for its end sees CANCELLED. The
 * second one ends this program at once.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "sidecar.h"

/* From now on SIGINT, SIGTERM and SIGHUP call this off; it must live until the program ends. */
void interrupt_catch(struct sidecar_cancel *cancel);

/* The signal that came, or 0. */
int interrupt_came(void);

#endif
