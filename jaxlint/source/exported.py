"""Reads Python files with lines that are not Python: commands of an exported notebook, markers of a merge conflict.

Such a file is a container with one part: each line keeps its place, and lines that are not Python stay unchanged when
the rest is fixed.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from jaxlint.source.container import Container, Line, Part
from jaxlint.source.file import SourceError
from jaxlint.source.magics import is_python_cell, without_magics

# Signs that deserve a second look, found in one scan of a text that is nearly always plain Python.
_SUSPECT = re.compile(
    r"^[ \t]*(?:[%!?]|<{7}[ \r\n]|(?:pip3?|conda|mamba|uv)[ \t]|\#[ ]?%%|\#[ ]In\[|\#[ ]COMMAND[ ]-"
    r"|[\w.\[\]]+\?{1,2}[ \t]*$|[A-Za-z_][\w., \t]*=[ \t]*[%!])",
    re.MULTILINE | re.VERBOSE,
)
_CELL = re.compile(r"\#[ ]?%%|\#[ ]In\[|\#[ ]COMMAND[ ]-|\#[ ]<codecell>", re.VERBOSE)
_CELL_MAGIC = re.compile(r"[ \t]*%%\w")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_SHOWN = 5  # lines that a message names

# The problem with some code, as (line, message); None if it parses.
Problem = Callable[[str], tuple[int | None, str] | None]


@dataclass(slots=True)
class Exported:
    """A file as the module formed by its Python lines, with errors and remarks about the lines that were skipped."""

    container: Container
    problems: list[SourceError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_exported(text: str, display: str, problem: Problem) -> Exported | None:
    """The Python in `text`; None if all of it is Python, or if nothing explains the other lines."""
    if not _SUSPECT.search(text) or problem(text) is None:
        return None
    lines = [match[1] for match in _LINE.finditer(text)]
    newline = next((match[2] for match in _LINE.finditer(text) if match[2]), "\n")
    if text.endswith(("\r", "\n")) or lines[-1] == "":
        lines.pop()
    conflicts = _conflicts(lines)
    for sided in _sides(lines, conflicts):
        codes = without_magics(_without_other_cells(sided))
        wrong: list[SourceError] = []
        if problem(_module(codes)) is not None:
            wrong = [*_blank_cells(codes, display, problem)]
            if not wrong or problem(_module(codes)) is not None:
                continue
        whole = _contained(text, lines, codes, newline)
        found = Exported(whole, wrong)
        if conflicts:
            also = f" (and {len(conflicts) - 1} more below)" if len(conflicts) > 1 else ""
            message = f"an unresolved merge conflict{also}; one side of it was read, resolve it"
            found.problems.append(SourceError(display, message, conflicts[0].start + 1))
        masked = [
            number
            for number, (line, side, code) in enumerate(zip(lines, sided, codes, strict=True), 1)
            if line == side != code and not any(number in _cell_of(lines, one.line) for one in wrong)
        ]
        if masked:
            found.notes.append(_remark(display, masked))
        return found
    return None


def _remark(display: str, lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:_SHOWN])) + (
        f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    )
    if len(lines) == 1:
        return f"{display}:{shown}: a command of a notebook, not Python; the rest was read"
    return f"{display}: lines {shown} are commands of a notebook, not Python; the rest was read"


def _module(codes: Sequence[str]) -> str:
    return "\n".join(codes) + "\n"


def _contained(text: str, lines: Sequence[str], codes: Sequence[str], newline: str) -> Container:
    made = tuple(Line(code, line, line) for line, code in zip(lines, codes, strict=True))
    spelled = newline.join(lines)
    end = len(spelled)
    if not text.startswith(spelled):  # mixed line ends
        spelled, end = text, len(text)
    part = Part(made, spelled, functools.partial(_spell, newline=newline), _fresh)
    return Container((part,), ("", text[end:]))


def _spell(lines: Sequence[Line], *, newline: str) -> str:
    return newline.join(line.raw for line in lines)


def _fresh(code: str) -> Line:
    return Line(code, code, code)


# Merge conflicts


@dataclass(slots=True)
class _Conflict:
    """Indices of the marker lines. `base` is the start of the common ancestor, or `middle`."""

    start: int
    base: int
    middle: int
    end: int


def _conflicts(lines: Sequence[str]) -> list[_Conflict]:
    """The conflicts that have git's markers. A `=======` alone is the underline of a heading."""
    found: list[_Conflict] = []
    start = base = middle = -1
    for index, line in enumerate(lines):
        if re.match(r"<{7}(?: |$)", line):
            start, base, middle = index, -1, -1
        elif start >= 0 and middle < 0 and re.match(r"\|{7}(?: |$)", line):
            base = index
        elif start >= 0 and middle < 0 and re.fullmatch(r"={7}\s*", line):
            middle = index
        elif middle >= 0 and re.match(r">{7}(?: |$)", line):
            found.append(_Conflict(start, base if base >= 0 else middle, middle, index))
            start = base = middle = -1
    return found


def _sides(lines: Sequence[str], conflicts: Sequence[_Conflict]) -> Iterator[list[str]]:
    """The lines with one side of each conflict, then with the other, then with both."""
    if not conflicts:
        yield list(lines)
        return
    for ours, theirs in ((True, False), (False, True), (True, True)):
        kept = list(lines)
        for one in conflicts:
            first = range(one.start + 1, one.base) if ours else range(0)
            second = range(one.middle + 1, one.end) if theirs else range(0)
            for index in range(one.start, one.end + 1):
                if index not in first and index not in second:
                    kept[index] = ""
        yield kept


# Cells


def _without_other_cells(lines: Sequence[str]) -> list[str]:
    """`lines` without the contents of `%%bash`, `%%writefile` and the like: up to the next cell or a blank line."""
    kept = list(lines)
    index = 0
    while index < len(kept):
        if _CELL_MAGIC.match(kept[index]) and not is_python_cell([kept[index]]):
            following = range(index + 1, len(kept))
            end = next((n for n in following if _CELL.match(kept[n])), None)
            if end is None:
                end = next((n for n in following if not kept[n].strip()), len(kept))
            kept[index:end] = [""] * (end - index)
            index = end
        index += 1
    return kept


def _cell_of(lines: Sequence[str], line: int | None) -> range:
    """The lines, counted from 1, of the cell around a line."""
    at = (line or 1) - 1
    start = next((n for n in range(at, -1, -1) if _CELL.match(lines[n])), 0)
    end = next((n for n in range(at + 1, len(lines)) if _CELL.match(lines[n])), len(lines))
    return range(start + 1, end + 1)


def _blank_cells(codes: list[str], display: str, problem: Problem) -> Iterator[SourceError]:
    """Blanks each cell of `codes` that does not parse, and reports it. A file without cells stays unchanged."""
    starts = [index for index, line in enumerate(codes) if _CELL.match(line)]
    if not starts:
        return
    bounds = [0, *starts, len(codes)]
    for start, end in itertools.pairwise(bounds):
        wrong = problem(_module(codes[start:end])) if start < end else None
        if wrong is not None:
            line, message = wrong
            yield SourceError(display, f"{message} (its cell was left out)", start + (line or 1))
            codes[start:end] = [""] * (end - start)
