"""Functions whose state begins weakly typed: the edited program gives the arrays that it begins with a dtype.

Without it a jitted function compiles for its first call and again for the second. So does a function that another edit jits, or a
part of it: the edit of a function that runs op by op gains nothing alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.loop_edits import function_at
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of, seconds_of_compiles

_NAME = "give-dtype"
_BESIDE_OTHERS = 1e-6  # seconds: an edit that is only tried together with others


def from_weak_starts(
    functions: Sequence[Mapping[str, Any]],
    watched: Sequence[Mapping[str, Any]],
    sources: Mapping[str, SourceFile],
) -> list[Rewrite]:
    """One edit for each function, those that the program jits first; none that changes what another one does."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    workspace = Workspace(dict(sources), strict=True)
    found: list[Rewrite] = []
    taken: set[str] = set()
    for one in (*functions, *watched):
        source = by_path.get(os.path.realpath(one["path"]))
        function = function_at(source, one["function"], one["line"]) if source is not None else None
        if source is None or source.container is not None or function is None or not one.get("weak"):
            continue
        compiles = one.get("compiles")
        seconds = seconds_of_compiles(one) / len(compiles) if compiles else _BESIDE_OTHERS
        parameters: dict[str, Any] = {"starts": one["weak"]["starts"]}
        if "calls" in one["weak"]:
            path = os.path.realpath(source.path)
            parameters["calls"] = [
                each["place"] for each in one["weak"]["calls"] if os.path.realpath(each["path"]) == path
            ]
        step = Step(_NAME, source.display, Site(source).span(function), parameters)
        message = "Give the arrays that the state begins with a dtype"
        fix = FixRequest(Safety.UNSAFE, message, (step,))
        plan = workspace.plan(fix)
        if isinstance(plan, str):
            continue
        places = {str(edit.span) for draft in plan.drafts.values() for edit in draft.edits}
        if places <= taken:
            continue
        taken |= places
        entry = {"function": one["function"], "path": one["path"], "seconds": seconds}
        found.append(edit_of(_NAME, entry, function.lineno, [fix]))
    return found
