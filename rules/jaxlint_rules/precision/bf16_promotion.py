"""Low-precision computations that a constant promotes to float32."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import cache
from jaxlint.api.tables import KINDS, LOW_PRECISION, MAKERS, RANDOM_MAKERS
from jaxlint.api.values import (
    Array,
    ListValue,
    NumpyArray,
    Operation,
    Transformed,
    TupleValue,
    Value,
    dtype_of,
)
from jaxlint.finding import Severity

_WIDE = frozenset({"float32", "float64"})
_OPERATORS = frozenset({"add", "subtract", "multiply", "divide", "matmul", "power", "maximum", "minimum"})
_MIXING = _OPERATORS | {"where", "einsum", "dot", "concatenate", "stack"}
_DEEP = 8
_ENTRIES = ("jax.numpy.asarray", "jax.numpy.array", "jax.device_put")
_RANDOM = "jax.random."


class Bf16Promotion(Rule):
    """A float32 constant promotes a bfloat16 computation to float32.

    ## What it does
    Finds operations on a bfloat16 or float16 array whose result is float32 and is not cast back,
    because the other operand is one of these:

    - a NumPy scalar or array;
    - a float32 table made of constants (`arange`, `linspace`, `zeros` ...);
    - random numbers drawn without a dtype;
    - a float32 parameter of a linen module.

    Also finds bfloat16 arrays of NumPy that meet a Python float on the host and then enter JAX:
    `np.asarray(x, jnp.bfloat16) / 255.0` is float32.

    ## Why is this bad?
    JAX promotes bfloat16 and float32 to float32, and treats NumPy floats as float32. All later
    operations compute and store twice the bytes, without the fast bfloat16 units, and nothing warns
    about it. Python numbers are weakly typed and do not promote: `x * 2.0` stays bfloat16,
    `x * np.float32(2.0)` does not.

    ## Example
    ```python
    scale = np.sqrt(64.0)
    y = jnp.ones(8, jnp.bfloat16) / scale  # float32
    ```

    ## Use instead
    ```python
    scale = math.sqrt(64.0)
    y = jnp.ones(8, jnp.bfloat16) / scale  # bfloat16
    ```
    For tables, use `table.astype(x.dtype)`.

    ## Fix safety
    There is no automatic fix: the dtype of the result changes.

    ## When not to fix
    Keep it if you want float32 from there on, as in a loss. Say so with `.astype(jnp.float32)`,
    which is not reported.

    ## References
    - [JAX: type promotion](https://docs.jax.dev/en/latest/type_promotion.html)
    """

    code = "JAX1002"
    name = "bf16-promotion"
    category = "precision"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.found: dict[int, tuple[Operation, OperationEvent, str, str]] = {}

    @concerns("astype", *_MIXING)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name == "astype" and operation.args:
            self.forgive(operation.args[0], _DEEP, event)
            return
        if operation.name not in _MIXING or "preferred_element_type" in operation.kwargs:
            return
        if event.result.dtype != "float32" or event.frame.module.is_test:
            return
        operands = _operands(operation)
        low = next((dtype_of(value) for value in operands if dtype_of(value) in LOW_PRECISION), "")
        wide = [value for value in operands if dtype_of(value) in _WIDE]
        if isinstance(operation.node, ast.AugAssign) and dtype_of(operation.args[0]) in _WIDE:
            return  # a float32 sum of lower-precision values
        if low and wide and all(is_constant(value, _DEEP) for value in wide):
            what = "a NumPy value" if isinstance(wide[0], NumpyArray) else "a constant"
            if any(isinstance(v, Array) and v.made is not None and v.made.name == "self.param" for v in wide):
                what = "a module parameter"
            elif any(_is_drawn(value, _DEEP) for value in wide):
                what = "random numbers"
            self.found[id(operation)] = (operation, event, low, f"{what} of `{dtype_of(wide[0])}`")

    @concerns(*_ENTRIES, callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """A NumPy array enters JAX that NumPy has lifted to float32 on the way."""
        module = event.frame.module
        if module.is_test or (not isinstance(event.callee, Transformed) and _names_dtype(event)):
            return
        for value in [*event.args, *event.kwargs.values()]:
            lifted = _lifted(value, _DEEP)
            if lifted is None or lifted.node not in _operators_in(module.tree):
                continue
            report(
                lifted.node,
                "a Python float lifts this bfloat16 array to float32 in NumPy; use `jnp`, or cast the result",
                reason="JAX keeps bfloat16 for a Python float; NumPy does not, since bfloat16 is no dtype of its own",
            )

    def forgive(self, value: Value, depth: int, cast: OperationEvent) -> None:
        """A value that is cast back afterwards was promoted on purpose, and so was one that its own function casts
        to float32. A cast to float32 elsewhere, such as that of a norm, changes nothing and says nothing."""
        if isinstance(value, Array) and value.made is not None and depth > 0:
            found = self.found.get(id(value.made))
            if found is not None and (cast.result.dtype not in _WIDE or found[1].frame is cast.frame):
                del self.found[id(value.made)]
            for operand in _operands(value.made):
                self.forgive(operand, depth - 1, cast)

    def finish(self, report: Reporter) -> None:
        told: set[tuple[ast.AST | None, str]] = set()
        for _, event, low, what in self.found.values():
            statement = next(
                (above for above in event.frame.module.ancestors(event.node) if isinstance(above, ast.stmt)),
                None,
            )
            if (statement, what) in told:
                continue  # `a * x + (1 - a) * y`: one cast corrects both
            told.add((statement, what))
            met, them = ("random numbers", "them") if "random" in what else ("a constant", "it")
            met = "a module parameter" if what.startswith("a module") else met
            report.event = event
            report(
                event.node,
                f"a `{low}` array is promoted to float32 by {met}; give {them} the dtype of the array",
                reason=f"one operand is `{low}`, the other is {what}; Python numbers do not promote",
            )


def _lifted(value: Value, depth: int) -> Operation | None:
    """The operator that made a float32 array of NumPy's from a bfloat16 array and a Python float."""
    made = value.made if isinstance(value, NumpyArray) and value.dtype == "float32" else None
    if made is None or depth == 0 or made.name == "astype":
        return None
    kinds = {dtype_of(part) for part in made.args}
    if made.name in _OPERATORS and kinds == {"bfloat16", "float*"}:
        return made
    return next((found for part in made.args if (found := _lifted(part, depth - 1)) is not None), None)


def _names_dtype(event: CallEvent) -> bool:
    return "dtype" in event.kwargs or len(event.args) > 1


@cache
def _operators_in(tree: ast.Module) -> frozenset[ast.AST]:
    return frozenset(node for node in ast.walk(tree) if isinstance(node, (ast.BinOp, ast.AugAssign)))


def _operands(operation: Operation) -> list[Value]:
    found: list[Value] = []
    for value in operation.args:
        found += value.elements() if isinstance(value, (TupleValue, ListValue)) else [value]
    return found[1:] if operation.name == "where" else found


def _is_drawn(value: Value, depth: int) -> bool:
    """Whether a value depends on random numbers of the default dtype."""
    made = value.made if isinstance(value, Array) else None
    if made is None or depth == 0:
        return False
    if made.name.startswith(_RANDOM):
        return _in_default_dtype(made)
    return any(_is_drawn(operand, depth - 1) for operand in _operands(made))


def _in_default_dtype(draw: Operation) -> bool:
    """Whether a distribution returns float32 because no dtype was requested."""
    maker = RANDOM_MAKERS.get(draw.name.removeprefix(_RANDOM))
    return maker is not None and maker[1] == "float32" and draw.operand(maker[0], "dtype") is None


def is_constant(value: Value, depth: int) -> bool:
    """Whether a value is NumPy's, or is created from constants only, by array functions."""
    if isinstance(value, NumpyArray):
        return True
    if not isinstance(value, Array):
        return True  # a Python number
    made = value.made
    if made is not None and made.name == "self.param":
        return True
    if made is None or depth == 0 or not made.args or made.name == "astype":
        return False
    if made.name.startswith(_RANDOM):
        return _in_default_dtype(made)
    if made.name in ("array", "asarray"):
        return all(is_constant(operand, depth - 1) for operand in _operands(made)[:1])
    if made.name in MAKERS:
        return not made.name.endswith("_like") or made.name in ("zeros_like", "ones_like")
    if made.name not in KINDS and made.name not in ("getitem", "where", "einsum"):
        return False
    return all(is_constant(operand, depth - 1) for operand in _operands(made))
