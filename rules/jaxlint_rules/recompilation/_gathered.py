"""Lists that objects extend, and buffers that they fill, at each step and return as an array of the current length."""

from __future__ import annotations

import ast

from jaxlint.api import Frame
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.api.values import ClassValue, Function, Instance, Value
from jaxlint_rules._names import last_name, unpacked
from jaxlint_rules.recompilation._ragged import STACKING, binding, results

_ADDING = frozenset({"append", "extend"})
_SHRINKING = frozenset({"pop", "popleft", "clear", "remove"})


def gathered(argument: ast.expr, body: ast.AST, frame: Frame) -> str:
    """Why an argument grows each time that `body` runs: an object collects it; "" if that is unknown."""
    if isinstance(argument, ast.Starred):
        argument = argument.value
    made, position = binding(argument.id, body) if isinstance(argument, ast.Name) else (argument, None)
    if not isinstance(made, ast.Call):
        return ""
    listed = _stacked(made)
    if listed:
        owner, _, name = listed.rpartition(".")
        adding = {"append"}
    else:
        owner, _, method = dotted(made.func).rpartition(".")
    cls = _class_of(owner, frame) if owner else None
    if cls is None:
        return ""
    calls = {dotted(call.func) for call in nodes_of(body, ast.Call)}
    if not listed:
        count = _filled_part(cls.lookup(method), position)
        if count and calls & {f"{owner}.{step}" for step in _counted(cls.node).get(count, ())}:
            return f"the part of `{owner}` up to `{count}` grows"
        name = _returned_list(cls.lookup(method), position)
        adding = set(_growing(cls.node).get(name, ()))
    elif name in _growing(cls.node):
        owner = listed
    else:
        return ""
    return (
        f"`{owner.removesuffix('.' + name)}.{name}` grows" if calls & {f"{owner}.{m}" for m in adding} else ""
    )


def _stacked(node: ast.expr) -> str:
    """`self.seen` in `jnp.stack(self.seen)`."""
    if not isinstance(node, ast.Call) or not node.args or last_name(node.func) not in STACKING:
        return ""
    path = dotted(node.args[0])
    return path if "." in path else ""


def _class_of(path: str, frame: Frame) -> ClassValue | None:
    """The class of the object at a path such as `self.memory`."""
    root, *names = path.split(".")
    value: Value | None = frame.value_of(root)
    for name in names:
        value = value.fields.get(name) if isinstance(value, Instance) else None
    return value.cls if isinstance(value, Instance) else None


def _returned_list(method: Value | None, position: int | None) -> str:
    """The attribute whose whole list a method returns as one array."""
    given = list(results(method.node, False)) if isinstance(method, Function) else []
    if len(given) != 1:
        return ""
    result = given[0]
    if position is not None and isinstance(result, ast.Tuple) and position < len(result.elts):
        result = result.elts[position]
    owner, _, name = _stacked(result).rpartition(".")
    return name if owner == "self" else ""


def _filled_part(method: Value | None, position: int | None) -> str:
    """The attribute `n` of a method that returns `self.items[: self.n]`, alone or beside others."""
    given = list(results(method.node, False)) if isinstance(method, Function) else []
    if len(given) != 1:
        return ""
    parts = given[0].elts if isinstance(given[0], ast.Tuple) else [given[0]]
    if position is not None and len(parts) > 1:
        parts = parts[position : position + 1]
    for part in parts:
        cut = part.slice if isinstance(part, ast.Subscript) else None
        if isinstance(cut, ast.Slice) and cut.lower is None and cut.step is None and cut.upper is not None:
            owner, _, name = dotted(cut.upper).rpartition(".")
            if owner == "self":
                return name
    return ""


@cache
def _counted(cls: ast.ClassDef) -> dict[str, list[str]]:
    """Attributes that methods increment, perhaps up to a bound, and that none resets; and the names of these methods."""
    found: dict[str, list[str]] = {}
    kept: set[str] = set()
    for method in nodes_of(cls, ast.FunctionDef):
        for stepped in nodes_of(method, ast.AugAssign):
            if isinstance(stepped.op, ast.Add):
                found.setdefault(dotted(stepped.target).removeprefix("self."), []).append(method.name)
        for statement in nodes_of(method, ast.Assign):
            for path in map(dotted, statement.targets):
                name = path.removeprefix("self.")
                if _adds_to(path, statement.value):
                    found.setdefault(name, []).append(method.name)
                elif path != name and method.name not in ("__init__", "__post_init__"):
                    kept.add(name)
    return {name: methods for name, methods in found.items() if name not in kept}


def _adds_to(path: str, value: ast.expr) -> bool:
    """`self.n + 1`, or `min(self.n + 1, self.capacity)`."""
    if isinstance(value, ast.Call) and dotted(value.func) == "min":
        return any(_adds_to(path, argument) for argument in value.args)
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and dotted(value.left) == path


@cache
def _growing(cls: ast.ClassDef) -> dict[str, list[str]]:
    """Attributes with a list that methods extend and nothing ever shortens; and the names of these methods."""
    found: dict[str, list[str]] = {}
    kept: set[str] = set()
    for method in nodes_of(cls, ast.FunctionDef):
        for call in nodes_of(method, ast.Call):
            path, _, last = dotted(call.func).rpartition(".")
            if path.startswith("self.") and last in _ADDING:
                found.setdefault(path.removeprefix("self."), []).append(method.name)
            elif path.startswith("self.") and last in _SHRINKING:
                kept.add(path.removeprefix("self."))
        for statement in nodes_of(method, ast.Assign):
            bounded = isinstance(statement.value, ast.Call) or method.name != "__init__"
            for target in statement.targets:
                for part in unpacked(target):
                    if bounded:
                        kept.add(dotted(part).removeprefix("self."))
        for deletion in nodes_of(method, ast.Delete):
            kept |= {
                dotted(t.value if isinstance(t, ast.Subscript) else t).removeprefix("self.")
                for t in deletion.targets
            }
    return {name: methods for name, methods in found.items() if name not in kept}
