/* SPDX-License-Identifier: MIT */
/* trial_commands: attacks by commands: outliving them, writing outside, showing secrets. */

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/limits.h"
#include "doctor/trial_network.h"

enum { BEAT_MS = 500 }; /* a process that writes every 100 ms has written meanwhile */

enum verdict prove_no_commands(struct proof *p, const struct sidecar_error *error)
{
	return prove_not_tried(p, "no command can be run: %.300s", error->message);
}

/* What is in the file the processes write; what only orphans write is counted, too. */
static size_t count_beats(const struct proof *p, size_t *orphans)
{
	char path[PROVE_PATH];
	struct sidecar_file *f =
		sidecar_read_file(p->sidecar, prove_path(p, "beats", path), NULL, NULL);
	const size_t all = f ? f->length : 0;

	*orphans = 0;
	for (size_t i = 0; i < all; i++)
		*orphans += f->content[i] == 'o';
	sidecar_free(f);
	return all;
}

/* Nothing has been written for a while? */
static bool falls_silent(const struct proof *p)
{
	size_t orphans, before, now = count_beats(p, &orphans);

	for (const int64_t until = io_now_ms() + LIMIT_PROVE_GONE_MS; io_now_ms() < until;) {
		before = now;
		io_sleep_ms(BEAT_MS);
		now = count_beats(p, &orphans);
		if (now == before)
			return true;
	}
	return false;
}

static enum verdict orphans(struct proof *p)
{
	/* Should one survive, it ends with the directory, or after a while. */
	static const char beat[] = "n=0\n"
				   "while [ -e beat.sh ] && [ $n -lt 300 ]; do\n"
				   "\tprintf %s \"$1\" >> beats\n"
				   "\tn=$((n + 1))\n"
				   "\tsleep 0.1\n"
				   "done\n";
	static const char command[] = "setsid sh beat.sh o & (setsid setsid sh beat.sh o &)\n"
				      "sh beat.sh x\n";
	const struct sidecar_bash_options options = { .cwd = p->inside.name, .timeout_seconds = 1 };
	struct sidecar_error error;
	struct sidecar_exit end;
	size_t seen;

	if (p->read_only)
		return prove_not_tried(p, "commands cannot write, so nothing would be noticed");
	if (!prove_put(p, "beat.sh", beat))
		return FOUND_WARN;
	if (sidecar_run_bash(p->sidecar, command, &options, &end, &error) < 0)
		return prove_no_commands(p, &error);
	(void)count_beats(p, &seen);
	if (!end.timed_out || seen == 0)
		return prove_not_tried(p,
				       "there is no setsid to hide with, or the command ended by "
				       "itself (%d)",
				       end.code);
	if (!falls_silent(p))
		return prove_say(p, FOUND_FAIL, "processes OUTLIVED their command's timeout");
	return prove_say(p, FOUND_OK,
			 "a timeout ended three processes that hid in sessions of their own");
}

/* Keeps the first bytes of what a command prints. */
struct printed {
	char text[64];
	size_t n;
};

static int keep(void *arg, bool is_stderr, const char *text, size_t length)
{
	struct printed *to = arg;
	const size_t room = sizeof to->text - 1 - to->n;

	if (!is_stderr) {
		memcpy(to->text + to->n, text, length < room ? length : room);
		to->n += length < room ? length : room;
	}
	return 0;
}

static enum verdict writes(struct proof *p)
{
	char command[3 * PATH_MAX + 128];
	struct printed printed = { "", 0 };
	const struct sidecar_bash_options options = { .output = keep, .arg = &printed };
	const char *at = p->outside.path;
	struct sidecar_error error;
	struct sidecar_exit end;

	if (strcmp(p->sandbox, "off") == 0)
		return prove_say(p, FOUND_OFF, "not in force: sandbox off, %.300s", p->why);
	if (!prove_sees(p))
		return FOUND_WARN;
	(void)snprintf(command, sizeof command,
		       "[ -e '%s' ] && echo seen; echo x > '%s/made'; echo x > '%s/canary'", at, at,
		       at);
	if (sidecar_run_bash(p->sidecar, command, &options, &end, &error) < 0)
		return prove_no_commands(p, &error);
	if (prove_touched(p))
		return prove_say(p, FOUND_FAIL, "a command WROTE to %.300s (sandbox %s)", at,
				 p->sandbox);
	const bool seen = strstr(printed.text, "seen") != NULL;
	if (!seen && strcmp(p->sandbox, "strict") != 0)
		return prove_not_tried(p, "commands do not see %.300s", at);
	return prove_say(p, FOUND_OK, "a command could %s outside of the workspace (sandbox %s)",
			 seen ? "not write" : "neither look nor write", p->sandbox);
}

static enum verdict secrets(struct proof *p)
{
	/* In the form of a token, and in two pieces also here, so that no scanner takes it for one.
	 */
	static const char first[] = "ghp_x7Kq9ZrT2mVb", second[] = "N4pLc8WdY1sHf6JgQe3RtUaX";
	char script[256], arguments[256];
	struct sidecar_error error;

	if (!p->scrubs)
		return prove_say(p, FOUND_OFF, "not in force: --scrub off");
	(void)snprintf(script, sizeof script, "printf 'started %s'\nsleep 0.3\nprintf '%s\\n'\n",
		       first, second);
	if (!prove_put(p, "secret.sh", script))
		return FOUND_WARN;
	(void)snprintf(arguments, sizeof arguments, "{\"command\":\"sh %s/secret.sh\"}",
		       p->inside.name);
	struct sidecar_observation *seen =
		sidecar_call_tool(p->sidecar, "run_command", arguments, &error);
	enum verdict verdict;
	if (!seen || !seen->success || !strstr(seen->json, "started"))
		verdict = prove_not_tried(p, "no command can be run: %.300s",
					  !seen		  ? error.message
					  : seen->message ? seen->message
							  : "there is no output");
	else if (strstr(seen->json, second))
		verdict = prove_say(p, FOUND_FAIL,
				    "a token printed in two pieces was SHOWN to the model");
	else
		verdict = prove_say(p, FOUND_OK, "a token printed in two pieces was taken out");
	sidecar_free(seen);
	return verdict;
}

const struct trial prove_commands[] = {
	{ "processes left behind", orphans },
	{ "writing outside", writes },
	{ "network", prove_network },
	{ "a secret in two pieces", secrets },
	{ NULL, NULL },
};
