/* SPDX-License-Identifier: MIT */
/*
 * address: a numeric host ("127.0.0.1", "::1", or "localhost") and a port as a socket address.
 *
 * Other names are not looked up: a static program could not do that.
 */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/str.h"

/* Split "HOST:PORT" or "[HOST]:PORT". False when it is not of that form or the port is not one. */
bool address_split(struct str text, struct str *host, int64_t *port);

/* Returns the size of the address, or 0 when the host is not a numeric one. */
socklen_t address_parse(const char *host, int64_t port, struct sockaddr_storage *ret);

bool address_is_loopback(const struct sockaddr_storage *a);

/* The same of a host; false when it is not a numeric one. */
bool address_host_is_loopback(const char *host);

#endif
