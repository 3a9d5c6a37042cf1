/* SPDX-License-Identifier: MIT */
/*
 * launch: from an order to a running program.
 *
 * An order is what the server asks for: a struct, descriptors in the order of enum order_fd, and a
 * block of strings. A launch is the order made ready: everything that the new process needs is
 * prepared before it exists, so that the process itself only applies it step by step. If a step
 * fails, it comes back with its errno; launch_error turns that into a sentence.
 */
#ifndef EXEC_LAUNCH_H
#define EXEC_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/message.h"

struct sandbox;

/* Resource limits of every process of a command; 0: the server's own limit. */
struct proc_limits {
	int64_t address_space_bytes;
	int64_t file_size_bytes;
	int64_t processes; /* of the user (by the kernel, except for root) and of the tree (by the
			    * reaper) */
	int64_t cpu_seconds;
};

/* What becomes of the processes that a command leaves running when it ends by itself. */
enum proc_survivors {
	SURVIVORS_END,	 /* they are ended */
	SURVIVORS_KEEP,	 /* they go on until the server ends; their output is thrown away */
	SURVIVORS_ADOPT, /* they go on, and the server follows their output and can end them */
};

enum order_fd {
	ORDER_CONTROL,
	ORDER_OUT,
	ORDER_ERR,
	ORDER_CWD,
	ORDER_STRINGS,
	ORDER_SCRIPT, /* this and the next ones only if needed */
	ORDER_STDIN,
	ORDER_OUT_READ, /* the other ends, so that kept survivors can continue to write */
	ORDER_ERR_READ,
};

struct order {
	int64_t timeout_ms; /* 0: never */
	struct proc_limits limits;
	uint32_t argc;	/* the strings: name of the directory, argc arguments, words, variables */
	uint32_t words; /* of a script that needs no shell; 0: it does */
	uint32_t umask;
	bool shell;  /* the only argument is a script for the shell */
	bool script; /* the script is in ORDER_SCRIPT because it is too long for an argument */
	bool input;  /* standard input is ORDER_STDIN; else /dev/null */
	bool watch;  /* the server wants the listener (reaper.h) */
	enum proc_survivors survivors;
};

enum launch_step {
	LAUNCH_DONE,
	LAUNCH_ORDER,	/* the order could not be read */
	LAUNCH_FORK,	/* no process could be made */
	LAUNCH_SESSION, /* it could not get its own session */
	LAUNCH_CWD,	/* the working directory cannot be entered */
	LAUNCH_SANDBOX, /* a protection could not be put in force */
	LAUNCH_LIMITS,	/* a resource limit was refused */
	LAUNCH_STDIO,	/* the descriptors could not be put in place */
	LAUNCH_EXEC,	/* the program could not be started */
};

/* A command line that needs no shell.
 *
 * "git status" means the same to every shell: words, of which the first names a program. The shell
 * would only find the program and execute it, and starting the shell takes longer than most
 * programs run. So such a line is executed directly, as make and perl do it, with the variables
 * that the shell would have set. If it cannot be executed, the shell gets the line after all: it
 * knows what else to do, and reports what is wrong in words that users know. */
struct plain {
	char program[PATH_MAX]; /* absolute, or from the working directory */
	char **argv;
	char **env;
};

/* Can the words of such a line (exec/proc.h) be executed in this environment without a shell,
 * and does the program exist? Then *p is for execve: env must be freed by mem_free, the rest is in
 * the arena or points to the words. */
bool plain_prepare(struct plain *p, char *const *words, size_t count, char *const *env,
		   const char *cwd, struct arena *a);

struct launch {
	const struct sandbox *sandbox; /* or NULL */
	const struct order *order;
	const char *cwd_name; /* the directory's path, for a process that sees other mounts */
	const char *program;  /* a path, or a name that is searched in PATH */
	const char *const *argv;
	char **env;
	bool is_plain; /* first try to execute `plain`, without a shell */
	struct plain plain;
	int fd[MESSAGE_FDS]; /* as in enum order_fd */
	enum launch_step failed;
	int error; /* errno of the step that failed */
};

/* The shell in which commands run: bash if there is one, otherwise sh. */
const char *launch_shell(void);

/* Make the order ready: map its strings, collect the arguments, merge the variables with base. What
 * it allocates is never freed, because the calling process runs only one command. 0, or -1 with
 * failed and error set. */
int launch_prepare(struct launch *l, const char *shell, char *const *base);

/* Start the program. Returns its pid once it runs, or -1 with failed and error set; then there is
 * only a zombie left, which the caller reaps with its other children. */
pid_t launch_start(struct launch *l);

/* The sentence for a step that failed, with the name of the program; "" if it is the shell. Returns
 * -1. */
int launch_error(struct err *e, enum launch_step step, int error, struct str program);

/* Which variables a command sees. The server's own settings and secrets never reach it: SIDECAR_*,
 * the sockets and credentials that systemd hands over, and the address the server listens on.
 *
 * The result is a list like environ, with a NULL at its end: the variables of base that are not
 * private, with those of extra added or in their place (the last one of a name counts). The list is
 * for mem_free; the strings stay where they are. NULL if there is no memory. */
char **environ_merge(char *const *base, char *const *extra, size_t extra_count);

#endif
