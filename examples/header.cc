/* SPDX-License-Identifier: MIT */
/* header: sidecar.h is also valid C++. */

#include <sidecar.h>

int main()
{
	sidecar_options options = {};
	sidecar_error error = {};
	sidecar_boundary *boundary = sidecar_boundary_new(&options, &error);

	/* There is no boundary without a workspace, and the error says so. */
	sidecar_boundary_free(boundary);
	return boundary != nullptr || error.message[0] == '\0';
}
