"""Gradients through a scan with heavy steps, without rematerialization."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field

from jaxlint.api import BodyEvent, CallEvent, CarryEvent, OperationEvent, Reporter, Rule, Why, concerns
from jaxlint.api.values import (
    Array,
    BoundMethod,
    ClassValue,
    ExternalObject,
    Function,
    Instance,
    Partial,
    Static,
    Transformed,
    Value,
    constant,
    is_none,
    leaves_in,
    shape_of,
)
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import FEW

_PRODUCTS = frozenset(
    """matmul dot einsum tensordot inner dot_general conv_general_dilated dot_product_attention
    conv""".split()  # noqa: SIM905
)
_LAYERS = frozenset(
    """Dense DenseGeneral Conv ConvTranspose Einsum Linear LinearGeneral Conv1D Conv2D Conv3D MLP MultiHeadAttention
    MultiHeadDotProductAttention SelfAttention MultiheadAttention""".split()  # noqa: SIM905
)
_FRAMEWORKS = ("flax.", "haiku.", "equinox.")
_HEAVY = 3  # chained products in a step
_LAYER = 2  # the same, if the step is a layer whose weights the scan iterates over
# Links in the reasons why parameters of a scan's body are traced.
_OVER = "the scanned inputs of"
_CARRY = "the scan carry of"
_FEW_NUMBERS = 256  # a carry with less is the state of a small system


@dataclass(slots=True)
class _Work:
    """The work of one function: its products, with their inputs, and the functions that it calls."""

    products: dict[ast.AST, set[ast.AST]] = field(default_factory=dict)
    # Products of a carry and a scanned value: weights.
    over: set[ast.AST] = field(default_factory=set)
    layers: set[ast.AST] = field(default_factory=set)  # calls of a framework's layers
    looped: set[ast.AST] = field(default_factory=set)  # those in a loop, and functions called in one
    calls: set[ast.AST] = field(default_factory=set)

    @property
    def depth(self) -> int:
        """A lower bound on the number of framework layers that run."""
        return len(self.layers) + (_HEAVY if self.looped & self.layers else 0)


_LAYERS_OF = re.compile(r"layer|block")


class ScanWithoutRemat(Rule):
    """A differentiated scan saves the activations of every step.

    ## What it does
    Finds `lax.scan` (also `hk.scan` and `nn.scan`) in code that is differentiated in reverse mode,
    whose body chains several matrix products and is not under `jax.checkpoint`: two products for a
    layer whose weights the scan iterates over, three for other steps.

    ## Why is this bad?
    The backward pass needs the activations of the forward pass, so the scan saves the intermediate
    values of all steps at once. With `jax.checkpoint` each step saves only its inputs and
    recomputes the rest. The gradient of a scan over 16 blocks of two layers needed 110 MB without
    it and 9 MB with it, for at most one more forward pass.

    ## Example
    ```python
    def block(h, layer):
        return h + jax.nn.gelu(h @ layer["up"]) @ layer["down"], None

    h, _ = jax.lax.scan(block, x, params["layers"])
    ```

    ## Use instead
    ```python
    h, _ = jax.lax.scan(jax.checkpoint(block, prevent_cse=False), x, params["layers"])
    ```

    ## Fix safety
    Unsafe: the gradient takes longer. The fix wraps the body of a `lax.scan` in `jax.checkpoint`;
    values and gradients stay the same. `jaxlint verify` measures both time and memory (`remat`) and
    tries policies that save more.

    ## When not to fix
    Keep it if memory is not scarce: the steps are few or small, or the model fits easily. It is
    advice where the carry is seen to hold less than 256 numbers, as the state of a filter, and the
    scan iterates over no weights. In a file of a project it is advice unless the scan iterates over
    the layers of a network, by framework or by name.

    ## References
    - [JAX: `jax.checkpoint`](https://docs.jax.dev/en/latest/gradient-checkpointing.html)
    """

    code = "JAX605"
    name = "scan-without-remat"
    category = "memory"
    severity = Severity.WARNING
    fixable = "unsafe"
    proof = "remat"

    def __init__(self) -> None:
        self.work: dict[ast.AST, _Work] = {}
        self.scans: dict[ast.AST, tuple[CarryEvent, Function]] = {}
        self.lifted: dict[ast.AST, tuple[CallEvent, Function, bool]] = {}
        self.rematerialised: set[ast.AST] = set()
        self.small: set[ast.AST] = set()  # scans whose carries are seen to hold few numbers
        self.gradients = False

    # Work of functions

    @concerns(*_PRODUCTS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation, function = event.operation, event.frame.function
        if operation.name not in _PRODUCTS or function is None:
            return
        work = self.of(function.node)
        behind = work.products.setdefault(event.node, set())
        for value in operation.args:
            behind |= _products_behind(value)
        parts = {_part_of_scan(value) for value in operation.args}
        if _OVER in parts and _CARRY in parts:
            work.over.add(event.node)

    @concerns(
        "flax.linen.scan",
        "flax.linen.remat",
        "flax.linen.checkpoint",
        callees=("Function", "BoundMethod", "Instance", "Transformed", "Partial", "ExternalObject"),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name == "flax.linen.scan":
            self.note_lifted(event)
            return
        if event.name in ("flax.linen.remat", "flax.linen.checkpoint"):
            body = _body_of(event.args[0]) if event.args else None
            if body is not None:
                self.rematerialised.add(body.node)
            return
        if isinstance(event.callee, Transformed) and event.callee.kind in ("grad", "value_and_grad"):
            self.gradients = True
        if event.frame.function is not None:
            self.note_call(event.frame.function.node, event.callee, event.node, bool(event.frame.loops))

    def on_body(self, event: BodyEvent, report: Reporter) -> None:
        if event.frame.function is not None:
            self.note_call(event.frame.function.node, event.body, event.node, bool(event.frame.loops))

    def note_call(self, caller: ast.AST, callee: Value, node: ast.AST, looped: bool) -> None:
        work = self.of(caller)
        if isinstance(callee, ExternalObject):
            if callee.name.startswith(_FRAMEWORKS) and callee.name.rpartition(".")[2] in _LAYERS:
                work.layers.add(node)
                if looped:
                    work.looped.add(node)
            return
        function = _called(callee)
        if function is not None:
            work.calls.add(function.node)
            if looped:
                work.looped.add(function.node)

    def of(self, function: ast.AST) -> _Work:
        work = self.work.get(function)
        if work is None:
            work = self.work[function] = _Work()
        return work

    # The scans

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        if not event.differentiated or event.api.rpartition(".")[2] != "scan":
            return
        if event.frame.module.is_test or event.frame.stage.within("checkpoint") or _is_short(event.node):
            return
        body = _called(event.body)
        if body is not None:
            self.scans.setdefault(event.node, (event, body))
            if _is_small(event.init):
                self.small.add(event.node)

    def note_lifted(self, event: CallEvent) -> None:
        """`nn.scan(Block, ...)`."""
        axes = event.kwargs.get("variable_axes")
        length = constant(event.kwargs.get("length", Static(None)))
        if event.frame.module.is_test or (isinstance(length, int) and length <= FEW):
            return
        body = _body_of(event.args[0] if event.args else None)
        if body is not None:
            layered = axes is not None and not is_none(axes)
            self.lifted.setdefault(event.node, (event, body, layered))

    def finish(self, report: Reporter) -> None:
        for node, (event, body) in self.scans.items():
            found = self.products_of(body)
            least = _LAYER if found.over else _HEAVY
            count = max(_longest_chain(found.products, least), found.depth)
            if count >= least and event.frame.module.reported:
                report.event = event
                report(
                    node,
                    f"the scan saves the activations of {_name(body)} for every step; wrap {'it' if isinstance(body.node, ast.Lambda) else 'its body'} in `jax.checkpoint`",
                    reason=f"the scan is differentiated, and a step chains at least {min(count, least)} matrix products",
                    fix=_checkpointed(event, report),
                    severity=Severity.INFO if node in self.small and not found.over else None,
                    # a scan over the layers of a network, not one over the time of something that may be small
                    shown=bool(found.over) and _LAYERS_OF.search(ast.unparse(node)) is not None,
                )
        for node, (lifted, body, layered) in self.lifted.items():
            found = self.products_of(body)
            if self.gradients and found.depth >= (_LAYER if layered else _HEAVY):
                if lifted.frame.module.reported:
                    report.event = lifted
                    report(
                        node,
                        f"the scan saves the activations of `{body.qualname.removesuffix('.__call__')}` for every step; scan over `nn.remat(...)`",
                        reason=f"a step calls at least {found.depth} layers; pass `prevent_cse=False` to `nn.remat`",
                        shown=layered,
                    )

    def products_of(self, body: Function) -> _Work:
        """The products of `body` and its callees outside `jax.checkpoint`."""
        total, seen = _Work(), set[ast.AST]()
        waiting: list[tuple[ast.AST, bool]] = [(body.node, False)]
        while waiting:
            node, looped = waiting.pop()
            work = self.work.get(node)
            if work is None or node in seen or node in self.rematerialised:
                continue
            seen.add(node)
            for product, behind in work.products.items():
                total.products.setdefault(product, set()).update(behind)
            total.over |= work.over
            total.layers |= work.layers
            total.looped |= work.layers if looped else work.layers & work.looped
            waiting += [(called, looped or called in work.looped) for called in work.calls]
        return total


def _body_of(target: Value | None) -> Function | None:
    """The method that a lifted transformation of flax runs."""
    body = target.lookup("__call__") if isinstance(target, ClassValue) else None
    return body if isinstance(body, Function) else None


def _called(value: Value) -> Function | None:
    """The project function behind a call of `value`; None for one under `jax.checkpoint`."""
    for _ in range(8):
        if type(value) is Function:
            return value
        if isinstance(value, (Partial, BoundMethod)):
            value = value.function
        elif isinstance(value, Transformed) and value.kind != "checkpoint":
            value = value.target
        elif isinstance(value, Instance):
            method = value.cls.lookup("__call__")
            if method is None:
                return None
            value = method
        else:
            break
    return None


def _products_behind(value: Value, depth: int = 10) -> set[ast.AST]:
    """The nearest products that `value` depends on."""
    found: set[ast.AST] = set()
    waiting, seen = [(value, depth)], set()
    while waiting:
        one, left = waiting.pop()
        if not isinstance(one, Array) or one.made is None or id(one) in seen or left == 0:
            continue
        seen.add(id(one))
        if one.made.name in _PRODUCTS:
            found.add(one.made.node)
        else:
            waiting += [(part, left - 1) for part in one.made.args]
    return found


def _longest_chain(products: dict[ast.AST, set[ast.AST]], enough: int) -> int:
    """The number of chained products, counted up to `enough`; one in a loop follows itself."""
    best = 0
    chain = set(products)
    while chain and best < enough:
        best += 1
        chain = {node for node in products if products[node] & chain}
    return best


def _part_of_scan(value: Value) -> str:
    """Whether `value` comes from the carry or from scanned values, by the nearest link of its reason that says so."""
    why: Why | None = value.why if isinstance(value, Array) else None
    while why is not None and why.text not in (_OVER, _CARRY):
        why = why.cause
    if why is None:
        return ""
    made = value.made if isinstance(value, Array) else None
    if why.text == _OVER and made is not None and made.name not in _SAME:
        return ""  # computed from it, as a residual from observations: no weights
    return why.text


_SAME = frozenset({"getitem", "astype", "reshape", "transpose", "asarray", "squeeze"})


def _is_small(value: Value) -> bool:
    """Whether all arrays of a carry are known and hold few numbers: the state of a filter or an equation."""
    leaves = leaves_in(value)
    shapes = [shape_of(leaf) for leaf in leaves or ()]
    return (
        bool(shapes)
        and sum(_FEW_NUMBERS if shape is None else math.prod(shape) for shape in shapes) < _FEW_NUMBERS
    )


def _is_short(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    lengths = [keyword.value for keyword in node.keywords if keyword.arg == "length"]
    return any(isinstance(n, ast.Constant) and isinstance(n.value, int) and n.value <= FEW for n in lengths)


def _name(body: Function) -> str:
    return "its body" if isinstance(body.node, ast.Lambda) else f"`{body.node.name}`"


def _checkpointed(event: CarryEvent, report: Reporter) -> FixRequest | None:
    if event.api != "lax.scan":
        return None
    return propose(report, event.node, "checkpoint-scan-body", "Use `jax.checkpoint`", safe=False)
