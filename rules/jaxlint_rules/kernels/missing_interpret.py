"""Pallas kernels called on the CPU without interpret mode."""

from __future__ import annotations

import re

from jaxlint.api import Reporter, Rule, TransformEvent
from jaxlint.finding import Severity
from jaxlint_rules.kernels import PALLAS_CALL

_ON_CPU = re.compile(
    r"""default_backend\(\)\s*==\s*["']cpu"""
    r"""|(jax_platform_name|jax_platforms|JAX_PLATFORMS|JAX_PLATFORM_NAME)["']\]?\s*[,=:]\s*["']cpu"""
    r"""|default_device["']?\s*[,(=]\s*jax\.(local_)?devices\(["']cpu""",
)
_INTERPRETS = re.compile(r"interpret|skipif|skipTest|skipUnless")


class MissingInterpret(Rule):
    """A Pallas kernel runs on the CPU without `interpret=True`.

    ## What it does
    Finds `pl.pallas_call(...)` without `interpret` in files that select the CPU (`JAX_PLATFORMS`,
    `jax_platforms`, `default_backend() == "cpu"`) and never mention interpret mode.

    ## Why is this bad?
    Pallas compiles kernels only for GPU and TPU. On the CPU the call raises
    `ValueError: Only interpret mode is supported on CPU backend.`

    ## Example
    ```python
    jax.config.update("jax_platforms", "cpu")
    y = pl.pallas_call(kernel, out_shape=x)(x)
    ```

    ## Use instead
    ```python
    jax.config.update("jax_platforms", "cpu")
    y = pl.pallas_call(kernel, out_shape=x, interpret=True)(x)
    ```
    Or `interpret=jax.default_backend() == "cpu"`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if the branch that names the CPU is the one that avoids the kernel.

    ## References
    - [Pallas quickstart](https://docs.jax.dev/en/latest/pallas/quickstart.html)
    """

    code = "JAX1302"
    name = "missing-interpret"
    category = "kernels"
    severity = Severity.WARNING

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        t = event.transformed
        if t.api != PALLAS_CALL or "interpret" in t.options or "**" in t.options:
            return
        text = event.frame.module.source.text
        if _ON_CPU.search(text) is None or _INTERPRETS.search(text) is not None:
            return
        report(
            event.node,
            "`pallas_call` on the CPU raises ValueError without `interpret=True`; pass it",
            reason="this file selects the CPU",
        )
