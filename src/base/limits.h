/* SPDX-License-Identifier: MIT */
/* limits: every number that bounds anything, with its reason. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
	/* JSON nesting. Tool arguments need four levels; the reader recurses once a level. */
	LIMIT_JSON_DEPTH = 128,

	/* Values in one JSON text. Tools take a thousand edits and give ten thousand paths; a value
	 * takes some 50 bytes for as long as its call runs, though it may have been sent as two. */
	LIMIT_JSON_VALUES = 1 << 17,

	/* Symbolic links followed for one path, as in the kernel (MAXSYMLINKS). */
	LIMIT_LINK_HOPS = 40,

	/* ".." taken out of the targets of those links; each costs a walk from the top. */
	LIMIT_LINK_PARENTS = 1024,

	/* Log lines waiting for a slow stderr; beyond that they are counted and dropped. */
	LIMIT_LOG_BACKLOG = 256 << 10,

	/* What the log shows of a session's name: a long one must not push out the other fields. */
	LIMIT_LOG_SESSION = 128,

	/* Files remembered by the read tracker over all sessions, about 300 bytes each. */
	LIMIT_TRACKED_FILES = 8192,

	/* Content it keeps to tell what changed: of one file, and together. */
	LIMIT_TRACKED_CONTENT = 128 << 10,
	LIMIT_TRACKED_BYTES = 8 << 20,

	/* What one answer shows of a text, as the wire contract says. */
	LIMIT_HEAD_LINES = 2000,
	LIMIT_HEAD_BYTES = 50 << 10,

	/* Names in one listing unless the caller asks for another number: the wire contract. */
	LIMIT_LS_ENTRIES = 500,

	/* Results of a search unless the caller asks for another number: the wire contract. */
	LIMIT_FIND_RESULTS = 1000,
	LIMIT_GREP_MATCHES = 100,

	/* Characters shown of a matching line: the wire contract. */
	LIMIT_GREP_LINE = 500,

	/* The wire contract's time for a command, and the longest anybody may ask for. */
	LIMIT_BASH_MS = 300 * 1000,
	LIMIT_COMMAND_MS = 24 * 3600 * 1000,

	/* How long one question for news of a job may wait. */
	LIMIT_JOB_NEWS_MS = 60000,

	/* An image travels as base64 in one answer. */
	LIMIT_IMAGE_BYTES = 20 << 20,

	/* The largest answer: an image in base64 and its envelope fit, with room to spare. */
	LIMIT_ANSWER = 40 << 20,

	/* Memory for one call: parsed arguments (a body at most) and what the tool needs. */
	LIMIT_CALL_MEMORY = 128 << 20,

	/* A failed edit looks for a similar text in files up to this size, with nine times that. */
	LIMIT_EDIT_HINT_BYTES = 4 << 20,

	/* A file that is read, edited or replaced in memory as a whole. */
	LIMIT_EDIT_BYTES = 64 << 20,

	/* The head of an HTTP message, as in Node; clients of this API need a tenth. */
	LIMIT_HTTP_HEAD = 16 << 10,

	/* The start line within it: the least RFC 9112 recommends to support is 8000. */
	LIMIT_HTTP_LINE = 8 << 10,

	/* Headers of a message: browsers send some 20, proxies add a few. 32 bytes each. */
	LIMIT_HTTP_HEADERS = 64,

	/* A line with the size of a chunk: 15 digits, and extensions, which nobody sends. */
	LIMIT_HTTP_CHUNK_LINE = 256,

	/* Extensions of all chunks of one body: without it a body of one-byte chunks could cost
	 * hundreds of times its size in bytes that count nowhere. */
	LIMIT_HTTP_EXTENSIONS = 16 << 10,

	/* Trailers behind a chunked body; they are dropped. */
	LIMIT_HTTP_TRAILERS = 8 << 10,

	/* The body of a request: a file written through the API, escaped. */
	LIMIT_BODY = 32 << 20,

	/* Bodies of all requests together while they arrive, beyond that 503; and answers that
	 * clients do not take, beyond that their connections are closed. */
	LIMIT_BODIES = 256 << 20,

	/* Connections at once; one costs about 300 bytes while it is idle. */
	LIMIT_CONNECTIONS = 4096,

	/* A request head must be complete this long after its first byte, a body this long after
	 * its head; an answer must be taken, and an idle connection used again, within these. */
	LIMIT_HEAD_MS = 10000,
	LIMIT_BODY_MS = 60000,
	LIMIT_ANSWER_MS = 60000,
	LIMIT_IDLE_MS = 300000,

	/* A stream that its client takes nothing of for this long is ended. */
	LIMIT_STALL_MS = 300000,

	/* A refused client may go on sending this long and this much before the connection is
	 * closed under it: a body that is too large, with room for what was under way. */
	LIMIT_REFUSED_MS = 5000,
	LIMIT_REFUSED_BYTES = 128 << 20,

	/* After the grace time, how long the ends of running calls are waited for: a command gets
	 * SIGTERM, then SIGKILL. */
	LIMIT_STOP_MS = 8000,

	/* Threads that carry requests: a few always, more while calls take long. At most enough for
	 * every command there may be, and for searches and waits beside them. */
	LIMIT_WORKERS_MIN = 2,
	LIMIT_WORKERS = 640,

	/* A worker that is one too many leaves after waiting this long for nothing. */
	LIMIT_WORKER_IDLE_MS = 10000,

	/* Nesting of a judged command: substitutions, subshells, `bash -c` in `env` in `xargs` …
	 * The reader recurses once a level; hands never write ten. */
	LIMIT_SHELL_DEPTH = 64,

	/* Text that one judged command may make of words: a command is at most 1 MiB, and every
	 * step makes text shorter. */
	LIMIT_SHELL_TEXT = 64 << 20,

	/* Brace expansion: groups in one word, words and bytes made in one text. Hands write a
	 * dozen words; every group of two doubles them. */
	LIMIT_BRACE_DEPTH = 16,
	LIMIT_BRACE_WORDS = 4096,
	LIMIT_BRACE_BYTES = 1 << 20,

	/* Memory for judging one command. The worst megabyte (`a;a;a…`) takes about 60 MiB. */
	LIMIT_POLICY_MEMORY = 128 << 20,

	/* The text of all command rules the operator sets. */
	LIMIT_POLICY_RULES = 256 << 10,

	/* A search pattern. A list of a thousand words is 10 KB; more is not meant as a pattern. */
	LIMIT_REGEX_PATTERN = 32 << 10,

	/* Groups inside each other: the parser recurses once a level. */
	LIMIT_REGEX_DEPTH = 128,

	/* Levels of a pattern's tree at which a quantifier may still be added. Groups make up to
	 * three levels each, so nothing that walks the tree recurses more than a thousand times. */
	LIMIT_REGEX_HEIGHT = 512,

	/* {n,m}: as in PCRE. The number of nodes stops large ones long before. */
	LIMIT_REGEX_REPEAT = 65535,

	/* Nodes of the automaton; node numbers are 16 bits wide. A state has at most that many. */
	LIMIT_REGEX_NODES = 16 << 10,

	/* Memory for one parsed pattern while it is compiled. */
	LIMIT_REGEX_ARENA = 8 << 20,

	/* States of one lazy automaton, in bytes and for each thread; then they are built anew. */
	LIMIT_REGEX_STATES = 2 << 20,

	/* Bytes the automaton reads before it looks at the clock again: under a millisecond. */
	LIMIT_REGEX_SLICE = 256 << 10,

	/* A line that PCRE2 is given: what it may do with one is bounded by its square. */
	LIMIT_PCRE_LINE = 8 << 10,

	/* Steps of PCRE2 on one line: hundreds of milliseconds. The deadline comes first. */
	LIMIT_PCRE_STEPS = 10 << 20,

	/* PCRE2's interpreter (no memory to write and execute): slower, so fewer steps. */
	LIMIT_PCRE_STEPS_INTERPRETED = 1 << 20,

	/* PCRE2's memory for one match, in KB. */
	LIMIT_PCRE_HEAP_KB = 8 << 10,

	/* Compiled pattern for PCRE2's just-in-time compiler: its recursion follows the size. */
	LIMIT_PCRE_JIT_BYTES = 16 << 10,

	/* Compiled pattern that PCRE2 accepts at all. */
	LIMIT_PCRE_BYTES = 256 << 10,

	/* Stack of a just-in-time compiled match. */
	LIMIT_PCRE_JIT_STACK = 512 << 10,

	/* A glob, or a line of an ignore file: no path is longer (PATH_MAX), and two state sets of
	 * twice as many bits fit on the stack. */
	LIMIT_GLOB_BYTES = 4096,

	/* Braces within braces in a glob; people write two levels. */
	LIMIT_GLOB_NESTING = 16,

	/* An ignore file; the rest is not read. Real ones have a few kilobytes. */
	LIMIT_IGNORE_BYTES = 1 << 20,

	/* Directories that one walk keeps open, far below the usual 1024 descriptors a process. */
	LIMIT_WALK_DIRS = 64,

	/* Directory entries that are read at once: a few thousand. */
	LIMIT_WALK_DENTS = 64 << 10,

	/* Files that a thread of a walk takes at once: enough that taking costs nothing, few
	 * enough that the threads finish together. */
	LIMIT_WALK_FILES = 16,

	/* Threads of one search, and the stack of each (virtual; compiling a pattern for PCRE2's
	 * JIT needs it). */
	LIMIT_SEARCH_THREADS = 16,
	LIMIT_SEARCH_STACK = 8 << 20,

	/* Hits that one search holds. More are found by going on from the last one. */
	LIMIT_SEARCH_BYTES = 8 << 20,

	/* A line in a hit: 500 characters of four bytes are shown, and whether there is more; the
	 * rest tells whether they end in a secret. */
	LIMIT_SEARCH_TEXT = 2560,

	/* What is read of a file at once; fits the second-level cache with room to spare. */
	LIMIT_SEARCH_READ = 128 << 10,

	/* A longer line is searched in pieces of this size. */
	LIMIT_SEARCH_LINE = 1 << 20,

	/* A file in which matches may cross lines is held in memory as a whole. */
	LIMIT_SEARCH_MULTILINE = 4 << 20,

	/* Lines of context on each side of a match. */
	LIMIT_SEARCH_CONTEXT = 100,

	/* How long to look for ignored files that would have matched, in milliseconds; how many of
	 * them to count; and how many ignored entries to remember for that. */
	LIMIT_SEARCH_HINT_MS = 300,
	LIMIT_SEARCH_HINTS = 1000,
	LIMIT_SEARCH_HIDDEN = 4096,

	/* A command's script, and all of its arguments and variables together. */
	LIMIT_SCRIPT = 1 << 20,
	LIMIT_ARGUMENTS = 2 << 20,

	/* Memory a process has ready before it is told which command to start. */
	LIMIT_SPARE_MEMORY = 16 << 10,

	/* Memory for a command line that needs no shell; to a longer one the shell does not matter.
	 */
	LIMIT_PLAIN = 64 << 10,

	/* Variables added to a command's environment: each is looked for among all the others. */
	LIMIT_VARIABLES = 1024,

	/* Longest single argument the kernel takes (MAX_ARG_STRLEN with its NUL, 4 KiB pages). */
	LIMIT_ARGUMENT = (128 << 10) - 1,

	/* Commands running at once, kept ones included: places in the spawner's table. */
	LIMIT_COMMANDS = 512,

	/* SIGTERM, then this long until SIGKILL: enough to save state, short enough to wait for. */
	LIMIT_TERM_GRACE_MS = 5000,

	/* The same when the server itself is gone and nobody reads the output any more. */
	LIMIT_ORPHAN_GRACE_MS = 500,

	/* Starting a program takes no longer than running it may, and than this, each with the
	 * grace of SIGTERM: its file may lie where somebody keeps it from being opened. */
	LIMIT_START_MS = 60 * 1000,

	/* What the shell left running may end by itself for this long before it is a survivor, and
	 * after its SIGTERM for this long before SIGKILL: the answer waits for both. */
	LIMIT_LINGER_MS = 50,
	LIMIT_SURVIVOR_GRACE_MS = 100,

	/* A tree that cannot be killed (stuck in the kernel, or of another user) holds the answer
	 * up for this long; the pause between attempts. */
	LIMIT_KILL_PATIENCE_MS = 2000,
	LIMIT_KILL_PAUSE_MS = 5,

	/* Processes looked at in one round of ending a tree, and rounds before killing. */
	LIMIT_TREE = 1 << 17,
	LIMIT_STOP_ROUNDS = 16,

	/* Process numbers of every 64-bit kernel end here; looked through without /proc. */
	LIMIT_PID = 1 << 22,

	/* Processes of one command when no limit is set, and how often they are counted: a fork
	 * bomb adds a few thousand in that time, a large build has a few hundred. */
	LIMIT_PROCESSES = 2048,
	LIMIT_CENSUS_MS = 200,

	/* The largest limit an operator can set for commands, in its unit: a million, so that no
	 * unit overflows. */
	LIMIT_SETTING = 1000000,

	/* Survivors described in an answer: how many, and how much of each. */
	LIMIT_SURVIVORS = 16,
	LIMIT_SURVIVOR_TEXT = 256,
	LIMIT_SURVIVOR_PORTS = 8,
	LIMIT_SURVIVOR_SOCKETS = 1024,

	/* One read of a command's output, and what its pipe may hold: few wake-ups. */
	LIMIT_OUTPUT_CHUNK = 64 << 10,
	LIMIT_OUTPUT_PIPE = 256 << 10,

	/* Last words on stderr kept to see whether the sandbox refused something. */
	LIMIT_STDERR_TAIL = 4 << 10,

	/* How much more likely than the server a command is to be killed when memory runs out. */
	LIMIT_OOM_SCORE = 200,

	/* How old the count of kills for want of memory may be when a command starts. */
	LIMIT_OOM_AGE_MS = 1000,

	/* A variable that points into the private /tmp. */
	LIMIT_SANDBOX_VARIABLE = 4096 + 64,

	/* Background jobs remembered, running and ended; output kept of each, and given at once;
	 * how much before it can be seen to tell what the beginning is part of. */
	LIMIT_JOBS = 64,
	LIMIT_JOB_OUTPUT = 1 << 20,
	LIMIT_JOB_PIECE = 256 << 10,
	LIMIT_JOB_CONTEXT = 32 << 10,

	/* Whoever waits for a job looks this often whether the client is still there. */
	LIMIT_JOB_WAIT_MS = 100,

	/* A job's command line as it is listed. */
	LIMIT_JOB_TEXT = 256,

	/* Stack of a thread that only carries a job's output. */
	LIMIT_JOB_STACK = 256 << 10,

	/* The spawner answers at once; a silence this long means that it hangs. */
	LIMIT_SPAWNER_MS = 10000,

	/* What a model reads of a file in one call; larger ones are read by lines. */
	LIMIT_READ_FILE = 1 << 20,

	/* What is kept of each of a command's two outputs: about 13,000 tokens. */
	LIMIT_COMMAND_OUTPUT = 50 << 10,

	/* A model's command unless it asks for another time: it waits for the answer. */
	LIMIT_RUN_MS = 30 * 1000,

	/* Entries of a model's listing, and how deep directories may be nested in it. */
	LIMIT_LIST_ENTRIES = 500,
	LIMIT_LIST_DEPTH = 5,

	/* A model's search: matches unless it asks for another number, the most it may ask for,
	 * lines of context on each side, and bytes of all matches together. */
	LIMIT_SEARCH_MATCHES = 50,
	LIMIT_SEARCH_MOST = 1000,
	LIMIT_SEARCH_AROUND = 20,
	LIMIT_SEARCH_ANSWER = 256 << 10,

	/* Paths that a model may ask for at once. */
	LIMIT_FIND_MOST = 10000,

	/* Edits of one file in one call. */
	LIMIT_EDITS = 1000,

	/* Configured secrets to be scrubbed: shorter ones are found everywhere; longer ones, which
	 * URL-encoding makes three times as long, would hold a stream back for too much. */
	LIMIT_SCRUB_SECRET_MIN = 6,
	LIMIT_SCRUB_SECRET_MAX = 2048,
	LIMIT_SCRUB_SECRETS = 64,

	/* The operator's patterns: how many, and how long the counted part may be at least. */
	LIMIT_SCRUB_PATTERNS = 64,
	LIMIT_SCRUB_PATTERN_RUN = 1024,
	LIMIT_SCRUB_PATTERN_NAME = 32,

	/* How far into a token its digits are counted; parts of a URL before the host; an assigned
	 * value; the first part of a JWT. Each bounds what a stream holds back. */
	LIMIT_SCRUB_TOKEN_LOOK = 64,
	LIMIT_SCRUB_AUTHORITY = 256,
	LIMIT_SCRUB_VALUE = 256,
	LIMIT_SCRUB_JWT_HEAD = 1024,

	/* A private key: how soon its body or its end must show, and the longest body (RSA with
	 * 16384 bits has 12.5 KB). */
	LIMIT_SCRUB_KEY_PROOF = 512,
	LIMIT_SCRUB_KEY_BODY = 16 << 10,

	/* What is added to held text at once, and what a stream holds back with it at most: the
	 * longest spelling of a secret has six times its length. */
	LIMIT_SCRUB_STEP = 4 << 10,
	LIMIT_SCRUB_HELD = 32 << 10,

	/* A message to an MCP client (some hang up at 10 MiB); how long it may keep what we say of
	 * ourselves; calls that may take long, at once on one pipe. */
	LIMIT_MCP_MESSAGE = 9 << 20,
	LIMIT_MCP_CACHE_MS = 3600 * 1000,
	LIMIT_MCP_CALLS = 64,

	/* Progress: at most this often while there is output; without any first after this long,
	 * then that often (clients give up after 60 s, some after 10); without a taker a sign. */
	LIMIT_MCP_PROGRESS_MS = 250,
	LIMIT_MCP_FIRST_MS = 2 * 1000,
	LIMIT_MCP_SILENCE_MS = 5 * 1000,
	LIMIT_MCP_KEEP_ALIVE_MS = 15 * 1000,

	/* One such message: what a pipe takes at once (PIPE_BUF) with its newline; the line it
	 * shows; and how much of the output's end is kept for that. */
	LIMIT_MCP_PROGRESS = 4095,
	LIMIT_MCP_LINE = 200,
	LIMIT_MCP_TAIL = 1 << 10,

	/* Legacy sessions over HTTP: the one not used for longest makes room; and when our input
	 * has ended: how long calls may go on, and then may take to end. */
	LIMIT_MCP_SESSIONS = 1024,
	LIMIT_MCP_GRACE_MS = 1500,
	LIMIT_MCP_STOP_MS = 1500,

	/* Client: how long a sidecar may take to appear unless the host says otherwise, how often
	 * it is looked for, and how long the host may let it take. */
	LIMIT_READY_MS = 10000,
	LIMIT_READY_PAUSE_MS = 100,
	LIMIT_READY_MOST_MS = 24 * 3600 * 1000,

	/* Client: connections kept for the next call; an older one may be closed by the server at
	 * any moment (LIMIT_IDLE_MS), and is not used again. */
	LIMIT_IDLE_CONNECTIONS = 16,
	LIMIT_IDLE_REUSE_MS = 120 * 1000,

	/* Client: how often a call that only reads is made anew when its answer was lost. */
	LIMIT_REPEATS = 3,

	/* Client: what is read at once; the longest body that gets its memory because it is
	 * announced, before a byte of it has come; interim answers before the answer (nobody sends
	 * more than one); the largest answer, which may wrap one of LIMIT_ANSWER; a line of a
	 * stream. */
	LIMIT_CLIENT_READ = 64 << 10,
	LIMIT_CLIENT_AT_ONCE = 1 << 20,
	LIMIT_INTERIM = 8,
	LIMIT_CLIENT_ANSWER = 2 * (40 << 20),
	LIMIT_STREAM_LINE = 4 << 20,

	/* Client: JSON that an answer is made of, once it is parsed. */
	LIMIT_CLIENT_MEMORY = 256 << 20,

	/* Tools that metrics tell apart, 400 bytes each: those of the registry, with room for as
	 * many again. */
	LIMIT_METRIC_TOOLS = 48,

	/* What is kept of each output of a program whose caller wants all of it: both fit into one
	 * answer, also when every byte has to be escaped. */
	LIMIT_EXECUTE_OUTPUT = 3 << 20,

	/* Directories within each other that are removed as a tree; each holds a descriptor. */
	LIMIT_REMOVE_DEPTH = 256,

	/* multipart/form-data: the delimiter as RFC 2046 bounds it; the head of a part; parts. */
	LIMIT_MULTIPART_BOUNDARY = 70,
	LIMIT_MULTIPART_HEAD = 8 << 10,
	LIMIT_MULTIPART_PARTS = 64,

	/* What is in force, as JSON: three paths, each byte of which may have to be escaped. */
	LIMIT_FACTS = 128 << 10,

	/* A configuration file has a few dozen short values; and what two of them, parsed, take, or
	 * the configuration of a host. */
	LIMIT_CONFIG_FILE = 64 << 10,
	LIMIT_CONFIG_MEMORY = 4 << 20,

	/* Command line: how long a server may take to answer for the first time; a person waits. */
	LIMIT_CLI_READY_MS = 1000,

	/* How often a search tells how far it has come: what a person can read. */
	LIMIT_SEARCH_TELL_MS = 200,

	/* Doctor: how long links are swapped under an open; how long a server of its own may take
	 * to start; how long something that must be gone may take to go; how long an attacked
	 * server may be silent: longer than a search may take, unless that was changed. */
	LIMIT_PROVE_RACE_MS = 1000,
	LIMIT_PROVE_START_MS = 15000,
	LIMIT_PROVE_GONE_MS = 3000,
	LIMIT_PROVE_SILENCE_MS = 60000,

	/* How long a client's next request, over HTTP or MCP, is awaited without falling asleep. */
	LIMIT_AWAKE_US = 100,

	/* A socket that is still listened on this long belongs to a server that lives. */
	LIMIT_STALE_MS = 500,
};

#endif
