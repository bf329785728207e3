"""Jitted functions that compile for each length of their arguments: the edited program pads these to one length."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of, seconds_of_compiles

_NAME = "pad-arguments"


def from_lengths(functions: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """For each file, its functions whose arguments may be padded, in one edit; each alone if that is refused."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    found = []
    for path in dict.fromkeys(one["path"] for one in functions):
        source = by_path.get(os.path.realpath(path))
        varying = [one for one in functions if one["path"] == path and _may_pad(one, path)]
        if source is None or source.container is not None or not varying:
            continue
        varying.sort(key=lambda one: -seconds_of_compiles(one))
        for members in (varying, *([one] for one in varying)):
            rewrite = _edit(members, source, sources)
            if rewrite is not None:
                found.append(rewrite)
                break
    return found


def _may_pad(one: Mapping[str, Any], path: str) -> bool:
    padding = one.get("padding") or {}
    calls = padding.get("calls", ())
    return bool(padding.get("arrays") and calls) and all(each["path"] == path for each in calls)


def _edit(
    members: Sequence[Mapping[str, Any]], source: SourceFile, sources: Mapping[str, SourceFile]
) -> Rewrite | None:
    """The edit that pads the arguments of functions; None if the codemod refuses it."""
    data = []
    for one in members:
        padding = one["padding"]
        masks = [{**each, "place": each["place"][1:]} for each in padding["masks"]]
        calls = [each["place"] for each in padding["calls"]]
        known = {"names": padding["names"], "arrays": padding["arrays"], "line": one["line"]}
        data.append({"calls": calls, **known, "masks": masks})
    line, column, last, end = min(place for one in data for place in one["calls"])
    names = " and ".join(f"`{one['function']}`" for one in members)
    message = f"Pad the arguments of {names} to one length"
    span = Span(line, column + 1, last, end + 1)
    fix = FixRequest(Safety.UNSAFE, message, (Step(_NAME, source.display, span, {"functions": data}),))
    if isinstance(Workspace(dict(sources), strict=True).plan(fix), str):
        return None
    busiest = members[0]
    seconds = sum(map(seconds_of_compiles, members))
    entry = {"function": busiest["function"], "path": busiest["path"], "seconds": seconds}
    return edit_of(_NAME, entry, line, [fix])
