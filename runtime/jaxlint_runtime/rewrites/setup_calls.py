"""Set-up calls that run op by op, such as `model.init(key, x)`: proposed for `jit` at the call."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.name_scopes import Names
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.jaxapi.optimizers import makes_optimizer
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite, imported
from jaxlint_runtime.source_analysis.parsing import tree_of

_LEAST_SECONDS = 0.2  # seconds in compiling the operations of a function's calls one by one
_MOST = 4  # calls that are tried
# calls of a set-up function; in one that is called more often, `jax.jit(model.apply)` would compile each time
_SETUPS = 8
_WORKING = 3.0  # times the compile time of its operations: a call that takes longer does more than set-up
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def from_eager_calls(
    calls: Iterable[Mapping[str, Any]],
    sources: Mapping[str, SourceFile],
    watched: Sequence[Mapping[str, Any]],
    changed: Collection[str],
) -> list[Rewrite]:
    """One edit for each function with set-up calls: all of its calls together, with the most expensive one as
    fallback. In place of a call that cannot be jitted, as of a class, the calls under it.

    `calls`: outer ones come before those under them. `watched` has the timed functions, `changed` the names of functions that
    other edits change.
    """
    closed: set[int] = set()  # calls under which no other is compiled
    workspace = Workspace(dict(sources), strict=True)
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    often = {(one["path"], one["function"]) for one in watched if (one["calls"] or 0) > _SETUPS}
    working = {one["function"]: one["seconds"] or 0.0 for one in watched if one["calls"]}
    groups: dict[tuple[str, str], list[tuple[float, str, FixRequest]]] = {}
    refusals: dict[tuple[str, str], list[tuple[float, str, FixRequest]]] = {}
    for one in calls:
        if not closed.isdisjoint(one.get("within", ())):
            continue
        closed.add(one.get("number", -1))
        source = by_path.get(one["path"])
        if source is None or source.container is not None or (one["path"], one["function"]) in often:
            continue
        call = _call(source, tuple(one["place"]))
        if call is None:
            continue
        name = ast.unparse(call.func)
        if (Site(source).names.qualified(call.func) or "").startswith("jax."):
            # `jax.tree.map(jnp.zeros_like, params)`: one or two operations for each leaf, and no function of the
            # program
            continue
        if name in changed or working.get(name, 0.0) > _WORKING * one["seconds"]:
            continue
        fix = _fix(call, source, one["plain"])
        refused = fix is None or isinstance(workspace.plan(fix), str)
        if refused:
            closed.discard(one.get("number", -1))
        if fix is not None:
            of = refusals if refused else groups
            of.setdefault((one["path"], one["function"]), []).append((one["seconds"], name, fix))
    groups = {**{place: found[:1] for place, found in refusals.items()}, **groups}  # told with the reason
    return [
        _rewrite(place, found[:_MOST])
        for place, found in groups.items()
        if sum(seconds for seconds, _, _ in found) >= _LEAST_SECONDS
    ]


def _rewrite(place: tuple[str, str], found: Sequence[tuple[float, str, FixRequest]]) -> Rewrite:
    (path, function), names = place, [name for _, name, _ in found]
    first = found[0][2].steps[0]
    return Rewrite(
        name=f"jit-call:{', '.join(names)}",
        code=None,
        function=function,
        path=path,
        line=first.span.line,
        summary=f"compile {' and '.join(names)} as a whole where {'they are' if len(names) > 1 else 'it is'} called "
        f"({first.parameters['transform']})",
        fixes=tuple(fix for _, _, fix in found),
        estimate=sum(seconds for seconds, _, _ in found),
        instead=_rewrite(place, found[:1]) if len(found) > 1 else None,
    )


def _call(source: SourceFile, place: tuple[int, ...]) -> ast.Call | None:
    """The call at a place, unless it is in a loop of its function."""
    tree = tree_of(source)
    if tree is None:
        return None
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, repeated = waiting.pop()
        if isinstance(node, ast.Call):
            if (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == place:
                return None if repeated else node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            repeated = False
        repeated = repeated or isinstance(node, _LOOPS)
        waiting += [(child, repeated) for child in ast.iter_child_nodes(node)]
    return None


def _fix(call: ast.Call, source: SourceFile, plain: Mapping[str, str]) -> FixRequest | None:
    """The edit, with untraceable arguments static; None if nothing would be traced, or an argument can be neither."""
    names = Site(source).names
    by_position = [_kind(value, plain, names) for value in call.args]
    by_name = [(one.arg, _kind(one.value, plain, names)) for one in call.keywords]
    kinds = {*by_position, *(kind for _, kind in by_name)}
    static = {"static"} if None not in kinds else {"static", "float"}
    transform = _transform(imported(source))
    if "unhashable" in kinds or kinds <= static:
        return None
    if transform == "jax.jit" and isinstance(call.func, ast.Name) and plain.get(call.func.id) == "class":
        return None  # jit cannot return an object
    parameters: dict[str, Any] = {
        "transform": transform,
        "static_argnums": [place for place, kind in enumerate(by_position) if kind in static],
        "static_argnames": [name for name, kind in by_name if name is not None and kind in static],
    }
    step = Step("jit-call", source.display, Site(source).span(call), parameters)
    return FixRequest(Safety.UNSAFE, f"Jit {ast.unparse(call.func)} where it is called", (step,))


def _transform(roots: Collection[str]) -> str:
    """The jit that accepts and returns the modules of the framework that a file imports."""
    if "equinox" in roots:
        return "equinox.filter_jit"
    return "flax.nnx.jit" if "flax.nnx" in roots else "jax.jit"


def _kind(value: ast.expr, plain: Mapping[str, str], names: Names) -> str | None:
    """The kind of an argument: "static", "float" (static beside arrays: set-up runs once, and a schedule or an optimiser that it
    makes may keep the number), "unhashable" (it can be neither static nor traced), None if it is traced."""
    if isinstance(value, ast.Constant):
        return "float" if isinstance(value.value, float | complex) else "static"
    if isinstance(value, ast.UnaryOp):
        return _kind(value.operand, plain, names)
    if isinstance(value, ast.BinOp):
        kinds = {_kind(one, plain, names) for one in (value.left, value.right)}
        return ("float" if "float" in kinds else "static") if kinds <= {"static", "float"} else None
    if isinstance(value, ast.Call) and makes_optimizer(names.qualified(value.func) or ""):
        return "unhashable"  # an optimiser: functions, and for `static` another object at each call
    if isinstance(value, ast.Tuple | ast.List) and value.elts:
        kinds = {_kind(item, plain, names) for item in value.elts}
        if kinds <= {"static", "float"}:
            return "static" if isinstance(value, ast.Tuple) else "unhashable"
        return None
    if isinstance(value, ast.Name | ast.Attribute):
        root: ast.expr = value
        while isinstance(root, ast.Attribute):
            root = root.value
        kind = plain.get(root.id) if isinstance(root, ast.Name) else None
        return "static" if kind == "class" else kind
    return "static" if isinstance(value, ast.Lambda) else None
