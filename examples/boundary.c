/* SPDX-License-Identifier: MIT */
/*
 * boundary: which of these paths may be used?
 *
 *	boundary <workspace> [path…]
 *
 * Prints one line for each path: where it leads, or why it may not be used. The exit status is 1 if
 * one of them may not be used.
 */

#include <fcntl.h>
#include <sidecar.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sidecar_options options = { .workspace_root = argc > 1 ? argv[1] : "" };
	struct sidecar_error error;
	struct sidecar_boundary *boundary = sidecar_boundary_new(&options, &error);
	int refused = 0;

	if (!boundary) {
		fprintf(stderr, "boundary: %s\n", error.message);
		return 1;
	}
	for (const char *const *tree = sidecar_allowed_paths(boundary); *tree; tree++)
		printf("allowed: %s\n", *tree);
	for (int i = 2; i < argc; i++) {
		char resolved[SIDECAR_PATH_MAX];
		if (sidecar_validate_path(boundary, argv[i], resolved, sizeof resolved, &error) <
		    0) {
			printf("%s: %s\n", error.code, error.message);
			refused = 1;
			continue;
		}
		int fd = sidecar_open_beneath(boundary, argv[i], O_RDONLY, &error);
		printf("%s: %s\n", resolved, fd < 0 ? error.message : "can be opened");
		if (fd >= 0)
			close(fd);
	}
	sidecar_boundary_free(boundary);
	return refused;
}
