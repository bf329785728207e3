"""FLOPs counted over a jaxpr, loop bodies times their trip counts.

The compilers' own analysis counts the body of a scan once, so it cannot compare a program with its rewrite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr
from jaxlint_runtime.inspection.live_equations import needed_equations
from jaxlint_runtime.lowering.avals import size

# Equations that move or rename data and compute nothing.
_FREE = frozenset(
    [
        "broadcast_in_dim",
        "reshape",
        "transpose",
        "squeeze",
        "expand_dims",
        "slice",
        "dynamic_slice",
        "dynamic_update_slice",
        "gather",
        "concatenate",
        "pad",
        "rev",
        "iota",
        "copy",
        "copy_p",
        "convert_element_type",
        "bitcast_convert_type",
        "stop_gradient",
        "split",
        "random_wrap",
        "random_unwrap",
        "sharding_constraint",
        "optimization_barrier",
        "reduce_precision",
    ]
)

_KERNELS = frozenset({"pallas_call", "ffi_call", "mosaic_gpu", "triton_kernel_call"})


@dataclass(frozen=True, slots=True)
class Work:
    """FLOPs of a program. `exact` is False if a loop's trip count or a kernel's work is unknown."""

    flops: float
    matmul_flops: float  # the part in dots and convolutions
    exact: bool

    def __add__(self, other: Work) -> Work:
        return Work(
            self.flops + other.flops, self.matmul_flops + other.matmul_flops, self.exact and other.exact
        )

    def times(self, factor: float) -> Work:
        """This work, `factor` times."""
        return Work(self.flops * factor, self.matmul_flops * factor, self.exact)


_NOTHING = Work(0.0, 0.0, True)


def has_kernels(jaxpr: Any) -> bool:
    """Whether a program calls kernels whose work only their author can declare: Pallas, cuDNN, foreign code."""
    return any(
        eqn.primitive.name in _KERNELS
        or eqn.primitive.name.startswith("dot_product_attention")
        or any(has_kernels(body) for _, body in inner_jaxprs(eqn))
        for eqn in open_jaxpr(jaxpr).eqns
    )


def count(jaxpr: Any) -> Work:
    """The work of the equations whose results are needed. A while loop counts as one iteration, a cond as its larger
    branch."""
    total = _NOTHING
    for eqn in needed_equations(jaxpr):
        total += equation_work(eqn)
    return total


def equation_work(eqn: Any) -> Work:
    """The work of one equation, including its inner jaxprs."""
    name = eqn.primitive.name
    if name == "dot_general":
        return _matmul(_dot_flops(eqn))
    if name == "conv_general_dilated":
        return _matmul(_conv_flops(eqn))
    bodies = [body for _, body in inner_jaxprs(eqn)]
    if name == "scan":
        return count(bodies[0]).times(eqn.params["length"])
    if name == "cond":
        return max((count(body) for body in bodies), key=lambda work: work.flops, default=_NOTHING)
    if name == "while":
        once = sum((count(body) for body in bodies), _NOTHING)
        return Work(once.flops, once.matmul_flops, exact=False)
    if name == "pallas_call":
        return Work(0.0, 0.0, exact=False)
    if name in ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"):
        return count(bodies[0]) if bodies else Work(0.0, 0.0, exact=False)
    if name.startswith(("reduce", "arg", "cum", "scatter")):
        return Work(float(size(eqn.invars[0].aval)), 0.0, True)
    if bodies:
        return sum((count(body) for body in bodies), _NOTHING)
    if name in _FREE:
        return _NOTHING
    return Work(float(sum(size(var.aval) for var in eqn.outvars)), 0.0, True)


def products(jaxpr: Any) -> Iterator[tuple[str, float]]:
    """(dtype of the operands, FLOPs) of each matrix product and convolution, loops by their trip counts."""
    for eqn in needed_equations(jaxpr):
        name = eqn.primitive.name
        if name in ("dot_general", "conv_general_dilated"):
            yield str(eqn.invars[0].aval.dtype), equation_work(eqn).flops
        turns = eqn.params["length"] if name == "scan" else 1
        for _, body in inner_jaxprs(eqn):
            yield from ((dtype, flops * turns) for dtype, flops in products(body))


def _matmul(flops: float) -> Work:
    return Work(flops, flops, True)


def _dot_flops(eqn: Any) -> float:
    (contract, _), _ = eqn.params["dimension_numbers"]
    depth = math.prod(eqn.invars[0].aval.shape[axis] for axis in contract)
    return 2.0 * size(eqn.outvars[0].aval) * depth


def _conv_flops(eqn: Any) -> float:
    kernel = eqn.invars[1].aval.shape
    spec = eqn.params["dimension_numbers"].rhs_spec  # (out features, in features per group, *window)
    per_output = math.prod(kernel[axis] for axis in spec[1:])
    dilation = math.prod(eqn.params.get("lhs_dilation") or (1,))
    return 2.0 * size(eqn.outvars[0].aval) * per_output / dilation
