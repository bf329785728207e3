"""The loops that call functions, by the names that they call."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

from jaxlint.source.file import SourceFile
from jaxlint_runtime.source_analysis.parsing import tree_of


def calling_loops(sources: Iterable[SourceFile]) -> dict[str, tuple[str, int]]:
    """For each name that is called in a loop, file and line of the innermost loop of the first such call."""
    found: dict[str, tuple[str, int]] = {}
    for source, loop, name in _calls(sources):
        found.setdefault(name, (os.path.realpath(source.path), loop.lineno))
    return found


def least_calls(sources: Iterable[SourceFile]) -> dict[str, int]:
    """For each name that is called in a loop, how often one run of the loop calls it: as often as a written `range` says, else twice."""
    found: dict[str, int] = {}
    for _, loop, name in _calls(sources):
        found[name] = max(found.get(name, 2), _turns(loop))
    return found


def _calls(sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, ast.For | ast.While, str]]:
    """The names that loops call, inner loops first."""
    for source in sources:
        tree = tree_of(source)
        loops = [one for one in ast.walk(tree) if isinstance(one, ast.For | ast.While)] if tree else []
        for loop in reversed(loops):  # the walk goes from the outside to the inside
            for call in ast.walk(loop):
                if isinstance(call, ast.Call):
                    yield source, loop, getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _turns(loop: ast.For | ast.While) -> int:
    """The iterations of `for _ in range(150)`; 0 for other loops."""
    over = loop.iter if isinstance(loop, ast.For) else None
    if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range" and len(over.args) == 1:
        count = over.args[0]
        if isinstance(count, ast.Constant) and type(count.value) is int:
            return count.value
    return 0
