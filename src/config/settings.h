/* SPDX-License-Identifier: MIT */
/*
 * settings: what can be set: struct config, and a table with one row for each setting.
 *
 * A row names the environment variable, the flag, the member of struct config, the type, the
 * default and a sentence of help. The flag's name is also the name of the member in a configuration
 * file. From the rows come reading (config.c, config_file.c), help, completion, the manual and
 * `sidecar config`. In flags and in the environment, switches are true for "1", "true" and "yes" in
 * any case.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum config_paths { CONFIG_SHORTHAND, CONFIG_STRICT, CONFIG_PATHS_AUTO };
enum config_reads { CONFIG_READS_AUTO, CONFIG_READS_OFF, CONFIG_READS_OVERWRITES, CONFIG_READS_ON };
enum config_results { CONFIG_TEXT, CONFIG_STRUCTURED };
enum config_scrub { CONFIG_SCRUB_OFF, CONFIG_SCRUB_ON, CONFIG_SCRUB_ALL };
enum config_set { CONFIG_SET_AUTO, CONFIG_SET_CORE, CONFIG_SET_FULL };
enum config_surface { CONFIG_SURFACE_DEFAULT, CONFIG_SURFACE_AGENT_SANDBOX };
enum config_observe { CONFIG_OBSERVE_AUTO, CONFIG_OBSERVE_ON, CONFIG_OBSERVE_OFF };
enum config_log { CONFIG_LOG_AUTO, CONFIG_LOG_TEXT, CONFIG_LOG_JSON };

/* Where a value came from; a later one wins. */
enum config_origin {
	CONFIG_DEFAULT,
	CONFIG_SYSTEM_FILE,
	CONFIG_USER_FILE,
	CONFIG_ENVIRONMENT,
	CONFIG_FLAG,
};

enum { CONFIG_SETTINGS = 80 };	/* the most rows the table may have */
enum { CONFIG_ACTIVATED = 16 }; /* sockets taken from a service manager */

struct config {
	const char *workspace, *data_dir, *allowed_root;
	bool allow_outside;
	int64_t absolute_paths; /* enum config_paths */
	int64_t openat2;	/* 0: walk instead */

	const char *socket;  /* NULL: no Unix socket */
	int64_t socket_mode; /* octal digits */
	const char *tcp_host;
	int64_t tcp_port; /* -1: none */
	const char *token, *token_file;
	bool require_auth;
	const char *allowed_uids, *allowed_origins, *allowed_hosts;

	bool read_only, fsync;
	bool guest; /* not a setting: only the journal is used, and nothing in it is dropped */
	const char *journal; /* a directory, "auto" or "off"; NULL: auto */
	int64_t observe;     /* enum config_observe */
	int64_t undo_bytes, undo_days, undo_max_file;
	int64_t sandbox;	 /* enum sandbox_mode */
	int64_t git;		 /* 0: off */
	int64_t sinks;		 /* 0: they are not guarded */
	const char *sink, *hide; /* patterns, one a line; of hide "" is not NULL */
	bool allow_truncate;	 /* by sandboxed commands, where no kernel holds it */
	int64_t network;	 /* 0: none */
	int64_t command_policy;	 /* enum policy_mode */
	const char *command_rules, *sandbox_write, *sandbox_read, *sandbox_sockets;
	const char *cache; /* a directory, "auto" or "off"; NULL: auto */
	int64_t scrub;	   /* enum config_scrub: which secrets are removed from what models see */
	const char *scrub_patterns;
	int64_t read_before_write; /* enum config_reads: must a session read before it writes? */
	int64_t tool_set;	   /* enum config_set */
	int64_t mcp_results;	   /* enum config_results */
	int64_t result_bytes;	   /* of one result over MCP; 0: not set */
	int64_t surface;	   /* enum config_surface: further routes to serve */
	int64_t max_commands, search_seconds;
	const char *command_env;	       /* NAME=value, one a line: of models' commands */
	int64_t command_seconds, most_seconds; /* of models' commands; 0: as the way in has it */
	int64_t survivors;		       /* enum proc_survivors */
	int64_t limit_memory_mb, limit_processes, limit_file_mb, limit_cpu_seconds; /* 0: none */
	int64_t events; /* 0: calls cannot be watched */
	const char *audit, *audit_key_file;
	int64_t watchable; /* 0: MCP on standard input opens no socket for those who watch */
	int64_t grace_seconds;
	int64_t log;	   /* enum config_log */
	int64_t log_level; /* enum log_level */

	/* Not set by the operator: */
	bool best_sandbox;   /* the strongest that can be had, also in a container */
	bool private;	     /* for the program that holds our standard input open (serve.h) */
	const char *program; /* the program that starts commands, for hosts that can do without
			      * them; NULL: this one */
	int64_t open_files;  /* of commands; our own limit is higher (process.h). 0: the same */
	const char *activated[CONFIG_ACTIVATED]; /* socket files that `socket` does not name */
	uint16_t ports[CONFIG_ACTIVATED];	 /* on which the server listens; then zeros */

	/* Texts that members above point to. */
	char default_socket[108], token_text[4096], tcp_text[256];
	char here[4096]; /* the current directory */

	uint8_t origin[CONFIG_SETTINGS];	 /* enum config_origin of each row of the table */
	const char *files[CONFIG_USER_FILE + 1]; /* by origin: the paths of the files */
	bool was_read[CONFIG_USER_FILE + 1];
	struct arena memory; /* of strings from files and the environment */
};

enum setting_type {
	SETTING_TEXT,	/* const char *; an empty value is NULL */
	SETTING_SWITCH, /* bool; the flag alone turns it on */
	SETTING_NUMBER, /* int64_t within [min, max] */
	SETTING_OCTAL,	/* int64_t, written in octal */
	SETTING_SIZE,	/* int64_t within [min, max]: bytes, or with K, M or G */
	SETTING_CHOICE, /* int64_t: the index of the word in `choices` */
	SETTING_HIDDEN, /* a secret TEXT: not allowed on a command line, where others see it */
	SETTING_PAIRS,	/* const char *: NAME=value, one a line; flags add up */
};

struct setting {
	const char *env, *flag;
	enum setting_type type;
	size_t offset;
	const char *value; /* what the help shows for the value */
	const char *choices[5];
	const char *usual;     /* the default of a choice; NULL: the first word */
	int64_t def, min, max; /* of a number: the default and the limits */
	const char *help;
	const char *group; /* the heading of it and those that follow; NULL: as before */
	bool client;	   /* where the server or its journal is: clients read it as well */
	bool lenient;	   /* a switch that any other word leaves off, which is the safe side */
	bool listens;	   /* about listening: `sidecar mcp` ignores it */
};

size_t setting_count(void);
const struct setting *setting_at(size_t i);
size_t setting_index(const struct setting *s);

/* The row with that flag, hidden ones included, or NULL. */
const struct setting *setting_by_flag(struct str name);

/* Offer the names of all flags to a search for the one that was meant. */
void setting_near(struct near *near, bool hidden);

/* The index of the row for a member of struct config: setting_of_member(offsetof(…)). */
size_t setting_of_member(size_t offset);

/* Set the value that a text stands for; the text must outlive the config. `name` is what the
 * operator called the setting: it begins the error's sentence. */
int setting_set(const struct setting *s, const char *name, const char *text, struct config *c,
		struct err *e);

/* The next "NAME=value" of such a setting; *lines becomes the rest. False: there is none. */
bool setting_next_pair(struct str *lines, struct str *pair);

/* Set host and port from "HOST:PORT", as the flag --tcp does. */
int setting_set_tcp(struct config *c, const char *name, const char *text, enum config_origin from,
		    struct err *e);

void setting_default(const struct setting *s, struct config *c);

/* The value as the operator would write it; "set" for a secret. False if it has none. */
bool setting_text(const struct setting *s, const struct config *c, char *to, size_t size);

/* What its value may be: "DIR", or "off|on"; "" for a switch. */
void setting_values(const struct setting *s, char *to, size_t size);

#endif
