/* SPDX-License-Identifier: MIT */
/*
 * service: one running sidecar: its workspace, its guards, the runner of its commands, and what it
 * counts.
 *
 * `sidecar serve`, `sidecar mcp` and the client library's local mode each build one from the
 * configuration. It is constant after service_init, except for its counters and the state that its
 * parts lock themselves. Every call of every front end goes through dispatch (dispatch.h).
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/turns.h"
#include "config/config.h"
#include "exec/proc.h"
#include "sandbox/sandbox.h"
#include "scrub/scrub.h"
#include "service/audit.h"
#include "service/commands.h"
#include "service/history.h"
#include "service/limits.h"
#include "service/live.h"
#include "service/metrics.h"
#include "service/roster.h"
#include "tools/schema.h"
#include "tools/tool.h"

struct service {
	struct workspace *ws;
	struct tracker *tracker; /* NULL: files may be changed unread */
	struct policy *rules;	 /* which commands are refused */
	struct scrub *secrets;	 /* what is never shown in the log and to those who watch */
	struct scrub *scrub;	 /* the same for results; NULL: secrets stay in them */
	struct runner *runner;	 /* NULL: commands are refused, and sandbox.why says why */
	struct jobs *jobs;
	struct shells *shells;	 /* what sessions' shells keep */
	struct kept_store *kept; /* output of commands that was too long to be shown */
	struct sandbox_report sandbox;
	char held[256];		   /* one sentence for models: what holds commands */
	struct proc_limits limits; /* of every command */
	struct buf excludes;	   /* the user's own ignore rules */
	struct history history;	   /* the journal of changes */
	struct audit *audit;	   /* the record of all calls; or NULL */
	struct roster roster;	   /* the calls under way */
	struct live live;	   /* what is told of them to those who watch */
	struct call_shared shared; /* what every call has in common */
	struct call_news news;
	struct turns turns; /* of calls that compute */
	struct run_times model_times;
	struct str variables[LIMIT_COMMAND_VARIABLES]; /* of models' commands */
	size_t variable_count;

	/* As configured; the kind of a call decides what "auto" means (dispatch.c). */
	enum config_paths absolute_paths;
	enum config_reads read_before_write;
	unsigned tool_set; /* TOOL_CORE, TOOL_MODEL, or 0: as the format of definitions has it */
	struct schema_offer mcp; /* what MCP clients see */
	bool sized;		 /* the operator has said how long results may be */

	struct git_dirs git;
	struct hidden *hidden;	     /* what agents do not see; NULL: nothing */
	struct guard *guard;	     /* what a person's programs run; NULL: it is free */
	enum config_observe observe; /* whose commands are observed … */
	bool is_root;		     /* … and if that is to be found out: service_observes_all */
	bool scrub_files;	     /* secrets are taken out of what models read of files, too */
	bool quiet;		     /* calls are not logged */
	struct buf facts;	     /* what is in force, as members of a JSON object (health.h) */
	const char *kind;	     /* "serve", "mcp" or "local" */
	char client[128];	     /* of `sidecar mcp`: what its client calls itself; or "" */
	int64_t started_ms;
	_Atomic int64_t calls; /* numbers the calls in the log */
	_Atomic int64_t looks; /* how many of them only looked at what others have done */
	struct metrics metrics;
	struct scrub_counts scrubbed;
};

/* Make this process ready to serve, before it has threads. The signals in the set wait to be read
 * from a descriptor. A write to a client that left, or to a file that is too large, is an error and
 * not a death. The process may have as many descriptors as it can; the configuration keeps how many
 * it had, which is what commands get. There is one heap, and the log is as configured. */
void service_prepare_process(struct config *c, const sigset_t *signals);

/* What MCP clients see: the tools that the operator chose, or all, because clients choose
 * themselves. */
struct schema_offer service_mcp_offer(const struct config *c);

/* Build it, from a configuration that outlives it. If this fails, a workspace directory that was
 * made for it is removed again. */
int service_init(struct service *s, const struct config *c, struct err *e);

/* From now on calls and jobs can be watched. To be called before there are any. */
int service_show(struct service *s, struct err *e);

/* How many commands are running, those in the background included. */
int64_t service_commands(const struct service *s);

/* End what still runs and release everything. Accepts a zeroed one. */
void service_done(struct service *s);

/* Whether all commands are observed, or only those that the command policy judges. Where an observed
 * command cannot gain privileges, and nothing else takes these from it, programs like sudo would fail:
 * what is judged must not use them anyway, and root does not need them. */
static inline bool service_observes_all(const struct service *s)
{
	return s->observe == CONFIG_OBSERVE_ON || (s->observe == CONFIG_OBSERVE_AUTO &&
						   (s->sandbox.mode != SANDBOX_OFF || s->is_root));
}

#endif
