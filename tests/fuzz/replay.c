/* SPDX-License-Identifier: MIT */
/* replay: gives a fuzzer every file of the directories named, each in memory of its own size; fails
 * if there is none. */

#include <dirent.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
	struct stat st;
	FILE *file = fopen(path, "re");

	if (!file || fstat(fileno(file), &st) < 0)
		err(1, "%s", path);
	uint8_t *data = malloc((size_t)st.st_size);
	const size_t size = fread(data, 1, (size_t)st.st_size, file);
	(void)fclose(file);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
}

int main(int argc, char **argv)
{
	size_t count = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		if (!dir)
			err(1, "%s", argv[i]);
		for (const struct dirent *entry; (entry = readdir(dir));) {
			char path[4096];
			if (entry->d_name[0] == '.')
				continue;
			(void)snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
			replay(path);
			count++;
		}
		(void)closedir(dir);
	}
	(void)printf("%zu inputs\n", count);
	return count == 0;
}
