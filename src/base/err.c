/* SPDX-License-Identifier: MIT */
/* err: codes, their names, and sentences made from errno. */

#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/own.h"
#include "base/utf8.h"

static const char *const names[ERR_COUNT] = {
#define X(id, name) [id] = (name),
	ERR_TABLE(X)
#undef X
};

/* What errno values mean to an agent. A value that is not listed is an I/O error. */
static const struct meaning {
	int error;
	enum err_code code;
	const char *words;
} meanings[] = {
	{ ENOENT, ERR_FILE_NOT_FOUND, "no such file or directory" },
	{ ENOTDIR, ERR_NOT_A_DIRECTORY, "not a directory" },
	{ EISDIR, ERR_NOT_A_FILE, "is a directory" },
	{ ENXIO, ERR_NOT_A_FILE, "not a regular file" },
	{ EACCES, ERR_PERMISSION_DENIED, "permission denied" },
	{ EPERM, ERR_PERMISSION_DENIED, "operation not permitted" },
	{ EROFS, ERR_PERMISSION_DENIED, "the file system is read-only" },
	{ ETXTBSY, ERR_PERMISSION_DENIED, "the file is being executed" },
	{ ELOOP, ERR_SYMLINK_LOOP, "too many levels of symbolic links" },
	{ ENAMETOOLONG, ERR_INVALID_PATH, "the name is too long" },
	{ EILSEQ, ERR_INVALID_PATH, "the file system does not accept this name" },
	{ EINVAL, ERR_IO_ERROR, "the file system does not support this" },
	{ ENOSPC, ERR_DISK_FULL, "no space left on the device" },
	{ EDQUOT, ERR_DISK_FULL, "the disk quota is used up" },
	{ EFBIG, ERR_FILE_TOO_LARGE, "the file would be larger than allowed" },
	{ EMFILE, ERR_TOO_BUSY, "too many files are open, try again" },
	{ ENFILE, ERR_TOO_BUSY, "too many files are open on this machine, try again" },
	{ ENOMEM, ERR_TOO_BUSY, "not enough memory, try again" },
	{ ESTALE, ERR_FILE_CHANGED, "another process has changed it" },
	{ EIO, ERR_IO_ERROR, "input/output error" },
};

const char *err_name(enum err_code code)
{
	return code > ERR_NONE && code < ERR_COUNT ? names[code] : "";
}

enum err_code err_by_name(struct str name)
{
	for (int i = ERR_NONE + 1; i < ERR_COUNT; i++)
		if (str_eq(name, str_of(names[i])))
			return (enum err_code)i;
	return ERR_NONE;
}

/* Format into size bytes; a text that does not fit is cut between characters and marked. */
__attribute__((format(printf, 3, 0))) static void format(char *to, size_t size, const char *fmt,
							 va_list ap)
{
	static const char mark[] = "...";
	const int n = vsnprintf(to, size, fmt, ap);

	if (n < 0)
		to[0] = '\0';
	if (n >= (int)size) {
		const struct str kept = { to, size - sizeof mark };
		memcpy(to + utf8_whole(kept), mark, sizeof mark);
	}
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	e->code = code;
	e->advice = 0;
	e->mime = NULL;
	e->size = 0;
	return -1;
}

int err_advise(struct err *e, const char *fmt, ...)
{
	const size_t n = strlen(e->msg);
	va_list ap;

	/* A sentence that filled its room ends in "...": advice would not fit. */
	if (n + sizeof "..." >= sizeof e->msg)
		return -1;
	e->msg[n] = ' ';
	e->advice = (unsigned)n + 1;
	va_start(ap, fmt);
	format(e->msg + e->advice, sizeof e->msg - e->advice, fmt, ap);
	va_end(ap);
	return -1;
}

int err_say(struct err *e, const char *sentence)
{
	const struct err old = *e;
	const char *advice = old.advice ? old.msg + old.advice : "";
	size_t n = old.advice ? old.advice - 1 : strlen(old.msg);
	/* If there is not enough room, the first sentence is cut. */
	const size_t need = strlen(sentence) + strlen(advice) + sizeof "....  ";
	const size_t most = need < sizeof e->msg ? sizeof e->msg - need : 0;
	const bool cut = n > most;

	if (cut)
		n = utf8_whole((struct str){ old.msg, most });
	while (n && old.msg[n - 1] == '.')
		n--;
	(void)err_set(e, old.code, "%.*s%s %s", (int)n, old.msg, cut ? "..." : ".", sentence);
	e->mime = old.mime;
	e->size = old.size;
	return *advice ? err_advise(e, "%s", advice) : -1;
}

/* What the table says of an errno value; NULL: nothing. */
static const struct meaning *meaning_of(int error)
{
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (meanings[i].error == error)
			return &meanings[i];
	return NULL;
}

enum err_code err_code_of_errno(int error)
{
	const struct meaning *m = meaning_of(error);

	return m ? m->code : ERR_IO_ERROR;
}

int err_errno(struct err *e, const char *fmt, ...)
{
	const int error = errno;
	const struct meaning *m = meaning_of(error);
	const char *words = m ? m->words : strerrordesc_np(error);
	struct err what;
	va_list ap;

	if (!words)
		words = "unknown error";
	/* If it is too long, the text is cut, not the reason. */
	va_start(ap, fmt);
	format(what.msg, sizeof what.msg - strlen(": ") - strlen(words), fmt, ap);
	va_end(ap);
	return err_set(e, err_code_of_errno(error), "%s: %s", what.msg, words);
}
