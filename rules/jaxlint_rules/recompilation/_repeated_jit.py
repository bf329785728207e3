"""Repeated jits: what is new about the function each time, and whether the jitted function is kept."""

from __future__ import annotations

import ast

from jaxlint.api import Frame, Loop, Module, Reporter, TransformEvent
from jaxlint.api.syntax import names_stored, nodes_of, walk
from jaxlint.api.values import (
    Array,
    BoundMethod,
    ExternalObject,
    Function,
    Instance,
    NumpyArray,
    Partial,
    Static,
    Transformed,
    Unknown,
    Value,
    constant,
    kind_of_static,
)
from jaxlint_rules._loops import FEW, counters, loop_variables

# Transformations that return another function object at each call; `jit` recognises the result of `jax.checkpoint`.
_MODULE = "flax.linen.Module."
_EQUINOX = ("eqx.", "equinox.")
_MAKE_ANEW = frozenset({"grad", "value_and_grad", "jacobian", "vmap"})


def fresh_function(
    target: Value, module: Module, by_content: bool = False
) -> tuple[str, ast.AST | None] | None:
    """What is new about the function at each evaluation, in words, and its node; None for a persistent one.

    `by_content`: as `eqx.filter_jit` sees it, to which methods of equinox modules and results of equinox's own transformations
    are pytrees: it finds the compiled program of an equal one again.
    """
    if isinstance(target, Function):
        if target.module is not module:
            return None
        if isinstance(target.node, ast.Lambda):
            return "a lambda", target.node
        if "<locals>" in target.qualname:
            return f"nested function `{target.name}`", target.node
        return None
    if isinstance(target, Partial):
        return "a `partial`", None
    if isinstance(target, Transformed):
        inner = fresh_function(target.target, module, by_content)
        if by_content and target.api.startswith(_EQUINOX):
            return inner
        if inner is None and target.kind in _MAKE_ANEW and target.module is module:
            return f"the result of `{target.api}`", target.node
        return inner and (inner[0], inner[1])
    if isinstance(target, BoundMethod) and isinstance(target.receiver, Instance):
        if by_content and target.receiver.cls.kind == "equinox":
            return None
        # Each evaluation of `model.step` is another object, and its compiled program dies with it.
        method = target.function
        while isinstance(method, Transformed):
            method = method.target
        return f"bound method `{getattr(method, 'name', 'method')}`", None
    if isinstance(target, ExternalObject) and target.name.startswith(_MODULE):
        return f"bound method `{target.name.removeprefix(_MODULE)}`", None
    return None


def compares_content(jitted: Transformed) -> bool:
    """Whether a jit of equinox (`filter_jit`, `filter_pmap`) finds the program of an equal function again."""
    return jitted.api.startswith(_EQUINOX)


def is_read_from_object(node: ast.AST) -> bool:
    """Whether a transformation is applied to a method where it is read: `jit(model.apply)`, not `jit(state.apply_fn)`."""
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return isinstance(given, ast.Attribute) and given.attr in ("apply", "init", "init_with_output")


def target_names(loop: ast.AST) -> set[str]:
    """Every name that changes between iterations."""
    names = loop_variables(loop)
    for child in walk(loop):
        if isinstance(child, ast.Assign):
            for assigned in child.targets:
                names.update(n.id for n in walk(assigned) if isinstance(n, ast.Name))
        elif isinstance(child, ast.FunctionDef):
            names.add(child.name)
    return names - {"_"}


def uses_loop_variable(
    fresh: tuple[str, ast.AST | None], transformed: Transformed, loop: Loop, frame: Frame
) -> bool:
    """Whether the jitted function depends on a changing value that cannot be an argument, since it is not an array."""
    names = target_names(loop.node)
    body = fresh[1]
    if body is None:
        partial = _bound_by(transformed)
        counted = bool(counters(loop.node)) and not (loop.trips is not None and loop.trips <= FEW)
        if partial is not None and counted and _binds_data(partial):
            return False  # they could be arguments
        body = transformed.node
    own = set(
        walk(body)
    )  # `jit(grad(lambda p: loss(p, x)))`: only what is outside of the lambda is given to the transforms
    if any(isinstance(n, ast.Name) and n.id in names for n in walk(transformed.node) if n not in own):
        if isinstance(transformed.node, ast.Call) and not isinstance(transformed.node.args[0], ast.Lambda):
            return True
    bound = set()
    if isinstance(body, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
        bound = {a.arg for a in [*body.args.posonlyargs, *body.args.args, *body.args.kwonlyargs]}
    loaded = {n.id for n in walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    used = (loaded - bound) & (names - {getattr(body, "name", "")})
    values = [frame.local(name) for name in used]
    return not all(is_data(value) and not isinstance(value, Static) for value in values)


def _bound_by(transformed: Transformed) -> Partial | None:
    """The `partial` of a persistent function that is jitted, directly or under a gradient."""
    target = transformed.target
    while isinstance(target, Transformed):
        target = target.target
    if not isinstance(target, Partial) or not isinstance(target.function, Function):
        return None
    return target if "<locals>" not in target.function.qualname else None


def _binds_data(partial: Partial) -> bool:
    """Whether a `partial` only binds arrays and numbers: a parameter with a fractional default counts as one."""
    function = partial.function
    defaults = function.defaults if isinstance(function, Function) else {}
    return all(map(is_data, partial.args)) and all(
        is_data(value)
        or (isinstance(value, (Static, Unknown)) and isinstance(constant(defaults.get(name)), float))
        for name, value in partial.kwargs.items()
    )


def lasts(transformed: Transformed, loop: Loop) -> bool:
    """Whether the jitted object was created before the loop: jitting the same object again finds the compiled
    program."""
    node = transformed.node
    if isinstance(transformed.target, (BoundMethod, ExternalObject)):
        return False
    if not isinstance(node, ast.Call) or not node.args or not isinstance(loop.node, (ast.For, ast.While)):
        return False
    root = node.args[0]
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id not in names_stored(loop.node)


def is_data(value: Value | None) -> bool:
    """Whether `value`, which a jitted function closes over, could be an argument without another program."""
    return (
        isinstance(value, NumpyArray)
        or (isinstance(value, Array) and not value.tree and not value.mixed)
        or (isinstance(value, Static) and kind_of_static(value) == "float")
    )


def stored(event: TransformEvent, report: Reporter) -> bool:
    """Whether the jitted function is stored in a table, an attribute or another call, where it may persist."""
    if event.decorator is not None:
        return False
    parent = report.module.parents.get(event.node)
    if isinstance(parent, ast.Assign):
        return any(not isinstance(target, ast.Name) for target in parent.targets)
    if isinstance(parent, ast.Return):
        return False  # see `returned`
    return report.module.call_of(event.node) is None


def kept(event: TransformEvent, report: Reporter) -> bool:
    """Whether an enclosing `if` tests the very place where the jitted function is then stored."""
    node: ast.AST | None = event.node
    while node is not None and not isinstance(node, ast.ClassDef):
        above = report.module.parents.get(node)
        if isinstance(above, ast.If) and node is not above.test:
            asked = {
                ast.unparse(n)
                for n in walk(above.test)
                if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))
            }
            stores = (t for n in walk(above) if isinstance(n, ast.Assign) for t in n.targets)
            if any(ast.unparse(t) in asked for t in stores):
                return True
        node = above
    return False


def returned(event: TransformEvent, frame: Frame) -> bool:
    """Whether the function returns the jitted function: a factory, whose callers keep it."""
    assert frame.function is not None
    label = event.transformed.label
    names = {label}
    for assignment in nodes_of(frame.function.node, ast.Assign):
        if assignment.value is event.node:
            names.update(t.id for t in assignment.targets if isinstance(t, ast.Name))
    for child in nodes_of(frame.function.node, ast.Return):
        if child.value is not None:
            # What is called, and what is jitted here, is not returned itself.
            calls = {id(n.func) for n in walk(child.value) if isinstance(n, ast.Call)}
            calls.update(id(n) for n in walk(event.node) if n is not event.node)
            for name in walk(child.value):
                is_passed = name is event.node or (isinstance(name, ast.Name) and name.id in names)
                if is_passed and id(name) not in calls:
                    return True
    return False
