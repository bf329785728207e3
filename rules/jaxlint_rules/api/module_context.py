"""Layers and states where the library allows none."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.api.values import BoundMethod, ExternalObject, Function, Partial, Transformed, Value
from jaxlint.finding import Severity
from jaxlint_rules._names import external_name

# They read or write the state of the transformed function when they are called.
_STATES = frozenset({"haiku.get_state", "haiku.set_state"})
_STATEFUL = frozenset(
    [
        "haiku.BatchNorm",
        "haiku.ExponentialMovingAverage",
        "haiku.SpectralNorm",
        "haiku.nets.VectorQuantizerEMA",
        *(f"haiku.nets.ResNet{depth}" for depth in (18, 34, 50, 101, 152, 200)),
    ]
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class ModuleContext(Rule):
    """A layer or a state is used where the library does not allow it.

    ## What it does
    Finds:

    - layers that a flax.linen module creates in a method, if the module has a `setup` and no method
      with `@nn.compact`;
    - `hk.transform` of a function that calls `hk.get_state`, `hk.set_state`, `hk.BatchNorm` or
      another module with a state.

    ## Why is this bad?
    flax raises `AssignSubModuleError`: a module with `setup` owns the layers that `setup` creates.
    haiku raises `NonEmptyStateError`: only `hk.transform_with_state` keeps a state.

    ## Example
    ```python
    class Decoder(nn.Module):
        def setup(self):
            self.hidden = nn.Dense(128)

        def __call__(self, x):
            return nn.Dense(10)(self.hidden(x))
    ```

    ## Use instead
    ```python
    class Decoder(nn.Module):
        def setup(self):
            self.hidden = nn.Dense(128)
            self.out = nn.Dense(10)

        def __call__(self, x):
            return self.out(self.hidden(x))
    ```

    ## Fix safety
    There is no automatic fix: the layer needs a name, and the state a place in the program.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [flax: setup vs compact](https://flax-linen.readthedocs.io/en/latest/guides/flax_fundamentals/setup_or_nncompact.html)
    - [haiku: transform_with_state](https://dm-haiku.readthedocs.io/en/latest/api.html#haiku.transform_with_state)
    """

    code = "JAX824"
    name = "module-context"
    category = "api"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self.plain: dict[ast.AST, TransformEvent] = {}  # by the function that `hk.transform` gets
        self.with_state: set[ast.AST] = set()
        self.stateful: list[tuple[CallEvent, str, list[ast.AST]]] = []

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        if event.transformed.kind != "hk.transform" or event.frame.is_in_test():
            return
        node = _innermost(event.transformed.target)
        if node is None:
            return
        if event.transformed.api.endswith(".transform") and not event.is_caught():
            self.plain.setdefault(node, event)
        else:
            self.with_state.add(node)

    @concerns(*_STATES, "flax.linen.", callees=("ExternalObject",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name.startswith("flax.linen."):
            self.check_layer(event, report)
            return
        name = event.callee.name if isinstance(event.callee, ExternalObject) else event.name
        if name not in _STATES | _STATEFUL or event.frame.is_conditional():
            return
        around = (event.frame, *event.frame.callers())
        if not any(frame.is_conditional() for frame in around):
            nodes: list[ast.AST] = [frame.function.node for frame in around if frame.function is not None]
            self.stateful.append((event, name.replace("haiku.", "hk."), nodes))

    def finish(self, report: Reporter) -> None:
        for event, name, nodes in self.stateful:
            made = next((self.plain[n] for n in nodes if n in self.plain and n not in self.with_state), None)
            if made is None:
                continue
            report.event = made
            report(
                made.node,
                f"`{name}` under `hk.transform` raises NonEmptyStateError; use `hk.transform_with_state`",
                reason=f"the transformed function calls `{name}` at line {getattr(event.node, 'lineno', '?')}",
            )

    @staticmethod
    def check_layer(event: CallEvent, report: Reporter) -> None:
        layer = event.name.removeprefix("flax.linen.")
        if (
            not isinstance(event.result, ExternalObject)
            or not layer[:1].isupper()
            or "parent" in event.kwargs
        ):
            return
        function = event.frame.function
        node = function.node if function is not None else None
        if not isinstance(node, _FUNCTIONS) or event.is_caught() or event.frame.is_in_test():
            return
        owner = event.frame.module.parents.get(node)
        if not isinstance(owner, ast.ClassDef) or not _has_setup_alone(owner, node):
            return
        above = report.module.parents.get(event.node)
        called = isinstance(above, ast.Call) and above.func is event.node
        if not called and node.name != "__call__":
            return  # it may create layers for the `setup` of a subclass
        if [external_name(base, event.frame.scope) for base in owner.bases] != ["flax.linen.Module"]:
            return
        report(
            event.node,
            f"`{layer}` created in `{node.name}` raises AssignSubModuleError; create it in `setup`",
            reason=f"`{owner.name}` has a `setup` and no `@nn.compact` method",
        )


@cache
def _has_setup_alone(owner: ast.ClassDef, method: ast.AST) -> bool:
    """Whether a module creates its layers in `setup`, and `method` is one that runs after it."""
    methods = {part.name: part for part in owner.body if isinstance(part, _FUNCTIONS)}
    decorators = [decorator for part in methods.values() for decorator in part.decorator_list]
    compact = any("compact" in ast.unparse(decorator) for decorator in [*decorators, *owner.decorator_list])
    if compact or "setup" not in methods or not isinstance(method, _FUNCTIONS) or method.decorator_list:
        return False
    after = _reached("__call__", methods) - _reached("setup", methods)
    return method.name in after or (method.name[:1] != "_" and method.name not in _used(owner))


def _reached(start: str, methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]) -> set[str]:
    """The methods that run in one of them, itself included."""
    found: set[str] = set()
    todo = [start]
    while todo:
        name = todo.pop()
        if name in methods and name not in found:
            found.add(name)
            todo += _used(methods[name])
    return found


@cache
def _used(node: ast.AST) -> frozenset[str]:
    """The names of the attributes of `self` that are read."""
    return frozenset(part.attr for part in nodes_of(node, ast.Attribute) if dotted(part.value) == "self")


def _innermost(value: Value) -> ast.AST | None:
    """The function under transformations."""
    while isinstance(value, (Transformed, Partial, BoundMethod)):
        value = value.target if isinstance(value, Transformed) else value.function
    return value.node if isinstance(value, Function) else None
