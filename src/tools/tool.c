/* SPDX-License-Identifier: MIT */
/* tool: from a JSON object to an argument struct to a result. */

#include "tools/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

bool tool_is_slow(const struct tool *t, const struct json *object)
{
	if (!(t->flags & TOOL_SLOW) || !t->slow_with)
		return t->flags & TOOL_SLOW;
	const struct json *v = json_get(object, str_of(t->slow_with));
	return v && v->type != JSON_NULL && !(v->type == JSON_BOOL && !v->boolean);
}

/* Where an argument's value goes. */
static void *slot(const struct arg *a, void *args)
{
	return (char *)args + a->offset;
}

static void set_default(const struct arg *a, void *args)
{
	if (a->type == ARG_INT || a->type == ARG_CHOICE)
		*(int64_t *)slot(a, args) = a->def;
	else if (a->type == ARG_NUM)
		*(double *)slot(a, args) = (double)a->def;
	else if (a->type == ARG_BOOL)
		*(bool *)slot(a, args) = a->def != 0;
}

static bool bind_str(const struct arg *a, const struct json *v, void *args)
{
	if (v->type != JSON_STRING)
		return false;
	if (a->flags & NONBLANK && str_trim(v->string).n == 0)
		return false;
	if (a->flags & NO_NUL && str_index(v->string, '\0') >= 0)
		return false;
	*(struct str *)slot(a, args) = v->string;
	return true;
}

/* A decimal number as text: no "0x10", no "inf". */
static bool parse_number(struct str s, double *ret)
{
	char text[32], *end;

	if (s.n == 0 || s.n >= sizeof text)
		return false;
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(s));
	*ret = strtod(text, &end);
	return strspn(text, "+-.0123456789eE") == s.n && *end == '\0';
}

/* A number, or with `coerce` a string that is one: small models quote them. */
static bool as_number(const struct json *v, bool coerce, double *ret)
{
	if (v->type == JSON_NUMBER) {
		*ret = v->number;
		return !isnan(v->number);
	}
	return coerce && v->type == JSON_STRING && parse_number(str_trim(v->string), ret);
}

static bool bind_number(const struct arg *a, const struct json *v, bool coerce, void *args)
{
	double number;

	if (!as_number(v, coerce, &number))
		return false;
	if (a->type == ARG_NUM) {
		if (number < (double)a->min || number > (double)a->max)
			return false;
		*(double *)slot(a, args) = number;
		return true;
	}
	/* The wire's clients may send 2.5 or 1e300: cut to what an integer can hold. Models must
	 * send what they mean. */
	const double cut = trunc(number);
	if (coerce && (cut != number || cut < (double)a->min || cut > (double)a->max))
		return false;
	*(int64_t *)slot(a, args) = cut >= 9.2e18    ? INT64_MAX
				    : cut <= -9.2e18 ? INT64_MIN
						     : (int64_t)cut;
	return true;
}

static bool bind_bool(const struct arg *a, const struct json *v, bool coerce, void *args)
{
	bool *to = slot(a, args);

	if (v->type == JSON_BOOL) {
		*to = v->boolean;
		return true;
	}
	if (!coerce || v->type != JSON_STRING)
		return false;
	*to = str_eq_nocase(v->string, STR("true"));
	return *to || str_eq_nocase(v->string, STR("false"));
}

static bool bind_choice(const struct arg *a, const struct json *v, void *args)
{
	if (v->type != JSON_STRING)
		return false;
	for (int64_t i = 0; a->choices[i]; i++) {
		if (!str_eq_nocase(str_of(a->choices[i]), v->string))
			continue;
		*(int64_t *)slot(a, args) = i;
		return true;
	}
	return false;
}

static bool bind_array(const struct arg *a, const struct json *v, void *args)
{
	const enum json_type each = a->type == ARG_OBJECTS ? JSON_OBJECT : JSON_STRING;

	if (v->type != JSON_ARRAY && !(a->type == ARG_PAIRS && v->type == JSON_OBJECT))
		return false;
	for (const struct json *item = v->first; item; item = item->next)
		if (item->type != each)
			return false;
	*(const struct json **)slot(a, args) = v;
	return true;
}

static bool bind_one(const struct arg *a, const struct json *v, bool coerce, void *args)
{
	switch (a->type) {
	case ARG_STR:
		return bind_str(a, v, args);
	case ARG_INT:
	case ARG_NUM:
		return bind_number(a, v, coerce, args);
	case ARG_BOOL:
		return bind_bool(a, v, coerce, args);
	case ARG_CHOICE:
		return bind_choice(a, v, args);
	case ARG_STRINGS:
	case ARG_PAIRS:
	case ARG_OBJECTS:
		return bind_array(a, v, args);
	case ARG_JSON:
		if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
			return false;
		*(const struct json **)slot(a, args) = v;
		return true;
	}
	return false;
}

/* The compatible rules: sentences that old clients know, wrong optional values ignored. */
static int bind_wire(const struct tool *t, const struct json *object, void *args, struct err *e)
{
	for (const struct arg *a = t->args; a->name; a++) {
		const struct json *v = json_get(object, str_of(a->name));
		set_default(a, args);
		if (v && bind_one(a, v, false, args))
			continue;
		if (a->flags & REQUIRED)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid %s", a->name);
	}
	return 0;
}

static const char *wanted(const struct arg *a)
{
	switch (a->type) {
	case ARG_STR:
		return a->flags & NONBLANK ? "a non-empty string" : "a string";
	case ARG_INT:
		return "an integer";
	case ARG_NUM:
		return "a number";
	case ARG_BOOL:
		return "true or false";
	case ARG_CHOICE:
		return "one of";
	case ARG_STRINGS:
		return "an array of strings";
	case ARG_PAIRS:
		return "an array of \"NAME=value\" strings";
	case ARG_OBJECTS:
		return "an array of objects";
	case ARG_JSON:
		return "an array or object";
	}
	return "";
}

/* What is wrong with the arguments of one call, as far as it fits one sentence. */
struct complaint {
	struct buf text;
	const char *where; /* stands before each name: "edits[1]." */
};

static void complain(struct complaint *c, struct str name)
{
	buf_addf(&c->text, "%s%s%.*s ", c->text.n ? "; " : "", c->where,
		 STR_FMT(str_upto(name, 60)));
}

/* Whether an array is wrong only because of what it holds. */
static bool takes_array(const struct arg *a)
{
	return a->type == ARG_STRINGS || a->type == ARG_PAIRS || a->type == ARG_OBJECTS;
}

static void describe_wrong(struct complaint *c, const struct arg *a, const struct json *v)
{
	struct buf *b = &c->text;

	complain(c, str_of(a->name));
	if (a->flags & NO_NUL && v->type == JSON_STRING && str_index(v->string, '\0') >= 0) {
		buf_add(b, STR("must not contain a NUL byte"));
		return;
	}
	buf_addf(b, "must be %s", wanted(a));
	if ((a->type == ARG_INT || a->type == ARG_NUM) && a->min > INT64_MIN)
		buf_addf(b, " from %lld", (long long)a->min);
	if ((a->type == ARG_INT || a->type == ARG_NUM) && a->max < INT64_MAX)
		buf_addf(b, " to %lld", (long long)a->max);
	for (size_t i = 0; a->type == ARG_CHOICE && a->choices[i]; i++)
		buf_addf(b, "%s %s", i ? "," : "", a->choices[i]);
	if (v->type == JSON_STRING)
		buf_addf(b, ", not \"%.*s\"", STR_FMT(str_upto(v->string, 60)));
	else if (v->type == JSON_NUMBER && v->whole)
		buf_addf(b, ", not %lld", (long long)v->integer);
	else if (v->type == JSON_NUMBER)
		buf_addf(b, ", not %.15g", v->number);
	else if (v->type != JSON_ARRAY || !takes_array(a))
		buf_addf(b, ", not %s", json_type_name(v));
}

static const struct arg *arg_find(const struct arg *table, struct str name)
{
	for (const struct arg *a = table; a->name; a++)
		if (str_eq(str_of(a->name), name))
			return a;
	return NULL;
}

static void describe_unknown(struct complaint *c, const struct arg *table, struct str name)
{
	complain(c, name);
	buf_addf(&c->text, "is not an argument (there are%s", table->name ? "" : " none");
	for (const struct arg *a = table; a->name; a++)
		buf_addf(&c->text, "%s %s", a == table ? "" : ",", a->name);
	buf_addc(&c->text, ')');
}

/* What models send for an optional argument they do not mean: null, or an empty text where that
 * says nothing. */
static bool means_absent(const struct arg *a, const struct json *v)
{
	const bool says_something = a->flags & REQUIRED || !(a->flags & NONBLANK);

	return v->type == JSON_NULL ||
	       (v->type == JSON_STRING && !says_something && str_trim(v->string).n == 0);
}

/* Bind the members of an object by a table. */
static void bind_members(const struct arg *table, const struct json *object, void *args,
			 struct complaint *c)
{
	for (const struct arg *a = table; a->name; a++) {
		const struct json *v = json_get(object, str_of(a->name));
		set_default(a, args);
		if (v && means_absent(a, v))
			v = NULL;
		if (v && !bind_one(a, v, true, args)) {
			describe_wrong(c, a, v);
		} else if (!v && a->flags & REQUIRED) {
			complain(c, str_of(a->name));
			buf_addf(&c->text, "is missing (%s)", wanted(a));
		}
	}
	for (const struct json *v = object->first; v; v = v->next)
		if (!arg_find(table, v->name) && !str_eq(v->name, STR("sessionId")))
			describe_unknown(c, table, v->name);
}

/* The items of an ARG_OBJECTS argument are bound when the tool asks for them; whether they can be
 * is said now, with everything else. */
static void check_items(const struct arg *a, const struct json *list, struct complaint *c)
{
	_Alignas(16) char item[ARG_ITEM_SIZE] = { 0 };
	char where[80];
	size_t i = 0;

	for (const struct json *v = list->first; v && !c->text.failed; v = v->next, i++) {
		(void)snprintf(where, sizeof where, "%s[%zu].", a->name, i);
		c->where = where;
		bind_members(a->of, v, item, c);
	}
	c->where = "";
}

/* The model's rules: everything wrong is named at once, so that one more try is enough. */
static int bind_model(const struct tool *t, const struct json *object, void *args, struct err *e)
{
	char text[800];
	struct complaint c = { buf_over(text, sizeof text), "" };

	bind_members(t->args, object, args, &c);
	for (const struct arg *a = t->args; a->name; a++)
		if (a->type == ARG_OBJECTS && *(const struct json **)slot(a, args))
			check_items(a, *(const struct json **)slot(a, args), &c);
	if (c.text.n)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Invalid arguments for %s: %.*s%s",
			       t->name, STR_FMT(buf_str(&c.text)), c.text.failed ? " ..." : "");
	return 0;
}

void tool_bind_item(const struct arg *table, const struct json *item, void *args)
{
	char text[8];
	struct complaint c = { buf_over(text, sizeof text), "" };

	bind_members(table, item, args, &c);
}

int tool_bind(const struct tool *t, const struct json *object, void *args, struct err *e)
{
	return (t->flags & (TOOL_WIRE | TOOL_ROUTE) ? bind_wire : bind_model)(t, object, args, e);
}

int tool_call(const struct tool *t, struct call *c, const struct json *object, struct err *e)
{
	void *args = arena_array(c->arena, 1, t->args_size);

	if (tool_is_slow(t, object) && call_linger(c, e) < 0)
		return -1;
	if (!args)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	if (tool_bind(t, object, args, e) < 0)
		return -1;
	return t->run(c, args, e);
}
