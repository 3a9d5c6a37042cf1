/* SPDX-License-Identifier: MIT */
/*
 * banner: what a person wants to know when a server has started: what it serves, where it can be
 * reached and how, and what holds commands.
 */
#ifndef SERVICE_BANNER_H
#define SERVICE_BANNER_H

#include "config/config.h"
#include "service/health.h"
#include "service/service.h"

/* Log it, in a few lines for people, and the warnings of health.h. */
void banner_log(const struct service *s, const struct config *c, const struct listening *at);

#endif
