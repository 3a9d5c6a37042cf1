/* SPDX-License-Identifier: MIT */
/* agents: the table. */

#include "setup/agents.h"

/* Claude Code: it waits for a server that is always loaded, and has the model told of all its tools
 * at once. A deny rule takes a tool out of the model's sight; the hook refuses every tool that
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
	{ ROW_SERVER,
	  0,
	  0,
	  { "mcpServers", "sidecar" },
	  "{\"command\":\"@\",\"args\":[\"mcp\"],\"alwaysLoad\":true}" },
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
	{ ROW_NEVER, ROW_HOLDS, 1, { "disabledMcpjsonServers" }, "\"sidecar\"" },
	{ .value = NULL },
};

const char agent_variables[] =
	"ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL "
	"ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL CLAUDE_CODE_SUBAGENT_MODEL "
	"CLAUDE_CODE_MAX_OUTPUT_TOKENS MAX_THINKING_TOKENS MAX_MCP_OUTPUT_TOKENS MCP_TIMEOUT "
	"MCP_TOOL_TIMEOUT CLAUDE_CODE_ENABLE_TELEMETRY CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC "
	"DISABLE_TELEMETRY DISABLE_ERROR_REPORTING DISABLE_AUTOUPDATER DISABLE_COST_WARNINGS "
	"ENABLE_TOOL_SEARCH XDG_RUNTIME_DIR NO_COLOR TERM LANG LC_ALL TZ";

/* One that has another type makes Claude Code ignore all of its file. It is not particular about
 * hooks, env and rules; what is in `hooks`, plugins and status lines is reported anyway. */
static const struct agent_type claude_types[] = {
	{ "an object", "{",
	  "permissions env hooks statusLine subagentStatusLine attribution sandbox enabledPlugins "
	  "fileSuggestion" },
	{ "an object", "{",
	  "worktree spinnerVerbs spinnerTipsOverride voice remote modelOverrides pluginConfigs "
	  "extraKnownMarketplaces",
	  .doubt = true },
	{ "a list", "[",
	  "enabledMcpjsonServers disabledMcpjsonServers availableModels fallbackModel "
	  "companyAnnouncements claudeMdExcludes" },
	{ "a list of strings", "\"",
	  "enabledMcpjsonServers disabledMcpjsonServers availableModels fallbackModel "
	  "companyAnnouncements claudeMdExcludes",
	  .items = true },
	{ "a string", "\"",
	  "$schema model apiKeyHelper proxyAuthHelper awsCredentialExport awsAuthRefresh "
	  "otelHeadersHelper gcpAuthRefresh outputStyle language plansDirectory autoUpdatesChannel "
	  "agent advisorModel minimumVersion autoMemoryDirectory prUrlTemplate tui defaultShell" },
	{ "latest, stable or rc", NULL, "autoUpdatesChannel", .values = "latest stable rc" },
	{ "default or fullscreen", NULL, "tui", .values = "default fullscreen" },
	{ "bash or powershell", NULL, "defaultShell", .values = "bash powershell" },
	{ "true or false", "tf",
	  "enableAllProjectMcpServers includeCoAuthoredBy disableAllHooks respectGitignore "
	  "skipWebFetchPreflight spinnerTipsEnabled alwaysThinkingEnabled includeGitInstructions "
	  "prefersReducedMotion promptSuggestionEnabled showTurnDuration enforceAvailableModels "
	  "disableClaudeAiConnectors disableBundledSkills disableAgentView disableRemoteControl "
	  "disableWorkflows enableWorkflows disableArtifact enableArtifact "
	  "workflowKeywordTriggerEnabled disableSkillShellExecution respondToBashCommands verbose "
	  "syntaxHighlightingDisabled terminalTitleFromRename fastMode fastModePerSessionOptIn "
	  "awaySummaryEnabled showClearContextOnPlanAccept autoMemoryEnabled autoDreamEnabled "
	  "showThinkingSummaries skipDangerousModePermissionPrompt skipWorkflowUsageWarning" },
	{ "a number above 0", "123456789", "cleanupPeriodDays" },
	{ "anything", NULL, "viewMode theme effortLevel ultracode forceLoginMethod" },
	{ "a list", "[", "allow deny ask additionalDirectories", "permissions" },
	{ "a list of strings", "\"", "additionalDirectories", "permissions", .items = true },
	{ "a mode", NULL, "defaultMode", "permissions",
	  "acceptEdits auto bypassPermissions default dontAsk plan" },
	{ "\"disable\"", NULL, "disableBypassPermissionsMode", "permissions", "disable" },
	{ "a string", "\"", "commit pr", "attribution" },
	{ "true or false", "tf", "sessionUrl", "attribution" },
	{ "true or false", "tf",
	  "enabled failIfUnavailable autoAllowBashIfSandboxed allowUnsandboxedCommands "
	  "enableWeakerNestedSandbox enableWeakerNetworkIsolation",
	  "sandbox" },
	{ "a list", "[", "excludedCommands", "sandbox" },
	{ "a list of strings", "\"", "excludedCommands", "sandbox", .items = true },
	{ .names = NULL },
};

static const struct agent_running claude_runs[] = {
	{ 0, { "mcpServers", "*" } },
	{ 0, { "projects", "@", "mcpServers", "*" } },
	{ 1, { "hooks", "*", "*" } },
	{ 1, { "statusLine" } },
	{ 1, { "subagentStatusLine" } },
	{ 1, { "fileSuggestion" } },
	{ 1, { "apiKeyHelper" } },
	{ 1, { "proxyAuthHelper" } },
	{ 1, { "awsAuthRefresh" } },
	{ 1, { "awsCredentialExport" } },
	{ 1, { "gcpAuthRefresh" } },
	{ 1, { "otelHeadersHelper" } },
	{ 1, { "enabledPlugins", "*" } },
	{ 1, { "env", "*" }, .harmless = agent_variables },
	{ .place = { ".claude/agents", "agents", "CLAUDE_CONFIG_DIR", ".claude",
		     .upwards = true } },
	{ .file = 0 },
};

/* Codex has no switch for apply_patch: its read-only sandbox refuses it, and it does not ask. It
 * waits 300 seconds for a tool unless it is told to wait longer, and newer models are told of our
 * tools only if these are named as ones that are called directly. */
static const struct agent_row codex_rows[] = {
	{ ROW_SERVER, 0, 0, { "mcp_servers", "sidecar", "command" }, "\"@\"", "[\"mcp\"]" },
	{ ROW_VALUE, 0, 0, { "mcp_servers", "sidecar", "tool_timeout_sec" }, "3600" },
	{ ROW_VALUE, 0, 0, { "tool_output_token_limit" }, "12000" },
	{ ROW_VALUE,
	  0,
	  0,
	  { "features", "code_mode", "direct_only_tool_namespaces" },
	  "[\"mcp__sidecar\"]" },
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

static const struct agent_running codex_runs[] = {
	{ 0, { "notify" } },
	{ 0, { "profile" } },
	{ 0, { "hooks" } },
	{ 0, { "plugins" } },
	{ 0, { "mcp_servers", "sidecar" } },
	{ 0, { "model_providers", "*", "auth" } },
	{ .place = { ".codex/hooks.json", "hooks.json", "CODEX_HOME", ".codex" } },
	{ .file = 0 },
};

/* Other MCP servers are not started: mcp.allowed names ours alone. */
static const struct agent_running gemini_runs[] = {
	{ 0, { "mcpServers", "sidecar" } },
	{ 0, { "hooks", "*", "*" } },
	{ 0, { "tools", "discoveryCommand" } },
	{ 0, { "tools", "callCommand" } },
	{ 0, { "mcp", "serverCommand" } },
	{ .place = { ".gemini/extensions", "extensions", NULL, ".gemini" } },
	{ .file = 0 },
};

static const struct agent_running qwen_runs[] = {
	{ 0, { "mcpServers", "sidecar" } },
	{ 0, { "hooks", "*", "*" } },
	{ 0, { "tools", "discoveryCommand" } },
	{ 0, { "tools", "callCommand" } },
	{ 0, { "mcp", "serverCommand" } },
	{ 0, { "ui", "statusLine" } },
	{ .place = { ".qwen/extensions", "extensions", NULL, ".qwen" } },
	{ .file = 0 },
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
	{ ROW_VALUE, 0, 0, { "tools", "truncateToolOutputThreshold" }, "50000" },
	{ ROW_VALUE, 0, 0, { "tools", "truncateToolOutputLines" }, "2000" },
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

#define OPENCODE_PLACE(name)                                                                       \
	{ .place = { ".opencode/" name, "opencode/" name, "XDG_CONFIG_HOME", ".config",            \
		     .upwards = true } },                                                          \
	{                                                                                          \
		.place = { NULL, ".opencode/" name, NULL, "" }                                     \
	}

static const struct agent_running opencode_runs[] = {
	{ 0, { "plugin", "*" } },
	{ 0, { "mcp", "*" }, .enabled = true },
	{ 0, { "experimental", "hook" } },
	{ 0, { "formatter" } },
	{ 0, { "lsp" } },
	{ 0, { "provider", "*", "npm" } },
	{ 0, { "provider", "*", "models", "*", "provider", "npm" } },
	{ 0, { "agent", "*", "permission" } },
	{ 0, { "agent", "*", "tools" } },
	{ 0, { "mode", "*", "permission" } },
	{ 0, { "mode", "*", "tools" } },
	OPENCODE_PLACE("plugin"),
	OPENCODE_PLACE("plugins"),
	OPENCODE_PLACE("tool"),
	OPENCODE_PLACE("tools"),
	OPENCODE_PLACE("agent"),
	OPENCODE_PLACE("agents"),
	OPENCODE_PLACE("mode"),
	OPENCODE_PLACE("modes"),
	{ .place = { ".opencode/opencode.json", ".opencode/opencode.json", NULL, "", .also = "c",
		     .upwards = true } },
	{ .place = { NULL, "opencode/config.json", "XDG_CONFIG_HOME", ".config" } },
	{ .file = 0 },
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
	  .file = { { ".mcp.json", ".claude.json", "CLAUDE_CONFIG_DIR", "", .rules = CONF_STRICT,
		      .upwards = true },
		    { ".claude/settings.json", "settings.json", "CLAUDE_CONFIG_DIR", ".claude",
		      ".claude/settings.local.json", .rules = CONF_STRICT,
		      .types = claude_types } },
	  .rows = claude_rows,
	  .runs = claude_runs },
	{ .name = "codex",
	  .title = "Codex",
	  .programs = { "codex" },
	  .file = { { ".codex/config.toml", "config.toml", "CODEX_HOME", ".codex",
		      .form = CONF_TOML, .upwards = true },
		    { NULL, "config.toml", "CODEX_HOME", ".codex", .form = CONF_TOML } },
	  .rows = codex_rows,
	  .runs = codex_runs,
	  .note = "Codex's own sandbox refuses its apply_patch tool, which cannot be turned off: "
		  "do not start Codex with --dangerously-bypass-approvals-and-sandbox, "
		  "--sandbox or --profile.",
	  .disables_servers = true },
	{ .name = "gemini",
	  .title = "Gemini CLI",
	  .programs = { "gemini" },
	  .file = { { ".gemini/settings.json", "settings.json", NULL, ".gemini",
		      .rules = CONF_COMMENTS } },
	  .rows = gemini_rows,
	  .runs = gemini_runs,
	  .note = "In a project Gemini CLI reads these settings only if you trust the folder." },
	{ .name = "opencode",
	  .title = "opencode",
	  .programs = { "opencode" },
	  .file = { { "opencode.json", "opencode/opencode.json", "XDG_CONFIG_HOME", ".config",
		      .also = "c", .upwards = true } },
	  .rows = opencode_rows,
	  .runs = opencode_runs,
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
	  .file = { { ".qwen/settings.json", "settings.json", NULL, ".qwen",
		      .rules = CONF_COMMENTS } },
	  .rows = qwen_rows,
	  .runs = qwen_runs },
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
