"""Makes a failing case small: fewer files, then fewer lines, then fewer tokens, as long as it fails in the same way."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

from benchmarks.robustness.cases import Case
from benchmarks.robustness.lexemes import split

Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails, seconds: float) -> Case:
    """The smallest case found within this time."""
    end = time.monotonic() + seconds
    budgeted = lambda candidate: time.monotonic() < end and fails(candidate)  # noqa: E731
    names = list(case.files)
    if len(names) > 1:
        kept = _ddmin(names, lambda some: budgeted(_with(case, {name: case.files[name] for name in some})))
        case = _with(case, {name: case.files[name] for name in kept})
    if case.options and budgeted(dataclasses.replace(case, options=())):
        case = dataclasses.replace(case, options=())
    for name in case.files:
        for cut in (_lines, _tokens):
            text = case.files[name].decode("latin-1")  # every byte comes back as it was
            pieces = cut(text)
            kept = _ddmin(pieces, lambda some, case=case, name=name: budgeted(_replaced(case, name, some)))  # type: ignore[misc]
            case = _replaced(case, name, kept)
    return case


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _tokens(text: str) -> list[str]:
    return split(text)


def _with(case: Case, files: dict[str, bytes]) -> Case:
    return dataclasses.replace(case, files=files)


def _replaced(case: Case, name: str, pieces: Sequence[str]) -> Case:
    return _with(case, {**case.files, name: "".join(pieces).encode("latin-1")})


def _ddmin(pieces: list[str], fails: Callable[[list[str]], bool]) -> list[str]:
    """Zeller's delta debugging, of complements alone: halves are left out, then quarters, and so on."""
    parts = 2
    while len(pieces) >= 2:
        size = -(-len(pieces) // parts)
        for start in range(0, len(pieces), size):
            rest = pieces[:start] + pieces[start + size :]
            if fails(rest):
                pieces, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(pieces), parts * 2)
    return pieces
