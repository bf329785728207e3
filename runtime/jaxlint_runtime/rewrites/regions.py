"""Statements of loops on the host that compute on arrays alone: each stretch of them proposed as one jitted function.

What may be compiled, the codemod says (`jaxlint.codemods.region`); here are the places, and which of them are worth a try.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.site import Site
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.capture.observed_results import MODULE
from jaxlint_runtime.rewrites.loop_edits import function_at
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of, imported, told
from jaxlint_runtime.source_analysis.parsing import tree_of

_LEAST_SHARE = 0.03  # of the time in the busiest function
_OFTEN = 8  # calls of a function whose own statements are worth compiling
_MOST_PLANS = 40  # that are drawn up for one function
_MOST = 3  # regions of a function that are tried, one instead of the other
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.FunctionDef)  # that a region may hold
_LOOPS = (ast.For, ast.While)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def from_regions(watched: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """For each busy function of the host, its largest region that can be compiled, and smaller ones where that fails."""
    busiest = max((one["seconds"] or 0.0 for one in watched), default=0.0)
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    found = []
    for one in watched:
        source = by_path.get(one["path"])
        if source is None or source.container is not None or not one["calls"]:
            continue
        if (one["seconds"] or 0.0) < _LEAST_SHARE * busiest:
            continue
        around = _body_of(one, source)
        if not around:
            continue
        rewrite: Rewrite | None = None
        for transform in reversed(_transforms(source)):
            for fix in reversed(_fixes(one, around, source, sources, transform)):
                name = f"region-to-jit:{told(transform, ())}"
                rewrite = edit_of(name, one, fix.steps[0].span.line, [fix], rewrite)
        found += [rewrite] if rewrite is not None else []
    return found


def script(path: str, seconds: float) -> dict[str, Any]:
    """The code of a program outside of its functions, as if it were a function that was watched."""
    place = {"path": os.path.realpath(path), "function": MODULE, "line": 1}
    return {**place, "calls": 1, "seconds": seconds, "arguments": None}


def _body_of(one: Mapping[str, Any], source: SourceFile) -> list[ast.stmt]:
    """The statements of a watched function, or of the program's own module; none where they are not found."""
    if one["function"] == MODULE:
        tree = tree_of(source)
        return tree.body if tree is not None else []
    function = function_at(source, one["function"], one["line"])
    return function.body if function is not None else []


def _transforms(source: SourceFile) -> list[str]:
    """The transformations that may compile a region of a file, the best first."""
    roots = imported(source)
    if "flax.nnx" in roots:
        return ["flax.nnx.jit"]
    return ["equinox.filter_jit", "jax.jit"] if "equinox" in roots else ["jax.jit"]


def _fixes(
    one: Mapping[str, Any],
    body: list[ast.stmt],
    source: SourceFile,
    sources: Mapping[str, SourceFile],
    transform: str,
) -> list[FixRequest]:
    """The regions of a function that the codemod compiles, the largest first."""
    workspace = Workspace(dict(sources), strict=True)
    site = Site(source)
    found: list[tuple[int, FixRequest]] = []
    plans = 0
    calls = transform == "flax.nnx.jit"
    for stretch in stretches(body, own=one["calls"] >= _OFTEN, calls=calls):
        least = 1
        for length in range(len(stretch), 0, -1):
            if length < least or plans >= _MOST_PLANS:
                break
            for start in range(len(stretch) - length + 1):
                part = stretch[start : start + length]
                if not _is_worth_it(part):
                    continue
                plans += 1
                fix = _fix(part, one, source, site, transform)
                if not isinstance(workspace.plan(fix), str):
                    found.append((length, fix))
                    least = length  # what is shorter lies in it, or beside it
                    break
    return [fix for _, fix in sorted(found, key=lambda each: -each[0])[:_MOST]]


def stretches(body: list[ast.stmt], *, own: bool, calls: bool = False) -> Iterator[list[ast.stmt]]:
    """Statements of the loops in the `body` of a function that follow each other and only assign.

    `own`: of the body itself, too. `calls`: those that only call something, as an optimiser of nnx is called, may be among them.
    """
    waiting: list[tuple[list[ast.stmt], bool]] = [(body, own)]
    while waiting:
        block, repeated = waiting.pop(0)
        stretch: list[ast.stmt] = []
        for statement in block:
            called = calls and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            if repeated and (called or isinstance(statement, _SIMPLE)):
                stretch.append(statement)
                continue
            if stretch:
                yield stretch
                stretch = []
            if isinstance(statement, _NESTED):
                continue
            inside = repeated or isinstance(statement, _LOOPS)
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner:
                    waiting.append((inner, inside))
        if stretch:
            yield stretch


def _is_worth_it(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements call or compute something; a single call may be of a function that is compiled already."""
    work = sum(
        isinstance(node, (ast.Call, ast.BinOp, ast.AugAssign)) for one in statements for node in ast.walk(one)
    )
    return work > 1


def _fix(
    statements: Sequence[ast.stmt], one: Mapping[str, Any], source: SourceFile, site: Site, transform: str
) -> FixRequest:
    first, last = site.span(statements[0]), site.span(statements[-1])
    span = Span(first.line, first.column, last.end_line, last.end_column)
    parameters = {
        "transform": transform,
        "function": one["function"],
        "arguments": [dict(entry) for entry in one["arguments"] or ()],
    }
    step = Step("region-to-jit", source.display, span, parameters)
    where = f"lines {span.line} to {span.end_line}" if span.line != span.end_line else f"line {span.line}"
    of = "the program" if one["function"] == MODULE else one["function"]
    return FixRequest(Safety.UNSAFE, f"Compile {where} of {of} as one function", (step,))
