"""Runs over files that only the command reads: web archives, pages, mail, feeds, texts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _native
from ._command import find_command
from ._files import is_address
from ._packed import endings
from ._sources import JsonLines, Mask, kind_of

if TYPE_CHECKING:
    from ._outputs import Output
    from ._recipe import Recipe

# The beginnings of the command's lines that are warnings, and of those on a record that is no document.
_NAME, _WARNING = "neardup: ", "neardup: warning: "


def is_for_command(paths: Sequence[str], needs_it: str | None = None) -> bool:
    """Whether the command is to decide: these are files that Python does not read, or an option needs it.

    Raises
    ------
    InvalidError
        It cannot, and `needs_it`, the name of an argument, is given.
    UnsupportedError
        It is not there, and `needs_it` is given.
    """
    if needs_it:
        for path in paths:
            if is_address(path) or path.endswith(".sketch"):
                raise _native.InvalidError(f"{needs_it}: {path} is not read by the command")
        if find_command() is None:
            raise _native.UnsupportedError(f"{needs_it}: the command neardup, which reads such files, is not installed")
        return True
    return (
        bool(paths)
        and all(
            not is_address(path) and os.path.isfile(path) and kind_of(path) is None and not path.endswith(".sketch")
            for path in paths
        )
        and find_command() is not None
    )


def _options(named: dict[str, Any]) -> list[str]:
    """The words of options: a list repeats its option, a flag has no value, and None is not given."""
    words = []
    for name, value in named.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words += [f"{option}={one}" for one in value]
        elif value is not None and value is not False:
            words.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def _error(said: str, status: int) -> Exception:
    lines = [line.removeprefix(_NAME) for line in said.splitlines() if not line.startswith(_WARNING)]
    text = "; ".join(line for line in lines if line != "stopped; nothing was published")
    return _native.Error(text or f"the command ended with status {status}")


def dedup_by_command(
    paths: Sequence[str], target: str, recipe: Recipe, summary: str | None, **options: Any
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Run the command: its summary, its warnings, and the records that are no documents."""
    command = find_command()
    assert command
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "recipe.ini")
        with open(made, "w", encoding="utf-8") as file:
            file.write(recipe.text)
        options["output" if len(paths) == 1 and not os.path.isdir(paths[0]) else "output_dir"] = target
        options["summary"] = summary or os.path.join(folder, "summary.json")
        words = [command, "dedup", "--quiet", f"--recipe={made}", *_options(options), "--", *paths]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        said = done.stderr.decode(errors="backslashreplace")
        if done.returncode not in (0, 3):
            raise _error(said, done.returncode)
        with open(options["summary"], "rb") as file:
            text = json.load(file)
    lines = said.splitlines()
    warnings = [line.removeprefix(_WARNING) for line in lines if line.startswith(_WARNING)]
    others = [line.removeprefix(_NAME) for line in lines if not line.startswith(_WARNING)]
    return text, warnings, [line for line in others if not line.startswith("done, but ")]


def is_archive(path: str) -> bool:
    """Whether a file is a web archive by its name, which the command reads."""
    return endings(path).lower().startswith((".warc", ".arc"))


class Archive(JsonLines):
    """A web archive, whose documents the command prints as lines with the fields ``id`` and ``text``."""

    format = "warc"

    def _said(self, *words: str) -> Iterator[bytes]:
        with tempfile.TemporaryFile() as errors:
            command = find_command()
            if command is None:
                raise _native.UnsupportedError(f"{self.path}: the command neardup, which reads it, is not installed")
            with subprocess.Popen(
                [command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
            ) as process:
                assert process.stdout
                yield from process.stdout
            if process.returncode not in (0, 3):
                errors.seek(0)
                raise _error(errors.read().decode(errors="backslashreplace"), process.returncode)

    def _lines(self) -> Iterator[bytes]:
        for line in self._said("perturb", "--quiet", "--replace=0", "--", self.file):
            self.bytes += len(line)
            yield line

    def copy(self, mask: Mask, kept: Output | None, removed: Output | None) -> None:
        """Write the archive without the records whose bytes in the mask are 0; both outputs are plain."""
        if removed:
            raise _native.UnsupportedError(f"{self.path}: the removed records of an archive are not written here")
        with tempfile.TemporaryDirectory() as folder:
            names = ("s.sketch", "m.jsonl", f"kept{endings(self.path)}")
            sketches, manifest, made = (os.path.join(folder, name) for name in names)
            for _ in self._said("sketch", "--quiet", "--no-shingles", f"--output={sketches}", "--", self.file):
                pass
            with open(manifest, "w", encoding="utf-8") as file:
                head = {"neardup": "", "recipe": "", "options": {}, "inputs": [{"path": self.file, "format": "warc"}]}
                file.write(json.dumps(head) + "\n")
                for at, line in enumerate(self._said("sketch", "dump", "--", sketches)):
                    if not mask[at]:
                        document = json.loads(line)
                        entry = {"removed": document["id"], "kept": "", "removed_at": document["at"]}
                        file.write(json.dumps(entry) + "\n")
            for _ in self._said("apply", "--quiet", f"--output={made}", "--", manifest, self.file):
                pass
            if kept:
                with open(made, "rb") as whole:
                    shutil.copyfileobj(whole, kept.raw)
