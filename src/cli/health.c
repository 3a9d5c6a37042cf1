/* SPDX-License-Identifier: MIT */
/* health: print what the server says about itself. */

#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli.h"

enum { NAME_WIDTH = 34 }; /* fits sandbox.terminal-injection-refused */

/* Print {"name","inForce","note"?} as a line like the others. */
static void add_protection(struct buf *out, const char *prefix, const struct json *p)
{
	const struct json *name = json_get(p, STR("name")), *note = json_get(p, STR("note"));
	const struct json *in_force = json_get(p, STR("inForce"));
	char full[128];

	if (!name || name->type != JSON_STRING || !in_force)
		return;
	(void)snprintf(full, sizeof full, "%s%.*s", prefix, STR_FMT(name->string));
	buf_addf(out, "%-*s %s", NAME_WIDTH, full, in_force->boolean ? "in force" : "not in force");
	if (note && note->type == JSON_STRING)
		buf_addf(out, " (%.*s)", STR_FMT(note->string));
	buf_addc(out, '\n');
}

/* Add one line for each member that is a plain value. The members of an object, and the
 * protections, get its name as a prefix. */
static void add_members(struct buf *out, const char *prefix, const struct json *object)
{
	for (const struct json *m = object->first; m; m = m->next) {
		char name[128];
		(void)snprintf(name, sizeof name, "%s%.*s", prefix, STR_FMT(m->name));
		if (m->type == JSON_OBJECT) {
			(void)snprintf(name, sizeof name, "%.*s.", STR_FMT(m->name));
			add_members(out, name, m);
		} else if (m->type == JSON_ARRAY) {
			for (const struct json *p = m->first; p; p = p->next)
				add_protection(out, prefix, p);
		} else if (m->type == JSON_STRING) {
			buf_addf(out, "%-*s %.*s\n", NAME_WIDTH, name, STR_FMT(m->string));
		} else if (m->type == JSON_BOOL) {
			buf_addf(out, "%-*s %s\n", NAME_WIDTH, name, m->boolean ? "yes" : "no");
		} else if (m->type == JSON_NUMBER) {
			buf_addf(out, "%-*s %lld\n", NAME_WIDTH, name, (long long)m->number);
		}
	}
}

static void print(const struct cli *c, const struct sidecar_health *h)
{
	CLEANUP(arena_done) struct arena a = { .max = LIMIT_ANSWER };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	const struct json *object;
	struct err e;

	if (!c->json && json_parse((struct str){ h->json, h->length }, &a, &object, &e) == 0) {
		add_members(&out, "", object);
	} else {
		buf_add(&out, (struct str){ h->json, h->length });
		buf_addc(&out, '\n');
	}
	cli_print(buf_str(&out));
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
