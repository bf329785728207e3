"""New states that a training step computes and that get lost on their way out of the function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.api.syntax import FunctionNode, all_parameters, cache, dotted, nodes_of, walk
from jaxlint_rules._names import flattened, last_name, names_in, unpacked

_STEPS = frozenset({"apply_updates", "apply_gradients"})
_NO_STATES = ("key", "rng", "grad", "loss", "update")


def names_no_state(name: str) -> bool:
    """Whether a variable is named for something else than a state: a key, a loss, gradients."""
    return any(part in name.lower() for part in _NO_STATES)


class Lost(NamedTuple):
    """A new state that gets lost. `old`: what stays in its place."""

    name: str
    old: str


@cache
def lost_states(function: FunctionNode) -> dict[ast.AST, Lost]:
    """The calls that compute a new state which the function drops, though it trains something."""
    if isinstance(function, ast.Lambda):
        return {}
    found: dict[ast.AST, Lost] = dict(_not_written_back(function))
    called = {last_name(call.func) for call in nodes_of(function, ast.Call)}
    if called & _STEPS:
        found.update(_never_returned(function))
    if "apply_gradients" in called:
        found.update(_read_in_part(function))
    return found


def _not_written_back(function: FunctionNode) -> Iterator[tuple[ast.AST, Lost]]:
    """`params, state = self.params, self.state`, both updated in a loop, of which only `params` is stored again; and
    `params, state = step(self.params, self.state)`."""
    taken = {name: path for name, path in _bindings(function) if path.startswith("self.")}
    stored = {
        (dotted(target), value.id)
        for statement in nodes_of(function, ast.Assign)
        for target, value in _pairs(statement)
        if isinstance(value, ast.Name)
    }
    for statement in nodes_of(function, ast.Assign):
        call = statement.value
        if not isinstance(call, ast.Call):
            continue
        given = {part.id for part in call.args if isinstance(part, ast.Name)}
        paths = {dotted(part) for part in call.args if isinstance(part, ast.Attribute)}
        bound = [part.id for part in unpacked(statement.targets[0]) if isinstance(part, ast.Name)]
        renewed = {name: taken[name] for name in bound if name in taken and name in given}
        renewed |= {name: f"self.{name}" for name in bound if f"self.{name}" in paths}
        kept = [name for name, path in renewed.items() if (path, name) in stored]
        for name, path in renewed.items():
            if kept and name not in kept and not _leaves(name, function, statement):
                yield call, Lost(name, path)


def _bindings(function: FunctionNode) -> Iterator[tuple[str, str]]:
    for statement in nodes_of(function, ast.Assign):
        for target, value in _pairs(statement):
            if isinstance(target, ast.Name) and isinstance(value, ast.Attribute):
                yield target.id, dotted(value)


def _pairs(statement: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in statement.targets:
        targets, values = list(unpacked(target)), list(unpacked(statement.value))
        if len(targets) == len(values):
            yield from zip(targets, values, strict=True)


def _leaves(name: str, function: FunctionNode, updating: ast.Assign) -> bool:
    """Whether something but its own update reads a variable."""
    inside = set(walk(updating))
    return any(
        part.id == name and isinstance(part.ctx, ast.Load) and part not in inside
        for part in nodes_of(function, ast.Name)
    )


def _never_returned(function: FunctionNode) -> Iterator[tuple[ast.AST, Lost]]:
    """`(loss, state), grads = value_and_grad(f)(params, state, x)` in a step that does not return `state`."""
    parameters = {parameter.arg for parameter in all_parameters(function)} - {"self"}
    if not any(isinstance(part.value, ast.Tuple) for part in nodes_of(function, ast.Return)):
        return
    for statement in nodes_of(function, ast.Assign):
        call = statement.value
        if not isinstance(call, ast.Call) or len(statement.targets) != 1:
            continue
        given = {part.id for part in call.args if isinstance(part, ast.Name)}
        bound = [part.id for part in flattened(statement.targets[0]) if isinstance(part, ast.Name)]
        for name in bound:
            if name not in parameters & given or names_no_state(name):
                continue
            if isinstance(statement.targets[0], ast.Name) or name.startswith("_"):
                continue
            if not _leaves(name, function, statement) or not _read_later(name, function, statement):
                yield call, Lost(name, name)


def _read_later(name: str, function: FunctionNode, statement: ast.Assign) -> bool:
    end = statement.end_lineno or statement.lineno
    loops = [
        loop
        for loop in walk(function)
        if isinstance(loop, (ast.For, ast.While)) and loop.lineno < statement.lineno <= (loop.end_lineno or 0)
    ]
    return bool(loops) or any(
        part.id == name and isinstance(part.ctx, ast.Load) and part.lineno > end
        for part in nodes_of(function, ast.Name)
    )


def _read_in_part(function: FunctionNode) -> Iterator[tuple[ast.AST, Lost]]:
    """`new = state.apply_gradients(...)`, of which only `new.params` is read, while `state` goes on."""
    parents = {child: node for node in walk(function) for child in ast.iter_child_nodes(node)}
    for statement in nodes_of(function, ast.Assign):
        call, target = statement.value, statement.targets[0]
        if not isinstance(call, ast.Call) or last_name(call.func) != "apply_gradients":
            continue
        old = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if not isinstance(target, ast.Name) or not old or target.id == old:
            continue
        reads = [
            parents.get(part)
            for part in nodes_of(function, ast.Name)
            if part.id == target.id and isinstance(part.ctx, ast.Load)
        ]
        attributes = [read.attr for read in reads if isinstance(read, ast.Attribute)]
        if (
            reads
            and len(attributes) == len(reads)
            and "opt_state" not in attributes
            and _goes_on(old, function)
        ):
            yield call, Lost(target.id, old)


def _goes_on(name: str, function: FunctionNode) -> bool:
    """Whether a function returns a variable, or a copy of it, as its result or first in it."""
    return any(
        name in names_in(part)
        for statement in nodes_of(function, ast.Return)
        if statement.value is not None
        for part in unpacked(statement.value)
    )
