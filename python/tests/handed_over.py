"""Options as people write them, in the long form in which the command hands them over (cli/program.c)."""

from __future__ import annotations

from neardup import _tables

_LETTERS = {"-t": "threshold", "-w": "shingle", "-m": "method", "-k": "keep", "-o": "output", "-j": "threads"}
_FLAGS = {"-q": "--quiet", "--quiet": "--quiet"} | {
    name: name for name in ("--append", "--only-against", "--force", "--progress", "--dry-run")
}


def main(words: list[str]) -> int:
    """Run ``dedup`` of the package, as the command starts it for tables; its exit status."""
    assert words[0] == "dedup"
    options, paths, rest = [], [], iter(words[1:])
    for word in rest:
        if word in _FLAGS:
            options.append(_FLAGS[word])
        elif word.startswith("-"):
            name, has_value, value = word.partition("=")
            name = _LETTERS.get(name, name.removeprefix("--"))
            options.append(f"--{name}={value if has_value else next(rest)}")
        else:
            paths.append(word)
    return _tables.main([*options, "--", *paths])
