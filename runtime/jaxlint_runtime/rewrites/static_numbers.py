"""Jitted functions that compile for each number in a static argument: the edited program passes the numbers as arrays."""

from __future__ import annotations

import ast
import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jaxlint.codemods import Compatible, Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.loop_edits import function_at
from jaxlint_runtime.rewrites.proposals import Rewrite, edit_of, seconds_of_compiles

_NUMBERS = frozenset({"trace-static-argument", "array-argument"})


def from_numbers(
    functions: Sequence[Mapping[str, Any]],
    sources: Mapping[str, SourceFile],
    known: Iterable[Rewrite] = (),
) -> list[Rewrite]:
    """One edit for each function with such arguments. `known`: other edits, which may do the same."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    same = {
        (step.path, step.span.line, step.parameters.get("name"))
        for one in known
        for fix in one.fixes
        for step in fix.steps
        if step.codemod == "trace-static-argument"
    }
    found = []
    for one in functions:
        source = by_path.get(os.path.realpath(one["path"]))
        if source is None or source.container is not None or not one.get("numbers"):
            continue
        workspace, compatible, fixes = Workspace(dict(sources), strict=True), Compatible(), []
        for ways in _fixes(one, source):
            for fix in ways:
                plan = workspace.plan(fix)
                if isinstance(plan, str):
                    continue
                step = fix.steps[0]
                if (step.path, step.span.line, step.parameters["name"]) not in same and compatible.take(plan):
                    fixes.append(fix)
                break
        if fixes:
            entry = {"function": one["function"], "path": one["path"], "seconds": seconds_of_compiles(one)}
            found.append(edit_of(fixes[0].steps[0].codemod, entry, fixes[0].steps[0].span.line, fixes))
    return found


def with_selections(rewrites: Iterable[Rewrite]) -> list[Rewrite]:
    """The edits, and behind those that make a number traced the same one with a selection for each branch on it."""
    return [_selecting(one) if _traces_numbers(one) else one for one in rewrites]


def _traces_numbers(rewrite: Rewrite) -> bool:
    return all(step.codemod in _NUMBERS for fix in rewrite.fixes for step in fix.steps)


def _selecting(rewrite: Rewrite) -> Rewrite:
    fixes = tuple(
        dataclasses.replace(
            fix,
            steps=tuple(
                dataclasses.replace(step, parameters={**step.parameters, "branches": True})
                for step in fix.steps
            ),
        )
        for fix in rewrite.fixes
    )
    other = dataclasses.replace(rewrite, name=f"{rewrite.name}:branches", fixes=fixes)
    return dataclasses.replace(rewrite, instead=other)


def _fixes(one: Mapping[str, Any], source: SourceFile) -> Iterator[list[FixRequest]]:
    """For each argument the fix at the decorated function, and at the call that jits it."""
    site, line = Site(source), one["jit_line"]
    places: list[ast.AST | None] = [function_at(source, one["function"], one["line"])]
    if one["jit_path"] == one["path"]:
        places += [node for node in ast.walk(site.tree) if isinstance(node, ast.Call) and node.lineno == line]
    for argument in one["numbers"]:
        name, fields = argument["name"], list(argument["fields"])
        codemod = "trace-static-fields" if fields else "trace-static-argument"
        parameters = {"name": name, **({"fields": fields} if fields else {})}
        what = f"the numbers of `{name}`" if fields else f"`{name}`"
        message = f"Pass {what} to `{one['function']}` as arrays"
        yield [
            FixRequest(Safety.UNSAFE, message, (Step(codemod, source.display, site.span(node), own),))
            for own in (parameters, {**parameters, "branches": True})[: 1 if fields else 2]
            for node in places
            if node is not None
        ]
