/* SPDX-License-Identifier: MIT */
/* config: print every setting, its value, and where the value comes from. */

#include <stdio.h>
#include <stdlib.h>

#include "base/jw.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "config/config.h"

struct config_args {
	bool show_origin;
};

static const struct option config_options[] = {
	{ "show-origin", 'o', OPTION_SWITCH, offsetof(struct config_args, show_origin), NULL,
	  "also say where each value comes from" },
	OPTION_END,
};

enum { VALUE_ROOM = LIMIT_CONFIG_FILE + 1 };

/* The name of a setting in the file, or its variable if it has no such name. */
static const char *name_of(const struct setting *s)
{
	return s->flag ? s->flag : s->env;
}

static void add_pairs(struct jw *w, const char *name, struct str lines)
{
	struct str pair;

	jw_array(w, name);
	while (setting_next_pair(&lines, &pair))
		jw_str(w, NULL, pair);
	jw_end(w);
}

static void add_value(struct jw *w, const char *name, const struct setting *s, const char *text)
{
	if (s->type == SETTING_SWITCH)
		jw_bool(w, name, str_truthy(str_of(text)));
	else if (s->type == SETTING_NUMBER || s->type == SETTING_SIZE)
		jw_int(w, name, strtoll(text, NULL, 10));
	else if (s->type == SETTING_PAIRS)
		add_pairs(w, name, str_of(text));
	else
		jw_str(w, name, str_of(text));
}

/* Without origins the result is a configuration file with the same settings, so it leaves out
 * secrets, which are only shown as "set". */
static void write_json(const struct config *config, bool origins, char *value, struct buf *out)
{
	struct jw w = jw_to(out);
	char origin[SIDECAR_PATH_MAX], tcp[300];

	jw_object(&w, NULL);
	if (!origins && config->tcp_host && config->tcp_port >= 0) {
		(void)snprintf(tcp, sizeof tcp, "%s:%lld", config->tcp_host,
			       (long long)config->tcp_port);
		jw_str(&w, "tcp", str_of(tcp));
	}
	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *s = setting_at(i);
		const bool set = setting_text(s, config, value, VALUE_ROOM);
		if (!origins && set && s->flag && s->type != SETTING_HIDDEN)
			add_value(&w, s->flag, s, value);
		if (!origins)
			continue;
		jw_object(&w, name_of(s));
		if (set)
			add_value(&w, "value", s, value);
		else
			jw_null(&w, "value");
		config_origin_text(config, i, origin, sizeof origin);
		jw_str(&w, "origin", str_of(origin));
		jw_end(&w);
	}
	jw_end(&w);
	buf_addc(out, '\n');
}

static void write_text(const struct config *config, bool origins, char *value, struct buf *out)
{
	char origin[SIDECAR_PATH_MAX];

	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *s = setting_at(i);
		AUTO_BUF shown = { .max = LIMIT_ANSWER };
		const bool set = setting_text(s, config, value, VALUE_ROOM);
		jw_escape(&shown, set ? str_of(value) : STR("-"));
		buf_addf(out, "%-18s %.*s", name_of(s), STR_FMT(buf_str(&shown)));
		config_origin_text(config, i, origin, sizeof origin);
		if (origins)
			buf_addf(out, "%*s  # %s", shown.n < 30 ? (int)(30 - shown.n) : 0, "",
				 origin);
		buf_addc(out, '\n');
	}
}

static int config_run(struct cli *c, const void *args)
{
	const struct config_args *a = args;
	AUTO_CONFIG config = { 0 };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct err e;

	if (config_load(c->settings_count, c->settings, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	char *value = arena_alloc(&c->memory, VALUE_ROOM);
	if (!value)
		return EXIT_FAILED;
	if (c->json)
		write_json(&config, a->show_origin, value, &out);
	else
		write_text(&config, a->show_origin, value, &out);
	cli_print(buf_str(&out));
	if (config_check(&config, &e) == 0)
		return EXIT_OK;
	cli_say(c, "a server cannot start with these settings: %s", e.msg);
	return EXIT_FAILED;
}

const struct verb verb_config = {
	.name = "config",
	.about = "print every setting and, with --show-origin, where it comes from",
	.operands = "",
	.examples = "  sidecar config --show-origin\n"
		    "  sidecar config --json > ~/.config/sidecar/config.json\n"
		    "  sidecar config --read-only --show-origin | grep flag\n",
	.options = config_options,
	.args_size = sizeof(struct config_args),
	.flags = VERB_PRINTS | VERB_SETTINGS,
	.run = config_run,
};
