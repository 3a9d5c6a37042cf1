/* SPDX-License-Identifier: MIT */
/*
 * exchange: one request and its answer, on its way through a worker; and who may make one.
 *
 * Handlers read the request and answer through the functions below. They do not know where the
 * answer goes: to a connection, or (in the client library's local mode) into the memory of the
 * process that asked. A request is answered once: by exchange_send, exchange_error, or a stream.
 *
 * A wrong token (Authorization: Bearer, or X-Sidecar-Token where a proxy strips the former) is
 * always refused. A missing one is refused if tokens are required, and on TCP whenever one is
 * configured, unless the operator said that it is not required and the server listens on loopback;
 * a Unix socket's own permissions are otherwise enough. On TCP a browser must not be turned against
 * us: a request from a foreign page (Origin) is refused, and so is one to a name that is not ours
 * (Host, DNS rebinding), unless it has the right token, which no foreign page can know.
 */
#ifndef API_EXCHANGE_H
#define API_EXCHANGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "net/http.h"
#include "service/dispatch.h"

struct feed;
struct mcp_http;

/* Who may call. */
struct auth_rules {
	struct str token;    /* empty: none is configured */
	bool required;	     /* on a Unix socket as well */
	bool tcp_optional;   /* a request by TCP may leave it out, as one by a Unix socket may */
	struct str tcp_host; /* the address that TCP is listened on; empty: none */
	struct str origins;  /* allowed Origin values on TCP, separated by commas */
	struct str hosts;    /* allowed Host names on TCP besides loopback, separated by commas */
};

/* What all requests of one front end share. */
struct front {
	struct service *service;
	struct auth_rules auth;
	bool surface;			       /* the routes of agent-sandbox are served, too */
	bool shows_only;		       /* only routes for those who watch are served */
	struct mcp_http *mcp;		       /* NULL: /mcp is not served */
	struct feed *feed;		       /* NULL: events are off */
	const struct http_budget *connections; /* NULL: there are no connections */
};

struct exchange;

/* How an answer leaves. */
struct exchange_outlet {
	void (*send)(struct exchange *x, const struct http_answer *answer);
	/* A body in pieces. -1: the client has gone. */
	int (*stream_begin)(struct exchange *x, const char *type, const char *extra);
	int (*stream_write)(struct exchange *x, struct str piece);
	void (*stream_end)(struct exchange *x);
	/* Take the connection of a stream that has begun: its descriptor. NULL: this
	 * carrier has no connection to give, and its clients cannot watch. */
	int (*take)(struct exchange *x);
	/* Whether a piece would be taken without waiting. */
	bool (*is_ready)(struct exchange *x);
	/* Before the answer: how many files a search has looked at. */
	void (*tell_seen)(struct exchange *x, int64_t files);
};

extern const struct exchange_outlet exchange_over_http;

struct exchange {
	struct front *front;
	const struct exchange_outlet *outlet;
	void *to;  /* the outlet's: of exchange_over_http the struct http */
	uid_t uid; /* of the client; (uid_t)-1 on TCP */
	pid_t pid;
	struct arena *arena;		/* memory of this request */
	struct buf *out;		/* the answer is built here; empty at first */
	struct cancel *cancel;		/* asked when the client has left or the server stops */
	bool (*before_slow)(void *arg); /* see struct call */
	void *before_slow_arg;
};

/* 0, or the status to refuse with: 401 or 403; *why is the sentence. */
int auth_check(const struct auth_rules *a, const struct http_head *head, bool tcp,
	       const char **why);

/* The header lines that go with a status; or NULL. */
const char *auth_extra(int status);

/* Whether a comma-separated list has the value; "*" in it stands for every value. */
bool auth_listed(struct str list, struct str value);

/* Whether the message says that its body is JSON. */
bool exchange_is_json(const struct http_head *head);

/* The body of a request as a JSON object, in the arena; an empty body is an empty object. NULL and
 * INVALID_ARGUMENTS if it is something else. */
const struct json *exchange_body(struct exchange *x, const struct http_request *r, struct err *e);

/* A parameter of the query that must be one of a few words. Absent: the empty word. Empty, or too
 * long to be one of them: "?", which is not one of them either. */
struct str exchange_query_word(const struct http_request *r, struct str name, char room[32]);

/* The session of a model's call, if the call itself names none: the parameter "session" of the
 * query, in the arena. False if that cannot be one: then the request has been answered. */
bool exchange_session(struct exchange *x, const struct http_request *r, struct str *session);

/* A call of that kind and tool, for dispatch. */
struct dispatch exchange_call(struct exchange *x, enum call_kind kind, const struct tool *t,
			      const struct json *arguments);

/* Answer with x->out as JSON; with a status alone; with an error instead of x->out. `extra` is
 * header lines, each with its CRLF; or NULL. */
void exchange_send(struct exchange *x, int status, const char *extra);
void exchange_send_empty(struct exchange *x, int status, const char *extra);
void exchange_error(struct exchange *x, int status, const char *extra, const char *sentence,
		    enum err_code code);

/* Make the call and answer with {"ok":true,"result":{…}}, or with how it failed. */
void exchange_answer(struct exchange *x, struct dispatch *d);

/* Answer that a call failed; `details` are further members, or NULL. */
void exchange_fail(struct exchange *x, const struct err *e, const struct buf *details);

/* The sentence that clients of the existing contract know; or a longer one that begins like it. */
const char *exchange_sentence(const struct err *e);

/* The headers that name a change; NULL if there is none. */
enum { CHANGE_HEADERS = 96 };
const char *exchange_change_headers(const struct call_change *change, char out[CHANGE_HEADERS]);

/* Answer that what the query says of that name is missing or wrong. */
void exchange_refuse_query(struct exchange *x, const char *name);

/* Add a number of the query to the arguments of a call, if it is there. False after the answer that
 * refuses it: it is no number, or a negative one. */
bool exchange_take_number(struct exchange *x, const struct http_request *r, const char *name,
			  struct json *members, size_t *count);

/* {"ok":false,"error":sentence,"code":…}; `code` may be ERR_NONE. */
void exchange_error_body(struct buf *out, const char *sentence, enum err_code code);

#endif
