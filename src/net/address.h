/* SPDX-License-Identifier: MIT */
/* address: "127.0.0.1", "::1" or "localhost" and a port, as the kernel wants them. Other names are
 * not looked up, which a static program could not do. */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

/* The size of the address, or 0 when the host is no numeric one. */
socklen_t address_parse(const char *host, int64_t port, struct sockaddr_storage *ret);

#endif
