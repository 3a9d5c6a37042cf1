/* SPDX-License-Identifier: MIT */
/* limits: every number that limits something, with its reason. A room with many limits that no
 * other room needs has a limits.h of its own. */
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

	/* ".." removed from the targets of those links; each costs a walk from the top. */
	LIMIT_LINK_PARENTS = 1024,

	/* How long a held directory is used before its path is looked at again. */
	LIMIT_ROOT_LOOK_MS = 250,

	/* Log lines waiting for a slow stderr; more are counted and dropped. */
	LIMIT_LOG_BACKLOG = 256 << 10,

	/* What the log shows of a session's name: a long one must not displace the other fields. */
	LIMIT_LOG_SESSION = 128,

	/* The name of a session in a query, or of one that has a shell; the log shows its start. */
	LIMIT_SESSION_NAME = 1024,

	/* Characters of a call's subject, in the log and in events; and the memory that it takes to
	 * find secrets in it. */
	LIMIT_SUBJECT = 500,
	LIMIT_SUBJECT_MEMORY = 1 << 20,

	/* The newest events are kept: so many, and so many bytes. Of a call's output and arguments
	 * at most so much, of its result only the beginning. */
	LIMIT_EVENTS = 10000,
	LIMIT_EVENT_BYTES = 8 << 20,
	LIMIT_EVENT_OUTPUT = 64 << 10,
	LIMIT_EVENT_ARGUMENTS = 64 << 10,
	LIMIT_EVENT_RESULT = 4 << 10,
	LIMIT_EVENT_FILES = 50,
	/* Of a change the lines are counted that it adds to files of at most so many bytes, in at
	 * most so many bytes together: the caller waits for it. */
	LIMIT_EVENT_DIFF = 64 << 10,
	LIMIT_EVENT_DIFFS = 256 << 10,
	/* Output of a command waits for more of it this long: 20 events a second for two streams.
	 */
	LIMIT_EVENT_JOIN_MS = 100,
	/* After the clock was set, events may carry the old time for this long. */
	LIMIT_EVENT_DATE_MS = 1000,

	/* Who watches: how many, how often they hear that nothing happens, how long news are
	 * gathered for them, and what each may have taken without having sent it on. */
	LIMIT_WATCHERS = 256,
	LIMIT_WATCH_SILENCE_MS = 15000,
	LIMIT_WATCH_GATHER_MS = 20,
	LIMIT_WATCH_PIECE = 64 << 10,

	/* The audit file: how long lines that no call waits for may not be on disk, and the longest
	 * line. Its subject may have LIMIT_SUBJECT characters of four bytes, each of them escaped.
	 */
	LIMIT_AUDIT_SYNC_MS = 500,
	LIMIT_AUDIT_LINE = 32 << 10,

	/* What a server says of itself in the directory of running sidecars: three paths in which
	 * every byte may have to be escaped. */
	LIMIT_REGISTRY_ENTRY = 96 << 10,

	/* Files that the read tracker remembers for all sessions, about 300 bytes each. */
	LIMIT_TRACKED_FILES = 8192,
	/* Content that it keeps to show what changed: of one file, and of all files. */
	LIMIT_TRACKED_CONTENT = 128 << 10,
	LIMIT_TRACKED_BYTES = 8 << 20,

	/* What one answer shows of a text: the wire contract. */
	LIMIT_HEAD_LINES = 2000,
	LIMIT_HEAD_BYTES = 50 << 10,

	/* Names in one listing unless the caller asks for another number: the wire contract. */
	LIMIT_LS_ENTRIES = 500,

	/* Results of a search unless the caller asks for another number: the wire contract. */
	LIMIT_FIND_RESULTS = 1000,
	LIMIT_GREP_MATCHES = 100,
	/* Characters shown of a matching line: the wire contract. */
	LIMIT_GREP_LINE = 500,

	/* The time for a command in the wire contract, and the longest a caller may ask for. */
	LIMIT_BASH_MS = 300 * 1000,
	LIMIT_COMMAND_MS = 24 * 3600 * 1000,

	/* How long one request for the output of a job may wait. */
	LIMIT_JOB_NEWS_MS = 60000,

	/* An image is sent as base64 in one answer. */
	LIMIT_IMAGE_BYTES = 20 << 20,

	/* An image that a model is shown: what providers take. */
	LIMIT_MODEL_IMAGE = 5 * 1000 * 1000,

	/* The largest answer: the largest image in base64 fits with its envelope. */
	LIMIT_ANSWER = 40 << 20,

	/* Bytes that an envelope adds after a result, at most. */
	LIMIT_ENVELOPE_END = 64,

	/* Memory for one call: parsed arguments (at most a body) and what the tool needs. */
	LIMIT_CALL_MEMORY = 128 << 20,

	/* Largest file in which a failed edit looks for similar text, in nine times the memory. */
	LIMIT_EDIT_HINT_BYTES = 4 << 20,
	/* Largest file that is edited or replaced, which happens in memory. */
	LIMIT_EDIT_BYTES = 64 << 20,

	/* The head of an HTTP message: as in Node. Clients of this API need a tenth of it. */
	LIMIT_HTTP_HEAD = 16 << 10,
	/* The start line within it: RFC 9112 recommends to support at least 8000. */
	LIMIT_HTTP_LINE = 8 << 10,
	/* Headers of a message, 32 bytes each: browsers send some 20, proxies add a few. */
	LIMIT_HTTP_HEADERS = 64,
	/* A line with the size of a chunk: 15 digits, and extensions, which are hardly used. */
	LIMIT_HTTP_CHUNK_LINE = 256,
	/* Extensions of all chunks of one body: without this limit a body of one-byte chunks could
	 * cost hundreds of times its size. */
	LIMIT_HTTP_EXTENSIONS = 16 << 10,
	/* Trailers after a chunked body; they are dropped. */
	LIMIT_HTTP_TRAILERS = 8 << 10,

	/* The body of a request: a file written through the API, escaped. */
	LIMIT_BODY = 32 << 20,

	/* Memory for all request bodies that arrive, and all answers not yet taken: without it a
	 * request gets 503, and a client that does not read loses its connection. */
	LIMIT_BODIES = 256 << 20,

	/* Connections at once; an idle one takes about 300 bytes. And how many of them may be by
	 * TCP, which more clients can reach: it leaves the rest to Unix sockets. */
	LIMIT_CONNECTIONS = 4096,
	LIMIT_CONNECTIONS_TCP = 3584,

	/* How long a request head may take from its first byte, and a body from its head; how long
	 * a client may take to read an answer, and leave a connection idle. */
	LIMIT_HEAD_MS = 10000,
	LIMIT_BODY_MS = 60000,
	LIMIT_ANSWER_MS = 60000,
	LIMIT_IDLE_MS = 300000,

	/* A stream ends when its client reads nothing for this long. */
	LIMIT_STALL_MS = 300000,

	/* How long, and how much, a refused client may still send before its connection is closed:
	 * the rest of a body that is too large, and what was on its way. */
	LIMIT_REFUSED_MS = 5000,
	LIMIT_REFUSED_BYTES = 128 << 20,

	/* How long the server waits, after the grace time, until running calls have ended: a
	 * command gets SIGTERM, then SIGKILL. */
	LIMIT_STOP_MS = 8000,

	/* Calls that wait for a turn to compute (turns.h). The next one is refused at once: with
	 * two processors, the last of so many searches waits for half a minute. */
	LIMIT_TURNS_WAITING = 256,

	/* Bytes, and names of a directory, that are looked at without a turn: some 0.1 ms, so that
	 * what is small never waits for what is large. */
	LIMIT_AT_ONCE = 256 << 10,
	LIMIT_AT_ONCE_NAMES = 4096,

	/* Threads that carry requests: a few always, more while calls take long; at most enough for
	 * every command, for every call that waits for its turn, and for other waits beside them.
	 */
	LIMIT_WORKERS_MIN = 2,
	LIMIT_WORKERS = 896,

	/* A further worker ends after waiting in vain for this long. */
	LIMIT_WORKER_IDLE_MS = 10000,

	/* A glob, or a line of an ignore file: no path is longer (PATH_MAX), and two sets of states
	 * with twice as many bits fit on the stack. */
	LIMIT_GLOB_BYTES = 4096,
	/* Bytes of a path that a glob with "!(…)" is tried on: a set with a bit for each fits on
	 * the stack. */
	LIMIT_GLOB_TEXT = 32 << 10,
	/* How many "!(…)" a glob may have: each takes time for every character of a name. */
	LIMIT_GLOB_NOTS = 8,
	/* Nested braces and parentheses in a glob; people write two levels. */
	LIMIT_GLOB_NESTING = 16,

	/* An ignore file; the rest is not read. Real ones have a few kilobytes. */
	LIMIT_IGNORE_BYTES = 1 << 20,

	/* Directories that one walk keeps open; a process usually has 1024 descriptors. */
	LIMIT_WALK_DIRS = 64,
	/* Directory entries read at once, in bytes: a few thousand entries. */
	LIMIT_WALK_DENTS = 64 << 10,

	/* Files that a thread of a walk takes at once: enough to make taking cheap, few enough that
	 * all threads finish together. */
	LIMIT_WALK_FILES = 16,

	/* Threads of one search, and the stack of each (virtual memory; PCRE2's just-in-time
	 * compiler needs it). */
	LIMIT_SEARCH_THREADS = 16,
	LIMIT_SEARCH_STACK = 8 << 20,

	/* Memory for the hits of one search. A further search goes on from the last one. */
	LIMIT_SEARCH_BYTES = 8 << 20,

	/* A line in a hit: up to 500 characters of four bytes are shown; the rest is needed to see
	 * whether there is more, and whether they end in a secret. */
	LIMIT_SEARCH_TEXT = 2560,

	/* Bytes of a file read at once; they fit into the second-level cache. */
	LIMIT_SEARCH_READ = 128 << 10,

	/* A longer line is searched in pieces of this size. */
	LIMIT_SEARCH_LINE = 1 << 20,

	/* A file in which matches may cross lines is held in memory whole. */
	LIMIT_SEARCH_MULTILINE = 4 << 20,

	/* Lines of context on each side of a match. */
	LIMIT_SEARCH_CONTEXT = 100,

	/* Ignored files that would have matched: how long to look for them, how many to count, and
	 * how many ignored entries to remember for that. */
	LIMIT_SEARCH_HINT_MS = 300,
	LIMIT_SEARCH_HINTS = 1000,
	LIMIT_SEARCH_HIDDEN = 4096,

	/* A command's script; and all of its arguments and variables together. */
	LIMIT_SCRIPT = 1 << 20,
	LIMIT_ARGUMENTS = 2 << 20,

	/* What a command can read from its standard input: with base64 it fits into one body. */
	LIMIT_STDIN = 16 << 20,

	/* Memory that a process prepares before it is told which command to start. */
	LIMIT_SPARE_MEMORY = 16 << 10,

	/* Memory for a command line that is started without a shell. For a longer one the cost of
	 * the shell does not matter. */
	LIMIT_PLAIN = 64 << 10,

	/* Variables added to a command's environment: each is compared with all the others. */
	LIMIT_VARIABLES = 1024,

	/* Longest argument that the kernel takes (MAX_ARG_STRLEN without NUL, 4 KiB pages). */
	LIMIT_ARGUMENT = (128 << 10) - 1,

	/* Commands running at once, jobs included; but not the jobs that are processes left by a
	 * command that has ended. */
	LIMIT_COMMANDS = 512,

	/* Time between SIGTERM and SIGKILL: enough to save state, short enough to wait for. */
	LIMIT_TERM_GRACE_MS = 5000,

	/* The same when the server is gone and no process reads the output any more. */
	LIMIT_ORPHAN_GRACE_MS = 500,

	/* Starting a program may take as long as running it, but at most this long, each plus the
	 * grace of SIGTERM: another process may keep its file from being opened. */
	LIMIT_START_MS = 60 * 1000,

	/* Processes that a shell leaves running have this long to end by themselves, and this long
	 * between SIGTERM and SIGKILL: the answer waits for both. */
	LIMIT_LINGER_MS = 50,
	LIMIT_SURVIVOR_GRACE_MS = 100,

	/* How long a tree that cannot be killed (stuck in the kernel, or of another user) delays
	 * the answer; and the pause between attempts. */
	LIMIT_KILL_PATIENCE_MS = 2000,
	LIMIT_KILL_PAUSE_MS = 5,

	/* Processes examined in one round of ending a tree, and rounds before killing. */
	LIMIT_TREE = 1 << 17,
	LIMIT_STOP_ROUNDS = 16,

	/* Above the process numbers of 64-bit kernels; without /proc all below are tried. */
	LIMIT_PID = 1 << 22,

	/* Processes of one command if no limit is set, and how often they are counted: a fork bomb
	 * adds a few thousand in that time, a large build has a few hundred. */
	LIMIT_PROCESSES = 2048,
	LIMIT_CENSUS_MS = 200,

	/* The largest limit that an operator can set for commands: no unit overflows. */
	LIMIT_SETTING = 1000000,

	/* Survivors described in an answer: how many, and how much of each. */
	LIMIT_SURVIVORS = 16,
	LIMIT_SURVIVOR_TEXT = 256,
	LIMIT_SURVIVOR_PORTS = 8,
	LIMIT_SURVIVOR_SOCKETS = 1024,

	/* Bytes of a command's output read at once, and its pipe: large, for few wake-ups. */
	LIMIT_OUTPUT_CHUNK = 64 << 10,
	LIMIT_OUTPUT_PIPE = 256 << 10,

	/* The name of a program in a message. */
	LIMIT_PROGRAM_TEXT = 256,

	/* The end of stderr that is kept to see whether the sandbox refused something. */
	LIMIT_STDERR_TAIL = 4 << 10,

	/* How much more likely a command is to be killed than the server when memory runs out. */
	LIMIT_OOM_SCORE = 200,

	/* How old the count of out-of-memory kills may be when a command starts. */
	LIMIT_OOM_AGE_MS = 1000,

	/* A variable that points into the private /tmp. */
	LIMIT_SANDBOX_VARIABLE = 4096 + 64,

	/* Background jobs remembered, running or ended; output of each that is kept, and that is
	 * sent at once; bytes before it that the scrubber sees to judge its beginning. */
	LIMIT_JOBS = 64,
	LIMIT_JOB_OUTPUT = 1 << 20,
	LIMIT_JOB_PIECE = 256 << 10,
	LIMIT_JOB_CONTEXT = 32 << 10,

	/* How often a call that waits for a job checks whether its client is still there. */
	LIMIT_JOB_WAIT_MS = 100,

	/* How long a list of jobs waits for their reapers to tell the ports. */
	LIMIT_JOB_LIST_MS = 500,

	/* A job's command line as it is listed. */
	LIMIT_JOB_TEXT = 256,

	/* Stack of a thread that only carries a job's output. */
	LIMIT_JOB_STACK = 256 << 10,

	/* Stack of a thread that looks at a command's system calls: paths and a recording. */
	LIMIT_JUDGE_STACK = 512 << 10,

	/* The spawner answers at once; if it is silent for this long, it hangs. */
	LIMIT_SPAWNER_MS = 10000,

	/* What a model reads of a file in one call; a larger file is read by lines. */
	LIMIT_READ_FILE = 1 << 20,

	/* What is kept of stdout and stderr of a command, each: about 13,000 tokens. */
	LIMIT_COMMAND_OUTPUT = 50 << 10,

	/* A line of a command's output while it can still be redrawn; the columns of the terminal
	 * that a program may think it has; the first bytes by which binary output is known; and
	 * what LIMIT_OUTPUT_CHUNK bytes can become: eight of them fill a line with blanks. */
	LIMIT_SCREEN_LINE = 16 << 10,
	LIMIT_SCREEN_COLUMNS = 240,
	LIMIT_SCREEN_SAMPLE = 8 << 10,
	LIMIT_SCREEN_ASIDE = 4 << 20,

	/* A result as a model's client passes it on: bytes unless the operator sets another number,
	 * the least and the most of that, and lines (one client cuts at 2,000). */
	LIMIT_RESULT_BYTES = 32000,
	LIMIT_RESULT_LEAST = 1000,
	LIMIT_RESULT_MOST = 1 << 20,
	LIMIT_RESULT_LINES = 1800,

	/* What is shown of a line that does not fit into a result. */
	LIMIT_LONG_LINE = 16000,

	/* Of such a result: what is kept free for the lines about the result itself. */
	LIMIT_RESULT_NOTES = 600,

	/* The whole output of commands that results could not show: of one command, of all
	 * together, how many, and how much of one is collected before it gets a file. */
	LIMIT_KEPT_OUTPUT = 16 << 20,
	LIMIT_KEPT_ALL = 64 << 20,
	LIMIT_KEPT = 256,
	LIMIT_KEPT_EARLY = 128 << 10,

	/* Time for a model's command unless it asks for another: the model waits for it. By MCP it
	 * waits longer, and may ask for the third. */
	LIMIT_RUN_MS = 30 * 1000,
	LIMIT_MCP_RUN_MS = 120 * 1000,
	LIMIT_MCP_COMMAND_MS = 3600 * 1000,

	/* Variables that models' commands get, those of the operator included. */
	LIMIT_COMMAND_VARIABLES = 128,

	/* Names looked at, in one directory and in the whole workspace, to suggest a file in the
	 * place of one that is not there. */
	LIMIT_SUGGEST_NAMES = 10000,
	LIMIT_SUGGEST_WALK = 20000,

	/* Entries of a model's listing, and how many levels of directories it may show. */
	LIMIT_LIST_ENTRIES = 500,
	LIMIT_LIST_DEPTH = 5,

	/* A model's search: matches unless it asks for another number, the most it may ask for,
	 * lines of context on each side, and bytes of all matches together. */
	LIMIT_SEARCH_MATCHES = 50,
	LIMIT_SEARCH_MOST = 1000,
	LIMIT_SEARCH_AROUND = 20,
	LIMIT_SEARCH_ANSWER = 256 << 10,

	/* One page of /search: matches, lines with their context, and bytes. The next page goes on
	 * after it. Its globs and types, each. */
	LIMIT_PAGE_MATCHES = 10000,
	LIMIT_PAGE_LINES = 20000,
	LIMIT_PAGE_BYTES = 4 << 20,
	LIMIT_SEARCH_FILTERS = 64,

	/* Paths that a model may ask for at once. */
	LIMIT_FIND_MOST = 10000,

	/* Edits of one file in one call. */
	LIMIT_EDITS = 1000,

	/* Tools that metrics distinguish, 400 bytes each: about twice as many as there are. */
	LIMIT_METRIC_TOOLS = 48,

	/* What is kept of each output of a program whose caller wants all of it: both fit into one
	 * answer even if every byte has to be escaped. */
	LIMIT_EXECUTE_OUTPUT = 3 << 20,

	/* Nested directories that are removed as a tree; each level holds a descriptor. */
	LIMIT_REMOVE_DEPTH = 256,

	/* multipart/form-data: the boundary as RFC 2046 limits it; the head of a part; parts. */
	LIMIT_MULTIPART_BOUNDARY = 70,
	LIMIT_MULTIPART_HEAD = 8 << 10,
	LIMIT_MULTIPART_PARTS = 64,

	/* The settings in force as JSON: three paths in which every byte may have to be escaped. */
	LIMIT_FACTS = 128 << 10,

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

	/* Command line: how long `run` waits for the end of its input before it says so. */
	LIMIT_CLI_STDIN_MS = 2000,

	/* How often a search reports its progress: as often as a person can read. */
	LIMIT_SEARCH_TELL_MS = 200,

	/* How long to poll for a client's next request, over HTTP or MCP, before sleeping. */
	LIMIT_AWAKE_US = 100,

	/* A socket on which a server still listens after this long belongs to a living server. */
	LIMIT_STALE_MS = 500,

	/* How often to open a path whose ".." a rename elsewhere has made doubtful. */
	LIMIT_OPEN_TRIES = 64,
};

#endif
