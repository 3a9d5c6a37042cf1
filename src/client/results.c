/* SPDX-License-Identifier: MIT */
/* results: take the needed parts of an answer and put them into one block. */

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "base/base64.h"
#include "base/own.h"
#include "client/client.h"

static void *bad(struct sidecar_error *error, const char *name, const char *must)
{
	struct err e;

	(void)err_set(&e, ERR_BAD_ANSWER, "The sidecar's answer is not understood: %s must be %s",
		      name, must);
	client_error(error, &e);
	return NULL;
}

static void *no_memory(struct sidecar_error *error)
{
	const struct err e = { .code = ERR_TOO_BUSY, .msg = "Not enough memory for the answer" };

	client_error(error, &e);
	return NULL;
}

/* Allocate a zeroed struct of `size` bytes, and after it `extra` bytes for strings, at *strings. */
static void *new_block(size_t size, size_t extra, char **strings, struct sidecar_error *error)
{
	char *p = mem_resize(NULL, size + extra, 1);

	if (!p)
		return no_memory(error);
	*strings = p + size;
	return memset(p, 0, size);
}

/* Copy a string, and a NUL after it, to the next free bytes of the block. */
static const char *add_string(char **strings, struct str s)
{
	char *to = *strings;

	if (s.n)
		memcpy(to, s.p, s.n);
	to[s.n] = '\0';
	*strings += s.n + 1;
	return to;
}

/* Turn the body's memory into a struct of `size` bytes. The text, which is part of the body, is
 * kept at *content with a NUL after it; everything else is lost, names of members too. */
static void *reuse_body(struct buf *body, size_t size, struct str text, const char **content)
{
	char *p = body->p;
	size_t at = (size_t)(text.p - p);

	assert(text.p >= p && at + text.n <= body->n && body->n + size < body->cap);
	if (at < size) {
		memmove(p + size, text.p, text.n);
		at = size;
	}
	p[at + text.n] = '\0';
	*content = p + at;
	body->p = NULL;
	buf_done(body);
	return p;
}

static const struct json *member(const struct json *object, struct str name, enum json_type type)
{
	const struct json *v = json_get(object, name);

	return v && v->type == type ? v : NULL;
}

static struct sidecar_file *image(const struct json *result, struct sidecar_error *error)
{
	const struct str data = json_text(result, STR("data"));
	const struct str mime = json_text(result, STR("mimeType"));
	char *strings;

	if (!data.p || !mime.p)
		return bad(error, "an image", "data and mimeType");
	struct sidecar_file *f =
		new_block(sizeof *f, base64_room(data.n) + 1 + mime.n + 1, &strings, error);
	if (!f)
		return NULL;
	f->mime_type = add_string(&strings, mime);
	f->content = strings;
	const ptrdiff_t n = base64_decode(data, strings);
	if (n < 0) {
		mem_free(f);
		return bad(error, "data", "base64");
	}
	strings[n] = '\0';
	f->length = (size_t)n;
	return f;
}

struct sidecar_file *result_file(struct buf *body, const struct json *result,
				 struct sidecar_error *error)
{
	const struct str content = json_text(result, STR("content"));
	struct sidecar_file values = {
		.length = content.n,
		.total_lines = json_int(result, STR("totalLines"), 0),
		.has_more = json_is_true(result, STR("hasMore")),
		.too_long = json_is_true(json_get(result, STR("truncation")),
					 STR("firstLineExceedsLimit")),
	};

	if (str_eq(json_text(result, STR("type")), STR("image")))
		return image(result, error);
	if (!content.p)
		return bad(error, "content", "a string");
	struct sidecar_file *f = reuse_body(body, sizeof *f, content, &values.content);
	*f = values;
	return f;
}

struct sidecar_change *result_change(const struct json *result, int64_t change,
				     struct sidecar_error *error)
{
	const struct str path = json_text(result, STR("path")),
			 diff = json_text(result, STR("diff"));
	char *strings;

	if (!path.p)
		return bad(error, "path", "a string");
	struct sidecar_change *c = new_block(sizeof *c, path.n + 1 + diff.n + 1, &strings, error);
	if (!c)
		return NULL;
	c->path = add_string(&strings, path);
	c->diff = diff.p ? add_string(&strings, diff) : NULL;
	c->bytes = json_int(result, STR("bytes"), 0);
	c->change = change;
	return c;
}

/* The bytes of the texts of a patch's result, and how many files and notes it has. False if it is
 * not one. */
static bool measure_patch(const struct json *files, const struct json *fuzz, size_t *count,
			  size_t *notes, size_t *bytes)
{
	*count = *notes = *bytes = 0;
	for (const struct json *f = files->first; f; f = f->next, ++*count) {
		const struct str path = json_text(f, STR("path")), kind = json_text(f, STR("kind"));
		if (!path.p || !kind.p)
			return false;
		*bytes += path.n + kind.n + json_text(f, STR("from")).n +
			  json_text(f, STR("diff")).n + 4;
	}
	for (const struct json *n = fuzz->first; n; n = n->next, ++*notes) {
		if (n->type != JSON_STRING)
			return false;
		*bytes += n->string.n + 1;
	}
	return true;
}

struct sidecar_patch *result_patch(const struct json *result, int64_t change,
				   struct sidecar_error *error)
{
	const struct json *list = member(result, STR("files"), JSON_ARRAY);
	const struct json *fuzz = member(result, STR("fuzz"), JSON_ARRAY);
	size_t count, notes, bytes;
	char *strings;

	if (!list || !fuzz || !measure_patch(list, fuzz, &count, &notes, &bytes))
		return bad(error, "files and fuzz", "arrays");
	struct sidecar_patched *files;
	const char **texts;
	const size_t lists = count * sizeof *files + (notes + 1) * sizeof *texts;
	struct sidecar_patch *p = new_block(sizeof *p, lists + bytes, &strings, error);
	if (!p)
		return NULL;
	_Static_assert(sizeof *p % alignof(struct sidecar_patched) == 0, "the files follow it");
	files = (struct sidecar_patched *)(void *)strings;
	texts = (const char **)(void *)(strings + count * sizeof *files);
	strings += lists;
	for (const struct json *f = list->first; f; f = f->next) {
		const struct str from = json_text(f, STR("from"));
		files[p->count++] = (struct sidecar_patched){
			.path = add_string(&strings, json_text(f, STR("path"))),
			.kind = add_string(&strings, json_text(f, STR("kind"))),
			.from = from.p ? add_string(&strings, from) : NULL,
			.added = json_int(f, STR("added"), 0),
			.removed = json_int(f, STR("removed"), 0),
			.diff = add_string(&strings, json_text(f, STR("diff"))),
		};
	}
	p->files = files;
	p->fuzz = texts;
	p->change = change;
	for (const struct json *n = fuzz->first; n; n = n->next)
		*texts++ = add_string(&strings, n->string);
	*texts = NULL;
	return p;
}

struct sidecar_names *result_names(const struct json *result, struct sidecar_error *error)
{
	const struct json *files = member(result, STR("files"), JSON_ARRAY);
	size_t count = 0, bytes = 0;
	char *strings;

	if (!files)
		return bad(error, "files", "an array");
	for (const struct json *v = files->first; v; v = v->next, count++) {
		if (v->type != JSON_STRING)
			return bad(error, "files", "an array of strings");
		bytes += v->string.n + 1;
	}
	const size_t list = (count + 1) * sizeof(char *);
	struct sidecar_names *n = new_block(sizeof *n, list + bytes, &strings, error);
	if (!n)
		return NULL;
	_Static_assert(sizeof *n % alignof(char *) == 0, "the names follow the struct");
	const char **names = (const char **)(void *)strings;
	strings += list;
	for (const struct json *v = files->first; v; v = v->next)
		names[n->count++] = add_string(&strings, v->string);
	names[n->count] = NULL;
	n->names = names;
	n->truncated = json_is_true(result, STR("truncated"));
	return n;
}

/* Whether the server left something out of a text that is not a file's. */
static bool is_cut(const struct json *result)
{
	const struct json *details = json_get(result, STR("details"));

	return json_get(result, STR("truncation")) || json_get(details, STR("truncation")) ||
	       json_get(details, STR("matchLimitReached")) ||
	       json_get(details, STR("linesTruncated"));
}

static struct sidecar_text *make_text(struct buf *body, struct str text, bool truncated)
{
	const char *content;
	struct sidecar_text *t = reuse_body(body, sizeof *t, text, &content);

	*t = (struct sidecar_text){ content, text.n, truncated };
	return t;
}

struct sidecar_text *result_text(struct buf *body, const struct json *result, struct str name,
				 struct sidecar_error *error)
{
	const struct str text = json_text(result, name);

	return text.p ? make_text(body, text, is_cut(result)) : bad(error, name.p, "a string");
}

struct sidecar_text *result_listing(struct buf *body, const struct json *result, int64_t limit,
				    struct sidecar_error *error)
{
	const struct str text = json_text(result, STR("output"));
	struct str line, rest = text;
	bool more = text.n > 0;

	if (!text.p)
		return bad(error, "output", "a string");
	while (more && limit-- > 0)
		more = str_cut(rest, '\n', &line, &rest);
	const size_t shown = more ? (size_t)(rest.p - text.p) - 1 : text.n;
	return make_text(body, str_upto(text, shown), more || is_cut(result));
}

struct sidecar_text *result_body(struct buf *body, struct sidecar_error *error)
{
	return buf_fit(body, ANSWER_SPARE) ? make_text(body, buf_str(body), false)
					   : no_memory(error);
}

struct sidecar_health *result_health(struct str body, const struct json *root,
				     struct sidecar_error *error)
{
	const struct str version = json_text(root, STR("version"));
	char *strings;

	if (!version.p)
		return bad(error, "version", "a string");
	struct sidecar_health *h =
		new_block(sizeof *h, version.n + 1 + body.n + 1, &strings, error);
	if (h) {
		h->version = add_string(&strings, version);
		h->json = add_string(&strings, body);
		h->length = body.n;
	}
	return h;
}

struct sidecar_observation *result_observation(struct buf *body, const struct json *root,
					       struct sidecar_error *error)
{
	const struct json *success = member(root, STR("success"), JSON_BOOL);
	const struct json *why = member(root, STR("error"), JSON_OBJECT);
	const struct str code = json_text(why, STR("code")),
			 message = json_text(why, STR("message"));
	char *strings;

	if (!success)
		return bad(error, "success", "a boolean");
	if (!success->boolean && (!code.p || !message.p))
		return bad(error, "error", "an object with code and message");
	struct sidecar_observation values = { .success = success->boolean, .length = body->n };
	struct sidecar_observation *o;
	if (values.success) {
		o = reuse_body(body, sizeof *o, buf_str(body), &values.json);
	} else {
		o = new_block(sizeof *o, code.n + 1 + message.n + 1 + body->n + 1, &strings, error);
		if (!o)
			return NULL;
		values.code = add_string(&strings, code);
		values.message = add_string(&strings, message);
		values.json = add_string(&strings, buf_str(body));
	}
	*o = values;
	return o;
}
