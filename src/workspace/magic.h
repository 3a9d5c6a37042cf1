/* SPDX-License-Identifier: MIT */
/*
 * magic: what kind of file this is, by its first bytes or its name.
 *
 * The words are only for messages to an agent ("a PNG image"). Only images are treated differently,
 * and those are known by their extension, as the wire contract says.
 */
#ifndef WORKSPACE_MAGIC_H
#define WORKSPACE_MAGIC_H

#include "base/str.h"

/* A few words for a message: "ELF executable", "gzip archive", or "unknown type". */
const char *magic_describe(struct str first_bytes);

/* The media type of an image by its file name (.jpg .jpeg .png .gif .webp), or NULL. */
const char *magic_image(struct str name);

#endif
