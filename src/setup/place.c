/* SPDX-License-Identifier: MIT */
/* place: paths of configurations; reading, replacing and removing them. A record is one JSON file
 * for each agent and place, with the old contents in base64. */

#include "setup/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/io.h"
#include "base/json.h"
#include "base/jw.h"
#include "setup/limits.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

static int fits(int n, struct err *e)
{
	return n > 0 && n < PATH_MAX ? 0 : err_set(e, ERR_INVALID_PATH, "a path is too long");
}

static int home_of(const char **ret, struct err *e)
{
	const char *home = getenv("HOME");

	if (!home || *home != '/')
		return err_set(e, ERR_INVALID_CONFIG, "HOME does not name a directory");
	*ret = home;
	return 0;
}

int place_of(const struct agent_file *f, bool user, const char *project, char out[PATH_MAX],
	     struct err *e)
{
	const char *dir = f->env ? getenv(f->env) : NULL, *home;
	int n;

	if (!user && f->project)
		n = snprintf(out, PATH_MAX, "%s/%s", project, f->project);
	else if (dir && *dir == '/')
		n = snprintf(out, PATH_MAX, "%s/%s", dir, f->user);
	else if (home_of(&home, e) < 0)
		return -1;
	else
		n = snprintf(out, PATH_MAX, "%s/%s%s%s", home, f->home, *f->home ? "/" : "",
			     f->user);
	if (fits(n, e) < 0 || !f->also)
		return n > 0 && n < PATH_MAX ? 0 : -1;
	const size_t end = strlen(out), more = strlen(f->also);
	if (end + more < PATH_MAX && access(out, F_OK) < 0) {
		memcpy(out + end, f->also, more + 1);
		if (access(out, F_OK) < 0)
			out[end] = 0;
	}
	return 0;
}

int place_of_records(char out[PATH_MAX], struct err *e)
{
	const char *state = getenv("XDG_STATE_HOME"), *home;

	if (state && *state == '/')
		return fits(snprintf(out, PATH_MAX, "%s/sidecar/setup", state), e);
	if (home_of(&home, e) < 0)
		return -1;
	return fits(snprintf(out, PATH_MAX, "%s/.local/state/sidecar/setup", home), e);
}

int place_of_project(char out[PATH_MAX], struct err *e)
{
	return getcwd(out, PATH_MAX) ? 0 : err_errno(e, "the current directory");
}

bool place_find_program(const char *name, char out[PATH_MAX])
{
	struct str rest = str_of(getenv("PATH")), dir;

	while (rest.n) {
		(void)str_cut(rest, ':', &dir, &rest);
		const int n = snprintf(out, PATH_MAX, "%.*s/%s", STR_FMT(dir), name);
		if (dir.n && n < PATH_MAX && access(out, X_OK) == 0)
			return true;
	}
	return false;
}

int place_of_program(char self[PATH_MAX], char out[PATH_MAX], struct err *e)
{
	char found[PATH_MAX], resolved[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	if (n < 0)
		return err_errno(e, "the path of this program");
	self[n] = 0;
	const bool in_path = place_find_program("sidecar", found) && realpath(found, resolved) &&
			     strcmp(resolved, self) == 0;
	(void)snprintf(out, PATH_MAX, "%s", in_path ? "sidecar" : self);
	return 0;
}

bool place_has_content(const char *path)
{
	const struct dirent *d = NULL;
	DIR *dir = opendir(path);

	if (!dir)
		return errno == ENOTDIR;
	while ((d = readdir(dir)) && d->d_name[0] == '.')
		;
	const bool found = d;
	(void)closedir(dir);
	return found;
}

void place_content_done(struct place_content *c)
{
	buf_done(&c->bytes);
}

int place_read(const char *path, struct place_content *ret, struct err *e)
{
	struct stat st;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	ret->bytes = (struct buf){ .max = LIMIT_SETUP_FILE };
	ret->exists = fd >= 0;
	if (fd < 0 && errno == ENOENT && lstat(path, &st) < 0)
		return 0;
	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_FILE_NOT_FOUND, "%s is a link to a file that does not exist",
			       path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_NOT_A_FILE, "%s is not a file", path);
	if (st.st_size > LIMIT_SETUP_FILE)
		return err_set(e, ERR_FILE_TOO_LARGE, "%s is too large", path);
	char *room = buf_room(&ret->bytes, (size_t)st.st_size + 1);
	const ssize_t n = room ? io_read_full(fd, room, (size_t)st.st_size + 1) : -1;
	if (n < 0)
		return err_errno(e, "%s", path);
	buf_filled(&ret->bytes, (size_t)n);
	return 0;
}

/* Split a path into its directory, without links, and the name of the file in it. A directory that
 * does not exist stays as it is. */
static int split(const char *path, char dir[PATH_MAX], char name[PATH_MAX], struct err *e)
{
	char real[PATH_MAX];
	const char *whole = realpath(path, real) ? real : path;
	const char *slash = strrchr(whole, '/');

	if (!slash || slash == whole || strlen(whole) >= PATH_MAX)
		return err_set(e, ERR_INVALID_PATH, "%s cannot be a configuration", path);
	memcpy(dir, whole, (size_t)(slash - whole));
	dir[slash - whole] = 0;
	(void)snprintf(name, PATH_MAX, "%s", slash + 1);
	return 0;
}

void place_first_missing(const char *path, char out[PATH_MAX])
{
	char at[PATH_MAX];
	char *slash;

	(void)snprintf(at, sizeof at, "%s", path);
	*out = 0;
	while ((slash = strrchr(at, '/')) && slash > at) {
		*slash = 0;
		if (access(at, F_OK) == 0)
			return;
		(void)snprintf(out, PATH_MAX, "%s", at);
	}
}

static bool is_same(const struct place_content *one, const struct place_content *other)
{
	return one->exists == other->exists && str_eq(buf_str(&one->bytes), buf_str(&other->bytes));
}

static int changed_meanwhile(const char *path, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "%s was changed by another program meanwhile", path);
}

static int write_file(const char *path, const struct place_content *from,
		      const struct place_content *to, struct err *e)
{
	char dir[PATH_MAX], name[PATH_MAX];
	AUTO_WORKSPACE ws = NULL;
	AUTO_REPLACE r = REPLACE_NONE;
	CLEANUP(place_content_done) struct place_content now = { .bytes.max = LIMIT_SETUP_FILE };
	struct path p;

	if (split(path, dir, name, e) < 0)
		return -1;
	if (ws_new(&(struct ws_options){ .root = dir }, &ws, e) < 0)
		return -1;
	if (ws_resolve(ws, str_of(name), PATH_STRICT, &p, e) < 0 ||
	    replace_begin(ws, NULL, &p, REPLACE_SYNC | (to->private ? REPLACE_MODE : 0), &r, e) <
		    0 ||
	    (r.old >= 0 && replace_read(&r, &now.bytes, e) < 0)) {
		ws_unmake(ws);
		return -1;
	}
	now.exists = r.old >= 0;
	if (!is_same(&now, from))
		return changed_meanwhile(path, e);
	r.mode = S_IRUSR | S_IWUSR;
	return replace_commit(&r, buf_str(&to->bytes), e);
}

static int remove_file(const char *path, const struct place_content *from, const char *made,
		       struct err *e)
{
	char dir[PATH_MAX], name[PATH_MAX];
	CLEANUP(place_content_done) struct place_content now = { .exists = false };

	if (place_read(path, &now, e) < 0 || split(path, dir, name, e) < 0)
		return -1;
	if (now.exists && !is_same(&now, from))
		return changed_meanwhile(path, e);
	if (now.exists && unlink(path) < 0)
		return err_errno(e, "%s", path);
	while (*made && str_starts(str_of(dir), str_of(made)) && rmdir(dir) == 0)
		*strrchr(dir, '/') = 0;
	return 0;
}

int place_change(const char *path, const struct place_content *from, const struct place_content *to,
		 const char *made, struct err *e)
{
	return to->exists ? write_file(path, from, to, e) : remove_file(path, from, made, e);
}

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
	const struct json *all;

	*ret = (struct setup_record){ .project = project };
	if (name_record(agent, project, ret->path, e) < 0 || place_read(ret->path, &content, e) < 0)
		return -1;
	if (!content.exists)
		return 0;
	if (json_parse(buf_str(&content.bytes), memory, &all, e) < 0)
		return err_set(e, ERR_INVALID_CONFIG, "%s cannot be read", ret->path);
	for (const struct json *f = json_items(all, STR("files")); f; f = f->next)
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
	if (r->project)
		jw_str(&w, "project", str_of(r->project));
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

/* "claude-0123456789abcdef.json", or "claude-user.json" */
static bool read_name(const char *dir, const char *file, struct arena *memory,
		      struct record_name *ret)
{
	CLEANUP(place_content_done) struct place_content content = { .exists = false };
	const struct str name = str_of(file);
	const char *dash = strrchr(file, '-');
	const struct json *all;
	char path[PATH_MAX];
	struct err e;

	if (snprintf(path, sizeof path, "%s/%s", dir, file) >= PATH_MAX ||
	    place_read(path, &content, &e) < 0 ||
	    json_parse(buf_str(&content.bytes), memory, &all, &e) < 0)
		return false;
	const struct str project = json_text(all, STR("project"));
	ret->agent = arena_dup(memory, str_upto(name, (size_t)(dash - file))).p;
	ret->project = project.n ? arena_dup(memory, project).p : NULL;
	return ret->agent && (project.n > 0) != (strcmp(dash, "-user.json") == 0);
}

struct record_name *record_list(struct arena *memory, size_t *unreadable)
{
	struct record_name *list = NULL;
	char dir[PATH_MAX];
	struct err e;
	DIR *d = place_of_records(dir, &e) < 0 ? NULL : opendir(dir);

	*unreadable = 0;
	for (const struct dirent *at; d && (at = readdir(d));) {
		struct record_name *one = arena_array(memory, 1, sizeof *one);
		if (!one || !strchr(at->d_name, '-') || !str_ends(str_of(at->d_name), STR(".json")))
			continue;
		if (!read_name(dir, at->d_name, memory, one)) {
			++*unreadable;
			continue;
		}
		one->next = list;
		list = one;
	}
	if (d)
		(void)closedir(d);
	return list;
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
