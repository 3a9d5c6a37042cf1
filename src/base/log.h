/* SPDX-License-Identifier: MIT */
/*
 * log: one line per event on stderr.
 *
 * A line is a sentence and named fields. As JSON it is one object ({"time","level","msg",…}); as
 * text it is made for a terminal and free of control characters. A line above 8 KiB keeps its
 * sentence and has "cut" instead of its fields. File content, command output and secrets are never
 * logged.
 *
 * On a terminal the log is written for people (LOG_PEOPLE): short lines, in colour unless NO_COLOR
 * is set or the terminal has none, no longer than the terminal is wide.
 *
 * After log_start a separate thread writes the lines, so that a stalled reader of stderr never
 * stalls the server. Lines that do not fit the backlog are counted, and the count is logged when
 * there is room again. Without log_start a line is written at once. Any thread may log.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/columns.h"
#include "base/err.h"
#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_form { LOG_TEXT, LOG_JSON, LOG_PEOPLE };

struct log_field {
	const char *name;
	enum { LOG_F_STR, LOG_F_INT, LOG_F_BOOL } type;
	struct str str;
	int64_t num;
};

#define LOG_STR(name, s)  ((struct log_field){ (name), LOG_F_STR, (s), 0 })
#define LOG_INT(name, n)  ((struct log_field){ (name), LOG_F_INT, { 0 }, (n) })
#define LOG_BOOL(name, b) ((struct log_field){ (name), LOG_F_BOOL, { 0 }, (b) })

/* log_event(LOG_INFO, "listening", LOG_STR("socket", path), LOG_INT("mode", 0660)); */
#define log_event(level, msg, ...)                                                                 \
	log_fields((level), (msg), (const struct log_field[]){ __VA_ARGS__ },                      \
		   sizeof((const struct log_field[]){ __VA_ARGS__ }) / sizeof(struct log_field))

void log_fields(enum log_level level, const char *msg, const struct log_field *fields,
		size_t count);

/* Whether lines are written for people. */
bool log_is_for_people(void);

/* A line for people in columns, with the time. The subject is cut to what the terminal has room
 * for. */
void log_line(enum log_level level, const struct log_line *line);

/* A line for people that has a name and a text, which is not cut; both may be empty. */
void log_note(struct str name, struct str text, enum log_colour colour);

/* Set the lowest level that is written, and the form of the lines. Call it before threads start. */
void log_configure(enum log_level least, enum log_form form);

/* Start the thread that writes. */
int log_start(struct err *e);

/* Write the waiting lines and end the thread; then lines are written at once again. If stderr is
 * not read this gives up after half a second, and lines are still collected. */
void log_stop(void);

#endif
