"""A float16 compute policy, with the loss scaled: only on request, since it changes how a program trains.

float16 has 5 bits of exponent: gradients below 6e-8 are lost, so the loss is multiplied before it is differentiated
and the gradients are divided afterwards. The scaling starts at `jax.vjp`, which every framework calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime import compat
from jaxlint_runtime.lowering.function_versions import Version
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.transforms.bf16 import Bf16, with_products
from jaxlint_runtime.transforms.transform import Candidate, NotApplicable

_SCALE = 2.0**12
_EXPONENT_BITS, _MANTISSA_BITS = 5, 10


class Fp16(Bf16):
    """Casts the float32 operands of products to float16 and scales the differentiated loss."""

    name = "fp16"

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate for all reachable products. Raises NotApplicable."""
        (found,) = super().propose(program)
        return [
            Candidate(
                name=self.name,
                summary=found.summary.replace("bfloat16", "float16")
                + f", with the loss scaled by {_SCALE:.0f}",
                requires=f"the loss is scaled by {_SCALE:.0f}, the gradients are unscaled, and steps with non-finite gradients are "
                "skipped, as jmp.DynamicLossScale does (bf16 needs no scaling)",
                estimate=0.0,
                parameters={
                    **{k: v for k, v in found.parameters.items() if k != "calls"},
                    "loss_scale": _SCALE,
                },
            )
        ]

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function with the operands cast, its derivatives scaled."""
        return with_products(_scaled(version), lambda x: jax.lax.convert_element_type(x, jnp.float16))

    def emulate(self, program: Program, candidate: Candidate, version: Version) -> Version | None:
        """On CPU the operands are rounded and multiplied in float32."""
        return with_products(_scaled(version), _rounded) if program.runner.platform == "cpu" else None

    def shown(self, program: Program) -> None:
        """A CPU computes float16 in software: its time and memory say nothing about accelerators."""
        if program.target.platform == "cpu":
            raise NotApplicable(
                "a CPU has no float16 products; the values were checked with rounded operands and "
                f"the loss scaled by {_SCALE:.0f}, and a GPU shows the gain"
            )

    def dtype(self, program: Program) -> str | None:
        """Its versions compute in float16."""
        return "float16"


def _rounded(x: Any) -> Any:
    return jax.lax.reduce_precision(x, _EXPONENT_BITS, _MANTISSA_BITS)


def _scaled(version: Version) -> Version:
    """The function with each of its reverse-mode derivatives scaled inside."""
    function = version.function

    @functools.wraps(function)
    def scaled(*args: Any, **kwargs: Any) -> Any:
        with compat.replaced_vjp(_scaled_vjp):
            return function(*args, **kwargs)

    return Version(scaled, version.options)


def _scaled_vjp(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
    out, pull, *rest = original(fun, *primals, **options)

    def pulled(*cotangents: Any) -> Any:
        return _times(pull(*_times(cotangents, _SCALE)), 1.0 / _SCALE)

    return (out, pulled, *rest)


def _times(tree: Any, factor: float) -> Any:
    return jax.tree.map(
        lambda leaf: leaf * factor if jnp.issubdtype(jnp.result_type(leaf), jnp.floating) else leaf, tree
    )
