/* SPDX-License-Identifier: MIT */
/* progress: a thread that writes the line four times a second. */

#include "cli/cli.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/human.h"
#include "base/io.h"
#include "base/own.h"

enum { FIRST_MS = 500, EVERY_MS = 250, SHOWN = 40 };

struct progress {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool end, visible;
	int64_t began, count;
	int64_t next; /* when to write the line; INT64_MAX: not until something is printed */
	const char *unit;
	char what[SHOWN + 1];
};

/* The caller holds the lock. */
static void erase(struct progress *p)
{
	if (p->visible)
		(void)io_write_all(STDERR_FILENO, STR("\r\033[K"), IO_FOREVER);
	p->visible = false;
}

static void show(struct progress *p)
{
	char count[HUMAN_SIZE], counted[64] = "", line[192];
	const int64_t ms = io_now_ms() - p->began;

	if (p->count)
		(void)snprintf(counted, sizeof counted, "%s %s, ", human_count(p->count, count),
			       p->unit);
	const int n = snprintf(line, sizeof line, "\r\033[K%s … %s%lld.%lld s", p->what, counted,
			       (long long)(ms / 1000), (long long)(ms % 1000 / 100));
	(void)io_write_all(STDERR_FILENO, (struct str){ line, (size_t)n }, IO_FOREVER);
	p->visible = true;
}

static void *tick(void *arg)
{
	struct progress *p = arg;
	struct timespec at;

	(void)pthread_mutex_lock(&p->lock);
	while (!p->end) {
		at = (struct timespec){ .tv_sec = p->next / 1000,
					.tv_nsec = p->next % 1000 * 1000000 };
		if (p->next == INT64_MAX)
			(void)pthread_cond_wait(&p->changed, &p->lock);
		else
			(void)pthread_cond_timedwait(&p->changed, &p->lock, &at);
		if (p->end || io_now_ms() < p->next)
			continue;
		show(p);
		p->next = io_now_ms() + EVERY_MS;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void destroy(struct progress *p)
{
	(void)pthread_cond_destroy(&p->changed);
	(void)pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

struct progress *progress_new(const char *what, const char *unit)
{
	struct progress *p = mem_new(1, sizeof *p);
	pthread_condattr_t monotonic;

	if (!p)
		return NULL;
	p->began = io_now_ms();
	p->next = p->began + FIRST_MS;
	p->unit = unit;
	/* Show only ASCII: no control characters, and no half of a character at the end. */
	for (size_t i = 0; i < SHOWN && what[i]; i++)
		p->what[i] = what[i] >= ' ' && what[i] < 127 ? what[i] : '?';
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&p->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	if (pthread_create(&p->thread, NULL, tick, p) == 0)
		return p;
	destroy(p);
	return NULL;
}

void progress_count(struct progress *p, int64_t count)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->count = count;
	(void)pthread_mutex_unlock(&p->lock);
}

void progress_pause(struct progress *p, bool stay)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	erase(p);
	p->next = stay ? INT64_MAX : io_now_ms() + FIRST_MS;
	(void)pthread_cond_signal(&p->changed);
	(void)pthread_mutex_unlock(&p->lock);
}

bool progress_free(struct progress *p)
{
	if (!p)
		return false;
	(void)pthread_mutex_lock(&p->lock);
	p->end = true;
	(void)pthread_cond_signal(&p->changed);
	(void)pthread_mutex_unlock(&p->lock);
	(void)pthread_join(p->thread, NULL);
	const bool was_visible = p->visible;
	erase(p);
	destroy(p);
	return was_visible;
}
