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

enum { TREES = PATH_BASES + 1 }; /* the bases, and a final NULL */

struct sidecar_boundary {
	struct workspace *ws;
	const char *trees[TREES];
};

/* List the trees that may be accessed; a tree inside another one is not listed. */
static void list_trees(struct sidecar_boundary *b)
{
	const struct path_rules *rules = ws_rules(b->ws);
	const struct str outermost = rules->allowed.n ? rules->allowed : STR("/");
	const struct str all[] = { rules->outside ? outermost : rules->root, rules->data };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct str below;
		if (all[i].n && !(i > 0 && path_within(all[0], all[i], &below)))
			b->trees[n++] = all[i].p;
	}
}

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
	list_trees(b);
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
	const struct str root = ws_rules(boundary->ws)->root;
	char shown[2 * PATH_MAX], text[SIDECAR_PATH_MAX];
	struct path p;
	struct err e;

	if (resolve(boundary, path, &p, &e) < 0 || ws_canonical(boundary->ws, &p, &p, &e) < 0) {
		client_error(error, &e);
		return -1;
	}
	const struct str name = ws_display(boundary->ws, &p, shown);
	/* Only names in the workspace are displayed without their directory. */
	int n;
	if (p.base != PATH_WORKSPACE)
		n = snprintf(text, sizeof text, "%.*s", STR_FMT(name));
	else
		n = snprintf(text, sizeof text, "%.*s%s%s", STR_FMT(root),
			     root.n > 1 && *p.name ? "/" : "", p.name);
	if (n >= 0 && (size_t)n < size && (size_t)n < sizeof text) {
		memcpy(resolved, text, (size_t)n + 1);
		return n;
	}
	(void)err_set(&e, ERR_INVALID_PATH, "The resolved path needs %d bytes", n + 1);
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
