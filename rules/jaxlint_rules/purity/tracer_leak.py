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
from jaxlint_rules._names import last_name, unpacked
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
    trace in memory. So is one that each use stores before it reads it, as where only the method that
    stores it calls those that read it, or a script calls that method once more before it looks.

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
        alone = report.project.is_program(event.frame.module)
        read = _is_read(event, alone)
        report(
            event.node,
            f"a tracer leaks into {event.where}: UnexpectedTracerError on later use; return it",
            reason=staged_because(event.frame),
            severity=Severity.ERROR if read else Severity.WARNING,
            shown=read or not alone,  # nothing fails where each use stores it first
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


def _is_read(event: LeakEvent, alone: bool) -> bool:
    """Whether the stored value may be read after the trace: not an attribute that only this function uses, after
    storing it. `alone`: no other file imports this one, and may call its methods."""
    stored = event.node
    if not isinstance(stored, ast.Attribute):
        return True
    module = event.frame.module
    owner = next((above for above in module.ancestors(stored) if isinstance(above, ast.FunctionDef)), None)
    first = next((s for s in getattr(owner, "body", []) if _stores(s, stored.attr)), None)
    begun = (first.end_lineno or 0) if first is not None else sys.maxsize
    later = (
        {part for part in walk(owner) if getattr(part, "lineno", 0) > begun} if owner is not None else set()
    )
    if owner is not None and later and alone:
        later |= _only_used_by(later, owner, stored, module)
    return any(
        read not in later
        and not _stores_it_first(read, stored.attr, module)
        and not _are_of_two_classes(stored, read, module)
        and not (owner is not None and _is_read_in_time(read, owner, event))
        for read in _reads(module.tree, stored.attr)
    )


def _stores_it_first(read: ast.expr, attribute: str, module: Module) -> bool:
    """Whether the function that reads an attribute has stored it before."""
    owner = next((above for above in module.ancestors(read) if isinstance(above, ast.FunctionDef)), None)
    return any(
        _stores(one, attribute) and (one.end_lineno or 0) < read.lineno for one in getattr(owner, "body", [])
    )


def _only_used_by(
    later: set[ast.AST], owner: ast.FunctionDef, stored: ast.Attribute, module: Module
) -> set[ast.AST]:
    """The code of the methods of a class that only the code `later` uses, itself or by way of one of them: it runs after the store
    each time."""
    cls = module.parents.get(owner)
    methods = [
        one for one in getattr(cls, "body", []) if isinstance(one, ast.FunctionDef) and one is not owner
    ]
    uses = {
        one: [use for use in _reads(module.tree, one.name) if not _are_of_two_classes(stored, use, module)]
        for one in methods
    }
    found: set[ast.AST] = set()
    for _ in methods:
        for one in methods:
            if uses[one] and all(use in later or use in found for use in uses[one]):
                found.update(walk(one))
    return found


def _is_read_in_time(read: ast.expr, owner: ast.FunctionDef, event: LeakEvent) -> bool:
    """Whether the script part of a module reads the attribute before the function is compiled, or has called the method once more
    since, outside of compiled code: `model.forward(x)` and then `model.state`."""
    module = event.frame.module
    if not isinstance(read, ast.Attribute) or _is_in_function(read, module):
        return False
    links = event.frame.stage.why.chain() if event.frame.stage.why is not None else ()
    compiled = max((getattr(link.node, "lineno", 0) for link in links if link.node is not None), default=0)
    return read.lineno < compiled or any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == owner.name
        and dotted(call.func.value) == dotted(read.value)
        and compiled < call.lineno <= read.lineno
        and not _is_in_function(call, module)
        for call in nodes_of(module.tree, ast.Call)
    )


def _is_in_function(node: ast.AST, module: Module) -> bool:
    return any(
        isinstance(above, (ast.FunctionDef, ast.Lambda, ast.ClassDef)) for above in module.ancestors(node)
    )


def _are_of_two_classes(stored: ast.Attribute, read: ast.expr, module: Module) -> bool:
    """Whether both are attributes of `self`, in classes that no object of this file combines."""
    classes = _class_of_self(stored, module), _class_of_self(read, module)
    if classes[0] is None or classes[1] is None or classes[0] is classes[1]:
        return False
    one, other = classes[0].name, classes[1].name
    if one == other:
        return True  # a cell defines it once more
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


def _class_of_self(node: ast.expr, module: Module) -> ast.ClassDef | None:
    """The class whose method has `node` as an attribute of its first parameter."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return None
    around = [a for a in module.ancestors(node) if isinstance(a, (ast.FunctionDef, ast.ClassDef))]
    for method, cls in itertools.pairwise(around):
        if isinstance(method, ast.FunctionDef) and isinstance(cls, ast.ClassDef):
            parameters = method.args.args
            return cls if parameters and parameters[0].arg == node.value.id else None
    return None


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
    parts = [part for target in targets for part in unpacked(target)]
    return any(isinstance(part, ast.Attribute) and part.attr == attribute for part in parts)


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
