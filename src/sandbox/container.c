/* SPDX-License-Identifier: MIT */
/* container: look for the marks of runtimes, then for namespaces. */

#include "sandbox/container.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"

/* Left by Docker, Podman and CRI-O, systemd, and systemd-nspawn. Only root can make them. */
static const char *const marks[] = { "/.dockerenv", "/run/.containerenv", "/run/systemd/container",
				     "/run/host/container-manager" };

/* What the names of control groups of containers contain. */
static const char *const groups[] = { "/docker/",     "/docker-",     "/kubepods",
				      "/libpod-",     "/crio-",	      "/lxc/",
				      "/lxc.payload", "/containerd-", "/cri-containerd-" };

/* The kernel gives this number to the PID namespace that it boots with. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

enum { FILE_ROOM = 64 << 10 };

/* The beginning of a file of /proc; "" if it cannot be read. */
static struct str read_file(const char *root, const char *name, char room[FILE_ROOM])
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s%s", root, name);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, room, FILE_ROOM);
	return (struct str){ room, n > 0 ? (size_t)n : 0 };
}

static bool has_mark(const char *root)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		(void)snprintf(path, sizeof path, "%s%s", root, marks[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool is_grouped(const char *root, char room[FILE_ROOM])
{
	const struct str text = read_file(root, "/proc/self/cgroup", room);

	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (str_find(text, str_of(groups[i])) >= 0)
			return true;
	return false;
}

static bool has_pid_namespace(const char *root)
{
	char path[PATH_MAX], name[64];

	(void)snprintf(path, sizeof path, "%s/proc/self/ns/pid", root);
	const ssize_t n = readlink(path, name, sizeof name);
	return n > 0 && !str_eq((struct str){ name, (size_t)n }, STR(FIRST_PID_NAMESPACE));
}

/* Is the root of the file system made of layers? A line of mountinfo: 36 35 98:0 / / rw,noatime
 * master:1 - overlay overlay rw. Of several, the last one is on top. */
static bool has_layers(const char *root, char room[FILE_ROOM])
{
	struct str text = read_file(root, "/proc/self/mountinfo", room), line, field;
	bool layers = false;

	while (text.n) {
		(void)str_cut(text, '\n', &line, &text);
		const ptrdiff_t dash = str_find(line, STR(" - "));
		struct str rest = line;
		for (int i = 0; i < 5; i++)
			(void)str_cut(rest, ' ', &field, &rest);
		if (dash < 0 || !str_eq(field, STR("/")))
			continue;
		(void)str_cut(str_from(line, (size_t)dash + 3), ' ', &field, &rest);
		layers = str_find(field, STR("overlay")) >= 0;
	}
	return layers;
}

const char *container_evidence(const char *root)
{
	char room[FILE_ROOM] UNINITIALISED;

	if (has_mark(root))
		return "its runtime has left a mark";
	if (is_grouped(root, room))
		return "the control group is one of a container";
	if (!has_pid_namespace(root))
		return NULL;
	if (has_layers(root, room))
		return "there are a PID namespace and a root of layers";
	return getenv("KUBERNETES_SERVICE_HOST") || getenv("container")
		       ? "there are a PID namespace and a runtime's variable"
		       : NULL;
}
