/* SPDX-License-Identifier: MIT */
/* record: one JSON file for each agent and place, with the old contents in base64. */

#include "setup/record.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/jw.h"
#include "setup/limits.h"
#include "setup/place.h"

static int name_record(const char *agent, const char *project, char out[PATH_MAX], struct err *e)
{
	char dir[PATH_MAX], hex[SHA256_TEXT] = "user";

	if (place_of_records(dir, e) < 0)
		return -1;
	if (project)
		record_hash(str_of(project), hex);
	const int n = snprintf(out, PATH_MAX, "%s/%s-%.16s.json", dir, agent, hex);
	return n < PATH_MAX ? 0 : err_set(e, ERR_INVALID_PATH, "a path is too long");
}

static int read_file(const struct json *v, struct arena *memory, struct record_file *ret)
{
	const struct str before = json_text(v, STR("before")), after = json_text(v, STR("after"));
	const struct json *existed = json_get(v, STR("existed"));
	char *bytes = arena_alloc(memory, base64_room(before.n));
	const ptrdiff_t n = bytes ? base64_decode(before, bytes) : -1;

	ret->path = arena_dup(memory, json_text(v, STR("path")));
	ret->made = arena_dup(memory, json_text(v, STR("made")));
	if (n < 0 || !ret->path.n || !after.p || after.n >= sizeof ret->after || !existed)
		return -1;
	ret->existed = existed->boolean;
	ret->before = (struct str){ bytes, (size_t)n };
	memcpy(ret->after, after.p, after.n);
	ret->after[after.n] = 0;
	return 0;
}

int record_load(const char *agent, const char *project, struct arena *memory,
		struct setup_record *ret, struct err *e)
{
	CLEANUP(place_content_done) struct place_content content = { .exists = false };
	const struct json *all, *files;

	*ret = (struct setup_record){ .count = 0 };
	if (name_record(agent, project, ret->path, e) < 0 || place_read(ret->path, &content, e) < 0)
		return -1;
	if (!content.exists)
		return 0;
	if (json_parse(buf_str(&content.bytes), memory, &all, e) < 0)
		return err_set(e, ERR_INVALID_CONFIG, "%s cannot be read", ret->path);
	files = json_get(all, STR("files"));
	for (const struct json *f = files ? files->first : NULL; f; f = f->next)
		if (ret->count == RECORD_FILES ||
		    read_file(f, memory, &ret->file[ret->count++]) < 0)
			return err_set(e, ERR_INVALID_CONFIG, "%s cannot be read", ret->path);
	return 0;
}

int record_save(const struct setup_record *r, struct err *e)
{
	CLEANUP(place_content_done) struct place_content old = { .exists = false };
	CLEANUP(place_content_done)
	struct place_content now = { .bytes.max = LIMIT_SETUP_RECORD,
				     .exists = r->count > 0,
				     .private = true };
	struct jw w = jw_to(&now.bytes);

	jw_object(&w, NULL);
	jw_array(&w, "files");
	for (size_t i = 0; i < r->count; i++) {
		const struct record_file *f = &r->file[i];
		jw_object(&w, NULL);
		jw_str(&w, "path", f->path);
		jw_bool(&w, "existed", f->existed);
		jw_str(&w, "made", f->made);
		jw_str(&w, "after", str_of(f->after));
		jw_base64(&w, "before", f->before);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	if (now.bytes.failed)
		return err_set(e, ERR_TOO_BUSY, "not enough memory");
	if (place_read(r->path, &old, e) < 0)
		return -1;
	return place_change(r->path, &old, &now, "", e);
}

struct record_file *record_find(struct setup_record *r, const char *path)
{
	for (size_t i = 0; i < r->count; i++)
		if (str_eq(r->file[i].path, str_of(path)))
			return &r->file[i];
	return NULL;
}

void record_hash(struct str content, char out[SHA256_TEXT])
{
	uint8_t hash[SHA256_SIZE];

	sha256_of(content, hash);
	(void)sha256_text(hash, out);
}

bool record_matches(const struct record_file *f, struct str content)
{
	char hex[SHA256_TEXT];

	record_hash(content, hex);
	return strcmp(hex, f->after) == 0;
}
