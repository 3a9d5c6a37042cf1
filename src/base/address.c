/* SPDX-License-Identifier: MIT */
/* address: numeric hosts of both families. */

#include "base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

bool address_split(struct str text, struct str *host, int64_t *port)
{
	const char *colon = memrchr(text.p, ':', text.n);
	int64_t number;

	if (!colon || colon == text.p)
		return false;
	struct str name = { text.p, (size_t)(colon - text.p) };
	if (!str_int(str_from(text, name.n + 1), &number) || number < 0 || number > 65535)
		return false;
	if (name.n > 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
		name = (struct str){ name.p + 1, name.n - 2 };
	*host = name;
	*port = number;
	return true;
}

socklen_t address_parse(const char *host, int64_t port, struct sockaddr_storage *ret)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	const void *found = NULL;
	socklen_t size = 0;

	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
		found = &v4;
		size = sizeof v4;
	} else if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
		found = &v6;
		size = sizeof v6;
	}
	if (found) {
		memset(ret, 0, sizeof *ret);
		memcpy(ret, found, size);
	}
	return size;
}

bool address_is_loopback(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	return a->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

bool address_host_is_loopback(const char *host)
{
	struct sockaddr_storage a;

	return address_parse(host, 0, &a) && address_is_loopback(&a);
}
