/* SPDX-License-Identifier: MIT */
/* doctor: run the checks, then the trials. */

#include "doctor/doctor.h"

#include "doctor/checks.h"
#include "doctor/limits.h"
#include "doctor/prove.h"

struct doctor_args {
	bool prove;
	const char *url;
};

static const struct option doctor_options[] = {
	{ "prove", 'p', OPTION_SWITCH, offsetof(struct doctor_args, prove), NULL,
	  "attack the server at --socket or --url, or a temporary one, and say what held" },
	{ "url", 0, OPTION_TEXT, offsetof(struct doctor_args, url), "URL",
	  "the server to attack, as http://HOST:PORT or unix:PATH" },
	OPTION_END,
};

/* Attack the running server that the command line names. 0, or the exit status. */
static int attack_named(struct report *r, const struct cli *c, const char *url,
			const struct config *config)
{
	struct cli at = *c;
	int status = EXIT_FAILED;

	at.url = url;
	at.socket = url ? NULL : config->socket;
	at.token_file = config->token_file;
	at.timeout = LIMIT_PROVE_SILENCE_MS / 1000.0;
	struct sidecar *s = cli_connect(&at, &status);
	if (!s)
		return status;
	prove_running(r, s);
	sidecar_close(s);
	return EXIT_OK;
}

static int doctor_run(struct cli *c, const void *args)
{
	const struct doctor_args *a = args;
	struct report report = { .cli = c };
	AUTO_CONFIG config = { 0 };
	int status = EXIT_OK;
	struct err e;

	if (config_load(c->settings_count, c->settings, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	if (a->url && !a->prove)
		return cli_misused(c, "--url needs --prove");
	const bool named = a->prove && (a->url || config_names_socket(&config));
	check_kernel(&report, &config);
	/* A server that runs has its own settings and workspace. */
	if (!named)
		check_setup(&report, &config);
	else if (!a->url)
		check_client(&report, &config);
	if (named)
		status = attack_named(&report, c, a->url, &config);
	else if (a->prove)
		prove_settings(&report, &config, c->settings_count, c->settings);
	const int found = report_finish(&report);
	return status ? status : found;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.about = "check this machine and the settings; with --prove, attack a server",
	.operands = "",
	.examples = "  sidecar doctor\n"
		    "  sidecar doctor --prove\n"
		    "  sidecar doctor --prove --socket /run/sidecar/sidecar.sock\n"
		    "  sidecar doctor --prove --sandbox strict --workspace $PWD --json\n",
	.options = doctor_options,
	.args_size = sizeof(struct doctor_args),
	.flags = VERB_PRINTS | VERB_SETTINGS,
	.run = doctor_run,
};
