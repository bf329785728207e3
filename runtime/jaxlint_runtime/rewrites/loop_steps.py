"""Host loops that compute on arrays and also fetch numbers: each is proposed as one jitted `lax.scan` over
all steps.

The codemod (`jaxlint.codemods.loop_steps`) decides which statements may be compiled and which host statements
may follow.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint.codemods import Compatible, Plan, Refused, Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import Edit, FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.loop_edits import is_short
from jaxlint_runtime.rewrites.proposals import Rewrite, busy, codemods_of, edit_of
from jaxlint_runtime.rewrites.regions import NESTED, body_of, named, seen_of

_NAME = "loop-to-steps"
_BETWEEN = "steps-between-looks"
_WAYS = {_NAME: "Compile all steps of the loop at line {} of {} as one", _BETWEEN: "Compile the steps of the loop at line {} of {} between two reads by the host"}  # fmt: skip
_KNOWN = ("int", "bool", "str", "float")  # types of arguments that may be known when the steps are compiled


def from_host_loops(watched: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """For each busy host function, the loops that may become steps. Integers are tried as static, then as
    traced, then with static floats as well. The first step runs with the others, or before them if a carry
    starts as a number.
    """
    found = []
    for one, source in busy(watched, sources):
        rewrite: Rewrite | None = None
        known = [
            (entry["name"], entry["type"]) for entry in one["arguments"] or () if entry["type"] in _KNOWN
        ]
        exact = tuple(name for name, kind in known if kind != "float")
        every = tuple(name for name, _ in known)
        before: list[list[Edit]] = []
        ways: dict[tuple[bool, tuple[str, ...]], list[FixRequest]] = {}
        for apart, static in itertools.product((False, True), dict.fromkeys([(), exact, every])):
            fixes, edits = _fixes(one, source, sources, static, apart=apart)
            if fixes and edits not in before:
                before.append(edits)
                ways[apart, static] = fixes
        order = dict.fromkeys(
            [*([every] if every != exact else []), (), exact]
        )  # what is tried first comes last
        for apart, static in itertools.product((True, False), order):
            if fixes := ways.get((apart, static), []):
                details = [f"{', '.join(static)} static"] if static else []
                how = ":".join([codemods_of(fixes), *(["the first step apart"] if apart else []), *details])
                rewrite = edit_of(how, one, fixes[0].steps[0].span.line, fixes, rewrite)
        found += [rewrite] if rewrite is not None else []
    return found


def _fixes(
    one: Mapping[str, Any],
    source: SourceFile,
    sources: Mapping[str, SourceFile],
    static: Sequence[str],
    *,
    apart: bool,
) -> tuple[list[FixRequest], list[Edit]]:
    """The fixes of a function's loops that can be applied together, and their edits."""
    workspace, site = Workspace(dict(sources), strict=True), Site(source)
    fixes: list[FixRequest] = []
    plans: list[Plan] = []
    compatible = Compatible()
    loops = _loops(body_of(one, source))

    def ways(loop: ast.For, *, apart: bool) -> Iterator[tuple[FixRequest, Plan]]:
        parameters = {
            **seen_of(one),
            "static": list(static),
            "once": one["calls"] == 1,
            "lines": [loop.lineno, loop.end_lineno],
            "apart": apart,
        }
        for way, message in _WAYS.items():
            step = Step(way, source.display, site.span(loop.iter), parameters)
            fix = FixRequest(Safety.UNSAFE, message.format(loop.lineno, named(one)), (step,))
            plan = workspace.plan(fix)
            if not isinstance(plan, str):
                yield fix, plan

    begins = [loop for loop in loops if any(ways(loop, apart=True))] if apart else []
    if apart and not begins:
        return [], []
    for loop in loops:
        for fix, plan in ways(loop, apart=loop in begins):
            if compatible.take(plan):
                fixes.append(fix)
                plans.append(plan)
                break
    try:
        return fixes, workspace.edits(plans)
    except Refused:
        return fixes, []


def _loops(body: Sequence[ast.stmt]) -> list[ast.For]:
    """The loops of a function, the inner ones first."""
    found: list[ast.For] = []
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, NESTED):
            continue
        if isinstance(node, ast.For) and not is_short(node):
            found.append(node)
        waiting += ast.iter_child_nodes(node)
    return found[::-1]


def is_inside(rewrite: Rewrite, other: Rewrite) -> bool:
    """Whether an edit only changes loops that another edit turns into steps."""
    loops = [
        (step.path, lines)
        for fix in other.fixes
        for step in fix.steps
        if step.codemod in _WAYS and isinstance(lines := step.parameters["lines"], list)
    ]
    places = [(step.path, step.span) for fix in rewrite.fixes for step in fix.steps]
    return bool(loops) and all(
        any(path == at and lines[0] <= span.line and span.end_line <= lines[1] for at, lines in loops)
        for path, span in places
    )
