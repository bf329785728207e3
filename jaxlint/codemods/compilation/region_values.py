"""What the variables of a region hold: arrays, objects that a function closes over, NumPy's results."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from jaxlint.codemods.facts import library_state
from jaxlint.codemods.purity.callbacks import first_parameter
from jaxlint.codemods.purity.known_functions import GRADIENTS
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, function_around
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NUMBER,
    NUMPY,
    TEXT,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Method,
    Unknown,
    Value,
    Whole,
    Wrapped,
    leaves_of,
)

# Neither arrays nor containers of them: a jitted function closes over them.
_OBJECTS = (Fn, Cls, Ext, Whole, Wrapped, Method)
_PLAIN = frozenset({NUMBER, TEXT, NONE})
CONSTRUCTORS = ("__init__", "__post_init__")
_STATES = ("optax.", "jax.")  # trees that these make
_OPTIMISERS = ("optax.", "jax.example_libraries.optimizers.")


def is_object(value: Value) -> bool:
    """Whether a value neither is nor holds an array: a function, a module of layers, an optimiser."""
    if isinstance(value, Made):
        return value.name.startswith(_OPTIMISERS) and not value.name.endswith("State")
    return isinstance(value, _OBJECTS)


def uses_haiku_layers(
    nodes: Sequence[ast.AST], possible: PossibleValues, file: File, seen: set[Fn] | None = None
) -> bool:
    """Whether code makes or calls modules of haiku, or asks for parameters or keys, itself or in functions that it calls.

    That must be in the function that `hk.transform` runs: a `jit` in there would leak what the modules keep.
    """
    if not any("haiku" in one.module.source.text for one in possible.program.files):
        return False
    seen = set() if seen is None else seen
    for call in (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call)):
        for value in possible.of(file.same(call.func), file):
            if isinstance(value, (Ext, Made)) and _keeps_in_transform(value.name):
                return True
            if isinstance(value, Fn) and value not in seen:
                seen.add(value)
                if uses_haiku_layers([value.node], possible, value.file, seen):
                    return True
    return False


def _keeps_in_transform(name: str) -> bool:
    """Whether an external function or class keeps something in the `hk.transform` around it."""
    if library_state.framework_of(name) != "haiku" or name in library_state.STREAMS:
        return False
    keeps = library_state.is_class(name) or library_state.changed_by_function(name)
    return bool(keeps) or name == "haiku.get_parameter"


def only_unknown(values: frozenset[Value]) -> bool:
    return not values or all(isinstance(value, (Unknown, Inst, Made)) for value in values)


def is_kept(value: Value, possible: PossibleValues) -> bool:
    """Whether a jitted function may read a value where it is: no array, or settings that nothing changes."""
    return is_object(value) or is_settings(value, possible)


def is_settings(value: Value, possible: PossibleValues) -> bool:
    """Whether a value is an object that holds only numbers and strings, which nothing sets after its creation."""
    if not isinstance(value, Inst) or not possible.external_bases(value.cls) <= {"typing.NamedTuple"}:
        return False
    if not all(one.startswith("dataclasses.dataclass") for one in possible.classes.decorators(value.cls)):
        return False
    line = possible.classes.line(value.cls)
    names = dict.fromkeys(possible.fields(value.cls))
    for cls in line:
        for statement in cls.node.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            names |= dict.fromkeys(one.id for one in targets if isinstance(one, ast.Name))
        parts = [part for part in ast.walk(cls.node) if isinstance(part, ast.Attribute)]
        names |= dict.fromkeys(one.attr for one in parts if isinstance(one.ctx, ast.Store))
    return bool(names) and all(
        not is_set_later(one, value.cls, possible) and possible.attribute(value, one) <= _PLAIN
        for one in names
    )


def is_set_later(name: str, cls: Cls, possible: PossibleValues) -> bool:
    """Whether the program may set an attribute of an object of a class after its construction."""
    classes = possible.classes.heirs(cls)
    for file, store in possible.classes.stores_of(cls, name):
        method = function_around(store, file)
        own = isinstance(store.value, ast.Name) and store.value.id == first_parameter(method)
        if own and getattr(method, "name", "") in CONSTRUCTORS:
            continue
        values = possible.of(store.value, file)
        if not values or any(not isinstance(one, Inst) or one.cls in classes for one in values):
            return True
    return False


def hold_arrays(values: frozenset[Value]) -> bool:
    """Whether values are arrays and numbers, in trees that JAX flattens, as far as they are known."""
    known = [one for one in values if not isinstance(one, Unknown)]
    return bool(known) and all(
        one.name.startswith(_STATES) if isinstance(one, Made) else one in (ARRAY, NUMPY, NUMBER)
        for one in known
    )


def is_field(name: str, objects: frozenset[Value], possible: PossibleValues) -> bool:
    """Whether objects of the program certainly have an attribute: a field of a dataclass, or one that the constructor sets."""
    return bool(objects) and all(
        isinstance(one, Inst)
        and all(
            name in possible.fields(cls) or name in set(set_by_constructor(cls, possible))
            for cls in possible.classes.heirs(one.cls)
        )
        for one in objects
    )


def set_by_constructor(cls: Cls, possible: PossibleValues) -> Iterator[str]:
    """The attributes that the constructor of a class certainly sets."""
    for name in CONSTRUCTORS:
        member = possible.classes.member(cls, name)
        method = member[1].node if member is not None else None
        if not isinstance(method, ast.FunctionDef):
            continue
        for statement in method.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if isinstance(statement, ast.AnnAssign) and statement.value is not None:
                targets = [statement.target]
            for target in targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(part, ast.Attribute) and ast.unparse(part.value) == first_parameter(method):
                        yield part.attr


def is_of_numpy(node: ast.expr, possible: PossibleValues, file: File) -> bool:
    """Whether an expression only computes with NumPy arrays, which a jitted function would compute on the device."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Starred)) or not isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        return False
    values = leaves_of(possible.of(file.same(node), file))
    return NUMPY in values and ARRAY not in values


def runs_over_leaves(loop: ast.For) -> bool:
    """Whether a loop visibly runs over the leaves of trees, of which there are few."""
    over = loop.iter
    if isinstance(over, ast.Call) and getattr(over.func, "id", "") in ("zip", "enumerate"):
        return any(map(_are_leaves, over.args)) and not loop.orelse
    return _are_leaves(over) and not loop.orelse


def runs_over_few(loop: ast.For) -> bool:
    """Whether a loop runs over what variables and attributes name, or over a range: a run shows how often."""
    return not loop.orelse and _is_named(loop.iter)


def _is_named(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return _is_named(node.value)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and _is_named(node.value)
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Name | ast.Constant)
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in ("items", "values", "keys") and not node.args and _is_named(node.func.value)
    known = getattr(node.func, "id", "") in ("zip", "enumerate", "range", "len")
    return known and not node.keywords and all(map(_is_named, node.args))


def _are_leaves(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("tree_leaves", "tree.leaves"))


def is_append(statement: ast.stmt) -> bool:
    """`items.append(x)` of a variable."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and isinstance(call.func.value, ast.Name)
        and len(call.args) == 1
    )


def computes_more_than_a_call(
    statements: Sequence[ast.stmt],
    possible: PossibleValues,
    file: File,
    hosted: Iterable[ast.AST] = (),
) -> bool:
    """Whether statements do more than call one function that may be compiled already; a gradient is not. `hosted`: what the host computes
    before."""
    left = {part for one in hosted for part in ast.walk(one)}
    parts = [part for one in statements for part in ast.walk(one) if part not in left]
    calls = [part for part in parts if isinstance(part, ast.Call)]
    if len(calls) != 1 or any(isinstance(part, ast.AugAssign) for part in parts):
        return True
    given = set(ast.walk(calls[0]))
    for part in parts:
        if isinstance(part, ast.BinOp) and (
            part not in given or possible.of(file.same(part), file) != {NUMBER}
        ):
            return True  # more than a count, which the call receives as an argument
    callees = possible.of(file.same(calls[0].func), file)
    return bool(callees) and all(map(_is_bare_gradient, callees))


def _is_bare_gradient(value: Value) -> bool:
    """`jax.grad(f)`, with nothing compiled in it."""
    if not isinstance(value, Wrapped) or value.how not in GRADIENTS:
        return False
    return not any(isinstance(one, Wrapped) and one.how.endswith("jit") for one in value.inner)
