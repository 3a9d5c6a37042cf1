/* SPDX-License-Identifier: MIT */
/* denials: a short list under a lock, and the words for it. */

#include "supervise/denials.h"

#include <pthread.h>
#include <string.h>

#include "base/own.h"
#include "supervise/limits.h"

struct denials {
	struct bounds *bounds;
	void (*told)(void *arg, const struct denial *d);
	void *arg;
	pthread_mutex_t lock; /* protects the rest */
	struct denial list[LIMIT_DENIALS];
	size_t listed, count;
};

struct denials *denials_new(struct bounds *b, void (*told)(void *arg, const struct denial *d),
			    void *arg)
{
	struct denials *d = mem_new(1, sizeof *d);

	if (!d) {
		bounds_release(b);
		return NULL;
	}
	d->bounds = b;
	d->told = told;
	d->arg = arg;
	(void)pthread_mutex_init(&d->lock, NULL);
	return d;
}

void denials_free(struct denials *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->listed; i++)
		mem_free((char *)(uintptr_t)d->list[i].path); /* with the rule behind it */
	(void)pthread_mutex_destroy(&d->lock);
	bounds_release(d->bounds);
	mem_free(d);
}

/* A program that may not write a file often tries to set its times instead: that is one attempt. */
static bool is_listed(const struct denials *d, const struct denial *what)
{
	for (size_t i = 0; i < d->listed; i++) {
		const struct denial *one = &d->list[i];
		const bool same = one->verb == what->verb ||
				  (one->verb == INTENT_WRITE && what->verb == INTENT_TIMES);
		if (same && strcmp(one->path, what->path) == 0)
			return true;
	}
	return false;
}

void denials_add(struct denials *d, const struct denial *what)
{
	const size_t n = strlen(what->path) + 1, more = what->why ? strlen(what->why) + 1 : 0;
	bool listed = false;

	(void)pthread_mutex_lock(&d->lock);
	if (!is_listed(d, what)) {
		char *path = d->listed < LIMIT_DENIALS ? mem_new(n + more, 1) : NULL;
		d->count++;
		if (path) {
			memcpy(path, what->path, n);
			d->list[d->listed] = *what;
			if (what->why)
				d->list[d->listed].why = memcpy(path + n, what->why, more);
			d->list[d->listed++].path = path;
			listed = true;
		}
	}
	(void)pthread_mutex_unlock(&d->lock);
	if (listed && d->told)
		d->told(d->arg, what);
}

const struct bounds *denials_bounds(const struct denials *d)
{
	return d->bounds;
}

size_t denials_count(struct denials *d)
{
	if (!d)
		return 0;
	(void)pthread_mutex_lock(&d->lock);
	const size_t n = d->count;
	(void)pthread_mutex_unlock(&d->lock);
	return n;
}

size_t denials_listed(struct denials *d)
{
	if (!d)
		return 0;
	(void)pthread_mutex_lock(&d->lock);
	const size_t n = d->listed;
	(void)pthread_mutex_unlock(&d->lock);
	return n;
}

struct denial denials_at(struct denials *d, size_t i)
{
	(void)pthread_mutex_lock(&d->lock);
	const struct denial one = d->list[i];
	(void)pthread_mutex_unlock(&d->lock);
	return one;
}

static const struct {
	const char *name, *doing;
} verbs[] = {
	[INTENT_WRITE] = { "write", "writing" },
	[INTENT_TRUNCATE] = { "write", "writing" },
	[INTENT_MKDIR] = { "mkdir", "making the directory" },
	[INTENT_MKNOD] = { "mknod", "making" },
	[INTENT_UNLINK] = { "remove", "removing" },
	[INTENT_RMDIR] = { "remove", "removing" },
	[INTENT_RENAME] = { "rename", "renaming" },
	[INTENT_LINK] = { "link", "linking" },
	[INTENT_SYMLINK] = { "symlink", "making the link" },
	[INTENT_CHMOD] = { "chmod", "changing the permissions of" },
	[INTENT_CHOWN] = { "chown", "changing the owner of" },
	[INTENT_TIMES] = { "utime", "changing the times of" },
	[INTENT_ATTRIBUTE] = { "setxattr", "changing attributes of" },
	[INTENT_BIND] = { "bind", "making the socket" },
	[INTENT_CONNECT] = { "connect", "connecting to" },
	[INTENT_SEND] = { "send", "sending to" },
	[INTENT_SOCKET] = { "socket", "making" },
};

static const char *const by_names[] = {
	[DENIED_BY_LANDLOCK] = "landlock", [DENIED_BY_MOUNT] = "mount",
	[DENIED_BY_SECCOMP] = "seccomp",   [DENIED_BY_NETWORK] = "network",
	[DENIED_BY_GUARD] = "guard",
};

const char *denial_operation(const struct denial *d)
{
	return verbs[d->verb].name;
}

const char *denial_by_name(const struct denial *d)
{
	return by_names[d->by];
}

/* What helps a command that may not write there. Tools that install for the user or the machine can be
 * given another place; a directory for those would be the whole home or /usr. */
static void add_help(const char *path, struct buf *out)
{
	static const struct {
		const char *part, *flag, *name;
	} places[] = {
		{ "/.gitconfig", "--global", "GIT_CONFIG_GLOBAL=FILE" },
		{ "/node_modules", "-g", "npm_config_prefix=DIR" },
		{ "/.local/lib/python", "--user (a virtual environment does)",
		  "PYTHONUSERBASE=DIR" },
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		if (!strstr(path, places[i].part))
			continue;
		buf_addf(out,
			 "; do without %s, or the operator names a place that is writable: "
			 "--command-env %s",
			 places[i].flag, places[i].name);
		return;
	}
	buf_add(out, STR("; the operator can allow its directory: --sandbox-write DIR"));
}

void denials_rule(const struct denials *d, const struct denial *one, struct buf *out)
{
	if (one->by == DENIED_BY_GUARD) {
		buf_add(out, str_of(one->why));
		return;
	}
	if (one->by == DENIED_BY_NETWORK) {
		buf_add(out, STR("network: none"));
		return;
	}
	if (one->sidecar) {
		buf_add(out, STR("a sidecar listens there"));
		return;
	}
	if (one->verb == INTENT_SOCKET) {
		buf_add(out, STR("it could send to every program; stream sockets can be used"));
		return;
	}
	if (one->verb == INTENT_WRITE && one->by == DENIED_BY_SECCOMP &&
	    bounds_may_write(d->bounds, one->path)) {
		buf_add(out, STR("on this kernel, to empty a file it must be opened for writing"));
		return;
	}
	if (one->hidden)
		buf_add(out, STR("commands do not see what other programs have there; "));
	buf_add(out, one->verb == INTENT_CONNECT ? STR("sockets: ") : STR("writable: "));
	bounds_describe(d->bounds, out);
	if (one->verb == INTENT_CONNECT)
		buf_add(out, STR(", --sandbox-socket"));
	else if (!d->bounds->config.read_only)
		add_help(one->path, out);
}

void denials_say(const struct denials *d, const struct denial *one, struct buf *out)
{
	buf_addf(out, "%s ", verbs[one->verb].doing);
	/* A command chooses its names: none of them begins a line, or moves a cursor. */
	for (const char *p = one->path; *p; p++)
		buf_addc(out, (unsigned char)*p < ' ' || *p == 127 ? '?' : *p);
	buf_add(out, STR(" is not allowed; "));
	denials_rule(d, one, out);
}
