"""schemathesis_hooks.py - what schemathesis cannot know of the service from its description"""
import json
from urllib.parse import quote, urlencode

import schemathesis

HEAD_MAX = 12_000  # of the 16 KiB of a head, some 14 can be used; of one that nearly fills it, the connection is closed
TEXTS = ("text/plain", "text/html")
WORDS = ("id", "security", "a", "b", "a_security", "b_security", "title", "site", "since", "cursor")  # parameters that are texts


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """A string is what the lines are; anything else becomes a line of JSON."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()


@schemathesis.hook
def filter_case(context, case):
    """Any body, and any word in an address, is a text: one that is called wrong because it is no string, but a
    number for instance, is sent as a string.  A head that is too long is tested elsewhere (tests/server/http.py)."""
    if head_length(case) > HEAD_MAX:
        return False
    meta = getattr(case, "meta", None)
    if not meta or not meta.generation.mode.is_negative:
        return True
    is_text = case.media_type in (*TEXTS, "application/x-ndjson")
    words = [value for name, value in (case.query or {}).items() if name in WORDS]
    return not (is_text and not isinstance(case.body, str)) and all(not becomes_text(word) for word in words)


def head_length(case):
    """About the bytes of the address and the header fields that the case sends."""
    query, fields = dict(case.query or {}), dict(case.headers or {})
    words = [str(value) for value in (case.path_parameters or {}).values()]
    address = max(len(urlencode(query, doseq=several, errors="surrogatepass")) for several in (False, True))
    return address + sum(len(quote(word, errors="surrogatepass")) for word in words) + len(str(fields))


def becomes_text(value):
    """Whether the address has a text for a word that is none: a number, or a list or an object, as Python shows it."""
    return is_number(value) or isinstance(value, (list, dict)) or (isinstance(value, str) and value[:1] in ("{", "["))


def is_number(value):
    try:
        return not isinstance(value, (list, dict)) and float(value) is not None
    except (TypeError, ValueError):
        return value in ("true", "false", "null")
