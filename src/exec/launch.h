/* SPDX-License-Identifier: MIT */
/*
 * launch: from an order to a running program.
 *
 * An order is what the server asks of the spawner: a struct, descriptors in the order of
 * enum order_fd, and a block of strings. A launch is the order made ready: everything the new
 * process needs, prepared before it exists, so that the process itself only applies it step by
 * step. The step that fails, and why, comes back; launch_error turns it into a sentence.
 */
#ifndef EXEC_LAUNCH_H
#define EXEC_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "exec/message.h"
#include "exec/plain.h"

struct sandbox;

/* Resource limits of every process of a command; 0: as the server has it. */
struct proc_limits {
	int64_t address_space_bytes;
	int64_t file_size_bytes;
	int64_t processes; /* of the user, by the kernel, but for root; of the tree, by the reaper
			    */
	int64_t cpu_seconds;
};

enum order_fd {
	ORDER_CONTROL,
	ORDER_OUT,
	ORDER_ERR,
	ORDER_CWD,
	ORDER_STRINGS,
	ORDER_SCRIPT,	/* from here on only if needed */
	ORDER_OUT_READ, /* the other ends, for kept survivors to go on writing */
	ORDER_ERR_READ,
};

struct order {
	int64_t timeout_ms; /* 0: none */
	struct proc_limits limits;
	uint32_t argc; /* the strings: name of the directory, argc arguments, variables */
	uint32_t umask;
	bool shell;  /* the only argument is a script for the shell */
	bool script; /* the script is in ORDER_SCRIPT, being too long for an argument */
	bool keep;   /* survivors go on running */
};

enum launch_step {
	LAUNCH_DONE,
	LAUNCH_ORDER,	/* the order could not be read */
	LAUNCH_FORK,	/* no new process */
	LAUNCH_SESSION, /* no session of its own */
	LAUNCH_CWD,	/* the working directory cannot be entered */
	LAUNCH_SANDBOX, /* a protection could not be put in force */
	LAUNCH_LIMITS,	/* a resource limit was refused */
	LAUNCH_STDIO,	/* the descriptors could not be put in place */
	LAUNCH_EXEC,	/* the program could not be started */
};

struct launch {
	const struct sandbox *sandbox; /* NULL: none */
	const struct order *order;
	const char *cwd_name; /* where the directory is, for a process that sees other mounts */
	const char *program;  /* with a slash: where it is; else looked for along PATH */
	const char *const *argv;
	char **env;
	bool is_plain;	     /* then this is tried first, */
	struct plain plain;  /* without a shell */
	int fd[MESSAGE_FDS]; /* as in enum order_fd */
	enum launch_step failed;
	int error; /* errno of the step that failed */
};

/* The shell commands run in: bash when there is one, else sh. */
const char *launch_shell(void);

/* Make the order ready: map its strings, put the arguments together, merge the variables with base.
 * What it allocates is never freed; the calling process is made for one command. 0, or -1 with
 * failed and error set. */
int launch_prepare(struct launch *l, const char *shell, char *const *base);

/* Start the program. Returns its pid once it runs, or -1 with failed and error set; then nothing is
 * left of it but a zombie that the caller reaps with its other children. */
pid_t launch_start(struct launch *l);

/* The sentence for a step that failed, with the program asked for; empty: the shell. Returns -1. */
int launch_error(struct err *e, enum launch_step step, int error, struct str program);

#endif
