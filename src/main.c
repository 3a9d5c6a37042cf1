/* SPDX-License-Identifier: MIT */
/* main: subcommands, one table. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/own.h"
#include "commands.h"
#include "config.h"
#include "exec/keeper.h"
#include "print_tools.h"
#include "serve.h"

static int run_serve(int argc, char **argv)
{
	struct config config;
	struct err e;

	if (config_read(argc, argv, &config, &e) == 0 && serve(&config, &e) == 0)
		return 0;
	(void)fprintf(stderr, "sidecar: %s\n", e.msg);
	return 1;
}

static int run_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	(void)puts("sidecar " SIDECAR_VERSION);
	return 0;
}

static const struct command {
	const char *name, *about, *examples;
	bool settings; /* its help lists the settings */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "serve", "run the server",
	  "  sidecar serve --workspace /workspace --socket /run/sidecar/sidecar.sock\n"
	  "  WORKSPACE_ROOT=$PWD SOCKET_PATH=/tmp/s.sock sidecar serve\n"
	  "  sidecar serve --workspace $PWD --tcp 127.0.0.1:8080 --token-file token\n",
	  true, run_serve },
	{ "tools", "print the tools for models, as definitions or as a page",
	  "  sidecar tools\n"
	  "  sidecar tools --format anthropic --set full\n"
	  "  sidecar tools --format "
	  "ollama|openai|openai-strict|openai-responses|anthropic|gemini|mcp\n"
	  "  sidecar tools --markdown\n",
	  false, print_tools },
	{ "version", "print the version", "  sidecar version\n", false, run_version },
};

static void print(FILE *to, const struct buf *b)
{
	(void)fwrite(b->p, 1, b->n, to);
}

static void usage(FILE *to)
{
	AUTO_BUF b = { .max = 64 << 10 };

	buf_add(&b, STR("Examples:\n"
			"  sidecar serve --workspace /workspace\n"
			"  sidecar serve --help\n"
			"\n"
			"Usage: sidecar COMMAND [OPTION]...\n"
			"\n"
			"Commands:\n"));
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		buf_addf(&b, "  %-10s %s\n", commands[i].name, commands[i].about);
	print(to, &b);
}

static int help(const struct command *c)
{
	AUTO_BUF b = { .max = 64 << 10 };

	buf_addf(&b, "Examples:\n%s\nUsage: sidecar %s%s\n", c->examples, c->name,
		 c->settings ? " [OPTION]..." : "");
	if (c->settings) {
		buf_add(&b,
			STR("\nOptions, each with its environment variable (the option wins):\n"));
		config_help(&b);
	}
	print(stdout, &b);
	return 0;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* How many letters must be changed, added or removed to make one word the other. */
static size_t distance(const char *a, const char *b)
{
	enum { LONGEST = 32 };
	size_t row[LONGEST + 1];
	const size_t n = strlen(b);

	if (strlen(a) > LONGEST || n > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			const size_t above = row[j];
			size_t best = diagonal + (a[i - 1] != b[j - 1]);
			best = above + 1 < best ? above + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			row[j] = best;
			diagonal = above;
		}
	}
	return row[n];
}

static int unknown(const char *name)
{
	const struct command *near = NULL;
	size_t best = 3;

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const size_t d = distance(name, commands[i].name);
		if (d < best) {
			best = d;
			near = &commands[i];
		}
	}
	(void)fprintf(stderr, "sidecar: unknown command \"%s\"", name);
	if (near)
		(void)fprintf(stderr, "; did you mean \"%s\"?", near->name);
	(void)fprintf(stderr, "\nRun \"sidecar --help\" for the list.\n");
	return 2;
}

/* Descriptors 0 to 2 must be taken: a file opened as 2 would get the log. */
static void hold_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		(void)close(fd);
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (is_help(argv[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	hold_standard_descriptors();
	/* The program's second process, started by the server itself: exec/keeper.h. */
	if (argc == 2 && strcmp(argv[1], KEEPER_VERB) == 0)
		return keeper_main(commands_at_death);
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (is_help(argv[1]) || strcmp(argv[1], "help") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0)
		return run_version(0, NULL);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		if (asks_for_help(argc - 2, argv + 2))
			return help(&commands[i]);
		return commands[i].run(argc - 2, argv + 2);
	}
	return unknown(argv[1]);
}
