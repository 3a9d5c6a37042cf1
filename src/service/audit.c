/* SPDX-License-Identifier: MIT */
/* audit: lines are written under a lock, and synced without it. */

#include "service/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/log.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/utc.h"
#include "exec/proc.h"
#include "service/chain.h"
#include "service/limits.h"

enum {
	KEY_LEAST = 16, /* bytes: a shorter one can be guessed */
	KEY_MOST = 4096,
	STACK = 64 << 10,
	RESERVE = 64 << 10, /* room on disk that is taken before it is needed … */
	NEEDED = 16 << 10,  /* … and how much of it a call that begins needs, to be recorded */
};

struct audit {
	char path[PATH_MAX], key[KEY_MOST];
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	int fd;
	int syncing;	       /* threads that sync the file, which is not closed meanwhile */
	int64_t size, reserve; /* of the file; up to where the disk has room for it */
	struct chain chain;
	struct buf line;
	int64_t synced; /* the last line that is known to be on disk */
	bool stop, works;
	bool tight;   /* there is no room for calls that change something */
	int64_t lost; /* lines that could not be written */
};

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Begin a line in a->line. The caller holds the lock, here and below. */
static struct jw begin_line(struct audit *a, const char *type)
{
	const int64_t now = now_ms();
	char time[UTC_TEXT];

	buf_reset(&a->line, SIZE_MAX);
	chain_open(&a->chain, &a->line);
	buf_addc(&a->line, ',');
	struct jw w = jw_members_to(&a->line);
	jw_str(&w, "time", utc_iso(now / 1000, (int)(now % 1000), time));
	jw_str(&w, "type", str_of(type));
	return w;
}

/* Whether lines can be written is logged when it changes. */
static void set_works(struct audit *a, bool works)
{
	if (a->works && !works)
		log_event(
			LOG_ERROR,
			"the audit file cannot be written: calls that change something are refused",
			LOG_STR("why", str_of(strerrordesc_np(errno))));
	if (!a->works && works)
		log_event(LOG_INFO, "the audit file can be written again",
			  LOG_INT("lost", a->lost));
	a->works = works;
}

/* Write the line in a->line. False: none of it is in the file. */
static bool put_line(struct audit *a)
{
	chain_seal(&a->chain, &a->line);
	if (a->line.failed) {
		errno = ENOMEM;
		return false;
	}
	if (io_write_all(a->fd, buf_str(&a->line), IO_FOREVER) < 0) {
		const int error = errno;
		(void)ftruncate(a->fd, a->size);
		errno = error;
		return false;
	}
	chain_take(&a->chain, buf_str(&a->line));
	a->size += (int64_t)a->line.n;
	return true;
}

/* Say that lines are missing, before the next one is written. */
static bool put_lost(struct audit *a)
{
	if (a->lost == 0)
		return true;
	struct jw w = begin_line(a, "audit.lost");
	jw_int(&w, "lines", a->lost);
	if (!put_line(a))
		return false;
	a->lost = 0;
	return true;
}

/* Make sure that the end of a call can be recorded. */
static bool has_room(struct audit *a)
{
	a->tight = false;
	if (a->reserve - a->size >= NEEDED)
		return true;
	if (fallocate(a->fd, FALLOC_FL_KEEP_SIZE, a->size, RESERVE) == 0)
		a->reserve = a->size + RESERVE;
	/* Not every file system can; then it is seen when it is needed. */
	else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
		a->tight = true;
	return !a->tight;
}

/* Have everything that was written on disk. The lock is given up meanwhile. */
static bool sync_file(struct audit *a)
{
	const int64_t written = a->chain.seq;
	const int fd = a->fd;

	if (a->synced >= written)
		return true;
	a->syncing++;
	(void)pthread_mutex_unlock(&a->lock);
	const bool synced = fdatasync(fd) == 0;
	const int error = errno;
	(void)pthread_mutex_lock(&a->lock);
	a->syncing--;
	(void)pthread_cond_broadcast(&a->changed);
	if (synced && a->synced < written)
		a->synced = written;
	errno = error;
	return synced;
}

/* Wait, for that long or until it is to stop. */
static void pause_for(struct audit *a, int64_t ms)
{
	const int64_t until = now_ms() + ms;
	const struct timespec t = { until / 1000, until % 1000 * 1000000 };

	while (!a->stop && pthread_cond_timedwait(&a->changed, &a->lock, &t) == 0)
		;
}

/* Sync what no call waits for, twice a second. */
static void *sync_later(void *arg)
{
	struct audit *a = arg;

	(void)pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		while (!a->stop && a->synced >= a->chain.seq)
			(void)pthread_cond_wait(&a->changed, &a->lock);
		pause_for(a, LIMIT_AUDIT_SYNC_MS);
		(void)sync_file(a);
	}
	(void)pthread_mutex_unlock(&a->lock);
	return NULL;
}

static int failed(struct err *e, const char *what)
{
	(void)err_set(e, ERR_AUDIT_FAILED, "%s, because the audit file cannot be written.", what);
	return err_advise(e, "Ask the operator to make room for it; reading works.");
}

/* Finish a line: write it and, if the caller must know that it is there, sync it. */
static bool finish(struct audit *a, bool sync)
{
	const bool clean = a->synced >= a->chain.seq;
	bool written = put_line(a);

	if (!written)
		a->lost++;
	if (written && clean && !sync)
		(void)pthread_cond_broadcast(&a->changed);
	if (written && sync)
		written = sync_file(a);
	set_works(a, written && !a->tight);
	return written;
}

int audit_begin(struct audit *a, const struct account *call, struct str client, bool mcp,
		bool changes, struct err *e)
{
	(void)pthread_mutex_lock(&a->lock);
	bool written = put_lost(a);
	if (written && (changes || a->tight))
		written = has_room(a) || !changes;
	if (!written)
		set_works(a, false);
	struct jw w = begin_line(a, "call.start");
	jw_int(&w, "call", call->id);
	jw_str(&w, "tool", call->tool);
	jw_str(&w, "subject", call->subject);
	jw_str(&w, "session", call->session);
	jw_str(&w, "client", client);
	jw_int(&w, "uid", call->uid);
	jw_int(&w, "pid", call->pid);
	jw_str(&w, "front", mcp ? STR("mcp") : STR("http"));
	jw_bool(&w, "changes", changes);
	if (written)
		written = finish(a, false);
	else
		a->lost++;
	(void)pthread_mutex_unlock(&a->lock);
	return written || !changes ? 0 : failed(e, "Nothing was changed");
}

int audit_end(struct audit *a, const struct account *call, bool changes, struct err *e)
{
	(void)pthread_mutex_lock(&a->lock);
	struct jw w = begin_line(a, "call.end");
	jw_int(&w, "call", call->id);
	jw_bool(&w, "ok", call->code == ERR_NONE);
	if (call->code != ERR_NONE)
		jw_str(&w, "code", str_of(err_name(call->code)));
	if (call->end.ran)
		jw_int(&w, "exit_code", call->end.exit_code);
	if (call->end.signal)
		jw_str(&w, "signal", str_of(proc_signal_name(call->end.signal)));
	if (call->end.timed_out)
		jw_bool(&w, "timed_out", true);
	jw_int(&w, "ms", call->ms);
	jw_int(&w, "bytes", call->bytes);
	if (call->change)
		jw_int(&w, "change", (int64_t)call->change);
	const bool written = finish(a, changes && call->code != ERR_AUDIT_FAILED);
	(void)pthread_mutex_unlock(&a->lock);
	return written || !changes ? 0 : failed(e, "The call was carried out, but is not recorded");
}

void audit_job(struct audit *a, const struct job_state *job)
{
	(void)pthread_mutex_lock(&a->lock);
	struct jw w = begin_line(a, job->running ? "job.start" : "job.end");
	jw_int(&w, "call", (int64_t)job->call);
	jw_int(&w, "job", (int64_t)job->id);
	if (!job->running) {
		jw_int(&w, "exit_code", job->exit_code);
		jw_int(&w, "ms", job->ran_ms);
	}
	(void)finish(a, false);
	(void)pthread_mutex_unlock(&a->lock);
}

void audit_stop(struct audit *a, uint64_t call, int64_t uid, int64_t pid)
{
	if (!a)
		return;
	(void)pthread_mutex_lock(&a->lock);
	struct jw w = begin_line(a, "call.stop");
	jw_int(&w, "call", (int64_t)call);
	jw_int(&w, "uid", uid);
	jw_int(&w, "pid", pid);
	(void)finish(a, false);
	(void)pthread_mutex_unlock(&a->lock);
}

bool audit_works(struct audit *a)
{
	(void)pthread_mutex_lock(&a->lock);
	const bool works = a->works;
	(void)pthread_mutex_unlock(&a->lock);
	return works;
}

static int read_key(struct audit *a, const char *path, struct err *e)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, "Cannot read the key file %s", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return err_set(e, ERR_PERMISSION_DENIED,
			       "The key file %s is open to others: chmod 600 %s", path, path);
	const ssize_t n = io_read_full(fd, a->key, sizeof a->key);
	if (n < 0)
		return err_errno(e, "Cannot read the key file %s", path);
	const struct str key = str_trim((struct str){ a->key, (size_t)n });
	if (key.n < KEY_LEAST || n == (ssize_t)sizeof a->key)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The key file %s must have from %d to %d bytes", path, KEY_LEAST,
			       KEY_MOST - 1);
	a->chain.key = key;
	return 0;
}

/* Open the file, for this server alone. */
static int open_file(const char *path, struct err *e)
{
	AUTO_FD fd =
		open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, "Cannot open the audit file %s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_set(e, ERR_PERMISSION_DENIED,
			       "The audit file %s must be a file of this user", path);
	if ((st.st_mode & 0777) != 0600 && fchmod(fd, 0600) < 0)
		return err_errno(e, "Cannot set the mode of the audit file %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(e, ERR_IO_ERROR, "Another sidecar writes the audit file %s", path);
	return TAKE(fd, -1);
}

/* Go on with what the file has. Something that is not a chain is left alone. */
static int resume(struct audit *a, struct err *e)
{
	char tail[LIMIT_AUDIT_LINE];
	struct stat st;

	if (fstat(a->fd, &st) < 0)
		return err_errno(e, "Cannot read the audit file %s", a->path);
	a->size = a->reserve = st.st_size;
	if (a->size == 0)
		return 0;
	const size_t n = a->size < (int64_t)sizeof tail ? (size_t)a->size : sizeof tail;
	if (io_pread_full(a->fd, tail, n, a->size - (off_t)n) != (ssize_t)n)
		return err_errno(e, "Cannot read the audit file %s", a->path);
	if (!chain_resume(&a->chain, (struct str){ tail, n }))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "%s is not an audit file, or its last line is damaged: move it away",
			       a->path);
	/* What a crash has cut off stays, on a line of its own. */
	if (tail[n - 1] != '\n') {
		if (io_write_all(a->fd, STR("\n"), IO_FOREVER) < 0)
			return err_errno(e, "Cannot write the audit file %s", a->path);
		a->size++;
	}
	return 0;
}

/* A line about the audit itself. */
static bool put_own_line(struct audit *a, const char *type, struct str workspace,
			 const char *previous)
{
	struct jw w = begin_line(a, type);

	jw_int(&w, "pid", getpid());
	if (workspace.n) {
		jw_str(&w, "version", STR(SIDECAR_VERSION));
		jw_str(&w, "workspace", workspace);
	}
	if (previous)
		jw_str(&w, "previous", str_of(previous));
	return put_line(a);
}

static int start(struct audit *a, const struct audit_options *o, struct err *e)
{
	if (o->key_file && read_key(a, o->key_file, e) < 0)
		return -1;
	a->chain = chain_begin(a->chain.key);
	a->fd = open_file(a->path, e);
	if (a->fd < 0 || resume(a, e) < 0)
		return -1;
	(void)pthread_mutex_lock(&a->lock);
	const bool written = put_own_line(a, "audit.start", o->workspace, NULL) && sync_file(a);
	(void)pthread_mutex_unlock(&a->lock);
	if (!written)
		return err_errno(e, "Cannot write the audit file %s", a->path);
	return thread_start(sync_later, a, STACK, &a->thread)
		       ? 0
		       : err_set(e, ERR_TOO_BUSY, "Cannot start a thread");
}

int audit_open(const struct audit_options *o, struct audit **ret, struct err *e)
{
	struct audit *a = mem_new(1, sizeof *a);

	if (!a)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	a->fd = -1;
	a->works = true;
	a->line.max = LIMIT_AUDIT_LINE;
	(void)pthread_mutex_init(&a->lock, NULL);
	(void)pthread_cond_init(&a->changed, NULL);
	(void)snprintf(a->path, sizeof a->path, "%s", o->path);
	if (start(a, o, e) == 0) {
		*ret = a;
		return 0;
	}
	fd_closep(&a->fd);
	buf_done(&a->line);
	mem_free(a);
	return -1;
}

void audit_reopen(struct audit *a)
{
	struct stat old, new;
	struct err e;
	char previous[SHA256_TEXT];

	(void)pthread_mutex_lock(&a->lock);
	/* It is still there by its name, and was not put aside. */
	if (fstat(a->fd, &old) == 0 && lstat(a->path, &new) == 0 && old.st_ino == new.st_ino &&
	    old.st_dev == new.st_dev) {
		(void)pthread_mutex_unlock(&a->lock);
		return;
	}
	AUTO_FD fd = open_file(a->path, &e);
	const bool empty = fd >= 0 && fstat(fd, &new) == 0 && new.st_size == 0;
	if (!empty) {
		log_event(LOG_ERROR, "the audit file cannot be opened again: the old one is used",
			  LOG_STR("why", fd < 0 ? str_of(e.msg)
						: STR("there is another file of that name")));
		(void)pthread_mutex_unlock(&a->lock);
		return;
	}
	while (a->syncing)
		(void)pthread_cond_wait(&a->changed, &a->lock);
	/* From here on the lock is kept: this is the last line of the old file. */
	(void)put_lost(a);
	(void)put_own_line(a, "audit.rotate", STR(""), NULL);
	(void)ftruncate(a->fd, a->size); /* gives back what was reserved */
	(void)fdatasync(a->fd);
	(void)close(a->fd);
	a->fd = TAKE(fd, -1);
	a->size = a->reserve = 0;
	memcpy(previous, a->chain.mac, sizeof previous);
	set_works(a, put_own_line(a, "audit.continue", STR(""), previous));
	(void)sync_file(a);
	(void)pthread_mutex_unlock(&a->lock);
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	(void)pthread_mutex_lock(&a->lock);
	a->stop = true;
	(void)pthread_cond_broadcast(&a->changed);
	(void)pthread_mutex_unlock(&a->lock);
	(void)pthread_join(a->thread, NULL);
	(void)pthread_mutex_lock(&a->lock);
	if (put_lost(a))
		(void)put_own_line(a, "audit.stop", STR(""), NULL);
	(void)ftruncate(a->fd, a->size);
	(void)fdatasync(a->fd);
	char last[SHA256_TEXT + 24];
	(void)snprintf(last, sizeof last, "%lld:%s", (long long)a->chain.seq, a->chain.mac);
	log_event(LOG_INFO, "the audit file is closed", LOG_STR("last", str_of(last)));
	(void)pthread_mutex_unlock(&a->lock);
	fd_closep(&a->fd);
	(void)pthread_mutex_destroy(&a->lock);
	(void)pthread_cond_destroy(&a->changed);
	buf_done(&a->line);
	explicit_bzero(a->key, sizeof a->key);
	mem_free(a);
}
