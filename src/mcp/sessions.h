/* SPDX-License-Identifier: MIT */
/*
 * sessions: the legacy MCP sessions of HTTP clients: a random name, and the version agreed on.
 *
 * There are at most LIMIT_MCP_SESSIONS. When one more begins, the least recently
 * used one ends: its client is told that it is unknown and begins anew. The zero value is ready for
 * use. Safe for many threads.
 */
#ifndef MCP_SESSIONS_H
#define MCP_SESSIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "mcp/limits.h"

enum { MCP_SESSION_ID = 32 }; /* characters of a name: 128 random bits */
enum { MCP_CLIENT_NAME = 64 };

struct mcp_sessions {
	pthread_mutex_t lock;
	int64_t clock; /* counts uses */
	struct mcp_session {
		char id[MCP_SESSION_ID];
		const char *version; /* a constant; NULL: the place is free */
		int64_t used;
		char client[MCP_CLIENT_NAME]; /* what it calls itself; or "" */
	} list[LIMIT_MCP_SESSIONS];
};

void mcp_sessions_begin(struct mcp_sessions *s, const char *version, struct str client,
			char id[MCP_SESSION_ID + 1]);

/* The version of the session, which counts as used, and its client; NULL if there is no session of
 * that name. */
const char *mcp_sessions_find(struct mcp_sessions *s, struct str id, char client[MCP_CLIENT_NAME]);

/* Returns false if there was no such session. */
bool mcp_sessions_end(struct mcp_sessions *s, struct str id);

#endif
