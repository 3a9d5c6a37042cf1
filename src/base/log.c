/* SPDX-License-Identifier: MIT */
/* log: lines are collected under a lock and written by one thread. */

#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/columns.h"
#include "base/human.h"
#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utc.h"

enum {
	LINE_MAX_BYTES = 8 << 10, /* a longer line loses its fields, which are usually short */
	GATHER_MS = 20,		  /* the thread collects lines for this long before it writes */
	STOP_MS = 500,
	NOTE_COLUMNS = 10,
};

static struct {
	enum log_level least;
	enum log_form form;
	bool coloured;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t writer;
	bool running, stop;
	int64_t dropped;
	struct buf backlog;
} state = {
	.least = LOG_INFO,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
	.backlog = { .max = LIMIT_LOG_BACKLOG },
};

static const char *const level_names[] = { "debug", "info", "warn", "error" };

static struct str now(char out[UTC_TEXT])
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return utc_iso(t.tv_sec, (int)(t.tv_nsec / 1000000), out);
}

static void format_json(struct buf *b, enum log_level level, const char *msg,
			const struct log_field *f, size_t count)
{
	char time[UTC_TEXT];
	struct jw w = jw_to(b);

	jw_object(&w, NULL);
	jw_str(&w, "time", now(time));
	jw_str(&w, "level", str_of(level_names[level]));
	jw_str(&w, "msg", str_of(msg));
	for (size_t i = 0; i < count; i++) {
		if (f[i].type == LOG_F_STR)
			jw_str(&w, f[i].name, f[i].str);
		else if (f[i].type == LOG_F_INT)
			jw_int(&w, f[i].name, f[i].num);
		else
			jw_bool(&w, f[i].name, f[i].num != 0);
	}
	jw_end(&w);
	buf_addc(b, '\n');
}

/* JSON allows DEL and the controls from U+0080 to U+009F; a terminal would obey them. */
static void add_visible(struct buf *b, struct str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		const unsigned char c = (unsigned char)s.p[i];
		const unsigned char next = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0;
		const bool high = c == 0xc2 && next >= 0x80 && next < 0xa0;
		if (c != 0x7f && !high)
			continue;
		jw_escape(b, (struct str){ s.p + from, i - from });
		buf_addf(b, "\\u%04x", high ? next : c);
		i += high;
		from = i + 1;
	}
	jw_escape(b, str_from(s, from));
}

/* The value of a field; `word` is that of a boolean. */
static void add_value(struct buf *b, const struct log_field *f, struct str word)
{
	if (f->type == LOG_F_INT)
		buf_addi(b, f->num);
	else
		add_visible(b, f->type == LOG_F_BOOL ? word : f->str);
}

static void format_text(struct buf *b, enum log_level level, const char *msg,
			const struct log_field *f, size_t count)
{
	char time[UTC_TEXT];

	buf_add(b, now(time));
	buf_addf(b, " %-5s ", level_names[level]);
	add_visible(b, str_of(msg));
	for (size_t i = 0; i < count; i++) {
		buf_addf(b, " %s=", f[i].name);
		add_value(b, &f[i], f[i].num ? STR("true") : STR("false"));
	}
	buf_addc(b, '\n');
}

static void add_coloured(struct buf *b, enum log_colour colour, struct str s)
{
	columns_paint(b, state.coloured, colour, s);
}

/* "08:49:37" and two spaces. */
static void add_clock(struct buf *b)
{
	char when[HUMAN_SIZE];

	add_coloured(b, LOG_DIM, str_of(human_when(time(NULL), when) + HUMAN_CLOCK));
	buf_add(b, STR("  "));
}

static void format_people(struct buf *b, enum log_level level, const char *msg,
			  const struct log_field *f, size_t count)
{
	add_clock(b);
	if (level >= LOG_WARN)
		add_coloured(b, level == LOG_WARN ? LOG_YELLOW : LOG_RED,
			     level == LOG_WARN ? STR("warning: ") : STR("error: "));
	add_visible(b, str_of(msg));
	for (size_t i = 0; i < count; i++) {
		if (f[i].type == LOG_F_STR && f[i].str.n == 0)
			continue;
		buf_addf(b, "  %s ", f[i].name);
		add_value(b, &f[i], f[i].num ? STR("yes") : STR("no"));
	}
	buf_addc(b, '\n');
}

static void format_line(struct buf *b, enum log_level level, const char *msg,
			const struct log_field *f, size_t count)
{
	(state.form == LOG_JSON	    ? format_json
	 : state.form == LOG_PEOPLE ? format_people
				    : format_text)(b, level, msg, f, count);
}

/* Write it, or leave it to the thread. */
static void hand_over(const struct buf *line)
{
	(void)pthread_mutex_lock(&state.lock);
	if (line->failed || (state.running && line->n > LIMIT_LOG_BACKLOG - state.backlog.n)) {
		state.dropped++;
		(void)pthread_cond_signal(&state.wake);
	} else if (!state.running) {
		(void)io_write_all(STDERR_FILENO, buf_str(line), IO_FOREVER);
	} else {
		const bool first = state.backlog.n == 0;
		buf_add(&state.backlog, buf_str(line));
		state.backlog.failed = false;
		if (first)
			(void)pthread_cond_signal(&state.wake);
	}
	(void)pthread_mutex_unlock(&state.lock);
}

void log_fields(enum log_level level, const char *msg, const struct log_field *fields, size_t count)
{
	const struct log_field cut = LOG_BOOL("cut", true);
	char bytes[LINE_MAX_BYTES] UNINITIALISED;
	struct buf line = buf_over(bytes, sizeof bytes);

	if (level < state.least)
		return;
	format_line(&line, level, msg, fields, count);
	if (line.failed) {
		/* Half a line would run into the next one. */
		buf_reset(&line, sizeof bytes);
		format_line(&line, level, msg, &cut, 1);
	}
	hand_over(&line);
}

bool log_is_for_people(void)
{
	return state.form == LOG_PEOPLE;
}

void log_line(enum log_level level, const struct log_line *l)
{
	char bytes[LINE_MAX_BYTES] UNINITIALISED, when[HUMAN_SIZE];
	struct buf line = buf_over(bytes, sizeof bytes);

	if (level < state.least)
		return;
	columns_line(&line, state.coloured, columns_of(STDERR_FILENO),
		     str_of(human_when(time(NULL), when) + HUMAN_CLOCK), l);
	hand_over(&line);
}

void log_note(struct str name, struct str text, enum log_colour colour)
{
	char bytes[LINE_MAX_BYTES] UNINITIALISED;
	struct buf line = buf_over(bytes, sizeof bytes);

	if (LOG_INFO < state.least)
		return;
	if (name.n) {
		buf_add(&line, STR("  "));
		columns_cell(&line, name, NOTE_COLUMNS);
		buf_addc(&line, ' ');
	}
	char shown[LINE_MAX_BYTES / 2] UNINITIALISED;
	struct buf visible = buf_over(shown, sizeof shown);
	add_visible(&visible, text);
	add_coloured(&line, colour, buf_str(&visible));
	buf_addc(&line, '\n');
	hand_over(&line);
}

/* Not through log_fields: with a full backlog the count itself would be dropped. */
static void write_dropped(int64_t lines)
{
	const struct log_field field = LOG_INT("lines", lines);
	char bytes[LINE_MAX_BYTES];
	struct buf line = buf_over(bytes, sizeof bytes);

	if (LOG_WARN < state.least)
		return;
	format_line(&line, LOG_WARN, "log lines dropped: stderr is not read fast enough", &field,
		    1);
	(void)io_write_all(STDERR_FILENO, buf_str(&line), IO_FOREVER);
}

static void *write_lines(void *unused)
{
	(void)unused;
	(void)pthread_mutex_lock(&state.lock);
	while (!state.stop || state.backlog.n || state.dropped) {
		while (!state.stop && state.backlog.n == 0 && state.dropped == 0)
			(void)pthread_cond_wait(&state.wake, &state.lock);
		const bool stop = state.stop;
		(void)pthread_mutex_unlock(&state.lock);
		if (!stop)
			io_sleep_ms(GATHER_MS);
		(void)pthread_mutex_lock(&state.lock);
		AUTO_BUF out = TAKE(state.backlog, (struct buf){ .max = LIMIT_LOG_BACKLOG });
		const int64_t dropped = TAKE(state.dropped, 0);
		(void)pthread_mutex_unlock(&state.lock);
		(void)io_write_all(STDERR_FILENO, buf_str(&out), IO_FOREVER);
		if (dropped)
			write_dropped(dropped);
		(void)pthread_mutex_lock(&state.lock);
	}
	/* Only now may callers write themselves: while this thread hung in a write they would
	 * have hung as well. */
	state.running = false;
	(void)pthread_mutex_unlock(&state.lock);
	return NULL;
}

void log_configure(enum log_level least, enum log_form form)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	state.least = least;
	state.form = form;
	state.coloured = form == LOG_PEOPLE && !(no_colour && *no_colour) && term && *term &&
			 !str_eq(str_of(term), STR("dumb"));
}

int log_start(struct err *e)
{
	(void)pthread_mutex_lock(&state.lock);
	const int error = pthread_create(&state.writer, NULL, write_lines, NULL);
	state.running = error == 0;
	state.stop = false;
	(void)pthread_mutex_unlock(&state.lock);
	if (error) {
		errno = error;
		return err_errno(e, "Cannot start the log thread");
	}
	return 0;
}

void log_stop(void)
{
	struct timespec until;

	(void)pthread_mutex_lock(&state.lock);
	const bool running = state.running;
	state.stop = true;
	(void)pthread_cond_signal(&state.wake);
	(void)pthread_mutex_unlock(&state.lock);
	if (!running)
		return;
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += STOP_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	(void)pthread_timedjoin_np(state.writer, NULL, &until);
}
