/* SPDX-License-Identifier: MIT */
/* auth: bearer tokens, and the headers by which browsers give themselves away. */

#include "api/auth.h"

#include <stdio.h>

#include "base/address.h"

bool auth_listed(struct str list, struct str value)
{
	while (list.n) {
		struct str item;
		(void)str_cut(list, ',', &item, &list);
		item = str_trim(item);
		if (item.n && (str_eq(item, STR("*")) || str_eq_nocase(item, value)))
			return true;
	}
	return false;
}

/* The token of a request, or { NULL, 0 } when it has none. */
static struct str token_of(const struct http_head *head)
{
	const struct str header = http_header(head, STR("authorization"));
	struct str scheme, rest;

	(void)str_cut(header, ' ', &scheme, &rest);
	if (str_eq_nocase(scheme, STR("bearer")))
		return rest.n ? str_trim(rest) : STR("");
	return http_header(head, STR("x-sidecar-token"));
}

/* "[::1]:80" → "::1", "localhost:80" → "localhost". */
static struct str without_port(struct str host)
{
	struct str name, port;

	if (str_starts(host, STR("["))) {
		(void)str_cut(str_from(host, 1), ']', &name, &port);
		return name;
	}
	(void)str_cut(host, ':', &name, &port);
	return name;
}

static bool host_ok(const struct auth_rules *a, struct str host)
{
	const struct str name = without_port(host);
	char address[64];

	(void)snprintf(address, sizeof address, "%.*s", STR_FMT(name));
	return str_eq_nocase(name, STR("localhost")) || address_host_is_loopback(address) ||
	       (name.n && str_eq_nocase(name, a->tcp_host)) || auth_listed(a->hosts, name);
}

/* A page of our own origin, or one the operator allows. */
static bool origin_ok(const struct auth_rules *a, struct str origin, struct str host)
{
	const struct str http = STR("http://");

	if (str_starts(origin, http) && host.n && str_eq_nocase(str_from(origin, http.n), host))
		return true;
	return auth_listed(a->origins, origin);
}

int auth_check(const struct auth_rules *a, const struct http_head *head, bool tcp, const char **why)
{
	const struct str origin = http_header(head, STR("origin"));
	const struct str token = token_of(head);
	const bool right = a->token.n && token.p && str_eq_secret(token, a->token);
	const bool may_be_absent = a->token.n == 0 || (!a->required && (!tcp || a->tcp_optional));

	if (tcp && !right && !host_ok(a, head->host)) {
		*why = "Forbidden: this Host is not allowed (set SIDECAR_ALLOWED_HOSTS)";
		return 403;
	}
	if (tcp && origin.p && !origin_ok(a, origin, head->host)) {
		*why = "Forbidden: this Origin is not allowed (set SIDECAR_ALLOWED_ORIGINS)";
		return 403;
	}
	if (!right && (!may_be_absent || (a->token.n && token.p))) {
		*why = "Unauthorized";
		return 401;
	}
	return 0;
}

const char *auth_extra(int status)
{
	return status == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL;
}
