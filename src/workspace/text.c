/* SPDX-License-Identifier: MIT */
/* text: one pass over a file, counting newlines and keeping the selected lines that fit. */

#include "workspace/text.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "base/own.h"
#include "base/utf8.h"
#include "workspace/magic.h"

enum {
	CHUNK = 64 << 10,      /* read at once; on the stack, and small enough for the cache */
	BINARY_LOOK = 8 << 10, /* a NUL byte within this much makes a file binary */
	CHUNKS_PER_LOOK = 128, /* how often a long scan checks deadline and cancellation */
};

struct scan {
	const struct text_want *want;
	char *kept;		 /* the first bytes of the selection */
	size_t kept_n, room;	 /* how many bytes are kept, and how many can be */
	int64_t newlines;	 /* seen so far in the file */
	int64_t selected;	 /* newlines seen within the selection */
	int64_t bytes;		 /* length of the selection so far, ill-formed bytes replaced */
	struct utf8_stream text; /* the selection, measured by whole characters */
	bool over;		 /* the selection has ended */
};

/* Add the length of the next piece. An unfinished character waits for the one after it. */
static void measure(struct scan *s, struct str piece)
{
	struct str part;

	while ((part = utf8_take(&s->text, &piece)).n)
		s->bytes += (int64_t)utf8_replaced_length(part);
}

static void keep(struct scan *s, struct str piece)
{
	const struct str head = str_upto(piece, s->room - s->kept_n);

	if (head.n)
		memcpy(s->kept + s->kept_n, head.p, head.n);
	s->kept_n += head.n;
	measure(s, piece);
}

/* Where the piece goes on after its n-th newline, or its length if it has fewer. *seen counts. */
static size_t after_newlines(struct str piece, int64_t n, int64_t *seen)
{
	size_t at = 0;

	while (*seen < n) {
		const ptrdiff_t i = str_index(str_from(piece, at), '\n');
		if (i < 0)
			return piece.n;
		at += (size_t)i + 1;
		(*seen)++;
	}
	return at;
}

/* Keep the part of the next piece that belongs to the selection. */
static void take(struct scan *s, struct str piece)
{
	const int64_t skip = s->want->first - 1;
	const int64_t all = (int64_t)bytes_count(piece, '\n');

	/* Most pieces lie wholly before, inside or after the selection. */
	if (s->over || s->newlines + all < skip) {
		s->newlines += all;
		return;
	}
	const size_t from = after_newlines(piece, skip, &s->newlines);
	struct str rest = str_from(piece, from);
	const int64_t left = from == 0 ? all : (int64_t)bytes_count(rest, '\n');
	if (s->newlines < skip)
		return;
	if (s->want->count == TEXT_ALL || s->selected + left < s->want->count) {
		keep(s, rest);
		s->selected += left;
		s->newlines += left;
		return;
	}
	/* The selection ends here, before the newline of its last line. */
	int64_t seen = s->selected;
	const size_t to = after_newlines(rest, s->want->count, &seen);
	keep(s, str_upto(rest, to - 1));
	s->selected = s->want->count - 1;
	s->newlines += left;
	s->over = true;
}

static int check_binary(int fd, struct str start, struct err *e)
{
	struct stat st = { 0 };

	if (str_index(str_upto(start, BINARY_LOOK), '\0') < 0)
		return 0;
	const struct magic *const kind = magic_of(start);
	(void)fstat(fd, &st);
	(void)err_set(e, ERR_BINARY_FILE,
		      "File is binary (%s, %lld bytes) and cannot be shown as text.", kind->what,
		      (long long)st.st_size);
	e->mime = kind->mime;
	e->size = st.st_size;
	return err_advise(e, "Use a command such as file, xxd or strings to look into it.");
}

/* Whether a long scan may go on. */
static int check_time(const struct text_want *want, struct err *e)
{
	if (want->may_go_on && want->may_go_on(want->arg, e) < 0)
		return -1;
	if (!want->deadline_ms || io_now_ms() < want->deadline_ms)
		return 0;
	(void)err_set(e, ERR_FILE_TOO_LARGE,
		      "File is %lld bytes, too large to count its lines in time.",
		      (long long)want->size);
	return err_advise(e, "Use a command such as head, tail or dd to read a part of it.");
}

/* Pass over a hole of the file, if the next bytes are one. Returns how many, of those that are
 * left; 0 where the file system does not tell. */
static int64_t pass_hole(int fd, int64_t left)
{
	const off_t here = lseek(fd, 0, SEEK_CUR);
	off_t data = lseek(fd, here, SEEK_DATA);
	struct stat st;

	/* No data up to the end, which another process may have moved. */
	if (data < 0 && errno == ENXIO && fstat(fd, &st) == 0)
		data = st.st_size;
	if (here < 0 || data < here)
		return 0;
	return data - here < left ? data - here : left;
}

/* Take n zero bytes without reading them: they have no newline and need not be kept beyond
 * the room for them. No character is unfinished. */
static void take_zeros(struct scan *s, int64_t n)
{
	const bool selected = !s->over && s->newlines >= s->want->first - 1;
	const size_t room = s->room - s->kept_n;
	const size_t kept = n < (int64_t)room ? (size_t)n : room;

	if (!selected)
		return;
	memset(s->kept + s->kept_n, 0, kept);
	s->kept_n += kept;
	s->bytes += n;
}

static int scan_file(int fd, struct scan *s, struct err *e)
{
	char bytes[CHUNK] UNINITIALISED;
	int64_t left = s->want->size > 0 ? s->want->size : INT64_MAX;

	for (int64_t i = 0; left > 0 || i == 0; i++) {
		const size_t ask = left < CHUNK ? (size_t)left : CHUNK;
		const ssize_t n = io_read_full(fd, bytes, ask);
		const struct str piece = { bytes, n > 0 ? (size_t)n : 0 };
		if (n < 0)
			return err_errno(e, "Cannot read the file");
		if (i == 0 && check_binary(fd, piece, e) < 0)
			return -1;
		if (i % CHUNKS_PER_LOOK == CHUNKS_PER_LOOK - 1 && check_time(s->want, e) < 0)
			return -1;
		take(s, piece);
		left -= n;
		/* A short read is the end of the file. */
		if ((size_t)n < ask)
			return 0;
		if (s->want->size > 0 && left > 0 && bytes[n - 1] == '\0') {
			const int64_t hole = pass_hole(fd, left);
			take_zeros(s, hole);
			left -= hole;
		}
	}
	return 0;
}

/* As many whole characters of a line as fit once ill-formed bytes are replaced. */
static struct str beginning(struct str line, size_t max)
{
	struct str start = str_upto(line, max);

	start.n = utf8_whole(start);
	while (start.n && utf8_replaced_length(start) > max)
		start.n = utf8_whole(str_upto(start, start.n - start.n / 8 - 1));
	return start;
}

/* Set the content: as many whole lines from the start of `kept` as fit. */
static void cut_lines(struct str kept, int64_t max_lines, int64_t max_bytes, struct text *t)
{
	int64_t bytes = 0, lines = 0;
	size_t end = 0;

	t->cut = TEXT_CUT_LINES;
	for (size_t at = 0; lines < max_lines && at <= kept.n; lines++) {
		const ptrdiff_t i = str_index(str_from(kept, at), '\n');
		const size_t stop = i < 0 ? kept.n : at + (size_t)i;
		const struct str line = { kept.p + at, stop - at };
		const int64_t length = (int64_t)utf8_replaced_length(line) + (lines > 0);
		if (bytes + length > max_bytes) {
			t->cut = TEXT_CUT_BYTES;
			t->first_too_long = lines == 0;
			t->first = beginning(line, (size_t)max_bytes);
			break;
		}
		bytes += length;
		end = stop;
		at = stop + 1;
	}
	t->content = str_upto(kept, end);
	t->out_lines = lines;
	t->out_bytes = bytes;
}

static void finish(struct str kept, int64_t max_lines, int64_t max_bytes, struct text *t)
{
	if (t->lines > max_lines || t->bytes > max_bytes) {
		cut_lines(kept, max_lines, max_bytes, t);
		return;
	}
	t->content = kept;
	t->out_lines = t->lines;
	t->out_bytes = t->bytes;
}

int text_read(int fd, const struct text_want *want, struct arena *a, struct text *ret,
	      struct err *e)
{
	struct scan s = { .want = want };

	/* One byte more than the content may have, to know that there was more. */
	s.room = (size_t)want->max_bytes + 1;
	if (want->size > 0 && want->size < want->max_bytes)
		s.room = (size_t)want->size;
	s.kept = arena_alloc(a, s.room);
	if (!s.kept)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the file, try again");
	if (scan_file(fd, &s, e) < 0)
		return -1;
	/* A character that the end of the file leaves unfinished is one ill-formed sequence. */
	s.bytes += (int64_t)utf8_replaced_length(utf8_rest(&s.text));
	*ret = (struct text){ .total_lines = s.newlines + 1 };
	if (ret->total_lines < want->first)
		return 0;
	ret->lines = s.selected + 1;
	ret->bytes = s.bytes;
	finish((struct str){ s.kept, s.kept_n }, want->max_lines, want->max_bytes, ret);
	return 0;
}

void text_cut_head(struct str whole, int64_t max_lines, int64_t max_bytes, struct text *ret)
{
	*ret = (struct text){ 0 };
	ret->lines = ret->total_lines = (int64_t)bytes_count(whole, '\n') + 1;
	ret->bytes = (int64_t)utf8_replaced_length(whole);
	finish(whole, max_lines, max_bytes, ret);
}
