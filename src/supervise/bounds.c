/* SPDX-License-Identifier: MIT */
/* bounds: the rules of sandbox_config.c and sandbox.c, asked by name. */

#include "supervise/bounds.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/canonical.h"
#include "sandbox/landlock.h"

struct bounds_memory {
	atomic_int holders;
	struct buf text;     /* all strings, one after the other, each with its NUL */
	const char **string; /* where they begin */
	struct stat *own;    /* of what is hidden; zero: it was not there */
};

static bool copy_strings(struct bounds *b, struct bounds_memory *m)
{
	const size_t count = sandbox_string_count(&b->config);

	m->text.max = SIZE_MAX / 2;
	sandbox_add_strings(&b->config, &m->text);
	if (m->text.failed)
		return false;
	const char *next = m->text.p;
	for (size_t i = 0; i < count; i++, next += strlen(next) + 1)
		m->string[i] = next;
	sandbox_point_to(&b->config, m->string);
	return true;
}

struct bounds *bounds_new(const struct sandbox_config *config, bool namespaces)
{
	struct bounds *b = mem_new(1, sizeof *b);
	struct bounds_memory *m = b ? mem_new(1, sizeof *m) : NULL;

	if (!m) {
		mem_free(b);
		return NULL;
	}
	*b = (struct bounds){ .config = *config, .namespaces = namespaces, .memory = m };
	atomic_init(&m->holders, 1);
	m->string = mem_new(sandbox_string_count(config), sizeof *m->string);
	m->own = mem_new(config->hide.count + 1, sizeof *m->own);
	if (!m->string || !m->own || !copy_strings(b, m)) {
		bounds_release(b);
		return NULL;
	}
	b->abi = landlock_abi();
	for (size_t i = 0; i < config->hide.count; i++)
		(void)stat(config->hide.item[i], &m->own[i]);
	b->override = sandbox_needs_override(&b->config);
	return b;
}

struct bounds *bounds_hold(struct bounds *b)
{
	if (b)
		(void)atomic_fetch_add(&b->memory->holders, 1);
	return b;
}

void bounds_release(struct bounds *b)
{
	if (!b || atomic_fetch_sub(&b->memory->holders, 1) > 1)
		return;
	buf_done(&b->memory->text);
	mem_free(b->memory->string);
	mem_free(b->memory->own);
	mem_free(b->memory);
	mem_free(b);
}

static bool is_in_list(const char *name, struct path_list list)
{
	for (size_t i = 0; i < list.count; i++)
		if (canonical_is_in(name, list.item[i]))
			return true;
	return false;
}

static bool is_in_private(const struct bounds *b, const char *name)
{
	return b->namespaces ? canonical_is_in(name, "/tmp") || canonical_is_in(name, "/dev/shm")
			     : b->config.scratch && canonical_is_in(name, b->config.scratch);
}

static bool is_in_workspace(const struct bounds *b, const char *name)
{
	return !b->config.read_only && canonical_is_in(name, b->config.workspace);
}

bool bounds_may_write(const struct bounds *b, const char *name)
{
	return is_in_workspace(b, name) || is_in_list(name, b->config.write) ||
	       is_in_private(b, name) || sandbox_is_device(name, b->namespaces) ||
	       canonical_is_in(name, "/dev/shm");
}

bool bounds_may_connect(const struct bounds *b, const char *name, bool read_only)
{
	if (is_in_list(name, b->config.sockets))
		return true;
	return !read_only && (is_in_workspace(b, name) || is_in_list(name, b->config.write) ||
			      is_in_private(b, name));
}

bool bounds_is_own(const struct bounds *b, const struct stat *st)
{
	const struct stat *own = b->memory->own;

	for (size_t i = 0; i < b->config.hide.count; i++)
		if (st->st_dev == own[i].st_dev && st->st_ino == own[i].st_ino)
			return true;
	return false;
}

int bounds_open_listed(const struct bounds *b, const char *name)
{
	char real[PATH_MAX];

	if (b->config.sockets.count && canonical_name(name, NULL, real) &&
	    is_in_list(real, b->config.sockets))
		return canonical_open(real);
	errno = ENOENT;
	return -1;
}

bool bounds_is_hidden(const struct bounds *b, const char *name)
{
	static const char *const places[] = { "/tmp", "/dev/shm", "/run", "/var/run" };

	if (!b->namespaces)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (canonical_is_in(name, places[i]))
			return true;
	return false;
}

void bounds_describe(const struct bounds *b, struct buf *out)
{
	const char *const own = b->namespaces ? "/tmp" : b->config.scratch;

	if (!b->config.read_only)
		buf_add(out, STR("the workspace, "));
	buf_add(out, str_of(own));
	for (size_t i = 0; i < b->config.write.count; i++)
		buf_addf(out, ", %s",
			 b->config.cache && strcmp(b->config.write.item[i], b->config.cache) == 0
				 ? "the cache"
				 : b->config.write.item[i]);
	for (size_t i = 1; i < b->config.git.count; i += 2)
		buf_addf(out, ", of %s what a commit needs", b->config.git.item[i]);
}

struct bounds_rights bounds_lower(const struct bounds *b)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];
	struct bounds_rights r = { .failed = geteuid() == 0 };

	if (!r.failed || syscall(SYS_capget, &head, caps) < 0)
		return r;
	const unsigned kept = b->override ? CAP_TO_MASK(CAP_DAC_OVERRIDE) : 0;
	r = (struct bounds_rights){ { caps[0].effective, caps[1].effective }, .lowered = true };
	caps[0].effective &= kept;
	caps[1].effective = 0;
	r.failed = syscall(SYS_capset, &head, caps) < 0;
	return r;
}

void bounds_raise(const struct bounds_rights *r)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	if (!r->lowered || syscall(SYS_capget, &head, caps) < 0)
		return;
	caps[0].effective = r->effective[0];
	caps[1].effective = r->effective[1];
	(void)syscall(SYS_capset, &head, caps);
}
