"""Attributes that a compiled method captures and that other code rebinds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.api import (
    CallEvent,
    Module,
    Reporter,
    Rule,
    StaticArgumentEvent,
    TransformEvent,
    concerns,
)
from jaxlint.api.syntax import FunctionNode, cache, dotted, nodes_of
from jaxlint.api.values import ClassValue, Function, Instance, Partial
from jaxlint.finding import Severity
from jaxlint_rules._callables import innermost
from jaxlint_rules._compiled_methods import (
    captured_self,
    facts_of_method,
    is_identified_by_itself,
    methods_of,
    reads_of_self,
)
from jaxlint_rules._names import last_name, passed
from jaxlint_rules.purity._captures import between, functions_of, timeline
from jaxlint_rules.purity._closures import kept_closure, reads_of_closure
from jaxlint_rules.purity._object_calls import CallsByClass, callers_of, compiles_again

# Methods that run before all others, by name.
_FIRST = re.compile(
    r"^_*(init|setup|set_?up|build|create|make|initiali[sz]e|reset|load|restore|prepare|configure|compile)"
)


_KINDS = frozenset({"jit", "filter_jit", "pmap"})


class StaleStaticSelf(Rule):
    """A jitted method reads attributes that other methods rebind.

    ## What it does
    Finds compiled methods that read an attribute which another method of the class rebinds, or
    which the program assigns between two calls. A method is compiled with `self` as a static
    argument, as a bound method (`self._step = jax.jit(self._update)`), or as a function that
    another method defines, jits and stores. Also finds attributes bound by a jitted `partial`, and
    attributes of static arguments that the caller assigns between two calls.

    ## Why is this bad?
    JAX reads the attribute once, at trace time. Rebinding it does not change the identity of the
    object, so `jit` finds the compiled program in its cache and runs it with the old value. The
    results are wrong, without an exception.

    ## Example
    ```python
    class Trainer:
        def decay(self):
            self.lr = self.lr * 0.5

        @partial(jax.jit, static_argnums=0)
        def step(self, w, grad):
            return w - self.lr * grad
    ```

    ## Use instead
    ```python
    class Trainer:
        def decay(self):
            self.lr = self.lr * 0.5

        def step(self, w, grad):
            return self._step(w, grad, self.lr)

        @partial(jax.jit, static_argnums=0)
        def _step(self, w, grad, lr):
            return w - lr * grad
    ```

    ## Fix safety
    There is no automatic fix: the attribute becomes an argument of the method.

    ## When not to fix
    Attributes that are set only before the first call (in `__init__`, `setup`, `build`, `reset` and
    similar methods, or that start as None) are not reported, unless the program calls that method
    between two calls of the compiled one. Nor are classes with their own `__eq__` and `__hash__`,
    and attributes set by a method that jits the function again.

    ## References
    - [JAX: using jax.jit with methods](https://docs.jax.dev/en/latest/faq.html#how-to-use-jit-with-methods)
    """

    code = "JAX203"
    name = "stale-static-self"
    category = "purity"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.jits: list[TransformEvent] = []
        self.told: dict[tuple[ast.AST, str], ast.AST] = {}  # by the lost change: the jit that is told
        # By class: the functions that call a compiled method of an object, and its name there.
        self.called: dict[ast.ClassDef, set[tuple[ast.AST, str]]] = {}
        self.kept: set[tuple[ast.AST, str]] = (
            set()
        )  # methods, and attributes that their functions read too early
        self.lost: dict[ast.AST, str] = {}  # changes of static arguments, by place
        self.calls = CallsByClass()

    @concerns(callees=("BoundMethod", "Transformed", "Function"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        self.calls.add(event)

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        self.check_argument(event, report)
        function = event.node.func if isinstance(event.node, ast.Call) else None
        if isinstance(event.value, Instance) and isinstance(function, ast.Attribute):
            if isinstance(function.value, ast.Name):
                places = self.called.setdefault(event.value.cls.node, set())
                places.add((event.frame.owner, function.value.id))

    def check_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        """`loss.weight = w` between two calls of `step(loss, ...)`, where `loss` is static and known by its identity."""
        argument, value = event.argument, event.value
        if not isinstance(argument, ast.Name) or event.frame.module.is_test:
            return
        readers = [one for one in (value, innermost(event.transformed.target)) if isinstance(one, Function)]
        alone = isinstance(value, Function) or (
            isinstance(value, Instance) and is_identified_by_itself(value.cls)
        )
        line = timeline(event.frame.owner)
        for path, changes in line.changed.items() if alone else ():
            root, _, attribute = path.partition(".")
            if root != argument.id or not any(_reads(one.node, attribute) for one in readers):
                continue
            uses = [use for use in line.used.get(root, ()) if use.node is argument]
            change = between(changes, uses)
            if change is not None and self.lost.setdefault(change.node, path) is path:
                report(
                    change.node,
                    f"this change of `{path}` is lost: `{event.transformed.label}` read it at trace time; pass it in",
                    reason=f"`{root}` is a static argument, compared by identity, so the call does not retrace; "
                    f"{event.transformed.why.explain(report.module)}",
                )

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        if event.transformed.kind in _KINDS:
            self.jits.append(event)

    def finish(self, report: Reporter) -> None:
        """Runs once the classes are complete: a decorator is evaluated before the methods below it."""
        for event in self.jits:
            report.event = event
            self.check(event, report)

    def check(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if isinstance(t.target, Partial):
            self.check_bound(event, report)
        closure = kept_closure(event, report)
        cls: ClassValue | None
        method: Function | None
        if closure is not None:
            cls, method, holder = closure.cls, closure.function, closure.holder
        elif t.kind == "jit":
            cls, method, holder = captured_self(event, report)
        else:
            return
        if cls is None or method is None or not is_identified_by_itself(cls):
            return
        reads = dict(reads_of_closure(closure) if closure else reads_of_self(cls, method, set()))
        inside = {node for _, node in reads.values()}
        for name, (read, _) in reads.items():
            if closure is not None and (closure.maker, name) in self.kept:
                continue  # told of another function that the method creates
            runs = holder or method.name
            change = (
                _change(cls, name, inside, holder)
                or _change_from_outside(cls, name, runs, self.called.get(cls.node, set()))
                or _change_in_use(cls, name, runs, self.calls)
            )
            if change is None:
                self.check_held(event, cls, name, runs, report)
                continue
            if closure is not None:
                self.kept.add((closure.maker, name))
            where, node = change
            if self.told.setdefault((node, name), event.node) is not event.node:
                continue  # one change, which another method reads too
            here = method.module is event.frame.module
            report(
                read if here else event.node,
                f"`{t.label}` reads `self.{name}` at trace time only: the change at {_place(node, report, cls)} is lost; pass it in",
                reason=f"{where} rebinds it, but the same `self` does not retrace; {t.why.explain(report.module)}",
            )

    def check_held(
        self, event: TransformEvent, cls: ClassValue, name: str, runs: str, report: Reporter
    ) -> None:
        """`self.model.name = ...`, also in a function that receives the object, between two calls that run its compiled
        method, wherever the object is held."""
        change = self.calls.store_between(cls, name, runs)
        if change is None or self.told.setdefault((change, name), event.node) is not event.node:
            return
        t = event.transformed
        report(
            change if change in report.module.parents else event.node,
            f"this change of `{dotted(change)}` is lost: `{t.label}` read it at trace time; pass it in",
            reason=f"the same `{cls.name}` does not retrace when an attribute changes; {t.why.explain(report.module)}",
        )

    def check_bound(self, event: TransformEvent, report: Reporter) -> None:
        """`self._act = jax.jit(partial(policy, self.params))`, with a method that rebinds `self.params`."""
        function, node = event.frame.function, event.node
        kept = report.module.parents.get(node)
        if function is None or function.cls is None or not isinstance(kept, ast.Assign):
            return
        target, made = kept.targets[0], node.args[0] if isinstance(node, ast.Call) and node.args else None
        me = next((p.arg for p in function.node.args.args), "")
        if (
            not isinstance(target, ast.Attribute)
            or dotted(target.value) != me
            or not isinstance(made, ast.Call)
        ):
            return
        for given in passed(made)[1:]:
            if not isinstance(given, ast.Attribute) or dotted(given.value) != me:
                continue
            change = _change(function.cls, given.attr, set(), target.attr)
            if change is not None:
                where, place = change
                report(
                    given,
                    f"`{event.transformed.label}` binds `{dotted(given)}` once: the change at {_place(place, report, function.cls)} is lost; pass it in",
                    reason=f"{where} rebinds it; a value in a `partial` becomes a constant of the compiled program",
                )


def _place(change: ast.expr, report: Reporter, cls: ClassValue) -> str:
    """Where a change is, in words: a base class may be in another file."""
    if change in report.module.parents:
        return f"line {change.lineno}"
    modules = (known.module for known in cls.mro())
    return next(
        (f"{one.display}:{change.lineno}" for one in modules if change in one.parents),
        f"line {change.lineno}",
    )


@cache
def _reads(function: FunctionNode, attribute: str) -> bool:
    """Whether a function reads an attribute of that name."""
    return any(
        part.attr == attribute and isinstance(part.ctx, ast.Load)
        for part in nodes_of(function, ast.Attribute)
    )


def _change(cls: ClassValue, name: str, inside: set[ast.AST], holder: str) -> tuple[str, ast.expr] | None:
    """A method that rebinds the attribute while the object is in use: its name and place.

    `holder`: the attribute with the compiled function; a method that also sets that one is correct.
    """
    starts_as_none = False
    has_start = cls.lookup(name) is not None
    found: tuple[str, ast.Attribute] | None = None
    changing: set[str] = set()
    for known in cls.mro():
        if "__setattr__" in known.namespace:
            return None
        for method in known.node.body:
            if not isinstance(method, ast.FunctionDef) or not method.args.args or method in inside:
                continue
            own = facts_of_method(method)
            if method.name == "__init__":
                starts_as_none = starts_as_none or name in own.set_to_none
                has_start = has_start or name in own.stores
                if any(m in own.called for m in _rebinding_methods(known, name)):
                    return None  # the initial state of the object
                continue
            if _FIRST.match(method.name) or (holder in own.stores if holder else own.jits):
                continue
            for store in own.stores.get(name, ()):
                found = found or (f"`{method.name}`", store)
                changing.add(method.name)
    # An attribute that only one method sets is probably set before the first call.
    return found if not starts_as_none and (has_start or len(changing) > 1) else None


def _change_in_use(cls: ClassValue, name: str, runs: str, calls: CallsByClass) -> tuple[str, ast.expr] | None:
    """A method that rebinds the attribute and that the program calls between two calls of the compiled one. What the
    method is called does not matter then: `load` and `reset` need not be the first to run."""
    stores: dict[str, ast.Attribute] = {}
    makers: set[str] = set()
    for method in methods_of(cls):
        own = facts_of_method(method)
        if method.name == "__init__":
            continue
        if name in own.stores:
            stores[method.name] = own.stores[name][0]
        if own.jits or runs in own.stores:
            makers.add(method.name)
    again = {*makers, *(caller for maker in makers for caller in callers_of(cls, maker))}
    for changed, store in stores.items():
        changing = {changed, *callers_of(cls, changed)} - {"__init__"}
        call = calls.change_between(cls, changing, runs) if changing.isdisjoint(again) else None
        if call is not None:
            return f"`{changed}`, which line {call.lineno} calls between two calls,", store
    return None


def _change_from_outside(
    cls: ClassValue, name: str, method: str, called: set[tuple[ast.AST, str]]
) -> tuple[str, ast.expr] | None:
    """An assignment `model.name = ...` between two calls of `model.method` where the object was created, or where a
    function received it. `called`: functions that were seen to call compiled methods of such an object."""
    module = cls.module
    for owner in (module.tree, *functions_of(module.tree)):
        if compiles_again(owner):
            continue
        line = timeline(owner)
        for path, changes in line.changed.items():
            root, _, attribute = path.rpartition(".")
            made = line.bound.get(root, ())
            received = not made and (owner, root) in called
            created = len(made) == 1 and _class_made(module.parents.get(made[0].node)) == cls.name
            if attribute != name or not (received or created):
                continue
            uses = [use for use in line.used.get(root, ()) if _is_call_of(module, use.node, method)]
            change = between([c for c in changes if not (made and c.shares_loop(made[0]))], uses)
            if change is not None and isinstance(change.node, ast.Attribute):
                return "the program", change.node
    return None


def _class_made(statement: ast.AST | None) -> str:
    """The class in `model = Model(...)`."""
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        return last_name(statement.value.func)
    return ""


def _is_call_of(module: Module, name: ast.AST, method: str) -> bool:
    attribute = module.parents.get(name)
    if method == "__call__" and isinstance(name, ast.expr) and module.call_of(name) is not None:
        return True
    if not isinstance(attribute, ast.Attribute) or attribute.attr != method:
        return False
    return module.call_of(attribute) is not None


def _rebinding_methods(cls: ClassValue, name: str) -> Iterator[str]:
    for method in cls.node.body:
        if isinstance(method, ast.FunctionDef) and method.args.args and method.name != "__init__":
            if name in facts_of_method(method).stores:
                yield method.name
