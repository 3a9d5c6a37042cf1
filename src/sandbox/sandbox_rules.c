/* SPDX-License-Identifier: MIT */
/* sandbox_rules: what a command may read and write. */

#include "sandbox/sandbox_rules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/own.h"
#include "sandbox/canonical.h"
#include "sandbox/landlock.h"

static const char *const devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};

/* Terminals are private only with namespaces. */
static const char *const terminals[] = { "/dev/ptmx", "/dev/pts" };

static const char *const readable_in_strict[] = {
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/opt",
	"/etc",
	"/proc",
	"/sys/devices/system/cpu",
	"/run",
};

/* By a name of the system's, which may lead through links. */
static int allow(int rules, const char *path, enum landlock_grant grant, struct err *e)
{
	AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);

	return landlock_allow(rules, fd, grant, e);
}

static int allow_all(int rules, const char *const *paths, size_t count, enum landlock_grant grant,
		     struct err *e)
{
	for (size_t i = 0; i < count; i++)
		if (allow(rules, paths[i], grant, e) < 0)
			return -1;
	return 0;
}

/* By a name of the configuration's: commands may have put links where it stands. */
static int allow_named(int rules, const char *name, enum landlock_grant grant, struct err *e)
{
	AUTO_FD fd = canonical_open(name);

	return landlock_allow(rules, fd, grant, e);
}

static int allow_list(int rules, struct path_list list, enum landlock_grant grant, struct err *e)
{
	for (size_t i = 0; i < list.count; i++)
		if (allow_named(rules, list.item[i], grant, e) < 0)
			return -1;
	return 0;
}

/* The directories programs are found in, wherever they are. */
static int allow_path_variable(int rules, struct err *e)
{
	struct str rest = str_of(getenv("PATH")), dir;
	bool more = rest.n > 0;

	while (more) {
		char path[LIMIT_SANDBOX_VARIABLE];
		more = str_cut(rest, ':', &dir, &rest);
		if (!dir.n || dir.p[0] != '/' || dir.n >= sizeof(path) || dir.n == 1)
			continue;
		(void)snprintf(path, sizeof(path), "%.*s", STR_FMT(dir));
		if (allow(rules, path, LANDLOCK_READ, e) < 0)
			return -1;
	}
	return 0;
}

static int allow_reading(int rules, const struct sandbox_config *c, struct err *e)
{
	if (c->mode != SANDBOX_STRICT)
		return allow(rules, "/", LANDLOCK_READ, e);
	if (allow_all(rules, readable_in_strict, ARRAY_LEN(readable_in_strict), LANDLOCK_READ, e) <
	    0)
		return -1;
	if (allow_list(rules, c->read, LANDLOCK_READ, e) < 0)
		return -1;
	return allow_path_variable(rules, e);
}

static int allow_writing(int rules, const struct sandbox_config *c, bool namespaces, struct err *e)
{
	if (allow_all(rules, devices, ARRAY_LEN(devices), LANDLOCK_DEVICE, e) < 0)
		return -1;
	if (namespaces && allow_all(rules, terminals, ARRAY_LEN(terminals), LANDLOCK_DEVICE, e) < 0)
		return -1;
	if (allow_named(rules, namespaces ? "/tmp" : c->scratch, LANDLOCK_WRITE, e) < 0 ||
	    allow(rules, "/dev/shm", LANDLOCK_WRITE, e) < 0 ||
	    allow_list(rules, c->write, LANDLOCK_WRITE, e) < 0)
		return -1;
	return allow_named(rules, c->workspace, c->read_only ? LANDLOCK_READ : LANDLOCK_WRITE, e);
}

int sandbox_rules(const struct sandbox_config *c, bool namespaces, struct err *e)
{
	/* In a network of its own a command may serve itself over the loopback. */
	AUTO_FD rules = landlock_new(c->no_network && !namespaces, e);

	if (rules < 0 || allow_reading(rules, c, e) < 0 ||
	    allow_writing(rules, c, namespaces, e) < 0)
		return -1;
	return TAKE(rules, -1);
}
