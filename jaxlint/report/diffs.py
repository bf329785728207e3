"""Diffs for people and for `patch`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from jaxlint.report.escaping import printable
from jaxlint.report.styled import Printer
from jaxlint.source.diff import unified_diff

_STYLES = {"---": "bold", "+++": "bold", "@@": "cyan", "+": "green", "-": "red"}


def write_diffs(changes: Iterable[tuple[str, str, str]], stream: TextIO) -> None:
    """Writes the diff of each file, given by its path, the text before and the text after."""
    printer = Printer(stream)
    for path, before, after in changes:
        for line in unified_diff(before, after, path).splitlines(keepends=True):
            if not printer.styled and not stream.isatty():  # for `patch`, byte for byte
                stream.write(line)
                continue
            style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
            printer.line([(printable(line.rstrip("\n")), style)])
