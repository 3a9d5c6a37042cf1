/* SPDX-License-Identifier: MIT */
/* config_file: find the files, check who could have written them, set what they say. */

#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/own.h"

int config_file_paths(struct config *c, struct err *e)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[PATH_MAX] = "";

	if (xdg && *xdg == '/')
		(void)snprintf(path, sizeof path, "%s/sidecar/config.json", xdg);
	else if (home && *home == '/')
		(void)snprintf(path, sizeof path, "%s/.config/sidecar/config.json", home);
	c->files[CONFIG_SYSTEM_FILE] = "/etc/sidecar/config.json";
	if (!*path)
		return 0;
	c->files[CONFIG_USER_FILE] = arena_dup(&c->memory, str_of(path)).p;
	return c->files[CONFIG_USER_FILE] ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory");
}

static int check_file(const char *path, const struct stat *st, struct err *e)
{
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s is not a file", path);
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return err_set(e, ERR_PERMISSION_DENIED,
			       "%s belongs to another user, who could change what is allowed here: "
			       "it must belong to you or to root",
			       path);
	if (st->st_mode & S_IWOTH)
		return err_set(e, ERR_PERMISSION_DENIED,
			       "%s can be changed by everybody: chmod o-w %s", path, path);
	return 0;
}

/* ["NAME=value", …] as lines. */
static int pairs_text(const char *name, const struct json *list, struct arena *a, const char **ret,
		      struct err *e)
{
	AUTO_BUF lines = { .max = LIMIT_CONFIG_FILE };

	for (const struct json *v = list->first; v; v = v->next) {
		if (v->type != JSON_STRING || str_index(v->string, '\0') >= 0 ||
		    str_index(v->string, '\n') >= 0)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "%s must be a list of \"NAME=value\", without NUL bytes "
				       "and newlines",
				       name);
		buf_addf(&lines, "%s%.*s", lines.n ? "\n" : "", STR_FMT(v->string));
	}
	*ret = lines.failed ? NULL : arena_dup(a, buf_str(&lines)).p;
	return *ret ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory");
}

/* The text of a value, as a flag would have it. */
static int value_text(const struct setting *s, const char *name, const struct json *v,
		      struct arena *a, const char **ret, struct err *e)
{
	const enum setting_type type = s ? s->type : SETTING_TEXT;
	char number[32];

	if (type == SETTING_SWITCH && v->type == JSON_BOOL) {
		*ret = v->boolean ? "true" : "false";
		return 0;
	}
	if (type == SETTING_PAIRS && v->type == JSON_ARRAY)
		return pairs_text(name, v, a, ret, e);
	const bool is_number = (type == SETTING_NUMBER || type == SETTING_SIZE) &&
			       v->type == JSON_NUMBER && v->whole;
	const bool is_text =
		type != SETTING_SWITCH && type != SETTING_NUMBER && v->type == JSON_STRING;
	if (is_text && str_index(v->string, '\0') >= 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s must not hold NUL bytes", name);
	if (!is_number && !is_text)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s must be %s, not %s", name,
			       type == SETTING_SWITCH	? "true or false"
			       : type == SETTING_NUMBER ? "a whole number"
							: "a string",
			       type == SETTING_NUMBER && v->type == JSON_NUMBER
				       ? "one with a fraction"
				       : json_type_name(v));
	if (is_number)
		(void)snprintf(number, sizeof number, "%lld", (long long)v->integer);
	*ret = arena_dup(a, is_number ? str_of(number) : v->string).p;
	return *ret ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory");
}

static int unknown(const char *path, struct str name, struct err *e)
{
	struct near near = near_to(name);

	setting_near(&near, true);
	return err_set(e, ERR_INVALID_ARGUMENTS, "%s: there is no setting \"%.*s\"%s%s%s", path,
		       STR_FMT(str_upto(name, 80)), near.best ? "; did you mean \"" : "",
		       near.best ? near.best : "", near.best ? "\"?" : "");
}

static int set_member(struct config *c, enum config_origin which, const struct json *m,
		      struct err *e)
{
	const struct setting *s = setting_by_flag(m->name);
	const bool tcp = str_eq(m->name, STR("tcp"));
	char name[PATH_MAX + 64];
	const char *text;

	if (!s && !tcp)
		return unknown(c->files[which], m->name, e);
	(void)snprintf(name, sizeof name, "%s: \"%.*s\"", c->files[which], STR_FMT(m->name));
	if (value_text(s, name, m, &c->memory, &text, e) < 0)
		return -1;
	if (tcp)
		return setting_set_tcp(c, name, text, which, e);
	c->origin[setting_index(s)] = (uint8_t)which;
	return setting_set(s, name, text, c, e);
}

/* The parser counts bytes, people count lines. */
static int fail_parse(const char *path, struct str text, const struct err *why, struct err *e)
{
	const struct str before = STR("Invalid JSON at byte ");
	struct str number, what;
	size_t line = 1;
	int64_t at;

	if (!str_starts(str_of(why->msg), before) ||
	    !str_cut(str_from(str_of(why->msg), before.n), ':', &number, &what) ||
	    !str_int(number, &at))
		return err_set(e, why->code, "%s: %s", path, why->msg);
	for (size_t i = 0; i < (size_t)at && i < text.n; i++)
		line += text.p[i] == '\n';
	return err_set(e, why->code, "%s, line %zu:%.*s", path, line, STR_FMT(what));
}

int config_file_set(struct config *c, enum config_origin which, struct str text, bool is_public,
		    struct err *e)
{
	const char *path = c->files[which];
	const struct json *object;
	struct err why;

	if (json_parse(text, &c->memory, &object, &why) < 0)
		return fail_parse(path, text, &why, e);
	if (object->type != JSON_OBJECT)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s must hold an object, not %s", path,
			       json_type_name(object));
	if (json_get(object, STR("token")) && is_public)
		return err_set(e, ERR_PERMISSION_DENIED,
			       "%s holds a token and can be read by everybody: chmod o-r %s", path,
			       path);
	for (const struct json *m = object->first; m; m = m->next) {
		/* Two readers of the file could take different ones to be in force. */
		if (json_get(object, m->name) != m)
			return err_set(e, ERR_INVALID_ARGUMENTS, "%s: \"%.*s\" is set twice", path,
				       STR_FMT(str_upto(m->name, 80)));
		if (set_member(c, which, m, e) < 0)
			return -1;
	}
	return 0;
}

int config_file_read(struct config *c, enum config_origin which, struct err *e)
{
	const char *path = c->files[which];
	AUTO_FD fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;

	if (!path || (fd < 0 && (errno == ENOENT || errno == ENOTDIR)))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, "Cannot read %s", path);
	if (check_file(path, &st, e) < 0)
		return -1;
	char *text = arena_alloc(&c->memory, LIMIT_CONFIG_FILE + 1);
	const ssize_t n = text ? io_read_full(fd, text, LIMIT_CONFIG_FILE + 1) : -1;
	if (n < 0)
		return err_errno(e, "Cannot read %s", path);
	if (n > LIMIT_CONFIG_FILE)
		return err_set(e, ERR_FILE_TOO_LARGE, "%s is larger than %d bytes", path,
			       LIMIT_CONFIG_FILE);
	c->was_read[which] = true;
	return config_file_set(c, which, (struct str){ text, (size_t)n }, st.st_mode & S_IROTH, e);
}

static bool lies_in(const char *path, const char *directory)
{
	char real_path[PATH_MAX], real_directory[PATH_MAX];

	if (!directory || !realpath(path, real_path) || !realpath(directory, real_directory))
		return false;
	const size_t n = strlen(real_directory);
	return strncmp(real_path, real_directory, n) == 0 &&
	       (real_path[n] == '/' || strcmp(real_directory, "/") == 0);
}

int config_file_check(const struct config *c, struct err *e)
{
	for (enum config_origin i = CONFIG_SYSTEM_FILE; i <= CONFIG_USER_FILE; i++)
		if (c->was_read[i] &&
		    (lies_in(c->files[i], c->workspace) || lies_in(c->files[i], c->data_dir)))
			return err_set(e, ERR_PERMISSION_DENIED,
				       "%s lies where tools may write, so they could change what "
				       "they are allowed: move it out of the workspace, or set "
				       "XDG_CONFIG_HOME",
				       c->files[i]);
	return 0;
}
