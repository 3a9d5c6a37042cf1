/* SPDX-License-Identifier: MIT */
/*
 * registry: how the running sidecars of a user are found.
 *
 * A process enters one directory: $XDG_RUNTIME_DIR/sidecar if that variable is set; else
 * /run/sidecar for root, and /tmp/sidecar-<uid> for others and where root cannot write /run. A
 * process that looks, looks at all of these, because agents start servers without the variable;
 * only a value other than the usual /run/user/<uid> is a world of its own. A directory belongs to
 * the user, no other user may write it, and it is not a link; another one is not used. In it are
 *
 *	serve-<pid>.json	one object: where a server listens,
 *	tcp-<ip>-<port>.token	the token that a server has made for itself, for its clients,
 *	mcp-<pid>.sock		the socket on which an MCP server can be watched,
 *	<workspace>.sock	that of a server which found the usual one taken,
 *	ui-<pid>.html		a page that leads a browser to `sidecar ui`,
 *	turns			who changes files takes turns (workspace/locks.h).
 *
 * A process holds locks on its files while it runs. All appear complete, under another name first.
 * What dead processes have left is recognised, by the lock and by connecting, and removed by the
 * next one who looks or enters.
 */
#ifndef CONFIG_REGISTRY_H
#define CONFIG_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "net/listen.h"

enum { REGISTRY_PATH = 108 };

/* A file of this process. Zero is none. */
struct registry_entry {
	int lock; /* holds the lock; meaningful if the path is not empty */
	char path[REGISTRY_PATH];
};

/* Keep a file there, for this user alone, until registry_leave. */
int registry_keep(const char *name, struct str text, struct registry_entry *ret, struct err *e);

/* Enter this process with an object that says where it listens. */
int registry_enter(struct str object, struct registry_entry *ret, struct err *e);
void registry_leave(struct registry_entry *entry);

/* Open `turns`, which all processes of this user share whether they have the variable or not: in the
 * first of the directories that can be used. -1: none can. */
int registry_open_turns(void);

/* Make a token for the server of this process, which listens at that numeric address. The entry is
 * the file that has it, for this user alone. */
enum { REGISTRY_TOKEN = 64 }; /* characters: 256 random bits */
int registry_make_token(const char *host, int64_t port, char token[REGISTRY_TOKEN + 1],
			struct registry_entry *ret, struct err *e);

/* The token of the server of this user that listens there; false: none runs that has made one. */
bool registry_find_token(const char *host, int64_t port, char token[REGISTRY_TOKEN + 1]);

/* Whether a server of this user listens at that TCP port, at one address or another. */
bool registry_serves(int64_t port);

/* The path of a socket there for a server of that workspace, when the usual one is taken. */
int registry_socket(struct str workspace, char out[REGISTRY_PATH], struct err *e);

/* Listen on the socket mcp-<pid>.sock, for this user alone. */
int registry_listen(struct listener *ret, struct err *e);

/* A sidecar that runs. */
struct registry_found {
	struct registry_found *next;
	pid_t pid;
	struct str socket; /* of an MCP server; else empty … */
	struct str object; /* … and this is what it has entered */
};

/* Whether a route of that path is for those who watch: an MCP server's socket has no others, and
 * `sidecar ui` carries no others. None of them calls a tool. */
bool registry_shows(struct str path);

/* All of them, in the arena; NULL if there are none. */
struct registry_found *registry_list(struct arena *a);

#endif
