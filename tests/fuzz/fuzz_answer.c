/* SPDX-License-Identifier: MIT */
/*
 * fuzz_answer: whatever a server answers, to every kind of call.
 *
 * The first byte chooses the call, the rest is what comes on the connection before it is closed.
 */

#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/json.h"
#include "base/limits.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *arg, struct str piece, struct err *e)
{
	(void)e;
	*(size_t *)arg += piece.n;
	return 0;
}

/* As an operation does: results are made of a body that was parsed over, or as it is. */
static void *convert(unsigned kind, struct buf *body, struct arena *arena)
{
	const struct json *root, *result;
	struct sidecar_error error;
	struct err e;

	kind %= 7;
	if (kind == 6)
		return result_body(body, &error);
	if (!buf_fit(body, ANSWER_SPARE) ||
	    (kind < 4 ? json_parse_over(body->p, body->n, arena, &root, &e)
		      : json_parse(buf_str(body), arena, &root, &e)) < 0)
		return NULL;
	result = json_get(root, STR("result"));

	switch (kind) {
	case 0:
		return result_file(body, result, &error);
	case 1:
		return result_change(result, 0, &error);
	case 2:
		return result_names(result, &error);
	case 3:
		return result_text(body, result, STR("output"), &error);
	case 4:
		return result_health(buf_str(body), root, &error);
	default:
		return result_observation(body, root, &error);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { .max = LIMIT_CLIENT_MEMORY };
	CLEANUP(answer_done)
	struct answer answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } };
	const struct patience patience = { .deadline_ms = IO_FOREVER };
	size_t streamed = 0;
	struct conn_outcome outcome;
	struct err e = { .code = ERR_NONE };
	int pair[2];

	if (size < 1 || size > 64 << 10 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return 0;
	const struct request q = {
		.method = data[0] & 0x40 ? "HEAD" : "POST",
		.target = "/x",
		.body = STR("{}"),
		.piece = data[0] & 0x80 ? take : NULL,
		.arg = &streamed,
	};
	(void)write(pair[1], data + 1, size - 1);
	(void)shutdown(pair[1], SHUT_WR);
	struct conn *c = conn_new(pair[0]);
	const int rc = conn_request(c, &q, STR("Host: x\r\n"), &patience, &answer, &outcome, &e);
	assert((rc == 0) == (e.code == ERR_NONE)); /* a success leaves *e alone */
	assert(streamed <= size);
	if (rc == 0)
		sidecar_free(convert(data[0], &answer.body, &arena));
	conn_free(c);
	(void)close(pair[1]);
	return 0;
}
