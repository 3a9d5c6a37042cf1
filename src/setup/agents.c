/* SPDX-License-Identifier: MIT */
/* agents: the table. */

#include "setup/agents.h"

/* Claude Code: a deny rule takes a tool out of the model's sight; the hook refuses every tool that
 * is not named in it, so that a tool of a later version is refused too. Both count in a project
 * that is not trusted; an allow rule does not. */
#define CLAUDE_HARMLESS                                                                            \
	"Agent|Task|TaskCreate|TaskGet|TaskList|TaskUpdate|TaskStop|TodoWrite|AskUserQuestion|"    \
	"EnterPlanMode|ExitPlanMode|WebFetch|WebSearch|ToolSearch|SendMessage|ReportFindings|"     \
	"ScheduleWakeup"
#define CLAUDE_HOOK                                                                                \
	"{\"matcher\":\"^(?!mcp__sidecar__|(" CLAUDE_HARMLESS ")$)\",\"hooks\":[{\"type\":"        \
	"\"command\",\"command\":\"echo 'Not available here: use the tools of mcp__sidecar.'"      \
	" >&2; exit 2\"}]}"
/* Claude Code takes up changed settings while it runs: a model could change them through the
 * sidecar. This hook makes it keep those it has started with. */
#define CLAUDE_KEEP                                                                                \
	"{\"matcher\":\"project_settings|local_settings\",\"hooks\":[{\"type\":\"command\","       \
	"\"command\":\"echo 'sidecar setup: other settings count from the next start.' >&2; "      \
	"exit 2\"}]}"
#define CLAUDE_DENY(tool)                                                                          \
	{                                                                                          \
		ROW_ITEM, ROW_HOLDS, 1, { "permissions", "deny" }, "\"" tool "\""                  \
	}

static const struct agent_row claude_rows[] = {
	{ ROW_SERVER, 0, 0, { "mcpServers", "sidecar" }, "{\"command\":\"@\",\"args\":[\"mcp\"]}" },
	{ ROW_ITEM, ROW_PROJECT, 1, { "enabledMcpjsonServers" }, "\"sidecar\"" },
	{ ROW_ITEM, ROW_HOLDS | ROW_EASES, 1, { "permissions", "allow" }, "\"mcp__sidecar\"" },
	CLAUDE_DENY("Bash"),
	CLAUDE_DENY("PowerShell"),
	CLAUDE_DENY("Monitor"),
	CLAUDE_DENY("Read"),
	CLAUDE_DENY("Edit"),
	CLAUDE_DENY("Write"),
	CLAUDE_DENY("NotebookEdit"),
	CLAUDE_DENY("Glob"),
	CLAUDE_DENY("Grep"),
	CLAUDE_DENY("LSP"),
	CLAUDE_DENY("Skill"),
	CLAUDE_DENY("Workflow"),
	CLAUDE_DENY("EnterWorktree"),
	CLAUDE_DENY("ExitWorktree"),
	CLAUDE_DENY("CronCreate"),
	CLAUDE_DENY("CronDelete"),
	CLAUDE_DENY("CronList"),
	CLAUDE_DENY("TaskOutput"),
	{ ROW_ITEM, ROW_HOLDS, 1, { "hooks", "PreToolUse" }, CLAUDE_HOOK },
	{ ROW_ITEM, ROW_HOLDS, 1, { "hooks", "ConfigChange" }, CLAUDE_KEEP },
	{ ROW_NEVER, ROW_HOLDS, 1, { "disableAllHooks" }, "true" },
	{ .value = NULL },
};

/* Codex has no switch for apply_patch: its read-only sandbox refuses it, and it does not ask. */
static const struct agent_row codex_rows[] = {
	{ ROW_SERVER, 0, 0, { "mcp_servers", "sidecar", "command" }, "\"@\"", "[\"mcp\"]" },
	{ ROW_VALUE,
	  ROW_HOLDS | ROW_EASES,
	  0,
	  { "mcp_servers", "sidecar", "default_tools_approval_mode" },
	  "\"approve\"" },
	{ ROW_VALUE, ROW_HOLDS, 0, { "sandbox_mode" }, "\"read-only\"" },
	{ ROW_VALUE, ROW_HOLDS, 0, { "approval_policy" }, "\"never\"" },
	{ ROW_VALUE, ROW_HOLDS, 0, { "features", "shell_tool" }, "false" },
	{ ROW_VALUE, ROW_HOLDS, 0, { "features", "unified_exec" }, "false" },
	{ ROW_VALUE, ROW_HOLDS, 0, { "features", "view_image" }, "false" },
	{ ROW_VALUE,
	  ROW_HOLDS | ROW_PROJECT | ROW_TRUST,
	  1,
	  { "projects", "@", "trust_level" },
	  "\"trusted\"" },
	{ .value = NULL },
};

/* A list of allowed tools: what it does not name does not exist, also in later versions. */
static const struct agent_row gemini_rows[] = {
	{ ROW_SERVER, 0, 0, { "mcpServers", "sidecar" }, "{\"command\":\"@\",\"args\":[\"mcp\"]}" },
	{ ROW_VALUE, ROW_HOLDS | ROW_EASES, 0, { "mcpServers", "sidecar", "trust" }, "true" },
	{ ROW_VALUE, ROW_HOLDS, 0, { "mcp", "allowed" }, "[\"sidecar\"]" },
	{ ROW_VALUE,
	  ROW_HOLDS,
	  0,
	  { "tools", "core" },
	  "[\"mcp_sidecar_*\",\"write_todos\",\"google_web_search\"]" },
	{ .value = NULL },
};

static const struct agent_row qwen_rows[] = {
	{ ROW_SERVER, 0, 0, { "mcpServers", "sidecar" }, "{\"command\":\"@\",\"args\":[\"mcp\"]}" },
	{ ROW_VALUE, ROW_HOLDS | ROW_EASES, 0, { "mcpServers", "sidecar", "trust" }, "true" },
	{ ROW_VALUE, ROW_HOLDS, 0, { "mcp", "allowed" }, "[\"sidecar\"]" },
	{ ROW_VALUE,
	  ROW_HOLDS,
	  0,
	  { "tools", "core" },
	  "[\"tool_search\",\"todo_write\",\"mcp__sidecar__*\"]" },
	{ .value = NULL },
};

/* The last rule that matches counts; a tool that is denied is not shown to the model. The names
 * are given one by one because the file may allow some of them after "*". */
#define OPENCODE_DENY(tool)                                                                        \
	{                                                                                          \
		ROW_VALUE, ROW_HOLDS, 0, { "permission", tool }, "\"deny\""                        \
	}

static const struct agent_row opencode_rows[] = {
	{ ROW_SERVER,
	  0,
	  0,
	  { "mcp", "sidecar" },
	  "{\"type\":\"local\",\"command\":[\"@\",\"mcp\"],\"enabled\":true}" },
	{ ROW_OBJECT, ROW_HOLDS, 0, { "permission" }, "{}" },
	OPENCODE_DENY("*"),
	OPENCODE_DENY("bash"),
	OPENCODE_DENY("read"),
	OPENCODE_DENY("edit"),
	OPENCODE_DENY("glob"),
	OPENCODE_DENY("grep"),
	OPENCODE_DENY("list"),
	OPENCODE_DENY("lsp"),
	OPENCODE_DENY("skill"),
	OPENCODE_DENY("task"),
	{ ROW_VALUE, ROW_HOLDS | ROW_EASES, 0, { "permission", "sidecar_*" }, "\"allow\"" },
	{ .value = NULL },
};

static const struct agent_row cursor_rows[] = {
	{ ROW_SERVER,
	  0,
	  0,
	  { "mcpServers", "sidecar" },
	  "{\"command\":\"@\",\"args\":[\"mcp\",\"--workspace\",\"${workspaceFolder}\"]}" },
	{ .value = NULL },
};

static const struct agent_row vscode_rows[] = {
	{ ROW_SERVER,
	  0,
	  0,
	  { "servers", "sidecar" },
	  "{\"type\":\"stdio\",\"command\":\"@\",\"args\":[\"mcp\",\"--workspace\","
	  "\"${workspaceFolder}\"]}" },
	{ .value = NULL },
};

const struct agent agents[] = {
	{ .name = "claude",
	  .title = "Claude Code",
	  .programs = { "claude" },
	  .file = { { ".mcp.json", ".claude.json", "CLAUDE_CONFIG_DIR", "" },
		    { ".claude/settings.json", "settings.json", "CLAUDE_CONFIG_DIR", ".claude",
		      ".claude/settings.local.json" } },
	  .rows = claude_rows },
	{ .name = "codex",
	  .title = "Codex",
	  .programs = { "codex" },
	  .file = { { ".codex/config.toml", "config.toml", "CODEX_HOME", ".codex",
		      .form = CONF_TOML },
		    { NULL, "config.toml", "CODEX_HOME", ".codex", .form = CONF_TOML } },
	  .rows = codex_rows,
	  .note = "Codex's own sandbox refuses its apply_patch tool, which cannot be turned off: "
		  "do not start Codex with --dangerously-bypass-approvals-and-sandbox, "
		  "--sandbox or --profile.",
	  .disables_servers = true },
	{ .name = "gemini",
	  .title = "Gemini CLI",
	  .programs = { "gemini" },
	  .file = { { ".gemini/settings.json", "settings.json", NULL, ".gemini" } },
	  .rows = gemini_rows,
	  .note = "In a project Gemini CLI reads these settings only if you trust the folder." },
	{ .name = "opencode",
	  .title = "opencode",
	  .programs = { "opencode" },
	  .file = { { "opencode.json", "opencode/opencode.json", "XDG_CONFIG_HOME", ".config",
		      .also = "c" } },
	  .rows = opencode_rows,
	  .has_permissions = true },
	{ .name = "cursor",
	  .title = "Cursor",
	  .programs = { "cursor", "cursor-agent" },
	  .file = { { ".cursor/mcp.json", "mcp.json", NULL, ".cursor" } },
	  .rows = cursor_rows,
	  .cannot = "no configuration file turns its terminal, edit and read tools off" },
	{ .name = "vscode",
	  .title = "VS Code",
	  .programs = { "code" },
	  .file = { { ".vscode/mcp.json", "Code/User/mcp.json", "XDG_CONFIG_HOME", ".config" } },
	  .rows = vscode_rows,
	  .cannot = "no configuration file turns the terminal, edit and read tools of its agent "
		    "off" },
	{ .name = "qwen",
	  .title = "Qwen Code",
	  .programs = { "qwen" },
	  .file = { { ".qwen/settings.json", "settings.json", NULL, ".qwen" } },
	  .rows = qwen_rows },
	{ .name = NULL },
};

const char *const agent_names[] = { "claude", "codex",	"gemini", "opencode",
				    "cursor", "vscode", "qwen",	  NULL };

const struct agent *agent_by_name(const char *name)
{
	for (const struct agent *a = agents; a->name; a++)
		if (str_eq(str_of(a->name), str_of(name)))
			return a;
	return NULL;
}
