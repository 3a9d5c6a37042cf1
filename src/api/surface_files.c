/* SPDX-License-Identifier: MIT */
/* surface_files: files of the workspace as bodies of requests and answers. */

#include <stdio.h>

#include "api/visit.h"
#include "base/own.h"
#include "base/utc.h"
#include "net/http_url.h"
#include "net/multipart.h"
#include "tools/files.h"

#define BYTES	"application/octet-stream"
#define NOSNIFF "X-Content-Type-Options: nosniff\r\n"

/* The part of a form called "file"; its name, if it has one, goes to v->path. */
static int file_of_form(struct visit *v, struct str *content, struct err *e)
{
	struct multipart_part part = { .name = STR("") };
	struct http_refusal why = { 400, "The form has no part called \"file\"" };
	struct multipart m;
	int rc = multipart_begin(&m, http_header(&v->r->head, STR("content-type")), v->r->body,
				 &why);

	while (rc >= 0 && (rc = multipart_next(&m, &part, &why)) > 0)
		if (str_eq(part.name, STR("file")))
			break;
	if (rc <= 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s", why.sentence);
	*content = part.content;
	if (v->path.p)
		return 0;
	char *name = arena_alloc(v->x->arena, part.filename.n + 1);
	if (!name)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the form, try again");
	v->path = (struct str){ name, multipart_unescape(part.filename, name) };
	return v->path.n
		       ? 0
		       : err_set(e, ERR_INVALID_ARGUMENTS, "The file in the form must have a name");
}

int visit_upload(struct visit *v, struct err *e)
{
	struct str content;

	v->path = (struct str){ NULL, 0 };
	if (file_of_form(v, &content, e) < 0 || files_put(&v->call, v->path, content, -1, e) < 0)
		return -1;
	jw_object(&v->w, NULL);
	jw_open_str(&v->w, "message");
	jw_piece(&v->w, STR("File '"));
	jw_piece(&v->w, v->path);
	jw_piece(&v->w, STR("' uploaded successfully."));
	jw_close_str(&v->w);
	return visit_done(v, e);
}

int visit_download(struct visit *v, struct err *e)
{
	struct stat st;
	AUTO_FD fd = files_open(&v->call, v->path, &st, e);

	if (fd < 0 && e->code == ERR_NOT_A_FILE)
		return err_set(e, ERR_FILE_NOT_FOUND, "File not found");
	if (fd < 0)
		return -1;
	/* A slow client holds this thread until it has taken the file. */
	if (!v->x->slow(v->x->slow_arg))
		return err_set(e, ERR_TOO_BUSY, "Too many files are being sent, try again later");
	http_send_file(v->x->http, BYTES, NOSNIFF, fd, st.st_size);
	return 0;
}

static void write_entry(struct jw *w, const struct file_entry *f, bool standard)
{
	char text[40];

	jw_object(w, NULL);
	jw_str(w, "name", f->name);
	jw_int(w, "size", f->st.st_size);
	jw_str(w, "type", S_ISDIR(f->st.st_mode) ? STR("directory") : STR("file"));
	if (standard) {
		const struct utc t = utc_of(f->st.st_mtim.tv_sec);
		(void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)t.year,
			       t.month, t.day, t.hour, t.minute, t.second);
		jw_str(w, "modified_at", str_of(text));
		(void)snprintf(text, sizeof text, "%04o", f->st.st_mode & 0777);
		jw_str(w, "mode", str_of(text));
	} else {
		jw_num(w, "mod_time",
		       (double)f->st.st_mtim.tv_sec + (double)f->st.st_mtim.tv_nsec / 1e9);
	}
	jw_end(w);
}

int visit_list(struct visit *v, struct err *e)
{
	struct file_list entries;

	if (files_list(&v->call, v->path, &entries, e) < 0)
		return -1;
	jw_array(&v->w, NULL);
	for (size_t i = 0; i < entries.count; i++)
		write_entry(&v->w, &entries.entries[i], false);
	return visit_done(v, e);
}

int visit_exists(struct visit *v, struct err *e)
{
	struct stat st;
	const bool found = files_stat(&v->call, v->path, &st, e) == 0;

	if (!found && e->code != ERR_FILE_NOT_FOUND && e->code != ERR_NOT_A_DIRECTORY)
		return -1;
	jw_object(&v->w, NULL);
	jw_str(&v->w, "path", v->path);
	jw_bool(&v->w, "exists", found);
	return visit_done(v, e);
}

int visit_get_file(struct visit *v, struct err *e)
{
	struct file_list entries;
	struct stat st;

	if (files_stat(&v->call, v->path, &st, e) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		return visit_download(v, e);
	if (files_list(&v->call, v->path, &entries, e) < 0)
		return -1;
	jw_object(&v->w, NULL);
	jw_open_str(&v->w, "path");
	jw_piece(&v->w, str_starts(v->path, STR("/")) ? STR("") : STR("/"));
	jw_piece(&v->w, v->path);
	jw_close_str(&v->w);
	jw_array(&v->w, "entries");
	for (size_t i = 0; i < entries.count; i++)
		write_entry(&v->w, &entries.entries[i], true);
	jw_end(&v->w);
	return visit_done(v, e);
}

static int no_content(struct visit *v)
{
	http_send(v->x->http, &(struct http_answer){ 204, HTTP_JSON, NULL, STR("") });
	return 0;
}

/* "0644": a zero and three octal digits; -1 when it is not given. */
static int read_mode(struct visit *v, int *ret, struct err *e)
{
	char room[8];
	struct str text;
	const int given = http_query(v->r->head.query, STR("mode"), room, sizeof room, &text);

	*ret = given == 1 ? 0 : -1;
	if (given == 0)
		return 0;
	bool good = given == 1 && text.n == 4 && text.p[0] == '0';
	for (size_t i = 0; good && i < text.n; i++) {
		good = text.p[i] >= '0' && text.p[i] <= '7';
		*ret = *ret * 8 + (text.p[i] - '0');
	}
	return good ? 0 : err_set(e, ERR_INVALID_ARGUMENTS, "mode must be as in 0644");
}

int visit_put_file(struct visit *v, struct err *e)
{
	struct str content = v->r->body;
	int mode;

	if (read_mode(v, &mode, e) < 0)
		return -1;
	if (multipart_is_form(http_header(&v->r->head, STR("content-type"))) &&
	    file_of_form(v, &content, e) < 0)
		return -1;
	if (files_put(&v->call, v->path, content, mode, e) < 0)
		return -1;
	return no_content(v);
}

int visit_delete_file(struct visit *v, struct err *e)
{
	char room[8];
	struct str text = STR("");
	const int given = http_query(v->r->head.query, STR("recursive"), room, sizeof room, &text);
	const bool tree = str_truthy(text);

	if (given < 0 ||
	    (given == 1 && !tree && !str_eq_nocase(text, STR("false")) && !str_eq(text, STR("0"))))
		return err_set(e, ERR_INVALID_ARGUMENTS, "recursive must be true or false");
	if (files_remove(&v->call, v->path, tree, e) == 0)
		return no_content(v);
	if (e->code != ERR_NOT_A_FILE)
		return -1;
	visit_refuse(v, 409, "CONFLICT",
		     "The directory is not empty: pass recursive=true to remove it");
	return 0;
}
