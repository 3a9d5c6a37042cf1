/* SPDX-License-Identifier: MIT */
/* entries: the files of a directory, as the routes of agent-sandbox describe them and as du shows
 * them; and answers of a few named values. */

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/utc.h"
#include "results/results.h"

static void write_entry(struct jw *w, const struct file_entry *f, bool described)
{
	char text[40];

	jw_object(w, NULL);
	jw_str(w, "name", f->name);
	jw_int(w, "size", f->st.st_size);
	jw_str(w, "type", S_ISDIR(f->st.st_mode) ? STR("directory") : STR("file"));
	if (described) {
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

int entries_wire(const struct way *out, struct result *r, struct err *e)
{
	const struct entries *l = &r->entries;
	struct jw *w = out->members;

	(void)e;
	if (l->described) {
		jw_open_str(w, "path");
		jw_piece(w, str_starts(l->path, STR("/")) ? STR("") : STR("/"));
		jw_piece(w, l->path);
		jw_close_str(w);
		jw_array(w, "entries");
	}
	for (size_t i = 0; i < l->count; i++)
		write_entry(w, &l->list[i], l->described);
	if (l->described)
		jw_end(w);
	return 0;
}

/* "5.5K", as du -h has it. */
static const char *size_text(int64_t bytes, char room[24])
{
	static const char units[] = "BKMGT";
	double size = (double)bytes;
	size_t unit = 0;

	while (size >= 1024 && units[unit + 1]) {
		size /= 1024;
		unit++;
	}
	(void)snprintf(room, 24, unit ? "%.1f%c" : "%.0f%c", size, units[unit]);
	return room;
}

/* A size and a path a line. What is in a directory is left out from the first that does not fit. */
int entries_text(const struct way *out, struct result *r, struct err *e)
{
	enum { FRAME = 64 };	   /* the size, and what is put around it */
	unsigned below = UINT_MAX; /* what is so deep, or deeper, is not shown */
	bool more = r->entries.more;
	char size[24];

	(void)e;
	for (size_t i = 0; i < r->entries.count; i++) {
		const struct file_entry *f = &r->entries.list[i];
		if (f->depth >= below)
			continue;
		below = UINT_MAX;
		if (i && way_room(out) < (int64_t)f->name.n + FRAME) {
			below = f->depth;
			more = true;
			continue;
		}
		buf_addf(out->text->text, "%s%s\t%.*s", i ? "\n" : "",
			 size_text(f->st.st_size, size), STR_FMT(f->name));
	}
	if (more)
		way_note(out, "there are more: view a directory below it");
	return 0;
}

int members_wire(const struct way *out, struct result *r, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < r->members.count; i++)
		jw_value(out->members, &r->members.list[i], true);
	return 0;
}
