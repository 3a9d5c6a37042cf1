/* SPDX-License-Identifier: MIT */
/* own_names DIR: a program that links the archive and has functions with the same names as ours. */

#include <sidecar.h>
#include <stdio.h>
#include <string.h>

int buf_add(int a);
int json_parse(int a);
int str_cmp(int a);
int err_set(int a);
int tool_call(int a);
int mem_new(int a);
int conn_request(int a);

int buf_add(int a)
{
	return a + 1;
}

int json_parse(int a)
{
	return a + 2;
}

int str_cmp(int a)
{
	return a + 3;
}

int err_set(int a)
{
	return a + 4;
}

int tool_call(int a)
{
	return a + 5;
}

int mem_new(int a)
{
	return a + 6;
}

int conn_request(int a)
{
	return a + 7;
}

int main(int argc, char **argv)
{
	const struct sidecar_options options = { .workspace_root = argc > 1 ? argv[1] : NULL };
	const struct sidecar_settings settings = { .local = &options };
	struct sidecar_error error = { .message = "" };
	struct sidecar *sidecar = sidecar_open(&settings, &error);
	struct sidecar_change *change =
		sidecar ? sidecar_write_file(sidecar, "own", "names\n", 6, &error) : NULL;
	const bool ours = buf_add(0) + json_parse(0) + str_cmp(0) + err_set(0) + tool_call(0) +
				  mem_new(0) + conn_request(0) ==
			  28;

	(void)printf("%s %s\n", change ? change->path : error.message, ours ? "ours" : "mixed up");
	const int status = change && ours ? 0 : 1;
	sidecar_free(change);
	sidecar_close(sidecar);
	return status;
}
