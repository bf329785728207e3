"""Layers that stand where their results belong, and modules that are called though they have no `__call__`."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import FunctionNode, cache, nodes_of
from jaxlint.api.values import ClassValue, External, ExternalObject, Function, Instance, Value
from jaxlint.finding import Severity
from jaxlint_rules._names import variable_given

_BASES = frozenset(
    {"flax.linen.Module", "flax.nnx.Module", "equinox.Module", "haiku.Module", "abc.ABC", "typing.Generic"}
)
_LIBRARIES = ("flax.linen.", "flax.nnx.", "equinox.nn.", "haiku.")
_ACTIVATIONS = frozenset(
    f"{library}.{name}"
    for library in ("flax.linen", "flax.nnx")
    for name in "relu gelu silu swish sigmoid tanh softmax log_softmax softplus elu leaky_relu".split()  # noqa: SIM905
)
_FORWARD = ("forward", "apply", "predict", "call", "encode", "decode")


def _takes_arrays(name: str) -> bool:
    return name.startswith(("jax.numpy.", "jax.nn.")) or name in _ACTIVATIONS


class UncalledLayer(Rule):
    """A layer is used in place of its result, or a module cannot be called.

    ## What it does
    Finds, in models of flax, haiku and equinox:

    - a `__call__` that returns a layer which it has just created, `x = nn.Dense(10)` and `return x`,
      in place of the layer's result, `nn.Dense(10)(x)`;
    - a layer that a function of JAX gets as an array: `nn.relu(nn.Dense(64))`;
    - calls of a module that has no `__call__`, such as one with a `forward` as in PyTorch.

    ## Why is this bad?
    A layer is an object, no array. `init` of flax and the returning call raise nothing, and the model
    has no such weights; what computes with the result raises `TypeError`, as the other two do.

    ## Example
    ```python
    class Classifier(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Dense(64)(x))
            x = nn.Dense(10)
            return x
    ```

    ## Use instead
    ```python
    class Classifier(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Dense(64)(x))
            x = nn.Dense(10)(x)
            return x
    ```

    ## Fix safety
    There is no automatic fix: only you know the layer's input.

    ## When not to fix
    Always fix it. Methods other than `__call__` may return layers and are not reported.

    ## References
    - [flax: linen modules](https://flax-linen.readthedocs.io/en/latest/api_reference/flax.linen/module.html)
    """

    code = "JAX828"
    name = "uncalled-layer"
    category = "api"
    severity = Severity.ERROR
    follows_calls = True

    @concerns(
        where=lambda name: _takes_arrays(name) or name.startswith(_LIBRARIES),
        callees=("Instance", "ClassValue"),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.is_caught() or event.frame.is_in_test() or not isinstance(event.node, ast.Call):
            return
        if isinstance(event.callee, Instance):
            self.check_callable(event, event.callee.cls, report)
        elif _takes_arrays(event.name):
            self.check_argument(event, event.node, report)
        elif _is_layer(event.result):
            self.check_returned(event, event.node, report)

    def check_callable(self, event: CallEvent, cls: ClassValue, report: Reporter) -> None:
        if not cls.model.module or cls.lookup("__call__") is not None or not _is_known(cls):
            return
        assert isinstance(event.node, ast.Call)
        methods = [name for name in _FORWARD if isinstance(cls.lookup(name), Function)]
        advice = f"rename `{methods[0]}` to `__call__`" if methods else "define it"
        report(
            event.node,
            f"`{cls.name}` has no `__call__`, so calling it raises TypeError; {advice}",
            reason=f"`{ast.unparse(event.node.func)}` is a `{cls.name}`, and none of its classes defines `__call__`",
        )

    def check_argument(self, event: CallEvent, call: ast.Call, report: Reporter) -> None:
        for given, value in zip(call.args, event.args, strict=False):
            if _is_layer(value) and isinstance(given, (ast.Name, ast.Call)):
                report(
                    given,
                    f"`{ast.unparse(call.func)}` of a layer raises TypeError: it takes an array; call the layer first",
                    reason=f"`{_class_of(value)}(...)` creates a layer, whose result is an array",
                )
                return

    def check_returned(self, event: CallEvent, call: ast.Call, report: Reporter) -> None:
        function, frame = event.frame.function, event.frame
        if function is None or function.name != "__call__" or function.cls is None:
            return
        if function.cls.kind not in ("linen", "haiku") or isinstance(function.node, ast.Lambda):
            return
        parent = frame.module.parents.get(call)
        name = variable_given(parent)
        if not isinstance(parent, ast.Return) and not (name and _is_returned(name, parent, function.node)):
            return
        report(
            call,
            f"`{function.cls.name}` returns the layer `{_class_of(event.result)}` itself, not its result; call it with its input",
            reason="a layer is an object, which computes an array only when it is called",
        )


def _is_layer(value: Value) -> bool:
    """Whether a value is a layer of a library that is called with arrays."""
    if isinstance(value, Instance):
        return value.cls.kind in ("linen", "haiku") and _is_known(value.cls)
    if not isinstance(value, ExternalObject) or not value.name.startswith(_LIBRARIES):
        return False
    owner, _, name = value.name.rpartition(".")
    return f"{owner}." in _LIBRARIES and name in _LAYERS


_LAYERS = frozenset(
    """Dense DenseGeneral Linear MLP Conv Conv1d Conv1D Conv2d Conv2D Conv3d Conv3D ConvTranspose Conv2DTranspose Embed Embedding LayerNorm
    BatchNorm GroupNorm RMSNorm InstanceNorm Dropout MultiHeadAttention MultiheadAttention SelfAttention MultiHeadDotProductAttention
    GRUCell LSTMCell OptimizedLSTMCell""".split()  # noqa: SIM905
)


def _is_known(cls: ClassValue) -> bool:
    """Whether all bases of a class are known, and none defines `__call__` unseen."""
    return all(
        isinstance(base, ClassValue) or (isinstance(base, External) and base.name in _BASES)
        for one in cls.mro()
        for base in one.bases
    )


def _class_of(value: Value) -> str:
    return value.cls.name if isinstance(value, Instance) else getattr(value, "name", "").rpartition(".")[2]


@cache
def _reads(function: FunctionNode) -> dict[str, list[ast.Name]]:
    found: dict[str, list[ast.Name]] = {}
    for part in nodes_of(function, ast.Name):
        found.setdefault(part.id, []).append(part)
    return found


def _is_returned(name: str, statement: ast.AST | None, function: FunctionNode) -> bool:
    """Whether a variable is bound to a layer at a statement of a function's body, and next returned as it is."""
    body = function.body if isinstance(function.body, list) else []
    if statement not in body:
        return False
    for after in body[body.index(statement) + 1 :]:
        if isinstance(after, ast.Return):
            given = after.value
            return isinstance(given, ast.Name) and given.id == name
        if any(part in _names(after) for part in _reads(function).get(name, [])):
            return False
    return False


@cache
def _names(statement: ast.AST) -> frozenset[ast.AST]:
    return frozenset(nodes_of(statement, ast.Name))
