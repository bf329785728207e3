"""Bindings and uses of names in a scope: what a compiled function captured, and how it changes later."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxlint.api.syntax import (
    FunctionNode,
    all_parameters,
    cache,
    children,
    dotted,
    names_stored,
    statements,
    walk,
)

Owner = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# Methods that mutate a list, dict or set.
_MUTATORS = frozenset(
    ["append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "add", "discard", "fill"]
)


@dataclass(slots=True)
class Place:
    """A place in a scope: its line, and the loops of this scope around it."""

    node: ast.AST
    line: int
    loops: tuple[ast.AST, ...]

    def shares_loop(self, other: Place) -> bool:
        """Whether some loop repeats both."""
        return bool(self.loops and other.loops and self.loops[-1] is other.loops[-1])


def between(changes: Iterable[Place], uses: Iterable[Place]) -> Place | None:
    """The first change with a use before it and another use after."""
    uses = tuple(uses)
    if not uses:
        return None
    for change in sorted(changes, key=lambda place: place.line):
        before = any(use.line < change.line or use.shares_loop(change) for use in uses)
        after = any(use.line > change.line or use.shares_loop(change) for use in uses)
        if before and after:
            return change
    return None


@dataclass(slots=True)
class Timeline:
    """The bindings, changes and uses of names in one scope, without nested functions."""

    bound: dict[str, list[Place]] = field(default_factory=dict)
    changed: dict[str, list[Place]] = field(default_factory=dict)  # "config", "config.lr": mutated
    used: dict[str, list[Place]] = field(default_factory=dict)


@cache
def timeline(owner: Owner) -> Timeline:
    """The timeline of names in the body of `owner`."""
    found = Timeline()
    body = owner.body if isinstance(owner.body, list) else []
    for statement in body:
        _visit(statement, (), found)
    return found


def _visit(node: ast.AST, loops: tuple[ast.AST, ...], found: Timeline) -> None:
    place = Place(node, getattr(node, "lineno", 0), loops)
    if isinstance(node, _DEFINITIONS):
        if not isinstance(node, ast.Lambda):
            found.bound.setdefault(node.name, []).append(place)
            for decorator in node.decorator_list:
                _visit(decorator, loops, found)
        return
    if isinstance(node, ast.Name):
        (found.used if isinstance(node.ctx, ast.Load) else found.bound).setdefault(node.id, []).append(place)
    elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        target = dotted(node) if isinstance(node, ast.Attribute) else dotted(node.value)
        found.changed.setdefault(target, []).append(place)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
        found.changed.setdefault(dotted(node.func.value), []).append(place)
    inner = (node, *loops) if isinstance(node, _LOOPS) else loops
    for child in children(node):
        _visit(child, inner, found)


@cache
def functions_of(tree: ast.Module) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    """The functions of a module, the outer ones first."""
    found = [node for node in statements(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return tuple(sorted(found, key=lambda node: node.lineno))


@cache
def users_of(tree: ast.Module) -> dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions of a module that read a name, by the name, the outer ones first."""
    found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for node in functions_of(tree):
        for name in timeline(node).used:
            found.setdefault(name, []).append(node)
    return found


@cache
def uses_of(owner: Owner, name: str) -> tuple[Place, ...]:
    """The places of a scope that use a function: by its name, and by names of functions that are made of it there, as
    `grad_fn = jax.value_and_grad(loss)` or `def run(x): return step(x)`."""
    line = timeline(owner)
    names, waiting = {name}, [name]
    while waiting:
        for place in line.used.get(waiting.pop(), ()):
            for made in _made_of(owner).get(place.node, ()):
                if made not in names and len(line.bound.get(made, ())) == 1:
                    names.add(made)
                    waiting.append(made)
        waiting += [made for made in _wrappers(owner, frozenset(names)) if made not in names]
        names |= set(waiting)
    return tuple(place for one in sorted(names) for place in line.used.get(one, ()))


@cache
def _made_of(owner: Owner) -> dict[ast.AST, tuple[str, ...]]:
    """The variables that hold a function made by a transformation, by the places that it is made of."""
    found: dict[ast.AST, tuple[str, ...]] = {}
    for statement in walk(owner):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            maker = dotted(statement.value.func).rpartition(".")[2]
            targets = tuple(target.id for target in statement.targets if isinstance(target, ast.Name))
            if maker in _MAKERS and targets:
                found.update((given, targets) for given in statement.value.args[:1])
    return found


def _wrappers(owner: Owner, names: frozenset[str]) -> list[str]:
    """The functions defined in a scope that call one of these by its name."""
    callers = _callers(owner)
    return [one for name in names for one in callers.get(name, ()) if one not in names]


@cache
def _callers(owner: Owner) -> dict[str, tuple[str, ...]]:
    """By name of what is called, the functions defined in a scope that call it."""
    found: dict[str, dict[str, None]] = {}
    for one in owner.body if isinstance(owner.body, list) else []:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for part in walk(one):
                if isinstance(part, ast.Call):
                    found.setdefault(dotted(part.func), {})[one.name] = None
    return {name: tuple(callers) for name, callers in found.items()}


_MAKERS = frozenset(
    """grad value_and_grad jit vmap pmap partial checkpoint remat jacfwd jacrev hessian filter_grad filter_value_and_grad
    filter_jit filter_vmap""".split()  # noqa: SIM905
)


def declared_global(node: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The names that a function declares global."""
    return frozenset(name for part in node.body if isinstance(part, ast.Global) for name in part.names)


@cache
def setters(tree: ast.Module) -> dict[str, frozenset[str]]:
    """The functions of a module that rebind a global variable, by the variable's name."""
    found: dict[str, set[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for name in declared_global(node) & names_stored(node):
                found.setdefault(name, set()).add(node.name)
    return {name: frozenset(functions) for name, functions in found.items()}


@cache
def free_reads(node: FunctionNode) -> tuple[tuple[str, ast.expr], ...]:
    """Names, and attributes of names ("config.lr"), that a function reads from enclosing scopes."""
    own = {parameter.arg for parameter in all_parameters(node)}
    reads: list[tuple[str, ast.expr]] = []
    for part in walk(node):
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Load):
                reads.append((part.id, part))
            else:
                own.add(part.id)
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            own.update(part.names)  # it rebinds them itself
        elif isinstance(part, _DEFINITIONS) and part is not node:
            own.update(p.arg for p in all_parameters(part)) if not isinstance(part, ast.ClassDef) else None
            own.add(getattr(part, "name", ""))
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
            name = dotted(part)
            if name:
                reads.append((name, part))
    inside = {id(d) for d in getattr(node, "decorator_list", ())}
    reads.sort(key=lambda item: (item[1].lineno, item[1].col_offset))
    return tuple(
        (name, read) for name, read in reads if name.partition(".")[0] not in own and id(read) not in inside
    )
