"""Functions that each object, or each call of a function, jits anew: the edited program jits them once, in the module, or in a method
of the object."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of, seconds_of_compiles
from jaxlint_runtime.source_analysis.calling_loops import least_calls

_ONCE, _METHOD = "jit-once", "jit-method"


def from_repeated_jits(
    functions: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]
) -> list[Rewrite]:
    """One edit for each function that the program passed to `jax.jit` more than once. A function that a method defines counts once for each
    call of the method: as often as the run has seen, or as a loop calls it."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    workspace = Workspace(dict(sources), strict=True)
    turns = least_calls(sources.values())
    found = []
    for one in functions:
        source = by_path.get(os.path.realpath(one["jit_path"] or ""))
        seen = one.get("wrappers") or 1
        if source is None or source.container is not None or not one["compiles"]:
            continue
        method = one["function"].rpartition(".<locals>.")[0].rpartition(".")[2]
        site = Site(source)
        for codemod, node in _places(site, one["jit_line"]):
            times = max(seen, turns.get(method, 1)) if codemod == _METHOD else seen
            if times < 2:
                continue
            where = "in the module" if codemod == _ONCE else "in a method"
            message = f"Jit {one['function'].rpartition('.')[2]} once, {where}"
            step = Step(codemod, source.display, site.span(node), {})
            fix = FixRequest(Safety.UNSAFE, message, (step,))
            if not isinstance(workspace.plan(fix), str):
                seconds = seconds_of_compiles(one) * (times - 1) / seen
                entry = {"function": one["function"], "path": source.display, "seconds": seconds}
                found.append(edit_of(codemod, entry, node.lineno, [fix]))
                break
    return found


def _places(site: Site, line: int) -> Iterator[tuple[str, ast.FunctionDef | ast.Call]]:
    """Where a function may be jitted in a line, each with the codemod that may jit it once."""
    for node in ast.walk(site.tree):
        if isinstance(node, ast.FunctionDef) and any(one.lineno == line for one in node.decorator_list):
            yield _METHOD, node
        elif isinstance(node, ast.Call) and node.lineno == line:
            yield _ONCE, node
