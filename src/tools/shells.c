/* SPDX-License-Identifier: MIT */
/* shells: a table of states, and the script that takes one over and leaves the next. */

#include "tools/shells.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

struct shell {
	struct buf session; /* whose it is */
	bool taken;	    /* there is a session in this place */
	struct buf state;
	unsigned generation; /* of the workspace, when the state was left */
	uint64_t restarts;
	struct cancel *running; /* of the command that has its turn; NULL: it cannot be asked */
	bool busy;		/* a command has its turn */
	size_t waiting;		/* calls that wait for theirs */
	int64_t used_ms;
	uint64_t jobs[LIMIT_SHELL_JOBS]; /* a ring */
	size_t job_count;
	uint64_t epoch; /* restarts when the command began */
};

struct shells {
	pthread_mutex_t lock;
	pthread_cond_t free; /* a command has ended */
	struct shell table[LIMIT_SHELLS];
	uint64_t dropped[LIMIT_SHELLS_DROPPED]; /* a ring of hashes of sessions; 0: none */
	size_t dropped_count;
};

struct shells *shells_new(void)
{
	struct shells *s = mem_new(1, sizeof *s);
	pthread_condattr_t attr;

	if (!s)
		return NULL;
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&s->free, &attr);
	(void)pthread_condattr_destroy(&attr);
	return s;
}

static void forget(struct shell *h)
{
	buf_done(&h->state);
	buf_done(&h->session);
	*h = (struct shell){ .taken = false };
}

void shells_free(struct shells *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < LIMIT_SHELLS; i++)
		forget(&s->table[i]);
	(void)pthread_cond_destroy(&s->free);
	(void)pthread_mutex_destroy(&s->lock);
	mem_free(s);
}

static struct shell *find(struct shells *s, struct str session)
{
	for (size_t i = 0; i < LIMIT_SHELLS; i++)
		if (s->table[i].taken && str_eq(buf_str(&s->table[i].session), session))
			return &s->table[i];
	return NULL;
}

static uint64_t hash_of(struct str session)
{
	return XXH3_64bits(session.p, session.n) | 1;
}

/* Whether the shell of a session that has no place was dropped. It is told once. */
static bool was_dropped(struct shells *s, struct str session)
{
	const uint64_t hash = hash_of(session);

	for (size_t i = 0; i < LIMIT_SHELLS_DROPPED && i < s->dropped_count; i++)
		if (s->dropped[i] == hash) {
			s->dropped[i] = 0;
			return true;
		}
	return false;
}

/* The place of a session; a new one gets the place that was used least recently. NULL if commands
 * run in all of them. */
static struct shell *place_of(struct shells *s, struct str session)
{
	struct shell *h = find(s, session);

	if (h)
		return h;
	for (size_t i = 0; i < LIMIT_SHELLS; i++) {
		struct shell *other = &s->table[i];
		if (!other->busy && !other->waiting &&
		    (!h || !other->taken || (h->taken && other->used_ms < h->used_ms)))
			h = other;
	}
	if (!h)
		return NULL;
	if (h->state.n)
		s->dropped[s->dropped_count++ % LIMIT_SHELLS_DROPPED] =
			hash_of(buf_str(&h->session));
	forget(h);
	h->session.max = session.n + 1;
	h->state.max = LIMIT_SHELL_STATE;
	buf_add(&h->session, session);
	h->taken = !h->session.failed;
	return h->taken ? h : NULL;
}

/* Wait for a moment; false if the call is not wanted any more. */
static bool wait_for_turn(struct shells *s, struct shell *h, const struct cancel *cancel)
{
	const int64_t until = io_now_ms() + LIMIT_SHELL_LOOK_MS;
	const struct timespec t = { .tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000 };

	h->waiting++;
	(void)pthread_cond_timedwait(&s->free, &s->lock, &t);
	h->waiting--;
	return !cancel_asked(cancel);
}

/* How large the file is with a state in it: a multiple of what shells count in. */
static int64_t file_size(struct str state)
{
	return (int64_t)(state.n + 1 + LIMIT_SHELL_STATE) / 1024 * 1024;
}

/* A file in memory with the state, and room for the next one after it. Its size is fixed, so a
 * command cannot fill the memory through it. */
static int make_file(struct str state)
{
	AUTO_FD fd = memfd_create("shell", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)file_size(state)) < 0 ||
	    pwrite(fd, state.p, state.n, 0) != (ssize_t)state.n ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return -1;
	return TAKE(fd, -1);
}

int shells_begin(struct shells *s, struct str session, unsigned generation, struct cancel *cancel,
		 struct shell_turn *ret, struct err *e)
{
	bool wanted = true;

	if (session.n > LIMIT_SESSION_NAME)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The name of the session has %zu bytes, the longest is %d",
			       session.n, LIMIT_SESSION_NAME);
	(void)pthread_mutex_lock(&s->lock);
	const bool dropped = !find(s, session) && was_dropped(s, session);
	struct shell *h = dropped ? NULL : place_of(s, session);
	while (h && h->busy && wanted)
		wanted = wait_for_turn(s, h, cancel);
	if (h && wanted) {
		if (h->generation != generation)
			buf_reset(&h->state, 0);
		h->busy = true;
		h->generation = generation;
		h->running = cancel;
		h->epoch = h->restarts;
	}
	(void)pthread_mutex_unlock(&s->lock);
	if (dropped)
		return err_set(e, ERR_EXECUTION_ERROR,
			       "Not run: the shell of this session is gone with its directory and "
			       "variables, because %d other sessions have used theirs since. The "
			       "next command begins a new one in the root of the workspace.",
			       LIMIT_SHELLS);
	if (!h)
		return err_set(e, ERR_TOO_BUSY,
			       "Commands run in the shells of %d sessions already, try again later",
			       LIMIT_SHELLS);
	if (!wanted)
		return err_set(e, ERR_EXECUTION_ERROR, "%s", cancel_sentence(cancel));
	/* While it is busy, only this call changes the state, but for a restart, which waits. */
	*ret = (struct shell_turn){ h, buf_str(&h->state), make_file(buf_str(&h->state)) };
	if (ret->fd >= 0)
		return 0;
	(void)shells_end(s, ret, false, 0);
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for the shell, try again");
}

/*
 * The shell's own part of a command, on one line before it. $1 is the command; the state puts the
 * options into $2, which are set after everything else, and into $3 whether it is traced. The file
 * is not seen by the command: it is closed for it, and the shell's own copy is close-on-exec. A
 * trap leaves the state also after `exit`; a command with an EXIT trap of its own leaves it before
 * that runs. Tracing (set -x) shows nothing of this. A state that is too large ends the part that
 * writes it (ulimit -f), before it has written the mark at its end.
 */
#define SAVE_BASH                                                                                  \
	"; exec 9<&0 </dev/null; __sidecar_save() { ( "                                            \
	"if [ -n \"${BASH_VERSION-}\" ]; then "                                                    \
	"printf \"set -- \\\"\\$1\\\" '\"; shopt -p; set +o; "                                     \
	"printf \"'\\ncase \\$2 in *'set -o xtrace'*) "                                            \
	"set -- \\\"\\$1\\\" \\\"\\${2/set -o xtrace/:}\\\" 'set -x';; esac\\n\"; "                \
	"set +euxv +o posix; ulimit -f \"$(("
#define SAVE_SH                                                                                    \
	" / 1024))\"; ulimit -c 0; unset -f __sidecar_save; "                                      \
	"printf 'unset -v $(compgen -e)\\ncd -- %q 2>/dev/null || "                                \
	"echo \"bash: the directory of the shell is gone\" >&2\\n' \"$PWD\"; umask -p; "           \
	"compgen -v | while IFS= read -r __sidecar_name; do case $__sidecar_name in "              \
	"BASH*|SHELLOPTS|PPID|UID|EUID|PWD|_|FUNCNAME|GROUPS|DIRSTACK|RANDOM|SRANDOM|SECONDS|"     \
	"LINENO|EPOCH*|HISTCMD|PIPESTATUS|SHLVL|COMP_*|__sidecar_*) ;; "                           \
	"*) declare -p \"$__sidecar_name\";; esac; done; "                                         \
	"alias -p; printf 'shopt -s extglob\\n'; declare -f; declare -Fx; "                        \
	"else set +euxv; ulimit -f \"$(("
#define TAKE_OVER                                                                                  \
	" / 512))\"; set; export -p; printf 'cd -- \"$PWD\"\\numask %s\\n' \"$(umask)\"; "         \
	"fi; printf '\\n#end\\n' ) >&9 2>/dev/null; }; "                                           \
	"if [ -n \"${BASH_VERSION-}\" ]; then IFS= read -r -d '' __sidecar_state <&9; "            \
	"else __sidecar_state=$(dd count=1 2>/dev/null <&9 bs="
#define RUN                                                                                        \
	"); fi; eval \"unset -v __sidecar_state; $__sidecar_state\"; "                             \
	"trap '{ __sidecar_save; } 2>/dev/null' EXIT; "                                            \
	"eval \"${2:-:}\"; eval \"set --; ${3:-:}; $1\" 9>&-; "                                    \
	"{ set -- \"$?\"; case $(trap) in *__sidecar_save*) ;; *) __sidecar_save ;; esac; exit "   \
	"\"$1\"; } "                                                                               \
	"2>/dev/null"
static const struct str end_mark = STR("\n#end\n");

void shells_script(const struct shell_turn *t, struct str command, struct buf *out)
{
	struct str part;

	buf_add(out, STR(SHELLS_SCRIPT));
	while (str_cut(command, '\'', &part, &command)) {
		buf_add(out, part);
		buf_add(out, STR("'\\''"));
	}
	buf_add(out, part);
	buf_addc(out, '\'');
	buf_add(out, STR(SAVE_BASH));
	buf_addi(out, file_size(t->state));
	buf_add(out, STR(SAVE_SH));
	buf_addi(out, file_size(t->state));
	buf_add(out, STR(TAKE_OVER));
	buf_addi(out, (int64_t)t->state.n + 1);
	buf_add(out, STR(RUN));
}

/* Take the state that a command left after the one that it took over. */
static bool take_state(struct shell *h, int fd)
{
	const size_t before = h->state.n + 1;
	AUTO_BUF left = { .max = LIMIT_SHELL_STATE + 1 };
	char *to = buf_room(&left, LIMIT_SHELL_STATE);
	const ssize_t n = to ? pread(fd, to, LIMIT_SHELL_STATE, (off_t)before) : -1;

	if (n <= 0)
		return false;
	buf_filled(&left, (size_t)n);
	const ptrdiff_t zero = str_index(buf_str(&left), '\0');
	left.n = zero < 0 ? left.n : (size_t)zero;
	if (!str_ends(buf_str(&left), end_mark))
		return false;
	buf_reset(&h->state, 0);
	buf_add(&h->state, buf_str(&left));
	return !h->state.failed;
}

bool shells_end(struct shells *s, struct shell_turn *t, bool keep, uint64_t job)
{
	struct shell *h = t->shell;
	bool kept = false;

	if (keep)
		kept = take_state(h, t->fd);
	fd_closep(&t->fd);
	(void)pthread_mutex_lock(&s->lock);
	h->running = NULL;
	h->busy = false;
	h->used_ms = io_now_ms();
	if (job)
		h->jobs[h->job_count++ % LIMIT_SHELL_JOBS] = job;
	if (h->epoch != h->restarts)
		buf_reset(&h->state, 0);
	(void)pthread_cond_broadcast(&s->free);
	(void)pthread_mutex_unlock(&s->lock);
	return kept;
}

size_t shells_restart(struct shells *s, struct str session, uint64_t jobs[LIMIT_SHELL_JOBS])
{
	size_t n = 0;

	(void)pthread_mutex_lock(&s->lock);
	struct shell *h = find(s, session);
	(void)was_dropped(s, session); /* a new one is what is wanted */
	if (h) {
		n = h->job_count < LIMIT_SHELL_JOBS ? h->job_count : LIMIT_SHELL_JOBS;
		memcpy(jobs, h->jobs, n * sizeof *jobs);
		h->job_count = 0;
		h->restarts++;
		if (!h->busy)
			buf_reset(&h->state, 0);
		else if (h->running)
			cancel_ask(h->running);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return n;
}
