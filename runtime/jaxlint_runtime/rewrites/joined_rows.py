"""`jnp.array` of the host's rows: NumPy joins them first in the edited program."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site, place_of
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of

_SAVED = 0.8  # share of the time of such a call


def from_rows(calls: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """One edit for each function with such calls."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    workspace = Workspace(dict(sources), strict=True)
    groups: dict[tuple[str, str], list[tuple[float, FixRequest]]] = {}
    for one in calls:
        source = by_path.get(os.path.realpath(one["path"]))
        if source is None or source.container is not None:
            continue
        site = Site(source)
        line, last, column, end = one["place"]
        for node in ast.walk(site.tree):
            if isinstance(node, ast.Call) and node.args and place_of(node) == [line, column, last, end]:
                step = Step("wrap-call", source.display, site.span(node.args[0]), {"function": "numpy.array"})
                message = f"Join the rows of `{site.text(node.func)}` in NumPy"
                fix = FixRequest(Safety.UNSAFE, message, (step,))
                if not isinstance(workspace.plan(fix), str):
                    groups.setdefault((source.display, one["function"]), []).append((one["seconds"], fix))
    found = []
    for (path, function), members in groups.items():
        seconds = _SAVED * sum(one for one, _ in members)
        entry = {"function": function, "path": os.path.realpath(path), "seconds": seconds}
        fixes = [fix for _, fix in members]
        found.append(edit_of("join-rows", entry, fixes[0].steps[0].span.line, fixes))
    return found
