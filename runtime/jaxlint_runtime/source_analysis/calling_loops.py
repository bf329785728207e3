"""The loops that call functions, by the names that they call."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable

from jaxlint.source.file import SourceFile
from jaxlint_runtime.source_analysis.parsing import tree_of


def calling_loops(sources: Iterable[SourceFile]) -> dict[str, tuple[str, int]]:
    """For each name that is called in a loop, file and line of the innermost loop of the first such call."""
    found: dict[str, tuple[str, int]] = {}
    for source in sources:
        tree = tree_of(source)
        loops = [one for one in ast.walk(tree) if isinstance(one, ast.For | ast.While)] if tree else []
        for loop in reversed(loops):  # the walk goes from the outside to the inside
            for call in ast.walk(loop):
                if isinstance(call, ast.Call):
                    name = getattr(call.func, "attr", "") or getattr(call.func, "id", "")
                    found.setdefault(name, (os.path.realpath(source.path), loop.lineno))
    return found
