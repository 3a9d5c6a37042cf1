/* SPDX-License-Identifier: MIT */
/* health: print what the server says about itself. */

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/columns.h"
#include "base/human.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/own.h"
#include "cli/cli.h"

enum { NAME_WIDTH = 34 }; /* fits sandbox.terminal-injection-refused */

/* How the answer is written: as lines that programs read, or in sections for people. */
struct health_page {
	struct buf out;
	bool sections, coloured;
};

static void add_line(struct health_page *p, const char *prefix, struct str name,
		     enum log_colour colour, struct str value)
{
	AUTO_BUF full = { .max = 256 };

	buf_addf(&full, "%s%.*s", prefix, STR_FMT(name));
	buf_addf(&p->out, "%-*.*s ", NAME_WIDTH, STR_FMT(buf_str(&full)));
	columns_paint(&p->out, p->coloured, colour, value);
}

/* {"name","inForce","note"?} */
static void add_protection(struct health_page *p, const char *prefix, const struct json *one)
{
	const struct json *in_force = json_get(one, STR("inForce"));
	const struct str name = json_text(one, STR("name")), note = json_text(one, STR("note"));

	if (!name.n || !in_force)
		return;
	add_line(p, prefix, name, in_force->boolean ? LOG_GREEN : LOG_YELLOW,
		 in_force->boolean ? STR("in force") : STR("not in force"));
	if (note.n)
		buf_addf(&p->out, " (%.*s)", STR_FMT(note));
	buf_addc(&p->out, '\n');
}

static void add_number(struct health_page *p, const char *prefix, const struct json *m)
{
	char text[HUMAN_SIZE];

	(void)snprintf(text, sizeof text, "%lld", (long long)m->number);
	if (p->sections && str_ends(m->name, STR("Ms")))
		(void)human_ms((int64_t)m->number, text);
	else if (p->sections && (str_ends(m->name, STR("ytes")) || str_eq(m->name, STR("used"))))
		(void)human_bytes((int64_t)m->number, text);
	add_line(p, prefix, m->name, LOG_PLAIN, str_of(text));
	buf_addc(&p->out, '\n');
}

/* A line for each member that is a plain value. The members of an object, and the protections,
 * get its name as a prefix, unless they have sections. */
static void add_members(struct health_page *p, const char *prefix, const struct json *object)
{
	for (const struct json *m = object->first; m; m = m->next) {
		char name[128];
		if (m->type == JSON_OBJECT && !p->sections) {
			(void)snprintf(name, sizeof name, "%.*s.", STR_FMT(m->name));
			add_members(p, name, m);
		} else if (m->type == JSON_ARRAY) {
			for (const struct json *one = m->first; one; one = one->next)
				add_protection(p, prefix, one);
		} else if (m->type == JSON_NUMBER) {
			add_number(p, prefix, m);
		} else if (m->type == JSON_STRING || m->type == JSON_BOOL) {
			add_line(p, prefix, m->name, LOG_PLAIN,
				 m->type == JSON_STRING ? m->string
				 : m->boolean		? STR("yes")
							: STR("no"));
			buf_addc(&p->out, '\n');
		}
	}
}

static void add_sections(struct health_page *p, const struct json *object)
{
	for (const struct json *m = object->first; m; m = m->next) {
		if (m->type != JSON_OBJECT)
			continue;
		buf_addc(&p->out, '\n');
		columns_paint(&p->out, p->coloured, LOG_BOLD, m->name);
		buf_addc(&p->out, '\n');
		add_members(p, "  ", m);
	}
}

static void print(const struct cli *c, const struct sidecar_health *h)
{
	AUTO_ARENA a = { .max = LIMIT_ANSWER };
	struct health_page p = { .out = { .max = LIMIT_ANSWER },
				 .sections = cli_is_terminal(STDOUT_FILENO),
				 .coloured = cli_colour(c, STDOUT_FILENO) };
	const struct json *object;
	struct err e;

	if (!c->json && json_parse((struct str){ h->json, h->length }, &a, &object, &e) == 0) {
		add_members(&p, "", object);
		if (p.sections)
			add_sections(&p, object);
	} else {
		buf_add(&p.out, (struct str){ h->json, h->length });
	}
	cli_print_line(&p.out);
	buf_done(&p.out);
}

static int health_run(struct cli *c, const void *args)
{
	struct sidecar_error error;
	struct sidecar_health *h = sidecar_health(c->server, &error);

	(void)args;
	if (!h)
		return cli_fail(c, &error);
	if (!c->quiet)
		print(c, h);
	sidecar_free(h);
	return EXIT_OK;
}

const struct verb verb_health = {
	.name = "health",
	.about = "show the server's state and the protections in force",
	.operands = "",
	.examples = "  sidecar health\n"
		    "  sidecar health --quiet --wait 10 || echo down\n"
		    "  HEALTHCHECK CMD [\"sidecar\", \"health\", \"--quiet\"]\n",
	.flags = VERB_CONNECTS | VERB_PRINTS,
	.run = health_run,
};
