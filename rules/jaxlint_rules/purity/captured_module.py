"""nnx modules and optimizers that a jitted function captures."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeGuard

from jaxlint.api import (
    CallEvent,
    Module,
    Reporter,
    Rule,
    StaticArgumentEvent,
    TransformEvent,
    concerns,
)
from jaxlint.api.syntax import FunctionNode, all_parameters, cache, dotted, nodes_of, walk
from jaxlint.api.values import (
    UNKNOWN,
    BoundMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    TupleValue,
    Value,
    constant,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import innermost
from jaxlint_rules._compiled_methods import captured_self, reads_of_self
from jaxlint_rules._trained import OPTIMIZERS, Moment, Training, is_nnx
from jaxlint_rules.purity._captures import free_reads

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_KINDS = frozenset({"jit", "nnx.jit"})


@dataclass(slots=True)
class _Captured:
    """A model that a compiled function captures when it is created."""

    event: TransformEvent
    path: str  # its name there
    read: ast.AST
    model: Value
    made: Moment


class CapturedModule(Rule):
    """A jitted function captures an nnx module or optimizer.

    ## What it does
    Finds functions under `jax.jit` and `nnx.jit` that

    - update an `nnx.Optimizer` from an enclosing scope;
    - update an optimizer of their own object, in a jitted method;
    - read a module from an enclosing scope while other code in the file trains it;
    - call a module from an enclosing scope that writes its own variables: its `nnx.BatchNorm` updates
      statistics, its `nnx.Dropout` draws, or its `__call__` assigns `self.count.value`.

    ## Why is this bad?
    JAX compiles the parameters of a captured module into the program as constants. After training
    updates them, compiled calls still use the old values, without an exception. An update from
    inside raises `flax.errors.TraceContextError`, because the module belongs to another trace.
    `nnx.grad` of a captured module raises `ValueError`.

    ## Example
    ```python
    @jax.jit
    def predict(x):
        return model(x)
    ```

    ## Use instead
    ```python
    @nnx.jit
    def predict(model, x):
        return model(x)
    ```

    ## Fix safety
    There is no automatic fix: the module becomes an argument of the function and of every call.

    ## When not to fix
    Keep it if the module never changes. Modules that nothing in the file trains are not reported,
    nor those that are only restored before the function is made.

    ## References
    - [Flax: transformations of nnx](https://flax.readthedocs.io/en/latest/guides/transforms.html)
    """

    code = "JAX205"
    name = "captured-module"
    category = "purity"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.training = Training()
        self.captured: list[_Captured] = []
        self.methods: list[tuple[TransformEvent, Moment]] = []  # that are compiled with a static object
        self.objects: dict[ast.AST, list[Instance]] = {}  # what these get, by what compiles them
        self.told: set[ast.AST] = set()

    @concerns("flax.", callees=("Function", "BoundMethod", "Transformed", "ExternalMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        self.training.note(event)

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        if isinstance(event.value, Instance):
            objects = self.objects.setdefault(event.transformed.node, [])
            if not any(one is event.value for one in objects):
                objects.append(event.value)

    def finish(self, report: Reporter) -> None:
        """Runs when all calls were seen: models that some call trains after they were captured."""
        for event, made in self.methods:
            cls, method, _ = captured_self(event, report)
            if cls is None or method is None:
                continue
            reads = dict(reads_of_self(cls, method, set()))
            for owner in self.objects.get(event.node, ()):
                for name, (read, _) in reads.items():
                    if (model := owner.fields.get(name)) is not None and is_nnx(model):
                        self.captured.append(_Captured(event, f"self.{name}", read, model, made))
        for one in self.captured:
            if one.event.node in self.told:
                continue
            t, module = one.event.transformed, one.event.frame.module
            trained = self.training.stale(one.model, one.made, one.event.node)
            function = innermost(t.target)
            by_name = (
                isinstance(function, Function)
                and function.module is module
                and _is_trained(one.path, function.node, module, self.training.of_others(one.model))
            )
            if trained is None and not by_name:
                continue
            self.told.add(one.event.node)
            report.event = one.event
            then = f"line {getattr(trained.node, 'lineno', '?')}" if trained is not None else "training"
            report(
                one.read if one.read in module.parents else one.event.node,
                f"`{t.label}` captures module `{one.path}`: its parameters become constants; pass it as an argument",
                reason=f"{t.why.explain(module)}; {then} then updates parameters that it does not see",
            )

    def note_captured(self, event: TransformEvent, report: Reporter) -> None:
        """Records the models that a compiled function captures, by name, through an object, or as a bound method."""
        t = event.transformed
        function = innermost(t.target)
        made = self.training.moment(event)
        found: list[tuple[str, ast.AST, Value]] = []
        if isinstance(function, Function):
            self.methods.append((event, made))
            for path, read in free_reads(function.node):
                held = _value_at(path, function)
                if held is not None and is_nnx(held):
                    found.append((path, read, held))
        elif isinstance(function, BoundMethod) and isinstance(function.receiver, Instance):
            owner = function.receiver
            inner = function.function
            if is_nnx(owner) and _object_of(event):
                found.append((_object_of(event), event.node, owner))
            elif isinstance(inner, Function):
                for name, (read, _) in dict(reads_of_self(owner.cls, inner, set())).items():
                    held = owner.fields.get(name)
                    if held is not None and is_nnx(held):
                        found.append((f"self.{name}", read, held))
        self.captured += [
            _Captured(event, path, read, model, made)
            for path, read, model in found
            if not isinstance(model, ExternalObject) or model.name not in OPTIMIZERS
        ]

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.kind in _KINDS and not event.frame.is_in_test() and not event.frame.stage.staged:
            self.note_captured(event, report)
        function = innermost(t.target)
        if isinstance(function, BoundMethod) and t.kind in _KINDS and not event.frame.is_in_test():
            self.check_method(event, function, report)
        if t.kind not in _KINDS or not isinstance(function, Function) or event.frame.is_in_test():
            return
        told = set[str]()
        for path, read in free_reads(function.node):
            name = path.partition(".")[0]
            held = function.scope.value_of(name)
            if name in told or held is None or not is_nnx(held):
                continue
            told.add(name)
            if isinstance(held, ExternalObject) and held.name in OPTIMIZERS:
                if update := _update_of(name, function.node):
                    report(
                        update,
                        f"updating `{name}` from another trace raises TraceContextError; pass it and its model as arguments",
                        reason=f"{t.why.explain(report.module)}; `{name}` comes from an enclosing scope",
                        severity=Severity.ERROR,
                    )
                    self.told.add(event.node)
                    return
                continue
            if changed := _own_changes(held, read, report.module):
                self.told.add(event.node)
                report(
                    read,
                    f"`{name}` in `{t.label}` updates its {changed} from another trace: TraceContextError; use `nnx.jit`",
                    reason=f"{t.why.explain(report.module)}; `{name}` comes from an enclosing scope",
                )
                continue

    def check_method(self, event: TransformEvent, method: BoundMethod, report: Reporter) -> None:
        """A method of an object that holds an optimiser: jit treats the object as a constant."""
        function, owner = method.function, method.receiver
        if not isinstance(function, Function) or not isinstance(owner, Instance) or owner.cls.kind == "nnx":
            return
        first = next(iter(all_parameters(function.node)), None)
        for name, held in owner.fields.items():
            if first is None or not isinstance(held, ExternalObject) or held.name not in OPTIMIZERS:
                continue
            path = f"{first.arg}.{name}"
            if update := _update_of(path, function.node):
                self.told.add(event.node)
                here = function.module is event.frame.module
                report(
                    update if here else event.node,
                    f"updating `{path}` from another trace raises TraceContextError; pass it and its model as arguments",
                    reason=f"{event.transformed.why.explain(report.module)}; the jitted method captures `{first.arg}` and its attributes",
                    severity=Severity.ERROR,
                )
                return


def _value_at(path: str, function: Function) -> Value | None:
    """The value of a name of an enclosing scope, or of an attribute of an ordinary object there: `self.model`."""
    root, *names = path.split(".")
    held = function.scope.value_of(root)
    for name in names:
        held = held.fields.get(name) if isinstance(held, Instance) and held.cls.is_ordinary else None
    return held


def _object_of(event: TransformEvent) -> str:
    """The text of the object whose method is compiled: `jax.jit(model.predict)`."""
    given = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
    return dotted(given).rpartition(".")[0] if given is not None else ""


def _own_changes(model: Value, read: ast.AST, module: Module) -> str:
    """A layer of a module that changes when it is called, as in training, if the function calls the module itself."""
    call = module.parents.get(read)
    if not isinstance(model, Instance) or not isinstance(call, ast.Call) or call.func is not read:
        return ""
    if any(part.attr in _MODES for part in nodes_of(module.tree, ast.Attribute)):
        return ""  # the file chooses the mode of its modules
    return _changing_part(model)


def _changing_part(module: Instance, depth: int = 4) -> str:
    """What a module, or one of its modules, writes when it is called: its statistics, a random stream, or a variable of its own."""
    call = module.cls.lookup("__call__")
    if isinstance(call, Function) and (written := _written_variable(call.node)):
        return f"`{module.cls.name}.{written}`"
    for held in module.fields.values():
        for part in held.elements() if isinstance(held, (ListValue, TupleValue)) else [held]:
            inner = _changing_part(part, depth - 1) if _is_module(part) and depth else _changing_layer(part)
            if inner:
                return inner
    return ""


def _is_module(value: Value) -> TypeGuard[Instance]:
    return isinstance(value, Instance) and value.cls.kind == "nnx"


@cache
def _written_variable(call: FunctionNode) -> str:
    """The variable that each call of a method assigns: `self.count.value = self.count.value + 1`."""
    first = next((parameter.arg for parameter in all_parameters(call)), "")
    for statement in call.body if isinstance(call.body, list) else []:
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [statement.target]
            if isinstance(statement, ast.AugAssign)
            else []
        )
        for target in targets:
            owner, _, name = (
                dotted(target.value).partition(".") if isinstance(target, ast.Attribute) else ("",) * 3
            )
            if isinstance(target, ast.Attribute) and target.attr == "value" and owner == first and name:
                return name
    return ""


# Layers that write statistics or the count of their random stream, with the option that stops them.
_CHANGING = {"flax.nnx.BatchNorm": "use_running_average", "flax.nnx.Dropout": "deterministic"}
_MODES = frozenset({"eval", "set_attributes", "view", "train"})


def _changing_layer(value: Value) -> str:
    """The name of a layer whose call writes to its own variables, unless an option may say otherwise."""
    option = _CHANGING.get(value.name) if isinstance(value, ExternalObject) else None
    if option is None or not isinstance(value, ExternalObject) or option in value.kwargs:
        return ""
    if option == "deterministic":
        rate = constant(value.args[0] if value.args else value.kwargs.get("rate", UNKNOWN))
        if not isinstance(rate, float) or rate == 0.0:
            return ""  # a rate of 0 draws nothing
    return value.name.rpartition(".")[2]


def _update_of(optimizer: str, function: ast.AST) -> ast.Call | None:
    """The call `optimizer.update(...)` in a function."""
    for node in walk(function):
        if isinstance(node, ast.Call) and dotted(node.func) == f"{optimizer}.update":
            return node
    return None


def _is_trained(model: str, function: ast.AST, module: Module, others: set[ast.AST]) -> bool:
    """Whether code outside `function` updates `model`, by its name, or passes it to a step that does; not
    before the function is created, as when a checkpoint is restored. `others`: calls that train another model.
    """
    tree = module.tree
    inside = set(walk(function))
    steps = {
        node.name
        for node in walk(tree)
        if isinstance(node, ast.FunctionDef) and node is not function and _updates_parameter(node)
    }
    for node in walk(tree):
        if not isinstance(node, ast.Call) or node in inside or node in others:
            continue
        called, given = dotted(node.func), [dotted(argument) for argument in node.args]
        updates = called.endswith(("nnx.update", "optimizer.update")) and not _is_parameters(
            model, node, module
        )
        if model in given and (called in steps or updates) and not _is_before(node, function, module):
            return True
    return False


def _is_parameters(model: str, call: ast.AST, module: Module) -> bool:
    """Whether the name is a parameter of the function around a call: its callers choose the module."""
    owner = next((above for above in module.ancestors(call) if isinstance(above, _FUNCTIONS)), None)
    return owner is not None and model in {parameter.arg for parameter in all_parameters(owner)}


def _is_before(call: ast.AST, function: ast.AST, module: Module) -> bool:
    """Whether a call runs before a function is created: above it in the same function, and in no loop around both."""
    around = [
        above for above in module.ancestors(function) if isinstance(above, (*_FUNCTIONS, ast.For, ast.While))
    ]
    owner = next((above for above in module.ancestors(call) if isinstance(above, _FUNCTIONS)), None)
    if owner is None or owner not in around or isinstance(around[0], (ast.For, ast.While)):
        return False
    return getattr(call, "lineno", 0) < getattr(function, "lineno", 0)


def _updates_parameter(function: ast.FunctionDef) -> bool:
    """Whether a function updates its argument, by an optimiser or by `nnx.update`."""
    parameters = {parameter.arg for parameter in function.args.args}
    for node in walk(function):
        if isinstance(node, ast.Call) and node.args and dotted(node.args[0]) in parameters:
            called = dotted(node.func)
            owner, _, method = called.rpartition(".")
            if called in ("nnx.update", "flax.nnx.update") or (method == "update" and owner in parameters):
                return True
    return False
