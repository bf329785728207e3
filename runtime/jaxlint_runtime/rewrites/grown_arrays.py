"""Arrays that grow in each iteration of a host loop, so that each iteration compiles: the edited program
stores their rows in a list.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.codemods import Compatible, Workspace
from jaxlint.codemods.loops.grown_arrays import growing_in
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite, busy, edit_of
from jaxlint_runtime.rewrites.regions import body_of, named, seen_of

_NAME = "grown-array-to-list"


def from_growing(watched: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """For each busy host function that is never traced, the loops in which an array grows."""
    found = []
    for one, source in busy(watched, sources):
        if one.get("inner_calls"):
            continue
        workspace, site, compatible = Workspace(dict(sources), strict=True), Site(source), Compatible()
        fixes = []
        for loop in (node for part in body_of(one, source) for node in ast.walk(part)):
            if not isinstance(loop, ast.For):
                continue
            own = next((node for node in ast.walk(site.tree) if _same_loop(node, loop)), None)
            arrays = [each.name for each in growing_in(own, site)] if isinstance(own, ast.For) else []
            if not arrays:
                continue
            message = (
                f"Keep the rows of {' and '.join(f'`{name}`' for name in arrays)} in a list in {named(one)}"
            )
            step = Step(_NAME, source.display, site.span(loop.iter), seen_of(one))
            fix = FixRequest(Safety.UNSAFE, message, (step,))
            plan = workspace.plan(fix)
            if not isinstance(plan, str) and compatible.take(plan):
                fixes.append(fix)
        if fixes:
            found.append(edit_of(_NAME, one, fixes[0].steps[0].span.line, fixes))
    return found


def _same_loop(node: ast.AST, loop: ast.For) -> bool:
    """Whether a node is the loop, in another tree of the same file."""
    return isinstance(node, ast.For) and (node.lineno, node.col_offset) == (loop.lineno, loop.col_offset)
