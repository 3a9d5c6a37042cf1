/* SPDX-License-Identifier: MIT */
/*
 * stream SOCKET COMMAND [SECONDS]: run a command, show its output as it arrives, and cancel the
 * command after some time. The exit status is that of the command, or 124 if it was cancelled.
 */

#include <pthread.h>
#include <sidecar.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct alarm {
	struct sidecar_cancel *cancel;
	unsigned seconds;
};

static void *ring(void *arg)
{
	const struct alarm *alarm = arg;

	(void)sleep(alarm->seconds);
	sidecar_cancel(alarm->cancel); /* the sidecar ends the command */
	return NULL;
}

static int show(void *arg, bool is_stderr, const char *text, size_t length)
{
	(void)arg;
	(void)fwrite(text, 1, length, is_stderr ? stderr : stdout);
	return fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	const struct sidecar_settings settings = { .socket_path = argv[1] };
	struct alarm alarm = { .cancel = sidecar_cancel_new(),
			       .seconds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 60 };
	const struct sidecar_bash_options options = { .cancel = alarm.cancel, .output = show };
	struct sidecar_error error;
	struct sidecar_exit ended;
	pthread_t thread;

	struct sidecar *sidecar = sidecar_open(&settings, &error);
	if (!sidecar || !alarm.cancel || pthread_create(&thread, NULL, ring, &alarm) != 0)
		return 2;
	int status = 124;
	if (sidecar_run_bash(sidecar, argv[2], &options, &ended, &error) == 0)
		status = ended.code;
	else
		(void)fprintf(stderr, "%s: %s\n", error.code, error.message);
	(void)pthread_cancel(thread);
	(void)pthread_join(thread, NULL);
	sidecar_cancel_free(alarm.cancel);
	sidecar_close(sidecar);
	return status;
}
