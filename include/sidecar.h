/* SPDX-License-Identifier: MIT */
/*
 * libsidecar: run coding tools in a workspace, through a sidecar or in this process.
 *
 * A program that talks to a language model opens an executor, struct sidecar, and calls it: eight
 * operations (read, write, edit, patch, ls, find, grep, bash), the model's tools by name, and
 * health. The settings decide once where the calls run:
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
 * Rules that apply everywhere:
 *   - An executor connects to a sidecar that is already running. It never starts, stops or manages
 *     one.
 *   - Many threads may use an executor at the same time; their calls do not wait for each other.
 *     There is no global state, and a program may open many executors.
 *   - If the sidecar restarts, the executor reconnects. A call that was not sent yet, or that only
 *     reads, is sent again, within the time to wait for readiness. A call that may have run is
 *     never repeated: it fails with CONNECTION_LOST, and the caller decides what to do.
 *   - After fork, the child may use an executor of its parent; it makes its own connections. With a
 *     local executor this is safe only if no call was running in another thread.
 *   - Each result is one block of memory, which sidecar_free releases. Strings in it are UTF-8 and
 *     end with a NUL byte; a string that has a length may also contain NUL bytes.
 *   - A function that fails returns NULL or -1 and sets *error; `error` may be NULL. On success
 *     *error is unchanged.
 *   - The library prints nothing, sets no signal handlers, and raises no SIGPIPE.
 *
 * Error codes are those of the HTTP API (FILE_NOT_FOUND, TEXT_NOT_UNIQUE …; docs/tools.md lists
 * them), and these:
 *	NOT_READY	no sidecar answered within wait_for_ready_ms, none listens (no_wait), or the
 *			path is not a socket
 *	CONNECTION_LOST	the connection was lost before the answer arrived; the call may have run
 *	UNAUTHORIZED	the token is missing or wrong
 *	CANCELLED	the call was cancelled with sidecar_cancel
 *	TIMED_OUT	the answer did not arrive within timeout_ms; the call was given up
 *	BAD_ANSWER	the answer does not come from a sidecar
 *	INVALID_CONFIG	the settings are wrong or contradict each other
 *	DISABLED	the configuration disables the tools
 *
 * Programs that open files themselves can use the sidecar's path rules: see "The boundary" below.
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

/* Enough for any resolved path and its final NUL byte. */
#define SIDECAR_PATH_MAX 8192

/* Why a function failed. Both strings end with a NUL byte. */
struct sidecar_error {
	char code[40];	    /* "FILE_NOT_FOUND", "PATH_OUTSIDE_WORKSPACE" … as in the HTTP API */
	char message[1024]; /* a sentence for a person or a model */
};

/* Which directories may be used. All paths are absolute; strings are copied. */
struct sidecar_options {
	const char *workspace_root; /* WORKSPACE_ROOT; created, with its parents, if missing */
	const char *data_dir;	    /* DATA_DIR: always allowed too; created if missing; or NULL */
	const char *allowed_root;   /* ALLOWED_ROOT_DIRECTORY, must contain the root; or NULL */
	bool allow_outside;	    /* absolute paths may leave the workspace */
	bool history_only;	    /* no calls are made: what any program has changed in the
				     * workspace can be listed, shown and taken back, by
				     * sidecar_request to "/changes". The root must exist. The
				     * settings of journals are read as a server reads them. */
};

/*
 * Where calls run: in the sidecar at a Unix socket, in the sidecar at a TCP address, or, with
 * `local`, in this process. Set exactly one of the three. Strings are copied.
 */
struct sidecar_settings {
	const char *socket_path; /* absolute */
	const char *host;	 /* a name or an address; needs port */
	int port;
	const char *token;	   /* bearer token; or NULL */
	const char *session;	   /* names this client to the sidecar's read tracker; or NULL */
	int64_t wait_for_ready_ms; /* how long to wait for a sidecar to appear; 0: 10000 */
	int64_t timeout_ms;	   /* the longest time from sending a call to its full answer; for a
				    * command, the longest time without output; 0: no limit */

	/* Called by the calling thread a few times a second during find and grep, with the number
	 * of files searched so far. May be NULL. */
	void (*progress)(void *arg, int64_t files);
	void *progress_arg;

	bool no_wait; /* fail at once if no sidecar listens there, instead of waiting for one */
	bool hints;   /* FILE_NOT_FOUND suggests the file that was probably meant */

	const struct sidecar_options *local; /* run in this process, in this workspace */
	const char *program; /* with local: the sidecar program, to run commands; NULL: in PATH */
};

struct sidecar;

/* Open an executor. This checks the settings but does not connect, so it succeeds even if the
 * sidecar is not running yet. */
SIDECAR_API struct sidecar *sidecar_open(const struct sidecar_settings *settings,
					 struct sidecar_error *error);

/*
 * Open an executor as the JSON configuration of the host program says:
 *
 *	{"plugins":{"coding":{"enabled":true,"mode":"sidecar",
 *		"sidecar":{"socketPath":"/run/sidecar/sidecar.sock","waitForReadyMs":10000}}}}
 *
 * "sidecar" may have "tcp":{"host","port"} instead of "socketPath", and in addition
 * "auth":{"token","required"}, "timeoutMs" and "session". The other mode is "local", with
 * "local":{"workspaceRoot","allowOutsideWorkspaceRoot"}. A mistake fails with INVALID_CONFIG; the
 * message names the member and says what it must be. If "enabled" is false, the code is DISABLED.
 */
SIDECAR_API struct sidecar *sidecar_open_json(const char *json, struct sidecar_error *error);

/* Close the connections; the sidecar keeps running. A local executor ends its commands. No call may
 * be running. Accepts NULL. */
SIDECAR_API void sidecar_close(struct sidecar *sidecar);

/*
 * Wait until the sidecar is ready: its socket exists, and GET /health says ok. Tries every 100 ms
 * for at most wait_for_ready_ms, then fails with NOT_READY, "Timed out waiting for coding sidecar
 * at unix:<path>", and the reason if there is one. A path that is not a socket fails at once. Every
 * call does this itself when it has to connect; calling it first tells a wrong setting from a
 * failed call.
 */
SIDECAR_API int sidecar_ensure_ready(struct sidecar *sidecar, struct sidecar_error *error);

/* "unix:<path>", "tcp:<host>:<port>" or "local:<root>"; valid as long as the executor. */
SIDECAR_API const char *sidecar_address(const struct sidecar *sidecar);

/* Release the result of a function. Accepts NULL. */
SIDECAR_API void sidecar_free(void *result);

/* The sidecar's version and, in `json`, the whole answer of GET /health: which protections are in
 * force, and more. */
struct sidecar_health {
	const char *version;
	const char *json;
	size_t length;
};

SIDECAR_API struct sidecar_health *sidecar_health(struct sidecar *sidecar,
						  struct sidecar_error *error);

/* A text file, or some of its lines; or an image. */
struct sidecar_file {
	const char *content; /* the text, or the bytes of the image */
	size_t length;
	const char *mime_type; /* of an image; NULL: text */
	int64_t total_lines;
	bool has_more; /* the file has lines after the content */
	bool too_long; /* the first line is too long for an answer, so the content is empty */
};

struct sidecar_lines {
	int64_t offset; /* the first line, counting from 1; 0: 1 */
	int64_t limit;	/* how many lines; 0: as many as one answer holds (2000) */
};

/* Read a file. `lines` may be NULL: from the first line. */
SIDECAR_API struct sidecar_file *sidecar_read_file(struct sidecar *sidecar, const char *path,
						   const struct sidecar_lines *lines,
						   struct sidecar_error *error);

/* A file that was written or edited. */
struct sidecar_change {
	const char *path;
	int64_t bytes;	  /* written; 0 after an edit */
	const char *diff; /* what an edit changed; NULL after a write */
	int64_t change;	  /* its number, to undo it; 0: changes are not kept */
	int64_t not_kept; /* 1: what was there cannot be brought back */
};

/* Write a whole file; missing directories are created. The content may be any bytes. A reader sees
 * the old content or the new, never a mixture. */
SIDECAR_API struct sidecar_change *sidecar_write_file(struct sidecar *sidecar, const char *path,
						      const char *content, size_t length,
						      struct sidecar_error *error);

/* Replace a text that occurs exactly once. Otherwise fails with TEXT_NOT_FOUND or TEXT_NOT_UNIQUE;
 * NO_CHANGE if both texts are the same. */
SIDECAR_API struct sidecar_change *sidecar_edit_file(struct sidecar *sidecar, const char *path,
						     const char *old_text, const char *new_text,
						     struct sidecar_error *error);

/* What a patch made of one file. */
struct sidecar_patched {
	const char *path;
	const char *kind;	/* created, modified, deleted, renamed or copied */
	const char *from;	/* where it was before, if it was renamed or copied; else NULL */
	int64_t added, removed; /* lines */
	const char *diff;	/* what changed; empty if it is very long */
};

struct sidecar_patch {
	const struct sidecar_patched *files;
	size_t count;
	const char *const *fuzz; /* what did not fit exactly and was accepted; ends with NULL */
	int64_t change; /* its number, to undo it; 0: nothing changed, or changes are not kept */
};

struct sidecar_patch_options {
	const char *format; /* v4a, unified or blocks; NULL: as it looks */
	int strip; /* directories to take off the paths of a unified patch; -1: none; 0: "a/", "b/"
		    */
	bool dry_run; /* change nothing */
};

/* Apply a patch of several files: all of it or nothing. `options` may be NULL. */
SIDECAR_API struct sidecar_patch *sidecar_apply_patch(struct sidecar *sidecar, const char *patch,
						      const struct sidecar_patch_options *options,
						      struct sidecar_error *error);

/* Text for a person or a model: the names in a directory, or matching lines. */
struct sidecar_text {
	const char *content;
	size_t length;
	bool truncated; /* a limit was reached; the content of grep says which */
};

/* List a directory, one name per line, with "/" after the names of directories. `path` NULL: the
 * root; `limit` 0: 500 names. */
SIDECAR_API struct sidecar_text *sidecar_ls(struct sidecar *sidecar, const char *path,
					    int64_t limit, struct sidecar_error *error);

struct sidecar_names {
	const char *const *names; /* ends with NULL */
	size_t count;
	bool truncated;
};

/* Find files and directories by a glob. `path` NULL: in the root; `limit` 0: 1000 names. */
SIDECAR_API struct sidecar_names *sidecar_find(struct sidecar *sidecar, const char *pattern,
					       const char *path, int64_t limit,
					       struct sidecar_error *error);

struct sidecar_grep_options {
	const char *path; /* a directory or a file; NULL: the root */
	const char *glob; /* search only files that match; NULL: all files */
	bool ignore_case, literal;
	int64_t context; /* lines before and after each match */
	int64_t limit;	 /* matching lines; 0: 100 */
};

/* Search the contents of files. Each matching line is "<path>:<line>: <text>". `options` may be
 * NULL. */
SIDECAR_API struct sidecar_text *sidecar_grep(struct sidecar *sidecar, const char *pattern,
					      const struct sidecar_grep_options *options,
					      struct sidecar_error *error);

/* Lets another thread, or a signal handler, cancel a command. Once cancelled it stays cancelled. */
struct sidecar_cancel;
SIDECAR_API struct sidecar_cancel *sidecar_cancel_new(void); /* NULL: no memory or descriptor */
SIDECAR_API void sidecar_cancel(struct sidecar_cancel *cancel);
SIDECAR_API void sidecar_cancel_free(struct sidecar_cancel *cancel); /* accepts NULL */

struct sidecar_bash_options {
	const char *cwd;	       /* NULL: the root */
	const char *const *env;	       /* "NAME=value" …, ends with NULL; or NULL */
	const char *input;	       /* what the command reads as standard input … */
	size_t input_length;	       /* … at most 16 MiB, any bytes; NULL: nothing */
	double timeout_seconds;	       /* 0: 300 */
	struct sidecar_cancel *cancel; /* or NULL */

	/* Called by the calling thread with output as it arrives, in whole characters. A return
	 * value other than 0 cancels the command. May be NULL. */
	int (*output)(void *arg, bool is_stderr, const char *text, size_t length);
	void *arg;
};

/* How a command ended. */
struct sidecar_exit {
	int code;	/* 128 plus the signal's number if a signal ended it; -1 after a timeout */
	bool timed_out; /* the command and every process it started were ended */
	bool stopped;	/* a person ended them; the code is -1 */
	int64_t change; /* the number of what it changed, to undo it; 0: nothing, as far as known */
	int64_t not_kept; /* how many paths of that cannot be brought back */
};

/* Run a shell command and wait until it ends. Returns 0 and *ret, however the command ended; or -1
 * if it could not be run or was cancelled. After CANCELLED, every process it started is being
 * ended. `options` and `ret` may be NULL. */
SIDECAR_API int sidecar_run_bash(struct sidecar *sidecar, const char *command,
				 const struct sidecar_bash_options *options,
				 struct sidecar_exit *ret, struct sidecar_error *error);

/* What a tool answered to a model. */
struct sidecar_observation {
	bool success;
	const char *code, *message; /* why it failed; NULL on success */
	const char *json;	    /* the observation: pass it to the model unchanged */
	size_t length;
};

/* Call one of the model's tools by name. `arguments` is a JSON object; NULL or "" means {}. Fails
 * only if there is no observation: a mistake in the call is part of the observation, for the model
 * to read. */
SIDECAR_API struct sidecar_observation *sidecar_call_tool(struct sidecar *sidecar, const char *name,
							  const char *arguments,
							  struct sidecar_error *error);

/* The definitions of the tools, to put into a request to a model. `format` is "ollama", "openai",
 * "openai-strict", "openai-responses", "anthropic", "gemini" or "mcp"; or "anthropic-native" or
 * "openai-native" for the tools that the provider built in, whose calls sidecar_request takes to
 * "/tools". `set` is "core" or "full". NULL: the sidecar chooses. */
SIDECAR_API struct sidecar_text *sidecar_tools(struct sidecar *sidecar, const char *format,
					       const char *set, struct sidecar_error *error);

/* The definition of one tool, of any set, in one of these formats; NULL: "ollama". Fails with
 * UNKNOWN_TOOL if there is none. */
SIDECAR_API struct sidecar_text *sidecar_tool_by_name(struct sidecar *sidecar, const char *name,
						      const char *format,
						      struct sidecar_error *error);

/* Whether the command policy refuses a command of a model; it is not run. 0: no. 1: yes, and *error
 * has COMMAND_BLOCKED and the reason. -1: that cannot be known, and *error says why. */
SIDECAR_API int sidecar_is_command_blocked(struct sidecar *sidecar, const char *command,
					   struct sidecar_error *error);

/* The innermost directory, at or above this one, of which changes are kept: with history_only they
 * can be taken back without a server. False: there is none. */
SIDECAR_API bool sidecar_find_history(const char *directory, char found[SIDECAR_PATH_MAX]);

/* A journal of this user: what was changed in one workspace. */
struct sidecar_journal {
	const char *workspace, *directory; /* of which it is; where it lies */
	int64_t bytes, changes;
	int64_t last_used; /* seconds since 1970 */
	bool is_gone;	   /* the workspace does not exist any more */
	bool is_used;	   /* by a program that runs */
};

/* Visit all journals of this user. Those for which the visitor returns true are removed, unless they
 * are used. */
typedef bool sidecar_journal_visitor(void *arg, const struct sidecar_journal *journal);
SIDECAR_API int sidecar_journals(sidecar_journal_visitor *visit, void *arg,
				 struct sidecar_error *error);

/* Send a request to any other route of the sidecar, for example GET "/jobs". `body` is JSON, or
 * NULL. An answer with any HTTP status is a success; the status is in *status, if that is not NULL.
 * Local executors have no routes but those of history_only: INVALID_ARGUMENTS. */
SIDECAR_API struct sidecar_text *sidecar_request(struct sidecar *sidecar, const char *method,
						 const char *target, const char *body, int *status,
						 struct sidecar_error *error);

/*
 * The boundary: which paths a program may use, and how to open them safely.
 *
 * This is for host programs that want the sidecar's path rules for their own file access. Make a
 * boundary once, from the same four settings that a sidecar has, and then ask it about paths:
 *
 *	struct sidecar_options options = { .workspace_root = "/workspace" };
 *	struct sidecar_boundary *boundary = sidecar_boundary_new(&options, &error);
 *	int fd = sidecar_open_beneath(boundary, "src/main.c", O_RDONLY, &error);
 *	…
 *	sidecar_boundary_free(boundary);
 *
 * A relative path is below the workspace root. An absolute path is taken literally and must lie in
 * the workspace, in the data directory or, with allow_outside, in the allowed root (anywhere, if no
 * allowed root is set). "\" means "/". A path that leads out is refused.
 *
 * The result of a check is true only at the moment of the check: another process that can change
 * the tree may change the answer before the path is used. sidecar_open_beneath has no such gap: the
 * file it opens is below the directory, whatever other processes do in the meantime. So check a
 * path to inform a user, and open it to use it.
 *
 * A boundary never changes, and many threads may use it at the same time. The strings it returns
 * are valid as long as the boundary.
 */
struct sidecar_boundary;

/* Check the settings and open the directories. If it fails, nothing on disk has changed. */
SIDECAR_API struct sidecar_boundary *sidecar_boundary_new(const struct sidecar_options *options,
							  struct sidecar_error *error);

/* Accepts NULL. */
SIDECAR_API void sidecar_boundary_free(struct sidecar_boundary *boundary);

/* The canonical paths of the directories; NULL for one that is not set. */
SIDECAR_API const char *sidecar_workspace_root(const struct sidecar_boundary *boundary);
SIDECAR_API const char *sidecar_allowed_root(const struct sidecar_boundary *boundary);
SIDECAR_API const char *sidecar_data_dir(const struct sidecar_boundary *boundary);

/* The directories whose contents may be used, as an array that ends with NULL. A directory inside
 * another one of them is not listed. */
SIDECAR_API const char *const *sidecar_allowed_paths(const struct sidecar_boundary *boundary);

/*
 * Whether an absolute path is that directory or lies below it, by their text alone: ".", ".." and
 * doubled slashes are resolved first, whole names are compared ("/a" contains "/a/b" and "/a/..b",
 * not "/ab"), and nothing is looked at on disk, so links are not followed. A relative path, or one
 * longer than the system allows, is within no directory. Needs no boundary.
 */
SIDECAR_API bool sidecar_is_path_within(const char *path, const char *directory);

/* Whether the path may be used, after links in it are followed. It need not exist. */
SIDECAR_API bool sidecar_is_path_allowed(const struct sidecar_boundary *boundary, const char *path);

/*
 * Resolve a path: write the absolute path it leads to, without links, to `resolved`, which has
 * `size` bytes; SIDECAR_PATH_MAX is always enough. Parts that do not exist stay as they are.
 * Returns the length, or -1 with PATH_OUTSIDE_WORKSPACE, PATH_NOT_ALLOWED,
 * SYMLINK_OUTSIDE_WORKSPACE, SYMLINK_LOOP, INVALID_PATH …
 */
SIDECAR_API int sidecar_validate_path(const struct sidecar_boundary *boundary, const char *path,
				      char *resolved, size_t size, struct sidecar_error *error);

/*
 * Open an existing file or directory. `flags` are those of open(2): an access mode, O_DIRECTORY,
 * O_PATH and O_APPEND; others fail with INVALID_ARGUMENTS. Returns a descriptor, close-on-exec and
 * non-blocking, which the caller closes; or -1.
 */
SIDECAR_API int sidecar_open_beneath(const struct sidecar_boundary *boundary, const char *path,
				     int flags, struct sidecar_error *error);

#ifdef __cplusplus
}
#endif

#endif
