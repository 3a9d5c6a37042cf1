/* SPDX-License-Identifier: MIT */
/*
 * openapi: the HTTP API, described for programs (OpenAPI 3.1).
 *
 * openapi.json has what is fixed, and says where the program writes what its tables say: the
 * arguments and fields of the tools (tools/tool.h). The black-box tests hold every answer they get
 * against the document.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include <stdbool.h>

#include "base/buf.h"

/* The whole document, with the routes of agent-sandbox or without. */
void openapi_write(bool surface, struct buf *out);

#endif
