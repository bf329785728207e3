"""Jitted functions that compile for each length of an argument that a loop extends: the edited program pads it behind its end."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of, seconds_of_compiles

_NAME = "pad-growing-argument"


def from_ends(functions: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """One edit for each function whose result is read at the end of such an argument."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    found = []
    for one in functions:
        ends = one.get("ends")
        paths = {each["path"] for each in ends["calls"]} if ends else set()
        source = by_path.get(os.path.realpath(next(iter(paths)))) if len(paths) == 1 else None
        if not ends or source is None or source.container is not None:
            continue
        places = [each["place"] for each in ends["calls"]]
        line, column, last, end = min(places)
        message = f"Pad `{ends['name']}` of `{one['function']}` to one length"
        parameters = {**ends, "calls": places, "line": one["line"]}
        step = Step(_NAME, source.display, Span(line, column + 1, last, end + 1), parameters)
        fix = FixRequest(Safety.UNSAFE, message, (step,))
        if isinstance(Workspace(dict(sources), strict=True).plan(fix), str):
            continue
        entry = {"function": one["function"], "path": source.display, "seconds": seconds_of_compiles(one)}
        found.append(edit_of(_NAME, entry, line, [fix]))
    return found
