"""A bfloat16 compute policy: matrix products and convolutions of float32 values in bfloat16, summed in float32.

Parameters, reductions, softmax and loss stay in float32. It applies to the whole traced program, after any
differentiation inside it, so that the products of the backward pass are included.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime import compat
from jaxlint_runtime.inspection.flops import count
from jaxlint_runtime.lowering.function_versions import Version
from jaxlint_runtime.lowering.jaxpr_interpreter import (
    REMATERIALISED,
    control_flow,
    evaluate,
    is_plain_call,
    of_traced_leaves,
)
from jaxlint_runtime.optimiser_settings import TRANSFORMS
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.transforms.transform import Candidate, NotApplicable, Transform

_PRODUCTS = frozenset({"dot_general", "conv_general_dilated"})
_OPAQUE = frozenset(
    {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "pallas_call", "shard_map"}
)
_CONTROL_FLOW = frozenset({"scan", "cond", "while"}) | REMATERIALISED
_EXPONENT_BITS, _MANTISSA_BITS = 8, 7

Cast = Callable[[Any], Any]


class Bf16(Transform):
    """Casts the float32 operands of products to bfloat16."""

    name = "bf16"

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate for all reachable products; on a CPU only on request. Raises NotApplicable."""
        if program.target.platform == "cpu" and tuple(program.settings.transforms) == TRANSFORMS:
            raise NotApplicable(
                "a CPU has no bfloat16 products; --transform bf16 checks the values, and a GPU or --target tpu:v5e-1x1 "
                "shows the gain"
            )
        found = _Found()
        _look(program.baseline.jaxpr, found)
        if not found.eligible:
            raise NotApplicable(found.why_not())
        left = f", without {found.opaque} inside custom derivatives or kernels" if found.opaque else ""
        left += f", without {found.precise} that set a precision" if found.precise else ""
        return [
            Candidate(
                name=self.name,
                summary=f"compute {found.eligible} matrix products or convolutions in bfloat16, summed in float32{left}",
                requires="",
                estimate=0.0,
                codemod="compute-dtype",
                parameters={
                    "calls": [[f"{path}:{line}" for path, line, _ in chain] for chain in found.chains],
                    "products": found.eligible,
                    "left": found.opaque + found.precise,
                    "matmul_flops": count(program.baseline.jaxpr).matmul_flops,
                },
            )
        ]

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function with the operands cast."""
        return with_products(version, _in_bfloat16)

    def emulate(self, program: Program, candidate: Candidate, version: Version) -> Version | None:
        """On CPU, which lacks some of these products, the operands are rounded and multiplied in float32."""
        return with_products(version, _rounded) if program.runner.platform == "cpu" else None

    def shown(self, program: Program) -> None:
        """A CPU computes bfloat16 in software: its time and memory say nothing about accelerators."""
        if program.target.platform == "cpu":
            raise NotApplicable(
                "a CPU has no bfloat16 products; the values were checked with rounded operands, and a GPU or "
                "--target tpu:v5e-1x1 shows the gain"
            )

    def dtype(self, program: Program) -> str | None:
        """Its versions compute in bfloat16."""
        return "bfloat16"


@dataclass
class _Found:
    eligible: int = 0
    opaque: int = 0  # products inside equations that are not rewritten
    precise: int = 0  # products that request more than the default precision
    narrow: int = 0  # products that already have 16 bits or fewer
    # Where each product of the forward pass is called, from the inside to the outside.
    chains: list[list[tuple[str, int, str]]] = field(default_factory=list)

    def why_not(self) -> str:
        if self.narrow:
            return "its matrix products already compute in 16 bits"
        if self.precise:
            return "its matrix products set a precision"
        if self.opaque:
            return "its matrix products are inside custom derivatives or kernels"
        return "the function computes no matrix product or convolution in float32"


def _look(jaxpr: Any, found: _Found, reachable: bool = True) -> None:
    for eqn in compat.open_jaxpr(jaxpr).eqns:
        if eqn.primitive.name in _PRODUCTS:
            if _float32(eqn):
                if not reachable:
                    found.opaque += 1
                elif _precise(eqn):
                    found.precise += 1
                else:
                    found.eligible += 1
                    if "transpose(" not in str(eqn.source_info.name_stack):
                        found.chains.append(compat.user_frames(eqn))
            elif any(str(v.aval.dtype) in ("bfloat16", "float16") for v in eqn.invars):
                found.narrow += 1
        for _, inner in compat.inner_jaxprs(eqn):
            _look(inner, found, reachable and eqn.primitive.name not in _OPAQUE)


def _float32(eqn: Any) -> bool:
    return all(v.aval.dtype == jnp.float32 for v in (*eqn.invars[:2], eqn.outvars[0]))


def _precise(eqn: Any) -> bool:
    """Whether the program requests more than the default precision for this product."""
    precision = eqn.params.get("precision")
    given = precision if isinstance(precision, tuple) else (precision,)
    return any(p is not None and p != jax.lax.Precision.DEFAULT for p in given)


def _in_bfloat16(x: Any) -> Any:
    return jax.lax.convert_element_type(x, jnp.bfloat16)


def _rounded(x: Any) -> Any:
    return jax.lax.reduce_precision(x, _EXPONENT_BITS, _MANTISSA_BITS)


def with_products(version: Version, cast: Cast) -> Version:
    """The function traced, and evaluated with the operands of its products converted by `cast`."""
    function = version.function

    @functools.wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        flat, operands = of_traced_leaves(function, args, kwargs)
        jaxpr, shape = jax.make_jaxpr(flat, return_shape=True)(*operands)
        results = evaluate(jaxpr, operands, functools.partial(_equation, cast))
        return jax.tree.unflatten(jax.tree.structure(shape), results)

    return Version(computed, version.options)


def _equation(cast: Cast, eqn: Any, values: list[Any]) -> Sequence[Any]:
    """One equation, its products converted by `cast` at any depth in loops, branches and checkpoints."""
    name = eqn.primitive.name
    rule = functools.partial(_equation, cast)
    if name in _PRODUCTS and _float32(eqn) and not _precise(eqn):
        params = {**eqn.params, "preferred_element_type": jnp.dtype(jnp.float32)}
        return compat.bind(eqn, [cast(values[0]), cast(values[1])], params)
    if name in _OPAQUE or not compat.inner_jaxprs(eqn):
        return compat.bind(eqn, values)
    bodies = [body for _, body in compat.inner_jaxprs(eqn)]
    if is_plain_call(eqn):
        return evaluate(bodies[0], values, rule)
    if name in _CONTROL_FLOW:
        return control_flow(
            eqn, values, [lambda *flat, body=body: evaluate(body, flat, rule) for body in bodies]
        )
    return compat.bind(eqn, values)
