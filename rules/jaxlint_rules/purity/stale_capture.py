"""Variables that a compiled function captures and that change afterwards."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from jaxlint.api import Frame, Reporter, Rule, Scope, TransformEvent
from jaxlint.api.syntax import all_parameters, cache, names_stored, nodes_of
from jaxlint.api.values import (
    Array,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    ModuleValue,
    NumpyArray,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
)
from jaxlint.finding import Severity
from jaxlint_rules._loops import SIZED
from jaxlint_rules._names import last_name, names_in, passed, variable_given
from jaxlint_rules.purity._captures import (
    Owner,
    Place,
    Timeline,
    between,
    declared_global,
    free_reads,
    setters,
    timeline,
    users_of,
    uses_of,
)

# A captured variable is read when these trace.
_COMPILED = ("jit", "filter_jit", "pmap")
_NUMBERS = (Array, NumpyArray, Static)
_DATA = (Array, DictValue, Instance, ListValue, NumpyArray, Static, TupleValue, Unknown)


@dataclass(frozen=True, slots=True)
class _Later:
    """A variable that a compiled function reads, and that its scope binds later, or to an object of a library."""

    event: TransformEvent
    function: Function
    path: str
    read: ast.expr
    name: str  # of the compiled function


class StaleCapture(Rule):
    """A jitted function captures a variable that changes later.

    ## What it does
    Finds jitted functions, and functions that they call, that read a variable from an enclosing
    scope, where the program calls the function, then rebinds or mutates the variable, then calls
    the function again. The variable may get its first value after the function is defined, as an
    optimizer that each phase of a training creates. Also finds arguments bound by a jitted
    `partial` whose variables change between calls.

    ## Why is this bad?
    JAX reads the variable once, at trace time, and compiles its value into the program as a
    constant. Later calls still use the old value, without an exception.

    ## Example
    ```python
    lr = 0.1

    @jax.jit
    def step(w, grad):
        return w - lr * grad

    for epoch in range(10):
        w = step(w, grad(w))
        lr = lr * 0.9
    ```

    ## Use instead
    ```python
    @jax.jit
    def step(w, grad, lr):
        return w - lr * grad

    for epoch in range(10):
        w = step(w, grad(w), lr)
        lr = lr * 0.9
    ```

    ## Fix safety
    There is no automatic fix: the variable becomes an argument of the function and of every call.

    ## When not to fix
    Functions that are defined again after each change, that are never called again, or whose caches
    the program clears are not reported. Of variables that get their first value after the function,
    and of objects of libraries, only values that depend on the iteration are: `Net(width)` with the
    same width in each iteration is the same model.

    ## References
    - [JAX: pure functions](https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions)
    """

    code = "JAX204"
    name = "stale-capture"
    category = "purity"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.later: list[_Later] = []

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        name = _bound_name(event, report) if t.kind in _COMPILED else ""
        if not name:
            return
        if isinstance(t.target, Partial):
            self.check_bound(event, name, report)
        function = _innermost(t.target)
        if function is None or function.module is not event.frame.module:
            return
        reported: set[str] = set()
        self.check_called(event, function, name, report)
        for path, read in free_reads(function.node):
            root = path.partition(".")[0]
            found = function.scope.lookup(root)
            if found is None and path == root and function.scope is event.frame.scope:
                self.later.append(_Later(event, function, path, read, name))
            if found is None or root in reported:
                continue
            value, scope = found
            if isinstance(value, ExternalObject) and path == root and scope is event.frame.scope:
                self.later.append(_Later(event, function, path, read, name))
            if not isinstance(value, _DATA) and not (isinstance(value, ModuleValue) and "." in path):
                continue
            owner = _owner(scope, event.frame, function)
            if owner is None:
                continue
            change = self.change_between_calls(owner, path, name, event, value)
            if change is None and scope.is_module and "." not in path:
                change = self.change_by_function(function, path, name)
                change = change or self.change_in_function(function, path, name, value)
            if change is None and scope.is_module:
                change = self.change_inside(function, path, name, value, read)
            if change is not None and not _clears_caches(function.module.tree):
                reported.add(root)
                self.tell(event, path, read, change, report)

    def finish(self, report: Reporter) -> None:
        """Variables that the enclosing scope binds after the function, or to an object of a library."""
        for later in self.later:
            event, path, tree = later.event, later.path, later.function.module.tree
            value = later.function.scope.value_of(path)
            if value is None or not isinstance(value, (*_DATA, ExternalObject)) or _is_network(value):
                continue
            change = self.change_between_calls(event.frame.owner, path, later.name, event, value)
            if change is None or _clears_caches(tree) or not _depends_on_iteration(change, path, event):
                continue
            report.event = event
            self.tell(event, path, later.read, change, report)

    def tell(self, event: TransformEvent, path: str, read: ast.expr, change: Place, report: Reporter) -> None:
        t = event.transformed
        report(
            read,
            f"`{t.label}` reads `{path}` at trace time only: the change at line {change.line} is lost; pass it in",
            reason=f"{t.why.explain(report.module)}; a captured value becomes a constant of the compiled program",
        )

    def check_called(self, event: TransformEvent, function: Function, name: str, report: Reporter) -> None:
        """Globals that module functions read and that the compiled function calls: they are traced with it."""
        module = function.module
        if _clears_caches(module.tree):
            return
        for called in _called_functions(function):
            for path, read in free_reads(called.node):
                found = called.scope.lookup(path)
                if found is None or not found[1].is_module or not isinstance(found[0], _NUMBERS):
                    continue
                change = self.change_by_function(function, path, name)
                if change is not None:
                    report(
                        read,
                        f"`{event.transformed.label}` reads `{path}` at trace time only: the change at line {change.line} is lost; pass it in",
                        reason=f"`{event.transformed.label}` calls `{called.name}`; {event.transformed.why.explain(report.module)}",
                    )
                    break

    def check_bound(self, event: TransformEvent, name: str, report: Reporter) -> None:
        """A jitted `partial` holds the arrays that its variables had at its creation."""
        t, owner = event.transformed, event.frame.owner
        for variable in _bound_variables(event.node):
            value = event.frame.value_of(variable.id)
            if value is None or isinstance(value, Function):
                continue
            change = self.change_between_calls(owner, variable.id, name, event, value)
            if change is not None:
                report(
                    variable,
                    f"`{t.label}` binds `{variable.id}` once: the change at line {change.line} is lost; pass it in each call",
                    reason=f"{t.why.explain(report.module)}; a value in a `partial` becomes a constant of the compiled program",
                )

    def change_between_calls(
        self, owner: Owner, path: str, name: str, event: TransformEvent, value: Value
    ) -> Place | None:
        """A change of `path`, in the scope that owns it, between calls of the function `name` there."""
        line = timeline(owner)
        made = _definition(line, name, event.node)
        if made is None:
            return None
        changes = list(line.bound.get(path, ())) if "." not in path else []
        if not isinstance(value, (Array, Static, TupleValue)):
            changes += line.changed.get(path, ())
        again = [p.line for p in line.bound.get(name, ()) if p.line > made.line]
        end = min(again, default=10**9)
        uses = [use for use in uses_of(owner, name) if made.line < use.line < end]
        for change in sorted(changes, key=lambda place: place.line):
            if not made.line < change.line < end or change.shares_loop(made):
                continue
            if getattr(made.node, "end_lineno", made.line) >= change.line:
                continue
            if between([change], uses) is not None:
                return change
        return None

    def change_by_function(self, function: Function, path: str, name: str) -> Place | None:
        """A rebinding of the global `path`, or a call that does so, between calls of the function `name`."""
        tree = function.module.tree
        rebinds = setters(tree)
        calls = rebinds.get(path, frozenset())
        if name in rebinds:
            calls = frozenset(
                setter for setter in calls if setter not in rebinds[name]
            )  # else: it is made again
        for owner in (tree, *users_of(tree).get(name, ())):
            line = timeline(owner)
            made = max((place.line for place in line.bound.get(name, ())), default=0)
            if owner is function.node or (made and owner is not tree):
                continue
            changes = [
                place
                for setter in calls
                for place in line.used.get(setter, ())
                if function.module.call_of(place.node) is not None
            ]
            if not isinstance(owner, ast.Module) and path in declared_global(owner):
                changes += line.bound.get(path, ())
            if not changes:
                continue
            change = between(changes, (use for use in line.used.get(name, ()) if use.line > made))
            if change is not None:
                return change
        return None

    def change_in_function(self, function: Function, path: str, name: str, value: Value) -> Place | None:
        """A function that rebinds the global `path` and then calls the compiled function, which others also call."""
        tree = function.module.tree
        first = _first_values(tree).get(path)
        if first is None or (isinstance(first, ast.Constant) and first.value is None):
            return None  # it is not ready before that
        callers = [node for node in users_of(tree).get(name, ()) if node is not function.node]
        found: Place | None = None
        for node in callers:
            line = timeline(node)
            uses = line.used[name]
            for place in line.bound.get(path, ()) if path in declared_global(node) else ():
                if any(use.line > place.line for use in uses):
                    found = found or place
        elsewhere = len(callers) > 1 or bool(timeline(tree).used.get(name))
        return found if elsewhere else None

    def change_inside(
        self, function: Function, path: str, name: str, value: Value, read: ast.expr
    ) -> Place | None:
        """A function that mutates the global `path` between two calls of the compiled function."""
        if isinstance(value, (Array, Static, TupleValue)):
            return None
        for node in users_of(function.module.tree).get(name, ()):
            line = timeline(node)
            if (
                node is function.node
                or path.partition(".")[0] in {p.arg for p in all_parameters(node)} | line.bound.keys()
            ):
                continue
            parent = function.module.parents.get(read)
            changes = [c for c in line.changed.get(path, ()) if not _is_other_item(c.node, parent)]
            change = between(changes, line.used[name])
            if change is not None:
                return change
        return None


def _depends_on_iteration(change: Place, path: str, event: TransformEvent) -> bool:
    """Whether a rebinding in a loop gives a value that depends on the iteration: `adam(rate)` with a rate of the loop."""
    loop = change.loops[-1] if change.loops else None
    statement = next(
        (above for above in event.frame.module.ancestors(change.node) if isinstance(above, ast.stmt)), None
    )
    if loop is None or statement is None or isinstance(statement, ast.AugAssign):
        return True
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return True
    given = getattr(statement, "value", None)
    if not isinstance(given, ast.expr) or not names_in(given) & names_stored(loop) - {path}:
        return False
    # An array of another size: where the arguments have it too, the function is traced again.
    return not any(last_name(call.func) in SIZED | _DRAWS for call in nodes_of(given, ast.Call))


def _is_network(value: Value) -> bool:
    """Whether a value is a module: with another shape, its parameters trace the function again."""
    if isinstance(value, Instance):
        return value.cls.model.module
    return isinstance(value, ExternalObject) and bool(_LAYER.match(value.name))


_DRAWS = frozenset({"normal", "uniform", "randn", "rand", "randint"})
_LAYER = re.compile(r"(flax|haiku|equinox\.nn|keras)\.")


def _called_functions(function: Function) -> list[Function]:
    """The functions at the top of the module that a function names, and those that they name, besides itself."""
    found: dict[str, Function] = {}
    waiting = [function]
    while waiting:
        for path, _ in free_reads(waiting.pop().node):
            held, scope = function.scope.lookup(path) or (None, function.scope)
            if isinstance(held, Function) and scope.is_module and path not in found:
                found[path] = held
                waiting.append(held)
    return [
        each for each in found.values() if each.module is function.module and each.node is not function.node
    ]


@cache
def _clears_caches(tree: ast.Module) -> bool:
    """Whether a program clears compiled functions, so that they are traced again."""
    return any(node.attr in ("clear_cache", "clear_caches") for node in nodes_of(tree, ast.Attribute))


def _is_other_item(changed: ast.AST, read: ast.AST | None) -> bool:
    """Whether different items are changed and read: `config["seed"]` and `config["rate"]`."""
    if not isinstance(changed, ast.Subscript) or not isinstance(read, ast.Subscript):
        return False
    keys = [part.slice.value for part in (changed, read) if isinstance(part.slice, ast.Constant)]
    return len(keys) == 2 and keys[0] != keys[1]


def _innermost(target: Value) -> Function | None:
    while isinstance(target, Transformed):
        target = target.target
    return target if isinstance(target, Function) else None


def _bound_variables(call: ast.AST) -> list[ast.Name]:
    """The variables that `partial(f, x, y=z)` binds, inside `jax.jit(...)`."""
    inner = call.args[0] if isinstance(call, ast.Call) and call.args else None
    if not isinstance(inner, ast.Call):
        return []
    return [part for part in passed(inner)[1:] if isinstance(part, ast.Name)]


def _bound_name(event: TransformEvent, report: Reporter) -> str:
    """The variable bound to the compiled function."""
    if event.decorator is not None:
        return getattr(event.node, "name", "")
    return variable_given(report.module.parents.get(event.node))


def _definition(line: Timeline, name: str, node: ast.AST) -> Place | None:
    """The binding of `name` to the function created at `node`."""
    at = getattr(node, "lineno", 0)
    return next((p for p in line.bound.get(name, ()) if p.node is node or p.line == at), None)


def _owner(scope: Scope, frame: Frame, function: Function) -> Owner | None:
    """The module or function that owns the scope."""
    if scope.is_module:
        return function.module.tree
    current: Frame | None = frame
    while current is not None:
        if current.scope is scope:
            return current.function.node if current.function is not None else None
        current = current.caller
    return None


@cache
def _first_values(tree: ast.Module) -> dict[str, ast.expr | None]:
    """The first value that a module's own statements give to each of its variables; None if only declared."""
    found: dict[str, ast.expr | None] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, statement.value)
    return found
