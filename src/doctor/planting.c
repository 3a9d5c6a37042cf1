/* SPDX-License-Identifier: MIT */
/* planting: attempts to leave something in .git/hooks that a person's git would run. */

#include "doctor/doctor.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

/* What is planted has the name of the directory of trials and a number, which git runs never. */
enum { WAYS = 6, PLANT_NAME = 64 };

static void plant_name(const struct target *t, int way, char to[PLANT_NAME])
{
	(void)snprintf(to, PLANT_NAME, "%s-%d", t->inside.name, way);
}

/* All ways but the first are commands. */
static const char commands[] = "h=.git/hooks d=%s p=$d; mkdir -p $d; echo x > $d/a; "
			       "echo x > $h/$p-1; cp $d/a $h/$p-2; ln $d/a $h/$p-3; "
			       "(cd $h && echo x > $p-4); mv $d/a $h/$p-5; rm -f $d/a";

/* False: it could not be tried, and t->note says why. */
static bool plant(struct target *t)
{
	char arguments[1024], script[512], name[PLANT_NAME];
	struct sidecar_error error;

	plant_name(t, 0, name);
	(void)snprintf(arguments, sizeof arguments,
		       "{\"path\":\".git/hooks/%s\",\"content\":\"x\"}", name);
	sidecar_free(sidecar_call_tool(t->sidecar, "write_file", arguments, NULL));
	(void)snprintf(script, sizeof script, commands, t->inside.name);
	(void)snprintf(arguments, sizeof arguments, "{\"command\":\"%s\"}", script);
	struct sidecar_observation *seen =
		sidecar_call_tool(t->sidecar, "run_command", arguments, &error);
	const bool ran = seen && seen->success;
	if (!ran)
		(void)snprintf(t->note, sizeof t->note, "not tried: no command can be run: %.300s",
			       !seen	       ? error.message
			       : seen->message ? seen->message
					       : "it failed");
	sidecar_free(seen);
	return ran;
}

enum verdict planting(struct target *t)
{
	char name[PLANT_NAME], hooks[PATH_MAX + 16];
	int found = 0;

	if (!*t->sinks || strncmp(t->sinks, "not ", 4) == 0) {
		(void)snprintf(t->note, sizeof t->note, "not in force: %.300s",
			       *t->sinks ? t->sinks : "the server is too old");
		return FOUND_OFF;
	}
	(void)snprintf(hooks, sizeof hooks, "%s/.git/hooks", t->workspace);
	AUTO_FD dir = open(hooks, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || t->inside.fd < 0) {
		(void)snprintf(t->note, sizeof t->note,
			       "not tried: there is no %.300s that can be seen from here", hooks);
		return FOUND_WARN;
	}
	if (!plant(t))
		return FOUND_WARN;
	for (int i = 0; i < WAYS; i++) {
		plant_name(t, i, name);
		found += testdir_has(dir, name);
		testdir_take(dir, name);
	}
	if (found)
		(void)snprintf(t->note, sizeof t->note,
			       "files were PLANTED in .git/hooks in %d of %d ways", found, WAYS);
	else
		(void)snprintf(t->note, sizeof t->note,
			       "in none of %d ways could a file be planted in .git/hooks", WAYS);
	return found ? FOUND_FAIL : FOUND_OK;
}
