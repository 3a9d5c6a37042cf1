/* SPDX-License-Identifier: MIT */
/* client SOCKET FILE: print a file from the workspace of a sidecar. */

#include <sidecar.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const struct sidecar_settings settings = { .socket_path = argc > 1 ? argv[1] : NULL };
	struct sidecar_error error;
	struct sidecar_file *file = NULL;

	struct sidecar *sidecar = sidecar_open(&settings, &error);
	if (sidecar && sidecar_ensure_ready(sidecar, &error) == 0)
		file = sidecar_read_file(sidecar, argc > 2 ? argv[2] : "", NULL, &error);
	if (file)
		(void)fwrite(file->content, 1, file->length, stdout);
	else
		(void)fprintf(stderr, "%s: %s\n", error.code, error.message);
	const int status = file ? 0 : 1;
	sidecar_free(file);
	sidecar_close(sidecar);
	return status;
}
