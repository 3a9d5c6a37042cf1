/* SPDX-License-Identifier: MIT */
/* magic: what kind of file it is, by its first bytes. */
#ifndef WORKSPACE_MAGIC_H
#define WORKSPACE_MAGIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct magic {
	const char *what; /* a few words for a message: "gzip archive", or "unknown type" */
	const char *mime; /* "application/gzip", or "application/octet-stream" */
	bool image;	  /* of a kind that models can see: png, jpeg, gif, webp */
};

/* Never NULL. The first 512 bytes are enough. */
const struct magic *magic_of(struct str first_bytes);

/* The width and height of such an image, from its first bytes; a JPEG may need all of them. False
 * if they cannot be found. */
bool magic_image_size(struct str bytes, uint32_t *width, uint32_t *height);

#endif
