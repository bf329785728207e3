"""Arguments that the callers of jitted functions no longer need, by the checked source."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.codemods import Refused
from jaxlint.codemods.donation.dead_arguments import DeadArguments, dead_arguments
from jaxlint.codemods.source.site import Site
from jaxlint.source.file import SourceFile


def dead_arguments_of_callers(
    functions: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]
) -> list[tuple[str, int, list[int | str]]]:
    """Path, line and parameters for each jit, the parameters by position and by name."""
    found: dict[tuple[str, int], list[int | str]] = {}
    for one in functions:
        known = dead_arguments_at(one["jit_path"], one["jit_line"], sources)
        if known is not None:
            found[one["jit_path"], one["jit_line"]] = [*known[1].positions, *known[1].names]
    return [(*place, parameters) for place, parameters in found.items()]


def dead_arguments_at(
    path: str | None, line: int | None, sources: Mapping[str, SourceFile]
) -> tuple[str, DeadArguments] | None:
    """The arguments that callers of the function jitted there no longer need, and the name of its checked file."""
    if path is None or line is None:
        return None
    name = next((one for one in sources if os.path.realpath(one) == os.path.realpath(path)), None)
    if name is None or sources[name].container is not None:
        return None
    try:
        found = dead_arguments(Site(sources[name]), line)
    except (Refused, RecursionError):
        return None
    return None if found is None else (name, found)
