"""The results of a function that would be jitted, and which of them would change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set

from jaxlint.codemods.facts.dataflow import FUNCTIONS, root_of
from jaxlint.codemods.purity.last_values import last_given
from jaxlint.codemods.purity.nonempty_loops import NonemptyLoops
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, own_parts
from jaxlint.codemods.purity.values import (
    NUMBER,
    Inst,
    Made,
    Method,
    Plain,
    Unknown,
    Value,
    Values,
    leaves_of,
    unknown,
)
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.text_edits import shown_source

WORDS = {
    "number": "a Python number",
    "text": "a string",
    "numpy": "a NumPy array",
    "type": "a class or dtype",
}


def check_results(
    possible: PossibleValues,
    file: File,
    function: FunctionNode,
    seen: Iterable[Mapping[str, object]],
    static: Set[str],
    fetched: Set[str] = frozenset(),
) -> None:
    """Raises Refused if the function may return something other than an array on any path: `jit` would convert or
    change it. `fetched`: variables of which its callers make a number at once."""
    arrays = {
        str(entry["name"])
        for entry in seen
        if entry.get("type") == "ArrayImpl" or (entry.get("holds") and set(entry["holds"]) <= {"ArrayImpl"})  # type: ignore[call-overload]
    } - set(static)
    for returned in returned_expressions(function):
        for part in _parts_of(returned):
            is_of_arrays = _is_of(part, arrays, file, function)
            values = _last_value(part, function, possible, file) or possible.of(part, file)
            for value in leaves_of(values) if values else unknown():
                if isinstance(value, (Unknown, Method)) and is_of_arrays:
                    continue
                if value == NUMBER and isinstance(part, ast.Name) and part.id in fetched:
                    continue
                if (what := _changed_by_jit(value, possible)) is not None:
                    raise Refused(f"`{shown_source(part)}` at {possible.program.place(file, part)} {what}")


def _last_value(node: ast.expr, function: FunctionNode, possible: PossibleValues, file: File) -> Values:
    """The last value that a function assigns to a variable that it returns at its end; empty if that depends on the
    path."""
    if not isinstance(node, ast.Name) or isinstance(function, ast.Lambda):
        return frozenset()
    *before, last = function.body
    if not isinstance(last, ast.Return) or node not in set(ast.walk(last)):
        return frozenset()
    return last_given(node.id, before, possible, file, NonemptyLoops(possible).certainly_runs)


def _changed_by_jit(value: Value, possible: PossibleValues) -> str | None:
    if isinstance(value, Plain):
        return (
            f"may return {WORDS[value.kind]}, which would come back as a JAX array"
            if value.kind in WORDS
            else None
        )
    if isinstance(value, Inst):
        bases = possible.external_bases(value.cls)
        if any("TrainState" in base for base in bases):
            return _step_is_read(possible)
        for name in possible.fields(value.cls):
            for field in leaves_of(possible.attribute(value, name)):
                if isinstance(field, Plain) and field.kind in WORDS:
                    return f"may return an object with {WORDS[field.kind]} in `{name}`, which would come back as a JAX array"
        return None
    if isinstance(value, Made):
        return _step_is_read(possible) if _is_train_state(value.name) else None
    if isinstance(value, Unknown):
        return "may return something that is not an array, and would come back as a JAX array"
    return None


def _is_train_state(maker: str) -> bool:
    return maker.removesuffix(".create").endswith("TrainState")


def _step_is_read(possible: PossibleValues) -> str | None:
    """`TrainState.step` is a Python number until it has been through a jit."""
    for file, load in possible.program.loads.get("step", ()):
        if _takes_arrays_too(load, possible, file):
            continue
        for value in possible.of(load.value, file):
            if isinstance(value, (Unknown, Method)) or (
                isinstance(value, Made) and _is_train_state(value.name)
            ):
                return f"returns a state whose `step` would come back as a JAX array, and {possible.program.place(file, load)} may read it"
            if isinstance(value, Inst) and any(
                "TrainState" in base for base in possible.external_bases(value.cls)
            ):
                return f"returns a state whose `step` would come back as a JAX array, and {possible.program.place(file, load)} reads it"
    return None


def _takes_arrays_too(number: ast.Attribute, possible: PossibleValues, file: File) -> bool:
    """Whether the code around a number gives the same for an array with it: a key that is folded, a conversion, a text."""
    above = file.names.parents.get(number)
    if isinstance(above, ast.FormattedValue):
        return above.conversion == -1
    call = file.names.parents.get(above) if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or number is call.func:
        return False
    name = possible.name_of(call.func, file)
    if name in ("int", "float"):
        return call.args == [number]
    folded = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "data")]
    return name == "jax.random.fold_in" and folded == [number]


def returned_expressions(function: FunctionNode) -> list[ast.expr]:
    """The expressions in the `return`s of a function."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [
        part.value
        for statement in function.body
        if not isinstance(
            statement, (*FUNCTIONS, ast.ClassDef)
        )  # what a function inside returns is its caller's
        for part in [statement, *own_parts(statement)]
        if isinstance(part, ast.Return) and part.value is not None
    ]


def _parts_of(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.Tuple, ast.List)):
        return [part for item in node.elts for part in _parts_of(item)]
    if isinstance(node, ast.Dict):
        return [part for item in node.values for part in _parts_of(item)]
    return [node]


def _is_of(node: ast.expr, arrays: Set[str], file: File, function: FunctionNode) -> bool:
    """Whether an expression is part of a parameter that holds only arrays, or an array method's result for one."""
    root = root_of(node)
    if not (isinstance(root, ast.Name) and root.id in arrays):
        return False
    scope = file.names.scope_at(root).resolve(root.id)
    return scope is not None and scope.node is function and len(scope.bindings[root.id]) == 1
