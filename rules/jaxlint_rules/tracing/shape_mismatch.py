"""Operands whose shapes certainly do not match."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, OperationEvent, Reporter, Rule, UnpackEvent, concerns
from jaxlint.api.values import (
    Array,
    MisfitError,
    NumpyArray,
    Shape,
    TupleValue,
    Value,
    constant,
    maker_of,
    misfit_of,
    shape_text,
    symbolic_shape,
)
from jaxlint.finding import Severity
from jaxlint_rules._names import names_in

_OPERATIONS = """
    matmul dot inner tensordot einsum dot_general vecdot add subtract multiply divide floor_divide mod remainder power maximum
    minimum arctan2 where equal not_equal less less_equal greater greater_equal logical_and logical_or logaddexp hypot isclose
    concatenate concat stack hstack vstack dstack column_stack append reshape squeeze broadcast_to split getitem take_along_axis
    jax.ref.set conv_general_dilated linalg.solve linalg.inv linalg.cholesky linalg.det einops.rearrange einops.reduce einops.repeat einops.einsum
    optax.l2_loss optax.squared_error optax.huber_loss optax.log_cosh optax.sigmoid_binary_cross_entropy
    optax.softmax_cross_entropy optax.softmax_cross_entropy_with_integer_labels optax.cosine_similarity
    """.split()  # noqa: SIM905


class ShapeMismatch(Rule):
    """The shapes of operands do not match.

    ## What it does
    Finds products, elementwise operations, concatenations, reshapes, `einsum` and `einops` patterns
    and losses whose operands certainly have incompatible shapes: contracted sizes that differ,
    sizes that do not broadcast, another number of elements. Sizes are constants, or names that the
    program unpacks from shapes (`B, T = x.shape`). Also finds layers of `flax.nnx` and equinox that
    were made for another number of features than their input has, and layers of equinox, which take
    one example, that get a batch. An array, or a shape, that is unpacked into another number of
    names is found as well.

    ## Why is this bad?
    The operation always raises `TypeError` or `ValueError`, often only after the data has been
    loaded.

    ## Example
    ```python
    w = jnp.zeros((128, 784))
    x = jnp.ones((32, 784))
    h = x @ w
    ```

    ## Use instead
    ```python
    h = x @ w.T
    ```

    ## Fix safety
    There is no automatic fix: only you know which operand is wrong.

    ## When not to fix
    Always fix it: the code raises. Code that checks shapes first or catches the exception is not
    reported.

    ## References
    - [JAX: NumPy broadcasting](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.broadcast_shapes.html)
    """

    code = "JAX121"
    name = "shape-mismatch"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    @concerns(*_OPERATIONS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        self.check(event, event.result, report)

    @concerns(callees=("ExternalObject",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """A layer of a library, made for another input."""
        result = event.result
        if isinstance(result, Array) and result.form is not None and result.form.how == "layer":
            self.check(event, result, report)

    @staticmethod
    def check(event: OperationEvent | CallEvent, result: Array, report: Reporter) -> None:
        misfit = misfit_of(result)
        if misfit is None or not result.certain or not all(_is_sure(v) for v, _ in misfit.operands):
            return
        if event.is_caught() or event.is_guarded(convention=False) or event.frame.is_chosen_by_size():
            return
        if _is_for_some_items(event):
            return
        report(event.node, misfit.message, reason=_where_from(misfit, event))

    def on_unpack(self, event: UnpackEvent, report: Reporter) -> None:
        """`a, b = x` of an array with another number of rows, and `B, T = x.shape` of another number of dimensions."""
        array, of_shape = event.value, False
        if isinstance(array, TupleValue):
            measured = array.measured
            if measured is None or measured.how != "shape" or measured.start or measured.stop is not None:
                return
            array, of_shape = measured.of[0], True
        if (
            not isinstance(array, Array)
            or not array.certain
            or array.tree
            or array.role in ("ref", "declared")
        ):
            return
        shape = symbolic_shape(array)
        if shape == () and not of_shape and not event.is_caught() and not event.is_guarded(convention=False):
            report(
                event.node,
                f"a scalar is unpacked into {event.count} names, which raises TypeError: iteration over a 0-d array",
                reason="the array has shape ()",
            )
            return
        count = len(shape) if of_shape and shape is not None else _rows(array, shape)
        chosen = event.frame.is_chosen_by_size() or event.frame.is_conditional()
        if not isinstance(count, int) or count == event.count or chosen:
            return
        if event.is_caught() or event.is_guarded(convention=False):
            return
        part = "dimension" if of_shape else "row"
        what = f"{'a shape' if of_shape else 'an array'} of {count} {part}{'s' * (count != 1)}"
        report(
            event.node,
            f"{what} is unpacked into {event.count} name{'s' * (event.count != 1)}, which raises ValueError",
            reason=f"the array has shape {shape_text(shape)}"
            if shape is not None
            else f"it is split into {count} keys",
        )


def _rows(array: Array, shape: Shape | None) -> object:
    """The number of rows of an array, or of keys that come from one `split`."""
    if shape:
        return shape[0]
    made = array.made
    if shape is None and made is not None and made.full == "jax.random.split" and made.args:
        number = made.operand(1, "num")
        return 2 if number is None else constant(number)
    return None


def _is_for_some_items(event: OperationEvent | CallEvent) -> bool:
    """Whether the item of a loop decides if the code runs: `x + h if i in skips else h`. The shapes may be those of another item."""
    loops: dict[ast.AST, set[str]] = {
        loop.node: names_in(getattr(loop.node, "target", None)) for loop in event.frame.loops
    }
    tests: set[str] = set()
    for above in event.frame.module.ancestors(event.node):
        if isinstance(above, (ast.If, ast.IfExp)):
            tests |= names_in(above.test)
        if tests & loops.get(above, set()):
            return True
    return False


def _is_sure(value: Value) -> bool:
    """Whether it certainly is the array that the analysis believes."""
    return value.certain and not value.tree if isinstance(value, Array) else True


def _where_from(misfit: MisfitError, event: OperationEvent | CallEvent) -> str:
    """The origin of the operands' shapes, as far as that is in this file."""
    places: list[str] = []
    for value, shape in misfit.operands:
        made = maker_of(value) if isinstance(value, (Array, NumpyArray)) else None
        line = getattr(made.node, "lineno", None) if made is not None else None
        if made is not None and line is not None and made.node in event.frame.module.parents:
            places.append(f"shape {shape_text(shape)} comes from line {line}")
    own = isinstance(event, OperationEvent) and event.operation.name.startswith(("einops.", "optax."))
    raised = "" if own else f"JAX raises {misfit.error}"
    return "; ".join(filter(None, (raised, ", ".join(dict.fromkeys(places))))) or "the operation fails"
