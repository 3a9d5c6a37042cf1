/* SPDX-License-Identifier: MIT */
/*
 * libsidecar: which paths a program may touch, and opening them so that nothing gets out.
 *
 * For host programs that only want the sidecar's boundary and its resolver. A boundary is made once
 * from the same four settings the sidecar has, and asked about paths from then on:
 *
 *	struct sidecar_error error;
 *	struct sidecar_options options = {
 *		.workspace_root = "/workspace",
 *		.data_dir = "/var/lib/host",
 *	};
 *	struct sidecar_boundary *boundary = sidecar_boundary_new(&options, &error);
 *	if (!boundary)
 *		errx(1, "%s", error.message);
 *
 *	int fd = sidecar_open_beneath(boundary, "src/main.c", O_RDONLY, &error);
 *	if (fd < 0)
 *		warnx("%s: %s", error.code, error.message);
 *	…
 *	sidecar_boundary_free(boundary);
 *
 * How a path is read: a relative path is below the workspace root; an absolute one is literal and
 * must lie in the workspace, in the data directory or, with allow_outside, in the allowed root (or
 * anywhere, when there is none). "\" is read as "/". What climbs out is refused.
 *
 * A check by name is true for the moment it is made: whoever may change the tree can change the
 * answer before the path is used. sidecar_open_beneath has no such moment. The file it opens is
 * below the directory whatever others do meanwhile; so check to tell a user, and open to act.
 *
 * A boundary does not change after it is made and may be used by many threads at once. Strings it
 * hands out live as long as it does, except where said otherwise. Functions that fail set *error,
 * which may be NULL when the reason is of no interest; on success they leave it alone.
 */
#ifndef SIDECAR_H
#define SIDECAR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIDECAR_API __attribute__((visibility("default")))

/* Room for any resolved path and its final NUL byte. */
#define SIDECAR_PATH_MAX 8192

/* Why something failed. Both are NUL-terminated. */
struct sidecar_error {
	char code[40];	    /* "PATH_OUTSIDE_WORKSPACE", "FILE_NOT_FOUND" … as on the wire */
	char message[1024]; /* a sentence */
};

/* What the operator decides. Strings are copied; all paths are absolute. */
struct sidecar_options {
	const char *workspace_root; /* WORKSPACE_ROOT; made, with its parents, when missing */
	const char *data_dir;	    /* DATA_DIR: always allowed as well; made; or NULL */
	const char *allowed_root;   /* ALLOWED_ROOT_DIRECTORY, must contain the root; or NULL */
	bool allow_outside;	    /* absolute paths may leave the workspace */
};

struct sidecar_boundary;

/* Check the settings and open the directories. NULL on failure; then nothing on disk has changed.
 * The error is one sentence for the operator. */
SIDECAR_API struct sidecar_boundary *sidecar_boundary_new(const struct sidecar_options *options,
							  struct sidecar_error *error);

/* Accepts NULL. */
SIDECAR_API void sidecar_boundary_free(struct sidecar_boundary *boundary);

/* The canonical paths of the directories; NULL where none is set. */
SIDECAR_API const char *sidecar_workspace_root(const struct sidecar_boundary *boundary);
SIDECAR_API const char *sidecar_allowed_root(const struct sidecar_boundary *boundary);
SIDECAR_API const char *sidecar_data_dir(const struct sidecar_boundary *boundary);

/* The trees that may be touched, outermost names only, as an array that ends with NULL. */
SIDECAR_API const char *const *sidecar_allowed_paths(const struct sidecar_boundary *boundary);

/* Whether the path may be touched, links in it followed. It need not exist. */
SIDECAR_API bool sidecar_is_path_allowed(const struct sidecar_boundary *boundary, const char *path);

/*
 * The absolute path without links that the path leads to, written to `resolved`, which has `size`
 * bytes; SIDECAR_PATH_MAX is always enough. Parts that do not exist stay as they are. Returns the
 * length, or -1: PATH_OUTSIDE_WORKSPACE, PATH_NOT_ALLOWED, SYMLINK_OUTSIDE_WORKSPACE, SYMLINK_LOOP,
 * INVALID_PATH …
 */
SIDECAR_API int sidecar_validate_path(const struct sidecar_boundary *boundary, const char *path,
				      char *resolved, size_t size, struct sidecar_error *error);

/*
 * Open something that exists, with flags as in open(2): an access mode, O_DIRECTORY, O_PATH,
 * O_APPEND; others are INVALID_ARGUMENTS. The descriptor is close-on-exec and does not block.
 * Returns it, for the caller to close, or -1.
 */
SIDECAR_API int sidecar_open_beneath(const struct sidecar_boundary *boundary, const char *path,
				     int flags, struct sidecar_error *error);

#ifdef __cplusplus
}
#endif

#endif
