"""Whether a value fits a JSON Schema, for the few words of it that tool definitions use."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int}
WORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description", "default",
         "minimum", "maximum"}


def has_type(value, name):
    return isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool))


def faults(value, schema, at="$"):
    """A list of sentences, empty when the value fits."""
    found = ["%s: unknown word %s" % (at, word) for word in schema if word not in WORDS]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(has_type(value, t) for t in types):
        return found + ["%s: %r is not %s" % (at, value, types)]
    if "enum" in schema and value not in schema["enum"]:
        found.append("%s: %r is not one of %s" % (at, value, schema["enum"]))
    if isinstance(value, list):
        for i, item in enumerate(value):
            found += faults(item, schema["items"], "%s[%d]" % (at, i))
    if isinstance(value, dict):
        known = schema["properties"]
        found += ["%s.%s is missing" % (at, name) for name in schema["required"] if name not in value]
        found += ["%s.%s is unknown" % (at, name) for name in value if name not in known]
        for name in value.keys() & known.keys():
            found += faults(value[name], known[name], at + "." + name)
    return found
