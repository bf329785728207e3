"""Tracers that outlive their trace."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterator

from jaxlint.api import LeakEvent, Module, Reporter, Rule
from jaxlint.api.syntax import dotted, nodes_of, place_of, walk
from jaxlint.api.values import find_array
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name
from jaxlint_rules._reasons import staged_because


class TracerLeak(Rule):
    """A tracer leaks out of the function that JAX traces.

    ## What it does
    Finds traced code that appends tracers to an outer list, deque or queue, or stores them in a
    global, an outer dict, a mutable default argument, or an attribute of an ordinary object, a
    class or a function.

    ## Why is this bad?
    After tracing, the stored object is a leaked tracer: using it raises `UnexpectedTracerError`.
    Later calls run the compiled program, not the Python code, so they store nothing at all.

    ## Example
    ```python
    seen = []

    @jax.jit
    def f(x):
        seen.append(x * 2)
        return x
    ```

    ## Use instead
    ```python
    @jax.jit
    def f(x):
        return x, x * 2
    ```

    ## Fix safety
    There is no automatic fix: the function must return the value.

    ## When not to fix
    Lists, dicts and objects made inside the traced function are fine and not reported. An attribute
    that nothing else in the file reads is reported as a warning: the leaked tracer only keeps its
    trace in memory.

    ## References
    - [JAX errors: UnexpectedTracerError](https://docs.jax.dev/en/latest/errors.html#jax.errors.UnexpectedTracerError)
    """

    code = "JAX201"
    name = "tracer-leak"
    category = "purity"
    severity = Severity.ERROR

    def on_leak(self, event: LeakEvent, report: Reporter) -> None:
        array = find_array(event.value, True)
        if array is None or not array.certain or not event.is_certain() or event.is_guarded():
            return
        if _is_overwritten(event) or _is_put_back(event) or _is_set_again(event) or _is_counted(event):
            return
        report(
            event.node,
            f"a tracer leaks into {event.where}: UnexpectedTracerError on later use; return it",
            reason=staged_because(event.frame),
            severity=Severity.ERROR if _is_read(event) else Severity.WARNING,
        )


_ADDING = frozenset({"append", "add", "extend", "insert", "clear"})


def _is_counted(event: LeakEvent) -> bool:
    """Whether the file only reads the length of the container, as a test that counts traces does: no tracer is used later."""
    node, module = event.node, event.frame.module
    name = (
        dotted(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    )
    if not name or "." in name:
        return False
    defined = {one.name for one in nodes_of(module.tree, ast.FunctionDef)}
    asked = False
    for read in nodes_of(module.tree, ast.Name):
        if read.id != name or not isinstance(read.ctx, ast.Load):
            continue
        user = module.parents.get(read)
        if isinstance(user, ast.Call) and read in user.args and last_name(user.func) == "len":
            asked = True
            continue
        added = isinstance(user, ast.Attribute) and user.attr in _ADDING
        handed_on = isinstance(user, ast.Call) and read in user.args and last_name(user.func) in defined
        if not (
            added
            or handed_on
            or (isinstance(user, ast.Compare) and isinstance(user.ops[0], ast.Is | ast.IsNot))
        ):
            return False
    return asked


def _is_read(event: LeakEvent) -> bool:
    """Whether the stored value may be read after the trace: not an attribute that only this function uses, after
    storing it."""
    stored = event.node
    if not isinstance(stored, ast.Attribute):
        return True
    module = event.frame.module
    owner = next((above for above in module.ancestors(stored) if isinstance(above, ast.FunctionDef)), None)
    inside = set(walk(owner)) if owner is not None else set()
    first = next((s for s in getattr(owner, "body", []) if _stores(s, stored.attr)), None)
    begun = (first.end_lineno or 0) if first is not None else sys.maxsize
    return any(
        (read not in inside or read.lineno <= begun) and not _are_of_two_classes(stored, read, module)
        for read in _reads(module.tree, stored.attr)
    )


def _are_of_two_classes(stored: ast.Attribute, read: ast.expr, module: Module) -> bool:
    """Whether both are attributes of `self`, in classes that no object of this file combines."""
    one, other = _class_of_self(stored, module), _class_of_self(read, module)
    if not one or not other or one == other:
        return False
    bases = {
        part.name: {last_name(base) for base in part.bases}
        for part in walk(module.tree)
        if isinstance(part, ast.ClassDef)
    }
    for name in bases:
        above, waiting = set[str](), {name}
        while waiting:
            above |= waiting
            waiting = set[str]().union(*(bases.get(base, ()) for base in waiting)) - above
        if {one, other} <= above:
            return False
    return True


def _class_of_self(node: ast.expr, module: Module) -> str:
    """The class whose method has `node` as an attribute of its first parameter, or ""."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return ""
    around = [a for a in module.ancestors(node) if isinstance(a, (ast.FunctionDef, ast.ClassDef))]
    for method, cls in itertools.pairwise(around):
        if isinstance(method, ast.FunctionDef) and isinstance(cls, ast.ClassDef):
            parameters = method.args.args
            return cls.name if parameters and parameters[0].arg == node.value.id else ""
    return ""


def _reads(tree: ast.AST, attribute: str) -> Iterator[ast.expr]:
    """The places that read an attribute of this name, on any object."""
    for part in walk(tree):
        node = part.target if isinstance(part, ast.AugAssign) else part
        if isinstance(node, ast.Attribute):
            if node.attr == attribute and (node is not part or isinstance(node.ctx, ast.Load)):
                yield node
        elif isinstance(node, ast.Constant) and node.value == attribute:  # `getattr(self, "level")`
            yield node


def _stores(statement: ast.stmt, attribute: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets)


def _is_put_back(event: LeakEvent) -> bool:
    """Whether a `finally` of the same function restores it, as in a context manager."""
    place = _stored(event.node)
    function = event.frame.function
    if not place or function is None:
        return False
    return any(
        _stored(part) == place
        for block in ast.walk(function.node)
        if isinstance(block, ast.Try)
        for statement in block.finalbody
        for part in ast.walk(statement)
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load)
    )


def _stored(node: ast.AST) -> str:
    """The stored name, attribute or item, as text."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        node = node.targets[0]
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""


def _is_set_again(event: LeakEvent) -> bool:
    """Whether the caller of the traced function then calls the method that stores it again, such as
    `model.set_data(old)`."""
    frames = [event.frame, *event.frame.callers()]
    for setter, caller in itertools.pairwise(frames):
        if setter.function is None or setter.function.cls is None or caller.function is None:
            continue
        inner = caller.function.node
        outer = caller.module.parents.get(inner)
        if not isinstance(outer, ast.FunctionDef) or inner not in outer.body:
            continue
        name = setter.function.name
        for statement in outer.body[outer.body.index(inner) + 1 :]:
            call = statement.value if isinstance(statement, ast.Expr) else None
            method = call.func if isinstance(call, ast.Call) else None
            if isinstance(method, ast.Attribute) and method.attr == name:
                return True
    return False


def _is_overwritten(event: LeakEvent) -> bool:
    """Whether the caller of the traced function then stores something else in the same attribute."""
    place = place_of(event.node) if isinstance(event.node, ast.Attribute) else ""
    if not place:
        return False
    functions = [n for n in event.frame.module.ancestors(event.node) if isinstance(n, ast.FunctionDef)]
    for inner, outer in itertools.pairwise(functions):
        if inner not in outer.body:
            continue
        for statement in outer.body[outer.body.index(inner) + 1 :]:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            parts = [part for target in targets for part in getattr(target, "elts", [target])]
            if any(place_of(part) == place for part in parts):
                return True
    return False
