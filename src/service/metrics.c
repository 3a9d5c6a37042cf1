/* SPDX-License-Identifier: MIT */
/* metrics: the text of a scrape. */

#include "service/metrics.h"

#include <time.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/store.h"
#include "exec/tree.h"
#include "scrub/scrub.h"
#include "service/limits.h"
#include "tools/tool.h"

/* How long a call of each step takes at most, in microseconds; and in seconds, as a label. From what
 * a read takes to what a command may. */
static const struct {
	int64_t us;
	const char *seconds;
} metrics_steps[METRICS_STEPS - 1] = {
	{ 25, "2.5e-05" },  { 100, "0.0001" },	{ 250, "0.00025" }, { 1000, "0.001" },
	{ 5000, "0.005" },  { 25000, "0.025" }, { 100000, "0.1" },  { 500000, "0.5" },
	{ 2500000, "2.5" }, { 10000000, "10" }, { 60000000, "60" }, { 300000000, "300" },
};

static const char *name_at(size_t i)
{
	const struct tool *t = i < LIMIT_METRIC_TOOLS ? tool_at(i) : NULL;

	return t ? t->name : "unknown";
}

static uint64_t get(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

static void begin(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_calls(const struct metrics *m, struct buf *out)
{
	begin(out, "sidecar_tool_calls_total", "counter", "Calls of tools, by how they ended.");
	for (size_t i = 0; i <= LIMIT_METRIC_TOOLS; i++) {
		for (int code = 0; code < ERR_COUNT; code++) {
			const uint64_t n = get(&m->tools[i].ended[code]);
			if (n == 0)
				continue;
			buf_addf(out,
				 "sidecar_tool_calls_total{tool=\"%s\",outcome=\"%s\",code=\"%s\"} "
				 "%llu\n",
				 name_at(i), code == ERR_NONE ? "success" : "failure",
				 err_name((enum err_code)code), (unsigned long long)n);
		}
	}
}

static void write_durations(const struct metrics *m, struct buf *out)
{
	const char *name = "sidecar_tool_duration_seconds";

	begin(out, name, "histogram", "How long calls of tools took.");
	for (size_t i = 0; i <= LIMIT_METRIC_TOOLS; i++) {
		const struct metrics_tool *t = &m->tools[i];
		const char *tool = name_at(i);
		unsigned long long n = 0, all = 0;
		for (size_t step = 0; step < METRICS_STEPS; step++)
			all += get(&t->within[step]);
		if (all == 0)
			continue;
		for (size_t step = 0; step < ARRAY_LEN(metrics_steps); step++) {
			n += get(&t->within[step]);
			/* Those that ended since they were summed up belong to the next scrape. */
			buf_addf(out, "%s_bucket{tool=\"%s\",le=\"%s\"} %llu\n", name, tool,
				 metrics_steps[step].seconds, n < all ? n : all);
		}
		buf_addf(out, "%s_bucket{tool=\"%s\",le=\"+Inf\"} %llu\n", name, tool, all);
		buf_addf(out, "%s_sum{tool=\"%s\"} %.6f\n", name, tool, (double)get(&t->us) / 1e6);
		buf_addf(out, "%s_count{tool=\"%s\"} %llu\n", name, tool, all);
	}
}

/* Calls of all tools that ended with this code. */
static uint64_t ended_with(const struct metrics *m, enum err_code code)
{
	uint64_t n = 0;

	for (size_t i = 0; i <= LIMIT_METRIC_TOOLS; i++)
		n += get(&m->tools[i].ended[code]);
	return n;
}

static void write_one(struct buf *out, const char *name, const char *type, const char *help,
		      double value)
{
	if (value < 0)
		return;
	begin(out, name, type, help);
	buf_addf(out, "%s %.17g\n", name, value);
}

static void write_refusals(const struct metrics *m, struct buf *out)
{
	write_one(out, "sidecar_path_violations_total", "counter",
		  "Calls refused because their path leads outside the workspace.",
		  (double)(ended_with(m, ERR_PATH_OUTSIDE_WORKSPACE) +
			   ended_with(m, ERR_SYMLINK_OUTSIDE_WORKSPACE) +
			   ended_with(m, ERR_PATH_NOT_ALLOWED)));
	write_one(out, "sidecar_commands_blocked_total", "counter",
		  "Commands refused by the command policy.",
		  (double)ended_with(m, ERR_COMMAND_BLOCKED));
}

static void write_scrubbed(const struct scrub_counts *counts, struct buf *out)
{
	begin(out, "sidecar_scrubbed_total", "counter",
	      "Secrets taken out of what models see, by kind.");
	for (int kind = 0; kind < SCRUB_KIND_COUNT; kind++)
		buf_addf(out, "sidecar_scrubbed_total{kind=\"%s\"} %llu\n",
			 scrub_kind_name((enum scrub_kind)kind),
			 (unsigned long long)get(&counts->of[kind]));
}

static void write_traffic(const struct metrics_now *t, struct buf *out)
{
	write_one(out, "sidecar_connections", "gauge", "Connections that are open.",
		  (double)t->connections);
	begin(out, "sidecar_bytes_total", "counter", "Bytes received from and sent to clients.");
	buf_addf(out,
		 "sidecar_bytes_total{direction=\"in\"} %lld\n"
		 "sidecar_bytes_total{direction=\"out\"} %lld\n",
		 (long long)t->received, (long long)t->sent);
}

static void write_process(int64_t started_ms, const struct procfs_usage *u, struct buf *out)
{
	struct timespec clock;

	(void)clock_gettime(CLOCK_REALTIME, &clock);
	const int64_t now_ms = (int64_t)clock.tv_sec * 1000 + clock.tv_nsec / 1000000;
	/* Rounded, so that it is the same in every scrape. */
	const int64_t started = (now_ms - (io_now_ms() - started_ms) + 500) / 1000;

	write_one(out, "process_cpu_seconds_total", "counter",
		  "CPU time of the server itself, in user and system mode.",
		  (double)u->cpu_ms / 1e3);
	write_one(out, "process_resident_memory_bytes", "gauge", "Memory in use.",
		  (double)u->resident_bytes);
	write_one(out, "process_virtual_memory_bytes", "gauge", "Address space in use.",
		  (double)u->virtual_bytes);
	write_one(out, "process_open_fds", "gauge", "Open descriptors.", (double)u->open_fds);
	write_one(out, "process_max_fds", "gauge", "Descriptors that may be open.",
		  (double)u->max_fds);
	write_one(out, "process_start_time_seconds", "gauge", "When it was started, since 1970.",
		  (double)started);
}

void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
	struct procfs_usage u;

	procfs_usage(&u);
	write_calls(m, out);
	write_durations(m, out);
	write_one(out, "sidecar_commands_running", "gauge",
		  "Commands that run now, those in the background included.",
		  (double)now->commands);
	if (now->journal) {
		write_one(out, "sidecar_journal_bytes", "gauge",
			  "Bytes that were copied to undo changes.", (double)now->journal->bytes);
		write_one(out, "sidecar_journal_failing", "gauge",
			  "1 if the journal of changes could not be written at the last attempt.",
			  now->journal->failed != 0);
	}
	write_traffic(now, out);
	write_refusals(m, out);
	write_scrubbed(now->scrubbed, out);
	begin(out, "sidecar_build_info", "gauge", "The version that runs.");
	buf_addf(out, "sidecar_build_info{version=\"%s\"} 1\n", SIDECAR_VERSION);
	write_process(now->started_ms, &u, out);
}

/* Where the calls of a tool are counted. */
static struct metrics_tool *counts_of(struct metrics *m, const struct tool *t)
{
	size_t i = 0;

	while (tool_at(i) && tool_at(i) != t)
		i++;
	return &m->tools[tool_at(i) && i < LIMIT_METRIC_TOOLS ? i : LIMIT_METRIC_TOOLS];
}

static void add(_Atomic uint64_t *to, uint64_t n)
{
	(void)atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

void metrics_count(struct metrics *m, const struct tool *t, enum err_code code, int64_t us)
{
	struct metrics_tool *counts = counts_of(m, t);
	size_t step = 0;

	while (step < ARRAY_LEN(metrics_steps) && us > metrics_steps[step].us)
		step++;
	add(&counts->ended[code], 1);
	add(&counts->within[step], 1);
	add(&counts->us, (uint64_t)us);
}
