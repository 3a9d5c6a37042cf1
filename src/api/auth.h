/* SPDX-License-Identifier: MIT */
/*
 * auth: who may call.
 *
 * A wrong token (Authorization: Bearer, or X-Sidecar-Token where a proxy strips the former) is
 * always refused. A missing one is refused if tokens are required, and on TCP whenever one is
 * configured, unless the operator said that it is not required and the server listens on loopback;
 * a Unix socket's own permissions are otherwise enough. On TCP a browser must not be turned against
 * us: a request from a foreign page (Origin) is refused, and so is one to a name that is not ours
 * (Host, DNS rebinding), unless it has the right token, which no foreign page can know.
 */
#ifndef API_AUTH_H
#define API_AUTH_H

#include "base/str.h"
#include "net/http_parse.h"

struct auth_rules {
	struct str token;    /* empty: none is configured */
	bool required;	     /* on a Unix socket as well */
	bool tcp_optional;   /* a request by TCP may leave it out, as one by a Unix socket may */
	struct str tcp_host; /* the address that TCP is listened on; empty: none */
	struct str origins;  /* allowed Origin values on TCP, separated by commas */
	struct str hosts;    /* allowed Host names on TCP besides loopback, separated by commas */
};

/* 0, or the status to refuse with: 401 or 403; *why is the sentence. */
int auth_check(const struct auth_rules *a, const struct http_head *head, bool tcp,
	       const char **why);

/* The header lines that go with a status; or NULL. */
const char *auth_extra(int status);

/* Whether a comma-separated list has the value; "*" in it stands for every value. */
bool auth_listed(struct str list, struct str value);

#endif
