"""Functions that each object, or each call of a function, jits anew: the edited program jits them once."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of, seconds_of_compiles

_NAME = "jit-once"


def from_repeated_jits(
    functions: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]
) -> list[Rewrite]:
    """One edit for each function that the program passed to `jax.jit` more than once, and that compiled for it."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    workspace = Workspace(dict(sources), strict=True)
    found = []
    for one in functions:
        source = by_path.get(os.path.realpath(one["jit_path"] or ""))
        times = one.get("wrappers") or 1
        if source is None or source.container is not None or times < 2 or len(one["compiles"]) < 2:
            continue
        site = Site(source)
        for node in ast.walk(site.tree):
            if not isinstance(node, ast.Call) or node.lineno != one["jit_line"]:
                continue
            message = f"Jit {one['function']} once, in the module"
            step = Step(_NAME, source.display, site.span(node), {})
            fix = FixRequest(Safety.UNSAFE, message, (step,))
            if not isinstance(workspace.plan(fix), str):
                seconds = seconds_of_compiles(one) * (1 - 1 / times)
                entry = {"function": one["function"], "path": source.display, "seconds": seconds}
                found.append(edit_of(_NAME, entry, node.lineno, [fix]))
                break
    return found
