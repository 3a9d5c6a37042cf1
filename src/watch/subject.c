/* SPDX-License-Identifier: MIT */
/* subject: dial, send one request, read its answer. */

#include "watch/subject.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "watch/limits.h"

void subject_name(const struct subject *t, struct buf *out)
{
	if (t->at.path)
		buf_addf(out, "unix:%s", t->at.path);
	else
		buf_addf(out, "tcp:%s:%d", t->at.host, t->at.port);
}

int subject_dial(const struct subject *t, struct cancel *cancel, enum dial_failure *failure,
		 struct err *e)
{
	char room[512];
	struct buf name = buf_over(room, sizeof room);
	struct err why;
	const int fd = dial(&t->at, cancel, io_now_ms() + LIMIT_ASK_MS, failure, &why);

	if (fd >= 0)
		return fd;
	subject_name(t, &name);
	return err_set(e, why.code, "No sidecar is listening on %.*s%s%s", STR_FMT(buf_str(&name)),
		       *why.msg ? ": " : "", why.msg);
}

int subject_request(const struct subject *t, const struct request *q, const char *extra,
		    int64_t silence_ms, struct answer *ret, struct err *e)
{
	const struct patience patience = { silence_ms, IO_FOREVER, q->cancel };
	struct conn_outcome outcome;
	enum dial_failure failure;
	AUTO_BUF fields = { .max = LIMIT_HTTP_HEAD };

	buf_addf(&fields, "Host: localhost\r\nConnection: close\r\n%s", extra ? extra : "");
	if (t->token)
		buf_addf(&fields, "Authorization: Bearer %s\r\n", t->token);
	const int fd = subject_dial(t, q->cancel, &failure, e);
	struct conn *c = fd < 0 ? NULL : conn_new(fd);
	if (fd >= 0 && !c)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory");
	if (!c)
		return -1;
	const int rc = conn_request(c, q, buf_str(&fields), &patience, ret, &outcome, e);
	conn_free(c);
	return rc;
}

const struct json *subject_get(const struct subject *t, const char *url, struct cancel *cancel,
			       struct arena *a, struct err *e)
{
	const struct request q = { .method = "GET", .target = url, .cancel = cancel };
	CLEANUP(answer_done)
	struct answer answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } };
	const struct json *object;

	if (subject_request(t, &q, NULL, LIMIT_ASK_MS, &answer, e) < 0)
		return NULL;
	const struct str text = arena_dup(a, buf_str(&answer.body));
	if (answer.status == 401)
		(void)err_set(e, ERR_UNAUTHORIZED,
			      "The sidecar wants a token: give it with --token-file, or in "
			      "SIDECAR_AUTH_TOKEN");
	else if (answer.status != 200)
		(void)err_set(e, ERR_BAD_ANSWER, "The sidecar answered %s with status %d", url,
			      answer.status);
	else if (text.p && json_parse(text, a, &object, e) == 0 && object->type == JSON_OBJECT)
		return object;
	else
		(void)err_set(e, ERR_BAD_ANSWER, "What answered is not a sidecar");
	return NULL;
}
