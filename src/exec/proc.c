/* SPDX-License-Identifier: MIT */
/* proc: send the order, pass the output on, read the report. */

#include "exec/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "exec/limits.h"

struct proc {
	int control;
	int output[2]; /* reading ends, by enum proc_stream; -1 after the end of the output */
	bool ending;   /* the reaper has been told to end the command */
	bool unwanted; /* the sink does not want any more output */
	bool one_pipe; /* stderr is in stdout */
	bool over;     /* every process has ended */
	struct proc_watch watch;
	struct proc_limits limits;
	char program[LIMIT_PROGRAM_TEXT]; /* for messages; "" if it is the shell */
	struct buf tail;		  /* the end of stderr */
	char *chunk;
};

void proc_free(struct proc *p)
{
	if (!p)
		return;
	if (p->watch.end)
		p->watch.end(p->watch.arg, p->over);
	fd_closep(&p->control);
	fd_closep(&p->output[PROC_STDOUT]);
	fd_closep(&p->output[PROC_STDERR]);
	buf_done(&p->tail);
	mem_free(p->chunk);
	mem_free(p);
}

static bool has_nul(struct str s)
{
	return str_index(s, '\0') >= 0;
}

static int check(const struct proc_request *q, struct err *e)
{
	if (!q->argc && (!q->command.n || has_nul(q->command)))
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid command");
	if (!q->argc && q->command.n > LIMIT_SCRIPT)
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			"The command is longer than %d bytes; write it to a file and run that",
			LIMIT_SCRIPT);
	if (q->input.n > LIMIT_STDIN)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "stdin has %zu bytes, the most is %d: write it to a file and let "
			       "the command read that",
			       q->input.n, LIMIT_STDIN);
	for (size_t i = 0; i < q->argc; i++)
		if (has_nul(q->argv[i]) || (i == 0 && !q->argv[0].n))
			return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid argv");
	if (q->env_count > LIMIT_VARIABLES)
		return err_set(e, ERR_INVALID_ARGUMENTS, "More than %d variables in env",
			       LIMIT_VARIABLES);
	for (size_t i = 0; i < q->env_count; i++)
		if (has_nul(q->env[i]) || str_index(q->env[i], '=') <= 0)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid env");
	return 0;
}

/* Bash or sh does these itself. Not among them: true and false, whose programs do the same. */
static bool is_of_shell(struct str word)
{
	static const char names[] =
		". : alias bg bind break builtin caller case cd chdir command compgen "
		"complete compopt continue coproc declare dirs disown do done echo elif "
		"else enable esac eval exec exit export fc fg fi for getopts function "
		"hash help history if in jobs kill let local logout mapfile popd printf "
		"pushd pwd read return select set shift readarray readonly shopt source "
		"suspend test then time times trap type typeset ulimit umask unalias "
		"unset until wait while";

	return str_is_listed(names, word);
}

/* The name of a program: not an assignment, and nothing like the job %1. */
static bool is_program_name(struct str word)
{
	return str_index(word, '=') < 0 && !strchr("-+:,@%", word.p[0]) && !is_of_shell(word);
}

/* These bytes mean themselves to every shell, at any place in a word. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_-+./:,@%=", c));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

size_t proc_plain_words(struct str line, struct arena *a, struct str **ret)
{
	size_t count = 0;

	while (line.n && (is_blank(line.p[0]) || line.p[0] == '\n'))
		line = str_from(line, 1);
	while (line.n && (is_blank(line.p[line.n - 1]) || line.p[line.n - 1] == '\n'))
		line.n--;
	for (size_t i = 0; i < line.n; i++)
		if (!is_plain(line.p[i]) && !is_blank(line.p[i]))
			return 0;
	struct str *words = arena_array(a, line.n / 2 + 1, sizeof *words);
	for (size_t i = 0, n; words && i < line.n; i += n) {
		for (n = 0; i + n < line.n && !is_blank(line.p[i + n]); n++)
			;
		words[count++] = (struct str){ line.p + i, n };
		while (i + n < line.n && is_blank(line.p[i + n]))
			n++;
	}
	if (count == 0 || !is_program_name(words[0]))
		return 0;
	*ret = words;
	return count;
}

/* The order's strings: the directory's name, the arguments, the words of a line that needs no
 * shell, the variables. */
static int make_strings(const struct proc_request *q, struct order *order, struct err *e)
{
	AUTO_ARENA arena = { .max = LIMIT_PLAIN };
	struct str *words;
	AUTO_BUF b = { .max = LIMIT_ARGUMENTS };
	char link[32], name[4096];

	/* A name that cannot be read or is too long stays empty. Only a sandbox with its own mounts
	 * needs it; there the command will fail. */
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", q->cwd_fd);
	const ssize_t n = readlink(link, name, sizeof(name));
	strings_add(&b, (struct str){ name, n > 0 && n < (ssize_t)sizeof(name) ? (size_t)n : 0 });
	for (size_t i = 0; i < q->argc; i++)
		strings_add(&b, q->argv[i]);
	if (order->shell && !order->script) {
		strings_add(&b, q->command);
		order->words = (uint32_t)proc_plain_words(q->command, &arena, &words);
	}
	for (size_t i = 0; i < order->words; i++)
		strings_add(&b, words[i]);
	for (size_t i = 0; i < q->env_count; i++)
		strings_add(&b, q->env[i]);
	if (b.failed)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The arguments and variables are longer than %d bytes together",
			       LIMIT_ARGUMENTS);
	const int fd = message_memfd("order", buf_str(&b));
	return fd < 0 ? err_set(e, ERR_SPAWN_FAILED, "No memory to hand the command over") : fd;
}

static int make_pipe(int *reading, int *writing)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	*reading = p[0];
	*writing = p[1];
	/* If this is refused there are only more wake-ups. */
	(void)fcntl(p[1], F_SETPIPE_SZ, LIMIT_OUTPUT_PIPE);
	return fcntl(p[0], F_SETFL, O_NONBLOCK);
}

static int submit(struct proc *p, struct runner *runner, const struct proc_request *q,
		  struct err *e)
{
	static const char none[] = "The server has no descriptor left for the command's output";
	AUTO_FD out = -1;
	AUTO_FD err = -1;
	AUTO_FD script = -1;
	AUTO_FD input = -1;
	int pair[2];

	if (make_pipe(&p->output[PROC_STDOUT], &out) < 0 ||
	    (!q->one_pipe && make_pipe(&p->output[PROC_STDERR], &err) < 0) ||
	    message_pair(pair) < 0)
		return err_set(e, ERR_SPAWN_FAILED, "%s", none);
	p->control = pair[0];
	AUTO_FD control = pair[1];
	struct order order = {
		.timeout_ms = q->timeout_ms < INT64_MAX / 2 ? q->timeout_ms : 0,
		.limits = q->limits,
		.argc = q->argc ? (uint32_t)q->argc : q->command.n <= LIMIT_ARGUMENT,
		.umask = (uint32_t)q->umask,
		.shell = !q->argc,
		.script = !q->argc && q->command.n > LIMIT_ARGUMENT,
		.input = q->input.p || q->input_fd,
		.watch = q->watch.begin,
		.survivors = q->survivors,
	};
	AUTO_FD strings = make_strings(q, &order, e);
	if (strings < 0)
		return -1;
	if ((order.script && (script = message_memfd("script", q->command)) < 0) ||
	    (q->input.p && (input = message_memfd("stdin", q->input)) < 0))
		return err_set(e, ERR_SPAWN_FAILED, "%s", none);
	const int fds[] = {
		[ORDER_CONTROL] = control,
		[ORDER_OUT] = out,
		[ORDER_ERR] = q->one_pipe ? out : err,
		[ORDER_CWD] = q->cwd_fd,
		[ORDER_STRINGS] = strings,
		[ORDER_SCRIPT] = order.script ? script : strings, /* gaps cannot be sent */
		[ORDER_STDIN] = q->input_fd   ? *q->input_fd
				: order.input ? input
					      : strings,
		[ORDER_OUT_READ] = p->output[PROC_STDOUT],
		[ORDER_ERR_READ] = p->output[q->one_pipe ? PROC_STDOUT : PROC_STDERR],
	};
	const bool keep = order.survivors == SURVIVORS_KEEP;
	const size_t count = keep	    ? ARRAY_LEN(fds)
			     : order.input  ? ORDER_STDIN + 1
			     : order.script ? ORDER_SCRIPT + 1
					    : ORDER_STRINGS + 1;
	return runner_send(runner, &order, fds, count, e);
}

bool proc_demand(struct proc *p, enum reaper_demand demand)
{
	const char byte = (char)demand;

	return message_send(p->control, &byte, 1, NULL, 0, 0) == 0;
}

static void end_command(struct proc *p)
{
	if (p->ending)
		return;
	p->ending = true;
	(void)proc_demand(p, REAPER_END);
}

static void keep_tail(struct proc *p, struct str piece)
{
	const size_t max = p->tail.max;

	if (piece.n > max / 2)
		piece = str_from(piece, piece.n - max / 2);
	if (p->tail.n + piece.n > max)
		buf_drop(&p->tail, p->tail.n + piece.n - max);
	buf_add(&p->tail, piece);
}

/* Pass on what is in one pipe now, at most one chunk. False if it is empty. */
static bool carry(struct proc *p, const struct proc_sink *sink, enum proc_stream stream)
{
	const ssize_t n = read(p->output[stream], p->chunk, LIMIT_OUTPUT_CHUNK);

	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		fd_closep(&p->output[stream]);
		return false;
	}
	const struct str piece = { p->chunk, (size_t)n };
	if (stream == PROC_STDERR || p->one_pipe)
		keep_tail(p, piece);
	if (!p->unwanted && sink->write(sink->arg, stream, piece) < 0) {
		p->unwanted = true;
		end_command(p);
	}
	return true;
}

/* Hand the listener to the one who watches; if that fails, the reaper lets the calls go. */
static void begin_watch(struct proc *p, int listener)
{
	if (listener >= 0 && !p->watch.begin(p->watch.arg, listener))
		(void)proc_demand(p, REAPER_LET_GO);
}

/* Pass output on until a report arrives. */
static int carry_until_report(struct proc *p, const struct proc_sink *sink, int cancel,
			      struct reaper_report *report, struct err *e)
{
	int fds[MESSAGE_FDS];

	for (;;) {
		struct pollfd poll_fds[] = {
			{ .fd = p->output[PROC_STDOUT], .events = POLLIN },
			{ .fd = p->output[PROC_STDERR], .events = POLLIN },
			{ .fd = p->control, .events = POLLIN },
			{ .fd = p->ending ? -1 : cancel, .events = POLLIN },
		};
		if (poll(poll_fds, ARRAY_LEN(poll_fds), -1) < 0 && errno != EINTR)
			return err_errno(e, "The command's output could not be waited for");
		if (poll_fds[3].revents)
			end_command(p);
		const bool is_report = poll_fds[2].revents;
		if (is_report &&
		    message_recv(p->control, report, sizeof(*report), fds) != sizeof(*report))
			break;
		/* Before any output: the sink may block, and the calls would wait for it. */
		if (is_report && report->event == REAPER_LISTENS)
			begin_watch(p, fds[0]);
		if (poll_fds[0].revents)
			(void)carry(p, sink, PROC_STDOUT);
		if (poll_fds[1].revents)
			(void)carry(p, sink, PROC_STDERR);
		if (is_report && report->event != REAPER_LISTENS)
			return 0;
	}
	return err_set(e, ERR_SPAWN_FAILED,
		       "The process that runs commands died while this one ran; it is started "
		       "again with the next command");
}

/* All writers have ended, or are survivors: what is in the pipes now is all that the command wrote.
 */
static void drain(struct proc *p, const struct proc_sink *sink)
{
	for (int stream = PROC_STDOUT; stream <= PROC_STDERR; stream++) {
		size_t left = 2 * LIMIT_OUTPUT_PIPE / LIMIT_OUTPUT_CHUNK;
		/* A survivor may write forever: a full pipe is enough. */
		while (p->output[stream] >= 0 && left-- && carry(p, sink, (enum proc_stream)stream))
			;
	}
}

/* How programs report that they were refused memory or a process. */
static const char *const memory_words[] = { "annot allocate memory",
					    "emory exhausted",
					    "ut of memory",
					    "MemoryError",
					    "bad_alloc",
					    "ENOMEM",
					    NULL };
static const char *const process_words[] = { "Resource temporarily unavailable", "Cannot fork",
					     "EAGAIN", NULL };

static bool tail_has(const struct proc *p, const char *const *words)
{
	while (*words && str_find(buf_str(&p->tail), str_of(*words)) < 0)
		words++;
	return *words != NULL;
}

/* Only the command itself sees some refusals: all we have is what it wrote when it failed. */
static void guess_reason(const struct proc *p, struct proc_result *ret)
{
	const struct proc_limits *l = &p->limits;

	if (ret->exit_code == 0 || ret->limit != PROC_LIMIT_NONE)
		return;
	if (l->address_space_bytes > 0 && tail_has(p, memory_words))
		ret->limit = PROC_LIMIT_MEMORY;
	else if (l->processes > 0 && tail_has(p, process_words))
		ret->limit = PROC_LIMIT_PROCESSES;
}

static struct proc *proc_new(const struct proc_request *q)
{
	struct proc *p = mem_new(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct proc){ .control = -1,
			    .output = { -1, -1 },
			    .one_pipe = q->one_pipe,
			    .limits = q->limits,
			    .tail = { .max = LIMIT_STDERR_TAIL },
			    .chunk = mem_new(LIMIT_OUTPUT_CHUNK, 1) };
	if (q->argc)
		(void)snprintf(p->program, sizeof(p->program), "%.*s", STR_FMT(q->argv[0]));
	if (p->chunk)
		return p;
	proc_free(p);
	return NULL;
}

int proc_admit(struct runner *runner, const struct proc_request *q, struct err *e)
{
	return check(q, e) < 0 ? -1 : runner_enter(runner, e);
}

int proc_start(struct runner *runner, const struct proc_request *q, struct proc **ret,
	       struct err *e)
{
	struct proc *p = proc_new(q);

	if (!p) {
		if (q->watch.end)
			q->watch.end(q->watch.arg, true);
		return err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for the command");
	}
	p->watch = q->watch;
	p->over = true; /* nothing runs yet */
	if (submit(p, runner, q, e) < 0) {
		proc_free(p);
		return -1;
	}
	p->over = false;
	*ret = p;
	return 0;
}

/* Whether no process of the command is left. */
static bool has_ended(const struct reaper_report *r)
{
	const bool kept = r->result.fate == SURVIVORS_KEEP && r->result.survivor_count;

	return r->event == REAPER_ENDED && !r->result.stuck && !kept;
}

int proc_follow(struct proc *p, const struct proc_sink *sink, struct cancel *cancel,
		struct reaper_report *ret, struct err *e)
{
	struct reaper_report report;
	const int asked = cancel_fd(cancel);

	if (cancel && asked < 0)
		return err_errno(e, "The command cannot be made to end when it is not wanted");
	if (carry_until_report(p, sink, asked, &report, e) < 0)
		return -1;
	if (report.failed != LAUNCH_DONE)
		return launch_error(e, report.failed, report.error, str_of(p->program));
	p->over = has_ended(&report);
	if (report.event != REAPER_LISTED) {
		drain(p, sink);
		guess_reason(p, &report.result);
	}
	*ret = report;
	return 0;
}

void proc_finish(struct proc *p, const struct proc_sink *sink)
{
	struct reaper_report report;
	struct err ignored; /* everything has ended then, too */

	end_command(p);
	do
		if (proc_follow(p, sink, NULL, &report, &ignored) < 0)
			break;
	while (report.event != REAPER_ENDED);
	proc_free(p);
}

int proc_run_admitted(struct runner *runner, const struct proc_request *q,
		      const struct proc_sink *sink, struct cancel *cancel, struct proc **left,
		      struct proc_result *ret, struct err *e)
{
	struct reaper_report report;
	struct proc *p = NULL;

	int done = proc_start(runner, q, &p, e);
	if (done == 0)
		done = proc_follow(p, sink, cancel, &report, e);
	runner_leave(runner);
	if (done < 0) {
		proc_free(p);
		return -1;
	}
	if (report.event != REAPER_LEFT) {
		proc_free(p);
		p = NULL;
	}
	*left = p;
	*ret = report.result;
	return 0;
}

const char *proc_limit_name(enum proc_limit limit)
{
	static const char *const names[] = {
		[PROC_LIMIT_NONE] = "none",	[PROC_LIMIT_TIME] = "timeout",
		[PROC_LIMIT_CPU] = "cpu",	[PROC_LIMIT_FILE] = "file_size",
		[PROC_LIMIT_MEMORY] = "memory", [PROC_LIMIT_PROCESSES] = "processes",
	};

	return names[limit];
}

const char *proc_signal_name(int signal)
{
	static const char *const names[] = {
		[SIGHUP] = "SIGHUP",	   [SIGINT] = "SIGINT",	      [SIGQUIT] = "SIGQUIT",
		[SIGILL] = "SIGILL",	   [SIGTRAP] = "SIGTRAP",     [SIGABRT] = "SIGABRT",
		[SIGBUS] = "SIGBUS",	   [SIGFPE] = "SIGFPE",	      [SIGKILL] = "SIGKILL",
		[SIGUSR1] = "SIGUSR1",	   [SIGSEGV] = "SIGSEGV",     [SIGUSR2] = "SIGUSR2",
		[SIGPIPE] = "SIGPIPE",	   [SIGALRM] = "SIGALRM",     [SIGTERM] = "SIGTERM",
		[SIGCHLD] = "SIGCHLD",	   [SIGCONT] = "SIGCONT",     [SIGSTOP] = "SIGSTOP",
		[SIGTSTP] = "SIGTSTP",	   [SIGTTIN] = "SIGTTIN",     [SIGTTOU] = "SIGTTOU",
		[SIGURG] = "SIGURG",	   [SIGXCPU] = "SIGXCPU",     [SIGXFSZ] = "SIGXFSZ",
		[SIGPROF] = "SIGPROF",	   [SIGVTALRM] = "SIGVTALRM", [SIGWINCH] = "SIGWINCH",
		[SIGIO] = "SIGIO",	   [SIGPWR] = "SIGPWR",	      [SIGSYS] = "SIGSYS",
		[SIGSTKFLT] = "SIGSTKFLT",
	};

	if (signal <= 0)
		return "";
	if ((size_t)signal < ARRAY_LEN(names) && names[signal])
		return names[signal];
	return "a real-time signal";
}
