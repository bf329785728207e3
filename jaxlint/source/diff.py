"""Unified diffs that `patch -p0` and `git apply -p0` accept."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def unified_diff(before: str, after: str, path: str, *, context: int = 3) -> str:
    """The diff from `before` to `after` of the file `path`; empty when they are equal."""
    return "".join(_diff_lines(before, after, path, context))


def _diff_lines(before: str, after: str, path: str, context: int) -> Iterator[str]:
    # Only "\n" ends a line here, so that a carriage return or a form feed stays inside its line, as `patch` has it.
    lines = difflib.unified_diff(
        _LINE.findall(before), _LINE.findall(after), fromfile=path, tofile=path, n=context, lineterm="\n"
    )
    for line in lines:
        if line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"
