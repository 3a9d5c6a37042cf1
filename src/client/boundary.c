/* SPDX-License-Identifier: MIT */
/* boundary: the path rules of workspace/ for programs that open files themselves. */

#include "sidecar.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "client/client.h"
#include "workspace/workspace.h"

struct sidecar_boundary {
	struct workspace *ws;
	const char *trees[WS_TREES];
};

struct sidecar_boundary *sidecar_boundary_new(const struct sidecar_options *options,
					      struct sidecar_error *error)
{
	const struct ws_options o = {
		.root = options->workspace_root,
		.data_dir = options->data_dir,
		.allowed_root = options->allowed_root,
		.allow_outside = options->allow_outside,
	};
	struct sidecar_boundary *b = mem_new(1, sizeof *b);
	struct err e = { .code = ERR_TOO_BUSY, .msg = "Not enough memory for the boundary" };

	if (!b || ws_new(&o, &b->ws, &e) < 0) {
		client_error(error, &e);
		mem_free(b);
		return NULL;
	}
	ws_trees(b->ws, b->trees);
	return b;
}

void sidecar_boundary_free(struct sidecar_boundary *boundary)
{
	if (!boundary)
		return;
	ws_free(boundary->ws);
	mem_free(boundary);
}

const char *sidecar_workspace_root(const struct sidecar_boundary *boundary)
{
	return ws_rules(boundary->ws)->root.p;
}

const char *sidecar_allowed_root(const struct sidecar_boundary *boundary)
{
	return ws_rules(boundary->ws)->allowed.p;
}

const char *sidecar_data_dir(const struct sidecar_boundary *boundary)
{
	return ws_rules(boundary->ws)->data.p;
}

const char *const *sidecar_allowed_paths(const struct sidecar_boundary *boundary)
{
	return boundary->trees;
}

static int resolve(const struct sidecar_boundary *b, const char *path, struct path *ret,
		   struct err *e)
{
	return ws_resolve(b->ws, str_of(path), PATH_STRICT, ret, e);
}

int sidecar_validate_path(const struct sidecar_boundary *boundary, const char *path, char *resolved,
			  size_t size, struct sidecar_error *error)
{
	char text[2 * PATH_MAX];
	struct path p;
	struct err e;

	if (resolve(boundary, path, &p, &e) < 0 || ws_canonical(boundary->ws, &p, &p, &e) < 0) {
		client_error(error, &e);
		return -1;
	}
	const struct str found = ws_absolute(boundary->ws, &p, text);
	if (found.n < size && found.n < sizeof text) {
		memcpy(resolved, text, found.n + 1);
		return (int)found.n;
	}
	(void)err_set(&e, ERR_INVALID_PATH, "The resolved path needs %zu bytes", found.n + 1);
	client_error(error, &e);
	return -1;
}

/* The normalised text of an absolute path; empty for any other. */
static struct str normal_text(const char *path, char out[PATH_MAX])
{
	const struct str text = str_of(path);

	if (!str_starts(text, STR("/")) || text.n >= PATH_MAX)
		return STR("");
	return (struct str){ out, path_normalise(text, out) };
}

bool sidecar_is_path_within(const char *path, const char *directory)
{
	char below[PATH_MAX], above[PATH_MAX];
	const struct str p = normal_text(path, below), dir = normal_text(directory, above);
	struct str rest;

	return p.n && dir.n && path_within(dir, p, &rest);
}

bool sidecar_is_path_allowed(const struct sidecar_boundary *boundary, const char *path)
{
	char resolved[SIDECAR_PATH_MAX];

	return sidecar_validate_path(boundary, path, resolved, sizeof resolved, NULL) >= 0;
}

int sidecar_open_beneath(const struct sidecar_boundary *boundary, const char *path, int flags,
			 struct sidecar_error *error)
{
	const int known = O_ACCMODE | O_DIRECTORY | O_PATH | O_APPEND | O_CLOEXEC | O_NONBLOCK |
			  O_NOCTTY | O_LARGEFILE;
	struct path p;
	struct err e;
	int fd = -1;

	if (flags & ~known)
		(void)err_set(&e, ERR_INVALID_ARGUMENTS,
			      "Only an access mode, O_DIRECTORY, O_PATH and O_APPEND are allowed");
	else if (resolve(boundary, path, &p, &e) == 0)
		fd = ws_open(boundary->ws, &p, flags, &e);
	if (fd < 0)
		client_error(error, &e);
	return fd;
}
