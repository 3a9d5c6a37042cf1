/* SPDX-License-Identifier: MIT */
/*
 * libsidecar: run coding tools in a workspace, through a sidecar or in this process.
 *
 * A program that talks to a model uses an executor: seven operations (read, write, edit, ls, find,
 * grep, bash), the model's tools by name, and health. Where they run is decided once:
 *
 *	struct sidecar_error error;
 *	struct sidecar_settings settings = { .socket_path = "/run/sidecar/sidecar.sock" };
 *	struct sidecar *sidecar = sidecar_open(&settings, &error);
 *	if (!sidecar || sidecar_ensure_ready(sidecar, &error) < 0)
 *		errx(1, "%s", error.message);
 *
 *	struct sidecar_file *file = sidecar_read_file(sidecar, "src/main.c", NULL, &error);
 *	if (!file)
 *		errx(1, "%s: %s", error.code, error.message);
 *	fwrite(file->content, 1, file->length, stdout);
 *
 *	sidecar_free(file);
 *	sidecar_close(sidecar);
 *
 * What always holds:
 *   - An executor connects to a sidecar that exists. It never starts, stops or manages one.
 *   - It may be used by many threads at once; calls do not wait for each other. There is no global
 *     state; a program may have many executors.
 *   - A sidecar that restarts is found again: a call that had not been sent, or that only reads, is
 *     made anew, within the time to wait for readiness. A call that may have run is never repeated;
 *     it fails with CONNECTION_LOST, and the caller decides.
 *   - A child of fork may use what its parent opened, with connections of its own, also when other
 *     threads were in a call; a local executor only when none was.
 *   - What a function returns is one block: sidecar_free gives back all of it. Strings in it end
 *     with a NUL byte, may hold others before it where a length stands beside them, and are UTF-8.
 *   - Functions that fail return NULL or -1 and set *error, which may be NULL when the reason is of
 *     no interest; on success they leave it alone. Nothing is printed, no signal handler is set,
 *     and no SIGPIPE is raised.
 *
 * Codes are those of the wire (FILE_NOT_FOUND, TEXT_NOT_UNIQUE …; docs/tools.md lists them), and
 * from the connection itself:
 *	NOT_READY	nobody answered within the time to wait, or what is there is no socket
 *	CONNECTION_LOST	the call may have run; its answer did not come
 *	UNAUTHORIZED	the token is missing or wrong
 *	CANCELLED	sidecar_cancel was called
 *	TIMED_OUT	the answer did not come within timeout_ms; the call has been given up
 *	BAD_ANSWER	what answered is no sidecar
 *	INVALID_CONFIG	the settings contradict each other
 *	DISABLED	the configuration says so
 *
 * Programs that only want to know which paths may be touched find the boundary at the end.
 */
#ifndef SIDECAR_H
#define SIDECAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIDECAR_API __attribute__((visibility("default")))

/* Room for any resolved path and its final NUL byte. */
#define SIDECAR_PATH_MAX 8192

/* Why something failed. Both are NUL-terminated. */
struct sidecar_error {
	char code[40];	    /* "PATH_OUTSIDE_WORKSPACE", "FILE_NOT_FOUND" … as on the wire */
	char message[1024]; /* a sentence */
};

/* What the operator decides. Strings are copied; all paths are absolute. */
struct sidecar_options {
	const char *workspace_root; /* WORKSPACE_ROOT; made, with its parents, when missing */
	const char *data_dir;	    /* DATA_DIR: always allowed as well; made; or NULL */
	const char *allowed_root;   /* ALLOWED_ROOT_DIRECTORY, must contain the root; or NULL */
	bool allow_outside;	    /* absolute paths may leave the workspace */
};

/*
 * Where tools run: in a sidecar that is reached by its Unix socket or by TCP, one of the two; or,
 * with `local`, in this process. Strings are copied.
 */
struct sidecar_settings {
	const char *socket_path; /* absolute */
	const char *host;	 /* with port: a name or an address */
	int port;
	const char *token;	   /* bearer token; or NULL */
	const char *session;	   /* names this client to the sidecar's read tracker; or NULL */
	int64_t wait_for_ready_ms; /* how long a sidecar may take to appear; 0: 10000 */
	int64_t timeout_ms; /* longest an answer may take once the call is sent; of a command the
			     * longest silence; 0: no limit */

	/* Told a few times a second by the calling thread, while find or grep goes on, how many
	 * files have been looked at. May be NULL. */
	void (*progress)(void *arg, int64_t files);
	void *progress_arg;

	const struct sidecar_options *local; /* run in this process, in this workspace */
	const char *program; /* local: the sidecar program, for commands; NULL: from PATH */
};

struct sidecar;

/* Check the settings. Nothing is connected yet, so this succeeds before the sidecar runs. */
SIDECAR_API struct sidecar *sidecar_open(const struct sidecar_settings *settings,
					 struct sidecar_error *error);

/*
 * The same from a host's configuration:
 *
 *	{"plugins":{"coding":{"enabled":true,"mode":"sidecar",
 *		"sidecar":{"socketPath":"/run/sidecar/sidecar.sock","waitForReadyMs":10000}}}}
 *
 * "tcp":{"host","port"} instead of "socketPath"; "auth":{"token","required"}; "timeoutMs" and
 * "session"; or "mode":"local","local":{"workspaceRoot","allowOutsideWorkspaceRoot"}. Mistakes are
 * INVALID_CONFIG with the name of the member and what it must be. NULL with the code DISABLED when
 * "enabled" is false.
 */
SIDECAR_API struct sidecar *sidecar_open_json(const char *json, struct sidecar_error *error);

/* Drop the connections and nothing else: the sidecar goes on. No call may be under way. Commands of
 * a local executor are ended. Accepts NULL. */
SIDECAR_API void sidecar_close(struct sidecar *sidecar);

/*
 * Wait until the sidecar answers: its socket exists (asked every 100 ms; something there that is no
 * socket fails at once), and GET /health says ok; all within wait_for_ready_ms. NOT_READY: "Timed
 * out waiting for coding sidecar at unix:<path>", and why unless there is nothing. Every call does
 * this by itself when it has to connect; calling it first tells a bad setting from a bad call.
 */
SIDECAR_API int sidecar_ensure_ready(struct sidecar *sidecar, struct sidecar_error *error);

/* "unix:<path>", "tcp:<host>:<port>" or "local:<root>"; lives as long as the executor. */
SIDECAR_API const char *sidecar_address(const struct sidecar *sidecar);

/* Give back what a function returned. Accepts NULL. */
SIDECAR_API void sidecar_free(void *result);

/* What answers, and what is in force there: `json` is the whole answer of GET /health. */
struct sidecar_health {
	const char *version;
	const char *json;
	size_t length;
};

SIDECAR_API struct sidecar_health *sidecar_health(struct sidecar *sidecar,
						  struct sidecar_error *error);

/* A text file, or some of its lines; or an image. */
struct sidecar_file {
	const char *content; /* the text; of an image its bytes */
	size_t length;
	const char *mime_type; /* of an image; NULL: text */
	int64_t total_lines;
	bool has_more; /* lines of the file follow the content */
};

struct sidecar_lines {
	int64_t offset; /* the first line, from 1; 0: from the beginning */
	int64_t limit;	/* how many; 0: as many as are given at once (2000) */
};

/* `lines` may be NULL. */
SIDECAR_API struct sidecar_file *sidecar_read_file(struct sidecar *sidecar, const char *path,
						   const struct sidecar_lines *lines,
						   struct sidecar_error *error);

/* A file that was written or edited. */
struct sidecar_change {
	const char *path;
	int64_t bytes;	  /* written; of an edit 0 */
	const char *diff; /* of an edit; NULL after a write */
};

/* Write a file whole, its directories too: readers see the old content or the new. */
SIDECAR_API struct sidecar_change *sidecar_write_file(struct sidecar *sidecar, const char *path,
						      const char *content, size_t length,
						      struct sidecar_error *error);

/* Replace a text that occurs exactly once: TEXT_NOT_FOUND, TEXT_NOT_UNIQUE, NO_CHANGE. */
SIDECAR_API struct sidecar_change *sidecar_edit_file(struct sidecar *sidecar, const char *path,
						     const char *old_text, const char *new_text,
						     struct sidecar_error *error);

/* Text made to be read: a directory's names, or matching lines. */
struct sidecar_text {
	const char *content;
	size_t length;
	bool truncated; /* a limit was reached; grep's content says which */
};

/* One name a line, "/" behind directories. `path` NULL: the root; `limit` 0: 500. */
SIDECAR_API struct sidecar_text *sidecar_ls(struct sidecar *sidecar, const char *path,
					    int64_t limit, struct sidecar_error *error);

struct sidecar_names {
	const char *const *names; /* NULL behind the last */
	size_t count;
	bool truncated;
};

/* Files and directories by glob. `path` NULL: the root; `limit` 0: 1000. */
SIDECAR_API struct sidecar_names *sidecar_find(struct sidecar *sidecar, const char *pattern,
					       const char *path, int64_t limit,
					       struct sidecar_error *error);

struct sidecar_grep_options {
	const char *path; /* a directory or a file; NULL: the root */
	const char *glob; /* only files it matches; NULL: all */
	bool ignore_case, literal;
	int64_t context; /* lines around each match */
	int64_t limit;	 /* matching lines; 0: 100 */
};

/* Matching lines as text, "<path>:<line>: <text>". `options` may be NULL. */
SIDECAR_API struct sidecar_text *sidecar_grep(struct sidecar *sidecar, const char *pattern,
					      const struct sidecar_grep_options *options,
					      struct sidecar_error *error);

/* Something another thread may call off. */
struct sidecar_cancel;
SIDECAR_API struct sidecar_cancel *sidecar_cancel_new(void);	/* NULL: no memory, no descriptor */
SIDECAR_API void sidecar_cancel(struct sidecar_cancel *cancel); /* also from a signal handler */
SIDECAR_API void sidecar_cancel_free(struct sidecar_cancel *cancel);

struct sidecar_bash_options {
	const char *cwd;	       /* NULL: the root */
	const char *const *env;	       /* "NAME=value", NULL behind the last; or NULL */
	double timeout_seconds;	       /* 0: 300 */
	struct sidecar_cancel *cancel; /* NULL: nobody calls it off */

	/* Output as it arrives, whole characters; called by the calling thread. Anything but 0
	 * calls the command off. May be NULL. */
	int (*output)(void *arg, bool is_stderr, const char *text, size_t length);
	void *arg;
};

/* How a command ended. */
struct sidecar_exit {
	int code;	/* 128 and the signal's number when one ended it; -1 after its timeout */
	bool timed_out; /* its whole process tree was ended */
};

/* Run a shell command and wait for its end: 0 and *ret, however it ended; or -1, when it could not
 * be run or was called off. CANCELLED: the whole process tree is being ended. `options` may be
 * NULL. */
SIDECAR_API int sidecar_run_bash(struct sidecar *sidecar, const char *command,
				 const struct sidecar_bash_options *options,
				 struct sidecar_exit *ret, struct sidecar_error *error);

/* What a model's tool answered: `json` is the observation, to be given to the model as it is. */
struct sidecar_observation {
	bool success;
	const char *code, *message; /* why not; NULL on success */
	const char *json;
	size_t length;
};

/* Call a model's tool by its name, with its arguments as a JSON object; NULL or "" for none. Fails
 * only when there is no observation: what is wrong with the call is for the model to read. */
SIDECAR_API struct sidecar_observation *sidecar_call_tool(struct sidecar *sidecar, const char *name,
							  const char *arguments,
							  struct sidecar_error *error);

/* The tools' definitions for a model's request, in a dialect ("ollama", "openai" … "mcp") and a set
 * ("core", "full"; NULL: as the sidecar chooses). */
SIDECAR_API struct sidecar_text *sidecar_tools(struct sidecar *sidecar, const char *format,
					       const char *set, struct sidecar_error *error);

/* Any other route of the sidecar: method, target ("/jobs"), body (JSON; NULL: none). The status is
 * in *status, which may be NULL; an answer of any status is a success. Not for local executors. */
SIDECAR_API struct sidecar_text *sidecar_request(struct sidecar *sidecar, const char *method,
						 const char *target, const char *body, int *status,
						 struct sidecar_error *error);

/*
 * The boundary: which paths a program may touch, and opening them so that nothing gets out.
 *
 * For host programs that want the sidecar's rules for their own file access. A boundary is made
 * once from the same four settings the sidecar has, and asked about paths from then on:
 *
 *	struct sidecar_options options = { .workspace_root = "/workspace" };
 *	struct sidecar_boundary *boundary = sidecar_boundary_new(&options, &error);
 *	int fd = sidecar_open_beneath(boundary, "src/main.c", O_RDONLY, &error);
 *	…
 *	sidecar_boundary_free(boundary);
 *
 * How a path is read: a relative path is below the workspace root; an absolute one is literal and
 * must lie in the workspace, in the data directory or, with allow_outside, in the allowed root (or
 * anywhere, when there is none). "\" is read as "/". What climbs out is refused.
 *
 * A check by name is true for the moment it is made: whoever may change the tree can change the
 * answer before the path is used. sidecar_open_beneath has no such moment. The file it opens is
 * below the directory whatever others do meanwhile; so check to tell a user, and open to act.
 *
 * A boundary does not change after it is made and may be used by many threads at once. Strings it
 * hands out live as long as it does, except where said otherwise.
 */
struct sidecar_boundary;

/* Check the settings and open the directories. NULL on failure; then nothing on disk has changed.
 * The error is one sentence for the operator. */
SIDECAR_API struct sidecar_boundary *sidecar_boundary_new(const struct sidecar_options *options,
							  struct sidecar_error *error);

/* Accepts NULL. */
SIDECAR_API void sidecar_boundary_free(struct sidecar_boundary *boundary);

/* The canonical paths of the directories; NULL where none is set. */
SIDECAR_API const char *sidecar_workspace_root(const struct sidecar_boundary *boundary);
SIDECAR_API const char *sidecar_allowed_root(const struct sidecar_boundary *boundary);
SIDECAR_API const char *sidecar_data_dir(const struct sidecar_boundary *boundary);

/* The trees that may be touched, outermost names only, as an array that ends with NULL. */
SIDECAR_API const char *const *sidecar_allowed_paths(const struct sidecar_boundary *boundary);

/* Whether the path may be touched, links in it followed. It need not exist. */
SIDECAR_API bool sidecar_is_path_allowed(const struct sidecar_boundary *boundary, const char *path);

/*
 * The absolute path without links that the path leads to, written to `resolved`, which has `size`
 * bytes; SIDECAR_PATH_MAX is always enough. Parts that do not exist stay as they are. Returns the
 * length, or -1: PATH_OUTSIDE_WORKSPACE, PATH_NOT_ALLOWED, SYMLINK_OUTSIDE_WORKSPACE, SYMLINK_LOOP,
 * INVALID_PATH …
 */
SIDECAR_API int sidecar_validate_path(const struct sidecar_boundary *boundary, const char *path,
				      char *resolved, size_t size, struct sidecar_error *error);

/*
 * Open something that exists, with flags as in open(2): an access mode, O_DIRECTORY, O_PATH,
 * O_APPEND; others are INVALID_ARGUMENTS. The descriptor is close-on-exec and does not block.
 * Returns it, for the caller to close, or -1.
 */
SIDECAR_API int sidecar_open_beneath(const struct sidecar_boundary *boundary, const char *path,
				     int flags, struct sidecar_error *error);

#ifdef __cplusplus
}
#endif

#endif
