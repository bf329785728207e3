"""Loops in executed functions that may become JAX loops. The proposals are generous, since the whole program is
compared with the original.

`check` reports a loop if it certainly costs time and its rows are arrays. Here the run shows the cost of a function,
and whether the rewritten one is equivalent. The codemods refuse unsafe rewrites.
"""

from __future__ import annotations

import ast
import dataclasses
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from jaxlint.codemods import Compatible, Workspace
from jaxlint.codemods.loops.early_stop import stop_of
from jaxlint.codemods.source.site import Site, place_of
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.capture.watched_functions import definitions
from jaxlint_runtime.rewrites.proposals import (
    LEAST_SHARE,
    Rewrite,
    codemods_of,
    definition,
    edit_of,
    jit_fix,
    jit_in_words,
    seconds_of_compiles,
    ways_to_jit,
)
from jaxlint_runtime.source_analysis.parsing import tree_of

_FEW = 4  # iterations
_SLOW = 1.0  # seconds of compiling one function that make a rewrite worth trying
_SEQUENCES = frozenset({"list", "tuple", "dict"})
_ARRAYS = frozenset({"ArrayImpl", "ndarray"})
_STACKING = frozenset({"stack", "array", "asarray"})
_MESSAGES = {
    "while-to-while-loop": "Rewrite as `lax.while_loop`",
    "break-to-while-loop": "Rewrite as `lax.while_loop`",
    "for-to-scan": "Rewrite as `lax.scan`",
    "for-to-vmap": "Rewrite as `vmap`",
    "stack-to-vmap": "Use `vmap`",
}


def from_loops(watched: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """Rewrites of the loops in each function that took time, with `jit` around it if the host calls it."""
    busiest = max((one["seconds"] or 0.0 for one in watched), default=0.0)
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    found = []
    for one in watched:
        source = by_path.get(one["path"])
        if source is None or source.container is not None:
            continue
        on_host = bool(one["calls"]) and (one["seconds"] or 0.0) >= LEAST_SHARE * busiest
        if not on_host and not one.get("inner_calls"):
            continue
        function = function_at(source, one["function"], one["line"])
        if function is None:
            continue
        lists = {
            entry["name"]: _are_alike(entry)
            for entry in (*(one.get("variables") or ()), *(one["arguments"] or ()))
            if entry["type"] in _SEQUENCES
        }
        rewrite: Rewrite | None = None
        for fixes in _ways(function, source, lists, nested=not on_host):
            rewrite = (
                _with_jit(one, function, source, fixes, rewrite)
                if on_host
                else _alone(one, function, fixes, rewrite)
            )
        found += [rewrite] if rewrite is not None else []
    return found


def _ways(
    function: ast.FunctionDef, source: SourceFile, lists: Mapping[str, bool], *, nested: bool
) -> list[list[FixRequest]]:
    """The rewrites of a function's loops, the best last."""
    best, other = (_rewritable(function, source, lists, nested=nested, sums=sums) for sums in (True, False))
    return [fixes for fixes in ([other] if other != best else []) + [best] if fixes]


def from_compiled(functions: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """Rewrites of the loops in jitted functions that took long to compile, and in functions of their files that they call: a trace
    unrolls them."""
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    found: dict[tuple[str, int], Rewrite] = {}
    for one in functions:
        seconds = seconds_of_compiles(one)
        source = by_path.get(os.path.realpath(one["path"]))
        if seconds < _SLOW or source is None or source.container is not None:
            continue
        for function, name in _reached(source, _at(source, one["line"])):
            rewrite: Rewrite | None = None
            entry = {"function": name, "path": one["path"], "seconds": seconds}
            for fixes in _ways(function, source, {}, nested=True):
                rewrite = _alone(entry, function, fixes, rewrite)
            if rewrite is not None:
                found.setdefault((source.display, function.lineno), rewrite)
    return list(found.values())


def _at(source: SourceFile, line: int) -> list[tuple[ast.FunctionDef, str]]:
    """The function defined or decorated in a line, under any name that a decorator gives it, with its qualified name."""
    tree = tree_of(source)
    if tree is None:
        return []
    return [
        (node, name)
        for node, name in definitions(tree)
        if isinstance(node, ast.FunctionDef)
        and line in (node.lineno, *(one.lineno for one in node.decorator_list))
    ]


def _reached(
    source: SourceFile, first: Sequence[tuple[ast.FunctionDef, str]]
) -> list[tuple[ast.FunctionDef, str]]:
    """Functions, and those of the file whose names they mention, and so on."""
    tree = tree_of(source)
    by_name: dict[str, list[tuple[ast.FunctionDef, str]]] = {}
    for node, name in definitions(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            by_name.setdefault(node.name, []).append((node, name))
    found = {name: node for node, name in first}
    waiting = list(found.values())
    while waiting:
        for part in ast.walk(waiting.pop()):
            named = part.id if isinstance(part, ast.Name) else getattr(part, "attr", "")
            for node, name in by_name.get(named, ()):
                if name not in found:
                    found[name] = node
                    waiting.append(node)
    return [(node, name) for name, node in found.items()]


def function_at(source: SourceFile, name: str, line: int) -> ast.FunctionDef | None:
    tree = tree_of(source)
    if tree is None:
        return None
    last = name.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == last:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if line in (first, node.lineno):
                return node
    return None


def _rewritable(
    function: ast.FunctionDef,
    source: SourceFile,
    lists: Mapping[str, bool],
    *,
    nested: bool,
    sums: bool = True,
) -> list[FixRequest]:
    """Compatible fixes for the loops of a function that a codemod can rewrite; of nested loops the outer one.

    `lists`: containers, whose items are not rows, and whether those are alike, so that they can be stacked. `nested`: also inner loops, which each iteration would compile if the
    function itself is not compiled. `sums`: sums of a loop may be computed for all iterations at once.
    """
    chosen: list[FixRequest] = []
    compatible = Compatible()
    for fixes in _loops(function, source, lists, nested, sums):
        for fix in fixes:
            plan = Workspace({source.display: source}, strict=None).plan(fix)
            if not isinstance(plan, str):
                if compatible.take(plan):
                    chosen.append(fix)
                break
    return chosen


def _loops(
    function: ast.FunctionDef, source: SourceFile, lists: Mapping[str, bool], nested: bool, sums: bool
) -> Iterator[list[FixRequest]]:
    """For each loop its rewrites, the best first."""
    waiting: list[tuple[ast.AST, bool]] = [(child, False) for child in function.body]
    while waiting:
        node, inside = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        allowed = nested or not inside
        stop = stop_of(node) if isinstance(node, ast.For | ast.While) and allowed else None
        if stop is not None:
            # otherwise the first iteration runs before the loop, and is compiled for itself
            yield [_fix("break-to-while-loop", stop.test, source, **({"zeros": True} if sums else {}))]
        elif (
            isinstance(node, ast.For) and allowed and not _runs_over(node.iter, lists) and not is_short(node)
        ):
            ways = [_fix(name, node.iter, source) for name in ("for-to-vmap", "for-to-scan")]
            # all summands are then stored at once, which may be too much; a scan is the alternative
            added = [_fix("for-to-vmap", node.iter, source, sums=True)] if sums else []
            # a list that the program uses as one is cut out of the result again
            cut = [_fix(name, node.iter, source, listed=True) for name in ("for-to-vmap", "for-to-scan")]
            yield [ways[0], *added, ways[1], *cut]
        elif (
            isinstance(node, ast.For)
            and allowed
            and isinstance(node.iter, ast.Name)
            and lists.get(node.iter.id)
        ):
            ways = [_fix(name, node.iter, source, layers=True) for name in ("for-to-vmap", "for-to-scan")]
            added = [_fix("for-to-vmap", node.iter, source, layers=True, sums=True)] if sums else []
            yield [ways[0], *added, ways[1]]
        elif isinstance(node, ast.While) and allowed:
            yield [_fix("while-to-while-loop", node.test, source, host=True)]
        elif isinstance(node, ast.Call) and allowed and _stacks_rows(node):
            yield [_fix("stack-to-vmap", node, source)]
        inside = inside or isinstance(node, ast.For | ast.While)
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]


def _are_alike(described: Mapping[str, Any]) -> bool:
    """Whether the items of a list have arrays of the same shapes at the same places, as far as a run described them."""
    items: dict[str, dict[str, Any]] = {}
    for leaf in described.get("leaves", ()):
        item, bracket, rest = leaf.get("place", "").partition("]")
        if not bracket or not item[1:].isdigit():
            return False
        items.setdefault(item, {})[rest] = (leaf["shape"], leaf["dtype"], leaf["weak_type"])
    of_arrays = set(described.get("holds", ())) <= _ARRAYS and "more_leaves" not in described
    first = next(iter(items.values()), None)
    return of_arrays and len(items) > 1 and all(one == first for one in items.values())


def _runs_over(iterable: ast.expr, lists: Collection[str]) -> bool:
    """Whether the iterable of a loop is one of `lists`, or part of one."""
    if isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") in (
        "zip",
        "enumerate",
        "reversed",
    ):
        return any(_runs_over(one, lists) for one in iterable.args)
    root: ast.AST = iterable
    while isinstance(root, ast.Subscript | ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in lists


def is_short(loop: ast.For) -> bool:
    """Whether a loop visibly has few iterations, as over layers or epochs."""
    over = loop.iter
    if isinstance(over, ast.Tuple | ast.List):
        return True
    if not isinstance(over, ast.Call) or getattr(over.func, "id", "") != "range" or len(over.args) != 1:
        return False
    count = over.args[0]
    return isinstance(count, ast.Constant) and isinstance(count.value, int) and count.value <= _FEW


def _stacks_rows(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _STACKING and bool(call.args) and isinstance(call.args[0], ast.ListComp | ast.GeneratorExp)


def _fix(codemod: str, node: ast.expr, source: SourceFile, **parameters: object) -> FixRequest:
    span = Site(source).span(node)
    message = _MESSAGES[codemod] + (" and sum, which adds in another order" if parameters.get("sums") else "")
    return FixRequest(Safety.UNSAFE, message, (Step(codemod, source.display, span, dict(parameters)),))


def _alone(
    one: Mapping[str, Any],
    function: ast.FunctionDef,
    fixes: Sequence[FixRequest],
    instead: Rewrite | None = None,
) -> Rewrite:
    return edit_of(f"loops:{codemods_of(fixes)}", one, function.lineno, fixes, instead)


def without_those(findings: Sequence[Rewrite], loops: Sequence[Rewrite]) -> list[Rewrite]:
    """Edits from findings that are not part of loop rewrites."""
    taken = {
        (os.path.realpath(step.path), step.span)
        for one in loops
        for fix in one.fixes
        for step in fix.steps
        if step.codemod in _MESSAGES
    }
    return [
        one
        for one in findings
        if not all(
            (os.path.realpath(step.path), step.span) in taken for fix in one.fixes for step in fix.steps
        )
    ]


def _with_numbers(fix: FixRequest) -> FixRequest:
    """The rewrite of a host loop: its counters are Python numbers afterwards, as before."""
    steps = tuple(
        dataclasses.replace(step, parameters={**step.parameters, "numbers": True}) for step in fix.steps
    )
    return dataclasses.replace(fix, steps=steps)


def _places(function: ast.FunctionDef, source: SourceFile, fixes: Sequence[FixRequest]) -> list[list[int]]:
    """The places of a function's loops that the fixes rewrite."""
    site = Site(source)
    spans = {step.span for fix in fixes for step in fix.steps}
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.While | ast.Call):
            head = (
                node.iter if isinstance(node, ast.For) else node.test if isinstance(node, ast.While) else node
            )
            stop = stop_of(node) if isinstance(node, ast.For | ast.While) else None
            if site.span(head) in spans or (stop is not None and site.span(stop.test) in spans):
                found.append(place_of(node))
    return found


def _with_jit(
    one: Mapping[str, Any],
    function: ast.FunctionDef,
    source: SourceFile,
    fixes: Sequence[FixRequest],
    instead: Rewrite | None,
) -> Rewrite:
    """The rewritten loops with the function jitted: otherwise each call would compile a JAX loop on the host."""
    rewrite = _alone(one, function, [_with_numbers(fix) for fix in fixes], instead)
    arrays = any("leaves" in argument for argument in one["arguments"] or ())
    if not arrays or definition(source, one["function"], one["line"]) is None:
        return rewrite
    places = _places(function, source, fixes)
    for transform, static in reversed(ways_to_jit(one, function, source)):
        summary = f"{rewrite.summary.partition(' and compile')[0]} and compile {function.name} as a whole"
        jit = jit_fix(function, source, transform, static, one["arguments"], places)
        jitted = _alone(one, function, [*fixes, jit], rewrite)
        rewrite = Rewrite(
            name=f"{jitted.name}:{jit_in_words(transform, static)}",
            code=None,
            function=jitted.function,
            path=jitted.path,
            line=jitted.line,
            summary=f"{summary} ({jit_in_words(transform, static)})",
            fixes=jitted.fixes,
            estimate=jitted.estimate,
            instead=rewrite,
        )
    return rewrite
