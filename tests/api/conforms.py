"""Whether a value fits a JSON Schema, for the few words of it that tool definitions and OpenAPI use here."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
         "number": (int, float)}
WORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description", "default",
         "minimum", "maximum", "oneOf", "anyOf", "$ref", "minProperties", "format"}


def has_type(value, name):
    return isinstance(value, TYPES[name]) and not (name in ("integer", "number") and isinstance(value, bool))


def resolve(schema, document):
    """The schema itself, or the one it refers to."""
    while "$ref" in schema:
        found = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        schema = found
    return schema


def alternatives(value, schema, at, document):
    """Of oneOf exactly one must fit, of anyOf at least one."""
    for word, fits in (("oneOf", lambda n: n == 1), ("anyOf", lambda n: n > 0)):
        each = [faults(value, one, at, document) for one in schema.get(word, ())]
        if each and not fits(each.count([])):
            return ["%s: fits %d of %s: %s" % (at, each.count([]), word, each)]
    return []


def object_faults(value, schema, at, document):
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    found = ["%s.%s is missing" % (at, name) for name in schema.get("required", ()) if name not in value]
    if len(value) < schema.get("minProperties", 0):
        found.append("%s has too few members" % at)
    for name, member in value.items():
        if name in known:
            found += faults(member, known[name], at + "." + name, document)
        elif others is False:
            found.append("%s.%s is unknown" % (at, name))
        elif others is not True:
            found += faults(member, others, at + "." + name, document)
    return found


def faults(value, schema, at="$", document=None):
    """A list of sentences, empty when the value fits. `document` is where references lead."""
    schema = resolve(schema, document)
    found = ["%s: unknown word %s" % (at, word) for word in schema if word not in WORDS]
    found += alternatives(value, schema, at, document)
    types = schema.get("type", list(TYPES))
    types = types if isinstance(types, list) else [types]
    if not any(has_type(value, t) for t in types):
        return found + ["%s: %r is not %s" % (at, value, types)]
    if "enum" in schema and value not in schema["enum"]:
        found.append("%s: %r is not one of %s" % (at, value, schema["enum"]))
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += faults(item, schema["items"], "%s[%d]" % (at, i), document)
    if isinstance(value, dict):
        found += object_faults(value, schema, at, document)
    return found
