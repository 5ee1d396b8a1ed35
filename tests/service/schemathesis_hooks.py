"""schemathesis_hooks.py - what schemathesis cannot know of the service from its description"""
import json

import schemathesis

TEXTS = ("text/plain", "text/html")
WORDS = ("id", "labels", "a", "b", "a_labels", "b_labels")  # parameters that are texts


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """A string is what the lines are; anything else becomes a line of JSON."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()


@schemathesis.hook
def filter_case(context, case):
    """Any body, and any word in an address, is a text: one that is called wrong because it is no string, but a
    number for instance, is sent as a string."""
    meta = getattr(case, "meta", None)
    if not meta or not meta.generation.mode.is_negative:
        return True
    is_text = case.media_type in (*TEXTS, "application/x-ndjson")
    words = [value for name, value in (case.query or {}).items() if name in WORDS]
    return not (is_text and not isinstance(case.body, str)) and all(not is_number(word) for word in words)


def is_number(value):
    try:
        return not isinstance(value, (list, dict)) and float(value) is not None
    except (TypeError, ValueError):
        return value in ("true", "false", "null")
