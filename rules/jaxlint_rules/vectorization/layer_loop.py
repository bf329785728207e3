"""Python loops over layers of one shape."""

from __future__ import annotations

import ast
import re

from jaxlint.api import Frame, LoopEvent, Reporter, Rule
from jaxlint.api.syntax import dotted, nodes_of, walk
from jaxlint.api.values import (
    Array,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    TupleValue,
    Value,
    find_array,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._cost import FELT, LAYER, PLAIN, level
from jaxlint_rules._fixes import propose
from jaxlint_rules._given import numbers_given
from jaxlint_rules._loops import counters, has_few_turns, has_other_way
from jaxlint_rules._names import last_name, names_in, passed, updated_at
from jaxlint_rules._reasons import staged_because

DEEP = 16  # modules of one kind whose compile time becomes noticeable
_LIFTED = frozenset({"linen", "haiku"})  # modules that are not pytrees
_OF_ARRAYS = frozenset({"shape", "ndim", "dtype", "size"})
_ELEMENTWISE = frozenset(
    """add subtract multiply divide maximum minimum where logaddexp logical_and logical_or power tree_add tree_sub
    tree_add_scalar_mul tree_add_scale append concatenate""".split()  # noqa: SIM905
)


class LayerLoop(Rule):
    """A Python loop over equal layers is unrolled.

    ## What it does
    Finds loops over a sequence of parameters in traced code where each layer returns an array of
    the shape of its input (a residual block), so that the layers can be stacked and scanned. Also
    finds 16 or more equal modules created and called in a loop.

    ## Why is this bad?
    Tracing unrolls the loop: the program contains a copy of every layer, and compile time grows
    with the depth. `lax.scan` compiles one layer for any depth, and `jax.checkpoint` of its body
    bounds the memory of the gradient.

    ## Example
    ```python
    for layer in layers:
        h = h + mlp(layer, h)
    ```

    ## Use instead
    ```python
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)
    h, _ = jax.lax.scan(lambda h, layer: (h + mlp(layer, h), None), h, stacked)
    ```

    ## Fix safety
    Unsafe: layers whose shapes or structures differ raise. The fix stacks the layers right before
    the scan, so the structure of parameters and checkpoints does not change. That copies the
    parameters in each step; storing them stacked avoids the copy. If there may be no layers, the
    scan runs under a test for that. The fix refuses layers whose calls change state, such as
    `nnx.BatchNorm` and `nnx.Dropout`, and layers that nothing in the file describes: only the
    copies would change.

    ## When not to fix
    Keep it if there are few layers, or if they do differ in their shapes or functions. Reported as
    advice: layers that take something else by their number, such as a cache (`caches[i]`), and
    layers that are fewer than ten, or of unknown number, also by what the file gives as a default
    (`depth: int = 24`).

    ## References
    - [JAX: `lax.scan`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html)
    """

    code = "JAX704"
    name = "layer-loop"
    category = "vectorization"
    severity = Severity.WARNING
    needs_whole_program = True
    fixable = "unsafe"

    def on_loop(self, event: LoopEvent, report: Reporter) -> None:
        node, frame, trips = event.node, event.frame, event.loop.trips
        if not isinstance(node, ast.For) or not frame.is_certain() or frame.module.is_test:
            return
        if trips is not None and trips >= DEEP and _is_one_module(node):
            report(
                node.iter,
                f"{trips} equal modules are unrolled: each is compiled; use one under {_scan_of([frame.function.cls.kind if frame.function is not None and frame.function.cls is not None else ''])}",
                reason=f"each iteration creates the module with the same settings; {staged_because(frame)}",
            )
            return
        if (
            not _holds_parameters(event.iterable)
            or _is_one_array(node.iter, frame)
            or has_few_turns(event.loop, frame)
        ):
            return
        used = names_in(node.target)
        if not any(_is_layer_value(event.after.get(name)) for name in used):
            return
        if _zips(node.iter) and not all(map(_can_be_stacked, map(event.after.get, used))):
            return  # each layer has settings beside it
        carried = [
            name
            for name, value in event.before.items()
            if isinstance(value, Array) and value.staged and _kept_shape(value, event.after.get(name))
        ]
        plain = isinstance(event.iterable, (ListValue, TupleValue)) and all(
            isinstance(part, Array) and not part.tree for part in event.iterable.elements()
        )
        carried = [name for name in carried if _is_layer(node, name, used, plain)]
        called = [event.after.get(name) for name in used & _called(node)]
        if not all(isinstance(value, Instance) for value in called):
            return  # functions, each of which may be another
        modules = [value for value in called if isinstance(value, Instance) and value.cls.kind in _LIFTED]
        if carried and not _decides(node, used) and not has_other_way(node, frame.module):
            report(
                node.iter,
                f"the layers of `{short_source(node.iter)}` are unrolled: each is compiled; use "
                + (
                    f"one module under {_scan_of([value.cls.kind for value in modules])}"
                    if modules
                    else "`lax.scan` over stacked layers"
                ),
                fix=None
                if modules
                else propose(
                    report,
                    node.iter,
                    "for-to-scan",
                    "Stack the layers and use `lax.scan`",
                    safe=False,
                    layers=True,
                ),
                reason=f"each layer maps `{carried[0]}` to `{carried[0]}` of the same shape; {staged_because(frame)}",
                severity=Severity.INFO
                if _takes_by_number(node)
                else level((trips or _given_depth(frame.module.tree)) * LAYER),
                shown=(trips or 0) * LAYER >= PLAIN * FELT,
            )


def _given_depth(tree: ast.Module) -> int:
    """The number of layers that the file gives, `depth: int = 24` or `Model(depth=24)`; 0 if it gives none."""
    written = [
        part.value.value
        for part in nodes_of(tree, ast.keyword)
        if part.arg and _DEPTH.search(part.arg) and isinstance(part.value, ast.Constant)
    ]
    by_default = [max(numbers) for name, numbers in numbers_given(tree).items() if _DEPTH.search(name)]
    return max((number for number in [*written, *by_default] if type(number) is int), default=0)


_DEPTH = re.compile(r"depth|(^|_)(n|num|number)_?\w*(layer|block)s?|^(layers|blocks)$")


def _scan_of(kinds: list[str]) -> str:
    """The transformation that repeats one module, in the library of these modules."""
    return "`hk.layer_stack`" if "haiku" in kinds else "`nn.scan`"


def _takes_by_number(node: ast.For) -> bool:
    """Whether each layer uses another value by its number, such as its part of a cache: `caches[i]`, which
    would have to be stacked as well.
    """
    numbers = counters(node)
    return any(
        isinstance(part.slice, ast.Name) and part.slice.id in numbers
        for statement in node.body
        for part in nodes_of(statement, ast.Subscript)
    )


def _is_one_module(node: ast.For) -> bool:
    """Whether the body is just `x = Block(...)(x)`, with the same settings in every iteration."""
    if len(node.body) != 1 or not isinstance(node.body[0], ast.Assign):
        return False
    call, targets = node.body[0].value, node.body[0].targets
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Call) and call.args):
        return False
    made, counter = call.func, names_in(node.target)
    settings = [*made.args, *(k.value for k in made.keywords if k.arg != "name")]
    arguments = passed(call)
    return (
        last_name(made.func)[:1].isupper()
        and len(targets) == 1
        and isinstance(targets[0], ast.Name)
        and dotted(call.args[0]) == targets[0].id
        and not any(counter & names_in(part) for part in settings + arguments)
    )


def _holds_parameters(value: Value) -> bool:
    """An iterated pytree, or a sequence of pytrees."""
    if isinstance(value, Array):
        return value.staged and value.tree
    if isinstance(value, (ListValue, TupleValue)):
        return bool(value.elements())
    return isinstance(value, ExternalObject)  # `zip(...)`, `enumerate(...)`


def _is_one_array(iterable: ast.expr, frame: Frame) -> bool:
    """Whether the function reads the shape or dtype of the iterable, which trees lack: its rows are not layers."""
    name = dotted(iterable)
    asked = nodes_of(frame.function.node, ast.Attribute) if name and frame.function is not None else ()
    return any(part.attr in _OF_ARRAYS and dotted(part.value) == name for part in asked)


def _zips(iterable: ast.expr) -> bool:
    return isinstance(iterable, ast.Call) and dotted(iterable.func) == "zip"


def _can_be_stacked(value: Value | None) -> bool:
    """Whether a value of each layer may be a row of an array that `lax.scan` takes."""
    return _is_layer_value(value) or isinstance(value, Array | DictValue | TupleValue)


def _is_layer_value(value: Value | None) -> bool:
    """Parameters of one layer: traced arrays, or a module that holds them."""
    if isinstance(value, Instance):
        return value.staged is not None or any(_is_layer_value(part) for part in value.fields.values())
    return value is not None and find_array(value, True) is not None


def _kept_shape(before: Array, after: Value | None) -> bool:
    if not isinstance(after, Array) or after is before or after.like is None or before.origin is None:
        return False
    root = before.like or before.origin
    return after.like.root() in (root.root(), before.origin.root())


def _is_layer(node: ast.For, carried: str, used: set[str], plain: bool) -> bool:
    """Whether the body computes `carried` from itself and a matrix of the layer: not a sum over the elements."""
    text = [child for statement in node.body for child in walk(statement)]
    assigned = [c for c in text if isinstance(c, (ast.Assign, ast.AugAssign))]
    makes = any(
        carried in names_in(target)
        for statement in assigned
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    )
    calls = any(
        isinstance(child, ast.Call)
        and {carried} & names_in(child)
        and used & names_in(child)
        and dotted(child.func) not in ("isinstance", "print", "zip", "enumerate")
        and not _combines(child)
        for statement in assigned
        if statement.value is not None
        for child in walk(statement.value)
    )
    products = any(
        isinstance(child, ast.BinOp)
        and isinstance(child.op, ast.MatMult)
        and used & names_in(child)
        and carried in names_in(child)
        for child in text
    )
    return makes and (products if plain else calls or products)


def _decides(node: ast.For, used: set[str]) -> bool:
    """Whether Python decides by the layer what to do with it, so that each is a separate program."""
    parts = [child for statement in node.body for child in walk(statement)]
    tests = [part.test for part in parts if isinstance(part, ast.If)]
    texts = [part for part in parts if isinstance(part, ast.JoinedStr)]  # a name that it is registered under
    return any(used & names_in(part) for part in [*tests, *texts])


def _called(node: ast.For) -> set[str]:
    """Names that the body calls."""
    calls = (child for statement in node.body for child in walk(statement) if isinstance(child, ast.Call))
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def _combines(call: ast.Call) -> bool:
    """Elementwise: `jnp.add(total, x)`, `jax.tree.map(jnp.add, total, x)`, `total.at[i].set(x)`: a sum or an array,
    not a layer."""
    if updated_at(call) is not None:
        return True  # each element has its place in the result, independent of the others
    name = last_name(call.func)
    if name in ("map", "tree_map", "tree_multimap") and call.args:
        first = call.args[0]
        if isinstance(first, ast.Lambda):
            return isinstance(first.body, ast.BinOp)
        name = last_name(first)
    return name in _ELEMENTWISE
