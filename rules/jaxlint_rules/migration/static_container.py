"""Lists, tuples and dicts of modules in attributes of flax.nnx modules, which flax 0.12 refuses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from jaxlint.api import Frame, ModuleStoreEvent, Reporter, Rule
from jaxlint.api.releases import PACKAGES, parse_version
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import (
    Array,
    ClassValue,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    TupleValue,
    Value,
)
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import external_name
from jaxlint_rules.migration._changed_attributes import aim_at
from jaxlint_rules.migration._changed_names import target_text

_SINCE = "0.12.0"
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
_MOST = 8  # calls of one constructor that are looked at
_VARIABLES = frozenset({"Param", "Variable", "BatchStat", "Cache", "Intermediate"})
_BUILTINS = frozenset({"list", "tuple", "dict"})
_DECLARED = re.compile(r"\bdata\b", re.IGNORECASE)


class StaticContainer(Rule):
    """A plain container of modules is an attribute of a flax.nnx module.

    ## What it does
    Finds `self.layers = [nnx.Linear(...), ...]`, and tuples and dicts like it, in modules of flax.nnx,
    where they hold modules, variables or arrays, also where the program appends them later.

    ## Why is this bad?
    Since flax 0.12.0 a module is a pytree, in which a plain container is static. The module raises
    `ValueError` when it is created: "Found data on value of type list assigned to static attribute".

    ## Example
    ```python
    class Net(nnx.Module):
        def __init__(self, rngs):
            self.layers = [nnx.Linear(8, 8, rngs=rngs) for _ in range(3)]
    ```

    ## Use instead
    ```python
    class Net(nnx.Module):
        def __init__(self, rngs):
            self.layers = nnx.List([nnx.Linear(8, 8, rngs=rngs) for _ in range(3)])
    ```
    `nnx.Dict` holds a dict, and `nnx.data(...)` marks any value as data.

    ## Fix safety
    Safe: the module could not be created. The fix writes `nnx.List` or `nnx.Dict`, and `nnx.data`,
    which keeps the container as it is, for nested containers, for a dict with other keys than plain
    names, for a list that has another name, and where the file adds to it or asks for its type. It
    is left out if the requirements allow releases before 0.12.0, which have no `nnx.List`.

    ## When not to fix
    Keep it with flax before 0.12: the requirements of the project say so, or `target-jax` of the
    settings. Not reported: classes declared with `pytree=False`, and attributes that the class
    annotates as data.

    ## References
    - [flax: pytrees](https://flax.readthedocs.io/en/latest/guides/pytree.html)
    """

    code = "JAX906"
    name = "static-container"
    category = "migration"
    severity = Severity.ERROR
    fixable = "safe"
    follows_calls = True

    def __init__(self) -> None:
        self.stored: dict[
            ast.AST, list[ModuleStoreEvent]
        ] = {}  # by target: once for each call of the constructor

    def on_module_store(self, event: ModuleStoreEvent, report: Reporter) -> None:
        cls = event.base.cls
        if cls.kind != "nnx" or not isinstance(event.value, (ListValue, TupleValue, DictValue)):
            return
        known = self.stored.get(event.node, [])
        if len(known) >= _MOST or event.is_caught() or _is_declared(cls, event.name):
            return
        given = _given(event)
        if given is None or (isinstance(event.value, TupleValue) and event.value.cls is not None):
            return
        self.stored.setdefault(event.node, []).append(event)

    def finish(self, report: Reporter) -> None:
        """Once all that the program appends is known."""
        for event in (event for events in self.stored.values() for event in events):
            report.event = event
            target, specifier = aim_at("flax", report)
            if not target.range.reaches(parse_version(_SINCE)):
                continue
            held = next((_named(part) for part in _leaves(event.value) if _is_data(part)), "")
            held = held or (
                "modules" if any(map(partial(_makes_module, frame=event.frame), _parts(event))) else ""
            )
            if not held:
                continue
            kind = _kind(event.value)
            wrapper = _wrapper(event)
            modern = specifier is None or target.range.starts_at(parse_version(_SINCE))
            statement = event.frame.module.parents.get(event.node)
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            fix = None
            if modern and value is not None and event.frame.module.reported:
                fix = propose(
                    report,
                    value,
                    "wrap-expression",
                    f"Wrap it in `nnx.{wrapper}`",
                    safe=True,
                    function=f"flax.nnx.{wrapper}",
                )
            report(
                event.node,
                f"a {kind} of {held} in `{ast.unparse(event.node)}` raises ValueError since "
                f"{PACKAGES['flax'][0]} {_SINCE}; use `nnx.{wrapper}`",
                reason=f"a plain container is a static attribute of `{event.base.cls.name}`; {target_text(specifier, 'flax')}",
                fix=fix,
            )


def _given(event: ModuleStoreEvent) -> ast.expr | None:
    """The expression of a plain container, which no `nnx.List` or `nnx.data` wraps; None if it may be another value."""
    statement = event.frame.module.parents.get(event.node)
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(value, ast.Name):
        made = [
            one.value
            for one in nodes_of(event.frame.owner, ast.Assign)
            if any(isinstance(target, ast.Name) and target.id == value.id for target in one.targets)
        ]
        value = made[0] if len(made) == 1 else None
    if isinstance(value, _DISPLAYS):
        return value
    return value if isinstance(value, ast.Call) and dotted(value.func) in _BUILTINS else None


def _wrapper(event: ModuleStoreEvent) -> str:
    """What holds the container: `List`, `Dict`, or `data`, which leaves it as it is."""
    given, value = _given(event), event.value
    statement = event.frame.module.parents.get(event.node)
    if isinstance(getattr(statement, "value", None), ast.Name):
        return "data"  # the program may add to it by its other name
    parts = _direct_parts(value)
    if any(isinstance(part, (ListValue, TupleValue, DictValue)) for part in parts):
        return "data"
    if isinstance(value, DictValue):
        keys = given.keys if isinstance(given, ast.Dict) else []
        named = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        plain = len(named) == len(keys) and all(
            key.isidentifier() and not hasattr(dict, key) for key in named
        )
        return "Dict" if isinstance(given, ast.Dict) and plain else "data"
    return "data" if _needs_its_type(event.name, event.frame.module.tree) else "List"


def _direct_parts(value: Value) -> list[Value]:
    if isinstance(value, DictValue):
        return [*value.items.values(), *([value.element] if value.element else [])]
    assert isinstance(value, (ListValue, TupleValue))
    return value.items if value.items is not None else [value.element] if value.element else []


def _needs_its_type(name: str, tree: ast.Module) -> bool:
    """Whether a file adds to the attribute with `+`, multiplies it, or asks for its type."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.Call) and dotted(node.func) in ("isinstance", "type"):
            operands = node.args[:1]
        else:
            continue
        if any(isinstance(part, ast.Attribute) and part.attr == name for part in operands):
            return True
    return False


def _is_declared(cls: ClassValue, name: str) -> bool:
    """Whether a class declares its attribute as data, or is no pytree."""
    for one in cls.mro():
        if any(keyword.arg == "pytree" for keyword in one.node.keywords):
            return True
        for statement in one.node.body:
            if isinstance(statement, ast.AnnAssign) and dotted(statement.target) == name:
                if _DECLARED.search(ast.unparse(statement)):
                    return True
    return False


def _leaves(value: Value, depth: int = 4) -> Iterator[Value]:
    if depth and isinstance(value, (ListValue, TupleValue)):
        parts = value.items if value.items is not None else [value.element] if value.element else []
    elif depth and isinstance(value, DictValue):
        parts = [*value.items.values(), *([value.element] if value.element else [])]
    else:
        yield value
        return
    for part in parts:
        yield from _leaves(part, depth - 1)


def _parts(event: ModuleStoreEvent) -> Iterator[ast.expr]:
    """The expressions of the items, also of those that the function appends later: the analysis joins those of a loop."""
    path = {ast.unparse(event.node)}
    statement = event.frame.module.parents.get(event.node)
    value = getattr(statement, "value", None)
    path |= {value.id} if isinstance(value, ast.Name) else set()
    yield from _items(_given(event))
    for call in nodes_of(event.frame.owner, ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "append" and call.args:
            if ast.unparse(call.func.value) in path:
                yield from _items(call.args[0])


def _items(value: ast.expr | None) -> Iterator[ast.expr]:
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        yield from _items(value.elt)
    elif isinstance(value, ast.DictComp):
        yield from _items(value.value)
    elif isinstance(value, (ast.List, ast.Tuple)):
        for item in value.elts:
            yield from _items(item)
    elif isinstance(value, ast.Dict):
        for item in value.values:
            yield from _items(item)
    elif isinstance(value, ast.Call) and dotted(value.func) in _BUILTINS and value.args:
        yield from _items(value.args[0])
    elif value is not None:
        yield value


def _makes_module(value: ast.expr, frame: Frame) -> bool:
    if not isinstance(value, ast.Call):
        return False
    made = frame.value_of(dotted(value.func))
    if isinstance(made, ClassValue):
        return made.kind == "nnx"
    seeded = any(keyword.arg == "rngs" for keyword in value.keywords)
    return _is_layer(external_name(value.func, frame.scope), seeded)


def _is_layer(name: str, seeded: bool) -> bool:
    """Whether a class of flax.nnx makes a layer, which takes `rngs`, or a variable; filters and the like hold no arrays."""
    library, _, made = name.rpartition(".")
    return library == "flax.nnx" and made[:1].isupper() and (seeded or made in _VARIABLES)


def _is_data(value: Value) -> bool:
    if isinstance(value, Instance):
        return value.cls.kind == "nnx" and not _is_declared(value.cls, "")
    if isinstance(value, ExternalObject):
        return _is_layer(value.name, "rngs" in value.kwargs)
    return isinstance(value, Array) and value.certain and not value.tree


def _kind(value: Value) -> str:
    return "dict" if isinstance(value, DictValue) else "tuple" if isinstance(value, TupleValue) else "list"


def _named(value: Value) -> str:
    return "arrays" if isinstance(value, Array) else "modules"
