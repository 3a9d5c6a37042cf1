/* SPDX-License-Identifier: MIT */
/* kept: files in memory, oldest first, and how many bytes they have together. */

#include "tools/kept.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/human.h"
#include "base/io.h"
#include "base/own.h"
#include "tools/limits.h"

#define PREFIX "output:"

struct kept_output {
	uint64_t number;
	char *session; /* its name; NULL: the place is free */
	size_t session_n;
	int fd;
	int64_t bytes;
};

struct kept_store {
	pthread_mutex_t lock;
	uint64_t last; /* the newest number */
	int64_t bytes; /* of all outputs, unfinished ones included */
	struct kept_output list[LIMIT_KEPT];
};

struct kept_store *kept_new(void)
{
	struct kept_store *k = mem_new(1, sizeof *k);

	if (!k)
		return NULL;
	(void)pthread_mutex_init(&k->lock, NULL);
	for (size_t i = 0; i < ARRAY_LEN(k->list); i++)
		k->list[i].fd = -1;
	return k;
}

/* The lock is held, or no other thread knows of the store any more. */
static void drop(struct kept_store *k, struct kept_output *o)
{
	fd_closep(&o->fd);
	mem_free(o->session);
	k->bytes -= o->bytes;
	*o = (struct kept_output){ .fd = -1 };
}

/* The output that is to be dropped next; NULL if there is none. */
static struct kept_output *oldest(struct kept_store *k)
{
	struct kept_output *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(k->list); i++) {
		struct kept_output *o = &k->list[i];
		if (o->session && (!found || o->number < found->number))
			found = o;
	}
	return found;
}

void kept_free(struct kept_store *k)
{
	struct kept_output *o;

	if (!k)
		return;
	while ((o = oldest(k)))
		drop(k, o);
	(void)pthread_mutex_destroy(&k->lock);
	mem_free(k);
}

/* Take room for more bytes; false if unfinished outputs fill it. */
static bool take_room(struct kept_store *k, int64_t bytes)
{
	struct kept_output *o;

	(void)pthread_mutex_lock(&k->lock);
	while (k->bytes + bytes > LIMIT_KEPT_ALL && (o = oldest(k)))
		drop(k, o);
	const bool fits = k->bytes + bytes <= LIMIT_KEPT_ALL;
	if (fits)
		k->bytes += bytes;
	(void)pthread_mutex_unlock(&k->lock);
	return fits;
}

bool kept_is_name(struct str path)
{
	const struct str digits = str_from(path, strlen(PREFIX));

	if (!str_starts(path, STR(PREFIX)) || digits.n == 0)
		return false;
	for (size_t i = 0; i < digits.n; i++)
		if (digits.p[i] < '0' || digits.p[i] > '9')
			return false;
	return true;
}

/* The lock is held. */
static const struct kept_output *find(const struct kept_store *k, struct str session,
				      int64_t number)
{
	for (size_t i = 0; i < ARRAY_LEN(k->list); i++) {
		const struct kept_output *o = &k->list[i];
		if (o->session && o->number == (uint64_t)number &&
		    str_eq((struct str){ o->session, o->session_n }, session))
			return o;
	}
	return NULL;
}

int kept_open(struct kept_store *k, struct str session, struct str name, struct stat *st,
	      struct err *e)
{
	char link[48];
	int64_t number = 0;
	int fd = -1;

	if (!str_int(str_from(name, strlen(PREFIX)), &number))
		number = INT64_MAX;
	(void)pthread_mutex_lock(&k->lock);
	const bool was = number > 0 && (uint64_t)number <= k->last;
	const struct kept_output *o = find(k, session, number);
	if (o) {
		/* Opened again, because a duplicate would share the position with other readers. */
		(void)snprintf(link, sizeof link, "/proc/self/fd/%d", o->fd);
		fd = open(link, O_RDONLY | O_CLOEXEC);
	}
	(void)pthread_mutex_unlock(&k->lock);
	if (fd >= 0 && fstat(fd, st) == 0)
		return fd;
	fd_closep(&fd);
	if (o)
		return err_errno(e, "Cannot read %.*s", STR_FMT(name));
	(void)err_set(e, ERR_FILE_NOT_FOUND,
		      was ? "%.*s is not kept any more." : "There is no %.*s.",
		      STR_FMT(str_upto(name, 40)));
	return err_advise(e, "Run the command again, or write its output to a file.");
}

struct keeping keeping_new(struct kept_store *store)
{
	return (struct keeping){ .store = store, .early = { .max = LIMIT_KEPT_EARLY }, .fd = -1 };
}

/* Write to the file as much as there is room for. */
static void write_file(struct keeping *k, struct str text)
{
	const struct str fits = str_upto(text, (size_t)(LIMIT_KEPT_OUTPUT - k->bytes));

	/* What was missed once leaves a gap that nothing may fill. */
	if (k->missed == 0 && fits.n && take_room(k->store, (int64_t)fits.n)) {
		k->bytes += (int64_t)fits.n;
		if (io_write_all(k->fd, fits, IO_FOREVER) == 0)
			text = str_from(text, fits.n);
	}
	k->missed += (int64_t)text.n;
}

static bool begin_file(struct keeping *k)
{
	if (k->fd < 0)
		k->fd = memfd_create("output", MFD_CLOEXEC);
	if (k->fd < 0)
		return false;
	write_file(k, buf_str(&k->early));
	buf_done(&k->early);
	return true;
}

void keeping_add(struct keeping *k, struct str text)
{
	if (!k->store)
		return;
	if (k->fd < 0 && k->early.n + text.n <= k->early.max) {
		buf_add(&k->early, text);
		return;
	}
	if (k->fd >= 0 || (!k->early.failed && begin_file(k)))
		write_file(k, text);
	else
		k->store = NULL;
}

/* Give a finished output its number and its place. */
static uint64_t enter(struct kept_store *k, struct kept_output o, struct str session)
{
	o.session = mem_new(session.n + 1, 1);
	if (!o.session)
		return 0;
	if (session.n)
		memcpy(o.session, session.p, session.n);
	o.session_n = session.n;
	(void)pthread_mutex_lock(&k->lock);
	struct kept_output *to = NULL;
	for (size_t i = 0; i < ARRAY_LEN(k->list) && !to; i++)
		if (!k->list[i].session)
			to = &k->list[i];
	if (!to) {
		to = oldest(k);
		drop(k, to);
	}
	o.number = ++k->last;
	*to = o;
	(void)pthread_mutex_unlock(&k->lock);
	return o.number;
}

uint64_t keeping_end(struct keeping *k, struct str session, struct str tail)
{
	char size[HUMAN_SIZE], line[64];
	struct str rest = tail;

	if (!k->store || (k->fd < 0 && (k->early.failed || !begin_file(k))))
		return 0;
	if (k->missed > (int64_t)tail.n) {
		(void)snprintf(line, sizeof line, "\n[… %s not kept …]\n",
			       human_bytes(k->missed - (int64_t)tail.n, size));
		(void)io_write_all(k->fd, str_of(line), IO_FOREVER);
	} else {
		rest = str_from(tail, tail.n - (size_t)k->missed);
	}
	(void)io_write_all(k->fd, rest, IO_FOREVER);
	const uint64_t number =
		enter(k->store, (struct kept_output){ .fd = k->fd, .bytes = k->bytes }, session);
	if (number) { /* the file and its room are the store's now */
		k->fd = -1;
		k->bytes = 0;
	}
	return number;
}

void keeping_done(struct keeping *k)
{
	fd_closep(&k->fd);
	buf_done(&k->early);
	if (k->bytes) {
		(void)pthread_mutex_lock(&k->store->lock);
		k->store->bytes -= k->bytes;
		(void)pthread_mutex_unlock(&k->store->lock);
		k->bytes = 0;
	}
}
