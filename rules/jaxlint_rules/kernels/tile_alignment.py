"""Matrix products whose sizes a TPU must pad."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import shape_of
from jaxlint.finding import Severity

_LANES = 128
_LEAST = 0.25  # share of padding in the padded size
_PRODUCTS = frozenset({"matmul", "dot"})


class TileAlignment(Rule):
    """A matrix size wastes much of a TPU's tiles.

    ## What it does
    Finds products of matrices of known sizes where a size above 128 is not a multiple of 128, and
    padding would be a quarter or more of the work.

    ## Why is this bad?
    The matrix unit of a TPU works on tiles of 128 columns (256 on some) and pads what does not fill
    them: 130 columns cost as much as 256. GPUs have smaller tiles and lose less. CPUs have no such
    tiles.

    ## Example
    ```python
    w = jnp.zeros((512, 130))
    y = x @ w
    ```

    ## Use instead
    ```python
    w = jnp.zeros((512, 128))  # or 256
    y = x @ w
    ```

    ## Fix safety
    There is no automatic fix: sizes belong to the model.

    ## When not to fix
    Keep it if the program does not run on a TPU, or if the task determines the size. The rule is
    advice, off by default, and in preview, because the source does not say which hardware runs the
    program.

    ## References
    - [Cloud TPU performance guide](https://cloud.google.com/tpu/docs/performance-guide)
    """

    code = "JAX1307"
    name = "tile-alignment"
    category = "kernels"
    severity = Severity.INFO
    preview = True

    @concerns(*_PRODUCTS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name not in _PRODUCTS or len(operation.args) != 2 or event.frame.module.is_test:
            return
        shape = shape_of(operation.args[1])
        if shape is None or len(shape) != 2:
            return
        for size in shape:
            padded = -(-size // _LANES) * _LANES
            if size > _LANES and (padded - size) / padded >= _LEAST:
                report(
                    event.node,
                    f"a TPU pads the size {size} to {padded}: {(padded - size) / padded:.0%} of the work is wasted; use a multiple of {_LANES}",
                    reason=f"the matrix is {shape[0]} x {shape[1]}, and tiles are {_LANES} wide",
                )
                return
