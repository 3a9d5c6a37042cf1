/* SPDX-License-Identifier: MIT */
/*
 * err: why something failed: a code and a sentence.
 *
 * Every function that can fail returns -1 and sets *e, or returns 0 (or a useful non-negative
 * number) and leaves *e alone. There is no third state. The setters return -1, so that an error
 * path is one line:
 *
 *	return err_set(e, ERR_FILE_NOT_FOUND, "File not found: %s", path);
 *
 * The sentence is for the agent that will read it: what was asked, why it failed, what to do
 * instead. It names no path outside the workspace and no errno. An err lives on the caller's stack;
 * failing allocates nothing. What to do can be said apart, because text shows it on its own line:
 *
 *	(void)err_set(e, ERR_FILE_TOO_LARGE, "The file has %d bytes.", n);
 *	return err_advise(e, "Read a range of its lines.");
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdint.h>

#include "base/str.h"

/* enum constant, name on the wire */
#define ERR_TABLE(X)                                                                               \
	X(ERR_UNKNOWN_TOOL, "UNKNOWN_TOOL")                                                        \
	X(ERR_INVALID_ARGUMENTS, "INVALID_ARGUMENTS")                                              \
	X(ERR_INVALID_PATH, "INVALID_PATH")                                                        \
	X(ERR_INVALID_REGEX, "INVALID_REGEX")                                                      \
	X(ERR_INVALID_GLOB, "INVALID_GLOB")                                                        \
	X(ERR_PATH_OUTSIDE_WORKSPACE, "PATH_OUTSIDE_WORKSPACE")                                    \
	X(ERR_SYMLINK_OUTSIDE_WORKSPACE, "SYMLINK_OUTSIDE_WORKSPACE")                              \
	X(ERR_SYMLINK_LOOP, "SYMLINK_LOOP")                                                        \
	X(ERR_PATH_NOT_ALLOWED, "PATH_NOT_ALLOWED")                                                \
	X(ERR_PROTECTED_PATH, "PROTECTED_PATH")                                                    \
	X(ERR_PATH_HIDDEN, "PATH_HIDDEN")                                                          \
	X(ERR_FILE_NOT_FOUND, "FILE_NOT_FOUND")                                                    \
	X(ERR_FILE_EXISTS, "FILE_EXISTS")                                                          \
	X(ERR_NOT_A_DIRECTORY, "NOT_A_DIRECTORY")                                                  \
	X(ERR_NOT_A_FILE, "NOT_A_FILE")                                                            \
	X(ERR_DIRECTORY_NOT_EMPTY, "DIRECTORY_NOT_EMPTY")                                          \
	X(ERR_PERMISSION_DENIED, "PERMISSION_DENIED")                                              \
	X(ERR_FILE_TOO_LARGE, "FILE_TOO_LARGE")                                                    \
	X(ERR_BINARY_FILE, "BINARY_FILE")                                                          \
	X(ERR_TEXT_NOT_FOUND, "TEXT_NOT_FOUND")                                                    \
	X(ERR_TEXT_NOT_UNIQUE, "TEXT_NOT_UNIQUE")                                                  \
	X(ERR_NO_CHANGE, "NO_CHANGE")                                                              \
	X(ERR_INVALID_PATCH, "INVALID_PATCH")                                                      \
	X(ERR_FILE_NOT_READ, "FILE_NOT_READ")                                                      \
	X(ERR_FILE_CHANGED, "FILE_CHANGED")                                                        \
	X(ERR_COMMAND_BLOCKED, "COMMAND_BLOCKED")                                                  \
	X(ERR_SPAWN_FAILED, "SPAWN_FAILED")                                                        \
	X(ERR_READ_ONLY, "READ_ONLY")                                                              \
	X(ERR_REDACTED_CONTENT, "REDACTED_CONTENT")                                                \
	X(ERR_SEARCH_TIMEOUT, "SEARCH_TIMEOUT")                                                    \
	X(ERR_CHANGE_NOT_FOUND, "CHANGE_NOT_FOUND")                                                \
	X(ERR_JOB_NOT_FOUND, "JOB_NOT_FOUND")                                                      \
	X(ERR_CALL_NOT_FOUND, "CALL_NOT_FOUND")                                                    \
	X(ERR_CONFLICT, "CONFLICT")                                                                \
	X(ERR_NOT_SAVED, "NOT_SAVED")                                                              \
	X(ERR_AUDIT_FAILED, "AUDIT_FAILED")                                                        \
	X(ERR_DISK_FULL, "DISK_FULL")                                                              \
	X(ERR_IO_ERROR, "IO_ERROR")                                                                \
	X(ERR_TOO_BUSY, "TOO_BUSY")                                                                \
	X(ERR_EXECUTION_ERROR, "EXECUTION_ERROR")                                                  \
	/* Only in the client library, never on the wire. */                                       \
	X(ERR_NOT_READY, "NOT_READY")                                                              \
	X(ERR_CONNECTION_LOST, "CONNECTION_LOST")                                                  \
	X(ERR_UNAUTHORIZED, "UNAUTHORIZED")                                                        \
	X(ERR_CANCELLED, "CANCELLED")                                                              \
	X(ERR_TIMED_OUT, "TIMED_OUT")                                                              \
	X(ERR_BAD_ANSWER, "BAD_ANSWER")                                                            \
	X(ERR_INVALID_CONFIG, "INVALID_CONFIG")                                                    \
	X(ERR_DISABLED, "DISABLED")

enum err_code {
	ERR_NONE, /* no error has been set */
#define X(id, name) id,
	ERR_TABLE(X)
#undef X
		ERR_COUNT,
	ERR_WIRE_END = ERR_NOT_READY, /* the codes before it can be on the wire */
};

struct err {
	enum err_code code;
	unsigned advice;  /* where in msg the advice begins, after a space; 0: there is none */
	const char *mime; /* of a file that is not what was expected: its media type … */
	int64_t size;	  /* … and its size; NULL: it is not about such a file */
	char msg[1024];	  /* always whole UTF-8 characters; a longer sentence ends in "..." */
};

/* The name of a code on the wire ("" for ERR_NONE). */
const char *err_name(enum err_code code);

/* The code with that name, or ERR_NONE. */
enum err_code err_by_name(struct str name);

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Add to an error what to do about it. */
int err_advise(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Add another sentence to an error, before the advice. */
int err_say(struct err *e, const char *sentence);

/* Describe errno: the formatted text, ": ", and what went wrong in words. The code is derived from
 * errno (ENOENT gives FILE_NOT_FOUND, ENOSPC DISK_FULL …; most others IO_ERROR). */
int err_errno(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The code that err_errno derives from an errno value. */
enum err_code err_code_of_errno(int error);

#endif
