/* SPDX-License-Identifier: MIT */
/* sessions: a small table, searched from end to end. */

#include "mcp/sessions.h"

#include <stdio.h>

#include "base/io.h"
#include "base/own.h"

static struct mcp_session *find(struct mcp_sessions *s, struct str id)
{
	if (id.n != MCP_SESSION_ID)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(s->list); i++)
		if (s->list[i].version && memcmp(s->list[i].id, id.p, id.n) == 0)
			return &s->list[i];
	return NULL;
}

void mcp_sessions_begin(struct mcp_sessions *s, const char *version, struct str client,
			char id[MCP_SESSION_ID + 1])
{
	unsigned char random[MCP_SESSION_ID / 2];

	io_random(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		(void)snprintf(id + 2 * i, 3, "%02x", random[i]);
	(void)pthread_mutex_lock(&s->lock);
	struct mcp_session *place = &s->list[0];
	for (size_t i = 1; i < ARRAY_LEN(s->list) && place->version; i++)
		if (!s->list[i].version || s->list[i].used < place->used)
			place = &s->list[i];
	place->version = version;
	place->used = ++s->clock;
	memcpy(place->id, id, MCP_SESSION_ID);
	(void)snprintf(place->client, sizeof place->client, "%.*s", STR_FMT(client));
	(void)pthread_mutex_unlock(&s->lock);
}

const char *mcp_sessions_find(struct mcp_sessions *s, struct str id, char client[MCP_CLIENT_NAME])
{
	(void)pthread_mutex_lock(&s->lock);
	struct mcp_session *found = find(s, id);
	const char *version = found ? found->version : NULL;
	client[0] = '\0';
	if (found) {
		found->used = ++s->clock;
		memcpy(client, found->client, MCP_CLIENT_NAME);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return version;
}

bool mcp_sessions_end(struct mcp_sessions *s, struct str id)
{
	(void)pthread_mutex_lock(&s->lock);
	struct mcp_session *found = find(s, id);
	if (found)
		found->version = NULL;
	(void)pthread_mutex_unlock(&s->lock);
	return found != NULL;
}
