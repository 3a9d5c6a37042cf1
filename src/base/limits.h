/* SPDX-License-Identifier: MIT */
/* limits: the numbers that limit something in more than one room, with their reasons. What only one
 * room needs is in the limits.h of that room. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
	/* JSON nesting. Tool arguments need four levels; the reader recurses once per level. */
	LIMIT_JSON_DEPTH = 128,

	/* Values in one JSON text. Tools take a thousand edits and return ten thousand paths. A
	 * value takes some 50 bytes while its call runs, but only two to send. */
	LIMIT_JSON_VALUES = 1 << 17,

	/* Symbolic links followed for one path, as in the kernel (MAXSYMLINKS). */
	LIMIT_LINK_HOPS = 40,

	/* Log lines waiting for a slow stderr; more are counted and dropped. */
	LIMIT_LOG_BACKLOG = 256 << 10,

	/* What the log shows of a session's name: a long one must not displace the other fields. */
	LIMIT_LOG_SESSION = 128,

	/* The name of a session in a query, or of one that has a shell; the log shows its start. */
	LIMIT_SESSION_NAME = 1024,

	/* What is kept of a call's output in its events. */
	LIMIT_EVENT_OUTPUT = 64 << 10,

	/* What a server says of itself in the directory of running sidecars: three paths in which
	 * every byte may have to be escaped. */
	LIMIT_REGISTRY_ENTRY = 96 << 10,

	/* Names in one listing unless the caller asks for another number: the wire contract. */
	LIMIT_LS_ENTRIES = 500,

	/* The longest time for a command that a caller may ask for. */
	LIMIT_COMMAND_MS = 24 * 3600 * 1000,

	/* The largest answer: the largest image in base64 fits with its envelope. */
	LIMIT_ANSWER = 40 << 20,

	/* Memory for one call: parsed arguments (at most a body) and what the tool needs. */
	LIMIT_CALL_MEMORY = 128 << 20,

	/* The head of an HTTP message: as in Node. Clients of this API need a tenth of it. */
	LIMIT_HTTP_HEAD = 16 << 10,

	/* The body of a request: a file written through the API, escaped. */
	LIMIT_BODY = 32 << 20,

	/* Connections at once; an idle one takes about 300 bytes. */
	LIMIT_CONNECTIONS = 4096,

	/* Calls that wait for a turn to compute (turns.h). The next one is refused at once: with
	 * two processors, the last of that many searches waits for half a minute. */
	LIMIT_TURNS_WAITING = 256,

	/* A glob, or a line of an ignore file: no path is longer (PATH_MAX), and two sets of states
	 * with twice as many bits fit on the stack. */
	LIMIT_GLOB_BYTES = 4096,

	/* An ignore file; the rest is not read. Real ones have a few kilobytes. */
	LIMIT_IGNORE_BYTES = 1 << 20,

	/* Threads of one search. */
	LIMIT_SEARCH_THREADS = 16,

	/* A line in a hit: up to 500 characters of four bytes are shown; the rest is needed to see
	 * whether there is more, and whether they end in a secret. */
	LIMIT_SEARCH_TEXT = 2560,

	/* Lines of context on each side of a match. */
	LIMIT_SEARCH_CONTEXT = 100,

	/* What a command can read from its standard input: with base64 it fits into one body. */
	LIMIT_STDIN = 16 << 20,

	/* Commands running at once, jobs included; but not the jobs that are processes left by a
	 * command that has ended. */
	LIMIT_COMMANDS = 512,

	/* Bytes of a command's output read at once: large, for few wake-ups. */
	LIMIT_OUTPUT_CHUNK = 64 << 10,

	/* A result as a model's client passes it on: bytes unless the operator sets another number,
	 * and the least and the most of that. */
	LIMIT_RESULT_BYTES = 32000,
	LIMIT_RESULT_LEAST = 1000,
	LIMIT_RESULT_MOST = 1 << 20,

	/* Paths that a model may ask for at once. */
	LIMIT_FIND_MOST = 10000,

	/* A configuration file, which has a few dozen short values; and memory for two of them,
	 * parsed, or for the configuration of a host program. */
	LIMIT_CONFIG_FILE = 64 << 10,
	LIMIT_CONFIG_MEMORY = 4 << 20,

	/* Client: memory for the parsed JSON of an answer. */
	LIMIT_CLIENT_MEMORY = 256 << 20,

	/* Longest line that PCRE2 is given: its time may grow with the square of the length. */
	LIMIT_PCRE_LINE = 8 << 10,

	/* The most that a stream holds back because it may be the beginning of a secret: the
	 * longest spelling of a secret has six times its length. */
	LIMIT_SCRUB_HELD = 32 << 10,

	/* How long to poll for a client's next request, over HTTP or MCP, before sleeping. */
	LIMIT_AWAKE_US = 100,
};

#endif
